//! Every target on its seeds, similar inputs, and all inputs that once failed.
//!
//! `PTC_FUZZ_CASES=100000 cargo test -p ptc-fuzz -- --nocapture json` tries more inputs of one target,
//! `PTC_TEST_SEED=7` others. A failing input is written to a file, to be kept in `found/`.
#![allow(missing_docs)]

use ptc_fuzz::mutate::{Dice, input};
use ptc_fuzz::{TARGETS, Target, target};
use ptc_snapshots::setting;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

/// Stack size in bytes: a host's thread may have no more, and input must not need it.
const STACK: usize = 2 << 20;

fn on_a_small_stack(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        if let Err(panic) = thread.expect("a thread").join() {
            resume_unwind(panic);
        }
    });
}

/// Tries an input; if it fails, writes it to a file first.
fn try_out(target: &Target, bytes: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.body)(bytes))) {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-failed", target.name));
        let _ = std::fs::write(&path, bytes);
        eprintln!("{} fails on {}", target.name, path.display());
        resume_unwind(panic);
    }
}

fn check(name: &str) {
    let target = target(name).expect("a target");
    on_a_small_stack(|| {
        let seeds = (target.seeds)();
        let cases = setting("PTC_FUZZ_CASES", target.cases.into());
        let mut dice = Dice::new(setting("PTC_TEST_SEED", 0), target.name);
        for _ in 0..cases {
            try_out(target, &input(&seeds, target, &mut dice));
        }
    });
}

macro_rules! bounded {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { check(stringify!($name)); })*

        #[test]
        fn every_target_is_run_here() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

bounded!(
    reader, compiler, run, programs, artifact, prelude, snapshot, json, signature, template, openapi,
    upstream, mcp, config, printers,
);

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn entries(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

#[test]
fn what_once_failed_does_not_fail_again() {
    for path in entries(&folder("found")).iter().filter(|path| path.is_dir()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let target = target(&name).unwrap_or_else(|| panic!("found/{name} is of no target"));
        for file in entries(path) {
            let bytes = std::fs::read(&file).expect("a file");
            eprintln!("{}", file.display());
            on_a_small_stack(|| try_out(target, &bytes));
        }
    }
}

/// Checks that enough changed files are accepted: if all were refused at their first bytes, they would test little.
#[test]
fn much_of_what_is_bent_is_let_through() {
    use ptc_fuzz::targets::{artifact, prelude, snapshot};
    are_let_through("artifact", artifact::is_let_through);
    are_let_through("prelude", prelude::is_let_through);
    are_let_through("snapshot", snapshot::is_let_through);
}

fn are_let_through(name: &str, is_let_through: fn(&[u8]) -> bool) {
    let target = target(name).expect("a target");
    on_a_small_stack(|| {
        let seeds = (target.seeds)();
        let mut dice = Dice::new(1, name);
        let through = (0..1_000).filter(|_| is_let_through(&input(&seeds, target, &mut dice))).count();
        println!("{name}: {through} of 1000");
        assert!(through >= 50, "{through} of 1000 {name}s");
    });
}

/// Checks that a fuzzer runs exactly the targets tested here, and that the page describes them.
#[test]
fn every_target_is_a_binary_of_the_fuzzer_and_on_the_page() {
    let page = std::fs::read_to_string(folder("../docs/internals/fuzzing.md")).expect("the page");
    let manifest = std::fs::read_to_string(folder("libfuzzer/Cargo.toml")).expect("a manifest");
    for target in TARGETS {
        let name = target.name;
        let binary = folder("libfuzzer/fuzz_targets").join(format!("{name}.rs"));
        let text =
            std::fs::read_to_string(&binary).unwrap_or_else(|_| panic!("{} is missing", binary.display()));
        assert!(text.contains(&format!("ptc_fuzz::targets::{name}::body(bytes)")), "{text}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in libfuzzer/Cargo.toml");
        assert!(!(target.seeds)().is_empty());
        let row = format!("| `{name}` | {} |", target.promise.trim());
        assert!(page.contains(&row), "docs/internals/fuzzing.md has no row\n{row}");
    }
    assert_eq!(entries(&folder("libfuzzer/fuzz_targets")).len(), TARGETS.len());
}
