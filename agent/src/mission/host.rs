//! Host services of programs besides data and tools, and records of their branches.

use super::journal::Journal;
use super::place::now;
use super::step::BranchRecord;
use super::toolbox::Toolbox;
use crate::trace::{Kind, Scope};
use ptc_bytecode::Datum;
use ptc_runtime::{Branches, Frozen, TurnHost};
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Host of the programs of one mission.
pub(crate) struct Host {
    journal: Arc<Journal>,
    toolbox: Arc<Toolbox>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Finished branches of the running program.
    ended: Vec<BranchRecord>,
    running: Option<RunningBranches>,
}

/// Branches that a program waits for.
struct RunningBranches {
    scope: Scope,
    /// Scope of calls after the branches have ended.
    above: Scope,
    started: Instant,
    /// Number of missions delegated before.
    children: usize,
}

impl Host {
    pub fn new(journal: Arc<Journal>, toolbox: Arc<Toolbox>) -> Host {
        Host { journal, toolbox, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the branches of the last program, without abandoned ones.
    pub fn take_branches(&self) -> Vec<BranchRecord> {
        let state = std::mem::take(&mut *self.state());
        if let Some(RunningBranches { above, .. }) = state.running {
            self.toolbox.enter(above);
        }
        state.ended
    }
}

impl TurnHost for Host {
    fn task(&self, id: &str) -> Option<Frozen> {
        self.journal.task(id)
    }

    fn done_tasks(&self) -> Vec<String> {
        self.journal.ids()
    }

    fn task_done(&self, id: &str, value: Frozen) {
        self.journal.task_done(id, value);
    }

    fn task_reset(&self, id: &str) {
        self.journal.task_reset(id);
    }

    fn step_done(&self, id: &str, summary: &str) {
        self.journal.step_done(id, summary);
    }

    fn budget(&self) -> Datum {
        self.journal.budget()
    }

    fn branches_start(&self, branches: &Branches) {
        let above = self.toolbox.scope();
        let scope = above.child();
        // Calls of branches belong below the span of the branches.
        self.toolbox.enter(scope.clone());
        let kind = if branches.form == "pmap" { Kind::PmapStart } else { Kind::PcallsStart };
        scope.emit(kind, |event| event.put("count", branches.count));
        let children = self.toolbox.children_count();
        self.state().running = Some(RunningBranches { scope, above, started: now(), children });
    }

    fn branches_end(&self, branches: &Branches) {
        let Some(running) = self.state().running.take() else { return };
        self.toolbox.enter(running.above);
        let child_trace_ids = self.toolbox.child_traces_since(running.children);
        let kind = if branches.form == "pmap" { Kind::PmapStop } else { Kind::PcallsStop };
        running.scope.emit(kind, |event| {
            event.status = Some(if branches.failed == 0 { "ok" } else { "error" }.into());
            event.put("count", branches.count);
            event.put("success_count", branches.succeeded);
            event.put("error_count", branches.failed);
            event.put("child_trace_ids", json!(child_trace_ids));
        });
        self.state().ended.push(BranchRecord {
            form: branches.form.to_string(),
            count: branches.count as u64,
            success_count: branches.succeeded as u64,
            error_count: branches.failed as u64,
            child_trace_ids,
            duration_ms: now().saturating_duration_since(running.started).as_millis() as u64,
        });
    }
}
