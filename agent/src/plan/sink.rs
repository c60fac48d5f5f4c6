//! Places for the plans that agents make.

use super::Plan;
use ptc_runtime::ToolError;
use std::sync::{Arc, Mutex, PoisonError};

/// Takes the plans that agents make.
pub trait PlanSink: Send + Sync {
    /// Keeps a plan. An error is told to the agent, as that of any tool.
    fn keep(&self, plan: &Plan) -> Result<(), ToolError>;
}

/// Plans in memory, newest last.
///
/// ```
/// use ptc_agent::plan::{MemoryPlans, Plan, PlanSink, PlanStep};
/// let plans = MemoryPlans::default();
/// plans.keep(&Plan::new("Report", [PlanStep::new("1", "Load")]))?;
/// assert_eq!(plans.last().unwrap().title, "Report");
/// # Ok::<(), ptc_runtime::ToolError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryPlans(Arc<Mutex<Vec<Plan>>>);

impl MemoryPlans {
    /// The most plans that it keeps. The oldest is dropped for a new one.
    pub const MOST: usize = 100;

    /// The newest.
    pub fn last(&self) -> Option<Plan> {
        self.all().pop()
    }

    /// All, newest last.
    pub fn all(&self) -> Vec<Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl PlanSink for MemoryPlans {
    fn keep(&self, plan: &Plan) -> Result<(), ToolError> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.push(plan.clone());
        let over = plans.len().saturating_sub(MemoryPlans::MOST);
        plans.drain(..over);
        Ok(())
    }
}

impl<S: PlanSink + ?Sized> PlanSink for Arc<S> {
    fn keep(&self, plan: &Plan) -> Result<(), ToolError> {
        (**self).keep(plan)
    }
}
