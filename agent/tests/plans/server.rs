//! Fake GitHub server for one issue, which fails on request.

use ptc_testkit::http::{self, Request};
use serde_json::json;
use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

/// Trouble that the next request meets.
pub enum Trouble {
    /// Answer with this status, headers, and body.
    Status(u16, &'static [(&'static str, &'static str)], &'static str),
    /// The connection ends.
    HangUp,
    /// Answer with an endless body.
    Endless,
    /// Somebody edits the issue before the request arrives.
    Edit(&'static str, &'static str),
    /// No trouble: the request is answered.
    Nothing,
}

pub struct State {
    pub title: String,
    pub body: Option<String>,
    version: u32,
    trouble: VecDeque<Trouble>,
    asked: Vec<Request>,
    /// Flag: `If-Match` is obeyed. GitHub ignores it.
    pub is_strict: bool,
}

pub struct Server {
    pub url: String,
    pub state: Arc<Mutex<State>>,
}

pub const TOKEN: &str = "ghp_0123456789";

impl Server {
    pub fn start(body: &str) -> Server {
        let state = State {
            title: "Report".to_string(),
            body: Some(body.to_string()),
            version: 1,
            trouble: VecDeque::new(),
            asked: Vec::new(),
            is_strict: true,
        };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        let address = http::serve(move |request, stream| serve(request, stream, &shared));
        Server { url: format!("{address}/api/v3"), state }
    }

    pub fn trouble(&self, trouble: impl IntoIterator<Item = Trouble>) {
        self.state.lock().expect("the state").trouble.extend(trouble);
    }

    pub fn body(&self) -> String {
        self.state.lock().expect("the state").body.clone().unwrap_or_default()
    }

    /// Edits the issue, as another person would.
    pub fn edit(&self, from: &str, to: &str) {
        self.state.lock().expect("the state").edit(from, to);
    }

    pub fn asked(&self) -> Vec<Request> {
        self.state.lock().expect("the state").asked.clone()
    }

    pub fn methods(&self) -> String {
        let methods: Vec<String> = self.asked().into_iter().map(|asked| asked.method).collect();
        methods.join(" ")
    }
}

impl State {
    fn edit(&mut self, from: &str, to: &str) {
        let body = self.body.clone().unwrap_or_default();
        assert!(body.contains(from), "{body}");
        self.body = Some(body.replace(from, to));
        self.version += 1;
    }

    /// Returns a status, the version as a tag, and a body.
    fn answer(&mut self, asked: &Request) -> (u16, String, String) {
        let refuse = |status, message: &str| (status, String::new(), json!({"message": message}).to_string());
        if !asked.head.contains(&format!("authorization: Bearer {TOKEN}")) {
            return refuse(401, "Bad credentials");
        }
        if asked.path != "/api/v3/repos/owner/repo/issues/275" {
            return refuse(404, "Not Found");
        }
        if asked.method == "PATCH" {
            let tag = format!("if-match: \"v{}\"", self.version);
            if self.is_strict && !asked.head.contains(&tag) {
                return refuse(412, "Precondition Failed");
            }
            self.body = asked.body["body"].as_str().map(str::to_string);
            self.version += 1;
        }
        let issue = json!({
            "number": 275, "title": self.title, "body": self.body, "state": "open", "user": {"login": "anna"},
        });
        (200, format!("\"v{}\"", self.version), issue.to_string())
    }
}

/// Header that closes the connection: on a reused one, a client would retry a broken request by itself.
const CLOSE: (&str, &str) = ("connection", "close");

fn serve(request: &Request, stream: &mut TcpStream, state: &Mutex<State>) -> bool {
    let (status, tag, body) = {
        let mut state = state.lock().expect("the state");
        let trouble = state.trouble.pop_front().unwrap_or(Trouble::Nothing);
        state.asked.push(request.clone());
        match trouble {
            Trouble::HangUp => return false,
            Trouble::Status(status, headers, body) => {
                http::write(stream, status, &[headers, &[CLOSE]].concat(), body);
                return false;
            }
            Trouble::Endless => {
                drop(state);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"title\": \"");
                while stream.write_all(&[b'x'; 4096]).is_ok() {}
                return false;
            }
            Trouble::Edit(from, to) => {
                state.edit(from, to);
                state.answer(request)
            }
            Trouble::Nothing => state.answer(request),
        }
    };
    http::write(stream, status, &[http::JSON, CLOSE, ("etag", &tag)], &body);
    false
}
