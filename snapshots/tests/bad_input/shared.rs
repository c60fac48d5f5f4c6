//! Data that shares its parts: small in memory, astronomically long when written out.

use super::{Victim, on_a_small_stack};
use ptc_runtime::Limits;

#[test]
fn equal_and_hashed_as_it_is_in_memory() {
    on_a_small_stack(|| {
        for wrap in
            ["(fn [a _] [a a])", "(fn [a _] {:l a :r a})", "(fn [a _] #{[a 1] [a 2]})", "(fn [a _] {a a})"]
        {
            let mut victim =
                Victim::new(Limits { timeout_ms: 5_000, result_bytes: 4_000_000, ..Limits::default() });
            let make = format!("(reduce {wrap} [1] (range 70))");
            victim.gives(&format!("(def dag {make}) (def dag2 {make}) :made"), ":made");
            victim.gives("(= dag dag2)", "true");
            victim.gives("(= dag [dag2])", "false");
            victim.gives("(get {dag :found} dag2)", ":found");
            victim.gives("(contains? #{dag} dag2)", "true");
            victim.gives("(count (distinct [dag dag2 dag]))", "1");
            victim.gives("(compare dag dag2)", "0");
            victim.gives("(count (group-by identity [dag dag2]))", "1");
            victim.gives("(count (pmap (fn [x] [x dag]) [1 2]))", "2");
            for source in [
                "dag",
                "(str dag)",
                "(pr-str dag)",
                "(tool/echo {:x dag})",
                "(tool/echo {dag 1})",
                "(prn dag)",
                "(join dag)",
                "(postwalk identity dag)",
            ] {
                victim.is_too_much(source);
            }
            victim.tell("(flatten dag)");
            victim.tell("(println dag)");
            victim.tell("(fail dag)");
            victim.tell("(return dag)");
            victim.tell("(keywordize-keys dag)");
            victim.tell("(tree-seq coll? seq dag)");
            victim.tell("(+ 1 dag)");
            victim.tell("(sort [dag [dag2] dag])");
            // Equal except for one leaf deep inside.
            victim.gives(&format!("(= dag {})", make.replace("[1]", "[2]")), "false");
        }
    });
}

#[test]
fn strings_that_grow_by_sharing() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits::default());
        victim.is_too_much("(reduce (fn [s _] (str s s)) \"x\" (range 70))");
        victim.is_too_much("(pr-str (reduce (fn [s _] (pr-str s)) \"\\\"\" (range 70)))");
        victim.gives("(count (reduce (fn [s _] (pr-str s)) \"\\\"\" (range 12)))", "12286");
    });
}
