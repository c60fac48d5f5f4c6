//! Messages in pieces, in the order in which the model wrote them.

use crate::{Message, ToolCall};
use serde_json::Value;
use std::collections::HashMap;

/// One piece of a message, in the order in which the model wrote them.
pub(super) enum Piece<'m> {
    Text(&'m str),
    Call(&'m ToolCall),
    Opaque(&'m Value),
}

/// The pieces of a message, with the opaque parts that are `known` to the provider: a conversation may have begun with
/// another one. A part whose place the text does not have stands where the one before it does.
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

/// The names of the tools that were called, by the ids of the calls: some providers want them with the results.
pub(super) fn tool_names(messages: &[Message]) -> HashMap<&str, &str> {
    let calls = messages.iter().flat_map(|message| &message.tool_calls);
    calls.filter_map(|call| Some((call.id.as_deref()?, call.name.as_str()))).collect()
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
