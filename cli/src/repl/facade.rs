//! A REPL that speaks to the MCP server in this process, through its tools: answers are exactly what a client would be shown, with
//! its profile, limits and advice.

use super::{Answer, Feed, Interrupt, input};
use crate::args::Display;
use ptc_mcp::Server;
use ptc_mcp::connection::Connection;
use ptc_mcp::frame::{Id, Request};
use ptc_mcp::service::Service;
use ptc_mcp::sessions::Owner;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::runtime::Runtime;

const HELP: &str = "\
:mode session|stateless    programs see what earlier ones defined, or not
:display text|envelope|json
                           the text for the model, the result, or the whole message
:tools                     the tools of the server
:inspect [VIEW]            the session: overview, memory, prints, tool_calls, history, limits
:help  :quit
";

/// The server, as its only client.
pub struct Facade {
    server: Server,
    connection: Arc<Connection>,
    executor: Runtime,
    interrupt: Interrupt,
    /// The session that programs run in; None while they know nothing of each other.
    session: Option<String>,
    display: Display,
    asked: u64,
}

impl Facade {
    /// In a session, if the server has them and `is_stateless` does not say otherwise.
    pub fn new(
        server: Server,
        executor: Runtime,
        interrupt: Interrupt,
        display: Display,
        is_stateless: bool,
    ) -> Result<Facade, String> {
        let owner = server.sessions().map_or_else(|| Owner::new("repl"), |sessions| sessions.local_owner());
        let connection = Connection::new(owner);
        let mut facade = Facade { server, connection, executor, interrupt, session: None, display, asked: 0 };
        if !is_stateless {
            facade.begin()?;
        }
        Ok(facade)
    }

    fn begin(&mut self) -> Result<(), String> {
        if self.server.sessions().is_none() {
            return Err("the server was started without sessions; leave out --stateless".to_string());
        }
        let told = self.call("lisp_session_start", json!({}));
        let started = &told["result"]["structuredContent"];
        match started["session_id"].as_str() {
            Some(id) => {
                self.session = Some(id.to_string());
                Ok(())
            }
            None => Err(text(&told)),
        }
    }

    /// Asks the server as a client does; gives the whole message.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = Id::Number(self.asked.into());
        let params = params.as_object().cloned().unwrap_or_default();
        let request = Request { id: id.clone(), method: method.to_string(), params, exact_context: None };
        let flight = match self.connection.begin(&id, None) {
            Ok(flight) => flight,
            Err(error) => return error.answer(Some(&id)),
        };
        let (server, executor, connection) = (&self.server, &self.executor, &self.connection);
        let answered = self.interrupt.during(|cancel| {
            executor.block_on(async {
                let mut answered = server.answer(request, &flight);
                tokio::select! {
                    answered = &mut answered => answered,
                    () = cancel.cancelled() => {
                        connection.cancel(&id);
                        answered.await
                    }
                }
            })
        });
        match answered {
            Ok(result) => ptc_mcp::frame::answer(&id, result),
            Err(error) => error.answer(Some(&id)),
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Runs a program with the tool of the mode.
    pub fn program(&mut self, program: &str) -> Answer {
        let told = match self.session.clone() {
            Some(id) => self.call("lisp_session_eval", json!({"session_id": id, "program": program})),
            None => self.call("lisp_eval", json!({"program": program})),
        };
        self.show(&told)
    }

    fn show(&self, message: &Value) -> Answer {
        let shown = match self.display {
            Display::Text => text(message),
            Display::Envelope => pretty(message.get("result").unwrap_or(message)),
            Display::Json => message.to_string(),
        };
        let failed = message.get("error").is_some() || message["result"]["isError"] == true;
        let shown = if shown.ends_with('\n') || shown.is_empty() { shown } else { shown + "\n" };
        match failed && self.display == Display::Text {
            true => Answer::failed(shown),
            false => Answer { out: shown, failed, ..Answer::default() },
        }
    }

    fn mode(&mut self, rest: &str) -> Answer {
        match rest {
            "" => {}
            "stateless" => self.session = None,
            "session" if self.session.is_some() => {}
            "session" => {
                if let Err(why) = self.begin() {
                    return Answer::failed(why + "\n");
                }
            }
            _ => return Answer::failed(":mode session|stateless\n"),
        }
        Answer::out(match &self.session {
            Some(id) => format!("session {id}\n"),
            None => "stateless\n".to_string(),
        })
    }

    fn display(&mut self, rest: &str) -> Answer {
        match <Display as clap::ValueEnum>::from_str(rest, true) {
            Ok(display) => self.display = display,
            Err(_) if rest.is_empty() => {}
            Err(_) => return Answer::failed(":display text|envelope|json\n"),
        }
        Answer::out(format!("{:?}\n", self.display).to_lowercase())
    }

    fn tools(&mut self) -> Answer {
        let listed = self.ask("tools/list", json!({}));
        if self.display == Display::Json {
            return self.show(&listed);
        }
        let tools = listed["result"]["tools"].as_array().cloned().unwrap_or_default();
        let lines = tools.iter().map(|tool| {
            let about =
                tool["description"].as_str().and_then(|about| about.lines().next()).unwrap_or_default();
            format!("{:28} {about}\n", tool["name"].as_str().unwrap_or_default())
        });
        Answer::out(lines.collect::<String>())
    }

    fn inspect(&mut self, view: &str) -> Answer {
        let Some(id) = self.session.clone() else {
            return Answer::failed("there is no session: :mode session\n");
        };
        let mut args = Map::from_iter([("session_id".to_string(), json!(id))]);
        if !view.is_empty() {
            args.insert("view".to_string(), json!(view));
        }
        let told = self.call("lisp_session_inspect", Value::Object(args));
        match self.display {
            Display::Text => Answer::out(pretty(&told["result"]["structuredContent"]) + "\n"),
            _ => self.show(&told),
        }
    }
}

impl Feed for Facade {
    fn feed(&mut self, input: &str) -> Answer {
        let trimmed = input.trim();
        let (command, rest) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        let rest = rest.trim();
        match command {
            ":help" => Answer::out(HELP),
            ":mode" => self.mode(rest),
            ":display" => self.display(rest),
            ":tools" => self.tools(),
            ":inspect" => self.inspect(rest),
            ":quit" | ":q" | ":exit" => Answer { leaves: true, ..Answer::default() },
            _ if input::is_blank(input) => Answer::default(),
            _ => self.program(input),
        }
    }
}

/// The text of a result, or what went wrong with the request.
fn text(message: &Value) -> String {
    match message["result"]["content"][0]["text"].as_str() {
        Some(text) => text.to_string(),
        None => message["error"]["message"].as_str().unwrap_or_default().to_string(),
    }
}

fn pretty(value: &Value) -> String {
    // A value in memory can always be written.
    serde_json::to_string_pretty(value).unwrap_or_default()
}
