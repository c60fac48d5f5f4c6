//! The ledger of a mission: under which name each of its programs writes there.

use ptc_runtime::Grants;
use ptc_runtime::effects::{Ledger, new_run_id};
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

impl MissionLedger {
    /// Returns the ledger for a mission below this one, or for a function of a prelude that its model calls. Models decide
    /// anew how often these run, so their names are new, too.
    pub(crate) fn below(&self) -> MissionLedger {
        MissionLedger { ledger: self.ledger.clone(), run: format!("{}+{}", self.run, new_run_id()) }
    }

    /// Adds the ledger to the grants of a program. Its name there has the turn and a hash, since a model may write
    /// another program when its mission is run again.
    pub(crate) fn grant(&self, grants: Grants, turn: u32, program: &str) -> Grants {
        let hash: String = Sha256::digest(program).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        grants.recorded(self.ledger.clone(), &format!("{}.{turn}.{hash}", self.run))
    }
}
