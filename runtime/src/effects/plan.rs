//! Plans: the writes of a program, listed instead of sent, and the check that a later run makes exactly those.

use ptc_bytecode::{Code, Datum, Diagnostic, Effects, Subject, place_of};
use ptc_effects::EffectId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Version of the JSON form.
const VERSION: u32 = 1;

/// Maximum bytes of a plan as JSON.
const MAX_BYTES: usize = 64 << 20;

/// Maximum bytes of the arguments in a plan, as JSON.
const MAX_ARGS: usize = 32 << 20;

/// Key of the hashes of arguments that a plan does not show.
pub type PlanKey = [u8; 32];

/// Recorder of the writes of a run: they are listed instead of sent, and answer an unknown value.
///
/// ```
/// use ptc_runtime::{Grants, Runtime, Tools, effects::{Oversight, Planner}};
/// let tools = Tools::new().with("pay", |_| -> Result<u64, _> { unreachable!("a plan sends nothing") });
/// let runtime = Runtime::with_core(ptc_preludes::core())?.with_tools(tools);
/// let planner = Planner::new();
/// let grants = Grants::new().overseen(Oversight::new().plan(&planner), "bills");
/// let source = "(mapv (fn [eur] (tool/pay {:eur eur})) [5 12])";
/// let plan = planner.plan(source, &runtime.eval(source, &grants).map(drop));
/// assert_eq!((plan.writes.len(), plan.writes[1].args["eur"].as_i64(), plan.end), (2, Some(12), None));
///
/// // Looking at the answer of a planned write ends the plan.
/// let planner = Planner::new();
/// let grants = Grants::new().overseen(Oversight::new().plan(&planner), "bills");
/// let source = "(if (tool/pay {:eur 5}) (tool/pay {:eur 6}) :not-paid)";
/// let plan = planner.plan(source, &runtime.eval(source, &grants).map(drop));
/// assert_eq!((plan.writes.len(), plan.end.unwrap().write.unwrap().to_string().as_str()), (1, "bills/1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Planner(Arc<Planning>);

struct Planning {
    key: PlanKey,
    writes: Mutex<Writes>,
}

#[derive(Default)]
struct Writes {
    list: Vec<PlannedWrite>,
    bytes: usize,
}

/// A write that the plan lists.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedWrite {
    /// Id of the call: its run, and its place there.
    pub id: EffectId,
    /// Name of the tool; `server.tool` for a tool of a server.
    pub tool: String,
    /// Arguments as people may see them: without secrets and firewalled values.
    pub args: Value,
    /// Hash of all arguments.
    pub args_hash: String,
    /// True if `args` does not show everything: the hash has a key then, so that nobody can guess what is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_keyed: bool,
    /// Effect of the tool: `write` or `unknown`.
    pub effect: String,
    /// Line of the program that makes the call, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in that line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// Reason why a plan ends before its program does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEnd {
    /// Reason, such as `unknown_answer`.
    pub reason: String,
    /// Message for people.
    pub message: String,
    /// Write whose answer the program looked at, if that was the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<EffectId>,
    /// Line of the program where the plan ends, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in that line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// The writes that a program would make, in order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this form.
    pub version: u32,
    /// Hash of the program.
    pub program: String,
    /// Hash of its data, if the host gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Name of the run.
    pub run: String,
    /// Writes, in the order in which the program makes them.
    pub writes: Vec<PlannedWrite>,
    /// Reason why the plan ends before the program; None if these are all writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<PlanEnd>,
}

/// A call that may change something, as plans record and compare it.
pub(crate) struct WriteCall<'c> {
    pub id: &'c EffectId,
    pub tool: &'c str,
    /// Arguments as people may see them, and whether that is all of them.
    pub shown: &'c Value,
    pub is_shown_whole: bool,
    pub args: &'c Datum,
    pub effect: Effects,
    /// Line and column of the program.
    pub place: Option<(u32, u32)>,
}

impl Default for Planner {
    fn default() -> Planner {
        Planner::new()
    }
}

impl Planner {
    /// Makes a planner with a random key.
    pub fn new() -> Planner {
        // The standard library takes its secret from the system's random numbers.
        let secret = std::hash::RandomState::new();
        let mut key = [0; 32];
        for (n, part) in key.chunks_mut(8).enumerate() {
            part.copy_from_slice(&secret.hash_one(n).to_le_bytes());
        }
        Planner::with_key(key)
    }

    /// Makes a planner with this key, for plans that another process compares.
    pub fn with_key(key: PlanKey) -> Planner {
        Planner(Arc::new(Planning { key, writes: Mutex::default() }))
    }

    /// Returns the key of the hashes of arguments that the plan does not show: see [`Plan::is_keyed`].
    pub fn key(&self) -> PlanKey {
        self.0.key
    }

    fn writes(&self) -> MutexGuard<'_, Writes> {
        self.0.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a write, and returns its number; None if the plan would be too large.
    pub(crate) fn add(&self, call: &WriteCall<'_>) -> Option<u64> {
        let is_keyed = !call.is_shown_whole;
        let write = PlannedWrite {
            id: call.id.clone(),
            tool: call.tool.to_string(),
            args: call.shown.clone(),
            args_hash: args_hash(call.args, is_keyed.then_some(&self.0.key)),
            is_keyed,
            effect: call.effect.name().to_string(),
            line: call.place.map(|(line, _)| line),
            column: call.place.map(|(_, column)| column),
        };
        let bytes = write.args.to_string().len();
        let mut writes = self.writes();
        writes.bytes = writes.bytes.saturating_add(bytes);
        if writes.bytes > MAX_ARGS {
            return None;
        }
        writes.list.push(write);
        Some(writes.list.len() as u64)
    }

    /// Returns the number of writes so far.
    pub fn count(&self) -> usize {
        self.writes().list.len()
    }

    /// Returns a write by its number, which [`Subject::Write`] has.
    pub fn write(&self, number: u64) -> Option<PlannedWrite> {
        self.writes().list.get(usize::try_from(number).ok()?.checked_sub(1)?).cloned()
    }

    /// Returns the end of a plan whose program failed with this error, which points into the text next to it.
    pub fn end_of(&self, error: &Diagnostic, text: &str) -> PlanEnd {
        let write = match error.subject.as_deref() {
            Some(Subject::Write(number)) if error.code == Code::UnknownAnswer => self.write(*number),
            _ => None,
        };
        let place = error.span.map(|span| place_of(text, span.start));
        PlanEnd {
            reason: error.code.reason().to_string(),
            message: error.message.clone(),
            write: write.map(|write| write.id),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
        }
    }

    /// Returns the plan of a program that ended like this.
    pub fn plan_until(&self, source: &str, end: Option<PlanEnd>) -> Plan {
        let mut writes = self.writes().list.clone();
        writes.sort_by(|a, b| in_order(&a.id, &b.id));
        let run = writes.first().map(|write| write.id.run().to_string()).unwrap_or_default();
        Plan { version: VERSION, program: source_hash(source), data: None, run, writes, end }
    }
}

impl fmt::Debug for Planner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planner").field("writes", &self.count()).finish_non_exhaustive()
    }
}

impl Plan {
    /// Reads a plan. The text is not trusted: it is refused if it is not one that this version writes.
    pub fn from_json(text: &str) -> Result<Plan, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("a plan has at most {MAX_BYTES} bytes"));
        }
        let plan: Plan =
            serde_json::from_str(text).map_err(|error| format!("this is not a plan: {error}"))?;
        if plan.version != VERSION {
            return Err(format!("the plan has version {}, and this is for version {VERSION}", plan.version));
        }
        let mut ids = HashSet::new();
        match plan.writes.iter().find(|write| !ids.insert(&write.id)) {
            Some(write) => Err(format!("the plan lists `{}` twice", write.id)),
            None => Ok(plan),
        }
    }

    /// Returns the plan as JSON.
    pub fn to_json(&self) -> String {
        // Texts, numbers and lists always have a JSON form.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// True if some arguments are not shown, so that the planner's key is needed to carry the plan out.
    pub fn is_keyed(&self) -> bool {
        self.writes.iter().any(|write| write.is_keyed)
    }

    /// Sets the hash of the program's data.
    #[must_use]
    pub fn of_data(mut self, hash: Option<String>) -> Plan {
        self.data = hash;
        self
    }

    /// Explains why this is not the plan of a program with these data, if it is not.
    pub fn mismatch(&self, source: &str, data: Option<&str>) -> Option<String> {
        if self.program != source_hash(source) {
            return Some("the plan is for another program, or the program was changed".to_string());
        }
        (self.data.as_deref() != data).then(|| "the plan was made with other data".to_string())
    }
}

/// A plan that a run carries out: every write of the run must be the planned one.
#[derive(Clone)]
pub struct CarriedPlan(Arc<Carried>);

struct Carried {
    plan: Plan,
    key: Option<PlanKey>,
    made: Mutex<HashSet<EffectId>>,
}

impl CarriedPlan {
    /// Prepares to carry a plan out. The key is that of its planner, which plans with firewalled arguments need.
    pub fn new(plan: Plan, key: Option<PlanKey>) -> Result<CarriedPlan, String> {
        if plan.is_keyed() && key.is_none() {
            return Err("the plan has arguments that it does not show, and its key is missing".to_string());
        }
        Ok(CarriedPlan(Arc::new(Carried { plan, key, made: Mutex::default() })))
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.0.plan
    }

    /// Returns the writes that were not made.
    pub fn left(&self) -> Vec<&PlannedWrite> {
        let made = self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.plan.writes.iter().filter(|write| !made.contains(&write.id)).collect()
    }

    /// Fails with a message if this is not the write that the plan has at this place.
    pub(crate) fn check(&self, call: &WriteCall<'_>) -> Result<(), String> {
        let Carried { plan, key, made } = &*self.0;
        let Some(write) = plan.writes.iter().find(|write| write.id == *call.id) else {
            return Err(match &plan.end {
                Some(end) => format!(
                    "the plan ends before this write of `{}`, because {}; make a plan for the rest",
                    call.tool, end.message
                ),
                None => format!("the plan has no write of `{}` at this place", call.tool),
            });
        };
        if write.tool != call.tool {
            return Err(format!("the plan has `{}` at this place, not `{}`", write.tool, call.tool));
        }
        let key = key.as_ref().filter(|_| write.is_keyed);
        // People have seen the arguments that are shown, so these must be right, too, and not only their hash.
        if write.args != *call.shown || write.args_hash != args_hash(call.args, key) {
            return Err(format!("the plan has other arguments for `{}` at this place", call.tool));
        }
        made.lock().unwrap_or_else(PoisonError::into_inner).insert(call.id.clone());
        Ok(())
    }
}

impl fmt::Debug for CarriedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CarriedPlan").field("writes", &self.0.plan.writes.len()).finish_non_exhaustive()
    }
}

/// Returns the hash of a program.
fn source_hash(source: &str) -> String {
    hex(&Sha256::digest(source.as_bytes()))
}

/// Returns the hash of all arguments, with a key if there is one.
fn args_hash(args: &Datum, key: Option<&PlanKey>) -> String {
    let whole = serde_json::to_vec(args.nodes()).unwrap_or_default();
    match key {
        None => hex(&Sha256::digest(&whole)),
        Some(key) => {
            // Hashed twice, so that nothing can be appended to what was hashed.
            let inner = Sha256::new().chain_update(key).chain_update(&whole).finalize();
            hex(&Sha256::new().chain_update(key).chain_update(inner).finalize())
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares calls of one run by the order in which a program without branches at the same time would make them.
fn in_order(a: &EffectId, b: &EffectId) -> Ordering {
    match a.run() == b.run() {
        // Runs stay in the order of their first write.
        false => Ordering::Equal,
        true => compare_keys(&steps(a.key()), &steps(b.key())),
    }
}

/// A step of a key: a branch of a split, or the call itself.
enum Step {
    Branch(u64, u64),
    Call(u64),
}

/// Takes a key such as `2:0.7` apart: split 2, branch 0, call 7.
fn steps(key: &str) -> Vec<Step> {
    let number = |text: &str| text.parse().unwrap_or(u64::MAX);
    let step = |part: &str| match part.split_once(':') {
        Some((split, branch)) => Step::Branch(number(split), number(branch)),
        None => Step::Call(number(part)),
    };
    key.split('.').map(step).collect()
}

fn compare_keys(a: &[Step], b: &[Step]) -> Ordering {
    let call = |steps: &[Step]| match steps.last() {
        Some(Step::Call(number)) => *number,
        _ => 0,
    };
    for (x, y) in a.iter().zip(b) {
        let order = match (x, y) {
            (Step::Branch(split, branch), Step::Branch(other, index)) => {
                split.cmp(other).then(branch.cmp(index))
            }
            // A branch counts its calls on from those that were made before the split.
            _ => return call(a).cmp(&call(b)),
        };
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_in_the_order_of_a_program_without_branches() {
        let mut keys = ["9", "2:0.8", "1:1.3", "1:0.4", "1:0.3", "2", "10", "1:1.1:0.5"];
        keys.sort_by(|a, b| compare_keys(&steps(a), &steps(b)));
        assert_eq!(keys, ["2", "1:0.3", "1:0.4", "1:1.3", "1:1.1:0.5", "2:0.8", "9", "10"]);
    }

    #[test]
    fn plans_of_others_are_refused() {
        let plan = |writes: &str, more: &str| {
            Plan::from_json(&format!(r#"{{"version":1,"program":"a","run":"r","writes":[{writes}]{more}}}"#))
        };
        assert!(plan("", "").is_ok());
        assert!(plan("", r#","command":"rm""#).unwrap_err().contains("unknown field"));
        let write = r#"{"id":"r/1","tool":"pay","args":{},"args_hash":"","effect":"write"}"#;
        assert!(plan(&format!("{write},{write}"), "").unwrap_err().contains("twice"));
        assert!(plan(&write.replace("r/1", "r 1"), "").is_err());
        assert!(Plan::from_json(r#"{"version":2,"program":"a","run":"r","writes":[]}"#).is_err());
    }
}
