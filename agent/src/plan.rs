//! Plans that outlive a mission: the steps of a longer piece of work, their states, and the history of work on them.
//!
//! A planning agent makes a plan with the tool [`create_plan`](crate::tools::create_plan); another agent gets its steps
//! as the option `plan`; reports with `(step-done id summary)` are [recorded](Plan::record). Between missions a plan is
//! a file ([`Plan::save`], [`Plan::load`]) or the checklist of an issue on GitHub, which people may edit meanwhile
//! ([`Plan::from_github_issue`], [`Plan::sync_to_github`]).
//!
//! ```
//! use ptc_agent::plan::{Execution, Plan, PlanStep, StepState};
//! let mut plan = Plan::new("Quarterly report", [
//!     PlanStep::new("load", "Load the orders").tool("get_orders"),
//!     PlanStep::new("sum", "Sum them by category"),
//! ]);
//! plan.record(Execution::new("2031-04-02T08:00:01Z", "ok").step("load", "44 rows"));
//! assert_eq!(plan.step("load").unwrap().state, StepState::Done);
//! assert_eq!(plan.remaining().map(|step| step.id.as_str()).collect::<Vec<_>>(), ["sum"]);
//!
//! // Another agent continues with it.
//! let agent = ptc_agent::Agent::builder().prompt("Follow the plan").plan(plan.items()).build()?;
//! assert_eq!(agent.options().plan[1].text, "Sum them by category");
//! # Ok::<(), ptc_agent::BuildError>(())
//! ```

mod checklist;
mod error;
mod file;
mod follow;
#[cfg(feature = "http")]
mod github;
mod history;
mod sink;
mod store;

pub use checklist::{merge, read, seen};
pub use error::{PlanError, PlanErrorKind};
pub use file::{FilePlans, MAX_FILE_BYTES};
pub use follow::FollowedPlan;
#[cfg(feature = "http")]
pub use github::{GitHub, GitHubPlans};
pub use sink::{MemoryPlans, PlanSink};
pub use store::{PlanFuture, PlanStore};

pub use crate::definition::StepState;

use crate::definition::PlanItem;
use crate::mission::Step;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Maximum steps of a plan.
pub const MAX_STEPS: usize = 1000;
/// Maximum executions that a plan keeps; the oldest are dropped first.
pub const MAX_HISTORY: usize = 200;
/// Maximum characters of an id, a title or a name.
const MAX_NAME: usize = 200;
/// Maximum characters of a task or a report.
const MAX_TEXT: usize = 4000;

/// A plan: tasks, step by step, and the history of work on them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Title of the plan.
    pub title: String,
    /// Goal of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Steps, in order.
    pub steps: Vec<PlanStep>,
    /// Executions, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Execution>,
    /// Issue that the plan came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueLink>,
}

/// Step of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    /// Id by which programs report the step.
    pub id: String,
    /// Task of the step.
    pub text: String,
    /// State of the step.
    #[serde(default)]
    pub state: StepState,
    /// Outcome, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Tools that the step needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// Execution of the plan: a mission that worked on it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Execution {
    /// Time as an instant in ISO 8601, so that sorting by text is sorting by time.
    pub at: String,
    /// End of the mission: `ok`, or the reason of a failure.
    pub status: String,
    /// Name of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Number of turns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub turns: u32,
    /// Reports on steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
    /// Trace of the mission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

/// Report on one step.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepReport {
    /// Id of the step.
    pub id: String,
    /// Outcome, as text.
    pub summary: String,
    /// Flag: the step was tried and failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
}

/// Issue that a plan came from, with its content at that time, to tell later changes by others.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueLink {
    /// Repository, as `owner/repo`.
    pub repo: String,
    /// Number of the issue.
    pub number: u64,
    /// Checklist when the issue was last read or written.
    #[serde(default)]
    pub seen: Vec<SeenStep>,
}

/// A line of a checklist as it was when last seen.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenStep {
    /// Id of the step.
    pub id: String,
    /// Text of the line.
    pub text: String,
    /// Flag: the line was ticked.
    pub done: bool,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn is_false(b: &bool) -> bool {
    !*b
}

impl PlanStep {
    /// Returns a pending step.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> PlanStep {
        PlanStep { id: id.into(), text: text.into(), ..PlanStep::default() }
    }

    /// Records a report on the step.
    fn take(&mut self, report: &StepReport) {
        self.state = if report.failed { StepState::Failed } else { StepState::Done };
        self.result = Some(report.summary.clone());
    }

    /// Adds a tool that the step needs.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> PlanStep {
        self.tools.push(name.into());
        self
    }
}

impl Execution {
    /// Returns an execution that ended at this instant, with this status.
    pub fn new(at: impl Into<String>, status: impl Into<String>) -> Execution {
        Execution { at: at.into(), status: status.into(), ..Execution::default() }
    }

    /// Returns the execution of a mission that ended at this instant: a step of the plan is done if a program reported
    /// it with `step-done`. Reports are kept as programs wrote them, so their content goes wherever the plan is kept.
    ///
    /// ```
    /// use ptc_agent::{run, tools::LlmRef, Agent, RunOptions};
    /// use ptc_model::Scripted;
    /// use ptc_agent::plan::{Execution, Plan, PlanStep};
    /// let mut plan = Plan::new("Report", [PlanStep::new("load", "Load the orders")]);
    /// let agent = Agent::builder().prompt("Follow the plan").plan(plan.items()).build()?;
    /// let model = Scripted::new(["```clojure\n(step-done \"load\" \"44 rows\") (return 44)\n```"]);
    /// let step = run(&agent, &RunOptions::new().llm(LlmRef::client(model))).unwrap();
    /// plan.record(Execution::of(&step, "2031-04-02T08:00:01Z"));
    /// assert_eq!(plan.remaining().count(), 0);
    /// assert_eq!(plan.history[0].status, "ok");
    /// # Ok::<(), ptc_agent::BuildError>(())
    /// ```
    pub fn of(step: &Step, at: impl Into<String>) -> Execution {
        let status = step.fail.as_ref().map_or("ok", |fail| fail.reason.as_str());
        let mut execution = Execution::new(at, status);
        for (id, summary) in &step.summaries {
            execution.steps.retain(|report| report.id != *id);
            execution = execution.step(id, summary);
        }
        execution.agent = step.name.clone();
        execution.turns = step.usage.turns;
        execution.trace_id = Some(step.trace_id.clone()).filter(|id| !id.is_empty());
        execution
    }

    /// Cuts everything that is longer than plans allow.
    fn shorten(&mut self) {
        self.steps.truncate(MAX_STEPS);
        self.steps.iter_mut().for_each(|report| report.summary = cut(&report.summary));
    }

    /// Adds a finished step.
    #[must_use]
    pub fn step(mut self, id: impl Into<String>, summary: impl Into<String>) -> Execution {
        self.steps.push(StepReport { id: id.into(), summary: summary.into(), failed: false });
        self
    }

    /// Adds a failed step.
    #[must_use]
    pub fn failed(mut self, id: impl Into<String>, why: impl Into<String>) -> Execution {
        self.steps.push(StepReport { id: id.into(), summary: why.into(), failed: true });
        self
    }
}

impl Plan {
    /// Returns a plan of these steps.
    pub fn new(title: impl Into<String>, steps: impl IntoIterator<Item = PlanStep>) -> Plan {
        Plan { title: title.into(), steps: steps.into_iter().collect(), ..Plan::default() }
    }

    /// Returns the steps for the option `plan`, with their states.
    pub fn items(&self) -> Vec<PlanItem> {
        let item = |step: &PlanStep| PlanItem {
            id: step.id.clone(),
            text: step.text.clone(),
            state: step.state,
            result: step.result.clone(),
        };
        self.steps.iter().map(item).collect()
    }

    /// Returns the step of that id.
    pub fn step(&self, id: &str) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// Returns the steps that are not done.
    pub fn remaining(&self) -> impl Iterator<Item = &PlanStep> {
        self.steps.iter().filter(|step| step.state != StepState::Done)
    }

    /// Adds an execution to the history, and its reports to the steps.
    pub fn record(&mut self, mut execution: Execution) {
        execution.shorten();
        for report in &execution.steps {
            if let Some(step) = self.steps.iter_mut().find(|step| step.id == report.id) {
                step.take(report);
            }
        }
        self.remember(execution);
    }

    /// Adds an execution to the history alone.
    fn remember(&mut self, execution: Execution) {
        self.history.push(execution);
        let over = self.history.len().saturating_sub(MAX_HISTORY);
        self.history.drain(..over);
    }

    /// Checks that the plan has a title, and steps with texts and unique ids.
    pub fn check(&self) -> Result<(), PlanError> {
        let wrong = |message: String| Err(PlanError::new(PlanErrorKind::Invalid, message));
        if self.title.trim().is_empty() || self.title.chars().count() > MAX_NAME {
            return wrong(format!("the title of a plan has 1 to {MAX_NAME} characters"));
        }
        if self.steps.len() > MAX_STEPS {
            return wrong(format!("the plan has {} steps, more than {MAX_STEPS}", self.steps.len()));
        }
        if self.history.len() > MAX_HISTORY {
            return wrong(format!("the plan has {} executions, more than {MAX_HISTORY}", self.history.len()));
        }
        let mut ids = HashSet::new();
        for (i, step) in self.steps.iter().enumerate() {
            let at = i + 1;
            if !is_id(&step.id) {
                return wrong(format!("step {at} needs an id on one line, such as \"load-rows\""));
            }
            if !ids.insert(step.id.as_str()) {
                return wrong(format!(
                    "step {at} has the id `{}` of an earlier step; ids are unique",
                    step.id
                ));
            }
            if step.text.trim().is_empty() || step.text.chars().count() > MAX_TEXT {
                return wrong(format!("step `{}` needs a text of 1 to {MAX_TEXT} characters", step.id));
            }
        }
        Ok(())
    }
}

/// Returns whether a text can be the id of a step.
fn is_id(id: &str) -> bool {
    let is_plain = !id.chars().any(char::is_control) && id.trim() == id;
    !id.is_empty() && id.chars().count() <= MAX_NAME && is_plain
}

/// Cuts a text to the length that plans allow.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT - 1) {
        Some((at, _)) if text[at..].chars().nth(1).is_some() => format!("{}…", &text[..at]),
        _ => text.to_string(),
    }
}
