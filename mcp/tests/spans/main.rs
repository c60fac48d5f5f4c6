//! Spans that an OpenTelemetry collector receives. A process can have only one log, so there is only one test of it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../server/bank.rs"]
#[allow(dead_code)]
mod bank;
#[path = "../server/pipe.rs"]
#[allow(dead_code)]
mod pipe;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use opentelemetry_proto::tonic::trace::v1::Span;
use pipe::Pipe;
use prost::Message;
use ptc_mcp::otlp::Exporter;
use ptc_mcp::settings::LogLevel;
use ptc_mcp::{Settings, log};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn settings(flags: &[&str]) -> Settings {
    Settings::resolve(flags.iter().copied(), |_| None).unwrap().settings
}

/// Collector that keeps all batches.
#[derive(Clone, Default)]
struct Collector {
    batches: Arc<Mutex<Vec<Bytes>>>,
}

impl Collector {
    async fn start() -> (Collector, String) {
        let collector = Collector::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let keep = |State(collector): State<Collector>, body: Bytes| async move {
            collector.batches.lock().unwrap().push(body);
        };
        let app = Router::new().route("/base/v1/traces", post(keep)).with_state(collector.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        (collector, format!("http://{address}/base/"))
    }

    /// Returns all spans so far.
    fn spans(&self) -> Vec<Span> {
        let batches = self.batches.lock().unwrap();
        let read = |body: &Bytes| ExportTraceServiceRequest::decode(body.clone()).unwrap();
        let scopes = batches.iter().flat_map(|body| read(body).resource_spans).flat_map(|of| of.scope_spans);
        scopes.flat_map(|of| of.spans).collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn said<'s>(span: &'s Span, key: &str) -> Option<&'s str> {
    let found = span.attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Attribute::StringValue(text) => Some(text),
        _ => None,
    }
}

fn call(tool: &str, arguments: Value, meta: Value) -> Value {
    json!({"name": tool, "arguments": arguments, "_meta": meta})
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_told_to_a_collector_without_what_was_in_them() {
    let (collector, address) = Collector::start().await;
    let exporter = Exporter::start(&address, "1.2.3", &tokio::runtime::Handle::current()).unwrap();
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = lines.clone();
    let write = move |line: &str| kept.lock().unwrap().push(line.to_string());
    log::install(log::subscriber(LogLevel::Info, log::LateRedactor::default(), write), Some(&exporter));

    let (server, bank) = bank::server_with_bank(&["--sessions"]);
    let mut pipe = Pipe::to(&server);
    let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let traceparent = json!({"traceparent": format!("00-{trace}-{parent}-01")});
    let program = r#"(do (println "canary-1") (:ok (tool/call {:server "bank" :tool "balance" :args {:eur 471100114711}})))"#;
    let eval = call("lisp_eval", json!({"program": program, "context": {"k": "canary-2"}}), traceparent);
    pipe.ask(1, "tools/call", eval).await;
    pipe.ask(2, "tools/call", call("lisp_eval", json!({"program": "(fail \"canary-3\")"}), json!({}))).await;
    let started = pipe.ask(3, "tools/call", call("lisp_session_start", json!({}), json!({}))).await;
    let session = &started["result"]["structuredContent"]["session_id"];
    let in_session = json!({"session_id": session, "program": "(def canary-4 1)"});
    pipe.ask(4, "tools/call", call("lisp_session_eval", in_session, json!({}))).await;
    // Stopping waits for the last batch, which the threads of this test send.
    tokio::task::spawn_blocking(move || exporter.stop()).await.unwrap();

    let spans = collector.spans();
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let calls = named("mcp.call");
    let tools: Vec<_> = calls.iter().map(|span| said(span, "gen_ai.tool.name").unwrap()).collect();
    assert_eq!(tools, ["lisp_eval", "lisp_eval", "lisp_session_start", "lisp_session_eval"]);
    // The first call belongs to the client's trace, and its work is below it.
    let below =
        |span: &Span, above: &Span| span.trace_id == above.trace_id && span.parent_span_id == above.span_id;
    assert_eq!((hex(&calls[0].trace_id), hex(&calls[0].parent_span_id)), (trace.into(), parent.into()));
    let executed = named("lisp.execute");
    assert!(below(executed[0], calls[0]) && below(executed[1], calls[1]), "{executed:?}");
    let [asked] = named("upstream.call")[..] else { panic!("one call of the bank") };
    assert!(below(asked, executed[0]), "{asked:?}");
    assert_eq!(
        (said(asked, "ptc.upstream"), said(asked, "gen_ai.tool.name")),
        (Some("bank"), Some("balance"))
    );
    // The bank receives the id of a span that exists.
    let told = bank.traces().remove(0).unwrap();
    assert_eq!(told, format!("00-{trace}-{}-01", hex(&calls[0].span_id)));
    // Outcomes of the calls.
    assert_eq!((said(calls[0], "error.type"), said(calls[1], "error.type")), (None, Some("fail")));
    assert_eq!(calls[1].status.as_ref().map(|status| status.code), Some(2));
    let [sessions_started] = named("session.start")[..] else { panic!("{spans:?}") };
    assert!(below(sessions_started, calls[2]));
    assert!(below(named("session.eval")[0], calls[3]) && below(executed[2], named("session.eval")[0]));
    // Payloads are not in the spans, and the log is empty.
    let text = format!("{spans:?}");
    assert!(!text.contains("canary") && !text.contains("471100114711"), "{text}");
    assert!(lines.lock().unwrap().is_empty(), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_collector_is_refused_and_not_repeated() {
    let wrong = |endpoint: &str| {
        let started = Exporter::start(endpoint, "1", &tokio::runtime::Handle::current());
        started.err().unwrap_or_else(|| panic!("{endpoint} is no collector"))
    };
    for endpoint in ["collector", "ftp://collector", "http://user:secret-9@collector"] {
        let why = wrong(endpoint);
        assert!(why.starts_with("--otlp-endpoint: ") && !why.contains("secret-9"), "{why}");
    }
}
