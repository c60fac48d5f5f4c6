//! Event streams: of calls with messages before their reply, and of sessions.

use crate::bank::{pay, server_with_bank};
use crate::http::{Web, hello, message};
use crate::server;
use ptc_mcp::Server;
use ptc_mcp::service::Service;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use std::time::Duration;

/// Reader of a response's events.
struct Events {
    response: Response,
    read: String,
}

impl Events {
    async fn of(request: RequestBuilder) -> Events {
        let response = request.header("accept", "application/json, text/event-stream").send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        Events { response, read: String::new() }
    }

    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_string);
                self.read = rest.to_string();
                match data {
                    Some(data) => return Some(serde_json::from_str(&data).unwrap()),
                    None => continue,
                }
            }
            let chunk = tokio::time::timeout(Duration::from_secs(60), self.response.chunk()).await;
            self.read.push_str(std::str::from_utf8(&chunk.unwrap().unwrap()?).unwrap());
        }
    }
}

async fn open(server: Server, capabilities: Value) -> (Web, String) {
    let web = Web::start(server).await;
    let mut hello = hello();
    hello["params"]["capabilities"] = capabilities;
    let response = web.post(&hello).send().await.unwrap();
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_string();
    (web, session)
}

fn eval(id: u64, program: &str, meta: Value) -> Value {
    message(id, "tools/call", json!({"name": "lisp_eval", "arguments": {"program": program}, "_meta": meta}))
}

const FLAGS: [&str; 2] = ["--http", "--http-disable-auth"];

#[tokio::test(flavor = "multi_thread")]
async fn progress_comes_before_the_answer_on_one_stream() {
    let (web, session) = open(server(&FLAGS), json!({})).await;
    let call = eval(1, "(+ 1 2)", json!({"progressToken": 5}));
    let mut events = Events::of(web.post(&call).header("mcp-session-id", &session)).await;
    assert_eq!(events.next().await.unwrap()["method"], "notifications/progress");
    let mut last = events.next().await.unwrap();
    while last.get("id").is_none() {
        last = events.next().await.unwrap();
    }
    assert_eq!(last["result"]["content"][0]["text"], "user=> 3");
    assert_eq!(events.next().await, None);
    // A client that cannot read streams gets only the reply.
    let plain = web.post(&call).header("mcp-session-id", &session).header("accept", "application/json");
    assert_eq!(plain.send().await.unwrap().headers()["content-type"], "application/json");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_on_the_stream_of_the_call() {
    let (server, bank) = server_with_bank(&FLAGS);
    let (web, session) = open(server, json!({"elicitation": {}})).await;
    let call = eval(1, &format!("(:ok {})", pay(9)), json!({}));
    let mut events = Events::of(web.post(&call).header("mcp-session-id", &session)).await;
    let question = events.next().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"approve": true}}});
    // Another session cannot answer for this one.
    let other = web.post(&hello()).send().await.unwrap();
    let other = other.headers()["mcp-session-id"].to_str().unwrap().to_string();
    web.post(&answer).header("mcp-session-id", &other).send().await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(bank.paid().is_empty());
    let accepted = web.post(&answer).header("mcp-session-id", &session).send().await.unwrap();
    assert_eq!(accepted.status(), 202);
    assert_eq!(events.next().await.unwrap()["result"]["content"][0]["text"], "user=> true");
    assert_eq!(bank.paid(), [9]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_read_a_stream_cannot_be_asked() {
    let (server, bank) = server_with_bank(&FLAGS);
    let (web, session) = open(server, json!({"elicitation": {}})).await;
    let call = eval(1, &format!("(:message {})", pay(9)), json!({}));
    let told = web.post(&call).header("mcp-session-id", &session).header("accept", "application/json");
    let told = told.send().await.unwrap().text().await.unwrap();
    assert!(told.contains("nobody can be asked here"), "{told}");
    assert!(bank.paid().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_a_stream_that_ends_with_it() {
    let (web, session) = open(server(&FLAGS), json!({})).await;
    let get = || web.client.get(format!("{}/mcp", web.url)).header("accept", "text/event-stream");
    assert_eq!(get().send().await.unwrap().status(), 405);
    assert_eq!(get().header("mcp-session-id", "mcp_none").send().await.unwrap().status(), 404);
    let mut events = Events::of(get().header("mcp-session-id", &session)).await;
    // The number of streams is limited.
    let mut more = Vec::new();
    for _ in 0..3 {
        more.push(Events::of(get().header("mcp-session-id", &session)).await);
    }
    assert_eq!(get().header("mcp-session-id", &session).send().await.unwrap().status(), 409);
    drop(more);
    web.client.delete(format!("{}/mcp", web.url)).header("mcp-session-id", &session).send().await.unwrap();
    assert_eq!(events.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_a_stream_gives_the_call_up() {
    let flags = [&FLAGS[..], &["--program-timeout-ms", "60000"]].concat();
    let (web, session) = open(server(&flags), json!({})).await;
    let call = eval(1, crate::pipe::ENDLESS, json!({"progressToken": 5}));
    let mut events = Events::of(web.post(&call).header("mcp-session-id", &session)).await;
    events.next().await.unwrap();
    drop(events);
    let stopped = async {
        while web.server.running() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), stopped).await.unwrap();
}
