//! An HTTP server with scripted behaviour. Its options select the handshake; its tools misbehave.

use ptc_testkit::http::{self, JSON, Request, write};
use ptc_testkit::mcp::{self, text};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Options of the server's behaviour.
#[derive(Clone, Default)]
pub struct Options {
    /// Protocol revision it speaks.
    pub protocol: &'static str,
    /// True if it issues session ids.
    pub sessions: bool,
    /// Number of bytes per write if it replies with events (0: all at once); None for plain JSON.
    pub events: Option<usize>,
    /// True if lines of events end with CRLF.
    pub crlf: bool,
    /// Status and body for every request, in place of a reply.
    pub status: Option<(u16, &'static str)>,
    /// Status for `server/discover` only.
    pub discover_status: Option<u16>,
    /// Address that every request is redirected to.
    pub redirect: Option<String>,
    /// Events that the tool `asks_first` sends before its reply.
    pub before_answer: Option<Arc<str>>,
    /// Text written to the open stream again and again.
    pub flood: Option<Arc<str>>,
}

/// Requests and events that a server has seen.
#[derive(Default)]
pub struct Seen {
    pub requests: Vec<Request>,
    pub sessions: usize,
    pub expired: usize,
    pub closed_early: usize,
    changed: bool,
    resumed: Option<Value>,
    listener: Option<TcpStream>,
}

pub struct Web {
    pub url: String,
    pub options: Arc<Mutex<Options>>,
    pub seen: Arc<Mutex<Seen>>,
}

impl Web {
    pub fn start(options: Options) -> Web {
        let (options, seen) = (Arc::new(Mutex::new(options)), Arc::<Mutex<Seen>>::default());
        let server = Server { options: options.clone(), seen: seen.clone() };
        let address = http::serve(move |request, stream| {
            let options = server.options.lock().unwrap().clone();
            server.seen.lock().unwrap().requests.push(request.clone());
            server.answer(request, &options, stream)
        });
        Web { url: format!("{address}/mcp"), options, seen }
    }

    /// Returns how many requests had this MCP method.
    pub fn count(&self, method: &str) -> usize {
        self.seen.lock().unwrap().requests.iter().filter(|request| request.body["method"] == method).count()
    }

    pub fn header(&self, method: &str, name: &str) -> Option<String> {
        let seen = self.seen.lock().unwrap();
        let request = seen.requests.iter().rev().find(|request| request.body["method"] == method)?;
        request.headers.get(name).cloned()
    }
}

struct Server {
    options: Arc<Mutex<Options>>,
    seen: Arc<Mutex<Seen>>,
}

impl Server {
    fn answer(&self, request: &Request, options: &Options, stream: &mut TcpStream) -> bool {
        if let Some(elsewhere) = &options.redirect {
            return match request.path.as_str() {
                "/there" => self.answer(request, &Options { redirect: None, ..options.clone() }, stream),
                _ => write(stream, 307, &[("Location", elsewhere)], ""),
            };
        }
        if let Some((status, body)) = options.status {
            return write(stream, status, &[JSON, ("Retry-After", "7")], body);
        }
        if request.method == "GET"
            && request.headers.get("last-event-id").is_some_and(|id| id == "7")
            && let Some(id) = self.seen.lock().unwrap().resumed.take()
        {
            let answer = mcp::result(&id, &text("the rest"));
            return self.events(stream, &format!("id: 8\ndata: {answer}\n\n"), 0);
        }
        if request.method == "GET" {
            return self.listen(options, stream);
        }
        if request.method == "DELETE" {
            return write(stream, 200, &[], "");
        }
        let method = request.body["method"].as_str().unwrap_or_default();
        let id = request.body["id"].clone();
        let modern = options.protocol == "2026-07-28";
        if let Some(status) = options.discover_status
            && method == "server/discover"
        {
            return write(stream, status, &[("Content-Type", "text/plain")], "what?");
        }
        let in_session = request.headers.get("mcp-session-id");
        if options.sessions && method != "initialize" && method != "server/discover" {
            let seen = self.seen.lock().unwrap();
            if in_session != Some(&format!("session-{}", seen.sessions)) || seen.expired == seen.sessions {
                return write(stream, 404, &[JSON], "");
            }
        }
        if id.is_null() {
            return write(stream, 202, &[], "");
        }
        let info = json!({"name": "fixture", "version": "1"});
        let result = match method {
            "server/discover" if modern => json!({
                "resultType": "complete", "supportedVersions": [options.protocol], "ttlMs": 0, "cacheScope": "private",
                "capabilities": {"tools": {"listChanged": true}}, "serverInfo": info}),
            "initialize" if !modern => {
                let version = json!({"protocolVersion": options.protocol, "capabilities": {"tools": {}}, "serverInfo": info});
                let body = mcp::result(&id, &version);
                if !options.sessions {
                    return write(stream, 200, &[JSON], &body);
                }
                let mut seen = self.seen.lock().unwrap();
                seen.sessions += 1;
                let session = format!("session-{}", seen.sessions);
                drop(seen);
                return write(stream, 200, &[JSON, ("Mcp-Session-Id", &session)], &body);
            }
            "tools/list" => {
                let changed = self.seen.lock().unwrap().changed;
                json!({"tools": [{"name": if changed { "echo_new" } else { "echo" }, "inputSchema": {"type": "object"}}],
                    "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
            }
            "subscriptions/listen" => return self.subscribe(&id, stream),
            "tools/call" => return self.call(&id, &request.body["params"], options, stream),
            _ => {
                let body = mcp::error(&id, -32601, "Method not found");
                return write(stream, if modern { 404 } else { 200 }, &[JSON], &body);
            }
        };
        self.reply(&id, result, options, stream)
    }

    fn reply(&self, id: &Value, result: Value, options: &Options, stream: &mut TcpStream) -> bool {
        let message = mcp::result(id, &result);
        match options.events {
            None => write(stream, 200, &[JSON], &message),
            Some(size) => {
                let other = mcp::result(&json!(99999), &text("for somebody else"));
                let end = if options.crlf { "\r\n" } else { "\n" };
                let (first, second) = message.split_at(message.find(',').expect("a comma") + 1);
                let events = format!(
                    ": a comment\n\nevent: message\ndata: {other}\n\ndata: {first}\ndata: {second}\n\n"
                );
                self.events(stream, &events.replace('\n', end), size)
            }
        }
    }

    /// Sends events, some bytes at a time, and closes the stream.
    fn events(&self, stream: &mut TcpStream, events: &str, size: usize) -> bool {
        let head = "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        for piece in events.as_bytes().chunks(if size == 0 { events.len().max(1) } else { size }) {
            if stream.write_all(piece).is_err() {
                self.seen.lock().unwrap().closed_early += 1;
                return false;
            }
            if size > 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        false
    }

    /// Serves a stream that stays open.
    fn listen(&self, options: &Options, stream: &mut TcpStream) -> bool {
        if !options.sessions {
            return write(stream, 405, &[], "");
        }
        let _ = stream.write_all(b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n");
        if let Some(flood) = &options.flood {
            while stream.write_all(flood.as_bytes()).is_ok() {}
            return false;
        }
        self.seen.lock().unwrap().listener = stream.try_clone().ok();
        std::thread::sleep(Duration::from_secs(60));
        false
    }

    fn subscribe(&self, id: &Value, stream: &mut TcpStream) -> bool {
        let accepted = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {
            "_meta": {"io.modelcontextprotocol/subscriptionId": id}, "notifications": {"toolsListChanged": true}}});
        let head = "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n";
        let _ = stream.write_all(format!("{head}data: {accepted}\n\n").as_bytes());
        self.seen.lock().unwrap().listener = stream.try_clone().ok();
        std::thread::sleep(Duration::from_secs(60));
        false
    }

    fn call(&self, id: &Value, params: &Value, options: &Options, stream: &mut TcpStream) -> bool {
        let args = &params["arguments"];
        let number = |name: &str| args[name].as_u64().unwrap_or(0);
        let plain = |stream: &mut TcpStream, body: &str| write(stream, 200, &[JSON], body);
        match params["name"].as_str().unwrap_or_default() {
            "echo" => self.reply(id, text(args["text"].as_str().unwrap_or_default()), options, stream),
            "sleep" => {
                std::thread::sleep(Duration::from_millis(number("ms")));
                self.reply(id, text("slept"), options, stream)
            }
            "hang" => {
                // Waits until the client hangs up.
                let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
                if matches!(stream.read(&mut [0]), Ok(0) | Err(_)) {
                    self.seen.lock().unwrap().closed_early += 1;
                }
                false
            }
            "status" => write(
                stream,
                u16::try_from(number("status")).unwrap(),
                &[JSON, ("Retry-After", "7")],
                &mcp::error(id, -32000, "the reason"),
            ),
            "big" => {
                self.reply(id, text("x".repeat(usize::try_from(number("bytes")).unwrap())), options, stream)
            }
            "endless" => {
                let head = "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\ndata: ";
                let _ = stream.write_all(head.as_bytes());
                while stream.write_all(&[b'x'; 10_000]).is_ok() {}
                self.seen.lock().unwrap().closed_early += 1;
                false
            }
            "malformed" => plain(stream, "{\"jsonrpc\":"),
            "html" => write(stream, 200, &[("Content-Type", "text/html")], "<p>Log in first"),
            "other_id" => plain(stream, &mcp::result(&json!(99999), &json!({}))),
            "batch" => {
                let message = json!([{"jsonrpc": "2.0", "method": "notifications/message"},
                    {"jsonrpc": "2.0", "id": id, "result": text("one of many")}]);
                match options.events {
                    None => plain(stream, &message.to_string()),
                    Some(_) => self.events(stream, &format!("data: {message}\n\n"), 0),
                }
            }
            "asks_first" => {
                let first = options.before_answer.as_deref().unwrap_or_default();
                self.events(stream, &format!("{first}data: {}\n\n", mcp::result(id, &text("done"))), 0)
            }
            "no_answer" => {
                self.events(stream, "data: {\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\n\n", 0)
            }
            "resume" => {
                self.seen.lock().unwrap().resumed = Some(id.clone());
                self.events(stream, "id: 7\nretry: 10\ndata:\n\n", 0)
            }
            "half_event" => {
                self.events(stream, &format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\n\n"), 0)
            }
            "cut_off" => {
                let _ = stream.write_all(
                    b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{",
                );
                false
            }
            "meta" => self.reply(id, text(params["_meta"].to_string()), options, stream),
            "expire" => {
                let mut seen = self.seen.lock().unwrap();
                seen.expired = seen.sessions;
                drop(seen);
                self.reply(id, text("expired"), options, stream)
            }
            "change" => {
                let mut seen = self.seen.lock().unwrap();
                seen.changed = true;
                let mut note =
                    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}});
                let listens = |request: &&Request| request.body["method"] == "subscriptions/listen";
                if let Some(request) = seen.requests.iter().find(listens) {
                    note["params"]["_meta"] =
                        json!({"io.modelcontextprotocol/subscriptionId": request.body["id"]});
                }
                if let Some(listener) = &mut seen.listener {
                    let _ = listener.write_all(format!("data: {note}\n\n").as_bytes());
                }
                drop(seen);
                self.reply(id, text("changed"), options, stream)
            }
            other => plain(stream, &mcp::error(id, -32602, &format!("Unknown tool: {other}"))),
        }
    }
}
