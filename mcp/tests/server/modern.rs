//! Self-contained requests of revision 2026-07-28, next to the handshake of an older one.

use crate::pipe::Pipe;
use crate::server;
use serde_json::{Value, json};

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[tokio::test]
async fn the_server_can_be_discovered() {
    let mut pipe = Pipe::to(&server(&[]));
    let result = pipe.ask(1, "server/discover", json!({"_meta": meta("2026-07-28")})).await["result"].take();
    assert_eq!(result["resultType"], "complete");
    let versions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
    assert_eq!(result["supportedVersions"], json!(versions));
    assert_eq!(result["serverInfo"]["name"], "ptc");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(300_000), &json!("public")));
    assert!(result["instructions"].is_string() && result["capabilities"]["tools"].is_object());
}

#[tokio::test]
async fn both_ways_to_speak_may_alternate() {
    let mut pipe = Pipe::to(&server(&[]));
    let list = pipe.ask(1, "tools/list", json!({"_meta": meta("2026-07-28")})).await["result"].take();
    assert_eq!((&list["resultType"], &list["ttlMs"]), (&json!("complete"), &json!(300_000)));
    assert_eq!(list["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "ptc");
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert_eq!(pipe.ask(2, "initialize", hello).await["result"]["protocolVersion"], "2025-06-18");
    assert!(pipe.ask(3, "tools/list", json!({})).await["result"].get("resultType").is_none());
    let call = json!({"name": "lisp_eval", "arguments": {"program": "(+ 1 2)"}, "_meta": meta("2026-07-28")});
    let result = pipe.ask(4, "tools/call", call).await["result"].take();
    assert_eq!(
        (&result["resultType"], &result["content"][0]["text"]),
        (&json!("complete"), &json!("user=> 3"))
    );
}

#[tokio::test]
async fn a_revision_that_nobody_knows_is_refused_with_those_there_are() {
    let mut pipe = Pipe::to(&server(&[]));
    let error = pipe.ask(1, "tools/list", json!({"_meta": meta("2031-01-01")})).await["error"].take();
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"]["requested"], "2031-01-01");
    assert_eq!(error["data"]["supported"][0], "2026-07-28");
}

#[tokio::test]
async fn a_request_must_say_what_its_client_can_do() {
    let mut pipe = Pipe::to(&server(&[]));
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let error = pipe.ask(1, "tools/list", json!({"_meta": meta})).await["error"].take();
    assert_eq!(error["code"], -32602);
    assert!(error["message"].as_str().unwrap().contains("clientCapabilities"), "{error}");
}

#[tokio::test]
async fn what_the_revision_has_no_more_is_not_found() {
    let mut pipe = Pipe::to(&server(&[]));
    for method in ["ping", "initialize", "logging/setLevel", "resources/subscribe"] {
        let error = pipe.ask(1, method, json!({"_meta": meta("2026-07-28")})).await["error"].take();
        assert_eq!(error["code"], -32601, "{method}");
    }
}
