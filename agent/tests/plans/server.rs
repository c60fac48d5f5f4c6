//! A server that speaks as GitHub does about one issue, and fails when a test wants it to.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What becomes of the next request instead of an answer.
pub enum Trouble {
    /// A status, further headers, and a body.
    Status(u16, &'static str, &'static str),
    /// The connection ends.
    HangUp,
    /// A body without an end.
    Endless,
    /// Somebody edits the issue before the request arrives.
    Edit(&'static str, &'static str),
    /// Nothing: the request is answered.
    Nothing,
}

#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub head: String,
    pub body: Value,
}

pub struct State {
    pub title: String,
    pub body: Option<String>,
    version: u32,
    trouble: VecDeque<Trouble>,
    asked: Vec<Asked>,
    /// Whether it minds `If-Match`. GitHub does not.
    pub is_strict: bool,
}

pub struct Server {
    pub url: String,
    pub state: Arc<Mutex<State>>,
}

pub const TOKEN: &str = "ghp_0123456789";

impl Server {
    pub async fn new(body: &str) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/api/v3", listener.local_addr().expect("an address"));
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
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a client");
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Server { url, state }
    }

    pub fn trouble(&self, trouble: impl IntoIterator<Item = Trouble>) {
        self.state.lock().expect("the state").trouble.extend(trouble);
    }

    pub fn body(&self) -> String {
        self.state.lock().expect("the state").body.clone().unwrap_or_default()
    }

    /// Somebody edits the issue.
    pub fn edit(&self, from: &str, to: &str) {
        self.state.lock().expect("the state").edit(from, to);
    }

    pub fn asked(&self) -> Vec<Asked> {
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

    fn answer(&mut self, asked: &Asked) -> Vec<u8> {
        if !asked.head.contains(&format!("authorization: Bearer {TOKEN}")) {
            return whole(401, "", r#"{"message": "Bad credentials"}"#);
        }
        if asked.path != "/api/v3/repos/owner/repo/issues/275" {
            return whole(404, "", r#"{"message": "Not Found"}"#);
        }
        if asked.method == "PATCH" {
            let tag = format!("if-match: \"v{}\"", self.version);
            if self.is_strict && !asked.head.contains(&tag) {
                return whole(412, "", r#"{"message": "Precondition Failed"}"#);
            }
            self.body = asked.body["body"].as_str().map(str::to_string);
            self.version += 1;
        }
        let issue = json!({
            "number": 275, "title": self.title, "body": self.body, "state": "open", "user": {"login": "anna"},
        });
        whole(200, &format!("etag: \"v{}\"\r\n", self.version), &issue.to_string())
    }
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) {
    let Some(asked) = read(&mut stream).await else { return };
    let endless = {
        let mut state = state.lock().expect("the state");
        let trouble = state.trouble.pop_front().unwrap_or(Trouble::Nothing);
        state.asked.push(asked.clone());
        match trouble {
            Trouble::HangUp => return,
            Trouble::Status(status, headers, body) => Ok(whole(status, headers, body)),
            Trouble::Endless => Err(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"title\": \"".to_vec()),
            Trouble::Edit(from, to) => {
                state.edit(from, to);
                Ok(state.answer(&asked))
            }
            Trouble::Nothing => Ok(state.answer(&asked)),
        }
    };
    match endless {
        Ok(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Err(start) => {
            let _ = stream.write_all(&start).await;
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let split = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
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
    });
    while bytes.len() < split + 4 + length.unwrap_or(0) {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[split + 4..]).unwrap_or(Value::Null);
    let mut words = head.split(' ');
    let (method, path) = (words.next()?.to_string(), words.next()?.to_string());
    Some(Asked { method, path, body, head })
}

fn whole(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} Some\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}").into_bytes()
}
