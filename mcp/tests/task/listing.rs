//! Listing of the tool.

use crate::pipe::Pipe;
use crate::world::{READS, Shop, WRITES, World, runtime, settings, upstream};
use ptc_mcp::protocol::Build;
use ptc_mcp::{Host, Server};
use serde_json::{Value, json};
use std::sync::Arc;

async fn tools(server: &Server) -> Vec<Value> {
    let answer = Pipe::to(server).ask(1, "tools/list", json!({})).await;
    answer["result"]["tools"].as_array().unwrap().clone()
}

#[tokio::test]
async fn it_stands_behind_lisp_eval_with_what_it_may_do() {
    let expected = [(READS, json!([true, false, false, true])), (WRITES, json!([false, true, false, true]))];
    for (flags, hints) in expected {
        let tools = tools(&World::new(&[flags, &["--debug-tool"]], [""; 0]).server).await;
        let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["lisp_eval", "lisp_task", "lisp_debug"]);
        let annotations = &tools[1]["annotations"];
        let keys = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        assert_eq!(keys.map(|key| annotations[key].clone()).to_vec(), *hints.as_array().unwrap());
        assert_eq!(tools[1]["inputSchema"]["required"], json!(["task"]));
        assert_eq!(tools[1]["inputSchema"]["additionalProperties"], false);
        let reasons = &tools[1]["outputSchema"]["oneOf"][1]["properties"]["reason"]["enum"];
        assert!(reasons.as_array().unwrap().contains(&json!("partial_side_effects")));
        let description = tools[1]["description"].as_str().unwrap();
        assert!(description.ends_with("\n\nWhat it can use:\n- shop: hang->unknown, orders->{:orders array?}, pay->unknown, poke->unknown, stick->unknown, tell->unknown"), "{description}");
    }
}

#[tokio::test]
async fn it_is_not_there_unless_somebody_plans() {
    let settings = settings(&[]);
    let host = Host::new(&runtime(), &settings, Some(upstream(&Arc::new(Shop::default()))));
    let server = Server::new(host, &settings, None, Build::default()).unwrap();
    assert_eq!(tools(&server).await.len(), 1);
    let answer = Pipe::to(&server)
        .ask(1, "tools/call", json!({"name": "lisp_task", "arguments": {"task": "x"}}))
        .await;
    assert!(
        answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("unknown_tool: "),
        "{answer}"
    );
}
