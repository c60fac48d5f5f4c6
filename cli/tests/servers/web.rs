//! A server over HTTP that tells the credential it was sent wherever it can: in tools, answers, errors and bodies.

use crate::fixture::forms;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

/// Starts it, for as long as the tests run; gives its address.
pub fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    format!("http://{address}")
}

/// Requests of one connection, one after the other.
fn answer(stream: TcpStream) {
    let mut writer = stream.try_clone().expect("a second handle");
    let mut reader = BufReader::new(stream);
    while let Some(asked) = read(&mut reader) {
        let (status, body) = asked.respond();
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nx-echo: {}\r\n\r\n",
            body.len(),
            asked.told.replace(|c: char| c.is_control(), " "),
        );
        if writer.write_all(head.as_bytes()).and_then(|()| writer.write_all(body.as_bytes())).is_err() {
            return;
        }
    }
}

struct Asked {
    path: String,
    body: Value,
    /// Every form of the credential, and the header it came in.
    told: String,
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let path = line.split_whitespace().nth(1)?.to_string();
    let (mut length, mut told) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => {
                let token = value.rsplit(' ').next().unwrap_or_default();
                told = format!("{value} {}", forms(token).join(" "));
            }
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { path, body: serde_json::from_slice(&body).unwrap_or_default(), told })
}

impl Asked {
    fn respond(&self) -> (u16, String) {
        let told = &self.told;
        match &*self.path {
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
            _ => {
                let error = json!({"jsonrpc": "2.0", "id": self.body["id"], "error": {"code": -32601, "message": told}});
                return (200, error.to_string());
            }
        };
        (200, json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result}).to_string())
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
