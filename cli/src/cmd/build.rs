//! `ptc build`: preludes to `.ptcp` files.
//!
//! What is written depends on the sources, their names, the options and this version of ptc; not on
//! folders, clocks, threads or the order of the arguments (but for a bundle).

use crate::args::BuildArgs;
use crate::input::read_program;
use crate::preludes::{read_artifact, selection, signature_file, stem};
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{self, Errors, FAULT, OK};
use crate::setup::plain_runtime;
use ptc_bytecode::{Code, Diagnostic, Limits, hex};
use ptc_runtime::files::{self, Access};
use ptc_runtime::{ExportRecord, Prelude, PreludeError, Runtime, Signing};
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A file cannot be read or written.
const IO: u8 = 3;
/// `--check` found differences.
const DIFFERENT: u8 = 4;

pub fn run(args: &BuildArgs) -> ExitCode {
    let ready = plan(args).and_then(|jobs| Ok((jobs, plain_runtime(Limits::default())?, key(args)?)));
    let (jobs, runtime, key) = match ready {
        Ok(ready) => ready,
        Err(problem) => return report::problem(&problem, args.json),
    };
    if !args.check
        && let Err(error) = std::fs::create_dir_all(&args.output)
    {
        let problem =
            Problem::new(Code::InvalidConfig, format!("cannot make {}: {error}", args.output.display()));
        report::problem(&problem, args.json);
        return ExitCode::from(IO);
    }
    let results: Vec<Result<BuiltPrelude, Failed>> =
        jobs.par_iter().map(|job| job.build(&runtime, args, key.as_ref())).collect();
    show(args, &jobs, &results)
}

/// One file to make.
struct Job {
    sources: Vec<PathBuf>,
    target: PathBuf,
    is_bundle: bool,
}

/// What came of it.
struct BuiltPrelude {
    prelude: Prelude,
    bytes: usize,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Written,
    UpToDate,
    Same,
    Different,
    Missing,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Written => "written",
            What::UpToDate => "up to date",
            What::Same => "the same",
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

fn plan(args: &BuildArgs) -> Result<Vec<Job>, Problem> {
    if let Some(name) = &args.bundle {
        if name.is_empty() || name.contains(['/', '\\']) {
            return Err(Problem::new(Code::InvalidConfig, format!("`{name}` cannot be the name of a file")));
        }
        let target = args.output.join(format!("{name}.ptcp"));
        return Ok(vec![Job { sources: args.sources.clone(), target, is_bundle: true }]);
    }
    let mut jobs: BTreeMap<PathBuf, Job> = BTreeMap::new();
    for source in &args.sources {
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
    let Some(file) = &args.sign else { return Ok(None) };
    Signing::from_hex(&read_program(file)?).map(Some).map_err(|problem| Problem(Box::new(problem)))
}

impl Job {
    /// Compiles the sources, and leaves a file alone only if it holds just these bytes: what a file says of itself
    /// proves nothing, and what is signed is what was compiled here.
    fn build(
        &self,
        runtime: &Runtime,
        args: &BuildArgs,
        key: Option<&Signing>,
    ) -> Result<BuiltPrelude, Failed> {
        let prelude = self.compile(runtime, args.debug_info)?;
        check_dynamic(&prelude, args).map_err(Failed::Refused)?;
        let bytes = if args.no_source { prelude.to_bytes_without_source() } else { prelude.to_bytes() };
        let what = match (args.check, self.holds(&bytes)) {
            (true, Some(true)) => What::Same,
            (true, Some(false)) => What::Different,
            (true, None) => What::Missing,
            (false, Some(true)) if !args.force => What::UpToDate,
            (false, _) => {
                write(&self.target, &bytes).map_err(Failed::Io)?;
                What::Written
            }
        };
        self.sign(key, &bytes)?;
        Ok(BuiltPrelude { prelude, bytes: bytes.len(), what })
    }

    /// Whether the file that is there holds just these bytes; None if there is none that could be read.
    fn holds(&self, bytes: &[u8]) -> Option<bool> {
        let about = std::fs::metadata(&self.target).ok()?;
        if !about.is_file() || about.len() != bytes.len() as u64 {
            return Some(false);
        }
        Some(std::fs::read(&self.target).ok()? == bytes)
    }

    fn sign(&self, key: Option<&Signing>, bytes: &[u8]) -> Result<(), Failed> {
        let Some(key) = key else { return Ok(()) };
        let signature = key.sign(bytes).map_err(Failed::Refused)?;
        write(&signature_file(&self.target), signature.as_bytes()).map_err(Failed::Io)
    }

    fn compile(&self, runtime: &Runtime, positions: bool) -> Result<Prelude, Failed> {
        let read = |file: &PathBuf| selection(file).map_err(Failed::Io);
        let parts = self.sources.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        if self.is_bundle {
            // An error of one of several tells which by compiling each alone.
            for (part, file) in parts.iter().zip(&self.sources) {
                Prelude::compile(runtime, &part.source)
                    .map_err(|error| Failed::Compile(Box::new(error), file.clone(), part.source.clone()))?;
            }
            return Prelude::compose_with(runtime, &parts, positions)
                .map_err(|error| Failed::Compile(Box::new(error), self.target.clone(), String::new()));
        }
        let source = &parts[0].source;
        Prelude::compile_with(runtime, source, positions)
            .map_err(|error| Failed::Compile(Box::new(error), self.sources[0].clone(), source.clone()))
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

/// Writes a file so that nobody sees half of it.
fn write(target: &Path, bytes: &[u8]) -> Result<(), Problem> {
    files::replace(target, &[bytes], Access::Usual).map_err(|error| {
        Problem::new(Code::InvalidConfig, format!("cannot write {}: {error}", target.display()))
    })
}

/// Tells what came of each file, and gives the worst exit code.
fn show(args: &BuildArgs, jobs: &[Job], results: &[Result<BuiltPrelude, Failed>]) -> ExitCode {
    let mut code = OK;
    let mut text = String::new();
    let mut files = Vec::new();
    for (job, result) in jobs.iter().zip(results) {
        let target = job.target.display().to_string();
        match result {
            Ok(BuiltPrelude { prelude, bytes, what }) => {
                let needs = prelude.exports().iter().flat_map(|export| &export.requires);
                let needs = needs.collect::<std::collections::BTreeSet<_>>().len();
                text.push_str(&format!(
                    "{target}: {}, {}, {}, {bytes} bytes, artifact {}, interface {}\n",
                    what.name(),
                    counted(prelude.exports().len() as u64, "export"),
                    counted(needs as u64, "requirement"),
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
    if args.json {
        return report::out(&format!("{}\n", json!({"ok": code == OK, "files": files})), code);
    }
    report::out(&text, code)
}

/// What differs between the file that is there and what was built.
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
