//! Hover: what `ptc doc` says about the name under the pointer.

use crate::catalogue::entry_of;
use crate::document::Document;
use crate::neighbours::Neighbours;
use crate::project::Project;
use ptc_bytecode::Span;
use ptc_compiler::names::Meaning;
use ptc_compiler::{PieceKind, pieces};
use ptc_runtime::Entry;
use serde_json::{Value, json};

/// Returns the documentation of the name at a byte of the document, or null.
pub fn hover(
    document: &mut Document,
    offset: u32,
    markdown: bool,
    project: &Project,
    beside: &mut Neighbours,
) -> Value {
    if document.is_too_large(project) {
        return Value::Null;
    }
    let Some(span) = symbol_at(&document.text, offset) else { return Value::Null };
    let found = document.names(project).at(offset).map(|name| name.meaning);
    let contents = match found {
        Some(Meaning::Local(bound)) => {
            let line = document.range(bound).start.line + 1;
            let text = format!("`{}` is a local, bound in line {line}", bound.text(&document.text));
            Some(contents(text.clone(), text, markdown))
        }
        Some(Meaning::Definition(defined)) => {
            let names = document.names(project);
            let definition = names.definitions().iter().find(|known| known.name_span == defined);
            definition.map(|definition| page(&entry_of(definition), markdown))
        }
        None => {
            let name = span.text(&document.text).to_string();
            let full = document.names(project).in_full(&name);
            let catalog = document.catalogue(project, beside);
            catalog.find(&full).map(|entry| page(entry, markdown))
        }
    };
    match contents {
        Some(contents) => json!({"contents": contents, "range": document.range(span)}),
        None => Value::Null,
    }
}

/// Returns the name at a byte, or just before it, without a `#'` or quote.
pub fn symbol_at(text: &str, offset: u32) -> Option<Span> {
    let all = pieces(text);
    let after = all.partition_point(|piece| piece.span.start <= offset);
    let is_name = |piece: &&ptc_compiler::Piece| {
        // Constants such as `##Inf` are numbers, and documented as well.
        matches!(piece.kind, PieceKind::Symbol | PieceKind::Number) && offset <= piece.span.end
    };
    let mut span = all[..after].iter().rev().take(2).find(is_name)?.span;
    if span.text(text).starts_with("#'") {
        span.start += 2;
    }
    Some(span)
}

/// Returns the page of an entry.
pub fn page(entry: &Entry, markdown: bool) -> Value {
    contents(entry.page(str::to_string), marked(entry), markdown)
}

fn contents(plain: String, marked: String, markdown: bool) -> Value {
    match markdown {
        true => json!({"kind": "markdown", "value": marked}),
        false => json!({"kind": "plaintext", "value": plain}),
    }
}

/// Returns the page of an entry in Markdown.
fn marked(entry: &Entry) -> String {
    let code = |text: &str| format!("```clojure\n{}\n```\n", text.replace("```", "` ` `"));
    let mut out = code(&entry.signatures.join("\n"));
    if !entry.description.is_empty() {
        out += &format!("\n{}\n", escaped(&entry.description));
    }
    if !entry.example.is_empty() {
        out += &format!("\n{}", code(&entry.example));
    }
    out + &format!("\n{}\n", escaped(&entry.place()))
}

/// Returns text in which Markdown shows every character. Preludes may come from anywhere, and so do their texts: no
/// link, image or element of them is drawn.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_code = false;
    // A backquote without its partner would make code of the rest.
    let is_paired = text.matches('`').count().is_multiple_of(2);
    for c in text.chars() {
        if c == '`' && is_paired {
            is_code = !is_code;
        } else if !is_code && "\\`*_{}[]<>()#+!|~&".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escaped, symbol_at};

    #[test]
    fn names_at_places() {
        let text = "(str/join #'x \"map\" ; map\n :map)";
        let at = |offset| symbol_at(text, offset).map(|span| span.text(text));
        assert_eq!(
            (at(1), at(5), at(9), at(10)),
            (Some("str/join"), Some("str/join"), Some("str/join"), Some("x"))
        );
        assert_eq!((at(0), at(13), at(16), at(23), at(29)), (None, Some("x"), None, None, None));
    }

    #[test]
    fn texts_of_preludes_are_no_markup() {
        assert_eq!(escaped("![x](http://h) <b> `a*b` *"), "\\!\\[x\\]\\(http://h\\) \\<b\\> `a*b` \\*");
        assert_eq!(escaped("`[x](y)"), "\\`\\[x\\]\\(y\\)");
    }
}
