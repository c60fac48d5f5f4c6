//! A server over HTTP that tells the credential it was sent wherever it can: in tools, answers, errors and bodies.

use crate::fixture::forms;
use ptc_testkit::{http, mcp};
use serde_json::{Value, json};

/// Starts it, for as long as the tests run; gives its address.
pub fn start() -> String {
    http::serve(|request, stream| {
        let credential = request.headers.get("authorization").map_or_else(String::new, |value| {
            let token = value.rsplit(' ').next().unwrap_or_default();
            format!("{value} {}", forms(token).join(" "))
        });
        let in_header = credential.replace(|c: char| c.is_control(), " ");
        let (status, body) = Asked { path: &request.path, body: &request.body, told: credential }.respond();
        http::write(stream, status, &[http::JSON, ("x-echo", &in_header)], &body)
    })
}

struct Asked<'a> {
    path: &'a str,
    body: &'a Value,
    /// Every form of the credential, and the header it came in.
    told: String,
}

impl Asked<'_> {
    fn respond(&self) -> (u16, String) {
        let told = &self.told;
        match self.path {
            "/mcp" => self.message(),
            "/things" => (200, json!({"told": told, told.clone(): 1}).to_string()),
            "/denied" => (401, format!("denied: {told}")),
            "/broken" => (500, format!("broken: {told}")),
            _ => (404, json!({"error": told}).to_string()),
        }
    }

    fn message(&self) -> (u16, String) {
        let told = &self.told;
        let result = match self.body["method"].as_str() {
            _ if self.body["id"].is_null() => return (202, String::new()),
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "instructions": told,
                "serverInfo": {"name": told, "version": "1"},
            }),
            Some("tools/list") => {
                let tool = |name: &str| {
                    json!({"name": name, "description": told, "annotations": {"readOnlyHint": true, "title": told},
                        "inputSchema": {"type": "object", "properties": {told.clone(): {"type": "string", "const": told}}}})
                };
                let tools = ["tell", "fail", "denied", "broken", "odd"].map(tool);
                json!({"tools": tools})
            }
            Some("tools/call") => match self.body["params"]["name"].as_str().unwrap_or_default() {
                "denied" => return (401, format!("denied: {told}")),
                "broken" => return (500, format!("broken: {told}")),
                "odd" => return (200, told.clone()),
                "fail" => json!({"isError": true, "content": [{"type": "text", "text": told}]}),
                _ => {
                    json!({"content": [{"type": "text", "text": json!({"told": told, told.clone(): [told]}).to_string()}]})
                }
            },
            _ => return (200, mcp::error(&self.body["id"], -32601, told)),
        };
        (200, mcp::result(&self.body["id"], &result))
    }
}

/// A document of its other paths, as an address can be given for it.
pub fn document(address: &str) -> Value {
    let get = |id: &str| {
        json!({"get": {"operationId": id, "description": "Asks", "responses": {"200": {"description": "yes",
            "content": {"application/json": {"schema": {"type": "object"}}}}}}})
    };
    json!({
        "openapi": "3.1.0", "info": {"title": "Things", "version": "1"}, "servers": [{"url": address}],
        "paths": {"/things": get("things"), "/denied": get("denied"), "/broken": get("broken"), "/missing": get("missing")},
    })
}
