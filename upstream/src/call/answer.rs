//! What a server answered, as the program gets it.

use crate::client::Reply;
use crate::fault::{Fault, Reason};
use crate::size::json_bytes;
use ptc_bytecode::{Datum, Node};
use ptc_runtime::bridge::{BridgeError, json_to_datum, to_value};
use ptc_runtime::{Frozen, ToolAnswer, ToolError};
use serde_json::Value;

/// How much of what a tool says of its failure is told.
const MESSAGE: usize = 500;

/// Larger answers are shared with the program, not copied into it.
const SHARED: usize = 16 << 10;

/// The payload that was selected from an answer.
pub(super) struct Payload {
    pub value: Value,
    pub kind: &'static str,
}

/// Takes the payload out of a `tools/call` result; or tells of the failure that is in it. `keeps_raw` leaves the result whole,
/// for programs that are given all of it.
pub(super) fn payload(reply: &mut Reply, keeps_raw: bool) -> Result<Payload, Fault> {
    let result = &mut reply.result;
    let text = result.get("content").and_then(Value::as_array).into_iter().flatten().find_map(|block| {
        (block.get("type").and_then(Value::as_str) == Some("text")).then(|| block.get("text")?.as_str())?
    });
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        let structured = result.get("structuredContent").filter(|value| !value.is_null());
        let said = match (text, structured) {
            (Some(text), _) => text.to_string(),
            (None, Some(value)) => value.to_string(),
            (None, None) => "the tool failed without saying why".to_string(),
        };
        let fault = Fault::new(Reason::ToolError, said);
        return Err(Fault { http_status: reply.http_status, wire_bytes: reply.wire_bytes, ..fault });
    }
    let read = |text: &str| match serde_json::from_str(text) {
        Ok(value) => Payload { value, kind: "json" },
        Err(_) => Payload { value: Value::String(text.to_string()), kind: "text" },
    };
    if result.get("structuredContent").is_none_or(Value::is_null) {
        return Ok(text.map_or(Payload { value: Value::Null, kind: "none" }, read));
    }
    let value = match keeps_raw {
        true => result["structuredContent"].clone(),
        false => result["structuredContent"].take(),
    };
    Ok(Payload { value, kind: "json" })
}

impl Payload {
    /// How many bytes the program gets.
    pub fn bytes(&self) -> u64 {
        match (&self.value, self.kind) {
            (_, "none") => 0,
            (Value::String(text), "text") => text.len() as u64,
            (value, _) => json_bytes(value),
        }
    }
}

fn keyword(name: &str) -> Node {
    Node::Keyword(name.into())
}

/// `{:ok true :value v :value_kind k}`, with `:raw` if there is one. Large answers go straight into data that is shared with
/// the program; small ones are copied into it.
pub(super) fn success(payload: &Payload, raw: Option<&Value>) -> Result<ToolAnswer, ToolError> {
    if payload.bytes() > SHARED as u64 {
        let build = Frozen::build(|heap| {
            let mut entries =
                vec![heap.new_keyword("ok")?, to_value(heap, &true)?, heap.new_keyword("value")?];
            entries.push(to_value(heap, &payload.value)?);
            entries.extend([heap.new_keyword("value_kind")?, heap.new_keyword(payload.kind)?]);
            if let Some(raw) = raw {
                entries.extend([heap.new_keyword("raw")?, to_value(heap, raw)?]);
            }
            Ok::<_, BridgeError>(heap.new_map(&entries)?)
        });
        return build.map(ToolAnswer::Frozen).map_err(ToolError::new);
    }
    let nodes = |value: &Value| -> Result<Vec<Node>, ToolError> {
        Ok(json_to_datum(value).map_err(ToolError::new)?.into())
    };
    let mut all = vec![keyword("ok"), Node::Bool(true), keyword("value")];
    all.extend(nodes(&payload.value)?);
    all.extend([keyword("value_kind"), keyword(payload.kind)]);
    let mut entries = 3;
    if let Some(raw) = raw {
        all.push(keyword("raw"));
        all.extend(nodes(raw)?);
        entries = 4;
    }
    all.push(Node::Map(entries));
    let datum = Datum::new(all).ok_or_else(|| ToolError::new("the answer is not one value"))?;
    if datum.bytes() <= SHARED {
        return Ok(ToolAnswer::Datum(datum));
    }
    Frozen::from_datum(&datum).map(ToolAnswer::Frozen).map_err(|fault| ToolError::new(&fault.parts().message))
}

/// `{:ok false :reason r :message m}`; the message has been scrubbed.
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
    Datum::new(nodes).map(ToolAnswer::Datum).ok_or_else(|| ToolError::new("the answer is not one value"))
}

/// A message of the length that is told.
pub(super) fn brief(message: &str) -> String {
    crate::catalogue::clean::short(message, MESSAGE)
}
