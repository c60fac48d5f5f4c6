//! Replies that are small as text and large as data: the size as data counts, and reading them takes no more memory.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ptc_runtime::{Limits, Runtime};
use ptc_upstream::redact::Redactor;
use ptc_upstream::{About, Client, Fault, Health, Options, ProgramOptions, Reply, Request, Tool, Upstream};
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A server that answers every call with this text.
struct Says(String);

impl Client for Says {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        let tool = Tool {
            name: "get".into(),
            description: None,
            input_schema: json!({"type": "object"}),
            output_schema: None,
            annotations: None,
            provenance: None,
        };
        async { Ok(vec![tool]) }.boxed()
    }

    fn call(&self, _: Request) -> BoxFuture<'_, Result<Reply, Fault>> {
        let (result, wire_bytes) = (RawValue::from_string(self.0.clone()).unwrap(), self.0.len() as u64);
        async move { Ok(Reply { result, http_status: None, wire_bytes }) }.boxed()
    }

    fn health(&self) -> Health {
        Health::Ready
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}

/// Runs a program against a server with this reply, with a limit for incoming data.
fn value(said: String, granted_bytes: u64, program: &str) -> Result<String, String> {
    let client: Arc<dyn Client> = Arc::new(Says(said));
    let servers = [("s".to_string(), About::default(), client)];
    let upstream = Upstream::of_clients(servers, Arc::new(Redactor::new()), Options::default()).unwrap();
    let limits = Limits { granted_bytes, timeout_ms: 60_000, ..Limits::default() };
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits);
    let run = upstream.run(&runtime, program, &ProgramOptions::default());
    run.result().ok_or_else(|| run.error().unwrap())
}

/// Returns records with one field each: 1.4 MB, and 1.8 MB as text within JSON.
fn records() -> String {
    format!("[{}{{\"\":0}}]", "{\"\":0},".repeat(200_000))
}

fn structured(json: &str) -> String {
    format!(r#"{{"content":[],"structuredContent":{json}}}"#)
}

fn text(json: &str) -> String {
    json!({"content": [{"type": "text", "text": json}]}).to_string()
}

/// Returns the peak memory of the process, in bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()? << 10)
}

#[test]
fn an_answer_takes_what_it_becomes_and_a_bomb_stops_while_it_is_read() {
    let program = "(mapv (fn [_] (count (:value (tool/call 's/get {})))) [1 2])";
    let before = peak();
    for said in [structured(&records()), text(&records())] {
        assert_eq!(value(said, 64_000_000, program).unwrap(), "[200001 200001]");
    }
    // Two replies of 13 MB each at once; as trees of the JSON library they took 300 MB.
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(after - before < 100 << 20, "{} bytes", after - before);
    }

    let reason = "(let [a (tool/call 's/get {})] [(:ok a) (:reason a) (:message a)])";
    for said in [structured(&records()), text(&records())] {
        let told = value(said, 1_000_000, reason).unwrap();
        let words = "the reply takes more than 1000000 bytes as data (limits.granted_bytes)";
        assert_eq!(told, format!("[false :response_too_large {words:?}]"));
    }
    // Each reply fits alone, but not both together.
    let both =
        "(let [a (tool/call 's/get {}) b (tool/call 's/get {})] (+ (count (:value a)) (count (:value b))))";
    let failed = value(structured(&records()), 20_000_000, both).unwrap_err();
    assert!(failed.contains("memory_exceeded") && failed.contains("limits.granted_bytes"), "{failed}");
}

#[test]
fn answers_are_read_as_they_were_written() {
    let program = "(:value (tool/call 's/get {}))";
    let said = |json: &str| value(structured(json), 1_000_000, program);
    // Fields keep the server's order, and integers keep all their digits.
    assert_eq!(
        said(r#"{"b": 1, "a": [12345678901234567890123, 1.5, null, "ä\n"]}"#).unwrap(),
        r#"{"b" 1 "a" [12345678901234567890123 1.5 nil "ä\n"]}"#
    );
    let deep = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
    let whole = "(let [a (tool/call 's/get {})] [(:ok a) (:reason a) (string? (:value a))])";
    assert_eq!(value(structured(&deep), 1_000_000, whole).unwrap(), "[false :upstream_error false]");
    assert_eq!(value(text(&deep), 1_000_000, whole).unwrap(), "[true nil true]");
    for (said, kind) in [(text("[1"), ":text"), (text("[1]"), ":json"), (r#"{"content":[]}"#.into(), ":none")]
    {
        assert_eq!(value(said, 1_000_000, "(:value_kind (tool/call 's/get {}))").unwrap(), kind);
    }
}
