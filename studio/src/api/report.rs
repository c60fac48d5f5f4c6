//! Errors and warnings as the page shows them.

use ptc_runtime::Diagnostic;
use serde_json::{Value, json};

/// Returns an error or warning: its parts, its text with the excerpt, and its place in UTF-16 units, by which the page
/// selects it.
pub fn diagnostic(found: &Diagnostic, source: &str) -> Value {
    let place = found.place(source);
    let units = |end: u32| {
        let mut end = (end as usize).min(source.len());
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        source[..end].encode_utf16().count()
    };
    json!({
        "label": found.code.label(),
        "reason": found.code.reason(),
        "warning": found.code.is_warning(),
        "message": found.message,
        "hint": found.hint,
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "range": found.span.map(|span| json!([units(span.start), units(span.end)])),
        "fix": found.fix.as_ref().map(|fix| json!([units(fix.span.start), units(fix.span.end), fix.text])),
        "frames": found.trace.as_ref().map_or_else(Vec::new, |trace| trace.lines(source)),
    })
}
