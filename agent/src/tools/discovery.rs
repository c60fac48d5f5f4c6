//! A few tools out of many: those whose words a mission uses.

use super::{Tool, ToolSet, Visibility};
use ptc_runtime::{Catalog, Entry, Origin};
use std::collections::{BTreeSet, HashSet};

/// Words of a mission that are looked at. A mission may hold whole documents.
const MAX_WORDS: usize = 400;

/// Words that say nothing about tools.
const EMPTY: &[&str] = &[
    "all", "and", "any", "are", "but", "can", "for", "from", "has", "have", "how", "into", "its", "not",
    "one", "our", "out", "please", "should", "that", "the", "their", "them", "then", "they", "this", "use",
    "using", "was", "what", "when", "where", "which", "who", "will", "with", "you", "your",
];

/// The tools a mission probably needs, at most `limit`, ranked as `apropos` ranks: same words before beginnings
/// before parts, names before descriptions. A tool that has no word of the mission is left out. All are
/// taken if there are no more than `limit`; private tools, which only preludes call, always come along.
///
/// ```
/// use ptc_agent::tools::{Tool, ToolSet, pick};
/// let all: ToolSet = [
///     Tool::described("get_expenses", "(quarter :string) -> [{total :float}]").description("Expenses of a quarter."),
///     Tool::described("send_mail", "(to :string, text :string) -> :bool").description("Sends a mail."),
///     Tool::described("list_holidays", "() -> [:string]").description("Public holidays."),
/// ].into_iter().collect();
/// let few = pick("Analyze travel expenses for Q3", &all, 2);
/// assert_eq!(few.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["get_expenses"]);
/// ```
pub fn pick(prompt: &str, tools: &ToolSet, limit: usize) -> ToolSet {
    let public = || tools.iter().filter(|tool| tool.visibility == Visibility::Public);
    if public().count() <= limit {
        return tools.clone();
    }
    let mut catalog = Catalog::default();
    catalog.add(public().map(entry));
    let found: HashSet<&str> =
        catalog.search(&query(prompt), limit).into_iter().map(|entry| entry.reference.as_str()).collect();
    let kept = |tool: &&Tool| tool.visibility == Visibility::Private || found.contains(tool.name.as_str());
    tools.iter().filter(kept).cloned().collect()
}

fn entry(tool: &Tool) -> Entry {
    let about = format!("{} {}", tool.summary().unwrap_or_default(), tool.signature_text());
    Entry::new(Origin::Upstream, "function", "tool", &tool.name, &about)
}

/// The words of a mission that may be those of a tool, each once, the plural without its ending.
fn query(prompt: &str) -> String {
    let words = prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut seen = BTreeSet::new();
    let mut kept: Vec<String> = Vec::new();
    for word in words.take(MAX_WORDS) {
        let lower = word.to_lowercase();
        let long = lower.chars().count();
        if long < 2 || (long == 2 && !lower.chars().any(char::is_numeric)) || EMPTY.contains(&lower.as_str())
        {
            continue;
        }
        let stem = match lower.strip_suffix('s') {
            Some(stem) if long > 3 && !stem.ends_with('s') => stem,
            _ => &lower,
        };
        if seen.insert(stem.to_string()) {
            kept.push(stem.to_string());
        }
    }
    kept.join(" ")
}
