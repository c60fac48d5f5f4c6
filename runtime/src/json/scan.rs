//! Search for the end of plain text inside a JSON string, eight bytes at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Marks the high bit of bytes of `word` that are a quote, a backslash or a control character.
/// Bytes above the lowest marked one may be marked wrongly, the lowest never is.
#[inline]
fn special(word: u64) -> u64 {
    let quotes = word ^ (ONES * b'"' as u64);
    let slashes = word ^ (ONES * b'\\' as u64);
    ((quotes.wrapping_sub(ONES) & !quotes)
        | (slashes.wrapping_sub(ONES) & !slashes)
        | (word.wrapping_sub(ONES * 0x20) & !word))
        & HIGHS
}

/// Returns the index of the first quote, backslash or control character from `from` on; the length if there is none.
#[inline]
pub(super) fn plain_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = special(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|b| !is_special(*b)) {
        at += 1;
    }
    at
}

/// True if this byte must be escaped inside a JSON string.
#[inline]
pub(super) fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Appends `text` with JSON's escapes, without the surrounding quotes.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let to = plain_end(bytes, from);
        // Special bytes are ASCII, so both ends are character boundaries.
        out.push_str(&text[from..to]);
        let Some(byte) = bytes.get(to) else { return };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.push_str("\\u00");
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
        from = to + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_end_is_the_first_special_byte(bytes: Vec<u8>, from in 0usize..40) {
            let from = from.min(bytes.len());
            let expected = bytes[from..].iter().position(|b| is_special(*b)).map_or(bytes.len(), |i| from + i);
            prop_assert_eq!(plain_end(&bytes, from), expected);
        }

        #[test]
        fn escapes_are_those_of_serde_json(text: String) {
            let mut ours = String::from("\"");
            push_escaped(&mut ours, &text);
            ours.push('"');
            prop_assert_eq!(ours, serde_json::to_string(&text).unwrap());
        }
    }
}
