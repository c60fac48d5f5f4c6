//! Messages of a server, sorted: answers go to whoever waits for them, what nobody needs goes nowhere.
//!
//! The SDK starts a task and writes log lines for each message, so a server that floods us is stopped here.

use super::ticket::{Waiter, Waiting};
use crate::fault::Reason;
use rmcp::model::{CustomResult, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};
use serde_json::{Value, json};

/// The notifications that mean something to us.
const HEARD: [&str; 3] = [
    "notifications/tools/list_changed",
    "notifications/cancelled",
    "notifications/subscriptions/acknowledged",
];

/// How much of a server's words goes into a message, in characters.
const MAX_WORDS: usize = 500;

/// Sorts one message, or each of a batch. What is returned is for the SDK.
pub(crate) fn sort(message: Value, wire_bytes: u64, waiting: &Waiting) -> Vec<ServerJsonRpcMessage> {
    match message {
        Value::Array(batch) => {
            batch.into_iter().filter_map(|message| sort_one(message, wire_bytes, waiting)).collect()
        }
        message => sort_one(message, wire_bytes, waiting).into_iter().collect(),
    }
}

fn sort_one(message: Value, wire_bytes: u64, waiting: &Waiting) -> Option<ServerJsonRpcMessage> {
    let fields = message.as_object()?;
    let id = fields.get("id").and_then(id);
    if let Some(method) = fields.get("method").and_then(Value::as_str) {
        let heard = id.is_some() || HEARD.contains(&method);
        return if heard { serde_json::from_value(message).ok() } else { None };
    }
    let id = id?;
    let ticket = match waiting.take(&id)? {
        Waiter::Sdk => {
            return Some(
                serde_json::from_value(message)
                    .unwrap_or_else(|_| failed(id, "an answer that cannot be read")),
            );
        }
        Waiter::Call(ticket) => ticket,
    };
    ticket.count(wire_bytes);
    if wire_bytes > ticket.max_bytes {
        ticket.too_large();
    } else if let Some(error) = fields.get("error") {
        ticket.fail(Reason::UpstreamError, words(error));
    } else if let Some(result) = fields.get("result") {
        ticket.answer(result.clone());
        if ticket.shown
            && let Ok(shown) = serde_json::from_value(message)
        {
            return Some(shown);
        }
        return Some(ServerJsonRpcMessage::response(
            ServerResult::CustomResult(CustomResult::new(json!({"kept": true}))),
            id,
        ));
    } else {
        ticket.fail(Reason::UpstreamError, "the server sent an answer with neither a result nor an error");
    }
    Some(failed(id, "failed"))
}

/// Ends a request whose answer cannot be used.
pub(crate) fn failed(id: RequestId, why: &'static str) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error(why, None), Some(id))
}

fn id(value: &Value) -> Option<RequestId> {
    serde_json::from_value(value.clone()).ok()
}

/// An error of the protocol, in words.
fn words(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("no message");
    match error.get("code").and_then(Value::as_i64) {
        Some(code) => format!("the server answered with error {code}: {}", cut(message)),
        None => format!("the server answered with an error: {}", cut(message)),
    }
}

/// A text that is not too long.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_WORDS) {
        None => text.to_string(),
        Some((end, _)) => format!("{}…(+{} chars)", &text[..end], text[end..].chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::ticket::Ticket;

    #[test]
    fn answers_reach_their_call_and_nothing_else_does() {
        let waiting = Waiting::default();
        let ticket = Ticket::new(100, false);
        waiting.expect(RequestId::Number(3), Some(&ticket));
        assert!(sort(json!({"jsonrpc": "2.0", "id": 4, "result": {}}), 10, &waiting).is_empty());
        assert!(sort(json!({"jsonrpc": "2.0", "method": "notifications/message"}), 10, &waiting).is_empty());
        assert!(sort(json!("text"), 10, &waiting).is_empty());
        let for_sdk = sort(json!([{"jsonrpc": "2.0", "id": "3", "result": {"content": []}}]), 10, &waiting);
        assert_eq!(for_sdk.len(), 1);
        assert_eq!(ticket.received().result, Some(json!({"content": []})));
        assert_eq!(ticket.received().wire_bytes, 10);
        assert!(sort(json!({"jsonrpc": "2.0", "id": 3, "result": {}}), 10, &waiting).is_empty());
    }

    #[test]
    fn errors_say_what_the_server_said() {
        let waiting = Waiting::default();
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
            assert_eq!(sort(answer, bytes, &waiting).len(), 1);
            let fault = ticket.received().fault.expect("a fault");
            assert_eq!(fault.reason, reason);
            assert!(fault.message.contains(words), "{fault}");
        }
    }
}
