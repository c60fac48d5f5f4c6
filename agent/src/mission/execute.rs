//! Execution of programs: a text becomes an [`Execution`]. Nothing is committed yet.

use super::drive::{Ending, ProgramRun};
use super::fault::limit_of;
use super::state::{Mission, Mode};
use super::step::{CallRecord, Fail, Turn};
use crate::feedback::ProgramWarnings;
use crate::trace::Kind;
use ptc_bytecode::{Datum, Node, warning_lines};
use ptc_runtime::Frozen;
use serde_json::json;

/// A finished program that is not committed.
pub(super) struct Execution {
    pub ending: Ending,
    /// Definitions made, even if the program failed.
    pub definitions: Vec<(String, Frozen)>,
    pub warnings: ProgramWarnings,
}

/// Returns the failure of a mission that should run a program but has no engine.
pub(super) fn no_engine() -> Fail {
    Fail::new("internal_error", "the agent cannot run programs")
}

impl Mission {
    /// Runs a program and records its calls, without committing anything.
    pub(super) async fn execute(&mut self, program: &str, turn: &mut Turn) -> Result<Execution, Fail> {
        turn.program = Some(program.to_string());
        self.place.scope.emit(Kind::Program, |event| event.put("program", program));
        let budget = self.budget_datum();
        let engine = self.engine.as_mut().ok_or_else(no_engine)?;
        engine.turn = turn.number;
        engine.journal.set_budget(budget);
        engine.journal.take_reported();
        let executed = engine.execute(program, self.state.last_fail.as_ref(), &self.place).await;
        turn.tool_calls = engine.take_calls();
        self.state.branches = engine.take_branches();
        // Agents that answer in text report all calls of the run, others those of the last program.
        if self.mode != Mode::Combined {
            self.state.calls.clear();
        }
        self.state.calls.extend(turn.tool_calls.iter().cloned());
        let executed = executed?;
        if let Ending::Failed(failure) = &executed.ending {
            turn.limits_hit.extend(limit_of(failure.diagnostic().code).map(str::to_string));
        }
        let warnings = ProgramWarnings {
            program: match &executed.ending {
                Ending::Value(outcome) | Ending::Returned(outcome) => {
                    warning_lines(outcome.warnings(), outcome.source())
                }
                Ending::Failed(failure) => warning_lines(failure.warnings(), failure.source()),
            },
            calls: turn.tool_calls.iter().flat_map(|call| call.warnings.clone()).collect(),
        };
        self.state.warnings.extend(warnings.calls.iter().cloned());
        let prints = match &executed.ending {
            Ending::Value(outcome) | Ending::Returned(outcome) => outcome.prints.clone(),
            Ending::Failed(failure) => failure.prints.clone(),
        };
        turn.clear_prints = self.place.shows_secrets.then(|| match &executed.ending {
            Ending::Value(outcome) | Ending::Returned(outcome) => outcome.clear_prints(),
            Ending::Failed(failure) => failure.clear_prints(),
        });
        if !prints.is_empty() {
            let shown = turn.clear_prints.as_ref().unwrap_or(&prints);
            self.place.scope.emit(Kind::Prints, |event| event.put("prints", json!(shown)));
        }
        turn.prints = prints.clone();
        self.state.prints = prints;
        self.learn(&executed, &turn.tool_calls);
        Ok(Execution { ending: executed.ending, definitions: executed.definitions, warnings })
    }

    /// Remembers firewalled values before anything is shown.
    fn learn(&self, executed: &ProgramRun, calls: &[CallRecord]) {
        let mut secrets = self.place.secrets();
        for (name, value) in &executed.definitions {
            secrets.learn_frozen(Some(name), value);
        }
        match &executed.ending {
            Ending::Value(outcome) | Ending::Returned(outcome) => {
                if let Ok(datum) = outcome.datum() {
                    secrets.learn(&datum);
                }
            }
            Ending::Failed(failure) => {
                if let Some(value) = &failure.value {
                    secrets.learn(value);
                }
            }
        }
        for call in calls {
            if let Ok(args) = ptc_runtime::bridge::json_to_datum(&call.args) {
                secrets.learn(&args);
            }
        }
    }

    /// Returns the value of `(budget/remaining)`.
    pub(super) fn budget_datum(&self) -> Datum {
        let key = |name: &str| Node::Keyword(name.into());
        let int = |n: u64| Node::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let (state, tokens) = (&self.state, &self.state.tokens);
        // The current turn counts as taken.
        let work = u64::from(state.work_left.saturating_sub(1));
        let nodes = vec![
            key("turns"),
            int(self.place.budget.left()),
            key("work-turns"),
            int(work),
            key("retry-turns"),
            int(u64::from(state.retry_left)),
            key("depth"),
            key("current"),
            int(u64::from(self.place.depth)),
            key("max"),
            int(u64::from(self.place.max_depth)),
            Node::Map(2),
            key("tokens"),
            key("input"),
            int(tokens.input.unwrap_or(0)),
            key("output"),
            int(tokens.output.unwrap_or(0)),
            key("total"),
            int(tokens.total()),
            key("cache-creation"),
            int(tokens.cache_creation.unwrap_or(0)),
            key("cache-read"),
            int(tokens.cache_read.unwrap_or(0)),
            Node::Map(5),
            key("llm-requests"),
            int(state.llm_requests),
            Node::Map(6),
        ];
        Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Map(0)))
    }
}
