//! Fixed set of work whose instructions are counted by `src/instructions.rs`.
//!
//! Single-threaded work only, because counts of a race differ from run to run.

use crate::data::{baskets_json, orders_json, records_json, words};
use crate::{programs, run, runtime};
use ptc_runtime::{Evaluator, Grants};
use std::hint::black_box;

/// One piece of work.
pub struct Case {
    /// Name in the baseline.
    pub name: &'static str,
    /// Repetitions for one count, so that it has ten to three hundred million instructions.
    pub times: u32,
    /// Sets everything up and returns the work itself.
    pub prepare: fn() -> Box<dyn FnMut()>,
}

/// All cases.
pub const CASES: &[Case] = &[
    Case { name: "fib", times: 1, prepare: || program(programs::FIB, Grants::new()) },
    Case { name: "loop", times: 1, prepare: || program(programs::LOOP, Grants::new()) },
    Case { name: "closures", times: 1, prepare: || program(programs::CLOSURES, Grants::new()) },
    Case { name: "maps", times: 1, prepare: || program(programs::MAPS, Grants::new()) },
    Case { name: "strings", times: 2, prepare: || program(programs::STRINGS, Grants::new()) },
    Case { name: "sort", times: 1, prepare: || program(programs::SORT, Grants::new()) },
    Case { name: "pipeline", times: 3, prepare: || program(programs::PIPELINE, orders()) },
    Case { name: "squares", times: 1, prepare: || program(programs::SQUARES, Grants::new()) },
    Case { name: "frequencies", times: 1, prepare: || program(programs::WORDS, text()) },
    Case { name: "json-parse", times: 2, prepare: json_parse },
    Case { name: "records", times: 5, prepare: records },
    Case { name: "cold-one-line", times: 500, prepare: || cold("(+ 1 2)") },
    Case { name: "cold-40-lines", times: 50, prepare: || cold(programs::REPORT) },
    Case { name: "session-turn", times: 200, prepare: session },
    // About 10 KB and 5 MB of JSON: checks against granted data look up what they need instead of going through
    // all of it.
    Case { name: "check-10-kb", times: 500, prepare: || started(70) },
    Case { name: "check-5-mb", times: 500, prepare: || started(35_000) },
];

fn orders() -> Grants {
    Grants::new().json("orders", &orders_json(10_000)).expect("orders")
}

fn text() -> Grants {
    Grants::new().serde("text", &words(20_000)).expect("text")
}

/// Prepares runs of a compiled program over granted data.
fn program(source: &str, grants: Grants) -> Box<dyn FnMut()> {
    let runtime = runtime();
    let program = runtime.compile(source).expect("the program compiles");
    Box::new(move || {
        black_box(run(&runtime, &program, &grants));
    })
}

fn json_parse() -> Box<dyn FnMut()> {
    let text = orders_json(10_000);
    Box::new(move || {
        black_box(Grants::new().json("orders", black_box(&text)).expect("orders"));
    })
}

/// Prepares evaluations of a thousand records, JSON in and out.
fn records() -> Box<dyn FnMut()> {
    let runtime = runtime();
    let program = runtime.compile(programs::ROW).expect("the program compiles");
    let mut evaluator = Evaluator::new(&runtime, &program);
    let records = records_json(1000);
    Box::new(move || {
        for record in &records {
            let outcome = evaluator.json("row", record).expect("the record runs");
            black_box(outcome.json().expect("the result is JSON"));
        }
    })
}

/// Prepares evaluations from source text to the result.
fn cold(source: &'static str) -> Box<dyn FnMut()> {
    let runtime = runtime();
    Box::new(move || {
        let outcome = runtime.eval(black_box(source), &Grants::new());
        black_box(outcome.expect("the program succeeds").fuel);
    })
}

/// Prepares the report over granted orders: checked against them and started, but not run.
fn started(orders: usize) -> Box<dyn FnMut()> {
    let runtime = runtime();
    let (_, functions) =
        programs::REPORT.split_once("\n\n").expect("the orders, and then what is done with them");
    let source = format!("(def orders data/orders)\n\n{functions}");
    let program = runtime.compile(&source).expect("the program compiles");
    let grants = Grants::new().json("orders", &baskets_json(orders)).expect("orders");
    Box::new(move || {
        black_box(runtime.start_with(&program, &grants).expect("the program is right"));
    })
}

/// Prepares a session turn that changes one definition and keeps another.
fn session() -> Box<dyn FnMut()> {
    let mut session = runtime().session();
    session.eval("(def seen {}) (defn note [m k] (assoc m k (inc (get m k 0))))").expect("the first turn");
    Box::new(move || {
        black_box(session.eval("(def seen (note seen :turn)) (:turn seen)").expect("a turn").fuel);
    })
}
