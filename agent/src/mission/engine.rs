//! Program side of a mission: a session, its data and tools, and one program after the other.

use super::data::MissionData;
use super::drive::{Ending, Ledger, ProgramCalls, ProgramRun};
use super::exports::Exports;
use super::fault::MemoryOverflow;
use super::host::Host;
use super::journal::{JOURNAL, Journal};
use super::library::Library;
use super::place::{Place, StopCause};
use super::step::{BranchRecord, CallRecord, Fail};
use super::toolbox::Toolbox;
use crate::Agent;
use crate::definition::RunOptions;
use ptc_bytecode::{Datum, Node};
use ptc_contract::data::{Action, rewrite};
use ptc_contract::keys;
use ptc_runtime::{Cancel, CancelOnDrop, Frozen, Grants, Outcome, PreludeTrace, Session};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Runner of the programs of one mission.
pub(crate) struct Engine {
    pub session: Session,
    pub toolbox: Arc<Toolbox>,
    pub journal: Arc<Journal>,
    host: Arc<Host>,
    /// Prelude information for records.
    pub prelude_trace: Option<Arc<PreludeTrace>>,
    data: Arc<MissionData>,
    /// Exports of preludes that the model calls by name.
    pub exports: Arc<Exports>,
    /// Data added by results.
    pub overlay: BTreeMap<String, Frozen>,
    /// Names whose results did not fit: reading them is an error that says so.
    pub unread: BTreeMap<String, MemoryOverflow>,
    timeout: Duration,
    precision: u32,
    ledger: Ledger,
    /// Number of the turn that the program belongs to; 0 without turns.
    pub turn: u32,
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
        let toolbox = Toolbox::new(agent, run, place.clone());
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
        let data = MissionData::new(agent, run, context).map_err(|fault| broken(fault.to_string()))?;
        let data = Arc::new(data);
        let is_kept = options.journaling || run.journal.is_some();
        let file = run.checkpoint_dir.as_ref().map(|dir| dir.join(JOURNAL));
        let journal = Journal::new(is_kept, run.journal.as_ref().unwrap_or(&serde_json::Map::new()), file)
            .map_err(|error| Fail::new("invalid_option", format!("`journal`: {error}")))?;
        let journal = Arc::new(journal);
        let timeout = Duration::from_millis(options.timeout);
        let exports = {
            let (session, data) = (session.clone(), data.clone());
            Arc::new(Exports::new(
                session,
                data,
                toolbox.within(place.scope.clone()),
                journal.clone(),
                timeout,
            ))
        };
        let toolbox = Arc::new(toolbox.with_exports(exports.clone()));
        Ok(Engine {
            prelude_trace: session.runtime().prelude_trace().map(Arc::new),
            session,
            host: Arc::new(Host::new(journal.clone(), toolbox.clone())),
            toolbox,
            journal,
            data,
            exports,
            overlay: BTreeMap::new(),
            unread: BTreeMap::new(),
            timeout,
            precision: options.float_precision,
            ledger: Ledger::default(),
            turn: 0,
        })
    }

    /// Returns the grants of a program: data, and the cancel signal.
    fn grants(&self, cancel: &Cancel, last_fail: Option<&Fail>) -> Grants {
        let mut data = self.data.with(&self.overlay);
        data.retain(|name, _| !self.unread.contains_key(&*keys::normalize_key(name)));
        let fail = last_fail.and_then(|fail| serde_json::to_value(fail.public()).ok());
        let fail = fail.and_then(|fail| ptc_runtime::bridge::json_to_datum(&fail).ok());
        if let Some(fail) = fail.and_then(|fail| Frozen::from_datum(&fail).ok()) {
            data.insert("fail".into(), fail);
        }
        let grants = Grants::new().cancel(cancel).turn_host(self.host.clone()).firewall(true);
        data.into_iter().fold(grants, |grants, (name, value)| grants.frozen(&name, value))
    }

    /// Returns the names of the mission's data.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.data.names()
    }

    /// Returns the calls of the last program, including abandoned ones.
    pub fn take_calls(&self) -> Vec<CallRecord> {
        self.ledger.take()
    }

    /// Returns the branches of the last program.
    pub fn take_branches(&self) -> Vec<BranchRecord> {
        self.host.take_branches()
    }

    /// Runs one program, without committing anything.
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
        let grants = self.grants(&cancel, last_fail);
        self.session.set_grants(match &place.effects {
            Some(effects) => effects.grant(grants, self.turn, program),
            None => grants,
        });
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
        let calls = ProgramCalls::new(&self.toolbox, &self.session, &self.ledger, self.timeout);
        let executed = place.within(calls.drive(run)).await;
        if executed.is_ok() {
            // The program has ended by itself. Its value is yet to be read, which a cancelled run does not allow.
            stop.disarm();
        }
        executed
    }

    /// Returns the value of a program in the host's form.
    pub fn value(&self, outcome: &Outcome) -> Result<Datum, Fail> {
        let datum =
            outcome.datum().map_err(|fault| Fail::new("eval_error", fault.parts().message.clone()))?;
        Ok(rounded(datum, self.precision))
    }
}

/// Rounds floats to this many decimals.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_rounded() {
        let datum = Datum::new(vec![Node::Float(1.239), Node::Int(7), Node::Vector(2)]).unwrap();
        assert_eq!(rounded(datum, 2).nodes()[..2], [Node::Float(1.24), Node::Int(7)]);
    }
}
