//! Messages of a client → replies of the server. The bytes are the client's side of a connection or, after a
//! zero byte, choices of mostly meaningful messages.

use crate::kit::{PROGRAMS, RUNTIME, choices, texts};
use crate::take::Take;
use ptc_mcp::frame::{Id, Message};
use ptc_mcp::protocol::Build;
use ptc_mcp::sessions::Owner;
use ptc_mcp::tools;
use ptc_mcp::{Host, Server, Sessions, Settings};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, split};
use tokio::runtime::Builder;

/// Time limit far above what any case takes: a case that reaches it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

static SETTINGS: LazyLock<Settings> = LazyLock::new(|| {
    let flags = [
        "--sessions",
        "--debug-tool",
        "--program-timeout-ms=100",
        "--max-frame-bytes=3000",
        "--max-program-bytes=1000",
        "--max-sessions=3",
    ];
    Settings::resolve(flags, |_| None).expect("settings").settings
});

/// Creates a server; each case gets its own, so that no case affects the next.
fn server() -> Server {
    let host = Host::new(&RUNTIME, &SETTINGS, None);
    let sessions = Sessions::builder(&host, &SETTINGS).open().expect("sessions");
    Server::new(host, &SETTINGS, Some(sessions), Build::default()).expect("a server")
}

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    let said = match bytes.split_first() {
        Some((0, rest)) => conversation(rest),
        _ => bytes.to_vec(),
    };
    let due = Due::of(&said);
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let answers = runtime.block_on(async { tokio::time::timeout(PATIENCE, talk(&said, &due)).await });
    let shown = String::from_utf8_lossy(&said);
    let answers = answers.unwrap_or_else(|_| panic!("no end of it: {shown}"));
    due.check(&answers, &shown);
    runtime.shutdown_background();
}

/// Sends everything, receives the replies that are due, closes the connection, and receives the rest.
async fn talk(said: &[u8], due: &Due) -> Vec<Value> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(async move {
        let (input, output) = split(theirs);
        ptc_mcp::stdio::serve(&server(), Owner::new("fuzz"), input, output).await;
    });
    let (output, mut input) = split(ours);
    let (heard, is_enough) = tokio::sync::oneshot::channel::<()>();
    let said = said.to_vec();
    let saying = tokio::spawn(async move {
        // After `exit`, the server ignores the client.
        let _ = input.write_all(&said).await;
        let _ = is_enough.await;
        let _ = input.shutdown().await;
    });
    let mut heard = Some(heard);
    let (mut answers, mut count) = (Vec::new(), 0);
    if due.least() == 0 {
        heard.take().map(|heard| heard.send(()));
    }
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let answer: Value = serde_json::from_str(&line).expect("every line is JSON");
        // Notifications and requests of the server are not replies.
        if answer.get("method").is_none() {
            count += usize::from(due.is_certain(&answer));
            answers.push(answer);
        }
        if count >= due.least() {
            heard.take().map(|heard| heard.send(()));
        }
    }
    let _ = tokio::join!(serving, saying);
    answers
}

/// Replies that are due, by id.
#[derive(Default)]
struct Due {
    /// Number of replies there must be.
    wanted: BTreeMap<String, usize>,
    /// Ids of cancelled requests, which need not get a reply.
    cancelled: Vec<String>,
}

impl Due {
    fn of(said: &[u8]) -> Due {
        let mut due = Due::default();
        let mut lines: Vec<&[u8]> = said.split(|byte| *byte == b'\n').collect();
        // Text without a line break is not a line.
        lines.pop();
        for line in lines {
            if line.len() as u64 > SETTINGS.max_frame_bytes {
                due.add(None);
                continue;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.trim_ascii().is_empty() {
                continue;
            }
            match Message::read(line) {
                Err((id, _)) => due.add(id.as_ref()),
                Ok(Message::Request(request)) => due.add(Some(&request.id)),
                Ok(Message::Notification { method, .. }) if method == "exit" => break,
                Ok(Message::Notification { method, params }) if method == "notifications/cancelled" => {
                    due.cancelled.extend(params.get("requestId").map(Value::to_string));
                }
                Ok(_) => {}
            }
        }
        due
    }

    fn add(&mut self, id: Option<&Id>) {
        let id = id.map_or(Value::Null, Id::to_json).to_string();
        *self.wanted.entry(id).or_default() += 1;
    }

    fn is_certain(&self, answer: &Value) -> bool {
        !self.cancelled.contains(&answer["id"].to_string())
    }

    fn least(&self) -> usize {
        self.wanted.iter().filter(|(id, _)| !self.cancelled.contains(id)).map(|(_, count)| count).sum()
    }

    fn check(&self, answers: &[Value], said: &str) {
        let mut given: BTreeMap<String, usize> = BTreeMap::new();
        for answer in answers {
            let shape = (answer.get("result").is_some(), answer.get("error").is_some());
            assert!(shape.0 != shape.1, "{answer} to {said}");
            assert_ne!(answer["error"]["code"], -32603, "{answer} to {said}");
            assert!(!answer.to_string().contains("internal_error"), "{answer} to {said}");
            *given.entry(answer["id"].to_string()).or_default() += 1;
        }
        for (id, count) in &given {
            let most = self.wanted.get(id).copied().unwrap_or(0);
            assert!(*count <= most, "{count} answers for {id}, not {most}: {said}");
        }
        for (id, wanted) in self.wanted.iter().filter(|(id, _)| !self.cancelled.contains(id)) {
            let count = given.get(id).copied().unwrap_or(0);
            assert_eq!(count, *wanted, "answers for {id}: {said}");
        }
    }
}

const METHODS: &[&str] = &[
    "tools/call",
    "tools/list",
    "initialize",
    "ping",
    "server/discover",
    "logging/setLevel",
    "shutdown",
    "notifications/cancelled",
    "notifications/initialized",
    "exit",
    "resources/list",
    "",
];

const MORE: &[&str] = &["(loop [] (recur))", "(", "(tool/x {})", "(range 100000)", "(def a 1)", "a", "*1"];

/// Generates messages of a client, one per line.
fn conversation(bytes: &[u8]) -> Vec<u8> {
    let mut take = Take::new(bytes);
    let mut said = Vec::new();
    for _ in 0..12 {
        let message = message(&mut take).to_string();
        said.extend_from_slice(message.as_bytes());
        // Now and then a message is cut short, or joined to the next.
        if take.pick(12) == 11 {
            said.truncate(said.len() - take.pick(message.len()));
        }
        said.extend_from_slice(take.one_of(&["\n", "\r\n", "\n\n", "\n", "\n", " \n"]).as_bytes());
        if take.is_empty() {
            break;
        }
    }
    said
}

fn message(take: &mut Take<'_>) -> Value {
    let mut message = Map::new();
    message.insert("jsonrpc".into(), take.pick(16).ne(&15).then_some("2.0").into());
    let id = match take.pick(8) {
        0 => None,
        1 => Some(json!(take.one_of(&["a", "", "1"]))),
        2 => Some([json!(null), json!([]), json!(1.5), json!(-1), json!(u64::MAX)][take.pick(5)].clone()),
        _ => Some(json!(take.pick(6))),
    };
    message.extend(id.map(|id| ("id".to_string(), id)));
    let method = METHODS[take.pick(20) % METHODS.len()];
    message.insert("method".into(), method.into());
    let params = match method {
        "tools/call" => call(take),
        "initialize" => {
            json!({"protocolVersion": take.one_of(&["2025-06-18", "2024-11-05", "x", ""]), "capabilities": {}})
        }
        "logging/setLevel" => json!({"level": take.one_of(&["info", "loud"])}),
        "notifications/cancelled" => json!({"requestId": take.pick(6)}),
        _ => [json!({}), json!(null), json!([1]), json!({"cursor": "x"})][take.pick(4)].clone(),
    };
    message.insert("params".into(), params);
    if let Some(Value::Object(params)) = message.get_mut("params")
        && take.pick(6) == 5
    {
        let version = take.one_of(&["2026-07-28", "DRAFT", "2025-06-18"]);
        let meta = json!({"io.modelcontextprotocol/protocolVersion": version, "progressToken": take.pick(3)});
        params.insert("_meta".into(), meta);
    }
    Value::Object(message)
}

fn call(take: &mut Take<'_>) -> Value {
    let program = match take.pick(4) {
        0 => MORE[take.pick(MORE.len())].to_string(),
        1 => PROGRAMS[take.pick(PROGRAMS.len())].to_string(),
        2 => ptc_snapshots::generate::program(&take.rest()[..take.rest().len().min(30)]),
        _ => "(+ 1 1)".to_string(),
    };
    let mut args = json!({"program": program});
    match take.pick(6) {
        0 => args["session_id"] = json!(take.one_of(&["s", "", "../x"])),
        1 => args["context"] = json!({"x": take.pick(9), "ns": [1, 2]}),
        2 => args["signature"] = json!(take.one_of(&[":int", "(", "() -> {a :int}"])),
        3 => args = json!(take.pick(2)),
        _ => {}
    }
    let tool = tools::names().nth(take.pick(tools::names().len() + 1)).unwrap_or("nothing");
    json!({"name": tool, "arguments": args})
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = choices(60).into_iter().map(|bytes| [vec![0], bytes].concat()).collect();
    seeds.extend(texts(&[
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"lisp_eval\",\"arguments\":{\"program\":\"(+ 1 1)\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\"}}\n",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n\n{\"id\":1}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nnot json\n",
    ]));
    seeds.push([&[b' '; 3001][..], b"\n", &[b'x'; 4000], b"\n"].concat());
    seeds
}
