//! Exports of preludes that a model calls by name. Each call is a separate program, with the data, tools and limits
//! of the mission's programs, but without the definitions of the model's programs.

use super::data::MissionData;
use super::drive::{Ending, Ledger, ProgramCalls};
use super::effects::MissionEffects;
use super::fault::program_fail;
use super::host::Host;
use super::journal::Journal;
use super::step::CallRecord;
use super::toolbox::{ExportAnswer, RunExports, Toolbox};
use crate::tools::ExportTool;
use crate::trace::{Kind, Scope};
use ptc_bytecode::{Code, Datum};
use ptc_contract::data::to_json;
use ptc_runtime::{
    Cancel, CancelOnDrop, Failure, Fault, Frozen, Grants, Outcome, Refusal, Session, ToolAnswer, ToolError,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum bytes of a result that is checked before a model gets it; larger results are checked where they are cut.
const LOOKED_AT: usize = 256 << 10;

/// Runner of the exports of one mission.
pub(crate) struct Exports {
    /// Session as it is when the mission begins.
    session: Session,
    data: Arc<MissionData>,
    toolbox: Arc<Toolbox>,
    journal: Arc<Journal>,
    timeout: Duration,
    activity: Mutex<Activity>,
}

/// Calls and prints of exports in a turn.
#[derive(Default)]
struct Activity {
    /// Ledgers, one per called export.
    ledgers: Vec<Arc<Ledger>>,
    prints: Vec<String>,
}

impl Exports {
    pub fn new(
        session: Session,
        data: Arc<MissionData>,
        toolbox: Arc<Toolbox>,
        journal: Arc<Journal>,
        timeout: Duration,
    ) -> Exports {
        Exports { session, data, toolbox, journal, timeout, activity: Mutex::default() }
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the calls and prints of exports since the last time, including abandoned calls.
    pub fn take(&self) -> (Vec<CallRecord>, Vec<String>) {
        let Activity { ledgers, prints } = std::mem::take(&mut *self.activity());
        (ledgers.iter().flat_map(|ledger| ledger.take()).collect(), prints)
    }

    async fn run(
        &self,
        export: &ExportTool,
        args: &Datum,
        scope: &Scope,
        effects: Option<MissionEffects>,
    ) -> Result<ToolAnswer, Refusal> {
        let made = export.program(args);
        let program = made.map_err(|told| Refusal::Fault(Fault::new(Code::ValidationError, told)))?;
        let cancel = Cancel::new();
        let stop = CancelOnDrop::new(&cancel);
        let toolbox = self.toolbox.within(scope.clone());
        let host = Arc::new(Host::new(self.journal.clone(), toolbox.clone()));
        let mut session = self.session.clone();
        for (name, parameter, value) in &program.definitions {
            let value = Frozen::from_datum(value).map_err(Refusal::Fault)?;
            session.define(name.as_str(), value.firewalled(Some(parameter)));
        }
        let nothing = BTreeMap::new();
        let data = self.data.with(&nothing);
        let grants = Grants::new().cancel(&cancel).turn_host(host).firewall(true);
        let grants = match effects {
            Some(effects) => effects.grant(grants, 0, &program.source),
            None => grants,
        };
        session
            .set_grants(data.into_iter().fold(grants, |grants, (name, value)| grants.frozen(&name, value)));
        let run = session.start(&program.source).map_err(|failure| refused(&failure))?;
        let run = match &toolbox.place.schedule {
            Some(schedule) => run.scheduled(schedule.clone()),
            None => run,
        };
        let ledger = Arc::new(Ledger::default());
        self.activity().ledgers.push(ledger.clone());
        let ran = ProgramCalls::new(&toolbox, &session, &ledger, self.timeout).drive(run).await;
        // The program has ended by itself. Its value is yet to be read, which a cancelled run does not allow.
        stop.disarm();
        match ran.ending {
            Ending::Value(outcome) | Ending::Returned(outcome) => {
                self.printed(&outcome.prints, scope);
                answer(export, &outcome)
            }
            Ending::Failed(failure) => {
                self.printed(&failure.prints, scope);
                Err(refused(&failure))
            }
        }
    }

    fn printed(&self, prints: &[String], scope: &Scope) {
        if !prints.is_empty() {
            scope.emit(Kind::Prints, |event| event.put("prints", json!(prints)));
            self.activity().prints.extend_from_slice(prints);
        }
    }
}

impl RunExports for Exports {
    fn call<'c>(
        &'c self,
        export: &'c ExportTool,
        args: &'c Datum,
        scope: &'c Scope,
        effects: Option<MissionEffects>,
    ) -> ExportAnswer<'c> {
        Box::pin(self.run(export, args, scope, effects))
    }
}

/// Returns the value of an export, if it is data: a model could not do anything with a function.
fn answer(export: &ExportTool, outcome: &Outcome) -> Result<ToolAnswer, Refusal> {
    let value = outcome.freeze();
    if let Ok(datum) = value.to_datum(LOOKED_AT)
        && let Err(wrong) = to_json(&datum)
    {
        let message = format!("`{}` returned something that is not data: {wrong}", export.reference());
        return Err(ToolError::new(message).into());
    }
    Ok(ToolAnswer::Frozen(value))
}

/// Converts a failure to the error of a tool.
fn refused(failure: &Failure) -> Refusal {
    let fail = program_fail(failure);
    let fail = fail.public();
    ToolError::new(format!("{}: {}", fail.reason, fail.message)).into()
}
