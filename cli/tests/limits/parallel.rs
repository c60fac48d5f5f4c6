//! Branches in branches, and calls of tools in all of them.

use crate::attack::Attack;

pub fn branches_and_tool_storms() -> Vec<Attack> {
    let parallel = |limit, name: &str, program: &str, reasons: &[&'static str]| {
        Attack::new(limit, name, program, reasons).on_threads()
    };
    let storm = |limit, name: &str, program: &str, reasons: &[&'static str]| {
        parallel(limit, name, program, reasons).by(&["repl", "--json", "--stub", "ping={\"n\":[1,2,3]}"])
    };
    vec![
        parallel("parallel_depth", "nested", "(defn f [n] (pmap (fn [x] (f (inc n))) [1 2])) (f 0)", &["parallel_capacity_exceeded", "pmap_error"]),
        parallel("parallel_depth", "nested_calls", "(defn f [n] (pcalls (fn [] (f (inc n))) (fn [] (f n)))) (f 0)", &["parallel_capacity_exceeded", "pcalls_error", "pmap_error"]),
        parallel("memory_bytes", "branches", "(count (pmap (fn [i] (mapv identity (range i (+ i 100000)))) (range 1000)))", &["memory_exceeded"]),
        parallel("memory_bytes", "branches_at_once", "(count (pmap (fn [i] (count (mapv identity (range i (+ i 300000))))) (range 30)))", &["memory_exceeded", "ok"]),
        parallel("memory_bytes", "branches_of_branches", "(count (pmap (fn [i] (count (pmap (fn [j] (mapv identity (range j (+ j 100000)))) (range 100)))) (range 100)))", &["memory_exceeded"]),
        parallel("memory_bytes", "branches_with_garbage", "(count (pmap (fn [i] (reduce (fn [a x] (+ a (count [x x]))) 0 (range 100000))) (range 20)))", &["ok"]),
        parallel("stack_bytes", "branches", "(defn f [n] (+ 1 (f n))) (pmap f (range 64))", &["stack_exceeded"]),
        parallel("stack_bytes", "branches_of_branches", "(defn f [n] (if (< n 60000) (+ 1 (f (inc n))) 0)) (count (pmap (fn [_] (pmap f (range 8))) (range 8)))", &["stack_exceeded", "ok"]),
        parallel("timeout_ms", "branches", "(pmap (fn [i] (loop [] (recur))) (range 1000))", &["timeout"]).with("timeout_ms", 100),
        parallel("timeout_ms", "many_branches", "(loop [] (pmap inc (range 10000)) (recur))", &["timeout"]).with("timeout_ms", 100),
        parallel("timeout_ms", "branches_of_branches", "(defn f [n] (if (< n 3) (pmap (fn [x] (f (inc n))) (range 100)) (loop [] (recur)))) (f 0)", &["timeout"]).with("timeout_ms", 100),
        parallel("fuel", "branches", "(pmap (fn [i] (loop [] (recur))) (range 1000))", &["fuel_exceeded"]).with("fuel", 10_000_000),
        parallel("fuel", "branches_of_branches", "(defn f [n] (if (< n 3) (pmap (fn [x] (f (inc n))) (range 100)) 1)) (f 0)", &["fuel_exceeded", "memory_exceeded"]).with("fuel", 1_000_000),
        storm("parallel_in_flight", "calls", "(count (pmap (fn [i] (tool/ping {:i i})) (range 5000)))\n", &["ok"]),
        storm("parallel_in_flight", "calls_with_live_data", "(count (pmap (fn [i] (let [v (mapv identity (range i (+ i 1000)))] (tool/ping {:i i}) (count v))) (range 5000)))\n", &["ok", "memory_exceeded"]).with("parallel_in_flight", 1000),
        storm("parallel_in_flight", "calls_of_branches", "(count (pmap (fn [i] (pmap (fn [j] (tool/ping {:i i :j j})) (range 100))) (range 100)))\n", &["ok"]),
        // Branches that wait hold what they have: all together have what one run may have.
        storm(
            "memory_bytes",
            "waiting_with_live_data",
            "(count (pmap (fn [i] (let [v (mapv identity (range i (+ i 200000)))] (tool/ping {:i i}) (reduce + v))) (range 64)))\n",
            &["memory_exceeded", "ok"],
        ),
        storm(
            "stack_bytes",
            "waiting_deep_inside",
            "(defn f [n i] (if (< n 100000) (+ 1 (f (inc n) i)) (count (tool/ping {:i i})))) (count (pmap (fn [i] (f 0 i)) (range 64)))\n",
            &["stack_exceeded", "ok"],
        ),
        storm("tool_calls", "one_after_the_other", "(loop [i 0] (tool/ping {:i i}) (recur (inc i)))\n", &["tool_call_limit_exceeded"]).with("tool_calls", 1000),
        storm("tool_calls", "in_branches", "(pmap (fn [i] (tool/ping {:i i})) (range 100000))\n", &["tool_call_limit_exceeded", "pmap_error"]).with("tool_calls", 1000),
        storm("tool_calls", "by_name", "(map (fn [i] (tool/ping {:i i})) (range 100000))\n", &["tool_call_limit_exceeded"]).with("tool_calls", 1000),
        storm("granted_bytes", "answers", "(loop [acc []] (recur (conj acc (tool/ping {}))))\n", &["memory_exceeded"]).with("granted_bytes", 5_000_000),
        storm("memory_bytes", "arguments", "(let [v (mapv identity (range 100000))] (tool/ping {:v [v v v v v v v v v v v v]}))\n", &["memory_exceeded"]),
        storm("memory_bytes", "too_many_arguments", "(let [v (mapv identity (range 100000))] (tool/ping {:v [v v v v v v v v v v v v v v v v v v v v v v v v]}))\n", &["memory_exceeded"]),
        storm("memory_bytes", "arguments_side_by_side", "(let [v (mapv identity (range 100000)) w [v v v v v v]] (tool/ping :a w :b w :c w :d w :e w :f w :g w :h w))\n", &["memory_exceeded"]),
        storm("memory_bytes", "folded_arguments", "(let [v (loop [v [1 1] i 0] (if (< i 64) (recur [v v] (inc i)) v))] (tool/ping {:v v}))\n", &["memory_exceeded", "output_exceeded"]),
    ]
}
