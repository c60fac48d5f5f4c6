//! PTC. A program is compiled once; every run has memory and a budget of its own.

use crate::accumulators::programs;
use crate::bench::{Bench, Share};
use crate::data;
use ptc_runtime::{Batch, Evaluator, Failure, Grants, Limits, Program, Runtime, bridge};
use serde::Deserialize;
use serde_json::{Value, json};
use std::hint::black_box;

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/ptc/", $n, ".clj"))
    };
}

/// Returns the version for reports.
pub fn version() -> String {
    "0.1".into()
}

/// Returns a runtime with every limit on, none so low that it would be reached.
fn runtime() -> Runtime {
    let limits =
        Limits { fuel: 1 << 40, timeout_ms: 100_000, memory_bytes: 100_000_000, ..Limits::default() };
    Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits)
}

fn call(runtime: &Runtime, program: &Program, grants: &Grants) -> Value {
    let run = runtime.start_with(program, grants).unwrap();
    run.finish().unwrap().get().unwrap()
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    let rt = runtime();
    let none = Grants::new();
    let orders = Grants::new().json("orders", &data::orders_text()).unwrap();
    let text = Grants::new().serde("text", &data::text()).unwrap();
    let args: [(&str, &str, &Grants); 5] = [
        ("W1", prog!("w1"), &none),
        ("W2", prog!("w2"), &none),
        ("W3", prog!("w3"), &orders),
        ("W4", prog!("w4"), &text),
        ("W5", prog!("w5"), &none),
    ];
    for (w, src, arg) in &args {
        let program = rt.compile(src).unwrap();
        b.time(w, || call(&rt, &program, arg));
        b.time(&format!("{w}.cold"), || call(&rt, &rt.compile(black_box(src)).unwrap(), arg));
    }
    for (name, src) in programs!(sources "ptc", ".clj") {
        let program = rt.compile(src).unwrap();
        b.time(name, || call(&rt, &program, &none));
    }
    let src = data::orders_text();
    b.time_note("W3j", "JSON text straight into shared data", || {
        let grants = Grants::new().json("orders", black_box(&src)).unwrap();
        black_box(&grants);
        json!(data::N_ORDERS)
    });
    let cold = |rt: &Runtime, src: &str| call(rt, &rt.compile(black_box(src)).unwrap(), &none);
    b.time_note("W7.ctx", "decoding, verifying and linking the core library", || {
        black_box(runtime());
        Value::Null
    });
    b.time("W7.tiny", || cold(&rt, prog!("tiny")));
    b.time("W7.prog", || cold(&rt, prog!("prog")));
    b.time("W7.fresh", || cold(&runtime(), prog!("prog")));
    if b.wants_any("W6") {
        records(b, &rt);
    }
}

fn records(b: &mut Bench, rt: &Runtime) {
    let recs = data::records(data::N_RECORDS);
    let texts = data::texts(&recs);
    let compile = || rt.compile(prog!("w6")).unwrap();
    b.records("W6", "", &recs, |part: &[Value], share: &mut Share| {
        let mut evaluator = Evaluator::new(rt, &compile());
        share.run(|acc| {
            for r in part {
                acc.add_json(&evaluator.serde("row", r).unwrap().get().unwrap());
            }
        })
    });
    b.records("W6.text", "its own reader", &texts, |part: &[String], share: &mut Share| {
        let mut evaluator = Evaluator::new(rt, &compile());
        share.run(|acc| {
            for r in part {
                acc.add_json(&evaluator.json("row", r).unwrap().get().unwrap());
            }
        })
    });
    let own = "records of one frozen vector in, a struct out";
    b.passes("W6.own", own, &recs[..data::N_OWN], 100, |part: &[Value], share: &mut Share| {
        let own = bridge::freeze(part).unwrap().items().unwrap();
        let mut evaluator = Evaluator::new(rt, &compile());
        share.run(|acc| {
            for row in &own {
                let Scored { id, score, label } = evaluator.frozen("row", row).unwrap().get().unwrap();
                acc.add(id, score, &label);
            }
        })
    });
    lines(b, rt, &compile(), &texts);
    let one = Grants::new().serde("row", &recs[0]).unwrap();
    b.time("W6.cold", || call(rt, &rt.compile(black_box(prog!("w6"))).unwrap(), &one));
}

/// Measures `Batch`, as `ptc batch` uses it: bytes in, bytes out, in order. It has threads for input and output
/// in addition to its workers, so wall-clock time is reported.
fn lines(b: &mut Bench, rt: &Runtime, program: &Program, texts: &[String]) {
    let input: &'static [u8] = Vec::leak(texts.join("\n").into_bytes());
    for (workload, threads) in [("W6.lines", 1), ("W6.lines.x2", 2)] {
        let batch = Batch::new(rt, program).threads(threads);
        b.whole(
            workload,
            "JSON lines to JSON lines, in order",
            texts.len(),
            threads,
            || {
                let mut output = Vec::with_capacity(texts.len() * 64);
                let failed = |_, failure: Failure| -> std::io::Result<()> { panic!("{failure}") };
                let summary = batch.lines(input, &mut output, failed);
                assert_eq!(summary.results, texts.len() as u64);
                output
            },
            |output, acc| {
                for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    acc.add_json(&serde_json::from_slice(line).unwrap());
                }
            },
        );
    }
}

/// Result of W6.
#[derive(Deserialize)]
struct Scored {
    id: i64,
    score: f64,
    label: String,
}
