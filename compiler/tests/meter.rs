//! Every stage of compiling pays and asks the host: wherever it is stopped, it ends there, with the reason.
#![allow(missing_docs)]

use ptc_bytecode::{Code, Limits};
use ptc_compiler::{Meter, Options, Scope, compile_metered};
use std::cell::Cell;

fn source() -> String {
    let rows: String = (0..600).map(|i| format!("{{:id {i} :tags #{{[{i}] \"t{i}\"}}}} ")).collect();
    let steps = "(map (fn [x] (+ x 7.5)) [1 2 3]) (case 3 1 :a (2 3) :b :c) ".repeat(150);
    let names: String = (0..200).map(|i| format!("a{i} (inc {i}) ")).collect();
    let calls = "(fn [y] (if (not (not y)) [a0 a199] (-> y inc str))) ".repeat(80);
    format!("(def rows [{rows}]) {steps} (let [{names}] [{calls}])")
}

fn compiled(limits: &Limits, stop: &dyn Fn() -> bool) -> (Result<(), Code>, u64) {
    let meter = Meter::new(limits, stop);
    let ended = compile_metered(&source(), &Scope::default(), limits, Options::default(), &meter);
    (ended.map(|_| ()).map_err(|problems| problems.errors[0].code), meter.spent())
}

#[test]
fn the_host_can_stop_it_at_any_time() {
    let asked = Cell::new(0_u32);
    let count = || {
        asked.set(asked.get() + 1);
        false
    };
    assert_eq!(compiled(&Limits::default(), &count).0, Ok(()));
    let total = asked.get();
    assert!(total > 20, "it was asked {total} times only");
    for last in 1..=total {
        let left = Cell::new(last);
        let stop = || {
            left.set(left.get() - 1);
            left.get() == 0
        };
        assert_eq!(compiled(&Limits::default(), &stop).0, Err(Code::CompileTimeout), "{last} of {total}");
        assert_eq!(left.get(), 0, "nobody asks again");
    }
}

#[test]
fn a_budget_ends_it_anywhere_and_is_spent_exactly() {
    let (ended, whole) = compiled(&Limits::default(), &|| false);
    assert_eq!(ended, Ok(()));
    for part in (0..20).map(|i| whole * i / 20).chain([whole - 1]) {
        let limits = Limits { compile_fuel: part, ..Limits::default() };
        assert_eq!(compiled(&limits, &|| false), (Err(Code::CompileFuelExceeded), part));
    }
    let limits = Limits { compile_fuel: whole, ..Limits::default() };
    assert_eq!(compiled(&limits, &|| false), (Ok(()), whole));
}
