//! A fake model provider: gives the answers of a list, whole or broken, and records its requests.

use crate::http::{self, Request};
use crate::talk;
use crate::wire::{Reply, Wire};
use serde_json::{Value, json as value};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Answer to one connection.
#[derive(Clone)]
pub enum Answer {
    /// These bytes, then the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes, then silence without an end.
    Stuck(Vec<u8>),
    /// These chunks one after the other, with a pause before each.
    Slow(Vec<Vec<u8>>),
    /// The text of the last message, in Anthropic's format.
    Echo,
    /// This reply, in the format of the request, in events if requested.
    Says(Reply),
    /// The first bytes, then the second ones until the client is gone.
    Endless(Vec<u8>, Vec<u8>),
}

/// A running provider.
pub struct Provider {
    /// Base URL of its API.
    pub url: String,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Provider {
    /// Starts a provider that gives these answers, one per connection, and then hangs up.
    pub fn start(answers: impl IntoIterator<Item = Answer>) -> Provider {
        let answers = Mutex::new(VecDeque::from_iter(answers));
        let next = move |_: &Request| answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let mut provider = Provider::answering(next);
        provider.url.push_str("/v1");
        provider
    }

    /// Starts a provider that any client can talk to, as [`talk`] describes. Its API begins at the root, whatever
    /// precedes the part of the path that names the format.
    pub fn talking() -> Provider {
        Provider::answering(|request| Some(talk::answer(request)))
    }

    fn answering(next: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static) -> Provider {
        let asked = Arc::<Mutex<Vec<Request>>>::default();
        let log = Arc::clone(&asked);
        let url = http::serve(move |request, stream| {
            let answer = {
                // The lock keeps requests and answers in the same order.
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.push(request.clone());
                next(request)
            };
            if let Some(answer) = answer {
                answer.give(request, stream);
            }
            false
        });
        Provider { url, asked }
    }

    /// Returns all requests so far.
    pub fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Answer {
    /// Sends the answer. A client that leaves early is no error here.
    fn give(self, request: &Request, stream: &mut TcpStream) {
        match self {
            Answer::Echo => {
                let said = &request.body["messages"][0]["content"][0]["text"];
                let body = value!({"content": [{"type": "text", "text": said}], "stop_reason": "end_turn"});
                json(200, &body).give(request, stream);
            }
            Answer::Says(reply) => says(&reply, request).give(request, stream),
            Answer::Slow(pieces) => {
                for piece in pieces {
                    std::thread::sleep(Duration::from_millis(2));
                    if stream.write_all(&piece).is_err() {
                        break;
                    }
                }
            }
            Answer::Bytes(bytes) => {
                let _ = stream.write_all(&bytes);
            }
            Answer::Stuck(bytes) => {
                let _ = stream.write_all(&bytes);
                // Returns when the client hangs up.
                let _ = stream.read(&mut [0; 1]);
            }
            Answer::Endless(first, more) => {
                let _ = stream.write_all(&first);
                while stream.write_all(&more).is_ok() {}
            }
        }
    }
}

/// Answers with a reply in the form that the request asks for.
fn says(reply: &Reply, request: &Request) -> Answer {
    let Some(wire) = Wire::of(request) else { return json(404, &Value::Null) };
    if !wire.is_streamed(request) {
        return json(200, &wire.whole(reply));
    }
    let events = wire.events(reply).iter().flat_map(|event| wire.frame(event)).collect();
    Answer::Bytes([stream_head(wire), events, wire.last_frame().to_vec()].concat())
}

/// Returns the head of an answer in events, for a format.
pub fn stream_head(wire: Wire) -> Vec<u8> {
    head(200, &format!("content-type: {}\r\n", wire.stream_type()))
}

/// Returns the head of an answer with these header lines; its body ends with the connection.
pub fn head(status: u16, headers: &str) -> Vec<u8> {
    format!("{}{headers}\r\n", http::head(status, &[("connection", "close")])).into_bytes()
}

/// Returns a whole JSON answer.
pub fn json(status: u16, body: &Value) -> Answer {
    with_headers(status, "", &body.to_string())
}

/// Returns a whole answer with the JSON content type and these headers.
pub fn with_headers(status: u16, headers: &str, body: &str) -> Answer {
    let headers = format!("content-type: application/json\r\ncontent-length: {}\r\n{headers}", body.len());
    Answer::Bytes([head(status, &headers), body.as_bytes().to_vec()].concat())
}

/// Returns the head of an answer in server-sent events.
pub fn event_head() -> Vec<u8> {
    head(200, "content-type: text/event-stream\r\n")
}

/// Formats events, each with its name, as Anthropic and Responses do.
pub fn named_events(events: &[Value]) -> Vec<u8> {
    let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("x"));
    events.iter().map(line).collect::<String>().into_bytes()
}

/// Returns an answer of these events.
pub fn stream_of(events: Vec<u8>) -> Answer {
    Answer::Bytes([event_head(), events].concat())
}
