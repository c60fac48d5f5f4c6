//! A few tools out of many: those whose words a mission uses.

use super::{Tool, ToolSet, Visibility};
use crate::mission::{Fail, Step};
use crate::{Agent, RunOptions};
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

/// Missions over more tools than a model should read about: each gets the few it probably needs.
///
/// ```
/// use ptc_agent::{tools::{LlmRef, Tool, ToolDiscovery, ToolSet}, RunOptions};
/// use ptc_model::Scripted;
/// let all: ToolSet = (0..50)
///     .map(|n| Tool::new(format!("sensor_{n}"), move |_, _| Ok(n)).description("Reads a sensor."))
///     .chain([Tool::new("get_expenses", |_, _| Ok(vec![120, 80])).description("Expenses of a quarter.")])
///     .collect();
/// let model = Scripted::new(["(return (reduce + (tool/get_expenses {})))"]);
/// let run = RunOptions::new().llm(LlmRef::client(model.clone()));
/// let step = ToolDiscovery::new(all).limit(8).run("Sum up the expenses", &run).unwrap();
/// assert_eq!(step.get::<i64>().unwrap(), 200);
/// assert!(!model.requests()[0].system.contains("sensor_7"));
/// ```
#[derive(Clone)]
pub struct ToolDiscovery {
    tools: ToolSet,
    limit: usize,
}

impl ToolDiscovery {
    /// Over these tools, eight of which a mission gets.
    pub fn new(tools: ToolSet) -> ToolDiscovery {
        ToolDiscovery { tools, limit: 8 }
    }

    /// So many.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> ToolDiscovery {
        self.limit = limit;
        self
    }

    /// Runs a mission with the tools that [`pick`] takes for it. [`RunOptions::changing`] sets other options of
    /// the agent.
    pub fn run(&self, prompt: &str, options: &RunOptions) -> Result<Step, Box<Step>> {
        let few = pick(prompt, &self.tools, self.limit);
        let builder =
            few.iter().cloned().fold(Agent::builder().prompt(prompt), |agent, tool| agent.tool(tool));
        match builder.build() {
            Ok(agent) => crate::run(&agent, options),
            Err(error) => Err(Step::failing(Fail::new(error.reason.name(), error.message))),
        }
    }
}

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
