//! A test client over a pair of pipes that sends exactly the given messages.

use ptc_mcp::Server;
use ptc_mcp::sessions::Owner;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split};
use tokio::task::JoinHandle;

pub struct Pipe {
    input: Option<WriteHalf<DuplexStream>>,
    output: BufReader<ReadHalf<DuplexStream>>,
    serving: JoinHandle<()>,
}

/// Program that computes until it is stopped.
pub const ENDLESS: &str = "(loop [n 0] (recur (inc n)))";

impl Pipe {
    pub fn to(server: &Server) -> Pipe {
        Pipe::of(server, Owner::new("tests"))
    }

    pub fn of(server: &Server, owner: Owner) -> Pipe {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let server = server.clone();
        let serving = tokio::spawn(async move {
            let (input, output) = split(theirs);
            ptc_mcp::stdio::serve(&server, owner, input, output).await;
        });
        let (output, input) = split(ours);
        Pipe { input: Some(input), output: BufReader::new(output), serving }
    }

    pub async fn raw(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    pub async fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes()).await;
    }

    pub async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})).await;
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    pub async fn eval(&mut self, id: impl Into<Value>, program: &str) {
        let params = json!({"name": "lisp_eval", "arguments": {"program": program}});
        self.request(id, "tools/call", params).await;
    }

    /// Returns the next message; None at the end.
    pub async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(Duration::from_secs(120), self.output.read_line(&mut line)).await;
        match read.expect("the server says nothing").unwrap() {
            0 => None,
            _ => Some(serde_json::from_str(&line).expect("every line is JSON")),
        }
    }

    /// Sends a request and returns the next message.
    pub async fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        self.request(id, method, params).await;
        self.next().await.expect("an answer")
    }

    /// Closes the input; returns the server's remaining messages.
    pub async fn hang_up(mut self) -> Vec<Value> {
        self.input.take().unwrap().shutdown().await.unwrap();
        self.rest().await
    }

    /// Returns the server's messages until it ends by itself.
    pub async fn rest(mut self) -> Vec<Value> {
        let mut said = Vec::new();
        while let Some(message) = self.next().await {
            said.push(message);
        }
        self.serving.await.unwrap();
        said
    }
}

/// Returns the text of a `tools/call` result.
pub fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}
