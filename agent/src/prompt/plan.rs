//! Plans as checklists in prompts.

use crate::definition::{PlanItem, StepState};
use std::fmt::Write;

/// Maximum characters shown of a report, and maximum reports that belong to no step. Programs write them.
const REPORT_CHARS: usize = 200;
const OTHERS: usize = 20;

/// Formats a plan: one line per step, with the report of its completion, now or before the mission; reports on steps
/// that are not in the plan follow. Empty without a plan and reports.
///
/// ```
/// use ptc_agent::{definition::PlanItem, prompt::plan_text};
/// let plan = PlanItem::list(["load", "sum"]);
/// let done = [("1".to_string(), "44 rows".to_string())];
/// assert_eq!(plan_text(&plan, &done), "Plan:\n- [x] 1: load (44 rows)\n- [ ] 2: sum");
/// ```
pub fn plan_text(plan: &[PlanItem], done: &[(String, String)]) -> String {
    let report = |id: &str| done.iter().rev().find(|(done, _)| done == id).map(|(_, text)| text);
    let mut text = String::new();
    if !plan.is_empty() {
        text.push_str("Plan:");
    }
    for item in plan {
        let is_done = report(&item.id).is_some() || item.state == StepState::Done;
        let tick = if is_done { 'x' } else { ' ' };
        let _ = write!(text, "\n- [{tick}] {}: {}", item.id, item.text);
        let came_of_it = report(&item.id).or(item.result.as_ref()).filter(|said| !said.trim().is_empty());
        let _ = match (came_of_it, is_done, item.state) {
            (Some(said), true, _) => write!(text, " ({})", line(said)),
            (Some(said), false, StepState::Failed) => write!(text, " (failed before: {})", line(said)),
            (None, false, StepState::Failed) => write!(text, " (failed before)"),
            _ => Ok(()),
        };
    }
    let others: Vec<&(String, String)> =
        done.iter().filter(|(id, _)| plan.iter().all(|item| item.id != *id)).collect();
    if !others.is_empty() {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{gap}Also done:");
        let hidden = others.len().saturating_sub(OTHERS);
        if hidden > 0 {
            let _ = write!(text, "\n- ({hidden} more)");
        }
        for (id, report) in &others[hidden..] {
            let _ = write!(text, "\n- {}: {}", line(id), line(report));
        }
    }
    text
}

/// Joins a program's text to one line.
fn line(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    ptc_contract::data::cut(&line, REPORT_CHARS)
}
