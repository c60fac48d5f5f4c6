//! Limits as flags: each stops what it bounds, and is a usage error when it makes no sense.

use crate::{ptc, ptc_with};

#[track_caller]
fn kind(args: &[&str]) -> String {
    let all: Vec<&str> = ["eval", "--json"].iter().chain(args).copied().collect();
    let ran = ptc(&all);
    assert_eq!(ran.code, 1, "{ran:?}");
    ran.json()["error"]["kind"].as_str().expect("a kind").to_string()
}

const FOREVER: &str = "(loop [i 0] (recur (inc i)))";
const GROWING: &str = "(loop [v []] (recur (conj v [v v v v])))";
const DEEP: &str = "(defn f [n] (if (< n 1) 0 (+ 1 (f (- n 1))))) (f 100000)";

#[test]
fn every_limit_stops_what_it_bounds() {
    assert_eq!(kind(&["-e", FOREVER, "--fuel", "10_000"]), "fuel_exceeded");
    assert_eq!(kind(&["-e", FOREVER, "--limit", "fuel=10k"]), "fuel_exceeded");
    assert_eq!(kind(&["-e", FOREVER, "--fuel", "100G", "--timeout", "50ms"]), "timeout");
    assert_eq!(kind(&["-e", FOREVER, "--loop-iterations", "100"]), "loop_limit_exceeded");
    assert_eq!(kind(&["-e", GROWING, "--memory", "1MB", "--timeout", "30s"]), "memory_exceeded");
    assert_eq!(kind(&["-e", GROWING, "--memory", "1MiB", "--timeout", "30s"]), "memory_exceeded");
    assert_eq!(kind(&["-e", DEEP, "--stack", "100kB"]), "stack_exceeded");
    assert_eq!(
        kind(&["-e", "(loop [i 0] (println \"0123456789\") (recur (inc i)))", "--output", "1kB"]),
        "output_exceeded"
    );
    assert_eq!(kind(&["-e", "(range 100000)", "--result", "1kB"]), "output_exceeded");
    assert_eq!(kind(&["-e", "[[[[1]]]]", "--nesting", "3"]), "parse_error");
    assert_eq!(kind(&["-e", "(+ 1 2)", "--source", "3"]), "program_too_large");
}

#[test]
fn limits_hold_for_granted_data_and_are_usage_errors_there() {
    let rows = format!("[{}0]", "\"some text\",".repeat(1_000));
    let ran = ptc_with(&["eval", "-e", "1", "--granted", "1kB", "--data", "x=@-"], rows.as_bytes());
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn a_raised_limit_lets_a_program_pass() {
    ptc(&["eval", "-e", DEEP, "--timeout", "60s"]).expect(0, "100000\n");
    let ran =
        ptc(&["eval", "-e", "(count (into [] (range 500000)))", "--memory", "64MiB", "--timeout", "60s"]);
    ran.expect(0, "500000\n");
}

#[test]
fn errors_name_the_key_that_raises_the_limit() {
    for (args, key) in [
        (&["-e", FOREVER, "--fuel", "10"][..], "limits.fuel"),
        (&["-e", FOREVER, "--timeout", "20ms", "--fuel", "100G"], "limits.timeout_ms"),
        (&["-e", GROWING, "--memory", "1MB", "--timeout", "30s"], "limits.memory_bytes"),
        (&["-e", FOREVER, "--loop-iterations", "5"], "limits.loop_iterations"),
    ] {
        let all: Vec<&str> = ["eval"].iter().chain(args).copied().collect();
        let ran = ptc(&all);
        assert!(ran.err.contains(key), "{key}: {ran:?}");
    }
}

#[test]
fn fuel_stops_at_the_same_place_every_time() {
    let run = || {
        ptc(&[
            "eval",
            "--json",
            "--fuel",
            "12345",
            "-e",
            "(println 1) (pmap (fn [i] (reduce + (range i))) (range 1000))",
        ])
    };
    let first = run();
    assert_eq!(first.json()["error"]["kind"], "fuel_exceeded");
    for _ in 0..3 {
        assert_eq!(run().out, first.out);
    }
}

#[test]
fn values_that_make_no_sense_are_usage_errors() {
    for args in [
        &["--fuel", "many"][..],
        &["--fuel", "-1"],
        &["--fuel", ""],
        &["--memory", "10 apples"],
        &["--memory", "9999GiB"],
        &["--timeout", "60"],
        &["--timeout", "1.5s"],
        &["--timeout", "48h"],
        &["--limit", "fuel"],
        &["--limit", "speed=1"],
        &["--limit", "fuel=fast"],
        &["--limit", "parallel_depth=99"],
        &["--fuel", "1", "--fuel", "2"],
    ] {
        let all: Vec<&str> = ["eval", "-e", "1"].iter().chain(args).copied().collect();
        let ran = ptc(&all);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.err.starts_with("error: "), "{args:?}: {ran:?}");
    }
}
