//! `(budget/remaining)` in the server's programs: time, and what may still be asked of upstream servers.

use ptc_bytecode::{Datum, Node};
use ptc_runtime::{Frozen, TurnHost};
use ptc_upstream::{ProgramHost, RunContext};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Budget of one program. It has no journal: tasks run whenever a program reaches them.
pub(crate) struct ProgramBudget {
    until: Instant,
    servers: Option<Arc<RunContext>>,
}

impl ProgramBudget {
    /// Creates the budget of a program that has `left` from now on.
    pub fn of(host: &ProgramHost, left: Duration) -> Arc<ProgramBudget> {
        Arc::new(ProgramBudget { until: Instant::now() + left, servers: host.context() })
    }
}

impl TurnHost for ProgramBudget {
    fn task(&self, _: &str) -> Option<Frozen> {
        None
    }

    fn task_done(&self, _: &str, _: Frozen) {}

    fn task_reset(&self, _: &str) {}

    fn step_done(&self, _: &str, _: &str) {}

    fn budget(&self) -> Datum {
        let left = self.until.saturating_duration_since(Instant::now());
        let mut entries = vec![("timeout-ms", left.as_millis() as u64)];
        if let Some(servers) = &self.servers {
            entries.extend([("upstream-calls", servers.calls_left()), ("catalog-ops", servers.ops_left())]);
        }
        let mut nodes = Vec::new();
        for (name, left) in &entries {
            nodes.push(Node::Keyword((*name).into()));
            nodes.push(Node::Int(i64::try_from(*left).unwrap_or(i64::MAX)));
        }
        nodes.push(Node::Map(entries.len() as u32));
        Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Nil))
    }
}
