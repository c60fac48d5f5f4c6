//! A client of an MCP server on pipes: requests go out without waiting, answers are collected by id.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Error, Result, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How to start a server.
#[derive(Clone)]
pub struct Start {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Whether what it writes to standard error is of no use.
    pub is_quiet: bool,
}

pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<Value>,
    early: HashMap<u64, Value>,
    next: u64,
}

/// Servers that do not answer for this long are broken.
const PATIENCE: Duration = Duration::from_secs(120);

impl Client {
    /// Starts a server and shakes hands.
    pub fn start(start: &Start) -> Result<Client> {
        let mut command = Command::new(&start.command);
        command.args(&start.args).envs(start.env.iter().cloned());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if start.is_quiet { Stdio::null() } else { Stdio::inherit() })
            .spawn()
            .map_err(|error| Error::other(format!("{}: {error}", start.command)))?;
        let (sender, answers) = channel();
        let output = child.stdout.take().expect("a pipe");
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
                if message.get("method").is_none() && sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut client = Client { child, input, answers, early: HashMap::new(), next: 1 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "ptc-tokens", "version": "0.1.0"}});
        client.request("initialize", hello)?;
        client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// The tools, as the server describes them.
    pub fn tools(&mut self) -> Result<Vec<Value>> {
        let mut listed = self.request("tools/list", json!({}))?;
        match listed["tools"].take() {
            Value::Array(tools) => Ok(tools),
            other => Err(Error::other(format!("no list of tools: {other}"))),
        }
    }

    /// Sends a call; the id of its answer.
    pub fn send_call(&mut self, tool: &str, args: &Value) -> Result<u64> {
        self.send("tools/call", json!({"name": tool, "arguments": args}))
    }

    /// The text of an answer, and whether it is an error of the tool.
    pub fn wait_call(&mut self, id: u64) -> Result<(String, bool)> {
        let result = self.wait(id)?;
        let texts =
            result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
        Ok((texts.collect::<Vec<_>>().join("\n"), result["isError"] == true))
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.send(method, params)?;
        self.wait(id)
    }

    fn send(&mut self, method: &str, params: Value) -> Result<u64> {
        let id = self.next;
        self.next += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    fn wait(&mut self, id: u64) -> Result<Value> {
        loop {
            if let Some(mut answer) = self.early.remove(&id) {
                return match answer.get("error") {
                    None => Ok(answer["result"].take()),
                    Some(error) => Err(Error::other(error.to_string())),
                };
            }
            let answer =
                self.answers.recv_timeout(PATIENCE).map_err(|_| Error::other("a server does not answer"))?;
            if let Some(id) = answer["id"].as_u64() {
                self.early.insert(id, answer);
            }
        }
    }

    fn write(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().expect("open until dropped");
        writeln!(input, "{message}")?;
        input.flush()
    }
}

impl Drop for Client {
    /// Closes the pipe, which asks the server to end, and ends it if it does not.
    fn drop(&mut self) {
        self.input = None;
        for _ in 0..40 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        // It may have ended in between.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
