//! Cutting texts to a limit, between characters.

/// Returns the first `most` bytes of a text, or slightly fewer to end between characters, and whether that is all.
pub(crate) fn bytes(text: &str, most: usize) -> (&str, bool) {
    (&text[..text.floor_char_boundary(most)], text.len() <= most)
}

/// Returns the first `most` characters of a text, and whether that is all.
pub(crate) fn chars(text: &str, most: usize) -> (&str, bool) {
    match text.char_indices().nth(most) {
        Some((at, _)) => (&text[..at], false),
        None => (text, true),
    }
}
