//! Test files and the preludes they are about.

use crate::args::TestArgs;
use crate::cmd::build::sources::{TESTS, files_in, name};
use crate::preludes::{is_artifact, stem};
use crate::problem::Problem;
use ptc_bytecode::Code;
use std::path::{Path, PathBuf};

/// A test file, and what is attached to its tests.
#[derive(Debug)]
pub struct SuiteFiles {
    pub file: PathBuf,
    pub preludes: Vec<PathBuf>,
}

/// The test files that the arguments mean, each with its prelude and those of `--prelude`.
pub fn find(args: &TestArgs) -> Result<Vec<SuiteFiles>, Problem> {
    let mut tests = Vec::new();
    let mut preludes = Vec::new();
    for path in &args.paths {
        if path.is_dir() {
            let found = files_in(path, TESTS)?;
            if found.is_empty() {
                return Err(nothing(format!("{} has no tests: files that end in {TESTS}", path.display())));
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
    tests.iter().map(|test| paired(test, &preludes, &args.preludes)).collect()
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
    let own = own.filter(|own| !more.contains(own));
    Ok(SuiteFiles { file: test.to_path_buf(), preludes: more.iter().cloned().chain(own).collect() })
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

/// What a test file is called in reports: without the extension of files.
pub fn suite_name(file: &Path) -> String {
    debug_assert!(!is_artifact(file));
    stem(file)
}
