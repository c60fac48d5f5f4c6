//! `--prelude`: sources, `.ptcp` files, shipped and stored preludes, attached to every run of the command.

use crate::input::{read, read_program};
use crate::problem::Problem;
use crate::stored;
use ptc_bytecode::{Code, Diagnostic, Subject};
use ptc_runtime::{
    ArtifactHash, Attach, InputError, MAX_FILE_BYTES, Policy, Prelude, PreludeContent, PreludeError,
    PreludeInput, Provenance, Runtime, Selection, SourceOrigin, TrustedKeys,
};
use std::path::{Path, PathBuf};

/// The keys that `--trusted` names, from the folder of the process on; None if it names none.
pub fn trusted_keys(named: &[String]) -> Result<Option<TrustedKeys>, Problem> {
    if named.is_empty() {
        return Ok(None);
    }
    TrustedKeys::named(named, "").map(Some).map_err(|problem| Problem(Box::new(problem)))
}

/// The runtime under which only preludes of these keys run, if any are named, and programs see of them what the policy
/// lets through.
pub fn guarded(runtime: Runtime, named: &[String], policy: &Policy) -> Result<Runtime, Problem> {
    let runtime = runtime.policy(policy.clone()).map_err(|problem| Problem(Box::new(problem)))?;
    Ok(match trusted_keys(named)? {
        Some(keys) => runtime.trusted(keys),
        None => runtime,
    })
}

/// The runtime with these preludes side by side. They are checked against its tools and servers.
pub fn attach(runtime: Runtime, files: &[PathBuf]) -> Result<Runtime, Problem> {
    let failure = |failure: ptc_runtime::Failure| {
        let mut diagnostic = failure.diagnostic().clone();
        if matches!(diagnostic.subject.as_deref(), Some(Subject::Tool(tool)) if tool.starts_with("log_")) {
            diagnostic.hint =
                Some("--log-prelude TRACE grants the tools of a log, and attaches ptc:log".to_string());
        }
        Problem(Box::new(diagnostic))
    };
    let preludes = select(&runtime, files)?;
    let runtime = preludes
        .iter()
        .try_fold(runtime, |runtime, prelude| runtime.attach(prelude, &Attach::new()))
        .map_err(failure)?;
    runtime.current_policy().check_used(runtime.preludes()).map_err(|problem| Problem(Box::new(problem)))?;
    Ok(runtime)
}

/// These preludes, each named by what was given for it. Only the files that are named are read: a `.ptcp` file beside a
/// source could be anybody's, and compiling takes no longer than checking it would.
pub fn select(runtime: &Runtime, files: &[PathBuf]) -> Result<Vec<Prelude>, Problem> {
    select_beside(runtime, &[], files)
}

/// These preludes together with others, all in the order in which they are attached.
pub fn select_beside(
    runtime: &Runtime,
    others: &[PreludeInput],
    files: &[PathBuf],
) -> Result<Vec<Prelude>, Problem> {
    let mut inputs = others.to_vec();
    for file in files {
        inputs.push(input(runtime, file)?);
    }
    Prelude::make_ready(runtime, &inputs).map_err(|error| match error {
        InputError::Order(problem) => Problem(Box::new(problem)),
        InputError::Refused(number, problem) => named(problem, Path::new(&*inputs[number].origin)),
        InputError::NotCompiled(number, error) => {
            let source = match &inputs[number].content {
                PreludeContent::Source(source) => source,
                _ => "",
            };
            told(&error, Path::new(&*inputs[number].origin), source)
        }
    })
}

/// The prelude that was named like this: a source, a file or a stored version, with the hash that it is pinned by.
fn input(runtime: &Runtime, given: &Path) -> Result<PreludeInput, Problem> {
    let (file, pin) = match given.to_str().map(ArtifactHash::split) {
        Some(split) => split.map_err(|problem| Problem(Box::new(problem)))?,
        // No pin can stand in such a name, nor `ptc:` before it.
        None => return unpinned(runtime, given),
    };
    if pin.is_some() && file.starts_with("store:") {
        let message = format!("`{file}` is stored, and stored preludes are not pinned by artifact hash");
        return Err(Problem::new(Code::InvalidConfig, message)
            .hint("name its version, which never changes: store:DIR#shop@2"));
    }
    Ok(unpinned(runtime, Path::new(file))?.pinned(pin))
}

fn unpinned(runtime: &Runtime, file: &Path) -> Result<PreludeInput, Problem> {
    let origin = file.display().to_string();
    if let Some(name) = after(file, "ptc:") {
        return Ok(PreludeInput::ready(origin, stored::shipped(runtime, name)?));
    }
    if let Some(name) = after(file, "store:") {
        return Ok(PreludeInput::ready(origin, stored::prelude(runtime, name)?));
    }
    Ok(match is_artifact(file) {
        true => PreludeInput::file(origin, read_artifact(file)?, read_signature(file).as_deref()),
        false => PreludeInput::source(origin, read_program(file)?),
    })
}

/// Preludes that sources compiled outside of a run may use: these, and those that come with ptc.
pub fn usable(runtime: &Runtime, files: &[PathBuf]) -> Result<Vec<Prelude>, Problem> {
    let mut usable = select(runtime, files)?;
    usable.extend(stored::all_shipped(runtime)?);
    Ok(usable)
}

/// Those of `usable` that a prelude uses, through others, too, in the order in which they are attached before it.
pub fn used_by(prelude: &Prelude, usable: &[Prelude]) -> Result<Vec<Prelude>, Diagnostic> {
    let mut found: Vec<Prelude> = Vec::new();
    let mut open: Vec<&Prelude> = vec![prelude];
    while let Some(next) = open.pop() {
        for used in next.uses() {
            let declares =
                |prelude: &&Prelude| prelude.namespaces().iter().any(|space| space.name == used.namespace);
            if !found.iter().any(|prelude| declares(&prelude))
                && let Some(more) = usable.iter().find(declares)
            {
                found.push(more.clone());
                open.push(more);
            }
        }
    }
    Prelude::in_order(found)
}

/// The rest of a name given as a file, after this word at its start.
fn after<'a>(file: &'a Path, word: &str) -> Option<&'a str> {
    file.to_str()?.strip_prefix(word)
}

/// True if a file is compiled, by its name.
pub fn is_artifact(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "ptcp")
}

/// The bytes of a `.ptcp` file, which is not read if it is too large.
pub fn read_artifact(file: &Path) -> Result<Vec<u8>, Problem> {
    let about = std::fs::metadata(file);
    if about.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
        let message = format!("cannot read {}: it is a folder", file.display());
        let files = file.join("*.ptcp");
        return Err(Problem::new(Code::InvalidConfig, message)
            .hint(format!("name the files in it: {}", files.display())));
    }
    if about.is_ok_and(|about| about.len() > MAX_FILE_BYTES as u64) {
        let message = format!("{} is larger than {MAX_FILE_BYTES} bytes", file.display());
        return Err(Problem::new(Code::ArtifactTooLarge, message));
    }
    read(file)
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

/// Refuses a source where only signed preludes may run, before any of it is compiled.
pub fn check_source(runtime: &Runtime, file: &Path) -> Result<(), Problem> {
    let Some(keys) = runtime.trusted_keys() else { return Ok(()) };
    keys.decide(&[Provenance::Source]).map_err(|problem| named(problem, file))
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
