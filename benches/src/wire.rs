//! Minimal HTTP/1.1 client for load generation: one kept connection, one request after another. A full client
//! would be most of what is measured.

use serde_json::{Value, json};
use std::io::{Error, ErrorKind, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One connection to a server.
pub struct Wire {
    stream: TcpStream,
    read: Vec<u8>,
    port: u16,
}

/// An HTTP response.
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Value of the header `Mcp-Session-Id`.
    pub session: Option<String>,
    /// Body as JSON; the last event of a stream.
    pub body: Value,
}

/// Builds a call of `lisp_eval`.
pub fn eval(id: u64, program: &str) -> Value {
    call(id, "lisp_eval", json!({"program": program}))
}

/// Builds a call of a tool.
pub fn call(id: u64, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// Builds the first message of a client.
pub fn hello() -> Value {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

/// Returns the bytes of a request with this body.
pub fn post(port: u16, session: Option<&str>, more: &str, body: &[u8]) -> Vec<u8> {
    let session = session.map(|session| format!("Mcp-Session-Id: {session}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n{session}{more}Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

impl Wire {
    /// Connects to a server on this machine.
    pub async fn to(port: u16) -> Result<Wire> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Wire { stream, read: Vec::with_capacity(4096), port })
    }

    /// Performs the handshake; returns the session id.
    pub async fn open(&mut self) -> Result<String> {
        let bytes = post(self.port, None, "", hello().to_string().as_bytes());
        self.ask(&bytes).await?.session.ok_or_else(|| broken("no session"))
    }

    /// Sends a request unchanged and reads the response.
    pub async fn ask(&mut self, request: &[u8]) -> Result<Answer> {
        self.send(request).await?;
        self.answer().await
    }

    /// Sends bytes.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Returns whether the server has sent more than the response.
    pub fn has_more(&self) -> bool {
        !self.read.is_empty()
    }

    /// Reads everything until the server closes the connection.
    pub async fn rest(&mut self) -> String {
        while self.fill().await.is_ok() {}
        String::from_utf8_lossy(&self.read).into_owned()
    }

    async fn fill(&mut self) -> Result<()> {
        match self.stream.read_buf(&mut self.read).await? {
            0 => Err(Error::new(ErrorKind::UnexpectedEof, "the server closed the connection")),
            _ => Ok(()),
        }
    }

    /// Reads one response.
    pub async fn answer(&mut self) -> Result<Answer> {
        let end = loop {
            match self.read.windows(4).position(|window| window == b"\r\n\r\n") {
                Some(end) => break end,
                None => self.fill().await?,
            }
        };
        let head = String::from_utf8_lossy(&self.read[..end]).into_owned();
        self.read.drain(..end + 4);
        let field = |name: &str| {
            head.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                key.eq_ignore_ascii_case(name).then(|| value.trim().to_string())
            })
        };
        let status =
            head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(|| broken(&head))?;
        let body = match field("content-length").and_then(|length| length.parse().ok()) {
            Some(length) => self.take(length).await?,
            None if field("transfer-encoding").is_some() => self.chunks().await?,
            None => Vec::new(),
        };
        let is_stream = field("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let body = match is_stream {
            true => last_event(&body),
            false => serde_json::from_slice(&body).unwrap_or(Value::Null),
        };
        Ok(Answer { status, session: field("mcp-session-id"), body })
    }

    async fn take(&mut self, length: usize) -> Result<Vec<u8>> {
        while self.read.len() < length {
            self.fill().await?;
        }
        Ok(self.read.drain(..length).collect())
    }

    async fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let end = loop {
                match self.read.windows(2).position(|window| window == b"\r\n") {
                    Some(end) => break end,
                    None => self.fill().await?,
                }
            };
            let length = std::str::from_utf8(&self.read[..end])
                .ok()
                .and_then(|text| usize::from_str_radix(text, 16).ok());
            let length = length.ok_or_else(|| broken("a chunk without length"))?;
            self.read.drain(..end + 2);
            all.extend(self.take(length + 2).await?);
            all.truncate(all.len() - 2);
            if length == 0 {
                return Ok(all);
            }
        }
    }
}

fn last_event(body: &[u8]) -> Value {
    let text = String::from_utf8_lossy(body);
    let last = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
    last.and_then(|data| serde_json::from_str(data).ok()).unwrap_or(Value::Null)
}

fn broken(why: &str) -> Error {
    Error::new(ErrorKind::InvalidData, why.to_string())
}
