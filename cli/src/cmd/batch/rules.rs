//! The programs of `--rules`.

use super::{ProgramWarnings, Refusal};
use crate::args::BatchArgs;
use crate::input::read_program;
use crate::problem::Problem;
use crate::report::Warnings;
use ptc_bytecode::Code;
use ptc_runtime::{Program, Runtime};
use std::path::{Path, PathBuf};

/// Every file, and every `.clj` file of every folder in the order of their names, by the name of the
/// file.
pub fn compile(
    runtime: &Runtime,
    args: &BatchArgs,
    warnings: &mut Vec<ProgramWarnings>,
) -> Result<Vec<(String, Program)>, Refusal> {
    let mut rules: Vec<(String, Program)> = Vec::new();
    for path in &args.rules {
        let files = if path.is_dir() { folder(path)? } else { vec![path.clone()] };
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if rules.iter().any(|(known, _)| *known == name) {
                let message = format!("two rules are called `{name}`, so results could not be told apart");
                return Err(Problem::new(Code::InvalidConfig, message).into());
            }
            let source = read_program(&file)?;
            let checked = runtime.compile(&source).and_then(|program| {
                super::check_data(runtime, &program, args, Some("row"))?;
                Ok(program)
            });
            let program =
                checked.map_err(|failure| Refusal::Program(Box::new(failure), file.display().to_string()))?;
            warnings.push(ProgramWarnings {
                name: file.display().to_string(),
                source: source.clone(),
                rule: Some(name.clone()),
                warnings: Warnings::of_program(&program),
            });
            rules.push((name, program));
        }
    }
    Ok(rules)
}

fn folder(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    let problem = |why: &dyn std::fmt::Display| {
        Problem::new(Code::InvalidConfig, format!("cannot read {}: {why}", path.display()))
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| problem(&error))? {
        let file = entry.map_err(|error| problem(&error))?.path();
        if file.extension().is_some_and(|extension| extension == "clj") {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(problem(&"there are no .clj files in it"));
    }
    files.sort();
    Ok(files)
}
