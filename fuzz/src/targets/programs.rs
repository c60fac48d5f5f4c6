//! Choices → a mostly meaningful program → its answer.

use crate::kit::{RUNTIME, STOPS, choices, told};
use ptc_runtime::Grants;
use ptc_snapshots::generate::program;
use ptc_snapshots::oracle::{Evaluator, NO_OPINION, Oracle};

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    let source = program(bytes);
    let answer = told(&RUNTIME.eval(&source, &Grants::new()));
    // The evaluator has no branches, so it has no limit on nesting them.
    let stops = |reason: &&str| STOPS.contains(reason) || *reason == "parallel_capacity_exceeded";
    if answer.as_ref().is_err_and(stops) {
        return;
    }
    let opinion = Evaluator::new(200_000, 3_000).eval(&source);
    if opinion != Err(NO_OPINION) {
        assert_eq!(answer, opinion, "the runtime and the evaluator on\n{source}");
    }
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    choices(200)
}
