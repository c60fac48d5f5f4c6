//! Helpers of the targets: a runtime with small limits, running programs to their end, and sources of seeds.

use ptc_runtime::{Failure, Limits, Outcome, Run, Runtime, Step};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Small limits, so that a case takes little time.
pub const LIMITS: Limits = Limits {
    fuel: 20_000,
    memory_bytes: 1_000_000,
    stack_bytes: 500_000,
    granted_bytes: 1_000_000,
    timeout_ms: 2_000,
    tool_calls: 50,
    output_bytes: 20_000,
    print_chars: 500,
    result_bytes: 1_000_000,
    result_fuel: 1_000_000,
    parallel_in_flight: 8,
    parallel_depth: 2,
    source_bytes: 20_000,
    symbols: 1_000,
    ..Limits::DEFAULT
};

/// The runtime of all targets.
pub static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    // Programs read data that was not granted. These reads give nil, equally in all modes.
    Runtime::with_core(ptc_preludes::core())
        .expect("the core library loads")
        .limits(LIMITS)
        .strict_data(false)
});

/// Reasons that only say how far a run got. In another mode, a run may get further or less far.
pub const STOPS: &[&str] =
    &["fuel_exceeded", "memory_exceeded", "stack_exceeded", "output_exceeded", "timeout"];

/// Maximum length of a message: feedback to a model stays near 600 bytes, and no message may grow with the input.
const MAX_MESSAGE: usize = 4_000;

/// Returns the outcome of a run: its printed value, or the reason why it has none.
///
/// # Panics
///
/// If the reason is a bug of PTC, or a limit was not enforced.
pub fn told(outcome: &Result<Outcome, Failure>) -> Result<String, &'static str> {
    match outcome {
        Ok(outcome) => {
            check_ending(outcome.fuel, &outcome.prints);
            let printed = outcome.print();
            if let Ok(text) = &printed {
                assert!(text.len() as u64 <= LIMITS.result_bytes);
            }
            printed.map_err(|fault| fault.code().reason())
        }
        Err(failure) => {
            check_ending(failure.fuel, &failure.prints);
            let ours = failure.reason() == "internal_error" || failure.reason() == "compile_error";
            assert!(!ours, "{failure}");
            assert!(failure.diagnostic().message.len() <= MAX_MESSAGE, "{failure}");
            Err(failure.reason())
        }
    }
}

/// Returns whether a program was refused or stopped because of a limit.
pub fn is_too_much(failure: &Failure) -> bool {
    STOPS.contains(&failure.reason()) || failure.diagnostic().message.contains("limits.")
}

fn check_ending(fuel: u64, prints: &[String]) {
    assert!(fuel <= LIMITS.fuel, "{fuel} of fuel");
    let printed: usize = prints.iter().map(String::len).sum();
    assert!(printed as u64 <= LIMITS.output_bytes, "{printed} bytes printed");
}

/// Messages of faults that only forged code or a forged run can cause, because the types of registers with
/// builders and cursors are not checked. The run stops with this message and does no harm.
const FORGED: &[&str] = &["a builder was used after it was built", "a cursor is not a number"];

/// Drives a run of forged bytes to its end, answering every call.
pub fn finish(mut run: Run) {
    for _ in 0..60 {
        match run.step() {
            Step::Done(Err(failure)) if FORGED.contains(&&*failure.diagnostic().message) => return,
            Step::Done(outcome) => {
                let _ = told(&outcome);
                return;
            }
            Step::NeedsTools(calls) => {
                for call in calls {
                    let _ = run.resume(&call.id, &1);
                }
            }
        }
    }
}

/// Programs whose artifacts and suspended runs the targets change.
pub const PROGRAMS: &[&str] = &[
    "(defn f [a & r] (if r (+ a (count r)) [a])) (map f [1 2] [3 4])",
    "(loop [i 0 acc {}] (if (< i 9) (recur (inc i) (assoc acc i [(str i) :k 1.5])) acc))",
    "(def x 1) (let [g (fn [y] (+ x y (tool/id {:x y})))] (reduce + (map g [1 2 3])))",
    "(pmap (fn [x] (let [k [x x]] (tool/id {:x k}))) [1 2 3])",
    "(sort (fn [a b] (< (:x (tool/id {:x a})) (:x b))) [{:x 2} {:x 1} {:x 3}])",
    "(for [x (range 4) :when (odd? x)] {:a x \"b\" #{x} :c (tool/id :x 99999999999999999999)})",
    "(apply (fn ([a] a) ([a b & c] [a b c (tool/id {})])) (range 6))",
    "(take 3 (iterate (fn [x] (* 2 (tool/id {:x x}))) 1))",
    "(let [m (into (sorted-map) {:b 1 :a (tool/id {})})] [m (re-find #\"a+\" \"baa\") data/x *1])",
];

/// Returns the root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the files below a folder of the workspace whose names end like this.
///
/// # Panics
///
/// If there is no such file, for example because a folder was moved.
pub fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.extend(std::fs::read(&path).ok());
            }
        }
    }
    assert!(!found.is_empty(), "no {ending} in {folder}");
    found
}

/// Returns the programs of the conformance corpus.
pub fn corpus() -> Vec<Vec<u8>> {
    let lines = files("snapshots/conformance", ".jsonl");
    let lines = lines.iter().flat_map(|file| file.split(|byte| *byte == b'\n'));
    let cases = lines.filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok());
    cases.filter_map(|case| Some(case.get("program")?.as_str()?.as_bytes().to_vec())).collect()
}

/// Converts texts to seeds.
pub fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Returns random bytes for targets that use bytes only as choices.
pub fn choices(count: u64) -> Vec<Vec<u8>> {
    (0..count).map(ptc_snapshots::generate::bytes).collect()
}
