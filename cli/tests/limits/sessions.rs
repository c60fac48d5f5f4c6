//! What stays from turn to turn.

use crate::attack::Attack;

fn turns(count: usize, turn: impl Fn(usize) -> String) -> String {
    (0..count).map(|i| turn(i) + "\n").collect()
}

pub fn many_turns() -> Vec<Attack> {
    let repl = |limit, name: &str, program: String, reasons: &[&'static str]| {
        Attack::new(limit, name, program, reasons).by(&["repl", "--json"])
    };
    vec![
        // The same name again and again: what it was before is not kept.
        repl(
            "memory_bytes",
            "turns/redefined",
            turns(100, |i| format!("(def x (mapv identity (range {i} 300000)))")),
            &["ok"],
        ),
        repl(
            "memory_bytes",
            "turns/garbage",
            turns(100, |i| format!("(count (mapv identity (range {i} 300000)))")),
            &["ok"],
        ),
        repl(
            "memory_bytes",
            "turns/results",
            turns(50, |i| format!("(mapv identity (range {i} 100000))")),
            &["ok"],
        ),
        repl(
            "memory_bytes",
            "turns/grown",
            format!("(def x [])\n{}", turns(100, |_| "(def x (into x (range 20000)))".to_string())),
            &["memory_exceeded", "ok"],
        ),
        repl(
            "memory_bytes",
            "turns/chained",
            format!("(def x nil)\n{}", turns(1000, |_| "(def x [x x])".to_string())),
            &["ok"],
        ),
        // Names of their own: all of them are kept.
        repl(
            "granted_bytes",
            "turns/defined",
            turns(40, |i| format!("(def x{i} (mapv identity (range {i} 300000)))")),
            &["memory_exceeded", "ok"],
        )
        .with("granted_bytes", 50_000_000),
        repl(
            "memory_bytes",
            "turns/failing",
            turns(60, |_| "(loop [v [1]] (recur (into v v)))".to_string()),
            &["memory_exceeded"],
        ),
        repl(
            "memory_bytes",
            "turns/functions",
            turns(1000, |i| format!("(defn f{i} [x] (+ x {i}))")),
            &["ok"],
        ),
    ]
}
