//! Messages split into pieces, in the order in which the model wrote them.

use crate::{Message, Role, ToolCall};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// Piece of a message.
pub(super) enum Piece<'m> {
    Text(&'m str),
    Call(&'m ToolCall),
    Opaque(&'m Value),
}

/// Splits a message into pieces, with the opaque parts that are `known` to the provider: a conversation may have begun
/// with another one. A part whose recorded place does not exist stands where the part before it does.
pub(super) fn pieces(message: &Message, known: impl Fn(&Value) -> bool) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut text, mut calls) = (message.content.as_str(), &message.tool_calls[..]);
    for opaque in message.opaque.iter().filter(|opaque| known(&opaque.part)) {
        let said = message.content.len() - text.len();
        let place = opaque.text_before.checked_sub(said);
        if let Some((before, after)) = place.and_then(|at| text.split_at_checked(at)) {
            pieces.extend((!before.is_empty()).then_some(Piece::Text(before)));
            text = after;
        }
        let called = message.tool_calls.len() - calls.len();
        let place = opaque.calls_before.checked_sub(called);
        if let Some((before, after)) = place.and_then(|at| calls.split_at_checked(at)) {
            pieces.extend(before.iter().map(Piece::Call));
            calls = after;
        }
        pieces.push(Piece::Opaque(&opaque.part));
    }
    pieces.extend((!text.is_empty()).then_some(Piece::Text(text)));
    pieces.extend(calls.iter().map(Piece::Call));
    pieces
}

/// Returns the names of called tools by the ids of their calls: some providers want them with the results.
pub(super) fn tool_names(messages: &[Message]) -> HashMap<&str, &str> {
    let calls = messages.iter().flat_map(|message| &message.tool_calls);
    calls.filter_map(|call| Some((call.id.as_deref()?, call.name.as_str()))).collect()
}

/// Moves images and documents out of tool results, for formats whose results hold only words: they follow in a user
/// message after all results for the same reply, since nothing may stand between those.
pub(super) fn parts_behind_answers(messages: &[Message]) -> Cow<'_, [Message]> {
    let has_parts = |message: &Message| message.role == Role::Tool && !message.parts.is_empty();
    if !messages.iter().any(has_parts) {
        return Cow::Borrowed(messages);
    }
    let names = tool_names(messages);
    let mut all: Vec<Message> = Vec::with_capacity(messages.len() + 1);
    let mut behind: Option<Message> = None;
    for message in messages {
        if message.role != Role::Tool {
            all.extend(behind.take());
        }
        let mut message = message.clone();
        if has_parts(&message) {
            let behind = behind.get_or_insert_default();
            let name = message.tool_call_id.as_deref().and_then(|id| names.get(id)).copied();
            let shown: Vec<String> = message.parts.iter().map(ToString::to_string).collect();
            let gap = if behind.content.is_empty() { "" } else { "\n" };
            let line = format!("{gap}From the result of `{}`: {}", name.unwrap_or("a tool"), shown.join(" "));
            behind.content.push_str(&line);
            behind.parts.append(&mut message.parts);
        }
        all.push(message);
    }
    all.extend(behind);
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpaquePart;

    fn message(parts: &[(usize, usize)]) -> Message {
        let calls = ["f", "g"].map(|name| ToolCall::read(Some(name), name, ""));
        let part = |(text_before, calls_before): &(usize, usize)| OpaquePart {
            text_before: *text_before,
            calls_before: *calls_before,
            part: Value::Null,
        };
        Message {
            opaque: parts.iter().map(part).collect(), ..Message::assistant("Grün").calls(calls.into())
        }
    }

    fn order(parts: &[(usize, usize)]) -> String {
        let message = message(parts);
        let word = |piece: &Piece<'_>| match piece {
            Piece::Text(text) => (*text).to_string(),
            Piece::Call(call) => call.name.clone(),
            Piece::Opaque(_) => "*".to_string(),
        };
        pieces(&message, |_| true).iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn parts_stand_where_they_stood() {
        assert_eq!(order(&[]), "Grün f g");
        assert_eq!(order(&[(0, 0)]), "* Grün f g");
        assert_eq!(order(&[(0, 0), (2, 0), (5, 1)]), "* Gr * ün f * g");
    }

    #[test]
    fn a_place_that_is_none_is_no_fault() {
        assert_eq!(order(&[(3, 0)]), "* Grün f g", "in the midst of a character");
        assert_eq!(order(&[(99, 99), (5, 2), (1, 0)]), "* Grün f g * *");
    }
}
