//! Code shared by the cross-crate tests. No crate depends on this one.
#![forbid(unsafe_code)]

pub mod canon;
pub mod clojure;
pub mod conformance;
pub mod generate;
pub mod golden;
pub mod mistakes;
pub mod oracle;
pub mod tried;

use ptc_runtime::{Grants, Limits, Runtime};

/// Returns the runtime under test. `PTC_TEST_OPTIMIZE=0` turns every optimisation off, `PTC_TEST_STRESS=1`
/// collects garbage at every safepoint, `PTC_TEST_IN_PLACE=0` never changes a collection in place, and
/// `PTC_TEST_FUSED=0` never fuses loops, so that the whole suite can run in each mode.
///
/// # Panics
///
/// If the core library does not load.
pub fn runtime() -> Runtime {
    let set = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let limits = Limits { timeout_ms: 120_000, ..Limits::default() };
    Runtime::with_core(ptc_preludes::core())
        .expect("the core library loads")
        .limits(limits)
        .optimize(!set("PTC_TEST_OPTIMIZE", "0"))
        .stress(set("PTC_TEST_STRESS", "1"))
        .in_place(!set("PTC_TEST_IN_PLACE", "0"))
        .fused(!set("PTC_TEST_FUSED", "0"))
}

/// Returns whether this run of the suite collects at every safepoint, which makes large programs too slow.
pub fn is_stress() -> bool {
    std::env::var("PTC_TEST_STRESS").is_ok_and(|found| found == "1")
}

/// Reads a number from the environment: `PTC_TEST_SEED` changes the first seed of generated programs,
/// `PTC_TEST_CASES` their number.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Returns the printed value of a program, or the reason and message of its error.
pub fn result_of(program: &str) -> String {
    match runtime().eval(program, &Grants::new()) {
        Ok(outcome) => outcome.print().unwrap_or_else(|fault| fault.to_string()),
        Err(failure) => format!("{}: {}", failure.reason(), failure.diagnostic().message),
    }
}

/// Checks that programs give the expected results.
///
/// # Panics
///
/// If one gives another result.
#[track_caller]
pub fn check_results(cases: &[(&str, &str)]) {
    for (program, expected) in cases {
        assert_eq!(result_of(program), *expected, "{program}");
    }
}
