//! Sinks for the plans that agents make.

use super::Plan;
use ptc_runtime::ToolError;
use std::sync::{Arc, Mutex, PoisonError};

/// Receiver of the plans that agents make.
pub trait PlanSink: Send + Sync {
    /// Keeps a plan. Errors are reported to the agent, as those of any tool.
    fn keep(&self, plan: &Plan) -> Result<(), ToolError>;
}

/// Sink that keeps plans in memory, newest last.
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
    /// Maximum number of plans kept. The oldest is dropped for a new one.
    pub const MOST: usize = 100;

    /// Returns the newest plan.
    pub fn last(&self) -> Option<Plan> {
        self.all().pop()
    }

    /// Returns all plans, newest last.
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
