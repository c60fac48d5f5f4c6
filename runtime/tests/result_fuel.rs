//! Turning a result into text has its own budget: equal for every format, and independent of the fuel for running the
//! program.
#![allow(missing_docs)]

use ptc_runtime::{Cancel, Fault, Grants, Limits, Outcome, Runtime};
use serde_json::Value;
use std::time::{Duration, Instant};

/// An integer of 131,073 digits.
const BIG: &str = "(def B (reduce (fn [a _] (* a a)) 10 (range 17))) ";

fn runtime() -> Runtime {
    let limits = Limits { timeout_ms: 600_000, ..Limits::default() };
    Runtime::with_core(ptc_preludes::core()).expect("the core library loads").limits(limits)
}

fn outcome(runtime: &Runtime, source: &str) -> Outcome {
    runtime.eval(source, &Grants::new()).unwrap_or_else(|failure| panic!("{source}: {failure}"))
}

/// Writes the value of a run in every format of text or data.
fn written(outcome: &Outcome) -> Vec<(&'static str, Result<(), String>)> {
    let of = |fault: Fault| format!("{}: {}", fault.code().reason(), fault.parts().message);
    vec![
        ("print", outcome.print().map(|_| ()).map_err(of)),
        ("json", outcome.json().map(|_| ()).map_err(of)),
        ("datum", outcome.datum().map(|_| ()).map_err(of)),
        ("get", outcome.get::<Value>().map(|_| ()).map_err(|error| error.to_string())),
    ]
}

#[test]
fn digits_are_paid_for_before_they_are_written() {
    let runtime = runtime();
    for source in ["(repeat 400 B)", "{:rows (vec (repeat 400 B))}", "(zipmap (range 400) (repeat B))"] {
        let outcome = outcome(&runtime, &format!("{BIG}{source}"));
        let started = Instant::now();
        for (format, ended) in written(&outcome) {
            let told = ended.expect_err(format);
            assert!(told.contains("limits.result_fuel"), "{source} as {format}: {told}");
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{source}: {:?}", started.elapsed());
        let (start, is_whole) = outcome.print_start(20).expect("a beginning");
        assert!(start.len() <= 20 && !is_whole);
    }
    assert_eq!(outcome(&runtime, &format!("{BIG}B")).print().expect("one is fine").len(), 131_073);
}

#[test]
fn what_unfolds_ends_in_every_format() {
    let outcome = outcome(&runtime(), "(reduce (fn [v _] [v v]) 1 (range 60))");
    let started = Instant::now();
    for (format, ended) in written(&outcome) {
        assert!(ended.expect_err(format).contains("limits.result_fuel"), "{format}");
    }
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn a_failure_with_too_much_keeps_its_beginning_only() {
    let source = format!("{BIG}(fail (repeat 400 B))");
    let started = Instant::now();
    let failure = runtime().eval(&source, &Grants::new()).map(|_| ()).expect_err("it fails");
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert_eq!(failure.reason(), "fail");
    assert!(failure.value.is_none(), "nobody writes 52 million digits");
    let small = runtime().eval("(fail {:reason 1})", &Grants::new()).map(|_| ());
    assert!(small.expect_err("it fails").value.is_some());
}

#[test]
fn all_formats_agree_on_what_a_run_and_its_result_cost() {
    let runtime = runtime();
    for source in ["nil", "[1 2.5 \"text\" :key]", "(zipmap (range 100) (range 100))", "(range 5000)"] {
        let untouched = outcome(&runtime, source).fuel;
        let prices: Vec<u64> = (0..4)
            .map(|nth| {
                let outcome = outcome(&runtime, source);
                assert!(written(&outcome)[nth].1.is_ok(), "{source}");
                assert_eq!(outcome.fuel, untouched, "writing costs no fuel of the run");
                outcome.result_fuel().expect("it is little")
            })
            .collect();
        assert!(prices.iter().all(|price| *price == prices[0] && *price > 0), "{source}: {prices:?}");
    }
}

#[test]
fn a_result_just_within_the_limit_is_written() {
    let source = "[1 2 {:a \"b\"}]";
    let price = outcome(&runtime(), source).result_fuel().expect("it is little");
    let with = |result_fuel| {
        let limits = Limits { result_fuel, ..Limits::default() };
        outcome(&runtime().limits(limits), source)
    };
    assert!(written(&with(price)).iter().all(|(_, ended)| ended.is_ok()));
    for (format, ended) in written(&with(price - 1)) {
        let told = ended.expect_err(format);
        let wanted = format!(
            "turning the result into text takes more work than {} units (limits.result_fuel)",
            price - 1
        );
        assert!(told.contains(&wanted), "{format}: {told}");
    }
}

#[test]
fn a_cancelled_run_stops_writing() {
    let (runtime, cancel) = (runtime(), Cancel::new());
    let grants = Grants::new().cancel(&cancel);
    let source = "(vec (repeat 300 (vec (range 1000))))";
    let outcome = runtime.eval(source, &grants).expect("it runs");
    cancel.cancel();
    for (format, ended) in written(&outcome) {
        assert!(ended.expect_err(format).contains("cancelled"), "{format}");
    }
}
