//! Compiling is bounded by time too, and the runtime is usable afterwards.
#![allow(missing_docs)]

use ptc_runtime::{Limits, Runtime};

#[test]
fn compiling_stops_when_its_time_is_up() {
    let runtime = Runtime::with_core(ptc_preludes::core()).expect("the core library loads");
    let long = "(+ 1 2) ".repeat(10_000);
    let hurried = runtime.clone().limits(Limits { compile_ms: 0, ..Limits::default() });
    let failure = hurried.compile(&long).map(|_| ()).expect_err("there was no time");
    assert_eq!(failure.reason(), "compile_timeout");
    assert!(failure.to_string().contains("limits.compile_ms"), "{failure}");
    assert!(hurried.compile("(+ 1 2)").is_ok(), "a short program is done before anybody looks");
    assert!(runtime.compile(&long).is_ok());
}
