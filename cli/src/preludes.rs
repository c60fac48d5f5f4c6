//! `--prelude`: sources, `.ptcp` files, shipped and stored preludes, attached to every run of the command.

use crate::input::{read, read_program};
use crate::problem::Problem;
use crate::stored;
use ptc_bytecode::{Code, Diagnostic, Subject};
use ptc_runtime::{
    Attach, LoadOptions, MAX_FILE_BYTES, Prelude, PreludeError, Provenance, Runtime, Selection, SourceOrigin,
    TrustedKeys,
};
use std::path::{Path, PathBuf};

/// The keys that `--trusted` names, from the folder of the process on; None if it names none.
pub fn trusted_keys(named: &[String]) -> Result<Option<TrustedKeys>, Problem> {
    if named.is_empty() {
        return Ok(None);
    }
    TrustedKeys::named(named, "").map(Some).map_err(|problem| Problem(Box::new(problem)))
}

/// The runtime under which only preludes of these keys run, if any are named.
pub fn trusting(runtime: Runtime, named: &[String]) -> Result<Runtime, Problem> {
    Ok(match trusted_keys(named)? {
        Some(keys) => runtime.trusted(keys),
        None => runtime,
    })
}

/// The runtime with these preludes, if there are any. They are checked against its tools and servers.
pub fn attach(runtime: Runtime, files: &[PathBuf]) -> Result<Runtime, Problem> {
    let Some(prelude) = select(&runtime, files)? else { return Ok(runtime) };
    let failure = |failure: ptc_runtime::Failure| {
        let mut diagnostic = failure.diagnostic().clone();
        if matches!(diagnostic.subject.as_deref(), Some(Subject::Tool(tool)) if tool.starts_with("log_")) {
            diagnostic.hint =
                Some("--log-prelude TRACE grants the tools of a log, and attaches ptc:log".to_string());
        }
        Problem(Box::new(diagnostic))
    };
    runtime.attach(&prelude, &Attach::new()).map_err(failure)
}

/// These preludes as one, if there are any. Only the files that are named are read: a `.ptcp` file beside a source
/// could be anybody's, and compiling takes no longer than checking it would.
pub fn select(runtime: &Runtime, files: &[PathBuf]) -> Result<Option<Prelude>, Problem> {
    Ok(Some(match files {
        [] => return Ok(None),
        [file] if let Some(name) = after(file, "ptc:") => stored::shipped(runtime, name)?,
        [file] if let Some(name) = after(file, "store:") => stored::prelude(runtime, name)?,
        [file] if is_artifact(file) => load(runtime, file)?,
        [file] => from_source(runtime, file)?,
        _ => composed(runtime, files)?,
    }))
}

/// What follows this word at the start of what was given as a file.
fn after<'a>(file: &'a Path, word: &str) -> Option<&'a str> {
    file.to_str()?.strip_prefix(word)
}

/// Whether a file is compiled, by its name.
pub fn is_artifact(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "ptcp")
}

/// The bytes of a `.ptcp` file, which is not read if it is too large.
pub fn read_artifact(file: &Path) -> Result<Vec<u8>, Problem> {
    if std::fs::metadata(file).is_ok_and(|about| about.len() > MAX_FILE_BYTES as u64) {
        let message = format!("{} is larger than {MAX_FILE_BYTES} bytes", file.display());
        return Err(Problem::new(Code::ArtifactTooLarge, message));
    }
    read(file)
}

fn load(runtime: &Runtime, file: &Path) -> Result<Prelude, Problem> {
    let bytes = read_artifact(file)?;
    let signature = read_signature(file);
    let options = LoadOptions { signature: signature.as_deref(), ..LoadOptions::default() };
    Prelude::load(runtime, &bytes, &options).map_err(|problem| named(problem, file))
}

/// The file that holds the signature of a `.ptcp` file.
pub fn signature_file(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_os_string();
    name.push(".sig");
    PathBuf::from(name)
}

/// The signature of a `.ptcp` file; None if no file of a signature's size stands beside it.
pub fn read_signature(file: &Path) -> Option<String> {
    let signature = signature_file(file);
    let about = std::fs::metadata(&signature).ok()?;
    (about.is_file() && about.len() <= MAX_SIGNATURE_BYTES)
        .then(|| std::fs::read_to_string(signature).ok())?
}

/// A signature has 204 bytes.
const MAX_SIGNATURE_BYTES: u64 = 4096;

fn from_source(runtime: &Runtime, file: &Path) -> Result<Prelude, Problem> {
    check_source(runtime, file)?;
    let source = read_program(file)?;
    Prelude::compile(runtime, &source).map_err(|error| told(&error, file, &source))
}

/// Refuses a source where only signed preludes may run, before any of it is compiled.
fn check_source(runtime: &Runtime, file: &Path) -> Result<(), Problem> {
    let Some(keys) = runtime.trusted_keys() else { return Ok(()) };
    keys.decide(&[Provenance::Source]).map_err(|problem| named(problem, file))
}

fn composed(runtime: &Runtime, files: &[PathBuf]) -> Result<Prelude, Problem> {
    let mut selections = Vec::with_capacity(files.len());
    for file in files {
        let prelude = match (after(file, "ptc:"), after(file, "store:")) {
            (Some(name), _) => stored::shipped(runtime, name)?,
            (_, Some(name)) => stored::prelude(runtime, name)?,
            _ if is_artifact(file) => {
                let message = format!("{} is compiled; only sources can be composed", file.display());
                return Err(Problem::new(Code::InvalidConfig, message));
            }
            _ => {
                check_source(runtime, file)?;
                selections.push(selection(file)?);
                continue;
            }
        };
        selections.extend(Selection::all_of(&prelude).unwrap_or_default());
    }
    Prelude::compose(runtime, &selections).map_err(|error| {
        let first = &files[0];
        told(&error, first, "")
    })
}

/// A source as a part of several.
pub fn selection(file: &Path) -> Result<Selection, Problem> {
    let origin = SourceOrigin::File(file_name(file));
    Ok(Selection::new(stem(file), read_program(file)?).origin(origin))
}

/// The name of a file without its folder: what is written into artifacts, which know no machine.
pub fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The name of a file without folder and extension.
pub fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A prelude that does not compile, as a usage error that says where.
fn told(error: &PreludeError, file: &Path, source: &str) -> Problem {
    let mut diagnostic = error.diagnostic().clone();
    let place = diagnostic.place(source).filter(|_| !source.is_empty());
    let place = place.map_or(String::new(), |place| format!(":{}:{}", place.line, place.column));
    diagnostic.message = format!(
        "prelude attach failed: {}{place}: {}: {}",
        file.display(),
        error.reason(),
        diagnostic.message
    );
    diagnostic.span = None;
    Problem(Box::new(diagnostic))
}

/// A problem with a file, which is named.
pub fn named(mut problem: Diagnostic, file: &Path) -> Problem {
    let reason = match problem.subject.as_deref() {
        // Its message says the reason itself.
        Some(Subject::Attachment) => String::new(),
        _ => format!("{}: ", problem.code.reason()),
    };
    problem.message = format!("{}: {reason}{}", file.display(), problem.message);
    Problem(Box::new(problem))
}
