//! The listing of an artifact, as people review it and golden snapshots hold it.

/// `text`, or its first `most` characters and how many are left out.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some((end, _)) => format!("{}…(+{} chars)", &text[..end], text[end..].chars().count()),
    }
}

/// `JumpUnless` as `jump_unless`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for (i, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && i > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
