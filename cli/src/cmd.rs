//! One file per subcommand. Each takes its arguments to an exit code.

pub mod agent;
pub mod batch;
pub mod build;
pub mod check;
pub mod disasm;
pub mod doc;
pub mod eval;
pub mod inspect;
pub mod jsonl;
pub mod repl;
pub mod run;
pub mod store;
pub mod trace;
pub mod verify;

use crate::args::{Settings, WriteArgs};
use crate::input::{Problem, grants, runtime_that_writes};
use crate::report::{self, Report};
use std::process::ExitCode;

/// Runs one program and shows what came of it. `name` is what errors call the source.
fn run_program(
    source: Result<String, Problem>,
    name: &str,
    settings: &Settings,
    write: &WriteArgs,
) -> ExitCode {
    let ready =
        source.and_then(|source| Ok((source, runtime_that_writes(settings, write)?, grants(settings)?)));
    match ready {
        Err(problem) => report::problem(&problem, settings.json),
        Ok((source, (runtime, tools), grants)) => {
            let outcome = runtime.eval(&source, &grants, &tools);
            Report::new(outcome, &source, settings.json).show(settings.json, name)
        }
    }
}
