//! Preludes that are no files: those that come with ptc, and those of a store.

use crate::input::read_program;
use crate::preludes::{self, file_name};
use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::{
    LoadOptions, Prelude, PreludeStore, Runtime, Selection, SourceOrigin, StoreError, StoreLimits,
};
use std::path::{Path, PathBuf};

/// The file by which the folder of a store is known.
const REFS: &str = "refs.jsonl";

/// A prelude that comes with ptc.
pub fn shipped(runtime: &Runtime, name: &str) -> Result<Prelude, Problem> {
    let all = ptc_preludes::shipped();
    let Some((_, bytes)) = all.iter().find(|(known, _)| *known == name) else {
        let names: Vec<String> = all.iter().map(|(name, _)| format!("ptc:{name}")).collect();
        let message = format!("no prelude `ptc:{name}` comes with ptc; available: {}", names.join(", "));
        return Err(Problem::new(Code::InvalidConfig, message));
    };
    let options = LoadOptions { vouched: true, ..LoadOptions::default() };
    Prelude::load(runtime, bytes, &options).map_err(|problem| Problem(Box::new(problem)))
}

/// All preludes that come with ptc.
pub fn all_shipped(runtime: &Runtime) -> Result<Vec<Prelude>, Problem> {
    let named = |(name, _): &(&str, _)| Ok(shipped(runtime, name)?.with_origin(format!("ptc:{name}")));
    ptc_preludes::shipped().iter().map(named).collect()
}

/// A stored prelude, given as `DIR#shop@2`. Its version and checksum are kept in what a run tells.
pub fn prelude(runtime: &Runtime, text: &str) -> Result<Prelude, Problem> {
    let Some((folder, reference)) = text.rsplit_once('#') else {
        let message =
            format!("`store:{text}` does not say which prelude; write store:DIR#shop or store:DIR#shop@2");
        return Err(Problem::new(Code::InvalidConfig, message));
    };
    let folder = Path::new(folder);
    if !folder.join(REFS).exists() {
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

/// The store that `--prelude-store-seed` describes: one in memory that begins with these sources, or the store in this
/// folder if `ptc store` has made it.
pub fn seeded(runtime: &Runtime, path: &Path) -> Result<PreludeStore, Problem> {
    if path.join(REFS).exists() {
        return open(runtime, path);
    }
    let paths = [path.to_path_buf()];
    let sources = sources(&paths)?;
    // Compiling finds the values of constants, which is to run code.
    preludes::check_source(runtime, path)?;
    let store = PreludeStore::new(runtime);
    store.seed(&sources, &serde_json::Value::Null).map_err(told)?;
    Ok(store)
}

/// A problem of the store as one of the command.
pub fn told(error: StoreError) -> Problem {
    let mut diagnostic = error.to_diagnostic();
    diagnostic.message = error.to_string();
    diagnostic.hint = error.details.get("hint").and_then(|hint| hint.as_str()).map(str::to_string);
    Problem(Box::new(diagnostic))
}

/// Files, and the `.clj` files of folders, by name.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Selection>, Problem> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(sources_in(path)?),
            false => files.push(path.clone()),
        }
    }
    let selection = |file: &PathBuf| {
        let origin = SourceOrigin::File(file_name(file));
        Ok(Selection::new(file.display().to_string(), read_program(file)?).origin(origin))
    };
    files.iter().map(selection).collect()
}

fn sources_in(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let told = |what: String| Problem::new(Code::InvalidConfig, format!("{}: {what}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(|error| told(error.to_string()))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "clj")).collect();
    files.sort();
    match files.is_empty() {
        true => Err(told("the folder has no .clj files".to_string())),
        false => Ok(files),
    }
}
