//! Reference card of the language, generated from the tables that the compiler uses, so that it is always correct.

use crate::tools::Tool;
use ptc_bytecode::{BUILTINS, FORMS};
use std::fmt::Write;
use std::sync::LazyLock;

const COMPACT: &str = include_str!("../../prompts/compact.md");
const TEXT: &str = include_str!("../../prompts/reference.md");

/// Forms left out: those for older programs, and those with a separate section.
const UNTOLD: &[&str] = &[
    "call",
    "memory/put",
    "memory/get",
    "task",
    "task-reset",
    "step-done",
    "lazy-seq",
    "defn-",
    "var",
    "ns",
    "require",
];

/// Sections left out because few programs need them; `doc` and `apropos` find them.
const UNTOLD_SECTIONS: &[&str] = &["Internal", "Bits"];

/// Builtins left out in favour of those that models ask for more often: aliases, always false, or rarely used.
#[rustfmt::skip]
const UNTOLD_BUILTINS: &[&str] = &[
    ".getMessage",
    ".getCause",
    ".getData",
    "RuntimeException.",
    "IllegalArgumentException.",
    "IllegalStateException.",
    "ArithmeticException.",
    "UnsupportedOperationException.",
    "rational?", "decimal?", "ratio?", "map-entry?", "indexed?", "reversible?", "counted?", "any?", "unreduced",
    "ensure-reduced", "completing", "eduction", "str/re-quote-replacement", "parse-uuid", "Math/log1p", "Math/expm1",
    "Math/sinh", "Math/cosh", "Math/tanh", "Math/copySign", "Math/rint", "Math/nextUp", "Math/nextDown", "Math/ceilDiv",
    ".plusMillis", ".minusMillis", ".compareToIgnoreCase", ".stripLeading", ".stripTrailing", "Float/parseFloat",
    "swap-vals!", "reset-vals!", "compare-and-set!", "volatile!", "volatile?", "vreset!", "vswap!", "postwalk-replace",
    "transient", "persistent!", "conj!", "assoc!", "dissoc!", "disj!", "pop!",
    "prewalk-replace", "trampoline", "nnext", "Long/valueOf", "Character/getNumericValue", "Integer/toBinaryString",
];

/// Returns the reference card of the language.
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

/// Builtins that most short programs use; the rest is found with `doc` and `apropos`.
const OFTEN: &[&str] = &[
    "map",
    "filter",
    "remove",
    "reduce",
    "group-by",
    "frequencies",
    "sort-by",
    "take",
    "count",
    "first",
    "get",
    "assoc",
    "merge",
    "keys",
    "vals",
    "distinct",
    "str",
    "str/includes?",
    "str/split",
    "pmap",
    "doc",
    "apropos",
];

/// Forms that most short programs use.
const OFTEN_FORMS: &[&str] =
    &["let", "if", "when", "cond", "fn", "defn", "def", "->", "->>", "for", "loop", "recur"];

/// Returns the short reference card with the tools that programs may call, for agents that answer in text.
///
/// ```
/// let card = ptc_agent::prompt::compact_card(std::iter::empty());
/// assert!(card.contains("full_result_cached") && card.contains("group-by"));
/// ```
pub fn compact_card<'t>(tools: impl Iterator<Item = &'t Tool>) -> String {
    static CARD: LazyLock<String> = LazyLock::new(|| {
        // Names that the tables lack are dropped, so that the card is never wrong.
        let builtins: Vec<&str> =
            OFTEN.iter().copied().filter(|name| BUILTINS.iter().any(|row| row.name == *name)).collect();
        let forms: Vec<&str> =
            OFTEN_FORMS.iter().copied().filter(|name| FORMS.iter().any(|row| row.name == *name)).collect();
        COMPACT.trim().replace("{{forms}}", &forms.join(" ")).replace("{{builtins}}", &builtins.join(" "))
    });
    let lines: Vec<String> = tools
        .map(|tool| {
            let args = tool.signature.iter().flat_map(|signature| &signature.params);
            let args: Vec<String> = args.map(|param| format!(":{} …", param.name)).collect();
            let summary = tool.summary().unwrap_or_default();
            let summary = summary.lines().next().unwrap_or_default();
            let gap = if summary.is_empty() { "" } else { " ; " };
            let call = format!("(tool/{} {{{}}})", tool.name, args.join(" "));
            let entry = format!("- {call} {}{gap}{summary}", tool.signature_text());
            std::iter::once(entry).chain(super::tools::param_lines(tool)).collect::<Vec<_>>().join("\n  ")
        })
        .collect();
    match lines.is_empty() {
        true => CARD.clone(),
        false => format!("{}\n\nTools for programs:\n{}", *CARD, lines.join("\n")),
    }
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
        // Names ending in a quote are alternative spellings; tools have a section of their own.
        if row.name.starts_with('%')
            || row.name.ends_with('\'')
            || row.name.starts_with("tool/")
            || UNTOLD_BUILTINS.contains(&row.name)
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
