//! The studio as a server: who is answered, with which headers, and what the answers hold.

use ptc_preludes::core;
use ptc_runtime::Runtime;
use ptc_studio::{Start, Studio, Token, serve};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpListener;

/// A studio that runs until the test ends.
struct Running {
    address: SocketAddr,
    token: String,
}

/// An answer of the server.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Running {
    fn start(traces: Option<&Path>) -> Running {
        let runtime = Runtime::with_core(core()).expect("the core library loads");
        let start =
            Start { program: "(+ 1 2)".into(), data: vec![("n".into(), "1".into())], stubs: Vec::new() };
        let studio = Studio {
            runtime,
            preludes: Vec::new(),
            documented: Vec::new(),
            traces: traces.map(Path::to_path_buf),
            start,
        };
        let token = Token::random().expect("random");
        let text = token.as_str().to_string();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
            threads.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                sender.send(listener.local_addr().expect("an address")).expect("the test waits");
                serve(studio, listener, token).await.expect("it serves");
            });
        });
        Running { address: receiver.recv().expect("it listens"), token: text }
    }

    fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it answers");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        Answer { status, head: head.to_lowercase(), body: body.to_string() }
    }

    fn get(&self, path: &str) -> Answer {
        let Running { address, token } = self;
        self.raw(&format!("GET /{token}/{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"))
    }

    fn ask(&self, name: &str, body: &Value) -> Answer {
        let (Running { address, token }, body) = (self, body.to_string());
        self.raw(&format!(
            "POST /{token}/api/{name} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ))
    }

    fn json(&self, name: &str, body: &Value) -> Value {
        let answer = self.ask(name, body);
        assert_eq!(answer.status, 200, "{name}: {}", answer.body);
        serde_json::from_str(&answer.body).expect("JSON")
    }
}

#[test]
fn strangers_learn_nothing_and_every_answer_has_a_policy() {
    let studio = Running::start(None);
    let Running { address, token } = &studio;
    for (request, why) in [
        (format!("GET / HTTP/1.1\r\nHost: {address}\r\n"), "no token"),
        (format!("GET /{token}x/ HTTP/1.1\r\nHost: {address}\r\n"), "another token"),
        (format!("GET /{token}/ HTTP/1.1\r\nHost: evil.example:{}\r\n", address.port()), "another name"),
        (
            format!("GET /{token}/ HTTP/1.1\r\nHost: {address}\r\nOrigin: http://evil.example\r\n"),
            "another page",
        ),
        (
            format!("GET /{token}/ HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: cross-site\r\n"),
            "another site",
        ),
        (format!("DELETE /{token}/ HTTP/1.1\r\nHost: {address}\r\n"), "another method"),
        (
            format!(
                "POST /{token}/api/run HTTP/1.1\r\nHost: {address}\r\nOrigin: null\r\nContent-Length: 0\r\n"
            ),
            "a file",
        ),
    ] {
        let answer = studio.raw(&format!("{request}Connection: close\r\n\r\n"));
        assert_eq!(answer.status, 403, "{why}");
        assert!(!answer.body.contains(token.as_str()), "{why}");
        assert!(
            answer.head.contains("content-security-policy: default-src 'none'"),
            "{why}: {}",
            answer.head
        );
    }
    let page = studio.get("");
    assert_eq!(page.status, 200);
    for header in [
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "frame-ancestors 'none'",
    ] {
        assert!(page.head.contains(header), "{header}: {}", page.head);
    }
    // Scripts and styles come from files of the page alone.
    assert!(!page.body.contains("http") && !page.body.contains("<script>") && !page.body.contains(" style="));
    for file in ["studio.js", "studio.css", "dom.js", "run.js", "library.js", "traces.js"] {
        assert_eq!(studio.get(file).status, 200, "{file}");
    }
    for path in ["nothing.js", "../Cargo.toml", "api/run", "trace/x.jsonl", "trace/"] {
        assert_eq!(studio.get(path).status, 404, "{path}");
    }
    // A form of another page could send this, if it knew the token.
    let form = format!(
        "POST /{token}/api/run HTTP/1.1\r\nHost: {address}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    );
    assert_eq!(studio.raw(&form).status, 404);
}

#[test]
fn programs_run_with_data_and_stubs() {
    let studio = Running::start(None);
    let start = studio.json("start", &json!({}));
    assert_eq!(
        (&start["program"], &start["data"], &start["traces"]),
        (&json!("(+ 1 2)"), &json!("{\n  \"n\": 1\n}"), &json!(false))
    );
    let program = "(println \"<b>\") (+ data/n (:v (tool/find {:id \"é\"})))";
    let asked = json!({"program": program, "data": {"n": 40}, "stubs": {"find": {"v": 2}}});
    let done = studio.json("run", &asked);
    assert_eq!((&done["ok"], &done["value"], &done["prints"]), (&json!(true), &json!("42"), &json!(["<b>"])));
    assert_eq!(done["calls"], json!([{"tool": "find", "args": "{\"id\":\"é\"}"}]));
    assert!(done["fuel"].as_u64() > Some(0) && done["fuel_limit"].as_u64() > done["fuel"].as_u64());

    let failed = studio.json("run", &json!({"program": "(defn f [x] (/ x 0))\n(str \"🦀\" (f 1))"}));
    let error = &failed["errors"][0];
    assert_eq!((&failed["ok"], &error["line"], &error["warning"]), (&json!(false), &json!(1), &json!(false)));
    assert!(error["frames"][0].as_str().is_some_and(|frame| frame.contains("`f`")), "{error}");

    let found = studio.json("check", &json!({"program": "(str \"🦀\" (fliter 1)) 2)"}));
    // Places are in the units of the page's texts.
    assert_eq!(found["found"][0]["range"], json!([11, 17]));
    assert_eq!(found["found"][0]["fix"], json!([11, 17, "filter"]));
    assert_eq!(found["found"][1]["warning"], true);

    assert_eq!(studio.ask("run", &json!({"program": 1})).status, 400);
    assert_eq!(studio.ask("nope", &json!({})).status, 404);
    assert_eq!(studio.ask("version", &json!({"name": "x.jsonl"})).status, 404);
    let endless = studio.json("run", &json!({"program": "(loop [] (recur))"}));
    assert_eq!(endless["ok"], false);
}

#[test]
fn documentation_is_searched() {
    let studio = Running::start(None);
    let names = |answer: Value| -> Vec<String> {
        let found = answer["found"].as_array().expect("entries").iter();
        found.map(|entry| entry["name"].as_str().expect("a name").to_string()).collect()
    };
    assert_eq!(names(studio.json("search", &json!({"words": "str/join"})))[0], "join");
    assert!(
        names(studio.json("search", &json!({"namespace": "clojure.set"}))).contains(&"union".to_string())
    );
    assert!(names(studio.json("search", &json!({}))).is_empty());
    studio.json("search", &json!({"words": "<script>\u{0}".repeat(1000)}));
}

/// Strings that would do something if they became markup, code or a path.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{data}}{{nonce}}",
    "<!--",
    "]]>",
    "&lt;script&gt;",
    "\u{202e}evil\u{2066}",
    "\u{0}\u{1b}[31m",
    "${alert(1)}`",
];

/// A trace of a mission.
const TRACE: &str = include_str!("../../examples/traces/late-orders.jsonl");

/// Replaces every text in a value.
fn replace(value: &mut Value, text: &str) {
    match value {
        Value::String(old) => *old = text.to_string(),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, text)),
        Value::Object(members) => members.values_mut().for_each(|member| replace(member, text)),
        _ => {}
    }
}

#[test]
fn traces_are_shown_as_text_and_stay_in_their_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let traces = folder.path().join("traces");
    std::fs::create_dir(&traces).expect("a folder");
    std::fs::write(folder.path().join("secret.jsonl"), "{}").expect("a file");
    for (at, text) in HOSTILE.iter().enumerate() {
        let lines: Vec<String> = TRACE
            .lines()
            .map(|line| {
                let mut event: Value = serde_json::from_str(line).expect("JSON");
                if let Some(data) = event.get_mut("data") {
                    replace(data, text);
                }
                event["agent_name"] = (*text).into();
                event.to_string()
            })
            .collect();
        std::fs::write(traces.join(format!("{at}.jsonl")), lines.join("\n")).expect("a file");
    }
    std::fs::write(traces.join("notes.txt"), "x").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.jsonl"), traces.join("link.jsonl"))
        .expect("a link");
    let studio = Running::start(Some(&traces));
    let listed = studio.json("traces", &json!({}));
    assert_eq!(listed["traces"].as_array().map(Vec::len), Some(HOSTILE.len()), "{listed}");
    for at in 0..HOSTILE.len() {
        let page = studio.get(&format!("trace/{at}.jsonl"));
        assert_eq!(page.status, 200);
        assert_eq!(page.body.matches("<script").count(), 2, "{at}");
        assert_eq!(page.body.matches("</script").count(), 2, "{at}");
        assert!(!page.body.contains("<img") && !page.body.contains("<svg"), "{at}");
        assert!(page.head.contains("script-src 'nonce-") && page.head.contains("frame-ancestors 'self'"));
        let version = studio.json("version", &json!({"name": format!("{at}.jsonl")}));
        assert!(page.body.contains(version["version"].as_str().expect("a version")));
        studio.json("compare", &json!({"a": format!("{at}.jsonl"), "b": "0.jsonl"}));
    }
    for name in [
        "../secret.jsonl",
        "..%2fsecret.jsonl",
        "/etc/passwd",
        "link.jsonl",
        "notes.txt",
        ".jsonl",
        "a\\..\\b.jsonl",
        "0.jsonl/",
    ] {
        assert_eq!(studio.get(&format!("trace/{}", name.replace('\\', "%5c"))).status, 404, "{name}");
        assert_eq!(studio.ask("version", &json!({"name": name})).status, 404, "{name}");
    }
}
