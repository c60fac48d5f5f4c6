//! What flags ask to be done about calls that change something: a ledger, a plan, a person who approves them.

use crate::args::RecordArgs;
use crate::input::read;
use crate::problem::Problem;
use crate::prompt::Prompt;
use crate::quantity::counted;
use crate::recording::{Recording, sound};
use ptc_bytecode::Code;
use ptc_bytecode::text::visible;
use ptc_runtime::effects::{
    Approvals, CarriedPlan, Oversight, Plan, PlanEnd, PlanKey, Planner, new_run_id, shown_json,
};
use ptc_runtime::files::{Access, replace};
use ptc_runtime::{Failure, Grants, PolicyRules};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is done about the calls of a run that change something.
#[derive(Default)]
pub struct Overseeing {
    pub recording: Option<Recording>,
    planning: Option<Planning>,
    carried: Option<CarriedPlan>,
    approvals: Option<Approvals>,
    run: String,
}

/// A plan in the making, and the file for it.
struct Planning {
    planner: Planner,
    file: Option<PathBuf>,
}

impl Overseeing {
    /// Opens what the flags name. `plan` is set if the writes are to be planned, perhaps with a file for the plan.
    pub fn open(args: &RecordArgs, plan: Option<&Option<PathBuf>>) -> Result<Overseeing, Problem> {
        let mut recording = Recording::open(args)?;
        let carried = args.apply.as_deref().map(carried).transpose()?;
        let approvals = args.approve.as_ref().map(|file| approvals(file.as_deref())).transpose()?;
        if plan.is_some() && carried.is_some() {
            return Err(wrong("a plan is carried out or made, not both"));
        }
        let planned_run = carried.as_ref().map(|carried| &carried.plan().run).filter(|run| !run.is_empty());
        if let (Some(planned), Some(named)) = (planned_run, &args.run_name)
            && planned != named
        {
            let message = format!("the plan is for the run `{}`, not `{named}`", visible(planned));
            return Err(wrong(message).hint("leave --run-name out"));
        }
        let run = match (planned_run, &recording) {
            (Some(planned), _) => sound(planned)?,
            (None, Some(recording)) => recording.run.clone(),
            (None, None) => new_run_id(),
        };
        recording.iter_mut().for_each(|recording| recording.run.clone_from(&run));
        let planning = plan.map(|file| Planning { planner: Planner::new(), file: file.clone() });
        Ok(Overseeing { recording, planning, carried, approvals, run })
    }

    /// Returns the oversight, if there is any.
    pub fn oversight(&self) -> Option<Oversight> {
        let mut oversight = Oversight::new();
        let mut is_any = false;
        if let Some(recording) = &self.recording {
            (oversight, is_any) = (oversight.record(recording.ledger.clone()), true);
        }
        if let Some(planning) = &self.planning {
            (oversight, is_any) = (oversight.plan(&planning.planner), true);
        }
        if let Some(carried) = &self.carried {
            (oversight, is_any) = (oversight.carry_out(carried), true);
        }
        if let Some(approvals) = &self.approvals {
            (oversight, is_any) = (oversight.approve(approvals), true);
        }
        is_any.then_some(oversight)
    }

    /// Returns the name of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// True if the writes are planned and not sent.
    pub fn is_planning(&self) -> bool {
        self.planning.is_some()
    }

    /// Adds the oversight to the grants of a program.
    pub fn grant(&self, grants: Grants) -> Grants {
        match self.oversight() {
            Some(oversight) => grants.overseen(oversight, &self.run),
            None => grants,
        }
    }

    /// Refuses to carry out the plan of another program, or of one with other data.
    pub fn check(&self, source: &str, data: Option<&str>) -> Result<(), Problem> {
        let Some(why) = self.carried.as_ref().and_then(|carried| carried.plan().mismatch(source, data))
        else {
            return Ok(());
        };
        Err(Problem::new(Code::PlanDiffers, format!("nothing was run: {why}"))
            .hint("make a new plan with --plan"))
    }

    /// Returns the error of a run that ended without making all writes of its plan.
    pub fn unmade(&self) -> Option<Problem> {
        let left = self.carried.as_ref()?.left();
        let first = left.first()?;
        let message = format!(
            "the run ended without {} of the plan, the first is `{}` of `{}`",
            counted(left.len() as u64, "write"),
            first.id,
            visible(&first.tool)
        );
        Some(Problem::new(Code::PlanDiffers, message))
    }

    /// Returns the end of the plan that this failure means.
    pub fn end_of(&self, failure: &Failure) -> Option<PlanEnd> {
        let planner = &self.planning.as_ref()?.planner;
        Some(planner.end_of(failure.diagnostic(), failure.source()))
    }

    /// Returns the end of the plan of a mission that failed.
    pub fn end_of_mission(
        &self,
        reason: &str,
        message: &str,
        details: &serde_json::Value,
    ) -> Option<PlanEnd> {
        let planner = &self.planning.as_ref()?.planner;
        let number = |name: &str| details[name].as_u64();
        let place = |name: &str| number(name).and_then(|number| u32::try_from(number).ok());
        Some(PlanEnd {
            reason: reason.to_string(),
            message: message.to_string(),
            write: number("write").and_then(|number| planner.write(number)).map(|write| write.id),
            line: place("line"),
            column: place("column"),
        })
    }

    /// Writes the plan to its file, and returns it with its text for people.
    pub fn plan(
        &self,
        source: &str,
        data: Option<String>,
        end: Option<PlanEnd>,
    ) -> Result<Option<(Plan, String)>, Problem> {
        let Some(Planning { planner, file }) = &self.planning else { return Ok(None) };
        let mut plan = planner.plan_until(source, end).of_data(data);
        plan.run.clone_from(&self.run);
        let mut text = shown(&plan);
        if let Some(file) = file {
            let unwritable = |error| wrong(format!("--plan: {}: {error}", file.display()));
            replace(file, &[plan.to_json().as_bytes()], Access::Private).map_err(unwritable)?;
            if plan.is_keyed() {
                replace(&key_path(file), &[&planner.key()], Access::Private).map_err(unwritable)?;
            }
            let _ =
                writeln!(text, "`ptc effects apply {} COMMAND…` makes exactly these writes", file.display());
        }
        Ok(Some((plan, text)))
    }
}

fn wrong(message: impl Into<String>) -> Problem {
    Problem::new(Code::InvalidConfig, message)
}

/// Path of the key of a plan's hashes.
fn key_path(plan: &Path) -> PathBuf {
    let mut name = plan.as_os_str().to_owned();
    name.push(".key");
    name.into()
}

/// Reads a plan that is to be carried out.
fn carried(file: &Path) -> Result<CarriedPlan, Problem> {
    let about = |why: String| wrong(format!("{}: {}", file.display(), visible(&why)));
    let text = String::from_utf8(read(file)?).map_err(|_| about("this is not a plan".to_string()))?;
    let plan = Plan::from_json(&text).map_err(about)?;
    let key: Option<PlanKey> = match plan.is_keyed() {
        true => read(&key_path(file))?.try_into().ok(),
        false => None,
    };
    CarriedPlan::new(plan, key).map_err(about)
}

/// The approvals by a policy, or by asking about everything.
fn approvals(file: Option<&Path>) -> Result<Approvals, Problem> {
    let runtime = crate::setup::plain_runtime(ptc_bytecode::Limits::default())?;
    let policy = match file {
        None => PolicyRules::new(&runtime),
        Some(file) => {
            let about = |why: String| wrong(format!("--approve: {}: {why}", file.display()));
            let text = String::from_utf8(read(file)?).map_err(|_| about("it is not text".to_string()))?;
            PolicyRules::from_json(&text, &runtime).map_err(about)?
        }
    };
    Ok(Approvals::new(Arc::new(policy)).by(Arc::new(Prompt)))
}

/// The plan as people read it.
fn shown(plan: &Plan) -> String {
    let mut text = format!("{} planned, none sent\n", counted(plan.writes.len() as u64, "write"));
    for (n, write) in plan.writes.iter().enumerate() {
        let place = match (write.line, write.column) {
            (Some(line), Some(column)) => format!("  (line {line}, column {column})"),
            _ => String::new(),
        };
        let hash = if write.is_keyed {
            format!("  hash {}", &write.args_hash[..16.min(write.args_hash.len())])
        } else {
            String::new()
        };
        let _ =
            writeln!(text, "{:>3}. {} {}{hash}{place}", n + 1, visible(&write.tool), shown_json(&write.args));
    }
    if let Some(end) = &plan.end {
        let of = end.write.as_ref().and_then(|id| plan.writes.iter().position(|write| write.id == *id));
        let of = of.map_or(String::new(), |n| format!(": write {}", n + 1));
        let place = end
            .line
            .map_or(String::new(), |line| format!(" (line {line}, column {})", end.column.unwrap_or(1)));
        let _ = writeln!(text, "the plan ends here{place}: {}{of}", visible(&end.message));
    }
    text
}
