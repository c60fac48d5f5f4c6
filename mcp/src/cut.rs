//! Text within a limit, cut between characters.

/// The first `most` bytes of a text, or a few less so that it ends between characters, and whether that is all.
pub(crate) fn bytes(text: &str, most: usize) -> (&str, bool) {
    (&text[..text.floor_char_boundary(most)], text.len() <= most)
}

/// The first `most` characters, and whether that is all.
pub(crate) fn chars(text: &str, most: usize) -> (&str, bool) {
    match text.char_indices().nth(most) {
        Some((at, _)) => (&text[..at], false),
        None => (text, true),
    }
}
