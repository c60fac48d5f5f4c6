//! A server of bytes: it answers what a test tells it to, whole or broken, and keeps what it was asked.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What one connection gets.
#[derive(Clone)]
pub enum Answer {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// These bytes, then nothing, and no end.
    Stuck(Vec<u8>),
    /// These bytes one after the other, with a pause before each.
    Slow(Vec<Vec<u8>>),
    /// What the last message says, as Anthropic would say it.
    Echo,
    /// These bytes, then the second ones until the client has gone.
    Endless(Vec<u8>, Vec<u8>),
}

#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    pub head: String,
    pub body: Value,
}

pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// A server that gives these answers, one per connection.
    pub async fn new(answers: impl IntoIterator<Item = Answer>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answers, log): (Vec<Answer>, _) = (answers.into_iter().collect(), Arc::clone(&asked));
        tokio::spawn(async move {
            for answer in answers {
                let (stream, _) = listener.accept().await.expect("a client");
                tokio::spawn(serve(stream, answer, Arc::clone(&log)));
            }
        });
        Server { url, asked }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("the log").clone()
    }
}

async fn serve(mut stream: TcpStream, answer: Answer, log: Arc<Mutex<Vec<Asked>>>) {
    let Some(asked) = read(&mut stream).await else { return };
    let said = asked.body["messages"][0]["content"][0]["text"].clone();
    log.lock().expect("the log").push(asked);
    let answer = match answer {
        Answer::Echo => {
            json(200, &json!({"content": [{"type": "text", "text": said}], "stop_reason": "end_turn"}))
        }
        other => other,
    };
    match answer {
        Answer::Echo => {}
        Answer::Slow(pieces) => {
            for piece in pieces {
                tokio::time::sleep(Duration::from_millis(2)).await;
                let _ = stream.write_all(&piece).await;
            }
        }
        Answer::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Answer::Stuck(bytes) => {
            let _ = stream.write_all(&bytes).await;
            // Ends when the client hangs up.
            let _ = stream.read(&mut [0; 1]).await;
        }
        Answer::Endless(first, more) => {
            let _ = stream.write_all(&first).await;
            while stream.write_all(&more).await.is_ok() {}
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let split = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if bytes[0] == 0x16 {
            // The greeting of TLS, which is not spoken here.
            return None;
        }
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
    };
    let head = String::from_utf8(bytes[..split].to_vec()).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    })?;
    while bytes.len() < split + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let path = head.split(' ').nth(1)?.to_string();
    Some(Asked { path, body: serde_json::from_slice(&bytes[split + 4..]).ok()?, head })
}

/// The head of an answer; its body ends with the connection.
pub fn head(status: u16, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Some\r\nconnection: close\r\n{headers}\r\n").into_bytes()
}

/// A whole answer of JSON.
pub fn json(status: u16, body: &Value) -> Answer {
    with_headers(status, "", &body.to_string())
}

pub fn with_headers(status: u16, headers: &str, body: &str) -> Answer {
    let length = format!("content-type: application/json\r\ncontent-length: {}\r\n{headers}", body.len());
    Answer::Bytes([head(status, &length), body.as_bytes().to_vec()].concat())
}

pub fn event_head() -> Vec<u8> {
    head(200, "content-type: text/event-stream\r\n")
}

/// Events, each with its name as Anthropic and Responses write it.
pub fn named_events(events: &[Value]) -> Vec<u8> {
    let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("x"));
    events.iter().map(line).collect::<String>().into_bytes()
}

pub fn stream_of(body: Vec<u8>) -> Answer {
    Answer::Bytes([event_head(), body].concat())
}
