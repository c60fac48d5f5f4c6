//! `ptc batch`: one program over the lines of a JSONL file or stream.
//!
//! Results go to standard output or `-o`, failures as JSON objects to standard error or `--errors`,
//! and a summary to standard error.

use crate::args::BatchArgs;
use crate::input::{Problem, grants, read_program, runtime};
use crate::report::{self, Errors, Report};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use ptc_bytecode::Code;
use ptc_runtime::{Batch, Cancel, Ending, Failure, Progress, Summary};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// What shells give for a process that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

pub fn run(args: &BatchArgs) -> ExitCode {
    match prepare(args) {
        Ok(Ready { batch, files }) => finish(args, files.run(&batch, args)),
        Err(Refusal::Problem(problem)) => report::problem(&problem, args.settings.json),
        Err(Refusal::Program(failure, name)) => {
            let source = failure.source().to_string();
            Report::new(Err(*failure), &source, args.settings.json).show(args.settings.json, &name)
        }
    }
}

/// Why nothing was run.
enum Refusal {
    Problem(Problem),
    Program(Box<Failure>, String),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        Refusal::Problem(problem)
    }
}

struct Ready {
    batch: Batch,
    files: Files,
}

fn prepare(args: &BatchArgs) -> Result<Ready, Refusal> {
    let (program, input) = match &args.expr {
        // With -e, the first file is the input.
        Some(_) if args.input.is_some() => {
            let message = "-e is the program, so only one file can be the input";
            return Err(Problem::new(Code::InvalidConfig, message).into());
        }
        Some(expr) => ((expr.clone(), "-e".to_string()), &args.program),
        None => {
            let Some(file) = &args.program else {
                let message = "a program is missing: name its file, or write it after -e";
                return Err(Problem::new(Code::InvalidConfig, message).into());
            };
            ((read_program(file)?, file.display().to_string()), &args.input)
        }
    };
    let (source, name) = program;
    let runtime = runtime(&args.settings)?;
    let program = runtime.compile(&source).map_err(|failure| Refusal::Program(Box::new(failure), name))?;
    let mut batch = Batch::new(&runtime, &program)
        .grants(grants(&args.settings)?)
        .ordered(!args.unordered)
        .fail_fast(args.fail_fast)
        .max_line_bytes(usize::try_from(args.max_line).unwrap_or(usize::MAX));
    if let Some(threads) = args.threads {
        batch = batch.threads(usize::from(threads));
    }
    if let Some(records) = args.take {
        batch = batch.take(records);
    }
    Ok(Ready { batch: batch.cancel(&on_interrupt()?), files: Files::open(args, input.as_deref())? })
}

/// A flag that Ctrl-C sets. A second Ctrl-C ends the process at once.
fn on_interrupt() -> Result<Cancel, Problem> {
    let cancel = Cancel::new();
    let flag = cancel.clone();
    let handler = move || {
        if flag.is_cancelled() {
            std::process::exit(i32::from(INTERRUPTED));
        }
        flag.cancel();
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Problem::new(Code::Internal, format!("cannot watch for Ctrl-C: {error}")))?;
    Ok(cancel)
}

/// Where records come from, and where results and failures go.
struct Files {
    input: Box<dyn Read + Send>,
    /// Of the input, if that is known.
    bytes: Option<u64>,
    output: Box<dyn Write>,
    errors: Box<dyn Write>,
}

impl Files {
    fn open(args: &BatchArgs, input: Option<&Path>) -> Result<Files, Problem> {
        let from = input.filter(|file| *file != Path::new("-"));
        let (input, bytes): (Box<dyn Read + Send>, _) = match from {
            None => (Box::new(io::stdin()), None),
            Some(path) => {
                let file = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
                let (about, file) = file.map_err(|error| cannot("read", path, &error))?;
                if about.is_dir() {
                    return Err(cannot("read", path, &"it is a folder"));
                }
                (Box::new(file), about.is_file().then_some(about.len()))
            }
        };
        let create = |path: &PathBuf| -> Result<Box<dyn Write>, Problem> {
            if from.is_some_and(|from| same_file(from, path)) {
                return Err(cannot("write", path, &"it is the input"));
            }
            let file = File::create(path).map_err(|error| cannot("write", path, &error))?;
            Ok(Box::new(BufWriter::with_capacity(1 << 16, file)))
        };
        let output = match &args.output {
            Some(path) => create(path)?,
            None => Box::new(BufWriter::with_capacity(1 << 16, io::stdout())),
        };
        let errors = match &args.errors {
            Some(path) => create(path)?,
            None => Box::new(io::stderr()),
        };
        Ok(Files { input, bytes, output, errors })
    }

    fn run(self, batch: &Batch, args: &BatchArgs) -> (Summary, io::Result<()>) {
        let Files { mut input, bytes, output, mut errors } = self;
        let bar = args.progress.then(|| bar(bytes, batch.progress()));
        if let Some(bar) = &bar {
            input = Box::new(bar.wrap_read(input));
        }
        let summary = batch.lines(input, output, |line, failure| {
            let text = failure_line(line, failure);
            match &bar {
                Some(bar) if args.errors.is_none() => bar.suspend(|| errors.write_all(text.as_bytes())),
                _ => errors.write_all(text.as_bytes()),
            }
        });
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        (summary, errors.flush())
    }
}

fn cannot(what: &str, path: &Path, why: &dyn std::fmt::Display) -> Problem {
    Problem::new(Code::InvalidConfig, format!("cannot {what} {}: {why}", path.display()))
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// `{"line":3,"error":{…}}`, where the error is as `ptc eval --json` has it.
fn failure_line(line: u64, failure: Failure) -> String {
    let source = failure.source().to_string();
    let errors = Errors::of(failure, &source);
    format!("{{\"line\":{line},{}}}\n", errors.to_json())
}

/// Shown only when standard error is a terminal.
fn bar(bytes: Option<u64>, progress: Arc<Progress>) -> ProgressBar {
    let terminal = io::stderr().is_terminal();
    let target = if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(bytes, target);
    let template = match bytes {
        Some(_) => "{wide_bar} {bytes}/{total_bytes}, {records}, {eta} left",
        None => "{spinner} {bytes} in {elapsed}, {records}",
    };
    let records = move |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        let (results, failures) = (progress.results(), progress.failures());
        let rate = rate(results + failures, state.elapsed());
        let _ = write!(text, "{} records ({rate}/s), {failures} failed", results + failures);
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.with_key("records", records));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn rate(records: u64, elapsed: Duration) -> u64 {
    (records as f64 / elapsed.as_secs_f64().max(1e-9)) as u64
}

/// Shows the summary and gives the exit code.
fn finish(args: &BatchArgs, (summary, errors): (Summary, io::Result<()>)) -> ExitCode {
    let Summary { records, results, failures, elapsed, ending } = summary;
    let (ended, problem) = match ending {
        Ending::Complete => ("complete", None),
        Ending::Failed => ("failed", None),
        Ending::Cancelled => ("interrupted", None),
        Ending::Closed => ("closed", None),
        Ending::Unreadable(error) => ("unreadable", Some(format!("cannot read the input: {error}"))),
        Ending::Unwritable(error) => ("unwritable", Some(format!("cannot write the output: {error}"))),
    };
    let problem = problem.or_else(|| Some(format!("cannot write the errors: {}", errors.err()?)));
    if !args.quiet {
        let (seconds, rate) = (elapsed.as_secs_f64(), rate(records, elapsed));
        let mut text = String::new();
        let _ = if args.settings.json {
            writeln!(
                text,
                r#"{{"records":{records},"results":{results},"failures":{failures},"seconds":{seconds:.3},"records_per_second":{rate},"ending":"{ended}"}}"#
            )
        } else {
            let why = match ended {
                "complete" => String::new(),
                "failed" => "; stopped at the first failure".to_string(),
                "closed" => "; stopped as nobody reads the output".to_string(),
                other => format!("; {other}"),
            };
            writeln!(
                text,
                "{records} records: {results} results, {failures} failures in {seconds:.2} s ({rate} records/s){why}"
            )
        };
        // Nothing is left to tell anyone when standard error is closed.
        let _ = io::stderr().write_all(text.as_bytes());
    }
    if let Some(problem) = problem {
        return report::problem(&Problem::new(Code::InvalidConfig, problem), false);
    }
    ExitCode::from(match ended {
        "interrupted" => INTERRUPTED,
        _ if failures > 0 => report::FAULT,
        _ => report::OK,
    })
}
