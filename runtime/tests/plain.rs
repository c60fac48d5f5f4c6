//! Loops over builtins and keywords are native where possible. They must behave like the loops of the core library,
//! which run when the function is one of the program's.

use ptc_bytecode::{BUILTINS, Body, Effect};
use ptc_runtime::{Grants, Runtime};

const VALUES: [&str; 16] = [
    "nil",
    "true",
    "0",
    "-7",
    "2.5",
    "##NaN",
    "9223372036854775807",
    "123456789012345678901234567890",
    "\"\"",
    "\"42\"",
    "\"añb c\"",
    ":k",
    "[3 1 2]",
    "{:k 1 \"k\" 2}",
    "#{1 :k}",
    "(range 4)",
];

/// Runs a program; returns its value as text, or the reason and message of its failure.
fn outcome(runtime: &Runtime, source: &str) -> Result<String, (String, String)> {
    match runtime.eval(&format!("(pr-str {source})"), &Grants::new()) {
        Ok(outcome) => Ok(outcome.get::<String>().unwrap()),
        Err(failure) => Err((failure.reason().to_string(), failure.to_string())),
    }
}

#[test]
fn every_builtin_maps_like_a_function_that_calls_it() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let mut compared = 0;
    for row in BUILTINS {
        let is_plain = row.body == Body::Native && row.effect == Effect::Pure && row.takes(1);
        // These inspect names, not values.
        if !is_plain || row.name.starts_with('%') || row.section == "Discovery" {
            continue;
        }
        for value in VALUES {
            for (native, called) in [
                (
                    format!("(map {} [{value}])", row.name),
                    format!("(map (fn [x] ({} x)) [{value}])", row.name),
                ),
                (
                    format!("(filter {} [{value} {value}])", row.name),
                    format!("(filter (fn [x] ({} x)) [{value} {value}])", row.name),
                ),
            ] {
                let (native, called) = (outcome(&runtime, &native), outcome(&runtime, &called));
                match (&native, &called) {
                    // The place of the failure differs.
                    (Err((reason, _)), Err((wanted, _))) => {
                        assert_eq!(reason, wanted, "{} {value}", row.name)
                    }
                    _ => assert_eq!(native, called, "{} {value}", row.name),
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 3000, "{compared}");
}

#[test]
fn fields_are_found_in_anything() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let rows = "[{:k 1} {:j 2 :k 3} {:j 4} nil 5 \"k\" {\"k\" 6} {:k nil} [1] {:k 7} {:k-k 8} {:k_k 9}]";
    for f in [":k", ":k-k", ":none"] {
        for form in ["map", "mapv", "filter", "remove", "group-by", "sort-by"] {
            let native = outcome(&runtime, &format!("({form} {f} {rows})"));
            assert_eq!(native, outcome(&runtime, &format!("({form} (fn [x] ({f} x)) {rows})")), "{form} {f}");
        }
    }
}

#[test]
fn folds_give_what_calls_give() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let lists = [
        "[]",
        "[7]",
        "[1 2 3]",
        "[1 2.5 3]",
        "[0.1 0.2 -0.0]",
        "[##NaN 1]",
        "[9223372036854775807 1 -5]",
        "(range 1 30)",
        "(range 1 10 3)",
        "[1 nil]",
        "[:a]",
        "[:a 1]",
        "nil",
        "#{1 2}",
        "\"12\"",
        "5",
    ];
    for f in ["+", "*", "max", "min", "-", "str"] {
        for list in lists {
            for init in ["", "10", "1.5", "nil"] {
                let native = outcome(&runtime, &format!("(reduce {f} {init} {list})"));
                let called = outcome(&runtime, &format!("(reduce (fn [& xs] (apply {f} xs)) {init} {list})"));
                match (&native, &called) {
                    (Err((reason, _)), Err((wanted, _))) => assert_eq!(reason, wanted, "{f} {init} {list}"),
                    _ => assert_eq!(native, called, "{f} {init} {list}"),
                }
            }
        }
    }
}
