//! `ptc batch`: programs over the lines of a JSONL file or stream.
//!
//! Results go to standard output or `-o`, failures as JSON objects to standard error or `--errors`,
//! and a summary to standard error.

#[cfg(feature = "parquet")]
mod columns;
mod explain;
mod files;
mod packed;
mod progress;
mod rules;
mod source;
mod sources;
mod stats;
mod summary;

use crate::args::{BatchArgs, RecordFormat};
use crate::input::read_program;
use crate::problem::Problem;
use crate::report::{self, Errors, Report, Warnings};
use crate::setup::{grants, runtime};
use files::Files;
use ptc_bytecode::Code;
use ptc_runtime::{
    Batch, Cancel, Ending, Failure, Outcome, Program, Projection, Reducer, Rules, Runtime, Stats, Summary,
};
use source::Opening;
use sources::Places;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Exit code of a process that Ctrl-C ended, as shells give it.
const INTERRUPTED: u8 = 130;

pub fn run(args: &BatchArgs) -> ExitCode {
    let ran = prepare(args).and_then(|Prepared { work, files, mut warnings }| {
        if args.explain {
            print!("{}", explain::explain(args, &files.input, work.plan()));
            return Ok(None);
        }
        let is_shown = !args.settings.json && !args.quiet;
        if is_shown {
            warnings.iter().for_each(|found| found.show());
        }
        let (summary, errors, places) = work.run(files, args)?;
        // Only the last record settles which members and fields none of them had.
        let lacking: Vec<_> = warnings.iter().map(|of_program| of_program.lacking(&work)).collect();
        if is_shown {
            lacking.iter().for_each(|found| found.show());
        }
        warnings.extend(lacking);
        let stats = args.stats.then(|| stats::Shown { stats: work.stats(), places });
        Ok(Some((summary, errors, warnings, stats)))
    });
    match ran {
        Ok(Some((summary, errors, warnings, stats))) => {
            summary::finish(args, summary, errors, &warnings, stats.as_ref())
        }
        Ok(None) => ExitCode::from(report::OK),
        Err(Refusal::Problem(problem)) => report::problem(&problem, args.settings.json),
        Err(Refusal::Program(failure, name)) => {
            let source = failure.source().to_string();
            // Of several files, it matters which one.
            if !args.rules.is_empty() && !args.settings.json {
                eprintln!("{name}:");
            }
            Report::new(Err(*failure), &source, args.settings.json)
                .show(args.settings.json.then_some(""), &name)
        }
    }
}

/// Why there is no result at all.
enum Refusal {
    Problem(Problem),
    Program(Box<Failure>, String),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        Refusal::Problem(problem)
    }
}

/// A batch before its first record.
struct Prepared {
    work: Work,
    files: Files,
    /// Told once, not with every record.
    warnings: Vec<ProgramWarnings>,
}

/// Warnings about one program.
#[derive(Clone)]
struct ProgramWarnings {
    /// Names the source in errors.
    name: String,
    source: String,
    /// The rule, if there may be several.
    rule: Option<String>,
    warnings: Warnings,
}

impl ProgramWarnings {
    /// Shows them on standard error.
    fn show(&self) {
        // Of several files, it matters which one.
        if self.rule.is_some() && !self.warnings.is_empty() {
            eprintln!("{}:", self.name);
        }
        self.warnings.show(&self.name);
    }

    /// Fields that the program reads and no record had.
    fn lacking(&self, work: &Work) -> ProgramWarnings {
        let lacking = match work {
            Work::Each(batch) => batch.warnings(),
            Work::Rules(batch) => batch.warnings_of(self.rule.as_deref().unwrap_or_default()),
            Work::Reduce(batch, _) => batch.warnings(),
        };
        let warnings = Warnings::new(&lacking, &self.source);
        ProgramWarnings { warnings, ..self.clone() }
    }

    /// Each as an object, with the name of the rule.
    fn objects(&self) -> Vec<String> {
        let rule = self.rule.as_deref().map(|rule| format!("\"rule\":{},", serde_json::Value::from(rule)));
        self.warnings.objects(&rule.unwrap_or_default())
    }
}

/// Task of the batch: the programs for the records.
enum Work {
    /// One program gives a line for each.
    Each(Batch<Program>),
    /// Many programs give an object for each.
    Rules(Batch<Rules>),
    /// One program, called by this name, makes one value of all.
    Reduce(Box<Batch<Reducer>>, String),
}

fn prepare(args: &BatchArgs) -> Result<Prepared, Refusal> {
    check_formats(args)?;
    let runtime = runtime(&args.settings)?;
    let refuse = |name: &str| {
        let name = name.to_string();
        move |failure: Failure| Refusal::Program(Box::new(failure), name)
    };
    // With -e or --rules, the first file is the input.
    let mut warnings = Vec::new();
    let (work, input) = if !args.rules.is_empty() {
        let rules = rules::compile(&runtime, args, &mut warnings)?;
        (Work::Rules(configure(Batch::rules(&runtime, rules), args)?), all_inputs(args))
    } else {
        let (source, name, input) = match (&args.expr, &args.program) {
            (Some(expr), _) => (expr.clone(), "-e".to_string(), all_inputs(args)),
            (None, Some(file)) => (read_program(file)?, file.display().to_string(), args.inputs.clone()),
            (None, None) => {
                let message = "a program is missing: name its file, or write it after -e";
                return Err(Problem::new(Code::InvalidConfig, message).into());
            }
        };
        let program = runtime.compile(&source).map_err(refuse(&name))?;
        warnings.push(ProgramWarnings {
            name: name.clone(),
            source: source.clone(),
            rule: None,
            warnings: Warnings::of_program(&program),
        });
        let work = if args.reduce {
            check_data(&runtime, &program, args, None).map_err(refuse(&name))?;
            let batch = Batch::reduce(&runtime, &source).map_err(refuse(&name))?;
            Work::Reduce(Box::new(configure(batch, args)?), name)
        } else {
            check_data(&runtime, &program, args, Some("row")).map_err(refuse(&name))?;
            Work::Each(configure(Batch::new(&runtime, &program), args)?)
        };
        (work, input)
    };
    let conditions = match &work {
        Work::Each(batch) => batch.conditions(),
        Work::Rules(_) | Work::Reduce(..) => Vec::new(),
    };
    let (format, projection) = (args.format, work.projection());
    let opening = Opening { format, projection, conditions, skipped: Arc::default(), bar: Arc::default() };
    let files = Files::open(args, &input, opening)?;
    Ok(Prepared { work, files, warnings })
}

/// Refuses flags for columns where results are not columns.
fn check_formats(args: &BatchArgs) -> Result<(), Problem> {
    let refuse = |message: &str| Err(Problem::new(Code::InvalidConfig, message));
    match args.output_format {
        RecordFormat::Jsonl if args.schema.is_some() => refuse(
            "--schema is for columns, and results are JSON lines; add --output-format parquet, arrow or csv",
        ),
        RecordFormat::Jsonl => Ok(()),
        _ if !cfg!(feature = "parquet") => {
            refuse("--output-format needs a build with the `parquet` feature for all formats but jsonl")
        }
        _ if args.reduce || !args.rules.is_empty() => {
            refuse("--reduce and --rules write JSON; leave --output-format out")
        }
        _ => Ok(()),
    }
}

/// Refuses a program that names data which no record will have, once instead of at every record. `record` is
/// the name that records are read under. The members that `--fields` gives are known with each record only.
fn check_data(
    runtime: &Runtime,
    program: &Program,
    args: &BatchArgs,
    record: Option<&str>,
) -> Result<(), Failure> {
    if args.fields {
        return Ok(());
    }
    let granted = args.settings.data.iter().map(|data| data.name.as_str());
    runtime.check_data(program, granted.chain(record))
}

/// The inputs, when no file is the program.
fn all_inputs(args: &BatchArgs) -> Vec<PathBuf> {
    args.program.iter().chain(&args.inputs).cloned().collect()
}

fn configure<W>(batch: Batch<W>, args: &BatchArgs) -> Result<Batch<W>, Problem> {
    let mut batch = batch
        .grants(grants(&args.settings)?)
        .fields(args.fields)
        .ordered(!args.unordered)
        .skip_nil(args.skip_nil)
        .fail_fast(args.fail_fast)
        .measured(args.stats)
        .max_line_bytes(usize::try_from(args.max_line).unwrap_or(usize::MAX));
    if let Some(threads) = args.threads {
        batch = batch.threads(usize::from(threads));
    }
    if let Some(records) = args.take {
        batch = batch.take(records);
    }
    Ok(batch.cancel(&on_interrupt()?))
}

/// A flag that Ctrl-C sets. A second Ctrl-C ends the process at once, unless it is the same one, sent
/// to the process and to its group.
fn on_interrupt() -> Result<Cancel, Problem> {
    const SAME: Duration = Duration::from_millis(100);
    let cancel = Cancel::new();
    let flag = cancel.clone();
    let mut first: Option<Instant> = None;
    let handler = move || {
        if first.is_some_and(|first| first.elapsed() > SAME) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        first.get_or_insert_with(Instant::now);
        flag.cancel();
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Problem::new(Code::Internal, format!("cannot watch for Ctrl-C: {error}")))?;
    Ok(cancel)
}

impl Work {
    /// The number of threads that run records, and whether results keep their order.
    fn plan(&self) -> (usize, bool) {
        match self {
            Work::Each(batch) => batch.plan(),
            Work::Rules(batch) => batch.plan(),
            Work::Reduce(batch, _) => batch.plan(),
        }
    }

    /// What the records cost.
    fn stats(&self) -> Stats {
        match self {
            Work::Each(batch) => batch.stats(),
            Work::Rules(batch) => batch.stats(),
            Work::Reduce(batch, _) => batch.stats(),
        }
    }

    /// The parts of a record that the programs can observe.
    fn projection(&self) -> Projection {
        match self {
            Work::Each(batch) => batch.projection(),
            Work::Rules(batch) => batch.projection(),
            Work::Reduce(batch, _) => batch.projection(),
        }
    }

    /// Outcome of the batch, and of writing the failures.
    fn run(&self, files: Files, args: &BatchArgs) -> Result<(Summary, io::Result<()>, Places), Refusal> {
        let progress = match self {
            Work::Each(batch) => batch.progress(),
            Work::Rules(batch) => batch.progress(),
            Work::Reduce(batch, _) => batch.progress(),
        };
        let Files { input, is_typed, mut output, mut errors } = files;
        let bar = is_watched(args, is_typed).then(|| progress::bar(input.bytes(), progress));
        if let Some(bar) = &bar {
            let _ = input.opening().bar.set(bar.clone());
        }
        // For records that are skipped, the program gives nil.
        let skipped = input.opening().skipped.clone();
        let with_skipped = |mut summary: Summary| {
            let count = skipped.load(Ordering::Relaxed);
            summary.records += count;
            summary.results += count;
            summary
        };
        let (input, places) = input.into_input();
        let mut tell = |number, rule: Option<&str>, failure| {
            let text = failure_line(places.of(number), rule, failure);
            match &bar {
                // The bar is on standard error too.
                Some(bar) if args.errors.is_none() => bar.suspend(|| errors.write_all(text.as_bytes())),
                _ => errors.write_all(text.as_bytes()),
            }
        };
        #[cfg(feature = "parquet")]
        if let (Work::Each(batch), Some(format)) = (self, source::table_format(args.output_format)) {
            let mut tell = |line, failure| tell(line, None, failure);
            let summary = columns::Table::new(args, format, output, &mut tell)?.run(batch, input);
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
            return Ok((with_skipped(summary), errors.finish(), places));
        }
        let (summary, reduced) = match self {
            Work::Each(batch) => {
                (batch.lines(input, &mut output, |line, failure| tell(line, None, failure)), None)
            }
            Work::Rules(batch) => (batch.lines(input, &mut output, &mut tell), None),
            Work::Reduce(batch, name) => {
                let (value, summary) = batch.fold(input, |line, failure| tell(line, None, failure));
                (summary, Some((value, name)))
            }
        };
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        let mut summary = with_skipped(summary);
        let told = errors.finish();
        if let Some((value, name)) = reduced {
            let refuse = |failure| Refusal::Program(Box::new(failure), name.clone());
            if let Some(outcome) = value.map_err(refuse)? {
                write_value(&outcome, &mut output)?;
            }
        }
        // However it ended, lines that are whole are worth keeping. Where one could not be written, the file from before is.
        if !matches!(summary.ending, Ending::Unwritable(_) | Ending::Closed)
            && let Err(error) = output.finish()
        {
            summary.ending = Ending::Unwritable(error);
        }
        Ok((summary, told, places))
    }
}

/// True if somebody sees the progress: on a terminal, unless results or typed records would run through the bar there.
fn is_watched(args: &BatchArgs, is_typed: bool) -> bool {
    let is_free = !is_typed && (args.output.is_some() || !io::stdout().is_terminal());
    !args.quiet && (args.progress || (is_free && !args.settings.json && io::stderr().is_terminal()))
}

fn write_value(outcome: &Outcome, output: &mut dyn Write) -> Result<(), Problem> {
    let json = outcome.json().map_err(|fault| Problem(Box::new(fault.to_diagnostic())))?;
    writeln!(output, "{json}")
        .and_then(|()| output.flush())
        .map_err(|error| Problem::new(Code::InvalidConfig, format!("cannot write the output: {error}")))
}

/// `{"line":3,"error":{…}}`, where the error is as `ptc eval --json` has it; with the names of the file and of the rule
/// if there are several.
fn failure_line((file, line): (Option<&Path>, u64), rule: Option<&str>, failure: Failure) -> String {
    let source = failure.source().to_string();
    let errors = Errors::of(failure, &source);
    let rule = rule.map_or(String::new(), |rule| format!("\"rule\":{},", serde_json::Value::from(rule)));
    let file = file.map_or(String::new(), |file| {
        format!("\"file\":{},", serde_json::Value::from(file.display().to_string()))
    });
    format!("{{{file}\"line\":{line},{rule}{}}}\n", errors.to_json())
}
