//! Parsing of large messages, one after another on a separate thread.
//!
//! Parsing megabytes takes a tenth of a second, during which a thread that serves connections could not
//! respond. And allocators keep freed memory per thread: one parsing thread has one such reserve, instead of
//! one for each thread that once parsed a large message.

use crate::frame::{Message, RpcError, Unreadable};
use std::panic::catch_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

/// Size from which messages are large, in bytes.
const LARGE: usize = 64 << 10;

/// A message waiting to be parsed. Their number is limited by the memory budget of bodies.
struct Job {
    body: Vec<u8>,
    done: oneshot::Sender<Result<Message, Unreadable>>,
}

pub struct Parser(Sender<Job>);

impl Parser {
    /// Starts the thread. The error is for the process that starts the server.
    pub fn start() -> Result<Parser, String> {
        let (jobs, waiting) = channel();
        std::thread::Builder::new()
            .name("ptc-parse".to_string())
            .spawn(move || run(&waiting))
            .map_err(|error| format!("cannot start a thread to parse messages: {error}"))?;
        Ok(Parser(jobs))
    }

    /// Parses a message.
    pub async fn parse(&self, body: Vec<u8>) -> Result<Message, Unreadable> {
        if body.len() < LARGE {
            return Message::read(&body);
        }
        let (done, parsed) = oneshot::channel();
        // If the thread is gone, so is the other end of `done`.
        let _ = self.0.send(Job { body, done });
        parsed.await.unwrap_or_else(|_| {
            Err((None, RpcError::new(RpcError::INTERNAL, "Internal error: the message was not parsed")))
        })
    }
}

fn run(waiting: &Receiver<Job>) {
    for Job { body, done } in waiting {
        // The client may have left already.
        if !done.is_closed()
            && let Ok(parsed) = catch_unwind(|| Message::read(&body))
        {
            let _ = done.send(parsed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_messages_are_read_as_small_ones_are() {
        let parser = Parser::start().unwrap();
        for length in [1, LARGE] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "m".repeat(length));
            let parsed = parser.parse(text.into_bytes()).await.unwrap();
            assert!(matches!(parsed, Message::Request(request) if request.method.len() == length));
            let (_, error) = parser.parse(vec![b'['; length]).await.unwrap_err();
            assert_eq!(error.code, RpcError::PARSE);
        }
    }
}
