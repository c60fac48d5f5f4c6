//! Plans that missions follow: progress is written to the file as soon as it is reported.

use super::{Execution, Plan, PlanError, PlanErrorKind, PlanStep, StepReport, cut};
use crate::RunOptions;
use crate::mission::Step;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Status of an execution whose mission has not ended, or whose process died.
const UNFINISHED: &str = "unfinished";

/// A plan in a file, kept up to date by the mission that follows it.
///
/// After each turn, the steps that it reported are written, atomically. If somebody else changed the file meanwhile,
/// their changes win, also on steps that the mission did; reports that could not be recorded become warnings of the
/// mission. A file that is deleted or no longer a plan is left as it is.
///
/// ```
/// use ptc_agent::plan::{FollowedPlan, Plan, PlanStep};
/// use ptc_agent::{Agent, RunOptions, run, tools::LlmRef};
/// use ptc_model::Scripted;
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("orders.json");
/// Plan::new("Orders", [PlanStep::new("load", "Load them"), PlanStep::new("sum", "Sum them")]).save(&path)?;
///
/// let plan = FollowedPlan::open(&path)?;
/// let model = Scripted::new(["(step-done \"load\" \"44 rows\") (return 44)"]);
/// let options = plan.follow(RunOptions::new().llm(LlmRef::client(model)));
/// let step = run(&Agent::builder().prompt("Follow the plan").build()?, &options).unwrap();
/// plan.finish(&step)?;
/// assert_eq!(Plan::load(&path)?.step("load").unwrap().result.as_deref(), Some("44 rows"));
/// assert_eq!(Plan::load(&path)?.history[0].status, "ok");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FollowedPlan(Arc<Mutex<Followed>>);

struct Followed {
    path: PathBuf,
    /// Plan as it was last read or written.
    plan: Plan,
    /// Bytes of the file at that time.
    seen: Vec<u8>,
    /// Current execution, so far.
    execution: Execution,
    /// Reports that are not in the file yet.
    unwritten: Vec<StepReport>,
}

impl FollowedPlan {
    /// Opens the plan of this file.
    pub fn open(path: impl AsRef<Path>) -> Result<FollowedPlan, PlanError> {
        let path = path.as_ref().to_path_buf();
        let seen = Plan::bytes_of(&path)?;
        let plan = Plan::of_bytes(&seen, &path)?;
        let execution = Execution::new(jiff::Timestamp::now().to_string(), UNFINISHED);
        let followed = Followed { path, plan, seen, execution, unwritten: Vec::new() };
        Ok(FollowedPlan(Arc::new(Mutex::new(followed))))
    }

    /// Returns the plan as it was last read or written.
    pub fn plan(&self) -> Plan {
        self.followed().plan.clone()
    }

    /// Returns options for a run that follows the plan: its steps become the agent's plan, and reports are written.
    #[must_use]
    pub fn follow(&self, run: RunOptions) -> RunOptions {
        let items = self.plan().items();
        let kept = self.clone();
        let on_steps_done = move |reports: &[(String, String)]| kept.reported(reports);
        let run = run.changing(move |agent| agent.plan(items.clone()));
        RunOptions { on_steps_done: Some(Arc::new(on_steps_done)), ..run }
    }

    /// Writes the end of the mission. The error names everything that is not in the file.
    pub fn finish(&self, step: &Step) -> Result<(), PlanError> {
        let mut followed = self.followed();
        let at = followed.execution.at.clone();
        followed.execution = Execution::of(step, at);
        followed.write()
    }

    fn reported(&self, reports: &[(String, String)]) -> Result<(), String> {
        let mut followed = self.followed();
        for (id, summary) in reports {
            let report = StepReport { id: id.clone(), summary: cut(summary), failed: false };
            followed.execution.steps.retain(|known| known.id != *id);
            followed.execution.steps.push(report.clone());
            followed.unwritten.retain(|known| known.id != *id);
            followed.unwritten.push(report);
        }
        followed.write().map_err(|error| error.message)
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Followed {
    /// Writes everything that is not in the file yet. After a successful write, the error names refused reports.
    fn write(&mut self) -> Result<(), PlanError> {
        self.try_write().map_err(|error| {
            if self.unwritten.is_empty() {
                return error;
            }
            let done = self.unwritten.iter().map(|report| format!("{} ({})", report.id, report.summary));
            let done = ptc_contract::data::cut(&done.collect::<Vec<_>>().join(", "), 2000);
            let message = format!("{}; done, but not in the file: {done}", error.message);
            PlanError { message, ..error }
        })
    }

    fn try_write(&mut self) -> Result<(), PlanError> {
        let bytes = Plan::bytes_of(&self.path)?;
        let is_changed = bytes != self.seen;
        let mut plan = if is_changed { Plan::of_bytes(&bytes, &self.path)? } else { self.plan.clone() };
        let mut contested = Vec::new();
        for report in &self.unwritten {
            let known = self.plan.step(&report.id);
            let step = plan.steps.iter_mut().find(|step| step.id == report.id);
            match step {
                Some(step) if known == Some(&*step) => step.take(report),
                Some(step) if has(step, report) => {}
                None if known.is_none() => {}
                // Somebody else changed, added or removed the step, so their version wins.
                _ => contested.push(report.clone()),
            }
        }
        let at = &self.execution.at;
        plan.history.retain(|known| known.at != *at || known.status != UNFINISHED);
        let mut execution = self.execution.clone();
        execution.shorten();
        plan.remember(execution);
        let text = plan.to_json()?;
        plan.save(&self.path)?;
        (self.plan, self.seen) = (plan, text.into_bytes());
        self.unwritten.clear();
        if contested.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = contested.iter().map(|report| format!("`{}`", report.id)).collect();
        let message = format!(
            "the plan `{}` was changed in the meantime; {} done here, but recorded only in the history because of that \
             change: {}",
            self.path.display(),
            if ids.len() == 1 { "a step was" } else { "steps were" },
            ids.join(", ")
        );
        Err(PlanError::new(PlanErrorKind::Conflict, message))
    }
}

/// Returns whether a step already holds this report.
fn has(step: &PlanStep, report: &StepReport) -> bool {
    step.result.as_deref() == Some(report.summary.as_str())
}
