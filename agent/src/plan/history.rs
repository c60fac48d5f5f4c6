//! The section of an issue that tells what was done: a list for people, and the same in a comment for us.

use super::checklist::blank_line;
use super::{Execution, MAX_HISTORY, PlanError, PlanErrorKind, StepReport};

const START: &str = "<!-- ptc:history:start -->";
const END: &str = "<!-- ptc:history:end -->";
const DATA: &str = "<!-- ptc:history [";

/// Characters the text of an issue may have.
const MAX_BODY: usize = 65_536;
/// Reports of one execution that an issue tells of.
const MAX_REPORTS: usize = 40;
/// Characters of each.
const MAX_SUMMARY: usize = 500;
/// Characters of each that are shown.
const SHOWN: usize = 300;

/// The section as it was found.
pub(super) struct HistoryBlock<'b> {
    pub start: usize,
    pub raw: &'b str,
}

impl HistoryBlock<'_> {
    /// What it tells; nothing if somebody damaged it.
    pub fn read(&self) -> Vec<Execution> {
        let line = self.raw.lines().rev().find(|line| line.starts_with(DATA));
        let json =
            line.and_then(|line| line.strip_prefix("<!-- ptc:history ")?.trim_end().strip_suffix("-->"));
        let found = json.and_then(|json| serde_json::from_str::<Vec<Execution>>(json.trim()).ok());
        newest(found.unwrap_or_default())
    }
}

/// The section in a text: from the last start before the last end, so that half a section costs
/// nobody their words.
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

/// Both, oldest first, each once; ours has what an issue had no room for.
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

/// The text with the section between `before` and `after`, with as much history as an issue holds.
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
    // The first execution from which on all fit.
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

/// As much of an execution as an issue has room for.
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

/// As code: nothing in it is a link, calls anybody, or ends a line.
fn code(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let flat = words.join(" ").replace('`', "'");
    if flat.is_empty() { "` `".to_string() } else { format!("`{}`", start_of(&flat, SHOWN)) }
}
