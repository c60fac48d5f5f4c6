//! Comparisons that are true for no value: most often a letter is wrong, or a number is compared with a text.

use super::paths::steps;
use super::report::{MAX_NAME, origin};
use super::scan::Scan;
use ptc_bytecode::{Code, Diagnostic, nearest};
use ptc_compiler::Reads;
use ptc_compiler::reads::{Compared, Comparison, Key, Of, PathId, Relation, Step};
use ptc_vm::Value;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Maximum distinct values of a field that count as few.
const FEW: usize = 24;

/// Returns the path of the compared values, if they have one.
pub(super) fn path(comparison: &Comparison) -> Option<PathId> {
    match comparison {
        // A comparison with nil is reported without looking at the values.
        Comparison { constant: Compared::Nil, .. } => None,
        Comparison { of: Compared::Path(path), .. } => Some(*path),
        _ => None,
    }
}

/// Returns a warning about a comparison that is never true whatever the data.
pub(super) fn without_values(comparison: &Comparison) -> Option<Diagnostic> {
    let why = match (&comparison.of, &comparison.constant) {
        (_, Compared::Nil) => "nothing is more or less than nil",
        (Compared::Number, Compared::Text(_)) => "a number is compared with a text",
        _ => return None,
    };
    Some(warning(comparison, why))
}

fn warning(comparison: &Comparison, why: &str) -> Diagnostic {
    let what = match comparison.by {
        Relation::Equal => "these are never equal",
        Relation::Order => "this is never true",
    };
    Diagnostic::warning(Code::NeverEqual, comparison.span, format!("{what}: {why}"))
}

/// Summary of the values at a path.
#[derive(Default)]
struct Seen {
    /// Texts, each with true for a keyword.
    texts: BTreeSet<(bool, String)>,
    has_texts: bool,
    has_numbers: bool,
    /// True if there are other values, or the constant is among them.
    is_open: bool,
}

/// Returns a warning if all values are known and the comparison is true for none of them: they are of another kind,
/// or few and one is similar to the constant.
pub(super) fn with_values(
    reads: &Reads,
    comparison: &Comparison,
    path: PathId,
    scan: &mut Scan<'_>,
) -> Option<Diagnostic> {
    let steps = steps(reads, path);
    let is_private = |step: &&Step| matches!(step, Step::Field(key) if key.name.starts_with('_'));
    if steps.iter().any(is_private) {
        return None;
    }
    let mut seen = Seen::default();
    let visited = scan.visit(&steps, |heap, value| {
        match value {
            Value::Nil => {}
            Value::Int(_) | Value::Float(_) | Value::Big(_) => seen.has_numbers = true,
            Value::Str(text) | Value::Keyword(text) => {
                seen.has_texts = true;
                let text = heap.str(text);
                let is_keyword = matches!(value, Value::Keyword(_));
                if let Compared::Text(wanted) = &comparison.constant {
                    seen.is_open |= is_keyword == wanted.is_keyword && text == &*wanted.name;
                    if seen.texts.len() <= FEW && text.len() <= MAX_NAME {
                        seen.texts.insert((is_keyword, text.to_string()));
                    }
                }
            }
            _ => seen.is_open = true,
        }
        seen.is_open |= seen.has_numbers && seen.has_texts;
        seen.is_open |= match comparison.constant {
            Compared::Number => seen.has_numbers,
            // With `<` and the like, texts compare with any text; otherwise a text of only a few may be the
            // intended one.
            Compared::Text(_) => {
                seen.has_texts && (comparison.by == Relation::Order || seen.texts.len() > FEW)
            }
            Compared::Nil | Compared::Path(_) => true,
        };
        if seen.is_open { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if visited.is_err() || seen.is_open || !(seen.has_numbers || seen.has_texts) {
        return None;
    }
    let from = origin(reads, &[Of::Path(path)]);
    let from = from.split_once(' ').map_or("", |(_, from)| from);
    match &comparison.constant {
        Compared::Number => {
            let told = warning(comparison, &format!("every value {from} is a text, and none a number"));
            Some(told.hint(
                "compare it with a text, or make numbers of the values with `parse-long` or `parse-double`",
            ))
        }
        Compared::Text(_) if seen.has_numbers => {
            let told = warning(comparison, &format!("every value {from} is a number, and none a text"));
            Some(told.hint("compare it with a number"))
        }
        Compared::Text(wanted) => {
            // Most often a keyword is compared with strings, or the other way round.
            let other = seen.texts.iter().find(|(_, text)| *text == *wanted.name);
            let near = match other {
                Some(other) => other,
                None => {
                    let near = nearest(&wanted.name, seen.texts.iter().map(|(_, text)| text.as_str()))?;
                    seen.texts.iter().find(|(_, text)| text == near)?
                }
            };
            let near = Key { name: near.1.as_str().into(), is_keyword: near.0 };
            let told = warning(comparison, &format!("no value {from} is `{wanted}`"));
            Some(told.suggest(&near.to_string()))
        }
        Compared::Nil | Compared::Path(_) => None,
    }
}
