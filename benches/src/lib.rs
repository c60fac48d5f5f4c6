//! Programs and data shared by the benchmarks. No crate depends on this one.
#![forbid(unsafe_code)]

pub mod cases;
pub mod costs;
pub mod data;
pub mod instructions;
pub mod models;
pub mod programs;
pub mod server;
pub mod wire;

use ptc_runtime::{Grants, Limits, Program, Runtime};

/// Returns a runtime with the core library and practically no time limit.
///
/// # Panics
///
/// If the core library does not load.
pub fn runtime() -> Runtime {
    let limits = Limits { timeout_ms: 600_000, fuel: u64::MAX / 8, ..Default::default() };
    Runtime::with_core(ptc_preludes::core()).expect("the core library loads").limits(limits)
}

/// Runs a program to its end and returns the fuel it used.
///
/// # Panics
///
/// If the program fails, because there is then nothing to measure.
pub fn run(runtime: &Runtime, program: &Program, grants: &Grants) -> u64 {
    let run = runtime.start_with(program, grants).expect("the run starts");
    run.finish().expect("the program succeeds").fuel
}

/// Returns the source of a prelude with this many exports, half of which call tools.
pub fn prelude_source(exports: usize) -> String {
    let mut source = "(ns lib \"A library.\")\n(defn- clean [x] (str/trim (str x)))\n".to_string();
    for i in 0..exports {
        let body = match i % 4 {
            0 => format!("(tool/call {{:server \"s{}\" :tool \"t{i}\" :args {{:id (clean x)}}}})", i % 7),
            1 => format!("(map (fn [y] (+ y {i})) (range (inc x)))"),
            2 => "(let [found (tool/fetch {:id (clean x)})] (if found found {:missing x}))".to_string(),
            _ => format!("(cond (nil? x) :none (> x {i}) {{:big x}} :else [x (clean x)])"),
        };
        source.push_str(&format!("(defn f{i} \"What number {i} does, in a line.\" [x] {body})\n"));
    }
    source
}
