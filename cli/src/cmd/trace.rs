//! `ptc trace`: what agents did.

use crate::args::{TraceArgs, TraceAt, TraceCommand};
use crate::colour;
use crate::input::read;
use crate::problem::Problem;
use crate::report::{self, OK};
use crate::trace::text;
use ptc_agent::trace::Analyzer;
use ptc_bytecode::Code;
use ptc_studio::trace::{page, problems};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn run(args: &TraceArgs) -> ExitCode {
    let (json, done) = match &args.command {
        TraceCommand::Show { at, programs, slowest, json } => {
            let shown = load(at).map(|trace| match (json, slowest) {
                (true, _) => text::json(&trace) + "\n",
                (false, Some(most)) => text::slowest(&trace, usize::from(*most)),
                (false, None) => text::tree(&trace, *programs, colour()),
            });
            (*json, shown)
        }
        TraceCommand::View { at, output } => (false, view(at, output.as_deref())),
        TraceCommand::Chrome { at } => {
            (false, load(at).map(|trace| trace.export_chrome_trace().to_string() + "\n"))
        }
    };
    match done {
        Ok(text) => report::out(&text, OK),
        Err(problem) => report::problem(&problem, json),
    }
}

fn colour() -> bool {
    colour::on(&io::stdout())
}

/// The trace; what is wrong with some of its lines goes to standard error.
fn load(at: &TraceAt) -> Result<Analyzer, Problem> {
    let loaded = if at.file == Path::new("-") {
        Analyzer::parse(&read(&at.file)?, "standard input")
    } else {
        Analyzer::load(&at.file)
    };
    let trace = loaded.map_err(|error| Problem::new(Code::InvalidConfig, error.to_string()))?;
    for problem in problems(&trace) {
        let _ = writeln!(io::stderr(), "warning: {problem}");
    }
    Ok(trace)
}

fn view(at: &TraceAt, output: Option<&Path>) -> Result<String, Problem> {
    let trace = load(at)?;
    let html = page::html(&trace);
    let output = match output {
        Some(output) => output.to_path_buf(),
        None if at.file == Path::new("-") => PathBuf::from("-"),
        None => at.file.with_extension("html"),
    };
    if output == Path::new("-") {
        return Ok(html);
    }
    if output == at.file {
        let message = format!("{} is the trace itself; name another file with -o", output.display());
        return Err(Problem::new(Code::InvalidConfig, message));
    }
    std::fs::write(&output, html).map_err(|error| {
        Problem::new(Code::InvalidConfig, format!("cannot write {}: {error}", output.display()))
    })?;
    Ok(format!("{}\n", output.display()))
}
