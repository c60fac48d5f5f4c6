//! `ptc mcp` as a process that one client talks to, on pipes.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

pub struct Server {
    pub child: Child,
    answers: BufReader<ChildStdout>,
    /// All that it said, as it said it.
    pub said: String,
    log: Option<JoinHandle<String>>,
}

impl Server {
    /// Starts a command that has been made ready.
    pub fn start(mut command: Command) -> Server {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("ptc starts");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut errors = child.stderr.take().expect("a pipe");
        // Read all the time: a server that cannot log would wait.
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            let _ = errors.read_to_string(&mut log);
            log
        });
        Server { child, answers, said: String::new(), log: Some(log) }
    }

    pub fn say(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().expect("a pipe"), "{message}").expect("it reads");
    }

    /// The next message.
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("a line");
        self.said.push_str(&line);
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.say(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        self.next()["result"].take()
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Closes the input; gives the exit code and what was logged.
    pub fn hang_up(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let log = self.log.take().map(|log| log.join().expect("a log")).unwrap_or_default();
        (self.child.wait().expect("it ends").code(), log)
    }
}
