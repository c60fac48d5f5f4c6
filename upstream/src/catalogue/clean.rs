//! Cleaning of texts from servers before they are shown: no secrets, no invisible or direction-changing characters.

use crate::redact::Redactor;
use ptc_bytecode::text::is_hidden;
use serde_json::Value;

/// Removes control characters other than line breaks and tabs, invisible characters, and characters that change
/// the direction of the text after them.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_hidden(*c)).collect()
}

/// Returns a text scrubbed and visible, on one line of at most `most` characters.
pub(crate) fn line(redactor: &Redactor, text: &str, most: usize) -> String {
    let shown = visible(&redactor.scrub(text));
    // Removing invisible characters may have joined the parts of a secret.
    let shown = redactor.scrub(&shown);
    short(&shown.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// Returns the first `most` characters of a text, ending in an ellipsis if shortened.
pub(crate) fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_string(),
        Some(_) => {
            let at = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", text[..at].trim_end())
        }
    }
}

/// Scrubs all strings of a value and removes invisible characters, at every depth.
pub(crate) fn json(redactor: &Redactor, value: Value) -> Value {
    redactor.scrub_json(visible_json(value))
}

fn visible_json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(visible(&text)),
        Value::Array(items) => items.into_iter().map(visible_json).collect(),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (visible(&key), visible_json(value))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::Secret;

    #[test]
    fn what_hides_or_turns_text_is_gone() {
        assert_eq!(visible("a\u{202e}b\u{7}c\u{200b}d\u{e0041}\ne\u{feff}"), "abcd\ne");
        let redactor = Redactor::new();
        assert_eq!(line(&redactor, " Reads\n\n a\tfile ", 120), "Reads a file");
        assert_eq!(line(&redactor, &"x".repeat(200), 120).chars().count(), 120);
    }

    #[test]
    fn a_secret_with_hidden_characters_in_it_is_still_found() {
        let redactor = Redactor::new();
        redactor.register("pat", &Secret::new("topsecret")).unwrap();
        assert_eq!(line(&redactor, "is top\u{200b}secret", 120), "is [REDACTED]");
        assert_eq!(
            json(&redactor, serde_json::json!({"top\u{200b}secret": 1})).to_string(),
            r#"{"[REDACTED]":1}"#
        );
    }
}
