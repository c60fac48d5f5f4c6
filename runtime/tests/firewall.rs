//! The firewall: values under names that begin with `_` take part in computations and are never shown.

#[path = "firewall/examples.rs"]
mod examples;
#[path = "firewall/secrets.rs"]
mod secrets;
#[path = "firewall/travels.rs"]
mod travels;

use ptc_runtime::{Failure, Grants, Outcome, Runtime};

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).unwrap()
}

/// Joins everything of a run that a model may be shown into one text.
fn public(result: &Result<Outcome, Failure>) -> String {
    let mut text = Vec::new();
    match result {
        Ok(outcome) => {
            text.extend(outcome.prints.iter().cloned());
            text.push(shown(outcome));
        }
        Err(failure) => {
            text.extend(failure.prints.iter().cloned());
            for diagnostic in &failure.diagnostics {
                text.push(diagnostic.message.clone());
                text.extend(diagnostic.hint.clone());
                text.push(format!("{:?}", diagnostic.subject));
            }
        }
    }
    text.join("\n")
}

/// Prints the value of a run as it is shown, with firewalled parts hidden.
fn shown(outcome: &Outcome) -> String {
    outcome.freeze().read(|heap, value| {
        let mut text = String::new();
        let _ = heap.print(value, &mut text, 1 << 20);
        text
    })
}

fn eval(source: &str, grants: &Grants) -> Result<Outcome, Failure> {
    runtime().eval(source, grants)
}

/// Runs a program; returns the value the host gets, printed, and the value that is shown.
fn both(source: &str, grants: &Grants) -> (String, String) {
    let outcome = eval(source, grants).unwrap_or_else(|failure| panic!("{source}: {failure:?}"));
    (outcome.print().unwrap(), shown(&outcome))
}
