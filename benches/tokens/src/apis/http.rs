//! Just enough HTTP for JSON over the loopback.

use super::Request;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{TcpListener, TcpStream};

/// Answers requests until the process ends; the port.
pub fn serve<S: Send + Sync + 'static>(state: S, answer: fn(&S, &Request) -> (u16, Value)) -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let state = std::sync::Arc::new(state);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let state = state.clone();
            // A client that goes away ends its thread, and nothing else.
            std::thread::spawn(move || connection(&stream, |request| answer(&state, request)));
        }
    });
    Ok(port)
}

fn connection(stream: &TcpStream, answer: impl Fn(&Request) -> (u16, Value)) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut line = String::new();
        while reader.read_line(&mut line)? > 2 {
            line.clear();
        }
        let target = first.split(' ').nth(1).unwrap_or("/");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path: Vec<String> = path.split('/').skip(1).map(decode).collect();
        let pair = |part: &str| part.split_once('=').map(|(name, value)| (decode(name), decode(value)));
        let query: BTreeMap<String, String> = query.split('&').filter_map(pair).collect();
        let request = Request { path: path.iter().map(String::as_str).collect(), query };
        let (status, body) = answer(&request);
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        (&*stream).write_all((head + &body).as_bytes())?;
    }
}

/// The status and the body of a resource.
pub fn get(port: u16, target: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes())?;
    let mut reader = BufReader::new(stream);
    let (mut line, mut status, mut length) = (String::new(), 0, 0);
    while reader.read_line(&mut line)? > 2 {
        if let Some(number) = line.strip_prefix("HTTP/1.1 ") {
            status = number[..3].parse().unwrap_or(0);
        } else if let Some(number) = line.strip_prefix("content-length: ") {
            length = number.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

/// A part of a query or of a path, percent-encoded.
pub fn encode(text: &str) -> String {
    let byte = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(b).to_string(),
        _ => format!("%{b:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut plain, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 3;
            }
            None => {
                plain.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}
