//! `ptc check FILE…`: compiles without running.

use crate::args::CheckArgs;
use crate::input::read_program;
use crate::problem::Problem;
use crate::report::{self, Errors, FAULT, OK, USAGE, out, text_json};
use crate::setup::plain_runtime;
use ptc_runtime::{Diagnostic, Runtime};
use std::path::Path;
use std::process::ExitCode;

/// What was found in one file.
enum FileVerdict {
    Sound,
    Faulty(Errors),
    Unreadable(Problem),
}

pub fn run(args: &CheckArgs) -> ExitCode {
    let runtime = match plain_runtime(args.limits.0) {
        Ok(runtime) => runtime,
        Err(problem) => return report::problem(&problem, args.json),
    };
    let found: Vec<(String, FileVerdict)> =
        args.files.iter().map(|file| (file.display().to_string(), check(file, &runtime))).collect();
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

fn check(file: &Path, runtime: &Runtime) -> FileVerdict {
    match read_program(file) {
        Err(problem) => FileVerdict::Unreadable(problem),
        Ok(source) => match runtime.compile(&source) {
            // A program with a slip runs, but whoever asks wants it mended.
            Ok(program) => match program.warnings() {
                [] => FileVerdict::Sound,
                warnings => FileVerdict::faulty(warnings.to_vec(), source),
            },
            Err(failure) => {
                let warnings = failure.warnings().to_vec();
                let mut found = failure.diagnostics;
                found.extend(warnings);
                FileVerdict::faulty(found, source)
            }
        },
    }
}

impl FileVerdict {
    fn faulty(diagnostics: Vec<Diagnostic>, source: String) -> FileVerdict {
        FileVerdict::Faulty(Errors { diagnostics, source, failed_with: None })
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
