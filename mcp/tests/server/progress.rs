//! Messages about a call before its reply: progress and log.

use crate::bank::server_with_bank;
use crate::pipe::{ENDLESS, Pipe, text};
use crate::server;
use serde_json::{Value, json};

fn eval(program: &str, meta: Value) -> Value {
    json!({"name": "lisp_eval", "arguments": {"program": program}, "_meta": meta})
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_a_token_hears_how_the_program_goes() {
    let server = server(&["--program-timeout-ms", "700"]);
    let mut pipe = Pipe::to(&server);
    pipe.request(1, "tools/call", eval(ENDLESS, json!({"progressToken": "p"}))).await;
    let mut last = -1;
    loop {
        let told = pipe.next().await.unwrap();
        if told["id"] == 1 {
            assert!(text(&told).contains("timeout"));
            break;
        }
        let params = &told["params"];
        assert_eq!(
            (&told["method"], &params["progressToken"]),
            (&json!("notifications/progress"), &json!("p"))
        );
        let progress = params["progress"].as_i64().unwrap();
        assert!(progress > last && params["total"].as_i64().unwrap() >= progress, "{told}");
        assert!(params["message"].as_str().unwrap().contains("running for"), "{told}");
        last = progress;
    }
    assert!(last >= 250, "it was told of the beginning only");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_none_hears_nothing() {
    let server = server(&["--program-timeout-ms", "400"]);
    let mut pipe = Pipe::to(&server);
    pipe.request(1, "tools/call", eval(ENDLESS, json!({}))).await;
    assert_eq!(pipe.next().await.unwrap()["id"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_counts_the_calls_of_servers() {
    let (server, _bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    let program = r#"(do (tool/call {:server "bank" :tool "balance"}) (:ok (tool/call {:server "bank" :tool "slow"})))"#;
    pipe.request(1, "tools/call", eval(program, json!({"progressToken": 7}))).await;
    let mut said = String::new();
    loop {
        let told = pipe.next().await.unwrap();
        if told["id"] == 1 {
            break;
        }
        said.push_str(told["params"]["message"].as_str().unwrap());
    }
    assert!(said.contains("2 calls made"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_is_handed_on_to_servers() {
    let (server, bank) = server_with_bank(&[]);
    let mut pipe = Pipe::to(&server);
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let program = r#"(:ok (tool/call {:server "bank" :tool "balance"}))"#;
    pipe.ask(1, "tools/call", eval(program, json!({"traceparent": trace}))).await;
    pipe.ask(2, "tools/call", eval(program, json!({"traceparent": "yesterday"}))).await;
    assert_eq!(bank.traces(), [Some(trace.to_string()), None]);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_messages_are_for_who_asks_where_the_server_offers_them() {
    let quiet = server(&[]);
    let mut pipe = Pipe::to(&quiet);
    assert_eq!(pipe.ask(1, "logging/setLevel", json!({"level": "info"})).await["error"]["code"], -32601);

    let loud = server(&["--client-log"]);
    let mut pipe = Pipe::to(&loud);
    let hello = pipe.ask(1, "initialize", json!({"protocolVersion": "2025-11-25"})).await;
    assert_eq!(hello["result"]["capabilities"]["logging"], json!({}));
    // Log messages have not been requested yet.
    assert_eq!(pipe.ask(2, "tools/call", eval("(+ 1 2)", json!({}))).await["id"], 2);
    assert_eq!(pipe.ask(3, "logging/setLevel", json!({"level": "loud"})).await["error"]["code"], -32602);
    assert_eq!(pipe.ask(4, "logging/setLevel", json!({"level": "info"})).await["result"], json!({}));
    let told = pipe.ask(5, "tools/call", eval("(str \"secret-\" \"42\")", json!({}))).await;
    assert_eq!(
        (&told["method"], &told["params"]["level"]),
        (&json!("notifications/message"), &json!("info"))
    );
    assert_eq!(
        (&told["params"]["data"]["tool"], &told["params"]["data"]["status"]),
        (&json!("lisp_eval"), &json!("ok"))
    );
    assert!(!told.to_string().contains("secret"));
    assert_eq!(pipe.next().await.unwrap()["id"], 5);
    // Only messages of the requested level or above are sent.
    pipe.ask(6, "logging/setLevel", json!({"level": "warning"})).await;
    assert_eq!(pipe.ask(7, "tools/call", eval("1", json!({}))).await["id"], 7);
    let told = pipe.ask(8, "tools/call", eval("(fail 1)", json!({}))).await;
    assert_eq!(
        (&told["params"]["level"], &told["params"]["data"]["reason"]),
        (&json!("warning"), &json!("fail"))
    );
    assert_eq!(pipe.next().await.unwrap()["id"], 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_speaks_for_itself_says_what_it_wants_to_hear() {
    let meta = |level: Option<&str>| {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        if let Some(level) = level {
            meta["io.modelcontextprotocol/logLevel"] = json!(level);
        }
        meta
    };
    let quiet = server(&[]);
    let mut pipe = Pipe::to(&quiet);
    assert_eq!(
        pipe.ask(1, "tools/call", eval("1", meta(Some("debug")))).await["id"],
        1,
        "it offers no messages"
    );

    let loud = server(&["--client-log"]);
    let mut pipe = Pipe::to(&loud);
    assert_eq!(pipe.ask(1, "tools/call", eval("1", meta(None))).await["id"], 1);
    let told = pipe.ask(2, "tools/call", eval("1", meta(Some("debug")))).await;
    assert_eq!(told["method"], "notifications/message");
    assert_eq!(pipe.next().await.unwrap()["id"], 2);
}
