//! Journal of a mission: finished tasks, reported progress and the budget, as programs see them.

use super::excerpt::described;
use super::step::json_of;
use ptc_bytecode::{Datum, Node};
use ptc_contract::firewall::{unwrap_marked, wrap_marked};
use ptc_runtime::bridge::json_to_datum;
use ptc_runtime::files::{self, Access};
use ptc_runtime::{BridgeError, Frozen};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// File of finished tasks: written whenever a task is finished, not only between turns.
pub(crate) const JOURNAL: &str = "journal.json";

/// Maximum bytes written of a task's value.
const TASK_BYTES: usize = 16 << 20;

/// Journal of one mission.
#[derive(Default)]
pub(crate) struct Journal {
    /// Flag: tasks are kept.
    is_kept: bool,
    /// File that is written whenever a task is finished.
    file: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tasks: BTreeMap<String, Frozen>,
    /// Progress reported by the running program.
    reported: Vec<(String, String)>,
    /// Flag: a task ran although tasks are not kept.
    was_unkept: bool,
    budget: Option<Datum>,
    warnings: Vec<String>,
}

impl Journal {
    pub fn new(
        is_kept: bool,
        tasks: &Map<String, Value>,
        file: Option<PathBuf>,
    ) -> Result<Journal, BridgeError> {
        let journal = Journal { is_kept, file, state: Mutex::default() };
        journal.restore(tasks)?;
        Ok(journal)
    }

    /// Restores tasks that were finished before.
    pub fn restore(&self, tasks: &Map<String, Value>) -> Result<(), BridgeError> {
        let frozen = |value: &Value| -> Result<Frozen, BridgeError> {
            let datum = unwrap_marked(&json_to_datum(value)?);
            Frozen::from_datum(&datum).map_err(|fault| serde::ser::Error::custom(fault.to_string()))
        };
        let tasks: Result<BTreeMap<String, Frozen>, BridgeError> =
            tasks.iter().map(|(id, value)| Ok((id.clone(), frozen(value)?))).collect();
        self.state().tasks.extend(tasks?);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns finished tasks as JSON.
    pub fn to_json(&self) -> Map<String, Value> {
        let state = self.state();
        let json = |value: &Frozen| match value.to_datum(TASK_BYTES) {
            Ok(datum) => json_of(&wrap_marked(&datum)),
            Err(_) => Value::String(format!("#<{}>", described(value))),
        };
        state.tasks.iter().map(|(id, value)| (id.clone(), json(value))).collect()
    }

    /// Returns the ids of finished tasks.
    pub fn ids(&self) -> Vec<String> {
        self.state().tasks.keys().cloned().collect()
    }

    /// Returns finished tasks, for the mission log.
    pub fn tasks(&self) -> Vec<(String, Frozen)> {
        self.state().tasks.iter().map(|(id, value)| (id.clone(), value.clone())).collect()
    }

    /// Sets the value of `(budget/remaining)`.
    pub fn set_budget(&self, budget: Datum) {
        self.state().budget = Some(budget);
    }

    /// Takes the progress reported since the last time.
    pub fn take_reported(&self) -> Vec<(String, String)> {
        std::mem::take(&mut self.state().reported)
    }

    /// Takes the warnings; each is returned once.
    pub fn take_warnings(&self) -> Vec<String> {
        let mut state = self.state();
        let mut warnings = std::mem::take(&mut state.warnings);
        if std::mem::take(&mut state.was_unkept) {
            warnings.push("`task` ran without a journal, so nothing was kept; set `journaling`".to_string());
        }
        warnings
    }

    /// Writes all tasks, so that a crash loses none.
    pub fn write(&self) {
        let Some(file) = &self.file else { return };
        if let Err(error) = replace(file, &Value::Object(self.to_json())) {
            self.state().warnings.push(format!("the journal could not be written: {error}"));
        }
    }
}

impl Journal {
    /// Returns the stored value of a finished task.
    pub fn task(&self, id: &str) -> Option<Frozen> {
        self.state().tasks.get(id).cloned()
    }

    /// Keeps the value of a task, if tasks are kept.
    pub fn task_done(&self, id: &str, value: Frozen) {
        let mut state = self.state();
        if self.is_kept {
            state.tasks.insert(id.to_string(), value);
            drop(state);
            self.write();
        } else {
            state.was_unkept = true;
        }
    }

    /// Forgets a task.
    pub fn task_reset(&self, id: &str) {
        if self.state().tasks.remove(id).is_some() {
            self.write();
        }
    }

    /// Records progress of the running program.
    pub fn step_done(&self, id: &str, summary: &str) {
        self.state().reported.push((id.to_string(), summary.to_string()));
    }

    /// Returns the remaining budget, as the mission last set it.
    pub fn budget(&self) -> Datum {
        self.state().budget.clone().unwrap_or_else(|| Datum::scalar(Node::Map(0)))
    }
}

/// Replaces a file by private JSON, creating its folder as needed.
pub(crate) fn replace(file: &Path, value: &Value) -> std::io::Result<()> {
    files::make_private_folder(file.parent().unwrap_or(Path::new(".")))?;
    files::replace(file, &[&serde_json::to_vec(value)?], Access::Private)
}
