//! The REPL: an input in, an answer out. [`Repl`] knows no terminal; [`terminal`] brings one, and
//! [`stream`] reads files and pipes.
//!
//! One input is one program and one turn of the session, as it would be for an agent: all of its
//! definitions are kept or none, and `return` ends all of it.

mod candidates;
mod commands;
mod facade;
mod hint;
mod history;
mod indent;
mod input;
mod interrupt;
mod keys;
mod keywords;
mod layout;
mod lookup;
mod matching;
pub mod paint;
mod show;
pub mod stream;
mod subagent;
pub mod terminal;
mod world;

pub use facade::Facade;
pub use interrupt::Interrupt;
pub use layout::Look;
pub use world::World;

use crate::problem::Problem;
use crate::report::{Report, Warnings};
use keywords::Keywords;
use ptc_bytecode::Code;
use world::{ProgramErrors, TimedRun};

/// A REPL.
pub struct Repl {
    world: World,
    look: Look,
    /// One JSON object for each program.
    json: bool,
    /// True if the time of each program is shown.
    timing: bool,
    /// Keywords seen, which completion offers.
    keywords: Keywords,
}

/// Answer to an input.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
    /// True if something went wrong.
    pub failed: bool,
    /// True if the REPL is to end.
    pub leaves: bool,
}

impl Answer {
    fn out(text: impl Into<String>) -> Answer {
        Answer { out: text.into(), ..Answer::default() }
    }

    fn failed(text: impl Into<String>) -> Answer {
        Answer { err: text.into(), failed: true, ..Answer::default() }
    }
}

/// An answer, or what was wrong with a file or a value that was given.
fn or_problem(result: Result<Answer, Problem>) -> Answer {
    result.unwrap_or_else(|problem| {
        let hint = problem.0.hint.as_ref().map(|hint| format!(" hint: {hint}\n")).unwrap_or_default();
        Answer::failed(format!("error: {}\n{hint}", problem.0.message))
    })
}

fn usage(message: impl Into<String>) -> Problem {
    Problem::new(ptc_bytecode::Code::InvalidConfig, message)
}

/// Whatever answers to inputs.
pub trait Feed {
    /// Answers to an input: a command, or a program.
    fn feed(&mut self, input: &str) -> Answer;
}

impl Repl {
    pub fn new(world: World, look: Look, json: bool) -> Repl {
        Repl { world, look, json, timing: false, keywords: Default::default() }
    }

    /// Runs a program, which errors call `name`.
    pub fn program(&mut self, source: &str, name: &str) -> Answer {
        self.program_as(source, name, true, self.timing)
    }

    /// Runs a program for its definitions; its value is not shown.
    pub fn load(&mut self, source: &str, name: &str) -> Answer {
        self.program_as(source, name, false, false)
    }

    fn program_as(&mut self, source: &str, name: &str, with_value: bool, timing: bool) -> Answer {
        self.keywords.see(source);
        let TimedRun { result, elapsed } = self.world.run(source);
        if self.json {
            // What was only loaded has nothing to say unless it failed.
            return if with_value || result.is_err() { json(result, source) } else { Answer::default() };
        }
        let (mut out, mut err, fuel, failed) = match result {
            Ok(outcome) => {
                let warnings = Warnings::new(outcome.warnings(), source);
                let mut out = show::prints(&outcome.prints);
                let mut err = String::new();
                if with_value {
                    match show::value(&outcome, source, self.look) {
                        Ok(text) => out.push_str(&text),
                        Err(errors) => err = show::errors(&errors, name, self.look),
                    }
                    self.keywords.see_value(&outcome);
                }
                let failed = !err.is_empty();
                err.push_str(&show::warnings(&warnings, name, self.look));
                (out, err, outcome.fuel, failed)
            }
            Err(ProgramErrors { errors, prints, spent, warnings }) => {
                // The terminal has shown `^C` where the error would begin.
                let is_stopped = errors.diagnostics.iter().any(|found| found.code == Code::Cancelled);
                let line_end = if is_stopped && self.look.width.is_some() { "\n" } else { "" };
                let mut err = format!("{line_end}{}", show::errors(&errors, name, self.look));
                err.push_str(&show::warnings(&warnings, name, self.look));
                (show::prints(&prints), err, spent.fuel, true)
            }
        };
        if timing {
            let told = show::timing(elapsed, fuel, self.look.colour);
            if failed { err.push_str(&told) } else { out.push_str(&told) }
        }
        Answer { out, err, failed, leaves: false }
    }
}

/// Outcome of a program as one object.
fn json(result: Result<ptc_runtime::Outcome, ProgramErrors>, source: &str) -> Answer {
    let report = match result {
        Ok(outcome) => Report::new(Ok(outcome), source, true),
        Err(ProgramErrors { errors, prints, spent, warnings }) => {
            Report { prints, spent, result: Err(*errors), warnings }
        }
    };
    Answer { out: report.to_json("") + "\n", failed: report.result.is_err(), ..Answer::default() }
}

#[cfg(test)]
mod tests;
