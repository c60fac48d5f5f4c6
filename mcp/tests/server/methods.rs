//! The handshake, and methods other than `tools/…`.

use crate::pipe::{ENDLESS, Pipe, text};
use crate::server;
use serde_json::{Value, json};

fn hello(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
}

#[tokio::test]
async fn the_handshake_agrees_on_a_revision_both_know() {
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("nonsense", "2025-11-25"),
    ] {
        let mut pipe = Pipe::to(&server(&[]));
        let result = pipe.ask(0, "initialize", hello(asked)).await["result"].take();
        assert_eq!(result["protocolVersion"], agreed, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "ptc");
        assert!(result["serverInfo"]["build"]["package_version"].is_string());
        assert_eq!(result["capabilities"], json!({"tools": {"listChanged": false}}));
        assert!(result["instructions"].is_string());
    }
}

#[tokio::test]
async fn requests_before_the_handshake_are_served() {
    let mut pipe = Pipe::to(&server(&[]));
    pipe.eval(1, "(+ 1 2)").await;
    assert_eq!(text(&pipe.next().await.unwrap()), "user=> 3");
}

#[tokio::test]
async fn revisions_that_know_text_only_get_text_only() {
    for (version, has_structure) in [("2025-03-26", false), ("2025-06-18", true)] {
        let mut pipe = Pipe::to(&server(&["--response-profile=structured"]));
        pipe.ask(0, "initialize", hello(version)).await;
        let tool = pipe.ask(1, "tools/list", json!({})).await["result"]["tools"][0].take();
        assert_eq!(tool.get("outputSchema").is_some(), has_structure);
        pipe.eval(2, "(+ 1 2)").await;
        let result = pipe.next().await.unwrap()["result"].take();
        assert_eq!(result.get("structuredContent").is_some(), has_structure);
        assert_eq!(result["content"][0]["text"], "user=> 3");
    }
}

#[tokio::test]
async fn after_shutdown_calls_are_refused_and_those_under_way_end() {
    let mut pipe = Pipe::to(&server(&["--program-timeout-ms=2000", "--max-concurrent-calls=2"]));
    pipe.eval(1, ENDLESS).await;
    assert_eq!(pipe.ask(2, "shutdown", json!({})).await["result"], Value::Null);
    pipe.eval(3, "1").await;
    assert!(text(&pipe.next().await.unwrap()).starts_with("shutting_down: "));
    assert_eq!(pipe.ask(4, "ping", json!({})).await["result"], json!({}));
    let ended = pipe.next().await.unwrap();
    assert_eq!(ended["id"], 1);
    assert!(text(&ended).starts_with("timeout: "), "{ended}");
}

#[tokio::test]
async fn exit_stops_reading_at_once_and_lets_calls_end() {
    let mut pipe = Pipe::to(&server(&["--program-timeout-ms=200"]));
    let exit = json!({"jsonrpc": "2.0", "method": "exit"});
    let late = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"});
    pipe.eval(1, ENDLESS).await;
    // In one write, so that the server has read the message that it must not serve.
    pipe.raw(format!("{exit}\n{late}\n").as_bytes()).await;
    let said = pipe.rest().await;
    assert_eq!(said.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [&json!(1)]);
}

#[tokio::test]
async fn the_end_of_the_input_ends_all_silently() {
    let mut pipe = Pipe::to(&server(&["--program-timeout-ms=600000"]));
    pipe.eval(1, ENDLESS).await;
    assert_eq!(pipe.ask(2, "ping", json!({})).await["id"], 2);
    assert_eq!(pipe.hang_up().await, Vec::<Value>::new());
}
