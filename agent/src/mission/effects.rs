//! The ledger of a mission: under which name each of its programs writes there.

use ptc_bytecode::Datum;
use ptc_runtime::Grants;
use ptc_runtime::effects::{EffectId, EffectSlot, Ledger, Oversight, Planner};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Longest name of a run below another.
const LONGEST: usize = 140;

/// Returns this many digits of a text's hash.
fn digits(text: &str, count: usize) -> String {
    ptc_bytecode::hex(&Sha256::digest(text).into()).chars().take(count).collect()
}

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
    /// Returns the oversight with this ledger and the rest, if there is any.
    pub fn of(
        ledger: Option<&MissionLedger>,
        oversight: Option<&Oversight>,
        name: Option<&str>,
    ) -> Option<MissionEffects> {
        if ledger.is_none() && oversight.is_none() {
            return None;
        }
        let base = oversight.cloned().unwrap_or_default();
        Some(match ledger {
            Some(MissionLedger { ledger, run }) => {
                MissionEffects { oversight: base.record(ledger.clone()), run: run.clone() }
            }
            None => MissionEffects { oversight: base, run: name.unwrap_or("mission").to_string() },
        })
    }

    /// Returns the oversight for a mission below this one, or for a function of a prelude that its model calls: named after the
    /// call that starts it, so that it is recognised when that call is made again.
    pub fn below(&self, by: &EffectSlot) -> MissionEffects {
        let name = format!("{}+{}", by.id().run(), by.id().key());
        // Missions may nest deeper than a name may be long.
        let run = if name.len() <= LONGEST { name } else { format!("{}+{}", self.root(), digits(&name, 16)) };
        MissionEffects { oversight: self.oversight.clone(), run }
    }

    /// Returns the beginning of the name, which says where a long one belongs.
    fn root(&self) -> String {
        self.run.split('+').next().unwrap_or_default().chars().take(60).collect()
    }

    /// Returns a hash of a call that the model makes by itself, which says nothing about its arguments to others.
    pub fn hash(&self, tool: &str, args: &Datum) -> String {
        let args = serde_json::to_string(args.nodes()).unwrap_or_default();
        self.oversight.hash(format!("{tool} {args}").as_bytes()).chars().take(16).collect()
    }

    /// Returns the place of a call that the model makes by itself. Its name has a hash of what is called, since the model may
    /// make other calls when its mission is run again; `number` tells equal calls of a turn apart.
    pub fn native(&self, turn: u32, of: &str, number: u32) -> EffectSlot {
        let id = EffectId::new(&format!("{}.{turn}", self.run), &format!("{of}:{number}"));
        EffectSlot::of(&self.oversight, id)
    }

    /// Returns the number of writes that were planned so far.
    pub fn planned(&self) -> usize {
        self.oversight.planner().map_or(0, Planner::count)
    }

    /// Adds the oversight to the grants of a program. Its name there has the turn and a hash, since a model may write
    /// another program when its mission is run again.
    pub fn grant(&self, grants: Grants, turn: u32, program: &str) -> Grants {
        let hash = digits(program, 8);
        grants.overseen(self.oversight.clone(), &format!("{}.{turn}.{hash}", self.run))
    }
}
