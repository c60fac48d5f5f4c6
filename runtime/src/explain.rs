//! What the source can add to the message of a fault: the form a collection was missing in, and the
//! words that were called.

use ptc_bytecode::{Code, Diagnostic, Subject};

/// Characters of source shown in a message.
const SHOWN: usize = 60;

/// The diagnostic in the words of the program.
pub fn with_source(mut diagnostic: Diagnostic, source: &str) -> Diagnostic {
    let ran_away = matches!(
        diagnostic.code,
        Code::StackExceeded | Code::MemoryExceeded | Code::FuelExceeded | Code::Timeout
    );
    if ran_away && source.contains("(lazy-seq") {
        diagnostic.hint = Some(
            "`lazy-seq` is not lazy here: make a sequence without an end with `(iterate f x)`".to_string(),
        );
    }
    let Some(span) = diagnostic.span else { return diagnostic };
    let Some(called) = first_form(span.text(source)) else { return diagnostic };
    match diagnostic.subject.as_deref_mut() {
        Some(Subject::Callee { what, stands_first: true }) => {
            let is_literal = called.starts_with(|c: char| c.is_ascii_digit() || "\"-+".contains(c))
                && !called.starts_with("- ");
            if !is_literal {
                diagnostic.message = format!("`{called}` is {what}, not a function");
            }
        }
        Some(Subject::Need { is_named, .. }) if !*is_named => {
            *is_named = true;
            diagnostic.message = format!("`{called}`: {}", diagnostic.message);
        }
        _ => {}
    }
    let walks =
        matches!(&*called, "for" | "doseq" | "map" | "mapv" | "mapcat" | "filter" | "reduce" | "run!");
    let counts = matches!(diagnostic.subject.as_deref(), Some(Subject::Need { wanted, found, .. })
        if wanted == "a collection" && found == "a number");
    if walks && counts && diagnostic.hint.is_none() {
        diagnostic.hint = Some("`(range n)` counts up to a number".to_string());
    }
    diagnostic
}

/// The first form inside a list, or a form that is no list; cut to fit a message.
fn first_form(text: &str) -> Option<String> {
    let inner = text.strip_prefix("#(").or_else(|| text.strip_prefix('('));
    let is_gap = |c: char| c.is_whitespace() || c == ',';
    let text = inner.unwrap_or(text).trim_start_matches(is_gap);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => quoted = true,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => {
                end = at;
                break;
            }
            ')' | ']' | '}' => depth -= 1,
            c if depth == 0 && is_gap(c) => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let words: Vec<&str> = text[..end].split_whitespace().collect();
    let shown = words.join(" ");
    if shown.is_empty() {
        return None;
    }
    Some(match shown.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown,
    })
}

#[cfg(test)]
mod tests {
    use super::first_form;

    #[test]
    fn what_stands_first() {
        for (text, first) in [
            ("(total 1)", Some("total")),
            ("((:handler {}) 1)", Some("(:handler {})")),
            ("( f\n 1)", Some("f")),
            ("(\"a ( b\" 1)", Some("\"a ( b\"")),
            ("#(% 1)", Some("%")),
            ("3", Some("3")),
            ("()", None),
            ("", None),
        ] {
            assert_eq!(first_form(text).as_deref(), first, "{text}");
        }
        assert!(first_form(&format!("(({}) 1)", "x ".repeat(100))).unwrap().ends_with('…'));
    }
}
