//! Conversion of a server's reply to a value of the program.

use crate::client::Reply;
use crate::fault::{Fault, Reason};
use crate::ledger;
use crate::raw;
use crate::redact::Redactor;
use ptc_bytecode::{Datum, Node};
use ptc_contract::firewall::{FIREWALLED, is_firewalled};
use ptc_runtime::bridge::MAX_DEPTH;
use ptc_runtime::json::{JsonError, ReadOptions, parse_json};
use ptc_runtime::{Code, Frozen, ToolAnswer, ToolError};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Maximum length of a tool's failure message, in characters.
const MESSAGE: usize = 500;

/// Size above which replies are shared with the program instead of copied, in bytes.
const SHARED: usize = 16 << 10;

/// Bytes of a reply read for its preview: enough for the longest secret that begins within the preview.
const HEAD: usize = 128 << 10;

/// The payload selected from a reply, scrubbed.
pub(super) enum Payload<'r> {
    /// Structured content, as JSON text.
    Json(Cow<'r, str>),
    /// A text block that is JSON.
    JsonText(String),
    /// Structured content, and content blocks with images or links among them, both as JSON text.
    JsonAndBlocks(Cow<'r, str>, String),
    /// Content blocks with images or links among them as JSON text, and the beginning of their text.
    Blocks(String, String),
    Text(String),
    Nothing,
}

/// A reply converted for the program, with facts for the list of calls.
pub(super) struct Received {
    /// Value for the program: `{:ok true :value v :value_kind k}`, with `:blocks` if there are images or links beside
    /// structured content, and with `:raw` if requested.
    pub answer: ToolAnswer,
    pub kind: &'static str,
    /// Size of the payload as text, in bytes.
    pub bytes: u64,
    /// Shape of the payload.
    pub shape: String,
    /// Beginning of the payload, without firewalled values.
    pub head: String,
}

/// Takes the payload out of a `tools/call` result, or returns the failure it reports.
///
/// This is the border: a server may echo the credential it was sent, and the program could send that to another
/// server. So the payload is scrubbed; JSON in a text block is decoded first, so escapes hide nothing.
pub(super) fn payload<'r>(reply: &'r Reply, redactor: &Redactor) -> Result<Payload<'r>, Fault> {
    let [is_error, structured, content] =
        raw::members(&reply.result, ["isError", "structuredContent", "content"]);
    let structured = structured.filter(|value| value.get() != "null");
    let text = || content.and_then(|content| raw::find(content, text_of_block));
    if is_error.is_some_and(|is_error| is_error.get() == "true") {
        let said = text().or_else(|| structured.map(|value| value.get().to_string()));
        // In JSON, credentials may be escaped.
        let said = said.map(|said| match serde_json::from_str::<&RawValue>(&said) {
            Ok(json) => redactor.scrub_json_text(json.get()).into_owned(),
            Err(_) => said,
        });
        // It becomes a message, which models read too.
        let said = said.map(|said| public_json(&said));
        let said = said.unwrap_or_else(|| "the tool failed without a message".to_string());
        return Err(with_facts(Fault::new(Reason::ToolError, said), reply));
    }
    let blocks = content.filter(|content| raw::find(content, rich_block).is_some());
    let blocks = blocks.map(|blocks| redactor.scrub_json_text(blocks.get()).into_owned());
    match (structured, blocks) {
        (Some(value), None) => return Ok(Payload::Json(redactor.scrub_json_text(value.get()))),
        (Some(value), Some(blocks)) => {
            return Ok(Payload::JsonAndBlocks(redactor.scrub_json_text(value.get()), blocks));
        }
        (None, Some(blocks)) => {
            let words = redactor.scrub(&text().unwrap_or_default()).into_owned();
            return Ok(Payload::Blocks(blocks, words));
        }
        (None, None) => {}
    }
    let Some(text) = text() else {
        // Sound, and other bytes.
        return Ok(match content.filter(|content| raw::find(content, |_| Some(())).is_some()) {
            Some(blocks) => {
                Payload::Blocks(redactor.scrub_json_text(blocks.get()).into_owned(), String::new())
            }
            None => Payload::Nothing,
        });
    };
    Ok(match serde_json::from_str::<&RawValue>(&text) {
        Ok(json) => Payload::JsonText(redactor.scrub_json_text(json.get()).into_owned()),
        Err(_) => Payload::Text(redactor.scrub(&text).into_owned()),
    })
}

/// Returns whether a reply says that its tool failed.
pub(super) fn is_failure(reply: &Reply) -> bool {
    let [is_error] = raw::members(&reply.result, ["isError"]);
    is_error.is_some_and(|is_error| is_error.get() == "true")
}

fn text_of_block(block: &RawValue) -> Option<String> {
    let [kind, text] = raw::members(block, ["type", "text"]);
    if kind.and_then(raw::string).as_deref() != Some("text") {
        return None;
    }
    text.and_then(raw::string)
}

/// Returns Some for a block that text cannot replace: an image or audio with a media type, a file or a link. Its data
/// is not read.
fn rich_block(block: &RawValue) -> Option<()> {
    let [kind, data, media_type, uri, resource] =
        raw::members(block, ["type", "data", "mimeType", "uri", "resource"]);
    let starts = |value: Option<&RawValue>, c| value.is_some_and(|value| value.get().starts_with(c));
    let is_rich = match kind.and_then(raw::string).as_deref()? {
        "image" | "audio" => starts(data, '"') && starts(media_type, '"'),
        "resource_link" => starts(uri, '"'),
        "resource" => starts(resource, '{'),
        _ => false,
    };
    is_rich.then_some(())
}

fn with_facts(fault: Fault, reply: &Reply) -> Fault {
    Fault { http_status: reply.http_status, wire_bytes: reply.wire_bytes, ..fault }
}

/// Reads a reply into data of at most `most` bytes, because a few bytes of text may become a lot of data.
/// With `raw`, the data includes the whole result.
pub(super) fn read(
    reply: &Reply,
    payload: Payload<'_>,
    raw: Option<&str>,
    most: u64,
) -> Result<Received, Fault> {
    let refused = |error: &JsonError| {
        let fault = match error.to_fault().code() {
            Code::MemoryExceeded => Fault::new(
                Reason::ResponseTooLarge,
                format!("the reply takes more than {most} bytes as data (limits.granted_bytes)"),
            ),
            _ => Fault::new(Reason::UpstreamError, format!("the reply cannot be read: {error}")),
        };
        with_facts(fault, reply)
    };
    let (payload, built) = match (build(&payload, raw, most), payload) {
        // JSON too deep to be data, or with too many digits, stays text.
        (Err(error), Payload::JsonText(text)) if error.is_syntax() => {
            let payload = Payload::Text(text);
            let built = build(&payload, raw, most);
            (payload, built)
        }
        (built, payload) => (payload, built),
    };
    let frozen = built.map_err(|error| refused(&error))?;
    let kind = payload.kind();
    let (bytes, shape, head) = match payload {
        Payload::Json(text) => about_json(&text),
        Payload::JsonAndBlocks(text, blocks) => {
            let (bytes, shape, head) = about_json(&text);
            (bytes + blocks.len() as u64, shape, head)
        }
        Payload::JsonText(text) => about_json(&text),
        // A preview of image bytes would be useless.
        Payload::Blocks(text, words) => {
            let (bytes, shape, _) = about_json(&text);
            (bytes, shape, public_json(&words[..words.floor_char_boundary(HEAD)]))
        }
        Payload::Nothing => (0, "nil".to_string(), "null".to_string()),
        Payload::Text(text) => {
            // The text may be JSON too deep to be data.
            let head = public_json(&text[..text.floor_char_boundary(HEAD)]);
            (text.len() as u64, ledger::shape_of_text(&text), head)
        }
    };
    let answer = match frozen.bytes() <= SHARED {
        true => frozen.to_datum(usize::MAX).map_or_else(|_| frozen.into(), ToolAnswer::from),
        false => frozen.into(),
    };
    Ok(Received { answer, kind, bytes, shape, head })
}

/// Returns the size of a JSON text in bytes, its shape and its beginning.
fn about_json(text: &str) -> (u64, String, String) {
    let (bytes, head) = raw::compact(text, HEAD);
    let shape = serde_json::from_str::<&RawValue>(text).map(ledger::shape).unwrap_or_default();
    // A JSON string is shown without its quotes.
    let head = serde_json::from_str::<String>(&head).unwrap_or_else(|_| public_json(&head));
    (bytes, shape, head)
}

/// Replaces the values of firewalled keys in JSON text, which may be cut off. Works on text without parsing it:
/// a reply stays text until it is frozen, and only a few hundred bytes of the result are shown.
fn public_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(quote) = rest.find('"') {
        let (before, string) = rest.split_at(quote);
        let (string, after) = string.split_at(string_len(string));
        out.push_str(before);
        out.push_str(string);
        rest = after;
        // Only keys are followed by a colon.
        let space = after.len() - after.trim_start().len();
        if let Some(value) = after[space..].strip_prefix(':')
            && is_firewalled_key(string)
        {
            out.push_str(&format!("{}:\"{FIREWALLED}\"", &after[..space]));
            rest = &value[value_len(value)..];
        }
    }
    out.push_str(rest);
    out
}

/// Returns whether a quoted key begins with `_`, escaped or not.
fn is_firewalled_key(quoted: &str) -> bool {
    quoted.get(1..7).is_some_and(|start| start.eq_ignore_ascii_case("\\u005f"))
        || quoted.get(1..).is_some_and(is_firewalled)
}

/// Returns the length of the quoted string at the start of `text`, which may be cut off.
fn string_len(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of the JSON value at the start of `text`, which may be cut off.
fn value_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut has_begun) = (0, 0_usize, false);
    while at < bytes.len() {
        match bytes[at] {
            b',' | b'}' | b']' if depth == 0 => return at,
            b'"' => {
                at += string_len(&text[at..]) - 1;
                has_begun = true;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                has_begun |= depth == 0;
            }
            b'\n' if depth == 0 && has_begun => return at,
            byte => has_begun |= depth == 0 && !byte.is_ascii_whitespace(),
        }
        at += 1;
    }
    text.len()
}

impl<'r> Payload<'r> {
    /// Returns the payload's JSON text; None if it is not JSON.
    pub fn json(&self) -> Option<&str> {
        match self {
            Payload::Json(text) | Payload::JsonAndBlocks(text, _) => Some(text),
            Payload::JsonText(text) | Payload::Blocks(text, _) => Some(text),
            Payload::Text(_) | Payload::Nothing => None,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Payload::Json(_) | Payload::JsonAndBlocks(..) | Payload::JsonText(_) => "json",
            Payload::Blocks(..) => "blocks",
            Payload::Text(_) => "text",
            Payload::Nothing => "none",
        }
    }
}

/// Returns the value for a call that an operator settled as done, with the answer that the operator gave.
pub(super) fn said(answer: &serde_json::Value) -> Result<ToolAnswer, ToolError> {
    let text = answer.to_string();
    let built = Frozen::build(|heap| {
        let options = ReadOptions { limit_bytes: usize::MAX, max_depth: MAX_DEPTH, ..ReadOptions::default() };
        let (value, is_ok) = (parse_json(heap, &text, &options)?, parse_json(heap, "true", &options)?);
        let kind = heap.new_keyword(if answer.is_null() { "none" } else { "json" })?;
        let entries = [
            heap.new_keyword("ok")?,
            is_ok,
            heap.new_keyword("value")?,
            value,
            heap.new_keyword("value_kind")?,
            kind,
        ];
        Ok(heap.new_map(&entries)?)
    });
    let unreadable =
        |error: JsonError| ToolError::new(format!("the answer in the ledger cannot be read: {error}"));
    built.map(ToolAnswer::Frozen).map_err(unreadable)
}

fn build(payload: &Payload<'_>, raw: Option<&str>, most: u64) -> Result<Frozen, JsonError> {
    Frozen::build(|heap| {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let options = ReadOptions { limit_bytes: most, max_depth: MAX_DEPTH, ..ReadOptions::default() };
        let value = match payload {
            Payload::Text(text) => heap.new_str(text)?,
            payload => parse_json(heap, payload.json().unwrap_or("null"), &options)?,
        };
        let is_ok = parse_json(heap, "true", &options)?;
        let mut entries = vec![heap.new_keyword("ok")?, is_ok, heap.new_keyword("value")?, value];
        entries.extend([heap.new_keyword("value_kind")?, heap.new_keyword(payload.kind())?]);
        if let Payload::JsonAndBlocks(_, blocks) = payload {
            let options = ReadOptions { limit_bytes: most.saturating_sub(heap.used()), ..options };
            entries.extend([heap.new_keyword("blocks")?, parse_json(heap, blocks, &options)?]);
        }
        if let Some(raw) = raw {
            let options = ReadOptions { limit_bytes: most.saturating_sub(heap.used()), ..options };
            entries.extend([heap.new_keyword("raw")?, parse_json(heap, raw, &options)?]);
        }
        Ok(heap.new_map(&entries)?)
    })
}

fn keyword(name: &str) -> Node {
    Node::Keyword(name.into())
}

/// Builds `{:ok false :reason r :message m}` from a scrubbed message.
pub(super) fn failure(reason: Reason, message: &str) -> Result<ToolAnswer, ToolError> {
    let nodes = vec![
        keyword("ok"),
        Node::Bool(false),
        keyword("reason"),
        keyword(reason.name()),
        keyword("message"),
        Node::Str(message.into()),
        Node::Map(3),
    ];
    Datum::new(nodes).map(ToolAnswer::Datum).ok_or_else(|| ToolError::new("the result is not one value"))
}

/// Shortens a message to its maximum length.
pub(super) fn brief(message: &str) -> String {
    crate::catalogue::clean::short(message, MESSAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::Secret;
    use serde_json::json;

    #[test]
    fn failures_are_without_credentials_however_they_are_escaped() {
        let redactor = Redactor::new();
        redactor.register("pat", &Secret::new("s3cr3t+token/abcdef")).unwrap();
        let escaped = r#"{"sent":"s3cr3t\u002Btoken\/abcdef"}"#;
        let results = [
            format!(r#"{{"isError":true,"content":[],"structuredContent":{escaped}}}"#),
            json!({"isError": true, "content": [{"type": "text", "text": escaped}]}).to_string(),
        ];
        for result in results {
            let reply = Reply { result: RawValue::from_string(result).unwrap(), ..Reply::new(&json!({})) };
            let Err(fault) = payload(&reply, &redactor) else { panic!("it failed") };
            assert!(fault.message.contains("sent") && !fault.message.contains("abcdef"), "{}", fault.message);
        }
    }

    #[test]
    fn the_beginning_of_an_answer_is_without_firewalled_values() {
        let shown = [
            (r#"{"n":1,"_pin":4711,"b":"x"}"#, r#"{"n":1,"_pin":"<Firewalled>","b":"x"}"#),
            (r#"{"_a":{"b":["x","}"],"c":"\"]"},"d":2}"#, r#"{"_a":"<Firewalled>","d":2}"#),
            (r#"[{"\u005Fa" : "x"},{"a":"_b"}]"#, r#"[{"\u005Fa" :"<Firewalled>"},{"a":"_b"}]"#),
            // Cut off within the value, and within the key.
            (r#"{"_a":{"b":"hid"#, r#"{"_a":"<Firewalled>""#),
            (r#"{"a":1,"_"#, r#"{"a":1,"_"#),
            (r#"{"a\\":1,"_b":[[1],2]}"#, r#"{"a\\":1,"_b":"<Firewalled>"}"#),
            ("{\"_a\":1}\n{\"_a\": 2}\n", "{\"_a\":\"<Firewalled>\"}\n{\"_a\":\"<Firewalled>\"}\n"),
            ("plain _text: 5, \"quoted\"", "plain _text: 5, \"quoted\""),
        ];
        for (text, public) in shown {
            assert_eq!(public_json(text), public);
        }
    }
}
