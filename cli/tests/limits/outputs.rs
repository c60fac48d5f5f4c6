//! What comes out: prints, results, and errors that quote values.

use crate::attack::Attack;
use crate::bursts::LONG;

pub fn prints_results_and_messages() -> Vec<Attack> {
    let mut all = Vec::new();
    for (name, program) in [
        ("println", "(loop [] (println \"0123456789\") (recur))"),
        ("empty_lines", "(loop [] (println) (recur))"),
        ("prn", "(loop [i 0] (prn {:i i :v [i i i]}) (recur (inc i)))"),
        ("in_branches", "(pmap (fn [i] (loop [] (println i) (recur))) (range 8))"),
        ("in_a_comparator", "(sort (fn [a b] (println a b) (< a b)) (shuffle-of 100000))"),
        ("large_entries", "(loop [] (println (.repeat \"x\" 1000000)) (recur))"),
    ] {
        let program =
            program.replace("(shuffle-of 100000)", "(mapv (fn [i] (mod (* i 7919) 100003)) (range 100000))");
        all.push(Attack::new("output_bytes", name, program, &["output_exceeded", "pmap_error"]).on_threads());
    }
    for (name, program) in [
        ("long_text", "(println s) 1"),
        ("many_arguments", "(println s s s s s s s s s s) 1"),
        ("long_range", "(println (range 100000000)) 1"),
        ("wide_characters", "(println (.repeat \"ü\" 2000000)) 1"),
    ] {
        all.push(Attack::new("print_chars", name, format!("{LONG} {program}"), &["ok", "memory_exceeded"]));
    }
    for (name, program) in [
        ("just_below", "(vec (repeat 14 s))"),
        ("range", "(range 1000000000000)"),
        ("shared_text", "(vec (repeat 100000 s))"),
        ("quotes", "(let [q (str/replace s \"a\" \"\\\"\")] (vec (repeat 100 q)))"),
        (
            "maps",
            "(let [m (zipmap (range 1000) (repeat \"\\u0001\\u0001\\u0001\\u0001\"))] (vec (repeat 10000 m)))",
        ),
        ("nested", "(vec (repeat 1000 (vec (repeat 1000 (vec (repeat 1000 1))))))"),
        ("returned", "(return (vec (repeat 100000 s)))"),
        ("floats", "(vec (repeat 10000000 0.1))"),
        ("empty", "(let [v (vec (repeat 10000 []))] (vec (repeat 10000 v)))"),
        ("integers", "(let [v (vec (repeat 10000 7))] (vec (repeat 10000 v)))"),
    ] {
        let reasons = &["output_exceeded", "memory_exceeded", "timeout", "ok"];
        all.push(
            Attack::new("result_bytes", name, format!("{LONG} {program}"), reasons).with("timeout_ms", 1000),
        );
        // Owned data have other sizes than values, and are there beside their text: half of the default fits beside the heap.
        let failing = format!("{LONG} (fail {})", program.replace("(return ", "(identity "));
        all.push(
            Attack::new("result_bytes", format!("failed/{name}"), failing, &["fail", "memory_exceeded"])
                .with("timeout_ms", 1000)
                .with("result_bytes", 32_000_000),
        );
    }
    for (name, program) in [
        ("digits", "(repeat 400 b)"),
        ("digits_in_maps", "(zipmap (range 400) (repeat b))"),
        ("digits_of_half_the_length", "(let [c (quot b (bit-shift-left 1 200000))] (repeat 600 c))"),
        ("unfolding", "(reduce (fn [v _] [v v]) b (range 40))"),
    ] {
        let big = "(def b (reduce (fn [a _] (* a a)) 10 (range 17)))";
        let reasons = &["output_exceeded", "timeout", "arithmetic_error"];
        all.push(
            Attack::new("result_fuel", name, format!("{big} {program}"), reasons).with("timeout_ms", 1000),
        );
        let failing = format!("{big} (fail {program})");
        let reasons = &["fail", "timeout", "arithmetic_error"];
        all.push(
            Attack::new("result_fuel", format!("failed/{name}"), failing, reasons).with("timeout_ms", 1000),
        );
    }
    for (name, program) in [
        ("type_error", "(+ 1 s)"),
        ("type_error_of_vectors", "(+ 1 [s s s])"),
        ("not_callable", "(s 1)"),
        ("assert", "(assert (= s 1) s)"),
        ("key", "(keyword s s)"),
        ("number", "(Integer/parseInt s)"),
        ("pattern", "(re-pattern (str \"(\" s))"),
        ("date", "(parse s)"),
        ("formatter", "(.format (parse \"2024-05-01\") s)"),
        ("format", "(format s 1 2)"),
        ("format_directive", "(format (str \"%\" s) 1)"),
        ("arity", "((fn [a] a) s s s)"),
        ("destructured", "(let [{:keys [a]} s [b] s] (nth s -5))"),
        ("symbol", "(doc s)"),
        ("apropos", "(apropos s)"),
        ("dir", "(dir s)"),
        ("tool", "(tool/call {:server s :tool s})"),
        ("method", "(.getYear s)"),
    ] {
        let reasons = &[
            "ok",
            "type_error",
            "not_callable",
            "assertion_failed",
            "memory_exceeded",
            "runtime_error",
            "arity_mismatch",
            "arity_error",
            "tool_error",
            "unsupported_method",
            "invalid_tool_args",
            "arithmetic_error",
            "unknown_tool",
        ];
        all.push(Attack::new(
            "memory_bytes",
            format!("message/{name}"),
            format!("{LONG} {program} nil"),
            reasons,
        ));
    }
    all
}
