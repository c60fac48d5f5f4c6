//! Programs and data the benchmarks share. Nothing depends on this crate.
#![forbid(unsafe_code)]

use ptc_runtime::Runtime;
use std::fmt::Write;

/// A runtime with the core library and no clock to speak of.
///
/// # Panics
///
/// If the core library does not load.
pub fn runtime() -> Runtime {
    let limits = ptc_runtime::Limits { timeout_ms: 600_000, fuel: u64::MAX / 8, ..Default::default() };
    Runtime::with_core(ptc_preludes::core()).expect("the core library loads").limits(limits)
}

/// `n` orders as JSON text, the same on every machine.
pub fn orders_json(n: usize) -> String {
    let mut seed: u64 = 42;
    let mut next = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % bound
    };
    let mut text = String::from("[");
    for id in 0..n {
        let status = ["paid", "open", "void"][next(3) as usize];
        let comma = if id > 0 { "," } else { "" };
        let _ = write!(
            text,
            r#"{comma}{{"id":{id},"customer":"c{}","amount":{}.5,"status":"{status}"}}"#,
            next(100),
            next(500)
        );
    }
    text.push(']');
    text
}
