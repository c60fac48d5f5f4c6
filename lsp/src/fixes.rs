//! Findings as the protocol writes them, and the edits that mend them.

use crate::document::Document;
use crate::protocol::Range;
use ptc_bytecode::{Fix, Span};
use ptc_runtime::Diagnostic;
use serde_json::{Value, json};

const ERROR: u8 = 1;
const WARNING: u8 = 2;

/// Returns a finding. The hint belongs to the message, as on a terminal.
pub fn diagnostic(document: &Document, found: &Diagnostic) -> Value {
    let mut message = found.message.clone();
    if let Some(hint) = &found.hint {
        message += &format!("\nhint: {hint}");
    }
    json!({
        "range": range(document, found),
        "severity": if found.code.is_warning() { WARNING } else { ERROR },
        "code": found.code.label(),
        "source": "ptc",
        "message": message,
    })
}

/// Returns the place of a finding: its own, or the first line for the document as a whole.
fn range(document: &Document, found: &Diagnostic) -> Range {
    let whole = || {
        let line = document.text.lines().next().unwrap_or_default();
        Span::new(0, line.len())
    };
    document.range(found.span.unwrap_or_else(whole))
}

/// Returns an action for each of these findings that has a fix and touches the range.
pub fn actions(document: &Document, found: &[Diagnostic], wanted: Range) -> Vec<Value> {
    let touches = |range: Range| range.start <= wanted.end && wanted.start <= range.end;
    let action = |found: &Diagnostic| {
        let fix = found.fix.as_deref()?;
        if !touches(range(document, found)) && !touches(document.range(fix.span)) {
            return None;
        }
        let edit = json!({"range": document.range(fix.span), "newText": fix.text});
        Some(json!({
            "title": title(document, fix),
            "kind": "quickfix",
            "diagnostics": [diagnostic(document, found)],
            "isPreferred": true,
            "edit": {"changes": {&document.uri: [edit]}},
        }))
    };
    found.iter().filter_map(action).collect()
}

fn title(document: &Document, fix: &Fix) -> String {
    let old = fix.span.text(&document.text);
    match (old, &*fix.text) {
        ("", new) => format!("Insert `{new}`"),
        (old, "") => format!("Remove `{old}`"),
        (_, new) => format!("Change to `{new}`"),
    }
}
