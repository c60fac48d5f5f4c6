//! The language in one card: made from the tables the compiler uses, so that it never lies.

use ptc_bytecode::{BUILTINS, FORMS};
use std::fmt::Write;
use std::sync::LazyLock;

const TEXT: &str = include_str!("../../prompts/reference.md");

/// Forms that older programs use, or that have a section of their own.
const UNTOLD: &[&str] =
    &["call", "memory/put", "memory/get", "task", "task-reset", "step-done", "lazy-seq", "defn-"];

/// Sections few programs need; `doc` and `apropos` find them.
const UNTOLD_SECTIONS: &[&str] = &["Internal", "Bits"];

/// The card of the language.
///
/// ```
/// let card = ptc_agent::prompt::reference_card();
/// assert!(card.contains("group-by") && card.contains("`->>`"));
/// ```
pub fn reference_card() -> &'static str {
    static CARD: LazyLock<String> =
        LazyLock::new(|| TEXT.trim().replace("{{forms}}", &forms()).replace("{{builtins}}", &builtins()));
    &CARD
}

fn forms() -> String {
    let names: Vec<String> =
        FORMS.iter().filter(|row| !UNTOLD.contains(&row.name)).map(|row| format!("`{}`", row.name)).collect();
    format!("Forms: {}", names.join(" "))
}

fn builtins() -> String {
    let mut text = String::new();
    let mut section = "";
    for row in BUILTINS {
        // Names ending in a quote are other spellings of the same; tools have a section of their own.
        if row.name.starts_with('%')
            || row.name.ends_with('\'')
            || row.name.starts_with("tool/")
            || UNTOLD_SECTIONS.contains(&row.section)
        {
            continue;
        }
        if row.section != section {
            section = row.section;
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = write!(text, "{gap}{section}:");
        }
        let _ = write!(text, " {}", row.name);
    }
    text
}
