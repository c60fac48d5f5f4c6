//! History section of an issue: a list for people, and the same data in a comment for machines.

use super::checklist::blank_line;
use super::{Execution, MAX_HISTORY, PlanError, PlanErrorKind, StepReport};

const START: &str = "<!-- ptc:history:start -->";
const END: &str = "<!-- ptc:history:end -->";
const DATA: &str = "<!-- ptc:history [";

/// Maximum characters of an issue's text.
const MAX_BODY: usize = 65_536;
/// Maximum reports of one execution in an issue.
const MAX_REPORTS: usize = 40;
/// Maximum characters of one report.
const MAX_SUMMARY: usize = 500;
/// Maximum characters shown of one report.
const SHOWN: usize = 300;

/// History section of a text.
pub(super) struct HistoryBlock<'b> {
    pub start: usize,
    pub raw: &'b str,
}

impl HistoryBlock<'_> {
    /// Reads the executions; none if somebody damaged the section.
    pub fn read(&self) -> Vec<Execution> {
        let line = self.raw.lines().rev().find(|line| line.starts_with(DATA));
        let json =
            line.and_then(|line| line.strip_prefix("<!-- ptc:history ")?.trim_end().strip_suffix("-->"));
        let found = json.and_then(|json| serde_json::from_str::<Vec<Execution>>(json.trim()).ok());
        newest(found.unwrap_or_default())
    }
}

/// Finds the section in a text: from the last start before the last end, so that half a section swallows no other text.
pub(super) fn find(body: &str) -> Option<HistoryBlock<'_>> {
    let mut at = 0;
    let (mut open, mut found) = (None, None);
    for line in body.split_inclusive('\n') {
        let end = at + line.len();
        match line.trim_end() {
            START => open = Some(at),
            END => found = open.take().map(|start| (start, end)).or(found),
            _ => {}
        }
        at = end;
    }
    found.map(|(start, end)| HistoryBlock { start, raw: &body[start..end] })
}

/// Merges both histories, oldest first, without duplicates; ours also has what an issue had no room for.
pub(super) fn union(theirs: Vec<Execution>, ours: Vec<Execution>) -> Vec<Execution> {
    let same = |a: &Execution, b: &Execution| {
        (&a.at, &a.status, &a.agent, &a.trace_id) == (&b.at, &b.status, &b.agent, &b.trace_id)
    };
    let mut all = theirs;
    for execution in ours {
        match all.iter_mut().find(|known| same(known, &execution)) {
            Some(known) => *known = execution,
            None => all.push(execution),
        }
    }
    all.sort_by(|a, b| a.at.cmp(&b.at));
    newest(all)
}

fn newest(mut all: Vec<Execution>) -> Vec<Execution> {
    let over = all.len().saturating_sub(MAX_HISTORY);
    all.drain(..over);
    all
}

/// Returns the text with the section between `before` and `after`, with as much history as an issue holds.
pub(super) fn render(
    mut before: String,
    found: Option<&str>,
    after: &str,
    history: &[Execution],
    eol: &str,
) -> Result<String, PlanError> {
    if history.is_empty() {
        before.push_str(found.unwrap_or_default());
        before.push_str(after);
        return fits(before);
    }
    blank_line(&mut before, eol);
    let used = before.chars().count() + after.chars().count();
    let history: Vec<Execution> = history.iter().map(shortened).collect();
    // Binary search for the first execution from which on all fit.
    let (mut low, mut high) = (0, history.len());
    while low < high {
        let middle = low.midpoint(high);
        match used + section(&history, middle, eol).chars().count() {
            0..=MAX_BODY => high = middle,
            _ => low = middle + 1,
        }
    }
    if low < history.len() {
        before.push_str(&section(&history, low, eol));
    }
    before.push_str(after);
    fits(before)
}

/// Shortens an execution to the room of an issue.
fn shortened(execution: &Execution) -> Execution {
    let report = |report: &StepReport| StepReport {
        id: report.id.clone(),
        summary: start_of(&report.summary, MAX_SUMMARY),
        failed: report.failed,
    };
    Execution {
        at: execution.at.clone(),
        status: execution.status.clone(),
        agent: execution.agent.clone(),
        turns: execution.turns,
        steps: execution.steps.iter().take(MAX_REPORTS).map(report).collect(),
        trace_id: execution.trace_id.clone(),
    }
}

fn start_of(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

fn fits(body: String) -> Result<String, PlanError> {
    if body.chars().count() <= MAX_BODY {
        return Ok(body);
    }
    let message = format!("the text of the issue would have more than {MAX_BODY} characters; shorten it");
    Err(PlanError::new(PlanErrorKind::TooLarge, message))
}

fn section(history: &[Execution], from: usize, eol: &str) -> String {
    let mut lines = vec![START.to_string(), "## Execution history".to_string(), String::new()];
    if from > 0 {
        lines.push(format!("- {from} older"));
    }
    for execution in &history[from..] {
        let agent = execution.agent.as_ref().map(|agent| format!(" by {}", code(agent))).unwrap_or_default();
        let turns = match execution.turns {
            0 => String::new(),
            1 => ", 1 turn".to_string(),
            n => format!(", {n} turns"),
        };
        lines.push(format!("- {} {}{agent}{turns}", code(&execution.at), code(&execution.status)));
        lines.extend(execution.steps.iter().map(|report| {
            let failed = if report.failed { " failed" } else { "" };
            format!("  - {}{failed}: {}", code(&report.id), code(&report.summary))
        }));
    }
    let data = serde_json::to_string(&history[from..]).unwrap_or_default().replace('>', "\\u003e");
    lines.extend([String::new(), format!("<!-- ptc:history {data} -->"), END.to_string(), String::new()]);
    lines.join(eol)
}

/// Formats text as code, so that it contains no links, mentions or line ends.
fn code(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let flat = words.join(" ").replace('`', "'");
    if flat.is_empty() { "` `".to_string() } else { format!("`{}`", start_of(&flat, SHOWN)) }
}
