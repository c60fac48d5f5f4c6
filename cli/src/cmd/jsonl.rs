//! `ptc eval --jsonl`: a stream of programs in, a stream of results out, each run on its own.
//!
//! A bad line gives an error object, and the stream continues. Output is flushed whenever
//! no further input is waiting, so a driver that writes a line and waits for its answer gets it,
//! while a large file is written in blocks.

use crate::args::{Settings, WriteArgs};
use crate::input::{freeze, read_line, waiting_for};
use crate::oversight::Overseeing;
use crate::problem::Problem;
use crate::report::{self, Report};
use crate::setup::engine;
use ptc::Engine;
use ptc_bytecode::{Code, Diagnostic, Limits};
use ptc_runtime::Grants;
use ptc_upstream::ProgramHost;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufReader, BufWriter, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// One line of input. Its members stay text at first: the id can then be given back with whatever is
/// wrong elsewhere, and data are read once, into the place the run uses.
#[derive(Deserialize)]
struct Line<'line> {
    #[serde(borrow)]
    id: Option<&'line RawValue>,
    #[serde(borrow)]
    program: Option<&'line RawValue>,
    #[serde(borrow)]
    context: Option<&'line RawValue>,
}

pub fn run(settings: &Settings, write: &WriteArgs) -> ExitCode {
    let engine = match engine(settings, write, &ProgramHost::new(None), &Overseeing::default()) {
        Ok(engine) => engine,
        Err(problem) => return report::problem(&problem, settings.json),
    };
    waiting_for("requests, one per line,");
    let stdin = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let stdout = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match stream(stdin, stdout, |line| answer(line, &engine)) {
        Ok(()) => ExitCode::from(report::OK),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(report::OK),
        Err(error) => {
            report::problem(&Problem::new(Code::InvalidConfig, format!("the stream failed: {error}")), false)
        }
    }
}

/// Answers line by line until the input ends.
fn stream<R: io::Read>(
    mut input: BufReader<R>,
    mut output: impl Write,
    mut answer: impl FnMut(&[u8]) -> String,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if read_line(&mut input, &mut line)? == 0 {
            return output.flush();
        }
        if !line.trim_ascii().is_empty() {
            output.write_all(answer(line.trim_ascii()).as_bytes())?;
            output.write_all(b"\n")?;
        }
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
}

/// The answer to one line.
fn answer(line: &[u8], engine: &Engine) -> String {
    let line: Line<'_> = match serde_json::from_slice(line) {
        Ok(line) => line,
        Err(error) => {
            return bad_line(format!("the line is not a valid request: {error}")).to_json("\"id\":null,");
        }
    };
    // A bug of ours in one program is no reason to lose the answers to all the others.
    let report = catch_unwind(AssertUnwindSafe(|| run_line(&line, engine)))
        .unwrap_or_else(|_| Report::error(Diagnostic::without_span(Code::Internal, "the run panicked")));
    report.to_json(&format!(r#""id":{},"#, line.id.map_or("null", RawValue::get)))
}

fn run_line(line: &Line<'_>, engine: &Engine) -> Report {
    let Some(program) = line.program else {
        return bad_line("the line has no \"program\"");
    };
    let Ok(program) = serde_json::from_str::<String>(program.get()) else {
        return bad_line("\"program\" is not a string");
    };
    let context = match line.context.map(|text| serde_json::from_str(text.get())) {
        Some(Ok(context)) => context,
        Some(Err(_)) => return bad_line("\"context\" is not an object"),
        None => BTreeMap::new(),
    };
    match granted(engine.granted(), &context, engine.runtime().current_limits()) {
        Ok(grants) => Report::new(engine.clone().grants(grants).run(&program), &program, true),
        Err(diagnostic) => Report::error(diagnostic),
    }
}

/// The data of every line, and over them the line's own.
fn granted(
    shared: &Grants,
    context: &BTreeMap<Cow<'_, str>, &RawValue>,
    limits: &Limits,
) -> Result<Grants, Diagnostic> {
    context.iter().try_fold(shared.clone(), |grants, (name, text)| {
        let value = freeze(text.get().as_bytes(), limits).map_err(|mut diagnostic| {
            diagnostic.message = format!("context.{name}: {}", diagnostic.message);
            diagnostic.span = None;
            diagnostic
        })?;
        Ok(grants.frozen(name, value))
    })
}

fn bad_line(message: impl Into<String>) -> Report {
    let diagnostic = Diagnostic::without_span(Code::InvalidData, message)
        .hint(r#"write {"id":1,"program":"(+ 1 data/n)","context":{"n":2}}"#);
    Report::error(diagnostic)
}

#[cfg(test)]
mod tests {
    use super::stream;
    use std::io::BufReader;

    #[test]
    fn every_line_but_a_blank_one_is_answered() {
        let mut out = Vec::new();
        let echo = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        stream(BufReader::new(&b"a\r\n\n  \nb"[..]), &mut out, echo).unwrap();
        assert_eq!(out, b"a\nb\n");
    }
}
