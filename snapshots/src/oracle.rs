//! Second opinions: several implementations that answer programs, behind one trait.
//!
//! [`Subject`] is the runtime under test. [`Evaluator`] walks the resolved forms with owned values
//! and shares no code with the VM: it is slow, keeps maps as lists of pairs, and calls functions by
//! recursion. Where the two disagree, one of them is wrong.

mod arith;
mod builtins;
mod eval;
mod keyed;
mod lookup;
mod order;
mod print;
mod sequences;
mod value;

pub use value::NO_OPINION;

use crate::runtime;
use bumpalo::Bump;
use ptc_bytecode::Limits;
use ptc_compiler::{Options, Scope, resolve_source};
use ptc_runtime::{Failure, Grants, Outcome, Runtime};

/// An implementation that answers programs.
pub trait Oracle {
    /// Returns the name of the implementation.
    fn name(&self) -> &str;
    /// Returns the printed value of a program, or the reason it has none.
    fn eval(&mut self, source: &str) -> Result<String, &'static str>;
    /// Returns the lines the last program printed.
    fn prints(&self) -> &[String];
}

/// The runtime under test.
pub struct Subject {
    runtime: Runtime,
    prints: Vec<String>,
    fuel: u64,
}

impl Default for Subject {
    fn default() -> Subject {
        Subject::new(runtime())
    }
}

impl Subject {
    /// Creates a subject for this runtime.
    pub fn new(runtime: Runtime) -> Subject {
        Subject { runtime, prints: Vec::new(), fuel: 0 }
    }

    /// Returns the fuel that the last program used.
    pub fn fuel(&self) -> u64 {
        self.fuel
    }

    fn run(&mut self, source: &str) -> Result<String, Failure> {
        let outcome: Result<Outcome, Failure> = self.runtime.eval(source, &Grants::new());
        (self.prints, self.fuel) = match &outcome {
            Ok(outcome) => (outcome.prints.clone(), outcome.fuel),
            Err(failure) => (failure.prints.clone(), failure.fuel),
        };
        let outcome = outcome?;
        Ok(outcome.print().unwrap_or_else(|fault| format!("cannot be printed: {}", fault.code().reason())))
    }
}

impl Oracle for Subject {
    fn name(&self) -> &str {
        "the runtime"
    }

    fn eval(&mut self, source: &str) -> Result<String, &'static str> {
        self.run(source).map_err(|failure| failure.reason())
    }

    fn prints(&self) -> &[String] {
        &self.prints
    }
}

/// A slow evaluator of resolved forms.
pub struct Evaluator {
    steps: u64,
    depth: u32,
    prints: Vec<String>,
}

impl Default for Evaluator {
    fn default() -> Evaluator {
        Evaluator::new(2_000_000, 50_000)
    }
}

impl Evaluator {
    /// Creates an evaluator that gives no opinion after `steps` core forms and calls, or when they nest deeper
    /// than `depth`.
    pub fn new(steps: u64, depth: u32) -> Evaluator {
        Evaluator { steps, depth, prints: Vec::new() }
    }
}

/// Stack size for one level of recursion, with some to spare for comparing and printing.
const LEVEL_BYTES: usize = 16 << 10;

impl Oracle for Evaluator {
    fn name(&self) -> &str {
        "the evaluator"
    }

    fn eval(&mut self, source: &str) -> Result<String, &'static str> {
        let (steps, depth) = (self.steps, self.depth);
        let joined = std::thread::scope(|scope| {
            std::thread::Builder::new()
                .stack_size(depth as usize * LEVEL_BYTES)
                .spawn_scoped(scope, || evaluate(source, steps, depth))
                .expect("a thread")
                .join()
        });
        let answer;
        (answer, self.prints) = match joined {
            Ok(answer) => answer,
            Err(thrown) if thrown.is::<value::GaveUp>() => (Err(NO_OPINION), Vec::new()),
            Err(panic) => std::panic::resume_unwind(panic),
        };
        answer
    }

    fn prints(&self) -> &[String] {
        &self.prints
    }
}

fn evaluate(source: &str, steps: u64, depth: u32) -> (Result<String, &'static str>, Vec<String>) {
    value::allow(steps);
    let arena = Bump::new();
    let options = Options::default();
    match resolve_source(source, &Scope::default(), &Limits::default(), options, &arena) {
        Ok(resolved) => eval::Machine::new(resolved, depth).run(),
        Err(problems) => (Err(problems[0].code.reason()), Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Evaluator, NO_OPINION, Oracle};
    use ptc_bytecode::BUILTINS;

    /// Checks the evaluator itself: the examples of the builtin table are written by hand.
    #[test]
    fn the_evaluator_agrees_with_the_examples_of_the_builtin_table() {
        let mut evaluator = Evaluator::default();
        let mut known = 0;
        for row in BUILTINS {
            let Some((program, wanted)) = row.example.split_once(" ;=> ") else { continue };
            let answer = evaluator.eval(program);
            if answer != Err(NO_OPINION) {
                known += 1;
                assert_eq!(answer, Ok(wanted.to_string()), "{program}");
            }
        }
        assert!(known > 150, "only {known} examples are within its reach");
    }
}
