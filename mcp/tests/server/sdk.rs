//! The official Rust SDK as the client.

use crate::server;
use ptc_mcp::sessions::Owner;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use serde_json::json;

#[tokio::test]
async fn the_rust_sdk_lists_and_calls_tools() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = server(&["--sessions", "--response-profile=structured"]);
    tokio::spawn(async move {
        let (input, output) = tokio::io::split(theirs);
        ptc_mcp::stdio::serve(&server, Owner::new("sdk"), input, output).await;
    });
    let client = ().serve(ours).await.unwrap();
    assert_eq!(client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2025_11_25);
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools[0].name, "lisp_eval");
    let args = json!({"program": "(reduce + data/ns)", "context": {"ns": [1, 2, 3]}, "output_schema": {"type": "integer"}});
    let call = CallToolRequestParams::new("lisp_eval").with_arguments(args.as_object().unwrap().clone());
    let result = client.call_tool(call).await.unwrap();
    assert_eq!(result.structured_content.unwrap()["validated"], 6);
    assert_ne!(result.is_error, Some(true));
    client.cancel().await.unwrap();
}
