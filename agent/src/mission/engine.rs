//! The program side of a mission: a session, its data and tools, and one program after the other.

use super::fault::MemoryOverflow;
use super::host::Host;
use super::journal::{JOURNAL, Journal};
use super::library::Library;
use super::place::{Place, StopCause, now};
use super::step::{BranchRecord, CallRecord, Fail};
use super::toolbox::Toolbox;
use crate::Agent;
use crate::definition::RunOptions;
use ptc_bytecode::{Datum, Node};
use ptc_contract::data::{Action, Tree, rewrite};
use ptc_contract::keys;
use ptc_contract::signature::Signature;
use ptc_runtime::{
    CallFuture, CallId, Cancel, CancelOnDrop, Dispatch, Failure, Frozen, Grants, Outcome, PendingCall,
    PreludeTrace, Run, Session, asynchronous,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What runs the programs of one mission.
pub(crate) struct Engine {
    pub session: Session,
    pub toolbox: Arc<Toolbox>,
    pub journal: Arc<Journal>,
    host: Arc<Host>,
    /// What to record of the prelude.
    pub prelude_trace: Option<Arc<PreludeTrace>>,
    /// The data of the mission.
    context: Vec<(String, Frozen)>,
    /// Names that are nil where the mission has no data of that name: parameters of the signature that were left
    /// out, and `fail` while nothing has failed. Other names that are missing are errors.
    optional: Vec<String>,
    /// What results added to it.
    pub overlay: BTreeMap<String, Frozen>,
    /// Names under which a result would be readable, had there been room: reading them is an error that says so.
    pub unread: BTreeMap<String, MemoryOverflow>,
    timeout: Duration,
    precision: u32,
    ledger: Mutex<Ledger>,
}

/// How much the records of one program hold of arguments and answers; past that they are without.
const LEDGER_BYTES: usize = 8 << 20;

/// The calls of the program that runs. What was called is not forgotten if the mission ends in the middle.
#[derive(Default)]
struct Ledger {
    done: Vec<CallRecord>,
    bytes: usize,
    /// Calls that have no answer yet.
    open: Vec<(CallId, CallRecord)>,
}

impl Ledger {
    fn close(&mut self, id: &CallId, mut record: CallRecord) {
        self.open.retain(|(known, _)| known != id);
        let size = |value: &serde_json::Value| serde_json::to_string(value).map_or(0, |text| text.len());
        if self.bytes <= LEDGER_BYTES {
            self.bytes += size(&record.args) + size(&record.result);
        } else {
            let cut = CallRecord { is_cut: true, ..CallRecord::default() };
            (record.args, record.result, record.is_cut) = (cut.args, cut.result, cut.is_cut);
        }
        self.done.push(record);
    }
}

/// How a program ended.
pub(crate) enum Ending {
    /// With a value.
    Value(Box<Outcome>),
    /// With `(return v)`.
    Returned(Box<Outcome>),
    /// With an error, or `(fail v)`.
    Failed(Box<Failure>),
}

/// A program that ran.
pub(crate) struct ProgramRun {
    pub ending: Ending,
    /// Definitions it made, even if it failed.
    pub definitions: Vec<(String, Frozen)>,
}

impl Engine {
    pub fn new(
        agent: &Agent,
        run: &RunOptions,
        library: Library,
        context: &Datum,
        place: &Place,
    ) -> Result<Engine, Fail> {
        let options = agent.options();
        let toolbox = Arc::new(Toolbox::new(agent, run, place.clone()));
        let Library { runtime } = library;
        let broken = |message: String| Fail::new("internal_error", message);
        let mut limits = *runtime.current_limits();
        limits.timeout_ms = options.timeout;
        limits.tool_calls = options.max_tool_calls.map_or(0, u64::from);
        limits.print_chars = options.format_options.max_print_length as u64;
        if let Some(bytes) = options.max_heap.or(place.max_heap) {
            limits.memory_bytes = bytes;
        }
        if let Some(bytes) = options.max_granted.or(place.max_granted) {
            limits.granted_bytes = bytes;
        }
        if let Some(branches) = options.pmap_max_concurrency {
            limits.parallel_in_flight = u64::from(branches);
        }
        limits.check().map_err(|message| Fail::new("invalid_option", message))?;
        let mut session = runtime.limits(limits).session();
        for (name, value) in &run.memory {
            session.define(name, value.clone());
        }
        let frozen = |datum: Datum| Frozen::from_datum(&datum).map_err(|fault| broken(fault.to_string()));
        let tree = Tree::new(context);
        let entries = tree.root().entries();
        let context: Result<Vec<(String, Frozen)>, Fail> = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key.name()?.to_string(), value.datum())))
            // Now, so that it is not done again for every program.
            .map(|(name, value)| frozen(value).map(|value| (value.firewalled(Some(&name)), name)))
            .map(|made| made.map(|(value, name)| (name, value)))
            .collect();
        let is_kept = options.journaling || run.journal.is_some();
        let file = run.checkpoint_dir.as_ref().map(|dir| dir.join(JOURNAL));
        let journal = Journal::new(is_kept, run.journal.as_ref().unwrap_or(&serde_json::Map::new()), file)
            .map_err(|error| Fail::new("invalid_option", format!("`journal`: {error}")))?;
        let journal = Arc::new(journal);
        Ok(Engine {
            prelude_trace: session.runtime().prelude_trace().map(Arc::new),
            session,
            host: Arc::new(Host::new(journal.clone(), toolbox.clone())),
            toolbox,
            journal,
            context: context?,
            optional: optional_names(agent, run),
            overlay: BTreeMap::new(),
            unread: BTreeMap::new(),
            timeout: Duration::from_millis(options.timeout),
            precision: options.float_precision,
            ledger: Mutex::default(),
        })
    }

    /// What must be granted for a program to run: data, and how it is stopped.
    fn grants(&self, cancel: &Cancel, last_fail: Option<&Fail>) -> Grants {
        let mut data: BTreeMap<Cow<'_, str>, Frozen> =
            self.context.iter().map(|(name, value)| (name.as_str().into(), value.clone())).collect();
        for (name, value) in &self.overlay {
            // A result shadows the data it is named like, and is found in either spelling.
            data.retain(|known, _| !keys::same(known, name));
            data.insert(keys::normalize_key(name), value.clone());
        }
        // A single nil always fits.
        let nil = Frozen::from_datum(&Datum::scalar(Node::Nil)).ok();
        for (name, nil) in self.optional.iter().zip(nil.iter().cycle()) {
            if !data.keys().any(|known| keys::same(known, name)) {
                data.insert(name.as_str().into(), nil.clone());
            }
        }
        data.retain(|name, _| !self.unread.contains_key(&*keys::normalize_key(name)));
        let fail = last_fail.and_then(|fail| serde_json::to_value(fail.public()).ok());
        let fail = fail.and_then(|fail| ptc_runtime::bridge::json_to_datum(&fail).ok());
        if let Some(fail) = fail.and_then(|fail| Frozen::from_datum(&fail).ok()) {
            data.insert("fail".into(), fail);
        }
        let grants = Grants::new().cancel(cancel).turn_host(self.host.clone()).firewall(true);
        data.into_iter().fold(grants, |grants, (name, value)| grants.frozen(&name, value))
    }

    /// Names of the data of the mission.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.context.iter().map(|(name, _)| name.as_str())
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the last program called. Calls that nobody waited for to the end are among them.
    pub fn take_calls(&self) -> Vec<CallRecord> {
        let Ledger { mut done, open, .. } = std::mem::take(&mut *self.ledger());
        let given_up = Some("given up before there was an answer".to_string());
        done.extend(open.into_iter().map(|(_, call)| CallRecord { error: given_up.clone(), ..call }));
        done
    }

    /// The branches of the last program.
    pub fn take_branches(&self) -> Vec<BranchRecord> {
        self.host.take_branches()
    }

    /// Runs one program. Nothing is committed.
    pub async fn execute(
        &mut self,
        program: &str,
        last_fail: Option<&Fail>,
        place: &Place,
    ) -> Result<ProgramRun, StopCause> {
        let cancel = Cancel::new();
        let stop = CancelOnDrop::new(&cancel);
        self.take_calls();
        self.take_branches();
        self.session.set_grants(self.grants(&cancel, last_fail));
        let run = match self.session.start(program) {
            Ok(run) => match &place.schedule {
                Some(schedule) => run.scheduled(schedule.clone()),
                None => run,
            },
            Err(failure) => {
                let ending = Ending::Failed(Box::new(failure));
                return Ok(ProgramRun { ending, definitions: Vec::new() });
            }
        };
        let executed = place.within(self.drive(run)).await;
        if executed.is_ok() {
            // It has ended by itself. Its value is yet to be read, which a cancelled run does not allow.
            stop.disarm();
        }
        executed
    }

    async fn drive(&self, run: Run) -> ProgramRun {
        let calls = ProgramCalls { engine: self, clock: Mutex::new(Clock::new(self.timeout)) };
        match asynchronous(run, &calls).await {
            Ok(outcome) => {
                let definitions = outcome.definitions();
                let outcome = Box::new(outcome);
                let ending =
                    if outcome.returned { Ending::Returned(outcome) } else { Ending::Value(outcome) };
                ProgramRun { ending, definitions }
            }
            Err(failed) => {
                let definitions = failed.definitions();
                ProgramRun { ending: Ending::Failed(Box::new(failed.failure)), definitions }
            }
        }
    }

    /// The value of a program as the host gets it.
    pub fn value(&self, outcome: &Outcome) -> Result<Datum, Fail> {
        let datum =
            outcome.datum().map_err(|fault| Fail::new("eval_error", fault.parts().message.clone()))?;
        Ok(rounded(datum, self.precision))
    }
}

/// Floats with so many decimals.
fn rounded(datum: Datum, precision: u32) -> Datum {
    let is_float = |node: &Node| matches!(node, Node::Float(x) if x.fract() != 0.0 && x.is_finite());
    if precision > 15 || !datum.nodes().iter().any(is_float) {
        return datum;
    }
    let power = 10_f64.powi(precision as i32);
    rewrite(&datum, |_, view| match view.node() {
        Node::Float(x) if x.is_finite() && (x * power).is_finite() => {
            Action::Replace(Node::Float((x * power).round() / power))
        }
        _ => Action::Keep,
    })
}

/// Makes the calls of one program: on its clock, and into the ledger.
struct ProgramCalls<'e> {
    engine: &'e Engine,
    clock: Mutex<Clock>,
}

impl ProgramCalls<'_> {
    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dispatch for ProgramCalls<'_> {
    fn call(&self, call: PendingCall) -> CallFuture<'_> {
        let Engine { toolbox, session, .. } = self.engine;
        let asks_models = toolbox.asks_models(&call.name);
        self.engine.ledger().open.push((call.id.clone(), toolbox.begun(&call)));
        let until = self.clock().began(asks_models);
        Box::pin(async move {
            let called = toolbox.call(session.tools(), &call, until).await;
            self.clock().ended(asks_models);
            self.engine.ledger().close(&call.id, called.record);
            (call, called.answer)
        })
    }
}

/// The time of a program: it stands still while a model is behind a call, since such waits say nothing about the
/// program and end with the mission.
struct Clock {
    limit: Duration,
    used: Duration,
    since: Instant,
    /// Calls in flight that ask models.
    waits: u32,
}

impl Clock {
    fn new(limit: Duration) -> Clock {
        Clock { limit, used: Duration::ZERO, since: now(), waits: 0 }
    }

    fn tick(&mut self) {
        let now = now();
        if self.waits == 0 {
            self.used += now.saturating_duration_since(self.since);
        }
        self.since = now;
    }

    /// A call begins. Gives when the program will have run out of time, if nothing stops its clock.
    fn began(&mut self, asks_models: bool) -> Option<Instant> {
        self.tick();
        self.waits += u32::from(asks_models);
        self.since.checked_add(self.limit.saturating_sub(self.used))
    }

    fn ended(&mut self, asks_models: bool) {
        self.tick();
        self.waits = self.waits.saturating_sub(u32::from(asks_models));
    }
}

/// The names a program may read whether or not there is anything to read.
fn optional_names(agent: &Agent, run: &RunOptions) -> Vec<String> {
    let context = run.context_signature.as_ref().or(agent.options().context_signature.as_ref());
    let context = context.and_then(|text| Signature::parse(text).ok()).unwrap_or_default();
    let fields = context.params.iter().chain(context.returns.fields().unwrap_or_default());
    let fields = agent.signature().params.iter().chain(fields);
    fields.map(|field| field.name.clone()).chain(["fail".to_string()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_rounded() {
        let datum = Datum::new(vec![Node::Float(1.239), Node::Int(7), Node::Vector(2)]).unwrap();
        assert_eq!(rounded(datum, 2).nodes()[..2], [Node::Float(1.24), Node::Int(7)]);
    }
}
