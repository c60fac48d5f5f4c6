//! Endless recursion of every kind, and calls of tools that are not granted.

use super::{Victim, on_a_small_stack};
use ptc_runtime::{Grants, Limits, Tools};
use ptc_snapshots::is_stress;

#[test]
fn recursion_without_end() {
    on_a_small_stack(|| {
        // Collecting visits every frame at every safepoint, so programs that normally end by depth then end by time.
        let timeout_ms = if is_stress() { 1_000 } else { 10_000 };
        let mut victim = Victim::new(Limits { timeout_ms, ..Limits::default() });
        for source in [
            "(defn f [n] (inc (f n))) (f 1)",
            "(defn f [n] [(f n)]) (f 1)",
            "(declare g) (defn f [n] (inc (g n))) (defn g [n] (dec (f n))) (f 1)",
            "(defn f [x] (map f [x])) (f 1)",
            "(defn f [x] (reduce (fn [a b] (f b)) [x x])) (f 1)",
            "(defn f [x] (sort (fn [a b] (f a)) [x x])) (f 1)",
            "(defn f [x] (sort-by f [x x])) (f 1)",
            "(defn f [x] (update {:a x} :a f)) (f 1)",
            "(defn f [x] (first (for [y [x]] (f y)))) (f 1)",
            "(defn f [& xs] (inc (apply f xs))) (f 1 2 3)",
            "(defn f [x] ((comp inc f) x)) (f 1)",
            "((fn f [x] (str (f x))) 1)",
            "(let [f (fn [g x] (inc (g g x)))] (f f 1))",
            "((reduce comp (repeat 1000000 inc)) 0)",
            "(defn f [x] (some f [x])) (f 1)",
            "(defn f [x] (group-by f [x])) (f 1)",
            "(defn f [x] (postwalk f [x])) (f 1)",
        ] {
            victim.is_too_much(source);
        }
        let told = victim.tell("(defn f [x] (pmap f [x])) (f 1)");
        assert_eq!(told, "parallel_capacity_exceeded");
        let told = victim.tell("(defn f [] (pcalls f f)) (f)");
        assert_eq!(told, "parallel_capacity_exceeded");
        victim.is_too_much("(pmap (fn [x] ((fn f [y] (inc (f y))) x)) [1 2 3])");
    });
}

#[test]
fn calls_that_go_on_without_nesting() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits { fuel: 5_000_000, timeout_ms: 20_000, ..Limits::default() });
        victim.gives("(loop [] (recur))", "fuel_exceeded");
        victim.gives("(defn f [x] (recur x)) (f 1)", "fuel_exceeded");
        victim.gives("(trampoline (fn f [] f))", "fuel_exceeded");
        victim.gives("(while true 1)", "fuel_exceeded");
        victim.gives("(pmap (fn [x] (loop [] (recur))) (range 100))", "fuel_exceeded");
    });
}

#[test]
fn deep_but_finite_recursion_works() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits { timeout_ms: 20_000, ..Limits::default() });
        // Collecting visits every frame at every safepoint: quadratic, which is inherent in this mode.
        let depth = if is_stress() { 2_000 } else { 100_000 };
        let source = format!("(defn f [n] (if (= n 0) 0 (inc (f (dec n))))) (f {depth})");
        victim.gives(&source, &depth.to_string());
        if !is_stress() {
            victim.is_too_much("(defn f [n] (if (= n 0) 0 (inc (f (dec n))))) (f 10000000)");
        }
    });
}

#[test]
fn tools_nobody_granted() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits::default());
        victim.gives("(tool/rm {:path \"/\"})", "unknown_tool");
        victim.gives("(if false (tool/rm {}) 1)", "unknown_tool");
        victim.gives("(map tool/rm [1])", "unknown_tool");
        victim.gives("(tool/echo 1)", "invalid_tool_args");
        victim.gives("(tool/echo {} {})", "invalid_tool_args");
        victim.gives("(tool/echo :a)", "invalid_tool_args");
        victim.gives("(apply tool/echo (range 1000))", "invalid_tool_args");
        // A program compiled for other tools fails with that reason at run time.
        let runtime = super::limited(Limits::default());
        let program = runtime.compile("(tool/rm {})").expect("compiles");
        let run = runtime.start_with(&program, &Grants::new()).expect("starts");
        let failure = run.finish().expect_err("no such tool");
        assert_eq!(failure.reason(), "unknown_tool");
    });
}

#[test]
fn tools_that_misbehave() {
    on_a_small_stack(|| {
        let tools = Tools::new()
            .with("panics", |_| -> Result<i64, _> { panic!("on purpose") })
            .with("fails", |_| -> Result<i64, _> { Err(ptc_runtime::ToolError::new("x".repeat(10_000_000))) })
            .with("floods", |_| Ok("y".repeat(600_000_000)));
        let mut session = super::limited(Limits::default()).with_tools(tools).session();
        for (source, reason) in [
            ("(tool/panics {})", "tool_error"),
            ("(pmap tool/panics [{} {}])", "pmap_error"),
            ("(tool/fails {})", "tool_error"),
            ("(count (tool/floods {}))", "memory_exceeded"),
        ] {
            let failure = session.eval(source).expect_err(source);
            assert_eq!(failure.reason(), reason, "{source}");
            assert!(failure.to_string().len() < 5_000, "{source}: {} bytes", failure.to_string().len());
        }
        assert_eq!(session.eval("(+ 1 2)").expect("goes on").print().expect("prints"), "3");
    });
}
