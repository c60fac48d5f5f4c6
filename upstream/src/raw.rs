//! Searches JSON text without parsing all of it: as data, text may take a hundred times its size.

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Reader of the members with these names of an object; among duplicates, the last wins.
pub(crate) struct Members<'n, const N: usize>(pub [&'n str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for Members<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for Members<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(Text(key)) = map.next_key()? {
            match self.0.iter().position(|name| *name == key) {
                Some(n) => found[n] = Some(map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

/// Returns the members of an object with these names; none for other values.
pub(crate) fn members<'t, const N: usize>(text: &'t RawValue, names: [&str; N]) -> [Option<&'t RawValue>; N] {
    let mut reader = serde_json::Deserializer::from_str(text.get());
    Members(names).deserialize(&mut reader).unwrap_or([None; N])
}

/// Passes the keys of an object to `each`, in order; none for other values.
pub(crate) fn keys(text: &RawValue, each: impl FnMut(String)) {
    struct Keys<F>(F);

    impl<'de, F: FnMut(String)> Visitor<'de> for Keys<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
            while let Some((Text(key), IgnoredAny)) = map.next_entry()? {
                (self.0)(key);
            }
            Ok(())
        }
    }

    // Other values than objects have no keys to show.
    let _ = serde_json::Deserializer::from_str(text.get()).deserialize_map(Keys(each));
}

/// Returns the decoded text of a JSON string; None for other values.
pub(crate) fn string(text: &RawValue) -> Option<String> {
    if !text.get().starts_with('"') {
        return None;
    }
    serde_json::from_str(text.get()).ok().map(|Text(text)| text)
}

/// The decoded text of a string. Servers that cut a text within a character send lone surrogates. These become
/// replacement characters, as when programs read JSON: as a `String`, the whole reply would be refused.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Text, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_string()))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text, E> {
                if let Ok(text) = std::str::from_utf8(bytes) {
                    return Ok(Text(text.to_string()));
                }
                let mut bytes = bytes.to_vec();
                for at in 0..bytes.len().saturating_sub(2) {
                    // A lone surrogate is three bytes starting like this, and the replacement character has
                    // three as well.
                    if bytes[at] == 0xED && bytes[at + 1] >= 0xA0 {
                        bytes[at..at + 3].copy_from_slice("\u{FFFD}".as_bytes());
                    }
                }
                Ok(Text(String::from_utf8_lossy(&bytes).into_owned()))
            }
        }

        // As bytes, because a `String` must be UTF-8.
        reader.deserialize_bytes(Bytes)
    }
}

/// Returns the first `Some` that `choose` gives for the items of an array; None for other values.
pub(crate) fn find<T>(text: &RawValue, choose: impl FnMut(&RawValue) -> Option<T>) -> Option<T> {
    struct Search<F, T>(F, Option<T>);

    impl<'de, T, F: FnMut(&RawValue) -> Option<T>> Visitor<'de> for Search<F, T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Option<T>, A::Error> {
            while self.1.is_none() {
                match items.next_element::<&RawValue>()? {
                    Some(item) => self.1 = (self.0)(item),
                    None => return Ok(None),
                }
            }
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(self.1)
        }
    }

    let mut reader = serde_json::Deserializer::from_str(text.get());
    reader.deserialize_seq(Search(choose, None)).ok().flatten()
}

/// Returns whether arrays and objects nest more than `most` levels deep.
pub(crate) fn is_deeper(text: &RawValue, most: usize) -> bool {
    let (mut depth, mut in_string, mut is_escaped) = (0usize, false, false);
    text.get().bytes().any(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > most
    })
}

/// Returns the size of a JSON text without whitespace between tokens, and its first `most` bytes or slightly fewer.
///
/// Escapes are kept as they are.
pub(crate) fn compact(text: &str, most: usize) -> (u64, String) {
    let (mut bytes, mut start) = (0, String::new());
    let (mut in_string, mut is_escaped) = (false, false);
    for c in text.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = in_string,
            '"' => in_string = !in_string,
            ' ' | '\n' | '\r' | '\t' if !in_string => continue,
            _ => {}
        }
        bytes += c.len_utf8() as u64;
        if bytes <= most as u64 {
            start.push(c);
        }
    }
    (bytes, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn members_are_found_by_name() {
        let [a, b, c] =
            members(raw(r#"{"b": [1, {"a": 2}], "x": {"a": 3}, "a": 1, "a": null}"#), ["a", "b", "c"]);
        assert_eq!((a.unwrap().get(), b.unwrap().get(), c.is_none()), ("null", r#"[1, {"a": 2}]"#, true));
        assert!(members(raw("[1]"), ["a"])[0].is_none());
        assert!(
            members(raw(&format!("{{\"a\":{}1{}}}", "[".repeat(9_000), "]".repeat(9_000))), ["a"])[0]
                .is_some()
        );
    }

    #[test]
    fn halves_of_characters_are_marks_of_replacement() {
        let text = raw(r#"{"\ud83d": 1, "a": "hi \ud83d!\udc00\ud83d\ude00", "isError": true}"#);
        let [a, is_error] = members(text, ["a", "isError"]);
        assert_eq!(string(a.unwrap()).as_deref(), Some("hi \u{FFFD}!\u{FFFD}😀"));
        assert_eq!(is_error.unwrap().get(), "true");
        let mut all = Vec::new();
        keys(text, |key| all.push(key));
        assert_eq!(all, ["\u{FFFD}", "a", "isError"]);
    }

    #[test]
    fn items_are_searched_in_order() {
        let text = raw(r#"[1, "a", 2, "b"]"#);
        assert_eq!(find(text, string).as_deref(), Some("a"));
        assert_eq!(find(raw("[1]"), string), None);
        assert_eq!(find(raw("{}"), string), None);
    }

    #[test]
    fn depth_is_that_of_brackets() {
        let text = raw(r#"[{"a\"[[[[": [1]}, "[[[[\\", []]"#);
        assert!(is_deeper(text, 2) && !is_deeper(text, 3));
    }

    #[test]
    fn blanks_are_not_counted() {
        let text = "{ \"a b\" : [ 1,\n\"\\\" ä\" ] }";
        let compact = compact(text, 9);
        assert_eq!(compact, (19, "{\"a b\":[1".to_string()));
    }
}
