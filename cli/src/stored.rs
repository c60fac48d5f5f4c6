//! Preludes that are no files: those that come with ptc, and those of a store.

use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::{LoadOptions, Prelude, PreludeStore, Runtime, StoreError, StoreLimits};
use std::path::Path;

/// A prelude that comes with ptc.
pub fn shipped(runtime: &Runtime, name: &str) -> Result<Prelude, Problem> {
    let all = ptc_preludes::shipped();
    let Some((_, bytes)) = all.iter().find(|(known, _)| *known == name) else {
        let names: Vec<String> = all.iter().map(|(name, _)| format!("ptc:{name}")).collect();
        let message = format!("no prelude `ptc:{name}` comes with ptc; there are {}", names.join(", "));
        return Err(Problem::new(Code::InvalidConfig, message));
    };
    let options = LoadOptions { vouched: true, ..LoadOptions::default() };
    Prelude::load(runtime, bytes, &options).map_err(|problem| Problem(Box::new(problem)))
}

/// A stored prelude, given as `DIR#shop@2`. Its version and checksum are kept in what a run tells.
pub fn prelude(runtime: &Runtime, text: &str) -> Result<Prelude, Problem> {
    let Some((folder, reference)) = text.rsplit_once('#') else {
        let message =
            format!("`store:{text}` does not say which prelude; write store:DIR#shop or store:DIR#shop@2");
        return Err(Problem::new(Code::InvalidConfig, message));
    };
    let folder = Path::new(folder);
    if !folder.join("refs.jsonl").exists() {
        let message = format!("there is no store in {}", folder.display());
        let mut problem = Problem::new(Code::InvalidConfig, message);
        problem.0.hint = Some(format!("ptc store write {} shop.clj", folder.display()));
        return Err(problem);
    }
    open(runtime, folder)?.bundle(&[reference], &[]).map(|(prelude, _)| prelude).map_err(told)
}

/// The store in a folder.
pub fn open(runtime: &Runtime, folder: &Path) -> Result<PreludeStore, Problem> {
    PreludeStore::open(runtime, folder, StoreLimits::default()).map_err(told)
}

/// A problem of the store as one of the command.
pub fn told(error: StoreError) -> Problem {
    let mut diagnostic = error.to_diagnostic();
    diagnostic.message = error.to_string();
    diagnostic.hint = error.details.get("hint").and_then(|hint| hint.as_str()).map(str::to_string);
    Problem(Box::new(diagnostic))
}
