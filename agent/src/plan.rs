//! Plans that outlive a mission: the steps of a longer piece of work, how far they are, and what was done
//! about them when.
//!
//! A planning agent makes one with the tool [`create_plan`](crate::tools::create_plan); another gets its steps
//! as the option `plan`; what it reports with `(step-done id summary)` is [recorded](Plan::record). Between
//! missions a plan is a file ([`Plan::save`], [`Plan::load`]) or the checklist of an issue on GitHub, which
//! people may edit meanwhile ([`Plan::from_github_issue`], [`Plan::sync_to_github`]).
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
//! // Another agent goes on with it.
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

/// Steps a plan may have.
pub const MAX_STEPS: usize = 1000;
/// Executions a plan keeps; the oldest go first.
pub const MAX_HISTORY: usize = 200;
/// Characters of an id, a title and a name.
const MAX_NAME: usize = 200;
/// Characters of what is to be done, and of what was.
const MAX_TEXT: usize = 4000;

/// A plan: what is to be done, step by step, and what was.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What it is called.
    pub title: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
    /// What was done about it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Execution>,
    /// The issue it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueLink>,
}

/// One step of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    /// What programs mark it by.
    pub id: String,
    /// What is to be done.
    pub text: String,
    /// How far it is.
    #[serde(default)]
    pub state: StepState,
    /// What came of it, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Tools it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// One time the plan was worked on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Execution {
    /// When, as an instant in ISO 8601: sorting by text is sorting by time.
    pub at: String,
    /// How it ended: `ok`, or the reason of a failure.
    pub status: String,
    /// Which agent worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How many turns it took.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub turns: u32,
    /// What was reported as done, by step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
    /// The trace of the mission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

/// What was reported of one step.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepReport {
    /// The step.
    pub id: String,
    /// What came of it.
    pub summary: String,
    /// Whether it was tried in vain.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
}

/// The issue a plan came from, and what it said then: what differs from that was changed by somebody else.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueLink {
    /// `owner/repo`
    pub repo: String,
    /// The number of the issue.
    pub number: u64,
    /// Its checklist when it was last read or written.
    #[serde(default)]
    pub seen: Vec<SeenStep>,
}

/// A line of a checklist as it was.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenStep {
    /// The step.
    pub id: String,
    /// What it said.
    pub text: String,
    /// Whether it was ticked.
    pub done: bool,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn is_false(b: &bool) -> bool {
    !*b
}

impl PlanStep {
    /// A step that is to be done.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> PlanStep {
        PlanStep { id: id.into(), text: text.into(), ..PlanStep::default() }
    }

    /// Notes what was reported of it.
    fn take(&mut self, report: &StepReport) {
        self.state = if report.failed { StepState::Failed } else { StepState::Done };
        self.result = Some(report.summary.clone());
    }

    /// The same with one more tool it needs.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> PlanStep {
        self.tools.push(name.into());
        self
    }
}

impl Execution {
    /// Work that ended like this at this instant.
    pub fn new(at: impl Into<String>, status: impl Into<String>) -> Execution {
        Execution { at: at.into(), status: status.into(), ..Execution::default() }
    }

    /// What a mission did that ended at this instant: a step of the plan is done if a program said so with
    /// `step-done`. Reports are as programs wrote them, so what is in them goes wherever the plan is kept.
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

    /// Cuts what is longer than plans hold.
    fn shorten(&mut self) {
        self.steps.truncate(MAX_STEPS);
        self.steps.iter_mut().for_each(|report| report.summary = cut(&report.summary));
    }

    /// The same with a step that was done.
    #[must_use]
    pub fn step(mut self, id: impl Into<String>, summary: impl Into<String>) -> Execution {
        self.steps.push(StepReport { id: id.into(), summary: summary.into(), failed: false });
        self
    }

    /// The same with a step that was tried in vain.
    #[must_use]
    pub fn failed(mut self, id: impl Into<String>, why: impl Into<String>) -> Execution {
        self.steps.push(StepReport { id: id.into(), summary: why.into(), failed: true });
        self
    }
}

impl Plan {
    /// A plan of these steps.
    pub fn new(title: impl Into<String>, steps: impl IntoIterator<Item = PlanStep>) -> Plan {
        Plan { title: title.into(), steps: steps.into_iter().collect(), ..Plan::default() }
    }

    /// The steps as the option `plan` takes them, with how far they are.
    pub fn items(&self) -> Vec<PlanItem> {
        let item = |step: &PlanStep| PlanItem {
            id: step.id.clone(),
            text: step.text.clone(),
            state: step.state,
            result: step.result.clone(),
        };
        self.steps.iter().map(item).collect()
    }

    /// The step of that id.
    pub fn step(&self, id: &str) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// The steps that are not done.
    pub fn remaining(&self) -> impl Iterator<Item = &PlanStep> {
        self.steps.iter().filter(|step| step.state != StepState::Done)
    }

    /// Adds what was done to the history, and to the steps it was done about.
    pub fn record(&mut self, mut execution: Execution) {
        execution.shorten();
        for report in &execution.steps {
            if let Some(step) = self.steps.iter_mut().find(|step| step.id == report.id) {
                step.take(report);
            }
        }
        self.remember(execution);
    }

    /// Adds what was done to the history alone.
    fn remember(&mut self, execution: Execution) {
        self.history.push(execution);
        let over = self.history.len().saturating_sub(MAX_HISTORY);
        self.history.drain(..over);
    }

    /// Whether it is well formed: it has a title, and steps with texts and ids of their own.
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

/// Whether a text can name a step.
fn is_id(id: &str) -> bool {
    let is_plain = !id.chars().any(char::is_control) && id.trim() == id;
    !id.is_empty() && id.chars().count() <= MAX_NAME && is_plain
}

/// A text that is not longer than plans hold.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT - 1) {
        Some((at, _)) if text[at..].chars().nth(1).is_some() => format!("{}…", &text[..at]),
        _ => text.to_string(),
    }
}
