//! One file per subcommand. Each takes its arguments to an exit code.

pub mod batch;
pub mod build;
pub mod check;
pub mod disasm;
pub mod doc;
pub mod eval;
pub mod inspect;
pub mod jsonl;
pub mod run;
pub mod verify;

use crate::args::Settings;
use crate::input::{Problem, grants, runtime};
use crate::report::{self, Report};
use ptc_runtime::Tools;
use std::process::ExitCode;

/// Runs one program and shows what came of it. `name` is what errors call the source.
fn run_program(source: Result<String, Problem>, name: &str, settings: &Settings) -> ExitCode {
    let ready = source.and_then(|source| Ok((source, runtime(settings)?, grants(settings)?)));
    match ready {
        Err(problem) => report::problem(&problem, settings.json),
        Ok((source, runtime, grants)) => {
            let outcome = runtime.eval(&source, &grants, &Tools::new());
            Report::new(outcome, &source, settings.json).show(settings.json, name)
        }
    }
}
