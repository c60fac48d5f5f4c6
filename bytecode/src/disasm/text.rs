//! Names and constants as the listing shows them: on one line and of bounded length.

use crate::artifact::Const;
use crate::datum::{Datum, Node};
use crate::text::is_hidden;

/// Maximum characters of a constant or a name in a listing.
const CHARS: usize = 60;

/// Cuts `text` to its first `most` characters and notes the number left out.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some((end, _)) => format!("{}…(+{} chars)", &text[..end], text[end..].chars().count()),
    }
}

/// Spells `JumpUnless` as `jump_unless`.
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

/// Formats a name from the artifact on one line.
pub(super) fn name(name: &str) -> String {
    cut(&name.replace(is_hidden, "·"), CHARS)
}

/// Formats a constant as a program would write it.
pub(super) fn constant(constant: &Const) -> String {
    match constant {
        Const::Int(n) => n.to_string(),
        Const::Float(x) => float(*x),
        Const::Str(s) => string(s),
        Const::Keyword(s) => format!(":{}", name(s)),
        Const::Data(datum) | Const::Keys(datum) => data(datum),
    }
}

/// Formats a datum as a program would write it.
fn data(datum: &Datum) -> String {
    // Subtrees come before their collection, so a stack of finished texts is enough. Each is cut as soon as it is
    // made: the work stays linear however deep the data nests.
    let mut done: Vec<String> = Vec::new();
    for node in datum.nodes() {
        let text = match node {
            Node::Vector(n) => collection("[", &mut done, u64::from(*n), "]"),
            Node::Map(n) => collection("{", &mut done, u64::from(*n) * 2, "}"),
            Node::Set(n) => collection("#{", &mut done, u64::from(*n), "}"),
            scalar => node_text(scalar),
        };
        done.push(text);
    }
    done.pop().unwrap_or_else(|| "?".into())
}

fn collection(open: &str, done: &mut Vec<String>, count: u64, close: &str) -> String {
    let from = done.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
    let items = done.split_off(from);
    let mut out = String::from(open);
    for (i, item) in items.iter().enumerate() {
        let gap = if i > 0 { " " } else { "" };
        if out.chars().count() + item.chars().count() > CHARS {
            let left = items.len() - i;
            out.push_str(&format!("{gap}…(+{left} items)"));
            break;
        }
        out.push_str(gap);
        out.push_str(item);
    }
    out + close
}

/// Formats a value that is not a collection as a program would write it.
pub(super) fn node_text(node: &Node) -> String {
    match node {
        Node::Nil => "nil".into(),
        Node::Bool(b) => b.to_string(),
        Node::Int(n) => n.to_string(),
        Node::Big(digits) => name(digits),
        Node::Float(x) => float(*x),
        Node::Str(s) => string(s),
        Node::Keyword(s) => format!(":{}", name(s)),
        Node::Symbol(s) => format!("'{}", name(s)),
        Node::Regex(s) => format!("#{}", string(s)),
        Node::Day(n) => format!("#day {n}"),
        Node::Instant(n) => format!("#instant {n}"),
        Node::Duration(n) => format!("#duration {n}"),
        Node::Opaque(s) => name(s),
        Node::Vector(_) => "[…]".into(),
        Node::Map(_) => "{…}".into(),
        Node::Set(_) => "#{…}".into(),
    }
}

fn float(x: f64) -> String {
    match x {
        _ if x.is_nan() => "##NaN".into(),
        f64::INFINITY => "##Inf".into(),
        f64::NEG_INFINITY => "##-Inf".into(),
        _ => format!("{x:?}"),
    }
}

fn string(s: &str) -> String {
    let shown: String = s.chars().take(CHARS).flat_map(escape).collect();
    match s.chars().count().saturating_sub(CHARS) {
        0 => format!("\"{shown}\""),
        left => format!("\"{shown}…(+{left} chars)\""),
    }
}

fn escape(c: char) -> impl Iterator<Item = char> {
    let text = match c {
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\n' => "\\n".into(),
        '\t' => "\\t".into(),
        '\r' => "\\r".into(),
        c if is_hidden(c) => format!("\\u{:04x}", u32::from(c)),
        c => String::from(c),
    };
    text.chars().collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_read_as_written() {
        let nodes = vec![
            Node::Keyword("a".into()),
            Node::Float(1.0),
            Node::Nil,
            Node::Str("x\n\"".into()),
            Node::Vector(2),
            Node::Map(0),
            Node::Map(2),
        ];
        // Two pairs: `:a 1.0`, and a vector with an empty map.
        let datum = Datum::new(nodes).unwrap();
        assert_eq!(data(&datum), r#"{:a 1.0 [nil "x\n\""] {}}"#);
        assert_eq!(constant(&Const::Float(f64::NEG_INFINITY)), "##-Inf");
    }

    #[test]
    fn deep_and_wide_data_is_cut() {
        let mut nodes = vec![Node::Nil];
        nodes.extend(std::iter::repeat_n(Node::Vector(1), 100_000));
        assert!(data(&Datum::new(nodes).unwrap()).chars().count() < 100);
        let mut nodes = vec![Node::Int(12345); 500];
        nodes.push(Node::Vector(500));
        assert!(data(&Datum::new(nodes).unwrap()).ends_with("…(+490 items)]"));
        assert_eq!(
            constant(&Const::Str("é".repeat(70).into())),
            format!("\"{}…(+10 chars)\"", "é".repeat(60))
        );
    }
}
