//! Notation of the generator's tables: program text with holes.
//!
//! | In a template | stands for |
//! |---|---|
//! | `~i` | an expression of that type, see [`super::types`] |
//! | `~[x:i y:s]b` | an expression of that type, with the fresh names `$x` and `$y` in scope |
//! | `~(is>b)` | a function from these types to that one |
//! | `~#` | a small count |
//! | `$x` | a fresh name, which stays one name throughout the template |

use super::types::{Type, parse};

/// A part of a template.
#[derive(Debug)]
pub enum Part {
    /// Literal text.
    Text(String),
    /// A fresh name.
    Name(char),
    /// An expression, with these names in scope.
    Expr(Vec<(char, Type)>, Type),
    /// A function.
    Function(Vec<Type>, Type),
    /// A small number.
    Count,
}

/// Parses a template.
pub fn read(mut text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let is_special = |(at, text): (usize, &str)| {
        let next = text[at + 1..].chars().next();
        // `$1` in a replacement is literal text.
        text[at..].starts_with('~') || next.is_some_and(|c| c.is_ascii_lowercase())
    };
    let special = |text: &str| {
        let mut marks = text.match_indices(['~', '$']).map(|(at, _)| at);
        marks.find(|at| is_special((*at, text)))
    };
    while let Some(at) = special(text) {
        parts.push(Part::Text(text[..at].to_string()));
        let is_hole = text.as_bytes()[at] == b'~';
        text = &text[at + 1..];
        parts.push(if is_hole {
            hole(&mut text)
        } else {
            let name = take(&mut text);
            Part::Name(name)
        });
    }
    parts.push(Part::Text(text.to_string()));
    parts
}

fn take(text: &mut &str) -> char {
    let mut chars = text.chars();
    let first = chars.next().expect("more of the template");
    *text = chars.as_str();
    first
}

fn hole(text: &mut &str) -> Part {
    match text.as_bytes()[0] {
        b'#' => {
            take(text);
            Part::Count
        }
        b'(' => {
            take(text);
            let mut params = Vec::new();
            while !text.starts_with('>') {
                params.push(parse(text));
            }
            take(text);
            let result = parse(text);
            assert_eq!(take(text), ')', "a function type ends");
            Part::Function(params, result)
        }
        b'[' => {
            take(text);
            let mut names = Vec::new();
            while !text.starts_with(']') {
                let name = take(text);
                assert_eq!(take(text), ':', "a name has a type");
                names.push((name, parse(text)));
                *text = text.trim_start();
            }
            take(text);
            Part::Expr(names, parse(text))
        }
        _ => Part::Expr(Vec::new(), parse(text)),
    }
}
