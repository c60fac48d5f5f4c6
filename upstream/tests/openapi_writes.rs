//! OpenAPI services with the setting `methods`: every method, place and style, bodies, security schemes, servers, and
//! replies of all kinds.
#![cfg(feature = "http")]

use ptc_runtime::{Limits, Runtime};
use ptc_upstream::config::{Config, Surroundings};
use ptc_upstream::{Options, ProgramOptions, Upstream};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
struct Seen {
    line: String,
    head: String,
    body: String,
}

type Log = Arc<Mutex<Vec<Seen>>>;

/// Serves what the test asks for by path; bodies are read as text.
fn serve(document: Option<Value>) -> (String, Log) {
    let log = Log::default();
    let told = log.clone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (told, document) = (told.clone(), document.clone());
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut stream = stream;
                while let Some(seen) = read(&mut reader) {
                    told.lock().unwrap().push(seen.clone());
                    let path = seen.line.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap();
                    let (status, media, body): (u16, &str, Vec<u8>) = match path {
                        "/schema" => {
                            (200, "application/json", document.clone().unwrap().to_string().into_bytes())
                        }
                        path if path.ends_with("/text") => {
                            (200, "text/csv; charset=utf-8", b"a,b\n1,2\n".to_vec())
                        }
                        path if path.ends_with("/image") => (200, "image/png", vec![0x89, b'P', 0, 255]),
                        path if path.ends_with("/bytes") => (200, "application/zip", vec![0, 159, 146, 150]),
                        path if path.ends_with("/none") => (204, "text/plain", Vec::new()),
                        path if path.ends_with("/typeless") => (200, "", b"{\"a\": 1}".to_vec()),
                        _ => (200, "application/json", b"{\"ok\": true}".to_vec()),
                    };
                    let media =
                        if media.is_empty() { String::new() } else { format!("Content-Type: {media}\r\n") };
                    let head =
                        format!("HTTP/1.1 {status} X\r\n{media}Content-Length: {}\r\n\r\n", body.len());
                    let is_head = seen.line.starts_with("HEAD");
                    if stream.write_all(head.as_bytes()).is_err()
                        || !is_head && stream.write_all(&body).is_err()
                    {
                        return;
                    }
                }
            });
        }
    });
    (address, log)
}

fn read(reader: &mut impl BufRead) -> Option<Seen> {
    let mut seen = Seen::default();
    reader.read_line(&mut seen.line).ok().filter(|n| *n > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        seen.head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    seen.body = String::from_utf8_lossy(&body).into_owned();
    seen.line = seen.line.trim_end().trim_end_matches(" HTTP/1.1").to_string();
    Some(seen)
}

fn op(id: &str, more: Value) -> Value {
    let mut operation = json!({"operationId": id, "summary": format!("Does {id}"), "responses": {"200": {"content": {"application/json": {}}}}});
    operation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    operation
}

fn param(name: &str, place: &str, more: Value) -> Value {
    let mut param = json!({"name": name, "in": place, "schema": {}});
    if place == "path" {
        param["required"] = true.into();
    }
    param.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    param
}

fn body(media: &str, schema: Value, more: Value) -> Value {
    let mut media_type = json!({"schema": schema});
    media_type.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"required": true, "content": {media: media_type}})
}

fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "servers": [{"url": "https://{region}.example/v{n}", "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}, "n": {"default": "2"}}}],
        "security": [{"query_key": []}, {"user": [], "session": []}],
        "components": {
            "securitySchemes": {
                "query_key": {"type": "apiKey", "in": "query", "name": "api_key"},
                "user": {"type": "http", "scheme": "basic"},
                "session": {"type": "apiKey", "in": "cookie", "name": "sid"},
                "token": {"type": "oauth2", "flows": {}},
            },
            "schemas": {
                "Base": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "description": "What it is called."}, "id": {"type": "integer", "readOnly": true}}},
                "Thing": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"type": "object", "required": ["kind"], "properties": {
                    "kind": {"enum": ["a", "b"], "default": "a"}, "size": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}}]},
            },
        },
        "paths": {
            "/things": {
                "get": op("listThings", json!({"parameters": [
                    param("ids", "query", json!({})), param("tags", "query", json!({"explode": false})),
                    param("pipes", "query", json!({"style": "pipeDelimited", "explode": false})),
                    param("filter", "query", json!({"style": "deepObject", "explode": true})),
                    param("where", "query", json!({"schema": null, "content": {"application/json": {"schema": {"type": "object"}}}})),
                    param("api_key", "query", json!({})), param("page", "query", json!({})), param("per_page", "query", json!({})),
                ]})),
                "post": op("createThing", json!({"requestBody": body("application/json", json!({"$ref": "#/components/schemas/Thing"}), json!({}))})),
            },
            "/things/{id}": {
                "parameters": [param("id", "path", json!({"style": "simple"}))],
                "put": op("replaceThing", json!({"requestBody": body("application/json", json!({"type": "object", "properties": {"id": {}}}), json!({}))})),
                "patch": op("patchThing", json!({"security": [{"token": []}], "parameters": [param("If-Match", "header", json!({})), param("Authorization", "header", json!({})), param("Host", "header", json!({}))],
                    "requestBody": body("application/merge-patch+json", json!({"type": "array"}), json!({}))})),
                "delete": op("deleteThing", json!({"security": [{"session": [], "user": []}], "parameters": [param("theme", "cookie", json!({})), param("sid", "cookie", json!({}))]})),
                "head": op("thingExists", json!({"security": []})),
            },
            "/matrix/{m}/{l}": {"get": op("styles", json!({"parameters": [param("m", "path", json!({"style": "matrix", "explode": true})), param("l", "path", json!({"style": "label"}))]}))},
            "/form": {"post": op("form", json!({"requestBody": body("application/x-www-form-urlencoded", json!({"type": "object", "properties": {"a": {"type": "string"}, "list": {"type": "array"}, "nested": {"type": "object"}, "deep": {"type": "array"}}}),
                json!({"encoding": {"deep": {"style": "deepObject", "explode": true}}}))}))},
            "/upload": {"post": op("upload", json!({"requestBody": body("multipart/form-data", json!({"type": "object", "required": ["file"], "properties": {"file": {"type": "string", "format": "binary"}, "note": {"type": "string"}, "meta": {"type": "object"}}}), json!({}))}))},
            "/raw": {"post": op("raw", json!({"requestBody": body("application/octet-stream", json!({}), json!({}))}))},
            "/plain": {"post": op("plain", json!({"requestBody": body("text/plain", json!({"type": "string"}), json!({}))}))},
            "/text": {"get": op("text", json!({"responses": {"200": {"content": {"text/csv": {}}}}}))},
            "/image": {"get": op("image", json!({"responses": {"200": {"content": {"image/png": {}}}}}))},
            "/bytes": {"get": op("bytes", json!({"responses": {"200": {"content": {"application/zip": {}}}}}))},
            "/none": {"post": op("none", json!({"responses": {"204": {}}}))},
            "/typeless": {"get": op("typeless", json!({"responses": {"default": {}}}))},
            "/old": {"get": op("old", json!({"deprecated": true}))},
            "/elsewhere": {"get": op("elsewhere", json!({"servers": [{"url": "https://evil.example"}]}))},
            "/moved": {"get": op("moved", json!({"servers": [{"url": "/other/base/"}]}))},
        },
    })
}

fn start(more: Value) -> (Result<Upstream, String>, Log) {
    let (address, log) = serve(Some(document()));
    let mut entry = json!({
        "transport": "openapi", "base_url": format!("{address}/v2"), "allow_insecure_http": true, "allow_insecure_auth": true,
        "schema_url": format!("{address}/schema"), "include_operations": ["*"],
        "methods": ["get", "head", "post", "put", "patch", "delete"],
    });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let credentials = json!({
        "key": {"source": "literal", "value": "canary-key"}, "user": {"source": "literal", "value": "ada:canary-pass"},
        "sid": {"source": "literal", "value": "canary-sid"}, "token": {"source": "literal", "value": "canary-token"},
    });
    let config = json!({"credentials": credentials, "upstreams": {"api": entry}});
    let around = Surroundings::of([("PATH", "/bin")]);
    let started = Config::parse(&config.to_string(), Path::new("."), &around)
        .map_err(|error| error.to_string())
        .and_then(|config| {
            Upstream::start(&config, &around, Options::default()).map_err(|error| error.to_string())
        });
    (started, log)
}

fn eval(upstream: &Upstream, program: &str) -> String {
    let limits = Limits { timeout_ms: 20_000, ..Limits::default() };
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits);
    let run = upstream.run(&runtime, program, &ProgramOptions::default());
    run.result().unwrap_or_else(|| run.error().unwrap())
}

/// Calls a tool and returns the request that arrived.
fn sent(upstream: &Upstream, log: &Log, call: &str) -> Seen {
    log.lock().unwrap().clear();
    let said = eval(upstream, &format!("(let [r (tool/call {call})] (or (:ok r) r))"));
    assert_eq!(said, "true", "{call}");
    log.lock().unwrap().last().cloned().expect("a request")
}

#[test]
fn every_style_of_a_query_is_sent() {
    let (upstream, log) = start(json!({}));
    let upstream = upstream.unwrap();
    let line = |args: &str| sent(&upstream, &log, &format!("'api/list-things {args}")).line;
    assert_eq!(line("{:ids [1 2]}"), "GET /v2/things?ids=1&ids=2");
    assert_eq!(line("{:tags [\"a,b\" \"c d\"]}"), "GET /v2/things?tags=a%2Cb,c+d");
    assert_eq!(line("{:pipes [1 2]}"), "GET /v2/things?pipes=1%7C2");
    assert_eq!(
        line("{:filter {:age 3 :in [1]}}"),
        "GET /v2/things?filter%5Bage%5D=3&filter%5Bin%5D%5B0%5D=1"
    );
    assert_eq!(line("{:where {:a [1]}}"), "GET /v2/things?where=%7B%22a%22%3A%5B1%5D%7D");
    assert_eq!(line("{:ids []}"), "GET /v2/things");
    let styles = sent(&upstream, &log, "'api/styles {:m [\"x\" \"y/z\"] :l [1 2]}").line;
    assert_eq!(styles, "GET /v2/matrix/;m=x;m=y%2Fz/.1,2");
    let dots = eval(&upstream, "(:message (tool/call 'api/styles {:m 1 :l \".\"}))");
    assert!(dots.contains("as a part of a path"), "{dots}");
    let doc = eval(&upstream, "(doc 'api/list-things)");
    assert!(doc.contains("Pages: :page counts the pages, :per_page is the size of a page."), "{doc}");
}

#[test]
fn arrays_are_sent_without_the_setting_too() {
    let (upstream, log) = start(json!({"methods": null, "include_operations": ["text", "styles"]}));
    let error = upstream.unwrap_err();
    assert!(
        error.contains("'text': its reply 200 is not JSON, which needs the setting `methods`"),
        "{error}"
    );
    drop(log);
    let (upstream, log) = start(json!({"methods": null, "include_operations": ["styles"]}));
    let line = sent(&upstream.unwrap(), &log, "'api/styles {:m [1 2] :l 3}").line;
    assert_eq!(line, "GET /v2/matrix/;m=1;m=2/.3");
}

#[test]
fn bodies_are_sent() {
    let (upstream, log) = start(json!({}));
    let upstream = upstream.unwrap();
    let doc = eval(&upstream, "(doc 'api/create-thing)");
    // Fields of all parts of `allOf` are arguments, and what only replies have is none.
    assert!(doc.contains("Args: {:name string :kind enum<string> :size integer?}"), "{doc}");
    assert!(doc.contains(":name - What it is called."), "{doc}");
    assert!(doc.contains(r#":kind - one of \"a\", \"b\"; default \"a\""#), "{doc}");
    assert!(doc.contains(":size - at least 1"), "{doc}");
    let seen = sent(&upstream, &log, "'api/create-thing {:name \"x\" :kind :a :size nil}");
    assert_eq!((&*seen.line, &*seen.body), ("POST /v2/things", r#"{"kind":"a","name":"x","size":null}"#));
    assert!(seen.head.contains("content-type: application/json"), "{}", seen.head);
    let refused = eval(&upstream, "(tool/call 'api/create-thing {:name \"x\" :kind \"c\"})");
    assert!(refused.contains("rejected args"), "{refused}");

    // A field with the name of a parameter: the argument `body` has the whole.
    let seen = sent(&upstream, &log, "'api/replace-thing {:id 7 :body {:id 8}}");
    assert_eq!((&*seen.line, &*seen.body), ("PUT /v2/things/7", r#"{"id":8}"#));
    let seen = sent(&upstream, &log, "'api/patch-thing {:id 7 :If-Match \"x\" :body [1]}");
    assert_eq!((&*seen.line, &*seen.body), ("PATCH /v2/things/7", "[1]"));
    assert!(
        seen.head.contains("if-match: x") && seen.head.contains("application/merge-patch+json"),
        "{}",
        seen.head
    );
    let bad =
        eval(&upstream, "(:message (tool/call 'api/patch-thing {:id 7 :If-Match \"x\\ny: z\" :body [1]}))");
    assert!(bad.contains("which is a header"), "{bad}");

    let seen = sent(&upstream, &log, "'api/form {:a \"x y&z\" :list [1 2] :nested {:k 1} :deep [{:p 1}]}");
    assert_eq!(seen.body, "a=x+y%26z&deep%5B0%5D%5Bp%5D=1&list=1&list=2&nested%5Bk%5D=1");
    assert!(seen.head.contains("content-type: application/x-www-form-urlencoded"), "{}", seen.head);

    let file = "{:base64 \"aGk=\" :filename \"a\\\"b.txt\" :content_type \"text/plain\"}";
    let seen = sent(&upstream, &log, &format!("'api/upload {{:file {file} :note \"n\" :meta {{:a 1}}}}"));
    let boundary = seen.head.split("boundary=").nth(1).unwrap().lines().next().unwrap().trim().to_string();
    for part in [
        "Content-Disposition: form-data; name=\"file\"; filename=\"a%22b.txt\"\r\nContent-Type: text/plain\r\n\r\nhi\r\n",
        "Content-Disposition: form-data; name=\"note\"\r\n\r\nn\r\n",
        "Content-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n",
        &format!("--{boundary}--\r\n"),
    ] {
        assert!(seen.body.contains(part), "{part}: {}", seen.body);
    }
    let seen = sent(&upstream, &log, "'api/upload {:file \"text\"}");
    assert!(seen.body.contains("name=\"file\"\r\n\r\ntext\r\n"), "{}", seen.body);
    assert_eq!(sent(&upstream, &log, "'api/raw {:body {:base64 \"aGk=\"}}").body, "hi");
    assert_eq!(sent(&upstream, &log, "'api/plain {:body \"hello\"}").body, "hello");
}

#[test]
fn replies_of_all_types_are_values() {
    let (upstream, _) = start(json!({}));
    let upstream = upstream.unwrap();
    let call = |tool: &str| {
        eval(
            &upstream,
            &format!("(let [r (tool/call 'api/{tool} {{}})] [(:ok r) (:value_kind r) (:value r)])"),
        )
    };
    assert_eq!(call("text"), r#"[true :text "a,b\n1,2\n"]"#);
    assert_eq!(call("typeless"), r#"[true :json {"a" 1}]"#);
    assert_eq!(call("none"), "[true :none nil]");
    assert!(
        call("image").starts_with("[true :blocks [{") && call("image").contains("\"iVAA/w==\""),
        "{}",
        call("image")
    );
    assert!(call("bytes").contains("\"blob\" \"AJ+Slg==\""), "{}", call("bytes"));
    assert_eq!(eval(&upstream, "(:value_kind (tool/call 'api/thing-exists {:id 1}))"), ":none");
}

#[test]
fn credentials_go_where_the_document_says() {
    let scheme =
        |name: &str, binding: &str| json!({"scheme": "security_scheme", "name": name, "binding": binding});
    let all = json!([
        scheme("query_key", "key"),
        scheme("user", "user"),
        scheme("session", "sid"),
        scheme("token", "token")
    ]);
    let (upstream, log) = start(json!({"auth": all}));
    let upstream = upstream.unwrap();
    let is_clean = |seen: &Seen, allowed: &[&str]| {
        let all = format!("{seen:?}");
        for secret in ["canary-key", "YWRhOmNhbmFyeS1wYXNz", "canary-sid", "canary-token"] {
            assert_eq!(all.contains(secret), allowed.contains(&secret), "{secret}: {all}");
        }
    };
    let seen = sent(&upstream, &log, "'api/list-things {:ids [1] :api_key \"mine\"}");
    assert_eq!(seen.line, "GET /v2/things?ids=1&api_key=canary-key");
    is_clean(&seen, &["canary-key"]);
    let seen = sent(&upstream, &log, "'api/delete-thing {:id 1 :theme \"a; sid=evil\" :sid \"evil\"}");
    is_clean(&seen, &["YWRhOmNhbmFyeS1wYXNz", "canary-sid"]);
    assert!(seen.head.contains("cookie: theme=a%3B%20sid%3Devil; sid=canary-sid"), "{}", seen.head);
    assert!(seen.head.contains("authorization: Basic YWRhOmNhbmFyeS1wYXNz"), "{}", seen.head);
    let seen =
        sent(&upstream, &log, "'api/patch-thing {:id 1 :Authorization \"mine\" :Host \"evil\" :body []}");
    is_clean(&seen, &["canary-token"]);
    assert!(
        seen.head.contains("authorization: Bearer canary-token") && !seen.head.contains("evil"),
        "{}",
        seen.head
    );
    is_clean(&sent(&upstream, &log, "'api/thing-exists {:id 1}"), &[]);
    // Programs do not see them, not even as arguments.
    let doc = eval(&upstream, "[(doc 'api/list-things) (doc 'api/delete-thing) (meta 'api/patch-thing)]");
    for hidden in ["api_key", ":sid", "canary", ":Authorization", ":Host"] {
        assert!(!doc.contains(hidden), "{hidden}: {doc}");
    }
    let (upstream, _) = start(json!({"auth": [scheme("nope", "key")]}));
    let error = upstream.unwrap_err();
    assert!(error.contains("has no security scheme 'nope'; it has: "), "{error}");
    // Places can also be given in the file.
    let places = json!([{"scheme": "query", "parameter": "k", "binding": "key"}, {"scheme": "cookie", "cookie": "c", "binding": "sid"}]);
    let (upstream, log) = start(json!({"auth": places}));
    let seen = sent(&upstream.unwrap(), &log, "'api/list-things {}");
    assert!(
        seen.line.ends_with("things?k=canary-key") && seen.head.contains("cookie: c=canary-sid"),
        "{seen:?}"
    );
}

#[test]
fn effects_come_from_methods() {
    // Whether a call needs approval tells its effect.
    let is_write = |upstream: &Upstream, tool: &str| {
        let call = format!("(:reason (tool/call 'api/{tool} {{:id 1 :name \"x\" :kind \"a\" :body []}}))");
        match &*eval(upstream, &call) {
            "nil" => false,
            ":approval_denied" => true,
            other => panic!("{tool}: {other}"),
        }
    };
    let tools = json!({"create-thing": {"effect": "read"}, "list-things": {"effect": "write"}});
    let (upstream, _) = start(json!({"approval": "writes", "tools": tools}));
    let upstream = upstream.unwrap();
    assert!(!is_write(&upstream, "thing-exists") && !is_write(&upstream, "text"));
    assert!(
        is_write(&upstream, "delete-thing")
            && is_write(&upstream, "patch-thing")
            && is_write(&upstream, "none")
    );
    // One tool at a time, a person may know better.
    assert!(!is_write(&upstream, "create-thing") && is_write(&upstream, "list-things"));
    let error = start(json!({"effect": "read"})).0.unwrap_err();
    assert!(error.contains("must not be read with the method post"), "{error}");
}

#[test]
fn patterns_choose_operations() {
    let (upstream, _) =
        start(json!({"include_operations": ["*Thing*", "GET /te*"], "methods": ["get", "post"]}));
    let upstream = upstream.unwrap();
    let names = eval(&upstream, "(map #(first (clojure.string/split % #\" - \")) (dir 'api))");
    assert_eq!(names, r#"["create-thing" "list-things" "text"]"#);
    let (upstream, _) = start(json!({}));
    let upstream = upstream.unwrap();
    let names = eval(&upstream, "(dir 'api)");
    // Left out: deprecated, and of another origin; the others are told.
    assert!(!names.contains("old") && !names.contains("elsewhere") && names.contains("moved"), "{names}");
    let warnings = upstream.warnings().join("\n");
    assert!(warnings.contains("2 operations were left out: 'elsewhere': it has its own server, whose origin is not that of base_url, 'old': it is deprecated"), "{warnings}");
    for (pattern, wanted) in [
        ("nothing*", "cannot offer the operation 'nothing*': no operation of the document fits the pattern"),
        ("elsewhere", "whose origin is not that of base_url"),
    ] {
        let error = start(json!({"include_operations": [pattern]})).0.unwrap_err();
        assert!(error.contains(wanted), "{error}");
    }
    let error = start(json!({"include_operations": ["deleteThing"], "methods": ["get"]})).0.unwrap_err();
    assert!(error.contains("it is a DELETE, which `methods` does not list"), "{error}");
}

#[test]
fn the_address_may_come_from_the_document() {
    let start = |variables: Value, more: Value| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("api.json");
        std::fs::write(&file, document().to_string()).unwrap();
        let mut extra =
            json!({"base_url": null, "server_variables": variables, "schema_url": null, "schema_file": file});
        extra.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        start(extra).0
    };
    assert!(start(json!({}), json!({})).is_ok());
    for (variables, wanted) in [
        (json!({"region": "mars"}), "takes one of eu, us for the server's variable 'region'"),
        (json!({"rejion": "us"}), "without the variable 'rejion'; it has: n, region"),
    ] {
        let error = start(variables, json!({})).unwrap_err();
        assert!(error.contains(wanted), "{error}");
    }
    let error = start(json!({}), json!({"base_url": "https://x.example"})).unwrap_err();
    assert!(error.contains("leave out `base_url`"), "{error}");
    // Whoever serves the document does not decide where credentials go.
    let auth =
        json!({"base_url": null, "server_variables": {}, "auth": [{"scheme": "bearer", "binding": "token"}]});
    let error = self::start(auth).0.unwrap_err();
    assert!(error.contains("which is not where it comes from; set base_url"), "{error}");
}
