//! The list of tools, `tools/list`.

use crate::pipe::Pipe;
use crate::server;
use ptc_mcp::protocol::Build;
use ptc_mcp::{Host, Server, Sessions};
use ptc_runtime::{Inventory, Prelude, Runtime};
use serde_json::{Value, json};

async fn listed(flags: &[&str]) -> Value {
    let mut pipe = Pipe::to(&server(flags));
    pipe.ask(1, "tools/list", json!({})).await["result"]["tools"].take()
}

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn flags_decide_which_tools_there_are_in_a_fixed_order() {
    assert_eq!(names(&listed(&[]).await), ["lisp_eval"]);
    let all = [
        "lisp_eval",
        "lisp_debug",
        "lisp_session_start",
        "lisp_session_list",
        "lisp_session_list_preludes",
        "lisp_session_eval",
        "lisp_session_inspect",
        "lisp_session_forget",
        "lisp_session_close",
    ];
    assert_eq!(names(&listed(&["--debug-tool", "--sessions"]).await), all);
    assert_eq!(names(&listed(&["--hide-stateless", "--sessions"]).await), all[2..]);
}

#[tokio::test]
async fn the_list_is_the_same_every_time() {
    let flags = ["--sessions", "--debug-tool"];
    assert_eq!(listed(&flags).await.to_string(), listed(&flags).await.to_string());
}

#[tokio::test]
async fn a_model_is_told_what_it_needs_to_write_a_program() {
    let tools = listed(&["--sessions"]).await;
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert!(!tool["description"].as_str().unwrap().is_empty());
        assert!(tool["annotations"]["readOnlyHint"].is_boolean());
    }
    let told = tools[0]["description"].as_str().unwrap();
    assert!(told.contains("data/name") && told.contains("group-by") && told.contains("`->>`"));
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    assert_eq!(tools[0]["annotations"]["openWorldHint"], false);
}

#[tokio::test]
async fn functions_of_preludes_are_listed_as_in_the_prompt_of_an_agent() {
    let settings = crate::settings(&["--sessions"]);
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let source = "(ns shop \"Prices.\")\n(defn gross \"Adds tax.\" [net] (* net 2))\n(defn- secret [] 1)";
    let prelude = Prelude::compile(&runtime, source).unwrap();
    let host = Host::new(&runtime, &settings, None).prelude(&prelude).unwrap();
    let inventory = host.runtime().inventory(Inventory::default()).unwrap();
    assert!(inventory.contains("shop/gross (gross net) [pure] - Adds tax.") && !inventory.contains("secret"));
    let sessions = Sessions::builder(&host, &settings).open().unwrap();
    let server = Server::new(host, &settings, Some(sessions), Build::default()).unwrap();
    let mut pipe = Pipe::to(&server);
    let told = pipe.ask(1, "initialize", json!({"protocolVersion": "2025-11-25"})).await;
    let instructions = told["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("libraries: shop; (dir 'name)"), "{instructions}");
    let tools = pipe.ask(2, "tools/list", json!({})).await["result"]["tools"].take();
    for tool in ["lisp_eval", "lisp_session_eval"] {
        let tool = tools.as_array().unwrap().iter().find(|found| found["name"] == tool).unwrap();
        assert!(tool["description"].as_str().unwrap().contains(inventory.trim_end()), "{tool}");
    }
}

#[tokio::test]
async fn a_profile_with_objects_says_what_they_look_like() {
    assert!(listed(&[]).await[0].get("outputSchema").is_none());
    let schema = listed(&["--response-profile=structured"]).await[0]["outputSchema"].take();
    assert_eq!(schema["type"], "object");
    let reasons = schema["oneOf"][1]["properties"]["reason"]["enum"].as_array().unwrap();
    assert!(reasons.contains(&json!("validation_error")) && reasons.contains(&json!("busy")));
}
