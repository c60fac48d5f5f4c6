//! A stdio server with scripted behaviour: its options select the handshake, its tools misbehave.

use ptc_testkit::mcp::text;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Server with its options, each given as `--name value`.
struct Server {
    options: HashMap<String, String>,
    changed: AtomicBool,
    cancelled: Mutex<Vec<Value>>,
    answers: Mutex<Vec<Value>>,
    flying: AtomicUsize,
    most: AtomicUsize,
    subscription: Mutex<Option<Value>>,
}

pub fn serve(args: Vec<String>) {
    let mut options = HashMap::new();
    let mut args = args.into_iter();
    while let (Some(name), Some(value)) = (args.next(), args.next()) {
        options.insert(name.trim_start_matches('-').to_string(), value);
    }
    let server = Arc::new(Server {
        options,
        changed: AtomicBool::new(false),
        cancelled: Mutex::default(),
        answers: Mutex::default(),
        flying: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
        subscription: Mutex::default(),
    });
    if let Some(text) = server.option("stderr") {
        eprintln!("{text}");
    }
    if server.option("crash").is_some() {
        std::process::exit(3);
    }
    if let Some(file) = server.option("second-life")
        && std::path::Path::new(file).exists()
    {
        server.changed.store(true, Ordering::SeqCst);
    } else if let Some(file) = server.option("second-life") {
        std::fs::write(file, "born").expect("a file");
    }
    std::thread::sleep(Duration::from_millis(server.number("slow-start")));
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        server.hear(message);
    }
    // The input is closed: a good server exits, this one may stay.
    std::thread::sleep(Duration::from_millis(server.number("linger")));
}

fn say(message: Value) {
    shout(&format!("{message}\n"));
}

fn shout(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

fn reply(id: &Value, result: Value) {
    say(json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn refuse(id: &Value, code: i64, message: &str) {
    say(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
}

impl Server {
    fn option(&self, name: &str) -> Option<&String> {
        self.options.get(name)
    }

    fn number(&self, name: &str) -> u64 {
        self.option(name).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    fn hear(self: &Arc<Self>, message: Value) {
        let id = message["id"].clone();
        let protocol = self.option("protocol").map_or("2025-11-25", String::as_str);
        match message["method"].as_str() {
            Some("server/discover")
                if self.option("tag").is_some_and(|tag| {
                    eprintln!("asked to discover {tag}");
                    false
                }) => {}
            Some("server/discover") if protocol == "2026-07-28" => reply(
                &id,
                json!({
                    "resultType": "complete", "supportedVersions": [protocol], "ttlMs": 0, "cacheScope": "private",
                    "capabilities": {"tools": {"listChanged": true}}, "serverInfo": {"name": "fixture", "version": "1"},
                }),
            ),
            Some("server/discover") => match self.option("discover").map(String::as_str) {
                Some("silence") => {}
                Some("death") => std::process::exit(1),
                _ => refuse(&id, -32601, "Method not found"),
            },
            Some("initialize") if protocol == "2026-07-28" => refuse(&id, -32601, "Method not found"),
            Some("initialize") if self.option("handshake").is_some() => refuse(&id, -32603, "not today"),
            Some("initialize") => reply(
                &id,
                json!({
                    "protocolVersion": protocol, "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "fixture", "version": "1"},
                }),
            ),
            Some("tools/list") => self.list(&id, &message),
            Some("tools/call") => {
                let server = self.clone();
                std::thread::spawn(move || server.call(&id, &message["params"]));
            }
            Some("notifications/cancelled") => {
                self.cancelled.lock().unwrap().push(message["params"]["requestId"].clone());
            }
            Some("subscriptions/listen") => {
                *self.subscription.lock().unwrap() = Some(id.clone());
                say(
                    json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {
                    "_meta": {"io.modelcontextprotocol/subscriptionId": id},
                    "notifications": {"toolsListChanged": true}}}),
                );
            }
            Some(_) if !id.is_null() => refuse(&id, -32601, "Method not found"),
            Some(_) => {}
            None => self.answers.lock().unwrap().push(message),
        }
    }

    fn list(&self, id: &Value, message: &Value) {
        let pages = self.number("pages").max(1);
        let page =
            message["params"]["cursor"].as_str().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let changed = self.changed.load(Ordering::SeqCst);
        let mut tools = vec![json!({
            "name": if changed { "echo_new".to_string() } else if page == 0 { "echo".to_string() } else { format!("echo_{page}") },
            "description": "Says it again", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
        })];
        tools.push(
            json!({"name": "pid", "inputSchema": {"type": "object"}, "description": format!("page {page}")}),
        );
        let mut result =
            json!({"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
        if page + 1 < pages {
            result["nextCursor"] = json!((page + 1).to_string());
        }
        reply(id, result);
    }

    fn call(&self, id: &Value, params: &Value) {
        let args = &params["arguments"];
        let number = |name: &str| args[name].as_u64().unwrap_or(0);
        match params["name"].as_str().unwrap_or_default() {
            "echo" => reply(id, text(args["text"].as_str().unwrap_or_default())),
            "sleep" => {
                let flying = self.flying.fetch_add(1, Ordering::SeqCst) + 1;
                self.most.fetch_max(flying, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(number("ms")));
                self.flying.fetch_sub(1, Ordering::SeqCst);
                reply(id, text(args["text"].as_str().unwrap_or("slept")));
            }
            "hang" => {}
            "die" => std::process::exit(i32::try_from(number("code")).unwrap_or(1)),
            "refuse" => refuse(id, -32602, "no such thing"),
            "fail" => reply(id, json!({"content": [{"type": "text", "text": "it broke"}], "isError": true})),
            "structured" => {
                reply(id, json!({"content": [], "structuredContent": {"a": [1, {"b": null}]}, "odd": true}))
            }
            "strange" => reply(id, json!({"content": [{"type": "hologram", "depth": 3}]})),
            "input" => reply(id, json!({"resultType": "input_required", "inputRequests": {}})),
            "neither" => say(json!({"jsonrpc": "2.0", "id": id})),
            "flood" => {
                let filler = "x".repeat(1000);
                for n in 0..number("n") {
                    say(json!({"jsonrpc": "2.0", "method": "notifications/message",
                        "params": {"level": "info", "data": filler, "n": n}}));
                    say(json!({"jsonrpc": "2.0", "id": format!("q{n}"), "method": "ping"}));
                }
                reply(id, text("after the flood"));
            }
            "big" => {
                let filler = "x".repeat(usize::try_from(number("bytes")).unwrap());
                match args["id_last"] == json!(true) {
                    false => reply(id, text(filler)),
                    true => {
                        shout(&format!("{{\"result\":{},\"jsonrpc\":\"2.0\",\"id\":{id}}}\n", text(filler)))
                    }
                }
            }
            "garbage" => {
                shout("Server starting up…\n\n42\n\"text\"\n\u{1b}[31mred\u{1b}[0m\n{\"jsonrpc\":\n[]\n{}\n");
                reply(id, text("in between"));
            }
            "malformed" => {
                shout(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[}}\n"))
            }
            "deep" => {
                shout(&format!("{{\"id\":{id},\"result\":{}{}}}\n", "[".repeat(5000), "]".repeat(5000)))
            }
            "wrong_id" => reply(&json!(99999), text("for somebody else")),
            "string_id" => reply(&json!(id.to_string()), text("as a string")),
            "twice" => {
                reply(id, text("once"));
                reply(id, text("twice"));
            }
            "env" => {
                let all: HashMap<String, String> = std::env::vars().collect();
                reply(id, text(json!(all).to_string()));
            }
            "pid" => reply(id, text(std::process::id().to_string())),
            "folder" => reply(id, text(std::env::current_dir().unwrap().display().to_string())),
            "meta" => reply(id, text(params["_meta"].to_string())),
            "cancelled" => reply(id, text(json!(*self.cancelled.lock().unwrap()).to_string())),
            "most" => reply(id, text(self.most.load(Ordering::SeqCst).to_string())),
            "stderr" => {
                eprintln!("{}", args["text"].as_str().unwrap_or_default());
                reply(id, text("said"));
            }
            "change" => {
                self.changed.store(true, Ordering::SeqCst);
                let mut note =
                    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}});
                if let Some(subscription) = &*self.subscription.lock().unwrap() {
                    note["params"]["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": subscription});
                }
                say(note);
                reply(id, text("changed"));
            }
            "ask" => {
                for (n, method) in ["ping", "sampling/createMessage", "roots/list"].iter().enumerate() {
                    say(json!({"jsonrpc": "2.0", "id": format!("q{n}"), "method": method, "params": {
                        "messages": [], "maxTokens": 1}}));
                }
                while self.answers.lock().unwrap().len() < 3 {
                    std::thread::sleep(Duration::from_millis(5));
                }
                reply(id, text(json!(*self.answers.lock().unwrap()).to_string()));
            }
            "grandchild" => {
                let mut child = std::process::Command::new("sleep").arg("600").spawn().expect("sleep");
                reply(id, text(child.id().to_string()));
                let _ = child.wait();
            }
            other => refuse(id, -32602, &format!("Unknown tool: {other}")),
        }
    }
}
