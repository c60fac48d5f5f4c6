//! Test files and the preludes they are about.

use crate::args::TestArgs;
use crate::cmd::build::sources::{TESTS, files_in, name};
use crate::preludes::{is_artifact, selection, stem};
use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::{Prelude, PreludeOutline, Runtime};
use std::path::{Path, PathBuf};

/// A test file, and what is attached to its tests.
#[derive(Debug)]
pub struct SuiteFiles {
    pub file: PathBuf,
    /// The prelude that the tests are about; None if only `--prelude` says.
    pub own: Option<PathBuf>,
    /// All preludes: that one, those of `--prelude`, and sources beside it that these use.
    pub preludes: Vec<PathBuf>,
}

impl SuiteFiles {
    /// Adds sources in the folder of the prelude, and others that were named, as far as they are used.
    pub fn add_used(&mut self, runtime: &Runtime, named: &[PathBuf]) {
        let Some(folder) = self.own.as_ref().filter(|own| !is_artifact(own)).and_then(|own| own.parent())
        else {
            return;
        };
        let beside = files_in(if folder == Path::new("") { Path::new(".") } else { folder }, ".clj");
        let others = named.iter().cloned().chain(beside.unwrap_or_default());
        let is_prelude = |file: &PathBuf| !name(file).ends_with(TESTS) && !is_artifact(file);
        let mut others: Vec<(PathBuf, PreludeOutline)> =
            others.filter(is_prelude).map(|file| (file.clone(), outline(runtime, &file))).collect();
        let mut all: Vec<PreludeOutline> = self.preludes.iter().map(|file| outline(runtime, file)).collect();
        loop {
            let is_declared = |name: &String| all.iter().any(|known| known.declares.contains(name));
            let missing = all.iter().flat_map(|known| &known.requires).find(|name| {
                !is_declared(name) && others.iter().any(|(_, other)| other.declares.contains(name))
            });
            let Some(missing) = missing.cloned() else { return };
            let Some(at) = others.iter().position(|(_, other)| other.declares.contains(&missing)) else {
                return;
            };
            let (file, outline) = others.remove(at);
            self.preludes.push(file);
            all.push(outline);
        }
    }

    /// The namespaces of the prelude that the tests are about; None if it is not a source.
    pub fn own_namespaces(&self, runtime: &Runtime) -> Option<Vec<String>> {
        let own = self.own.as_ref().filter(|own| !is_artifact(own))?;
        Some(outline(runtime, own).declares)
    }
}

/// Returns what a source declares and requires; nothing if it cannot be read, which compiling it reports.
fn outline(runtime: &Runtime, file: &Path) -> PreludeOutline {
    if is_artifact(file) || !file.is_file() {
        return PreludeOutline::default();
    }
    let part = selection(file).ok();
    part.and_then(|part| Prelude::outline_of(runtime, &part.source).ok()).unwrap_or_default()
}

/// The test files that the arguments mean, each with its prelude and those of `--prelude`.
pub fn find(args: &TestArgs, runtime: &Runtime) -> Result<Vec<SuiteFiles>, Problem> {
    let mut tests = Vec::new();
    let mut preludes = Vec::new();
    for path in &args.paths {
        if path.is_dir() {
            let found = files_in(path, TESTS)?;
            if found.is_empty() {
                return Err(nothing(format!("{} has no tests (files that end in {TESTS})", path.display())));
            }
            tests.extend(found);
        } else if name(path).ends_with(TESTS) {
            tests.push(path.clone());
        } else {
            preludes.push(path.clone());
        }
    }
    for prelude in &preludes {
        if tests.iter().any(|test| subject(test) == stem(prelude)) {
            continue;
        }
        let test = prelude.with_file_name(format!("{}{TESTS}", stem(prelude)));
        if !test.is_file() {
            let message = match prelude.exists() {
                true => format!("{} has no tests: {} does not exist", prelude.display(), test.display()),
                false => format!("cannot read {}: no such file or folder", prelude.display()),
            };
            return Err(nothing(message));
        }
        tests.push(test);
    }
    let with_used = |test: &PathBuf| {
        let mut files = paired(test, &preludes, &args.preludes)?;
        files.add_used(runtime, &preludes);
        Ok(files)
    };
    tests.iter().map(with_used).collect()
}

/// The preludes in the folders under test that have no test file, each with what it uses. Programs are none.
pub fn untested(args: &TestArgs, runtime: &Runtime) -> Result<Vec<SuiteFiles>, Problem> {
    let mut found = Vec::new();
    for folder in args.paths.iter().filter(|path| path.is_dir()) {
        let tested: Vec<String> = files_in(folder, TESTS)?.iter().map(|test| subject(test)).collect();
        for file in files_in(folder, ".clj")? {
            let is_test = name(&file).ends_with(TESTS);
            if is_test || tested.contains(&stem(&file)) || !is_prelude(&file, runtime) {
                continue;
            }
            let preludes = args.preludes.iter().filter(|other| **other != file).cloned();
            let preludes = preludes.chain([file.clone()]).collect();
            let mut files = SuiteFiles { file: file.clone(), own: Some(file), preludes };
            files.add_used(runtime, &[]);
            found.push(files);
        }
    }
    Ok(found)
}

fn is_prelude(file: &Path, runtime: &Runtime) -> bool {
    selection(file).is_ok_and(|part| Prelude::is_source(runtime, &part.source))
}

/// The test file with its prelude: one that was named, else the source next to it. An artifact that nobody named could
/// be anybody's.
fn paired(test: &Path, named: &[PathBuf], more: &[PathBuf]) -> Result<SuiteFiles, Problem> {
    let subject = subject(test);
    let beside = test.with_file_name(format!("{subject}.clj"));
    let named = named.iter().find(|prelude| stem(prelude) == subject).cloned();
    let own = named.or_else(|| beside.is_file().then_some(beside.clone()));
    if own.is_none() && more.is_empty() && test.exists() {
        let message = format!("{}: there is no prelude {} next to it", test.display(), beside.display());
        return Err(Problem::new(Code::InvalidConfig, message)
            .hint(format!("name it: ptc test {} -p PRELUDE", test.display())));
    }
    let more_than_own = more.iter().filter(|other| Some(*other) != own.as_ref()).cloned();
    let preludes = more_than_own.chain(own.clone()).collect();
    Ok(SuiteFiles { file: test.to_path_buf(), own, preludes })
}

/// The name of the prelude that a test file is about: `crm` for `crm_test.clj`.
fn subject(test: &Path) -> String {
    name(test).strip_suffix(TESTS).unwrap_or_default().to_string()
}

fn nothing(message: String) -> Problem {
    let hint =
        "write one, such as (deftest finds-a-user (is (= 1 (crm/find 1)))) in crm_test.clj next to crm.clj";
    Problem::new(Code::InvalidConfig, message).hint(hint)
}

/// Name of a test file in reports: without the extension of files.
pub fn suite_name(file: &Path) -> String {
    debug_assert!(!is_artifact(file));
    stem(file)
}
