//! Text → its answer as a program.

use crate::kit::{LIMITS, RUNTIME, told};
use ptc_runtime::{Grants, Tools};

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    let tools = Tools::new().with_answer("id", |args| Ok(args.datum().clone().into()));
    let [fast, plain] = [true, false].map(|optimize| {
        let outcome = RUNTIME.clone().optimize(optimize).with_tools(tools.clone()).eval(text, &Grants::new());
        if let Ok(outcome) = &outcome {
            assert!(outcome.tool_calls <= LIMITS.tool_calls, "{} calls: {text}", outcome.tool_calls);
        }
        let fuel = outcome.as_ref().map_or_else(|failure| failure.fuel, |outcome| outcome.fuel);
        (told(&outcome), fuel)
    });
    if ![&fast, &plain].iter().any(|(answer, _)| *answer == Err("timeout")) {
        assert_eq!(fast, plain, "{text}");
    }
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = super::compiler::seeds();
    seeds.extend(crate::kit::texts(crate::kit::PROGRAMS));
    seeds
}
