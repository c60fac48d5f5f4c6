//! `ptc fmt FILE…`: lays programs and preludes out in their canonical form.

use crate::args::FmtArgs;
use crate::cmd::build::sources::files_in;
use crate::input::read_program;
use crate::problem::Problem;
use crate::report::{self, Errors, FAULT, OK, USAGE, out};
use ptc_bytecode::Code;
use ptc_runtime::files::{self, Access};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn run(args: &FmtArgs) -> ExitCode {
    let files = match sources(&args.files) {
        Ok(files) => files,
        Err(problem) => return report::problem(&problem, false),
    };
    let mut code = OK;
    let mut told = String::new();
    for file in &files {
        code = code.max(match one(file, args) {
            Ok(Verdict::Formatted) => OK,
            Ok(Verdict::Text(text)) => {
                told.push_str(&text);
                OK
            }
            Ok(Verdict::Changed) => {
                let what = if args.check { "would be reformatted" } else { "reformatted" };
                told.push_str(&format!("{}: {what}\n", file.display()));
                if args.check { FAULT } else { OK }
            }
            Ok(Verdict::Faulty(errors)) => {
                eprintln!("{}:", file.display());
                errors.show(&file.display().to_string());
                FAULT
            }
            Err(problem) => {
                report::problem(&problem, false);
                USAGE
            }
        });
    }
    out(&told, code)
}

enum Verdict {
    /// It was in its canonical form before.
    Formatted,
    Changed,
    /// The text of standard input, formatted.
    Text(String),
    Faulty(Errors),
}

fn one(file: &Path, args: &FmtArgs) -> Result<Verdict, Problem> {
    let source = read_program(file)?;
    let text = match ptc_compiler::format(&source, &args.limits.0) {
        Ok(text) => text,
        Err(diagnostics) => {
            return Ok(Verdict::Faulty(Errors { diagnostics, source, failed_with: None }));
        }
    };
    let is_stdin = file == Path::new("-");
    if is_stdin && !args.check {
        return Ok(Verdict::Text(text));
    }
    if text == source {
        return Ok(Verdict::Formatted);
    }
    if !args.check {
        files::replace(file, &[text.as_bytes()], Access::Usual).map_err(|error| {
            Problem::new(Code::InvalidConfig, format!("cannot write {}: {error}", file.display()))
        })?;
    }
    Ok(Verdict::Changed)
}

/// Files as they are given, and every `.clj` file below a folder, by name.
fn sources(given: &[PathBuf]) -> Result<Vec<PathBuf>, Problem> {
    let mut sources = Vec::new();
    for path in given {
        if !path.is_dir() {
            sources.push(path.clone());
            continue;
        }
        let before = sources.len();
        let mut folders = vec![path.clone()];
        while let Some(folder) = folders.pop() {
            sources.extend(files_in(&folder, ".clj")?);
            folders.extend(folders_in(&folder)?);
        }
        if sources.len() == before {
            let message = format!("no files below {} end in .clj", path.display());
            return Err(Problem::new(Code::InvalidConfig, message));
        }
        sources[before..].sort_unstable();
    }
    Ok(sources)
}

/// The folders of a folder. Links are left out, since they may lead in circles, and so are hidden folders.
fn folders_in(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let cannot = |error: std::io::Error| {
        Problem::new(Code::InvalidConfig, format!("cannot read {}: {error}", folder.display()))
    };
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if entry.file_type().map_err(cannot)?.is_dir() && !is_hidden {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}
