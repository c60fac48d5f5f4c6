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

use crate::report::Report;
use candidates::Names;
use ptc_bytecode::Code;
use std::time::Duration;
use world::{Ran, Wrong};

/// A REPL.
pub struct Repl {
    world: World,
    look: Look,
    /// One JSON object for each program.
    json: bool,
    /// Whether to tell how long each program took.
    timing: bool,
    /// Keywords seen, which completion offers.
    keywords: candidates::Keywords,
}

/// What an input is answered with.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
    /// Whether something went wrong.
    pub failed: bool,
    /// Whether the REPL is to end.
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

/// Whatever answers to inputs.
pub trait Feed {
    /// Answers to an input: a command, or a program.
    fn feed(&mut self, input: &str) -> Answer;
}

impl Feed for Repl {
    fn feed(&mut self, input: &str) -> Answer {
        match commands::find(input) {
            Some((command, rest)) => (command.run)(self, rest),
            None if input::is_blank(input) => Answer::default(),
            None => {
                let mut answer = self.program(input, "input");
                answer.err.push_str(&commands::near_miss(input, self.look.width.is_some()));
                answer
            }
        }
    }
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
        let Ran { result, elapsed } = self.world.run(source);
        if self.json {
            // What was only loaded has nothing to say unless it failed.
            return if with_value || result.is_err() { json(result, source) } else { Answer::default() };
        }
        let (mut out, mut err, fuel, failed) = match result {
            Ok(outcome) => {
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
                (out, err, outcome.fuel, failed)
            }
            Err(Wrong { errors, prints, spent }) => {
                // The terminal has shown `^C` where the error would begin.
                let is_stopped = errors.diagnostics.iter().any(|found| found.code == Code::Cancelled);
                let line_end = if is_stopped && self.look.width.is_some() { "\n" } else { "" };
                let err = format!("{line_end}{}", show::errors(&errors, name, self.look));
                (show::prints(&prints), err, spent.fuel, true)
            }
        };
        if timing {
            let told = show::timing(elapsed, fuel, self.look.colour);
            if failed { err.push_str(&told) } else { out.push_str(&told) }
        }
        Answer { out, err, failed, leaves: false }
    }

    /// What completion and hints know at this moment.
    fn names(&self) -> Names {
        Names::of(&self.world, &self.keywords)
    }
}

/// What came of a program as one object.
fn json(result: Result<ptc_runtime::Outcome, Wrong>, source: &str) -> Answer {
    let report = match result {
        Ok(outcome) => Report::new(Ok(outcome), source, true),
        Err(Wrong { errors, prints, spent }) => Report { prints, spent, result: Err(errors) },
    };
    Answer { out: report.to_json("") + "\n", failed: report.result.is_err(), ..Answer::default() }
}

/// A span of time for people: `1.3 ms`.
fn duration(time: Duration) -> String {
    let nanos = time.as_nanos();
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.0} µs", nanos as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", nanos as f64 / 1e6),
        _ => format!("{:.2} s", nanos as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests;
