//! An HTTP server whose answers come from a closure.

use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// Header of JSON answers.
pub const JSON: (&str, &str) = ("Content-Type", "application/json; charset=utf-8");

/// A request from a client.
#[derive(Clone, Debug)]
pub struct Request {
    /// Method, such as `GET`.
    pub method: String,
    /// Target, with its query.
    pub path: String,
    /// Request line and headers, unparsed.
    pub head: String,
    /// Headers by lower-case names.
    pub headers: HashMap<String, String>,
    /// Body; null if it is not JSON.
    pub body: Value,
}

/// Starts a server and returns its address, without a trailing slash. The closure writes the answer and returns whether
/// the connection stays open for another request.
pub fn serve(answer: impl Fn(&Request, &mut TcpStream) -> bool + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || {
                let _ = stream.set_nodelay(true);
                let Ok(reading) = stream.try_clone() else { return };
                let mut reader = BufReader::new(reading);
                while read(&mut reader).is_some_and(|request| answer(&request, &mut stream)) {}
            });
        }
    });
    format!("http://{address}")
}

/// Reads the next request of a connection. None at its end, and for anything other than HTTP.
pub fn read(reader: &mut impl BufRead) -> Option<Request> {
    const GREETING_OF_TLS: u8 = 0x16;
    if matches!(reader.fill_buf().ok()?.first(), None | Some(&GREETING_OF_TLS)) {
        return None;
    }
    let mut head = String::new();
    let mut headers = HashMap::new();
    loop {
        let start = head.len();
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
        match head[start..].trim_end().split_once(':') {
            // The request line.
            _ if start == 0 => None,
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.trim().to_string()),
            // The empty line at the end.
            None => break,
        };
    }
    let mut words = head.split_whitespace();
    let (method, path) = (words.next()?.to_string(), words.next()?.to_string());
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, headers, body: serde_json::from_slice(&body).unwrap_or_default(), head })
}

/// Writes a whole answer; returns false if the client is gone.
pub fn write(stream: &mut TcpStream, status: u16, headers: &[(&str, &str)], body: &str) -> bool {
    let mut text = head(status, headers);
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(text.as_bytes()).is_ok()
}

/// Returns the start of an answer, up to and including these headers.
pub fn head(status: u16, headers: &[(&str, &str)]) -> String {
    let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    format!("HTTP/1.1 {status} Some\r\n{}", lines.collect::<String>())
}
