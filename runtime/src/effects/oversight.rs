//! What is done about the calls of a run that may change something.

use super::approval::Approvals;
use super::plan::{self, CarriedPlan, Planner};
use ptc_effects::Ledger;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Oversight of the calls of a run that may change something: a ledger that writes them down, a plan that lists them instead
/// of sending them, a plan that they have to follow, and a person who approves them. Empty at first: then all calls are made.
///
/// ```
/// use ptc_runtime::{Grants, Runtime, Tools, effects::*};
/// use std::sync::Arc;
/// # let folder = tempfile::tempdir()?;
/// let ledger = Arc::new(FileLedger::open(folder.path().join("effects.ledger"))?);
/// let planner = Planner::new();
/// let tools = || Tools::new().with("pay", |_| Ok("paid"));
/// let runtime = Runtime::with_core(ptc_preludes::core())?.with_tools(tools());
/// let source = "(tool/pay {:eur 5})";
///
/// let planning = Grants::new().overseen(Oversight::new().record(ledger.clone()).plan(&planner), "bill-7");
/// let plan = planner.plan(source, &runtime.eval(source, &planning).map(drop));
/// let carried = CarriedPlan::new(plan, None)?;
/// let doing = Grants::new().overseen(Oversight::new().record(ledger).carry_out(&carried), "bill-7");
/// assert_eq!(runtime.eval(source, &doing)?.print()?, "\"paid\"");
/// let other = Grants::new().overseen(Oversight::new().carry_out(&carried), "bill-8");
/// assert_eq!(runtime.eval("(tool/pay {:eur 50})", &other).unwrap_err().reason(), "plan_differs");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Oversight {
    pub(super) ledger: Option<Arc<dyn Ledger>>,
    pub(super) planner: Option<Planner>,
    pub(super) carried: Option<CarriedPlan>,
    pub(super) approvals: Option<Approvals>,
}

impl Oversight {
    /// Makes an oversight that does nothing yet.
    pub fn new() -> Oversight {
        Oversight::default()
    }

    /// Writes calls to a ledger before they are sent, so that none is sent twice.
    #[must_use]
    pub fn record(mut self, ledger: Arc<dyn Ledger>) -> Oversight {
        self.ledger = Some(ledger);
        self
    }

    /// Lists calls instead of sending them. Calls that the ledger has give the answer they had.
    #[must_use]
    pub fn plan(mut self, planner: &Planner) -> Oversight {
        self.planner = Some(planner.clone());
        self
    }

    /// Makes only the calls that a plan lists: the first that differs stops the run before it is sent.
    #[must_use]
    pub fn carry_out(mut self, plan: &CarriedPlan) -> Oversight {
        self.carried = Some(plan.clone());
        self
    }

    /// Makes only calls that a policy allows, or a person.
    #[must_use]
    pub fn approve(mut self, approvals: &Approvals) -> Oversight {
        self.approvals = Some(approvals.clone());
        self
    }

    /// Returns the ledger.
    pub fn ledger(&self) -> Option<&Arc<dyn Ledger>> {
        self.ledger.as_ref()
    }

    /// Returns a hash of these bytes: that of the ledger, which has a key. Without a ledger it has none, and stays in memory.
    pub fn hash(&self, bytes: &[u8]) -> String {
        match &self.ledger {
            Some(ledger) => ledger.keyed_hash(bytes),
            None => plan::hex(&Sha256::digest(bytes)),
        }
    }

    /// Returns the recorder of a plan.
    pub fn planner(&self) -> Option<&Planner> {
        self.planner.as_ref()
    }

    /// Returns the approvals.
    pub fn approvals(&self) -> Option<&Approvals> {
        self.approvals.as_ref()
    }

    /// True if something is decided about a call before the ledger is written.
    pub(super) fn decides_first(&self) -> bool {
        self.planner.is_some() || self.carried.is_some() || self.approvals.is_some()
    }
}
