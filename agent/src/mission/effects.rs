//! The ledger of a mission: under which name each of its programs writes there.

use crate::definition::RunOptions;
use ptc_runtime::Grants;
use ptc_runtime::effects::{EffectSlot, Ledger, Oversight, Planner, new_run_id};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A ledger of effects, and the name of a mission there. Every call of its programs that may change something is written
/// down before it is sent. A mission that is resumed, or run again under the same name, does not send again what the
/// ledger has: if a turn has the same program as before, its calls get the answers they had.
///
/// ```
/// use ptc_agent::{Agent, MissionLedger, RunOptions, run, tools::{LlmRef, Tool}};
/// use ptc_model::Scripted;
/// use ptc_runtime::effects::FileLedger;
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
/// # let folder = tempfile::tempdir()?;
/// let payments = Arc::new(AtomicU64::new(0));
/// let made = payments.clone();
/// let pay = Tool::new("pay", move |_, _| Ok(made.fetch_add(1, Ordering::SeqCst)));
/// let agent = Agent::builder().prompt("Pay").tool(pay).build()?;
/// let ledger = Arc::new(FileLedger::open(folder.path().join("effects.ledger"))?);
/// for _ in 0..2 {
///     let model = Scripted::new(["(return (tool/pay {:eur 5}))"]);
///     let options = RunOptions {
///         effects: Some(MissionLedger { ledger: ledger.clone(), run: "invoice-7".to_string() }),
///         ..RunOptions::new()
///     };
///     assert!(run(&agent, &options.llm(LlmRef::client(model))).is_ok());
/// }
/// assert_eq!(payments.load(Ordering::SeqCst), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MissionLedger {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Name of the mission there.
    pub run: String,
}

/// Oversight of the calls of a mission that may change something, and the name of the mission in ledgers and plans.
#[derive(Clone, Debug)]
pub(crate) struct MissionEffects {
    oversight: Oversight,
    run: String,
}

impl MissionEffects {
    /// Returns the oversight that the options ask for.
    pub fn of(options: &RunOptions) -> Option<MissionEffects> {
        let (ledger, oversight) = (options.effects.as_ref(), options.oversight.as_ref());
        if ledger.is_none() && oversight.is_none() {
            return None;
        }
        let base = oversight.cloned().unwrap_or_default();
        Some(match ledger {
            Some(MissionLedger { ledger, run }) => {
                MissionEffects { oversight: base.record(ledger.clone()), run: run.clone() }
            }
            None => {
                let run = options.oversight_name.clone().unwrap_or_else(|| "mission".to_string());
                MissionEffects { oversight: base, run }
            }
        })
    }

    /// Returns the oversight for a mission below this one, or for a function of a prelude that its model calls. Models decide
    /// anew how often these run, so their names are new, too.
    pub fn below(&self) -> MissionEffects {
        MissionEffects { oversight: self.oversight.clone(), run: self.anew() }
    }

    /// Returns the number of writes that were planned so far.
    pub fn planned(&self) -> usize {
        self.oversight.planner().map_or(0, Planner::count)
    }

    fn anew(&self) -> String {
        format!("{}+{}", self.run, new_run_id())
    }

    /// Returns the place of a call that a model makes by itself.
    pub fn slot(&self) -> EffectSlot {
        EffectSlot::alone(&self.oversight, &self.anew())
    }

    /// Adds the oversight to the grants of a program. Its name there has the turn and a hash, since a model may write
    /// another program when its mission is run again.
    pub fn grant(&self, grants: Grants, turn: u32, program: &str) -> Grants {
        let hash: String = Sha256::digest(program).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        grants.overseen(self.oversight.clone(), &format!("{}.{turn}.{hash}", self.run))
    }
}
