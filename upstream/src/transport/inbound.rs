//! Dispatch of a server's messages: replies go to their waiting requests, and messages that nobody needs are dropped.
//!
//! The SDK starts a task for each message and logs its content at `info`. So floods are stopped here, and the
//! SDK sees only what it needs: a server that knows a credential may put it anywhere.

use super::inflow::Inflow;
use super::ticket::{Waiter, Waiting};
use crate::fault::Reason;
use crate::raw;
use ptc_runtime::bridge::MAX_DEPTH;
use rmcp::model::{CustomResult, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;

/// Notifications that this client acts on.
const HEARD: [&str; 2] = ["notifications/cancelled", "notifications/subscriptions/acknowledged"];

/// Notification that is only counted here: the SDK would start a task for each.
const CHANGED: &str = "notifications/tools/list_changed";

/// Name of the `_meta` field with the subscription a message belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Maximum length of a server's text in a message, in characters.
const MAX_WORDS: usize = 500;

/// Maximum size of messages other than replies to calls that are parsed into data, in bytes. The longest are
/// servers' instructions.
const MAX_SMALL: usize = 256 << 10;

/// Dispatched messages of a server.
#[derive(Default)]
pub(crate) struct Sorted {
    /// Messages for the SDK.
    pub(crate) messages: Vec<ServerJsonRpcMessage>,
    /// Number of messages other than replies to waiting requests.
    pub(crate) unasked: usize,
}

/// Dispatches messages while reading them. They stay text: as data, each takes many times its size.
pub(crate) struct Sorter<'w> {
    pub(crate) waiting: &'w Waiting,
    pub(crate) inflow: &'w Arc<Inflow>,
    /// Wire size of a reply in this text, in bytes; 0 if already counted.
    pub(crate) wire_bytes: u64,
    /// The only request whose reply may be here; None for any.
    pub(crate) only: Option<&'w RequestId>,
}

impl Sorter<'_> {
    /// Dispatches one message or a batch. Invalid JSON is an error unless something before it was usable.
    pub(crate) fn sort(&self, text: &[u8]) -> Result<Sorted, serde_json::Error> {
        let mut sorting = Sorting { sorter: self, sorted: Sorted::default(), is_changed: false };
        let mut reader = serde_json::Deserializer::from_slice(text);
        let read = match text.trim_ascii_start().first() {
            Some(b'[') => reader.deserialize_seq(&mut sorting),
            _ => raw::Members(MEMBERS).deserialize(&mut reader).and_then(|message| sorting.one(message)),
        };
        let read = read.and_then(|()| reader.end());
        let Sorting { sorted, is_changed, .. } = sorting;
        if is_changed {
            self.inflow.tools_changed();
        }
        match read {
            Err(error) if sorted.messages.is_empty() => Err(error),
            _ => Ok(sorted),
        }
    }
}

/// State of dispatching the messages of one text.
struct Sorting<'s, 'w> {
    sorter: &'s Sorter<'w>,
    sorted: Sorted,
    /// True if the tools changed; counted once, however often the text says so.
    is_changed: bool,
}

/// Names of a message's members, in the order of [`Message`].
const MEMBERS: [&str; 5] = ["id", "method", "params", "result", "error"];

/// A message, with all parts still JSON text.
#[derive(Default)]
struct Message<'m> {
    id: Option<&'m RawValue>,
    method: Option<&'m RawValue>,
    params: Option<&'m RawValue>,
    result: Option<&'m RawValue>,
    error: Option<&'m RawValue>,
}

impl<'m> From<[Option<&'m RawValue>; 5]> for Message<'m> {
    fn from([id, method, params, result, error]: [Option<&'m RawValue>; 5]) -> Message<'m> {
        Message { id, method, params, result, error }
    }
}

impl Sorting<'_, '_> {
    fn one<E: Error>(&mut self, members: [Option<&RawValue>; 5]) -> Result<(), E> {
        if members.iter().flatten().any(|member| raw::is_deeper(member, MAX_DEPTH - 1)) {
            return Err(E::custom(format_args!("it nests deeper than {MAX_DEPTH} levels")));
        }
        let message = Message::from(members);
        let Sorter { waiting, inflow, wire_bytes, only } = self.sorter;
        let method = message.method.and_then(raw::string);
        if method.as_deref() == Some(CHANGED) {
            self.is_changed = true;
            self.sorted.unasked += 1;
            return Ok(());
        }
        let is_asked = message.method.is_none();
        let is_ours = |id: &&RequestId| message.id.and_then(small).is_some_and(|found| same(&found, id));
        if is_asked && only.is_some_and(|id| !is_ours(&id)) {
            self.sorted.unasked += 1;
            return Ok(());
        }
        let message = sort_one(&message, method.as_deref(), *wire_bytes, waiting, inflow);
        self.sorted.unasked += usize::from(!is_asked || message.is_none());
        self.sorted.messages.extend(message);
        Ok(())
    }
}

impl<'de> Visitor<'de> for &mut Sorting<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut batch: A) -> Result<(), A::Error> {
        while let Some(message) = batch.next_element::<&RawValue>()? {
            self.one(raw::members(message, MEMBERS))?;
        }
        Ok(())
    }
}

/// Compares ids; some servers turn numbers into strings.
fn same(found: &Value, id: &RequestId) -> bool {
    match (found, id) {
        (Value::String(text), RequestId::Number(number)) => text.parse() == Ok(*number),
        (found, id) => *found == id.clone().into_json_value(),
    }
}

/// Parses a message other than a reply to a call; None if it is too long.
fn small(text: &RawValue) -> Option<Value> {
    (text.get().len() <= MAX_SMALL).then(|| serde_json::from_str(text.get()).ok())?
}

fn sort_one(
    message: &Message<'_>,
    method: Option<&str>,
    wire_bytes: u64,
    waiting: &Waiting,
    inflow: &Inflow,
) -> Option<ServerJsonRpcMessage> {
    let id = message.id.and_then(small).and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    if let Some(method) = method {
        return match id {
            Some(id) if inflow.admits() => serde_json::from_value(question(&id, method)).ok(),
            None if HEARD.contains(&method) && inflow.admits() => {
                serde_json::from_value(notice(method, message.params)).ok()
            }
            _ => None,
        };
    }
    let id = id?;
    let ticket = match waiting.take(&id)? {
        Waiter::Sdk => {
            let plain = greeting(message).and_then(|plain| serde_json::from_value(plain).ok());
            return Some(plain.unwrap_or_else(|| failed(id, "the reply cannot be read")));
        }
        Waiter::Call(ticket) => ticket,
    };
    ticket.count(wire_bytes);
    if wire_bytes > ticket.max_bytes {
        ticket.too_large();
    } else if let Some(error) = message.error {
        ticket.fail(Reason::UpstreamError, words(error));
    } else if let Some(result) = message.result {
        let shown = match ticket.shown {
            true => shown(&id, result),
            false => None,
        };
        ticket.answer(result.to_owned());
        if shown.is_some() {
            return shown;
        }
        return Some(ServerJsonRpcMessage::response(
            ServerResult::CustomResult(CustomResult::new(json!({"kept": true}))),
            id,
        ));
    } else {
        ticket.fail(Reason::UpstreamError, "the server sent a reply with neither a result nor an error");
    }
    Some(failed(id, "failed"))
}

/// Builds a reply for the SDK.
fn shown(id: &RequestId, result: &RawValue) -> Option<ServerJsonRpcMessage> {
    let result: Value = serde_json::from_str(result.get()).ok()?;
    serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "result": result})).ok()
}

/// Builds a server's request without its details: only pings are ever answered.
fn question(id: &RequestId, method: &str) -> Value {
    let method = if method == "ping" { method } else { "unknown" };
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}})
}

/// Builds a notification with only the parameters that decide who receives it.
fn notice(method: &str, params: Option<&RawValue>) -> Value {
    const NAMES: [&str; 2] = ["requestId", "notifications"];
    let [request, heard, meta] =
        params.map_or([None; 3], |params| raw::members(params, [NAMES[0], NAMES[1], "_meta"]));
    let mut kept = Map::new();
    for (name, value) in NAMES.into_iter().zip([request, heard]) {
        if let Some(value) = value.and_then(small) {
            kept.insert(name.to_string(), value);
        }
    }
    let [subscription] = meta.map_or([None], |meta| raw::members(meta, [SUBSCRIPTION]));
    if let Some(id) = subscription.and_then(small) {
        kept.insert("_meta".to_string(), json!({SUBSCRIPTION: id}));
    }
    json!({"jsonrpc": "2.0", "method": method, "params": kept})
}

/// Builds the reply to one of the SDK's own requests, such as the handshake, without the server's free text.
fn greeting(message: &Message<'_>) -> Option<Value> {
    let mut plain = json!({"jsonrpc": "2.0", "id": small(message.id?)?});
    if let Some(error) = message.error {
        plain["error"] = small(error)?;
    }
    let Some(result) = message.result else { return Some(plain) };
    let mut result = small(result)?;
    if let Some(result) = result.as_object_mut() {
        result.remove("instructions");
        if result.contains_key("serverInfo") {
            result.insert("serverInfo".to_string(), json!({"name": "server", "version": ""}));
        }
        if let Some(meta) = result.get_mut("_meta").and_then(Value::as_object_mut) {
            meta.retain(|name, _| name == SUBSCRIPTION);
        }
        if let Some(capabilities) = result.get_mut("capabilities").and_then(Value::as_object_mut) {
            capabilities.retain(|name, _| name == "tools");
        }
    }
    plain["result"] = result;
    Some(plain)
}

/// Builds an error reply for a request whose reply cannot be used.
pub(crate) fn failed(id: RequestId, why: &'static str) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error(why, None), Some(id))
}

/// Formats a protocol error.
fn words(error: &RawValue) -> String {
    let [message, code] = raw::members(error, ["message", "code"]);
    let message = message.and_then(raw::string);
    let message = cut(message.as_deref().unwrap_or("no message"));
    match code.and_then(small).as_ref().and_then(Value::as_i64) {
        Some(code) => format!("the server answered with error {code}: {message}"),
        None => format!("the server answered with an error: {message}"),
    }
}

/// Cuts a text to the maximum length.
pub(crate) fn cut(text: &str) -> String {
    ptc_contract::data::cut(text, MAX_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::ticket::Ticket;

    fn sort(message: Value, wire_bytes: u64, waiting: &Waiting, inflow: &Arc<Inflow>) -> Sorted {
        let sorter = Sorter { waiting, inflow, wire_bytes, only: None };
        sorter.sort(message.to_string().as_bytes()).unwrap_or_default()
    }

    #[test]
    fn answers_reach_their_call_and_nothing_else_does() {
        let (waiting, inflow) = (Waiting::default(), Inflow::new("test"));
        let ticket = Ticket::new(100, false);
        waiting.expect(RequestId::Number(3), Some(&ticket));
        assert!(
            sort(json!({"jsonrpc": "2.0", "id": 4, "result": {}}), 10, &waiting, &inflow).messages.is_empty()
        );
        assert!(
            sort(json!({"jsonrpc": "2.0", "method": "notifications/message"}), 10, &waiting, &inflow)
                .messages
                .is_empty()
        );
        assert!(sort(json!("text"), 10, &waiting, &inflow).messages.is_empty());
        let for_sdk =
            sort(json!([{"jsonrpc": "2.0", "id": "3", "result": {"content": []}}]), 10, &waiting, &inflow);
        assert_eq!((for_sdk.messages.len(), for_sdk.unasked), (1, 0));
        let received = ticket.take();
        assert_eq!(
            received.result.map(|result| result.get().to_string()).as_deref(),
            Some(r#"{"content":[]}"#)
        );
        assert_eq!(received.wire_bytes, 10);
        assert!(
            sort(json!({"jsonrpc": "2.0", "id": 3, "result": {}}), 10, &waiting, &inflow).messages.is_empty()
        );
    }

    #[test]
    fn the_sdk_sees_no_words_of_a_server() {
        let (waiting, inflow) = (Waiting::default(), Inflow::new("test"));
        waiting.expect(RequestId::Number(1), None);
        for message in [
            json!({"id": 1, "jsonrpc": "2.0", "result": {"protocolVersion": "2025-11-25", "instructions": "canary",
                "capabilities": {"tools": {"listChanged": true}, "experimental": {"canary": {}}},
                "serverInfo": {"name": "canary", "version": "canary"}, "_meta": {"canary": "canary"}}}),
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"_meta": {"canary": 1}}}),
            json!({"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": {"canary": "canary"}}),
        ] {
            let seen = sort(message, 10, &waiting, &inflow).messages;
            assert_eq!(seen.len(), 1);
            assert!(!format!("{seen:?}").contains("canary"), "{seen:?}");
        }
    }

    #[test]
    fn errors_say_what_the_server_said() {
        let (waiting, inflow) = (Waiting::default(), Inflow::new("test"));
        for (answer, reason, words) in [
            (
                json!({"id": 1, "error": {"code": -32602, "message": "no such tool"}}),
                Reason::UpstreamError,
                "-32602: no such tool",
            ),
            (json!({"id": 1}), Reason::UpstreamError, "neither a result nor an error"),
            (json!({"id": 1, "result": "x".repeat(200)}), Reason::ResponseTooLarge, "more than 100 bytes"),
        ] {
            let ticket = Ticket::new(100, false);
            waiting.expect(RequestId::Number(1), Some(&ticket));
            let bytes = answer.to_string().len() as u64;
            assert_eq!(sort(answer, bytes, &waiting, &inflow).messages.len(), 1);
            let fault = ticket.take().fault.expect("a fault");
            assert_eq!(fault.reason, reason);
            assert!(fault.message.contains(words), "{fault}");
        }
    }

    #[test]
    fn a_batch_of_many_messages_is_answered_with_few() {
        let (waiting, inflow) = (Waiting::default(), Inflow::new("test"));
        let ticket = Ticket::new(100, false);
        waiting.expect(RequestId::Number(3), Some(&ticket));
        let mut batch: Vec<Value> = (0..70_000).map(|id| json!({"id": id, "method": "ping"})).collect();
        batch.extend((0..70_000).map(|_| json!({"method": "notifications/tools/list_changed"})));
        batch.push(json!({"jsonrpc": "2.0", "id": 3, "result": {"content": []}}));
        let sorted = sort(Value::Array(batch), 10, &waiting, &inflow);
        // The limit of one second's requests can be exceeded only if this takes longer.
        assert!(sorted.messages.len() < 1_000, "{}", sorted.messages.len());
        assert_eq!(sorted.unasked, 140_000);
        assert!(ticket.take().result.is_some(), "the reply among them reaches its call");
        assert_eq!(inflow.changes(), 1);
    }

    #[test]
    fn an_answer_before_something_broken_is_an_answer() {
        let (waiting, inflow) = (Waiting::default(), Inflow::new("test"));
        let sorter = Sorter { waiting: &waiting, inflow: &inflow, wire_bytes: 10, only: None };
        let ticket = Ticket::new(100, false);
        waiting.expect(RequestId::Number(3), Some(&ticket));
        assert!(sorter.sort(br#"{"id": 3, "result": {"#).is_err());
        assert!(sorter.sort(br#"{"id": 4, "result": {}} and more"#).is_err());
        let sorted = sorter.sort(br#"[{"id": 3, "result": {}}, {"id": 4, "result"#).expect("one message");
        let result = ticket.take().result.expect("the answer");
        assert_eq!((sorted.messages.len(), result.get()), (1, "{}"));
    }
}
