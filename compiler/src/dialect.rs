//! Hints for programs in other languages: a line of JavaScript, Python or JSON and its counterpart in PTC-Lisp.
//!
//! Consulted only after a program was refused, so a line that happens to look foreign costs nothing.

use ptc_bytecode::{Code, Diagnostic};

/// Maximum characters of a suggested rewrite.
const SHOWN: usize = 80;

/// Replaces the errors by a hint if the first of them is in a line of another language; the others follow from it.
pub(crate) fn explain(source: &str, mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_told = |e: &&Diagnostic| {
        matches!(
            e.code,
            Code::ParseError
                | Code::UnboundVar
                | Code::InvalidForm
                | Code::InvalidArity
                | Code::InvalidThreadForm
        )
    };
    let starts = errors.iter().filter(is_told).filter_map(|e| e.span).map(|span| span.start as usize);
    let starts: Vec<usize> = starts.collect();
    // The map around a colon is reported first, but the colon says more.
    let colon = starts.iter().copied().find(|at| is_json(source, *at));
    let Some(at) = colon.or_else(|| starts.iter().copied().min()) else { return errors };
    let Some(hint) = foreign(source, at) else { return errors };
    if let Some(first) = errors.iter().position(|e| e.span.is_some_and(|span| span.start as usize == at)) {
        let first = errors.swap_remove(first);
        errors = vec![first.hint(hint)];
    }
    errors
}

/// Returns the hint for an error at this place, if the line around it is in another language.
fn foreign(source: &str, at: usize) -> Option<String> {
    let (before, after) = (source.get(..at)?, source.get(at..)?);
    if is_json(source, at) {
        return Some(format!("this looks like JSON: write {}, without colons", json(source)));
    }
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = source[start..].lines().next()?.trim();
    if let Some(hint) = definition(line).or_else(|| function(line)).or_else(|| repetition(line)) {
        return Some(hint);
    }
    let is_end = |c: char| c.is_whitespace() || "()[]{},;\"".contains(c);
    if let Some(key) = after.split(is_end).next()?.strip_suffix(':').filter(|key| is_name(key)) {
        return Some(format!("this looks like JavaScript or YAML: write {{:{} value}}", dashed(key)));
    }
    call(line)
}

/// True if a colon after a JSON key is here.
fn is_json(source: &str, at: usize) -> bool {
    source.get(at..).is_some_and(|after| after.starts_with(':')) && source[..at].trim_end().ends_with('"')
}

/// Translates the source if it is a short line of JSON; otherwise returns an example.
fn json(source: &str) -> String {
    let text = source.trim();
    let is_short = text.len() <= SHOWN && !text.contains(['\n', '\\']) && text.starts_with(['{', '[']);
    match is_short {
        true => text.replace("\":", "\"").replace("null", "nil"),
        false => "{\"key\" value}".to_string(),
    }
}

/// Translates `x = 5`, `const x = 1;`, `let x = 5`.
fn definition(line: &str) -> Option<String> {
    let keyword = ["const ", "let ", "var "].into_iter().find(|keyword| line.starts_with(keyword));
    let (name, value) = line[keyword.map_or(0, str::len)..].split_once('=')?;
    let name = name.trim();
    if !is_name(name) || value.starts_with(['=', '>']) {
        return None;
    }
    let value = value.trim().trim_end_matches(';').trim_end();
    let is_text = value.starts_with('"') && value.ends_with('"') && value.matches('"').count() == 2;
    let is_plain = value.parse::<f64>().is_ok() || is_name(value) || is_text;
    let value = if is_plain && value.len() <= SHOWN { value } else { "…" };
    let (language, name) =
        (if keyword.is_some() { "JavaScript" } else { "JavaScript or Python" }, dashed(name));
    Some(format!("this looks like {language}: write (def {name} {value}), or (let [{name} {value}] …)"))
}

/// Translates `def f(x):`, `function f(x) {`.
fn function(line: &str) -> Option<String> {
    let (language, rest) = match (line.strip_prefix("def "), line.strip_prefix("function ")) {
        (Some(rest), _) => ("Python", rest),
        (None, Some(rest)) => ("JavaScript", rest),
        (None, None) => return None,
    };
    let (name, rest) = rest.split_once('(')?;
    let (params, _) = rest.split_once(')')?;
    let name = Some(name.trim()).filter(|name| is_name(name))?;
    // The text after a name is its type or default.
    let plain = |param: &str| dashed(param.trim().split([':', '=', ' ']).next().unwrap_or_default());
    let params: Vec<String> = params.split(',').map(plain).filter(|param| is_name(param)).collect();
    Some(format!("this looks like {language}: write (defn {} [{}] …)", dashed(name), params.join(" ")))
}

/// Translates `for x in xs:`, `for (const x of xs) {`.
fn repetition(line: &str) -> Option<String> {
    let rest = line.strip_prefix("for ")?.trim_start_matches('(');
    let rest = ["const ", "let ", "var "].into_iter().find_map(|k| rest.strip_prefix(k)).unwrap_or(rest);
    let (name, rest) = rest.split_once(" in ").or_else(|| rest.split_once(" of "))?;
    let coll = rest.trim_end_matches(['{', ' ']).trim_end_matches([':', ')']).trim();
    let coll = if is_name(coll) { dashed(coll) } else { "xs".to_string() };
    let name = Some(name.trim()).filter(|name| is_name(name))?;
    Some(format!("this looks like Python or JavaScript: write (for [{} {coll}] …)", dashed(name)))
}

/// Translates `f(x, y)`: in PTC-Lisp the parenthesis comes before the name.
fn call(line: &str) -> Option<String> {
    let line = line.trim_end_matches(';');
    let (name, rest) = line.split_once('(')?;
    let args = rest.strip_suffix(')')?;
    if !is_name(name) || args.contains(['(', ')', '[', '{', '=']) || args.len() > SHOWN {
        return None;
    }
    let args: Vec<&str> = args.split(',').map(str::trim).filter(|arg| !arg.is_empty()).collect();
    let call = [&[&*dashed(name)], &args[..]].concat().join(" ");
    Some(format!("this looks like JavaScript or Python: write ({call})"))
}

/// True if this is a name in most languages.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Spells a name with dashes, as in PTC-Lisp.
fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::foreign;

    #[test]
    fn lines_of_other_languages() {
        for (source, at, wanted) in [
            ("x = 5", 0, "write (def x 5), "),
            ("const unit_price = 1;", 0, "JavaScript: write (def unit-price 1), "),
            ("let x = \"a b\"", 4, "write (def x \"a b\"), "),
            ("let x = f(y)", 4, "write (def x …), "),
            ("(def a 1)\ny = [1, 2]", 10, "write (def y …), "),
            ("{\"a\": 1, \"b\": null}", 4, "JSON: write {\"a\" 1, \"b\" nil}, "),
            ("{a: 1}", 1, "{:a value}"),
            ("def f(x, y=1):\n  return x", 8, "Python: write (defn f [x y] …)"),
            ("function area(w, h) {", 0, "JavaScript: write (defn area [w h] …)"),
            ("for x in rows:", 9, "write (for [x rows] …)"),
            ("len(xs)", 0, "write (len xs)"),
        ] {
            let hint = foreign(source, at).unwrap_or_default();
            assert!(hint.contains(wanted), "{source}: {hint}");
        }
    }

    #[test]
    fn programs_of_ours_are_not_foreign() {
        for source in ["(= x 5)", "(foo (bar 1))", "x", "(let [x 1] y)", "#(foo %)", "", "a => b", "x == 1"] {
            assert_eq!(foreign(source, 0), None, "{source}");
        }
    }
}
