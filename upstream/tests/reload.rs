//! `reload: "on_401"`: a credential in a file is read again when a server refuses it, and only then.
#![cfg(feature = "http")]

use ptc_runtime::Runtime;
use ptc_testkit::http::{self, Request};
use ptc_testkit::mcp;
use ptc_upstream::config::{Config, Surroundings};
use ptc_upstream::{Options, ProgramOptions, Upstream};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A server that accepts one token: MCP at `/mcp`, a web service at `/api`.
#[derive(Clone)]
struct Door {
    key: Arc<Mutex<String>>,
    /// Received tokens, in order.
    seen: Arc<Mutex<Vec<String>>>,
}

impl Door {
    fn open(key: &str) -> (Door, String) {
        let door = Door { key: Arc::new(Mutex::new(key.to_string())), seen: Arc::default() };
        let guard = door.clone();
        let address = http::serve(move |request, stream| {
            let (status, body) = guard.answer(request);
            http::write(stream, status, &[http::JSON], &body)
        });
        (door, address)
    }

    fn answer(&self, request: &Request) -> (u16, String) {
        let token =
            request.headers.get("authorization").map_or("", |value| value.trim_start_matches("Bearer "));
        self.seen.lock().unwrap().push(token.to_string());
        match token == *self.key.lock().unwrap() {
            false => (401, format!("not {token}")),
            true if request.path.starts_with("/api") => (200, json!({"fine": true}).to_string()),
            true => reply(&request.body),
        }
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

fn reply(message: &Value) -> (u16, String) {
    let result = match message["method"].as_str() {
        _ if message["id"].is_null() => return (202, String::new()),
        Some("initialize") => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "door", "version": "1"}}),
        Some("tools/list") => json!({"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}),
        Some("tools/call") => json!({"content": [], "structuredContent": {"fine": true}}),
        _ => return (200, mcp::error(&message["id"], -32601, "Method not found")),
    };
    (200, mcp::result(&message["id"], &result))
}

fn start(address: &str, file: &Path, reload: bool) -> Upstream {
    let document = json!({"openapi": "3.0.0", "paths": {"/look": {"get": {"operationId": "look", "responses": {"200": {
        "content": {"application/json": {"schema": {"type": "object"}}}}}}}}});
    let folder = file.parent().unwrap();
    std::fs::write(folder.join("api.json"), document.to_string()).unwrap();
    let mut key = json!({"source": "file", "path": file});
    if reload {
        key["reload"] = json!("on_401");
    }
    let entry = json!({"allow_insecure_http": true, "allow_insecure_auth": true,
        "auth": [{"scheme": "bearer", "binding": "key"}]});
    let with = |more: Value| {
        let mut all = entry.as_object().unwrap().clone();
        all.extend(more.as_object().unwrap().clone());
        Value::Object(all)
    };
    let text = json!({"credentials": {"key": key}, "upstreams": {
        "mcp": with(json!({"transport": "mcp_http", "url": format!("{address}/mcp")})),
        "api": with(json!({"transport": "openapi", "base_url": format!("{address}/api"), "schema_file": "api.json",
            "include_operations": ["look"]})),
    }});
    let around = Surroundings::current();
    let config = Config::parse(&text.to_string(), folder, &around).unwrap();
    Upstream::start(&config, &around, Options::default()).unwrap()
}

fn eval(upstream: &Upstream, program: &str) -> String {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let run = upstream.run(&runtime, program, &ProgramOptions::default());
    run.result().unwrap_or_else(|| panic!("{:?}", run.error()))
}

#[test]
fn a_new_credential_is_used_when_the_old_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    for server in ["api", "mcp"] {
        std::fs::write(&file, "first-key\n").unwrap();
        let (door, address) = Door::open("first-key");
        let upstream = start(&address, &file, true);
        let call = format!("(let [r (tool/call '{server}/look {{}})] (or (:reason r) (:value r)))");
        assert_eq!(eval(&upstream, &call), "{\"fine\" true}");
        // A new file alone changes nothing.
        std::fs::write(&file, "second-key\n").unwrap();
        door.seen();
        assert_eq!(eval(&upstream, &call), "{\"fine\" true}");
        assert_eq!(door.seen(), ["first-key"]);
        // Once the token is refused, the file is read; this call and concurrent ones succeed.
        *door.key.lock().unwrap() = "second-key".to_string();
        let many = format!("(count (filter :ok (pmap (fn [_] (tool/call '{server}/look {{}})) (range 8))))");
        assert_eq!(eval(&upstream, &many), "8");
        door.seen();
        assert_eq!(eval(&upstream, &call), "{\"fine\" true}");
        assert_eq!(door.seen(), ["second-key"]);
        // The redactor knows both tokens.
        let clean = upstream.redactor().scrub("first-key second-key").into_owned();
        assert_eq!(clean, "[REDACTED] [REDACTED]");
        // If there is no new token, a refusal is a fault after a single request.
        *door.key.lock().unwrap() = "third-key".to_string();
        assert_eq!(eval(&upstream, &call), ":auth_failed");
        assert_eq!(door.seen(), ["second-key"]);
        upstream.stop();
    }
}

#[test]
fn without_it_a_credential_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, "first-key").unwrap();
    let (door, address) = Door::open("first-key");
    let upstream = start(&address, &file, false);
    std::fs::write(&file, "second-key").unwrap();
    *door.key.lock().unwrap() = "second-key".to_string();
    assert_eq!(eval(&upstream, "(:reason (tool/call 'api/look {}))"), ":auth_failed");
    assert_eq!(door.seen(), ["first-key"]);
    upstream.stop();
}
