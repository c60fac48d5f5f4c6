//! Removal of secrets from JSON text without parsing it into data, which would take many times its size.

use super::scrub_text;
use aho_corasick::AhoCorasick;
use ptc_runtime::Heap;
use ptc_runtime::json::{ReadOptions, parse_json};
use serde_json::{Number, Value};
use std::borrow::Cow;

/// Numbers shorter than this contain no secret.
const SHORT: usize = super::MIN_SECRET;

/// Scrubs strings, keys and numbers of valid JSON. Strings are decoded like a program's data, so no escape
/// hides a secret.
pub(super) fn scrub<'t>(automaton: &AhoCorasick, text: &'t str) -> Cow<'t, str> {
    let bytes = text.as_bytes();
    let mut scratch = None;
    let mut clean = String::new();
    let (mut done, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let start = at;
        let scrubbed = match byte {
            b'"' => {
                at = string_end(bytes, at + 1);
                string(automaton, &text[start..at], &mut scratch)
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                at += bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                number(automaton, &text[start..at])
            }
            _ => {
                at += 1;
                None
            }
        };
        if let Some(scrubbed) = scrubbed {
            clean.push_str(&text[done..start]);
            clean.push_str(&Value::from(scrubbed).to_string());
            done = at;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    clean.push_str(&text[done..]);
    Cow::Owned(clean)
}

/// Returns the end of the string whose content begins at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the scrubbed content of a quoted string, if it contains a secret.
fn string(automaton: &AhoCorasick, quoted: &str, scratch: &mut Option<Heap>) -> Option<String> {
    if !quoted.contains('\\') {
        return changed(scrub_text(automaton, quoted.trim_matches('"')));
    }
    let heap = scratch.get_or_insert_with(Heap::unbounded);
    heap.reset(u64::MAX);
    let read = parse_json(heap, quoted, &ReadOptions::default()).ok()?;
    changed(scrub_text(automaton, heap.as_str(read)?))
}

/// Returns the scrubbed text of a number, if it contains a secret, in any notation.
fn number(automaton: &AhoCorasick, written: &str) -> Option<String> {
    if written.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return if written.len() < SHORT { None } else { changed(scrub_text(automaton, written)) };
    }
    let plain = serde_json::from_str::<Number>(written).map(|number| number.to_string());
    changed(scrub_text(automaton, written)).or_else(|| changed(scrub_text(automaton, &plain.ok()?)))
}

fn changed(scrubbed: Cow<'_, str>) -> Option<String> {
    match scrubbed {
        Cow::Borrowed(_) => None,
        Cow::Owned(clean) => Some(clean),
    }
}
