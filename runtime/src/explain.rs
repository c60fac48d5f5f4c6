//! Additions to a fault's message from the source: the form that lacks a collection, and the called expression.

use ptc_bytecode::{Code, Diagnostic, Subject};

/// Maximum characters of source shown in a message.
const SHOWN: usize = 60;

/// Rewords the diagnostic in terms of the program.
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
    if let Some(Subject::Need { wanted, found, .. }) = diagnostic.subject.as_deref()
        && wanted == "a collection"
        && let Some(hint) = other_order(span.text(source), found)
    {
        diagnostic.hint = Some(hint);
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

/// Functions that take a function or a key before the collection.
const FUNCTION_FIRST: &[&str] = &[
    "map",
    "mapv",
    "mapcat",
    "map-indexed",
    "pmap",
    "keep",
    "keep-indexed",
    "filter",
    "filterv",
    "remove",
    "some",
    "every?",
    "not-any?",
    "not-every?",
    "reduce",
    "reductions",
    "run!",
    "take-while",
    "drop-while",
    "split-with",
    "partition-by",
    "sort-by",
    "group-by",
    "distinct-by",
    "sum-by",
    "avg-by",
    "min-by",
    "max-by",
];

/// Returns the call with its arguments reordered, if the value found in place of a collection shows that they are
/// swapped.
fn other_order(call: &str, found: &str) -> Option<String> {
    let parts = parts(call)?;
    let (name, args) = parts.split_first()?;
    let shown = |text: String| Some(text).filter(|text| text.chars().count() <= SHOWN);
    if *name == "apply" {
        let [f, args @ ..] = args else { return None };
        let fixed = shown(format!("(apply {f} [{}])", args.join(" ")))?;
        return Some(format!("the last argument of `apply` is a collection: write `{fixed}`"));
    }
    if !FUNCTION_FIRST.contains(name) || !matches!(found, "a function" | "a keyword") {
        return None;
    }
    match args {
        [function] => {
            let fixed = shown(format!("(->> xs ({name} {function}))"))?;
            Some(format!("the collection comes last: thread it with `->>`, as in `{fixed}`"))
        }
        [coll, between @ .., function] if !is_function(coll) => {
            let all = [&[*name, *function], between, &[*coll]].concat();
            let fixed = shown(format!("({})", all.join(" ")))?;
            Some(format!("the arguments are swapped: write `{fixed}`"))
        }
        _ => None,
    }
}

/// True if a form is visibly a function or key.
fn is_function(form: &str) -> bool {
    ["#(", "(fn", ":", "#'"].iter().any(|start| form.starts_with(start))
        || ptc_bytecode::lookup(form).is_some()
}

/// Returns the forms inside a list; None for other forms and lists too long to be shown.
fn parts(text: &str) -> Option<Vec<&str>> {
    const LONGEST: usize = 400;
    let mut rest = text.strip_prefix('(')?.strip_suffix(')').filter(|text| text.len() < LONGEST)?;
    let mut parts = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let end = form_end(rest);
        if end == 0 {
            return rest.is_empty().then_some(parts);
        }
        parts.push(&rest[..end]);
        rest = &rest[end..];
    }
}

/// Returns the first form inside a list, or the form itself; cut to fit a message.
fn first_form(text: &str) -> Option<String> {
    let inner = text.strip_prefix("#(").or_else(|| text.strip_prefix('('));
    let text = inner.unwrap_or(text).trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    let words: Vec<&str> = text[..form_end(text)].split_whitespace().collect();
    let shown = words.join(" ");
    if shown.is_empty() {
        return None;
    }
    Some(match shown.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown,
    })
}

/// Returns the end of the form that the text begins with.
fn form_end(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => quoted = true,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return at,
            ')' | ']' | '}' => depth -= 1,
            c if depth == 0 && (c.is_whitespace() || c == ',') => return at,
            _ => {}
        }
    }
    text.len()
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
