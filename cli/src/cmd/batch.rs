//! `ptc batch`: programs over the lines of a JSONL file or stream.
//!
//! Results go to standard output or `-o`, failures as JSON objects to standard error or `--errors`,
//! and a summary to standard error.

#[cfg(feature = "parquet")]
mod columns;
mod explain;
mod files;
mod progress;
mod rules;
mod source;
mod summary;

use crate::args::{BatchArgs, RecordFormat};
use crate::input::read_program;
use crate::problem::Problem;
use crate::report::{self, Errors, Report, Warnings};
use crate::setup::{grants, runtime};
use files::Files;
use ptc_bytecode::Code;
use ptc_runtime::{
    Batch, Cancel, Ending, Failure, Input, Outcome, Program, Projection, Reducer, Rules, Runtime, Summary,
};
use source::Source;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Exit code of a process that Ctrl-C ended, as shells give it.
const INTERRUPTED: u8 = 130;

pub fn run(args: &BatchArgs) -> ExitCode {
    let ran = prepare(args).and_then(|Prepared { work, files, mut warnings }| {
        if args.explain {
            print!("{}", explain::explain(&files.input, &work.projection()));
            return Ok(None);
        }
        let is_shown = !args.settings.json && !args.quiet;
        if is_shown {
            warnings.iter().for_each(|found| found.show());
        }
        let (summary, errors) = work.run(files, args)?;
        // Only the last record settles which members and fields none of them had.
        let lacking: Vec<_> = warnings.iter().map(|of_program| of_program.lacking(&work)).collect();
        if is_shown {
            lacking.iter().for_each(|found| found.show());
        }
        warnings.extend(lacking);
        Ok(Some((summary, errors, warnings)))
    });
    match ran {
        Ok(Some((summary, errors, warnings))) => summary::finish(args, summary, errors, &warnings),
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
        (
            Work::Rules(configure(Batch::rules(&runtime, rules), args)?),
            only_input(args, "--rules names the programs")?,
        )
    } else {
        let (source, name, input) = match (&args.expr, &args.program) {
            (Some(expr), _) => (expr.clone(), "-e".to_string(), only_input(args, "-e is the program")?),
            (None, Some(file)) => (read_program(file)?, file.display().to_string(), args.input.as_deref()),
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
    let files = Files::open(args, input, &work.projection())?;
    #[cfg(feature = "parquet")]
    let files = match (&work, files.input) {
        (Work::Each(batch), Source::Table(table)) => {
            Files { input: Source::Table(table.skipping(batch.conditions())), ..files }
        }
        (_, input) => Files { input, ..files },
    };
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

/// The input, when no file is the program.
fn only_input<'a>(args: &'a BatchArgs, why: &str) -> Result<Option<&'a Path>, Problem> {
    if args.input.is_some() {
        let message = format!("{why}, so only one file can be the input");
        let hint = "several files: `cat *.jsonl | ptc batch -e PROGRAM -`";
        return Err(Problem::new(Code::InvalidConfig, message).hint(hint));
    }
    Ok(args.program.as_deref())
}

fn configure<W>(batch: Batch<W>, args: &BatchArgs) -> Result<Batch<W>, Problem> {
    let mut batch = batch
        .grants(grants(&args.settings)?)
        .fields(args.fields)
        .ordered(!args.unordered)
        .skip_nil(args.skip_nil)
        .fail_fast(args.fail_fast)
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
    /// The parts of a record that the programs can observe.
    fn projection(&self) -> Projection {
        match self {
            Work::Each(batch) => batch.projection(),
            Work::Rules(batch) => batch.projection(),
            Work::Reduce(batch, _) => batch.projection(),
        }
    }

    /// Outcome of the batch, and of writing the failures.
    fn run(&self, files: Files, args: &BatchArgs) -> Result<(Summary, io::Result<()>), Refusal> {
        let progress = match self {
            Work::Each(batch) => batch.progress(),
            Work::Rules(batch) => batch.progress(),
            Work::Reduce(batch, _) => batch.progress(),
        };
        let Files { input, is_typed, mut output, mut errors } = files;
        let bar = is_watched(args, is_typed).then(|| progress::bar(input.bytes(), progress));
        // Standard input may wait for more after Ctrl-C, which ends the batch all the same.
        let skipped = input.skipped();
        // For records that are skipped, the program gives nil.
        let with_skipped = |mut summary: Summary| {
            let count = skipped.load(Ordering::Relaxed);
            summary.records += count;
            summary.results += count;
            summary
        };
        let input = match (input, &bar) {
            (Source::Text { text, .. }, Some(bar)) => Input::detached(bar.wrap_read(text)),
            (Source::Text { text, .. }, None) => Input::detached(text),
            #[cfg(feature = "parquet")]
            (Source::Table(table), _) => Input::rows(table),
        };
        let mut tell = |line, rule: Option<&str>, failure| {
            let text = failure_line(line, rule, failure);
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
            return Ok((with_skipped(summary), errors.finish()));
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
        Ok((summary, told))
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

/// `{"line":3,"error":{…}}`, where the error is as `ptc eval --json` has it; with the name of the rule
/// if there are several.
fn failure_line(line: u64, rule: Option<&str>, failure: Failure) -> String {
    let source = failure.source().to_string();
    let errors = Errors::of(failure, &source);
    let rule = rule.map_or(String::new(), |rule| format!("\"rule\":{},", serde_json::Value::from(rule)));
    format!("{{\"line\":{line},{rule}{}}}\n", errors.to_json())
}
