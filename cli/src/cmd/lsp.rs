//! `ptc lsp`: the language server, on standard input and output.

use crate::args::LspArgs;
use crate::preludes::select;
use crate::problem::Problem;
use crate::report::{self, FAULT, OK};
use crate::setup::plain_runtime;
use crate::stored;
use ptc_bytecode::Code;
use ptc_lsp::Project;
use std::io::{self, BufReader, IsTerminal};
use std::process::ExitCode;

pub fn run(args: &LspArgs) -> ExitCode {
    if io::stdin().is_terminal() {
        let problem = Problem::new(Code::InvalidConfig, "`ptc lsp` talks to an editor, not to a terminal")
            .hint("set it as the language server of your editor; to check files here: ptc check FILE");
        return report::problem(&problem, false);
    }
    let project = match project(args) {
        Ok(project) => project,
        Err(problem) => return report::problem(&problem, false),
    };
    // The lock of standard input cannot go to another thread.
    match ptc_lsp::serve(project, BufReader::new(io::stdin()), io::stdout().lock()) {
        Ok(true) => ExitCode::from(OK),
        // Nobody is left to be told why.
        Ok(false) | Err(_) => ExitCode::from(FAULT),
    }
}

fn project(args: &LspArgs) -> Result<Project, Problem> {
    let runtime = plain_runtime(args.limits.0)?;
    let shipped = stored::all_shipped(&runtime)?;
    let (files, of_files) = (args.preludes.clone(), runtime.clone());
    let load = move || select(&of_files, &files).map_err(|Problem(problem)| *problem);
    Project::new(runtime, shipped, Box::new(load)).map_err(|problem| Problem(Box::new(problem)))
}
