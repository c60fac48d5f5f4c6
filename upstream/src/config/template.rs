//! `${VAR}` in the values of a child's environment, the only place where it is expanded.

/// A part of a value: plain text or a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    Text(String),
    Var(String),
}

/// Splits a value into parts; `$$` is a literal dollar sign.
pub(super) fn pieces(value: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            text.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('{') {
            let Some((name, after)) = after.split_once('}') else {
                return Err("has a `${` without its `}`; write `$$` for a dollar sign".into());
            };
            if !is_name(name) {
                return Err(
                    "has a `${…}` without a valid variable name; write ${NAME}, or `$$` for a dollar sign"
                        .into(),
                );
            }
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(Piece::Var(name.to_string()));
            rest = after;
        } else {
            text.push('$');
        }
    }
    text.push_str(rest);
    if !text.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

pub(super) fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_apart() {
        let text = |text: &str| Piece::Text(text.into());
        let var = |name: &str| Piece::Var(name.into());
        assert_eq!(pieces("a${B}c").unwrap(), [text("a"), var("B"), text("c")]);
        assert_eq!(pieces("$${B} $C $").unwrap(), [text("${B} $C $")]);
        assert_eq!(pieces("").unwrap(), [text("")]);
        assert_eq!(pieces("${A}${B}").unwrap(), [var("A"), var("B")]);
        for bad in ["${A", "${}", "${A:-b}", "${1A}"] {
            assert!(pieces(bad).is_err(), "{bad}");
        }
    }
}
