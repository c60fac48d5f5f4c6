//! A small MCP server over pipes. It has the files of a folder, and tools that misbehave on request.

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

/// What a token is called in the environment of the server.
const TOKEN: &str = "TOKEN";
/// What the file is called there that calls are written to, a line for each.
const CALLS: &str = "CALLS";

/// Serves until the input ends. `misbehave` adds tools that fail, die, wait and tell the token.
pub fn serve(folder: &Path, misbehave: bool) {
    if misbehave {
        eprintln!("started with {}", echoes().join(" "));
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap_or_default()) else { continue };
        let answer = match message["method"].as_str() {
            Some("initialize") => json!({"result": {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "fixture", "version": "1"},
            }}),
            Some("tools/list") => json!({"result": {"tools": tools(misbehave)}}),
            Some("tools/call") => call(folder, &message["params"]),
            _ if message["id"].is_null() => continue,
            _ => json!({"error": {"code": -32601, "message": "Method not found"}}),
        };
        let mut answer = answer;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = message["id"].clone();
        let mut out = std::io::stdout().lock();
        let written = writeln!(out, "{answer}").and_then(|()| out.flush());
        if written.is_err() {
            return;
        }
    }
}

/// The token in every form it may come back in.
pub fn echoes() -> Vec<String> {
    forms(&std::env::var(TOKEN).unwrap_or_default())
}

/// A secret as it stands in texts, in base64, in URLs and in JSON.
pub fn forms(secret: &str) -> Vec<String> {
    if secret.is_empty() {
        return Vec::new();
    }
    let json = json!(secret).to_string();
    let url = percent_encoding::utf8_percent_encode(secret, percent_encoding::NON_ALPHANUMERIC);
    vec![secret.to_string(), STANDARD.encode(secret), url.to_string(), json[1..json.len() - 1].to_string()]
}

fn tools(misbehave: bool) -> Vec<Value> {
    let path = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let reads = json!({"readOnlyHint": true});
    let content =
        json!({"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]});
    let mut tools = vec![
        json!({"name": "read_text_file", "description": "Read a text file", "inputSchema": path,
            "outputSchema": content, "annotations": reads}),
        json!({"name": "list_directory", "description": "List the files", "inputSchema": path, "annotations": reads}),
    ];
    if misbehave {
        let told = echoes().join(" ");
        for name in ["fail", "refuse", "die", "tell", "write"] {
            tools.push(json!({
                "name": name, "description": format!("{name}s {told}"),
                "inputSchema": {"type": "object", "properties": {"key": {"type": "string", "description": told, "enum": [told, "x"]}}},
                "annotations": {"readOnlyHint": name != "write", "title": told},
            }));
        }
        let ms = json!({"type": "object", "properties": {"ms": {"type": "integer"}}});
        tools.push(json!({"name": "wait", "description": "Wait", "inputSchema": ms, "annotations": reads}));
    }
    tools
}

fn call(folder: &Path, params: &Value) -> Value {
    if let Ok(calls) = std::env::var(CALLS) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(calls);
        let _ = file.and_then(|mut file| writeln!(file, "{}", params["name"]));
    }
    let args = &params["arguments"];
    let path = folder.join(args["path"].as_str().unwrap_or_default().trim_start_matches("/srv/sandbox/"));
    let text = |text: String| json!({"result": {"content": [{"type": "text", "text": text}]}});
    let failed =
        |text: String| json!({"result": {"isError": true, "content": [{"type": "text", "text": text}]}});
    let told = echoes();
    match params["name"].as_str().unwrap_or_default() {
        "read_text_file" => match std::fs::read_to_string(&path) {
            Ok(found) => json!({"result": {
                "content": [{"type": "text", "text": found}], "structuredContent": {"content": found},
            }}),
            Err(error) => failed(format!("cannot read it: {error}")),
        },
        "list_directory" => {
            let names = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let mut names: Vec<String> =
                names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            text(json!(names).to_string())
        }
        "fail" => failed(format!("it broke: {}", told.join(" "))),
        "refuse" => json!({"error": {"code": -32602, "message": format!("no: {}", told.join(" "))}}),
        "die" => {
            eprintln!("dying of {}", told.join(" "));
            std::process::exit(3);
        }
        "wait" => {
            std::thread::sleep(Duration::from_millis(args["ms"].as_u64().unwrap_or(0)));
            text("waited".to_string())
        }
        "tell" => {
            let keyed: serde_json::Map<String, Value> =
                told.iter().map(|form| (form.clone(), json!([form]))).collect();
            json!({"result": {"content": [], "structuredContent": {"told": keyed, "all": told.join(" ")}}})
        }
        "write" => text("written".to_string()),
        other => json!({"error": {"code": -32602, "message": format!("Unknown tool: {other}")}}),
    }
}
