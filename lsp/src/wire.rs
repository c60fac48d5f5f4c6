//! Messages as bytes: a header with their length, then JSON.
//!
//! Written by hand, because the server crate that others use (`lsp-server`) asks for as much memory as a header says and
//! ends at the first malformed one.

use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};

/// Maximum size of a message. The largest useful one opens a document of `limits.source_bytes`.
const MAX_MESSAGE: u64 = 64 << 20;
/// Maximum size of a line of a header; the rest of a longer one is dropped.
const MAX_HEADER: u64 = 4 << 10;

/// Error codes of JSON-RPC and of the protocol.
#[derive(Clone, Copy, Debug)]
pub enum ErrorCode {
    Parse = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    Internal = -32603,
    NotInitialized = -32002,
    RequestFailed = -32803,
}

/// A message from the client.
#[derive(Deserialize, Debug, Default)]
pub struct Message {
    /// Id of a request or reply; None for a notification.
    #[serde(default)]
    pub id: Option<Value>,
    /// Method of a request or notification; None for a reply.
    #[serde(default)]
    pub method: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub params: Value,
}

/// A piece of the input.
#[derive(Debug)]
pub enum Input {
    Message(Message),
    /// Bytes that are no message, with the reason.
    Garbage(String),
}

/// Reads the next message; None at the end of the input. After garbage, reading continues with what follows.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Input>> {
    let mut length: Option<u64> = None;
    let mut lines = 0u32;
    loop {
        let Some(line) = header_line(input)? else { return Ok(None) };
        let line = line.trim_ascii();
        if line.is_empty() {
            // Blank lines before a header do no harm.
            if lines == 0 {
                continue;
            }
            break;
        }
        lines = lines.saturating_add(1);
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = colon.map_or((line, &b""[..]), |at| (&line[..at], &line[at + 1..]));
        if name.eq_ignore_ascii_case(b"content-length") {
            length = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse().ok());
        }
    }
    let Some(length) = length else {
        return Ok(Some(Input::Garbage("a header has no valid Content-Length".to_string())));
    };
    if length > MAX_MESSAGE {
        io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        let reason = format!("a message has {length} bytes, more than {MAX_MESSAGE}");
        return Ok(Some(Input::Garbage(reason)));
    }
    // Grows as bytes arrive: a header may promise more than comes.
    let mut bytes = Vec::new();
    input.by_ref().take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Ok(None);
    }
    // A list would be read as the members of a message in their order.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Ok(Some(Input::Garbage("a message is not an object".to_string())));
    }
    Ok(Some(match serde_json::from_slice(&bytes) {
        Ok(message) => Input::Message(message),
        Err(error) => Input::Garbage(format!("a message is not valid: {error}")),
    }))
}

fn header_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if !line.ends_with(b"\n") && read as u64 == MAX_HEADER {
        skip_line(input)?;
    }
    Ok(Some(line))
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

/// Writes a message.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// Returns the reply to a request.
pub fn reply(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Returns the reply to a request that failed.
pub fn failure(id: &Value, code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code as i32, "message": message}})
}

/// Returns a notification.
pub fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

#[cfg(test)]
mod tests {
    use super::{Input, MAX_MESSAGE, read};
    use std::io::Cursor;

    fn all(bytes: &[u8]) -> Vec<String> {
        let mut input = Cursor::new(bytes);
        let mut found = Vec::new();
        while let Some(next) = read(&mut input).expect("it is memory") {
            found.push(match next {
                Input::Message(message) => message.method.unwrap_or_default(),
                Input::Garbage(_) => "garbage".to_string(),
            });
        }
        found
    }

    fn framed(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    #[test]
    fn messages_are_found_among_garbage() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"m"}"#);
        for bad in [
            "nonsense\r\n\r\n".to_string(),
            "Content-Length: -1\r\n\r\n".to_string(),
            "Content-Length: 99999999999999999999999\r\n\r\n".to_string(),
            format!("{}\r\n\r\n", "x".repeat(100_000)),
            framed("{"),
            framed("[1,2]"),
            framed("[]"),
            framed("\"text\""),
            framed(&"[".repeat(10_000)),
            framed(r#"{"method":5}"#),
        ] {
            let text = format!("{good}{bad}{good}");
            assert_eq!(all(text.as_bytes()), ["m", "garbage", "m"], "{}", &bad[..bad.len().min(40)]);
        }
        let lower = format!("content-length:{}\n\n{}", 14, r#"{"method":"n"}"#);
        assert_eq!(all(lower.as_bytes()), ["n"]);
        assert_eq!(all(b"Content-Length: 10\r\n\r\n{}"), [""; 0]);
        assert_eq!(all(b"\xff\xfe"), [""; 0]);
    }

    #[test]
    fn a_message_that_is_too_large_is_skipped_without_being_kept() {
        let mut bytes = format!("Content-Length: {}\r\n\r\n", MAX_MESSAGE + 1).into_bytes();
        bytes.resize(bytes.len() + MAX_MESSAGE as usize + 1, b' ');
        bytes.extend(framed(r#"{"method":"m"}"#).bytes());
        assert_eq!(all(&bytes), ["garbage", "m"]);
    }
}
