//! An editor that talks to a language server: one client of the Language Server Protocol.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Time after which a test gives up waiting for a message.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client over two streams.
pub struct Editor {
    output: Option<Box<dyn Write + Send>>,
    messages: Receiver<Value>,
    /// Notifications that nobody has asked for yet.
    notified: VecDeque<Value>,
    next_id: u64,
}

impl Editor {
    /// Makes a client that reads messages from `input` and writes its own to `output`.
    pub fn new(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Editor {
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut input = BufReader::new(input);
            while let Some(message) = read(&mut input) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Editor { output: Some(Box::new(output)), messages, notified: VecDeque::new(), next_id: 0 }
    }

    /// Greets the server, as a client that shows Markdown.
    ///
    /// # Panics
    ///
    /// If the server does not answer as it should, like all methods here.
    pub fn start(&mut self) -> Value {
        let shows = json!({"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}}});
        let answer =
            self.request("initialize", json!({"processId": null, "rootUri": null, "capabilities": shows}));
        self.notify("initialized", json!({}));
        answer.expect("the server starts")
    }

    /// Sends bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) {
        let output = self.output.as_mut().expect("the connection is open");
        output.write_all(bytes).and_then(|()| output.flush()).expect("the server reads");
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and returns its result, or its error.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut message = self.next_message();
            if message["id"] == id {
                return match message.get_mut("error") {
                    Some(error) => Err(error.take()),
                    None => Ok(message["result"].take()),
                };
            }
            self.notified.push_back(message);
        }
    }

    /// Returns the next message of any kind.
    pub fn next_message(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the server answers")
    }

    /// Opens a document and returns its findings.
    pub fn open(&mut self, uri: &str, text: &str) -> Vec<Value> {
        let document = json!({"uri": uri, "languageId": "ptc-lisp", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
        self.findings(uri)
    }

    /// Replaces the whole text of a document and returns its findings.
    pub fn change(&mut self, uri: &str, version: i64, text: &str) -> Vec<Value> {
        let document = json!({"uri": uri, "version": version});
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": [{"text": text}]}),
        );
        self.findings(uri)
    }

    /// Closes a document.
    pub fn close(&mut self, uri: &str) {
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
        assert!(self.findings(uri).is_empty());
    }

    /// Waits for the next findings of a document.
    pub fn findings(&mut self, uri: &str) -> Vec<Value> {
        loop {
            let message = match self.notified.pop_front() {
                Some(message) => message,
                None => self.next_message(),
            };
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri {
                return message["params"]["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    /// Sends a request about a place of a document: line and column from 0.
    pub fn at(&mut self, method: &str, uri: &str, line: u32, character: u32) -> Value {
        let params =
            json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
        self.request(&format!("textDocument/{method}"), params).expect("an answer")
    }

    /// Ends the session as editors do.
    pub fn end(&mut self) {
        assert_eq!(self.request("shutdown", Value::Null), Ok(Value::Null));
        self.notify("exit", Value::Null);
    }

    /// Closes the connection without a word.
    pub fn hang_up(&mut self) {
        self.output = None;
    }
}

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}
