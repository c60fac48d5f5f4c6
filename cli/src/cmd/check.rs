//! `ptc check FILE…`: compiles programs and preludes without running them.

use super::build::sources;
use crate::args::CheckArgs;
use crate::input::read_program;
use crate::preludes::{select, usable};
use crate::problem::Problem;
use crate::report::{self, Errors, FAULT, OK, USAGE, out, text_json};
use crate::setup::plain_runtime;
use ptc_lsp::{of_prelude, of_program, with_preludes};
use ptc_runtime::{Diagnostic, Prelude, PreludeOutline, Runtime, order_of_preludes};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Findings in one file.
enum FileVerdict {
    Sound,
    Faulty(Errors),
    Unreadable(Problem),
}

pub fn run(args: &CheckArgs) -> ExitCode {
    let found = match plain_runtime(args.limits.0).and_then(|runtime| check(args, &runtime)) {
        Ok(found) => found,
        Err(problem) => return report::problem(&problem, args.json),
    };
    let code = found.iter().map(|(_, found)| found.code()).max().unwrap_or(OK);
    if args.json {
        let files: Vec<String> = found.iter().map(|(name, found)| found.to_json(name)).collect();
        return out(&format!("{{\"ok\":{},\"files\":[{}]}}\n", code == OK, files.join(",")), code);
    }
    let mut sound = String::new();
    for (name, found) in &found {
        match found {
            FileVerdict::Sound => sound.push_str(&format!("{name}: ok\n")),
            FileVerdict::Faulty(errors) => {
                eprintln!("{name}:");
                errors.show(name);
            }
            FileVerdict::Unreadable(problem) => {
                report::problem(problem, false);
            }
        }
    }
    out(&sound, code)
}

/// Checks all files: preludes first, those that others use before these, and then programs.
fn check(args: &CheckArgs, runtime: &Runtime) -> Result<Vec<(String, FileVerdict)>, Problem> {
    let (files, _) = sources::expand(&args.files)?;
    let texts: Vec<Result<String, Problem>> = files.iter().map(|file| read_program(file)).collect();
    let sources: Vec<(usize, &str)> = texts
        .iter()
        .enumerate()
        .filter_map(|(number, text)| Some((number, text.as_deref().ok()?)))
        .filter(|(_, text)| Prelude::is_source(runtime, text))
        .collect();
    let mut verdicts = preludes(args, &files, &sources, runtime)?;
    let runtime = with_preludes(runtime, &select(runtime, &args.preludes)?)
        .map_err(|failure| Problem(Box::new(failure.diagnostic().clone())))?;
    let verdicts =
        texts.into_iter().enumerate().map(|(number, text)| match (verdicts.remove(&number), text) {
            (Some(verdict), _) => verdict,
            (None, Ok(source)) => FileVerdict::of(of_program(&source, &runtime), &source),
            (None, Err(problem)) => FileVerdict::Unreadable(problem),
        });
    let verdicts: Vec<FileVerdict> = verdicts.collect();
    Ok(files.iter().map(|file| file.display().to_string()).zip(verdicts).collect())
}

/// Checks sources of preludes, which may use each other and those of `--prelude`. Each comes with the number of its file.
fn preludes(
    args: &CheckArgs,
    files: &[PathBuf],
    sources: &[(usize, &str)],
    runtime: &Runtime,
) -> Result<BTreeMap<usize, FileVerdict>, Problem> {
    let mut verdicts = BTreeMap::new();
    if sources.is_empty() {
        return Ok(verdicts);
    }
    let mut usable = usable(runtime, &args.preludes)?;
    let outline = |(number, source): &(usize, &str)| -> (String, PreludeOutline) {
        // Compiling reports the sources that cannot be read.
        (files[*number].display().to_string(), Prelude::outline_of(runtime, source).unwrap_or_default())
    };
    let outlines: Vec<(String, PreludeOutline)> = sources.iter().map(outline).collect();
    let order = order_of_preludes(&outlines).map_err(|problem| Problem(Box::new(problem)))?;
    for (number, source) in order.into_iter().map(|i| sources[i]) {
        let (compiled, diagnostics) = of_prelude(source, runtime, &usable);
        // The checked files come first, before other preludes with a namespace of that name.
        usable.splice(0..0, compiled);
        verdicts.insert(number, FileVerdict::of(diagnostics, source));
    }
    Ok(verdicts)
}

impl FileVerdict {
    /// Sound without errors and warnings.
    fn of(diagnostics: Vec<Diagnostic>, source: &str) -> FileVerdict {
        match diagnostics.is_empty() {
            true => FileVerdict::Sound,
            false => {
                FileVerdict::Faulty(Errors { diagnostics, source: source.to_string(), failed_with: None })
            }
        }
    }

    fn code(&self) -> u8 {
        match self {
            FileVerdict::Sound => OK,
            FileVerdict::Faulty(_) => FAULT,
            FileVerdict::Unreadable(_) => USAGE,
        }
    }

    fn to_json(&self, name: &str) -> String {
        let file = text_json(name);
        match self {
            FileVerdict::Sound => format!(r#"{{"file":{file},"ok":true}}"#),
            FileVerdict::Faulty(errors) => format!(r#"{{"file":{file},"ok":false,{}}}"#, errors.to_json()),
            FileVerdict::Unreadable(problem) => {
                let errors = Errors::one((*problem.0).clone(), "");
                format!(r#"{{"file":{file},"ok":false,{}}}"#, errors.to_json())
            }
        }
    }
}
