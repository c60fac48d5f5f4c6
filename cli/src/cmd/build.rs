//! `ptc build`: preludes to `.ptcp` files.
//!
//! What is written depends on the sources, their names, the options and this version of ptc; not on
//! folders, clocks, threads or the order of the arguments (but for a bundle).

pub(super) mod sources;

use super::key::read_key;
use crate::args::BuildArgs;
use crate::preludes::{read_artifact, selection, signature_file, stem, usable};
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{self, Errors, FAULT, OK, Warnings};
use crate::setup::plain_runtime;
use ptc_bytecode::{Code, Diagnostic, Limits, hex};
use ptc_runtime::files::{self, Access};
use ptc_runtime::{
    CompileOptions, ExportRecord, InputError, Prelude, PreludeError, PreludeInput, PreludeOutline, Runtime,
    Selection, Signing, order_of_preludes,
};
use rayon::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A file cannot be read or written.
const IO: u8 = 3;
/// `--check` found differences.
const DIFFERENT: u8 = 4;

pub fn run(args: &BuildArgs) -> ExitCode {
    let ready = plan(args).and_then(|plan| Ok((plan, plain_runtime(Limits::default())?, key(args)?)));
    let (Plan { jobs, orphans }, runtime, key) = match ready {
        Ok(ready) => ready,
        Err(problem) => return report::problem(&problem, args.json),
    };
    let mut results = match build(&jobs, &runtime, args, key.as_ref()) {
        Ok(results) => results,
        Err(problem) => return report::problem(&problem, args.json),
    };
    if !args.check
        && let Err(problem) = write(args, &jobs, &mut results)
    {
        report::problem(&problem, args.json);
        return ExitCode::from(IO);
    }
    show(args, &jobs, &results, &orphans)
}

/// Writes the files, if all sources compiled: nobody should deploy half of a set of preludes that belong together.
fn write(
    args: &BuildArgs,
    jobs: &[Job],
    results: &mut [Result<BuiltPrelude, Failed>],
) -> Result<(), Problem> {
    let cannot = |verb: &str, path: &Path, error: &std::io::Error| {
        Problem::new(Code::InvalidConfig, format!("cannot {verb} {}: {error}", path.display()))
    };
    if results.iter().any(Result::is_err) {
        let waiting = results.iter_mut().flatten().filter(|built| built.what == What::Written);
        waiting.for_each(|built| built.what = What::NotWritten);
        return Ok(());
    }
    std::fs::create_dir_all(&args.output).map_err(|error| cannot("make", &args.output, &error))?;
    let mut new: Vec<(PathBuf, &[u8])> = Vec::new();
    for (job, built) in jobs.iter().zip(results.iter().flatten()) {
        if built.what == What::Written {
            new.push((job.target.clone(), &built.bytes));
        }
        if let Some(signature) = &built.signature {
            new.push((signature_file(&job.target), signature.as_bytes()));
        }
    }
    let new = new.iter().map(|(path, content)| (path.as_path(), *content));
    files::replace_all(new, Access::Usual).map_err(|(path, error)| cannot("write", &path, &error))
}

/// Builds all of them, those that others require before these.
fn build(
    jobs: &[Job],
    runtime: &Runtime,
    args: &BuildArgs,
    key: Option<&Signing>,
) -> Result<Vec<Result<BuiltPrelude, Failed>>, Problem> {
    let mut usable = usable(runtime, &args.preludes)?;
    let outlines: Vec<(String, PreludeOutline)> = jobs.iter().map(|job| job.outline(runtime)).collect();
    let order = order_of_preludes(&outlines).map_err(|mut problem| {
        // Nothing is attached here.
        problem.message = problem.message.replacen("prelude attach failed: ", "", 1);
        Problem(Box::new(problem))
    })?;
    let is_alone = |i: usize| outlines[i].1.requires.is_empty();
    let mut results: Vec<Option<Result<BuiltPrelude, Failed>>> = (0..jobs.len())
        .into_par_iter()
        .map(|i| is_alone(i).then(|| jobs[i].build(runtime, args, key, &usable)))
        .collect();
    let made = |result: &Option<Result<BuiltPrelude, Failed>>| match result {
        Some(Ok(built)) => Some(built.prelude.clone()),
        _ => None,
    };
    // What is built here is meant, whatever else has a namespace of that name.
    usable.splice(0..0, results.iter().filter_map(made));
    for i in order.into_iter().filter(|i| !is_alone(*i)) {
        let result = Some(jobs[i].build(runtime, args, key, &usable));
        usable.splice(0..0, made(&result));
        results[i] = result;
    }
    Ok(results.into_iter().flatten().collect())
}

/// Work to do.
struct Plan {
    jobs: Vec<Job>,
    /// Files in the output folder that no source makes.
    orphans: Vec<PathBuf>,
}

/// One file to make.
struct Job {
    sources: Vec<PathBuf>,
    target: PathBuf,
    is_bundle: bool,
}

/// Outcome of the build.
struct BuiltPrelude {
    prelude: Prelude,
    /// Content of the file.
    bytes: Vec<u8>,
    signature: Option<String>,
    warnings: Warnings,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// Written, or to be written once all sources have compiled.
    Written,
    /// Not written, because another source does not compile.
    NotWritten,
    UpToDate,
    Same,
    Different,
    Missing,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Written => "written",
            What::NotWritten => "not written",
            What::UpToDate => "up to date",
            What::Same => "unchanged",
            What::Different => "different",
            What::Missing => "missing",
        }
    }
}

/// Why there is nothing.
enum Failed {
    Compile(Box<PreludeError>, PathBuf, String),
    Refused(Diagnostic),
    Io(Problem),
}

fn plan(args: &BuildArgs) -> Result<Plan, Problem> {
    let (sources, has_folder) = sources::expand(&args.sources)?;
    let jobs = jobs(args, &sources)?;
    let targets: BTreeSet<PathBuf> = jobs.iter().map(|job| job.target.clone()).collect();
    // Whoever names files may well mean some of many.
    let orphans = if has_folder { sources::orphans(&args.output, &targets) } else { Vec::new() };
    Ok(Plan { jobs, orphans })
}

fn jobs(args: &BuildArgs, sources: &[PathBuf]) -> Result<Vec<Job>, Problem> {
    if let Some(name) = &args.bundle {
        if name.is_empty() || name.contains(['/', '\\']) {
            return Err(Problem::new(Code::InvalidConfig, format!("`{name}` cannot be the name of a file")));
        }
        let target = args.output.join(format!("{name}.ptcp"));
        return Ok(vec![Job { sources: sources.to_vec(), target, is_bundle: true }]);
    }
    let mut jobs: BTreeMap<PathBuf, Job> = BTreeMap::new();
    for source in sources {
        let target = args.output.join(format!("{}.ptcp", stem(source)));
        let job = Job { sources: vec![source.clone()], target: target.clone(), is_bundle: false };
        if let Some(other) = jobs.insert(target, job) {
            let (a, b) = (other.sources[0].display(), source.display());
            let message = format!("{a} and {b} would both become {}.ptcp", stem(source));
            return Err(Problem::new(Code::InvalidConfig, message));
        }
    }
    Ok(jobs.into_values().collect())
}

fn key(args: &BuildArgs) -> Result<Option<Signing>, Problem> {
    args.sign.as_deref().map(read_key).transpose()
}

impl Job {
    /// Compiles the sources, and leaves a file alone only if it holds just these bytes: what a file says of itself
    /// proves nothing, and what is signed is what was compiled here. Nothing is written yet.
    fn build(
        &self,
        runtime: &Runtime,
        args: &BuildArgs,
        key: Option<&Signing>,
        usable: &[Prelude],
    ) -> Result<BuiltPrelude, Failed> {
        let options = CompileOptions { positions: args.debug_info, uses: usable };
        let prelude = self.compile(runtime, &options)?;
        check_dynamic(&prelude, args).map_err(Failed::Refused)?;
        let bytes = if args.no_source { prelude.to_bytes_without_source() } else { prelude.to_bytes() };
        let what = match (args.check, self.holds(&bytes)) {
            (true, Some(true)) => What::Same,
            (true, Some(false)) => What::Different,
            (true, None) => What::Missing,
            (false, Some(true)) if !args.force => What::UpToDate,
            (false, _) => What::Written,
        };
        let signature = key.map(|key| key.sign(&bytes)).transpose().map_err(Failed::Refused)?;
        let warnings = self.warnings(runtime);
        Ok(BuiltPrelude { prelude, bytes, signature, warnings, what })
    }

    /// Warnings about a single source; the sources of a bundle are told of when they are built or checked alone.
    fn warnings(&self, runtime: &Runtime) -> Warnings {
        match &self.sources[..] {
            [only] if !self.is_bundle => selection(only).map_or_else(
                |_| Warnings::default(),
                |part| Warnings::new(&Prelude::warnings_of(runtime, &part.source), &part.source),
            ),
            _ => Warnings::default(),
        }
    }

    /// True if the existing file holds just these bytes; None if there is none that could be read.
    fn holds(&self, bytes: &[u8]) -> Option<bool> {
        let about = std::fs::metadata(&self.target).ok()?;
        if !about.is_file() || about.len() != bytes.len() as u64 {
            return Some(false);
        }
        Some(std::fs::read(&self.target).ok()? == bytes)
    }

    /// Its sources, as messages name them, with what they declare and require of others.
    fn outline(&self, runtime: &Runtime) -> (String, PreludeOutline) {
        let mut all = PreludeOutline::default();
        for file in &self.sources {
            // Building reports the sources that cannot be read.
            let Ok(part) = selection(file) else { continue };
            let found = Prelude::outline_of(runtime, &part.source).unwrap_or_default();
            all.declares.extend(found.declares);
            all.requires.extend(found.requires);
        }
        all.requires.retain(|name| !all.declares.contains(name));
        (self.sources.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", "), all)
    }

    fn compile(&self, runtime: &Runtime, options: &CompileOptions<'_>) -> Result<Prelude, Failed> {
        let read = |file: &PathBuf| selection(file).map_err(Failed::Io);
        let parts = self.sources.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        if self.is_bundle {
            // An error of one of several tells which by compiling each alone.
            let inputs: Vec<PreludeInput> = options
                .uses
                .iter()
                .map(|used| PreludeInput::ready("", used.clone()))
                .chain(parts.iter().map(|part| PreludeInput::source(&*part.id, &*part.source)))
                .collect();
            Prelude::make_ready(runtime, &inputs)
                .map_err(|error| self.part_failed(error, &parts, inputs.len()))?;
            return Prelude::compose_with(runtime, &parts, options)
                .map_err(|error| Failed::Compile(Box::new(error), self.target.clone(), String::new()));
        }
        let source = &parts[0].source;
        Prelude::compile_with(runtime, source, options)
            .map_err(|error| Failed::Compile(Box::new(error), self.sources[0].clone(), source.clone()))
    }

    /// Which of several sources, the last ones of so many inputs, is wrong.
    fn part_failed(&self, error: InputError, parts: &[Selection], inputs: usize) -> Failed {
        let part = |number: usize| (number + parts.len()).checked_sub(inputs);
        match error {
            InputError::NotCompiled(number, error) => match part(number) {
                Some(part) => Failed::Compile(error, self.sources[part].clone(), parts[part].source.clone()),
                None => Failed::Compile(error, self.target.clone(), String::new()),
            },
            InputError::Order(problem) | InputError::Refused(_, problem) => Failed::Refused(problem),
        }
    }
}

/// Exports that may call any upstream operation, whatever they say they require.
fn dynamic(prelude: &Prelude) -> Vec<String> {
    prelude.exports().iter().filter(|export| export.dynamic).map(ExportRecord::reference).collect()
}

fn check_dynamic(prelude: &Prelude, args: &BuildArgs) -> Result<(), Diagnostic> {
    let dynamic = dynamic(prelude);
    if !args.deny_dynamic || dynamic.is_empty() {
        return Ok(());
    }
    let message = format!("--deny-dynamic: may call any upstream operation: {}", dynamic.join(", "));
    Err(Diagnostic::without_span(Code::PreludeAttachFailed, message)
        .hint("name server and tool in the call: (tool/call {:server \"crm\" :tool \"search\"})"))
}

/// Tells what came of each file, and gives the worst exit code.
fn show(
    args: &BuildArgs,
    jobs: &[Job],
    results: &[Result<BuiltPrelude, Failed>],
    orphans: &[PathBuf],
) -> ExitCode {
    let mut code = OK;
    let mut text = String::new();
    let mut files = Vec::new();
    for (job, result) in jobs.iter().zip(results) {
        let target = job.target.display().to_string();
        match result {
            Ok(BuiltPrelude { prelude, bytes, what, warnings, .. }) => {
                let bytes = bytes.len();
                let source = job.sources.first().map_or(String::new(), |source| source.display().to_string());
                if !warnings.is_empty() && !args.json {
                    eprintln!("{source}:");
                    warnings.show(&source);
                }
                text.push_str(&format!(
                    "{target}: {}, {}, {}, {bytes} bytes, artifact {}, interface {}\n",
                    what.name(),
                    counted(prelude.exports().len() as u64, "export"),
                    needs(prelude),
                    &prelude.artifact_hash()[..16],
                    &prelude.interface_hash()[..16],
                ));
                if *what == What::Different {
                    text.push_str(&differences(&job.target, prelude));
                }
                for export in dynamic(prelude).iter().filter(|_| args.warn_dynamic) {
                    eprintln!("warning: {export} may call any upstream operation");
                }
                files.push(json!({
                    "file": target, "status": what.name(), "exports": prelude.exports().len(), "bytes": bytes,
                    "dynamic": dynamic(prelude), "warnings": warnings.json(),
                    "source_hash": prelude.source_hash(), "artifact_hash": prelude.artifact_hash(),
                    "interface_hash": prelude.interface_hash(), "code_hash": hex(&prelude.manifest().code_hash),
                }));
                if matches!(what, What::Different | What::Missing) {
                    code = code.max(DIFFERENT);
                }
            }
            Err(failed) => {
                let (worse, error) = told(failed, args.json);
                files.push(json!({"file": target, "status": "failed", "error": error}));
                code = if code == IO || worse == IO { IO } else { worse };
            }
        }
    }
    for orphan in orphans {
        let target = orphan.display().to_string();
        match args.check {
            true => text.push_str(&format!("{target}: has no source\n")),
            false => eprintln!("warning: {target} has no source; delete it if it is not needed"),
        }
        files.push(json!({"file": target, "status": "orphan"}));
        if args.check {
            code = code.max(DIFFERENT);
        }
    }
    if args.json {
        return report::out(&format!("{}\n", json!({"ok": code == OK, "files": files})), code);
    }
    report::out(&text, code)
}

/// Number of requirements, as far as the code tells: operations that a program computes are known to nobody.
fn needs(prelude: &Prelude) -> String {
    let needs: BTreeSet<&String> = prelude.exports().iter().flat_map(|export| &export.requires).collect();
    match (dynamic(prelude).is_empty(), needs.len() as u64) {
        (true, count) => counted(count, "requirement"),
        (false, 0) => UNKNOWN.to_string(),
        (false, count) => format!("{} and {UNKNOWN}", counted(count, "requirement")),
    }
}

/// Said of the requirements of an export that may call any operation.
pub const UNKNOWN: &str = "requirements unknown: calls tools by computed names";

/// Differences between the existing file and the build.
fn differences(target: &Path, prelude: &Prelude) -> String {
    let there = read_artifact(target).map_err(|problem| problem.0.message);
    let there = match there.and_then(|bytes| Prelude::claims(&bytes).map_err(|problem| problem.message)) {
        Ok(there) => there,
        Err(why) => return format!("  the file there cannot be read: {why}\n"),
    };
    let built = prelude.manifest();
    let pairs = [
        ("source", there.source_hash, built.source_hash),
        ("interface", there.interface_hash, built.interface_hash),
        ("code", there.code_hash, built.code_hash),
    ];
    let mut text = String::new();
    for (name, old, new) in pairs.iter().filter(|(_, old, new)| old != new) {
        text.push_str(&format!("  {name}: {} there, {} built\n", &hex(old)[..16], &hex(new)[..16]));
    }
    if there.abi != built.abi {
        text.push_str(&format!("  instruction set: {:08x} there, {:08x} built\n", there.abi, built.abi));
    }
    if text.is_empty() { "  the same code with other parts\n".to_string() } else { text }
}

/// Tells why a file was not made; the exit code, and the error as JSON.
fn told(failed: &Failed, json: bool) -> (u8, serde_json::Value) {
    match failed {
        Failed::Compile(error, file, source) => {
            let errors =
                Errors { diagnostics: error.diagnostics.clone(), source: source.clone(), failed_with: None };
            if !json {
                let place = error
                    .diagnostic()
                    .place(source)
                    .map_or(String::new(), |place| format!(":{}:{}", place.line, place.column));
                eprintln!("{}{place}:", file.display());
                errors.show(&file.display().to_string());
            }
            let object = json!({
                "reason": error.reason(), "message": error.message(),
                "namespace": error.namespace, "ref": error.reference,
            });
            (FAULT, object)
        }
        Failed::Refused(problem) => {
            if !json {
                Errors::one(problem.clone(), "").show("");
            }
            (FAULT, json!({"reason": problem.code.reason(), "message": problem.message}))
        }
        Failed::Io(problem) => {
            if !json {
                report::problem(problem, false);
            }
            (IO, json!({"reason": problem.0.code.reason(), "message": problem.0.message}))
        }
    }
}
