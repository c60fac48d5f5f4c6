//! Code written by each optimisation. That none changes a result or a price is tested in `back_run` and `back_random`.

mod back_machine;

use back_machine::build;

/// Returns the instruction names of the first block, which is the innermost function.
fn ops(source: &str, optimize: bool) -> String {
    let artifact = build(source, optimize);
    let names: Vec<&str> = artifact.blocks[0].ops.iter().map(|op| op.name()).collect();
    names.join(" ")
}

fn check_ops(source: &str, plain: &str, optimized: &str) {
    assert_eq!(ops(source, false), plain, "{source}");
    assert_eq!(ops(source, true), optimized, "{source}");
}

#[test]
fn comparisons_join_their_jump() {
    check_ops(
        "(fn [a b] (if (< a b) a b))",
        "Enter Less JumpUnless Enter Return Enter Return",
        "Enter JumpUnlessLess Return Enter Return",
    );
    check_ops(
        "(fn [a] (if (> 5 a) 1 2))",
        "Enter LoadInt Less JumpUnless Enter LoadInt Return Enter LoadInt Return",
        "Enter JumpUnlessLessInt LoadInt Return Enter LoadInt Return",
    );
    check_ops(
        "(fn [a] (if (not= a 0) 1 2))",
        "Enter LoadInt Eq JumpUnless Enter LoadInt Return Enter LoadInt Return",
        "Enter JumpUnlessEqInt LoadInt Return Enter LoadInt Return",
    );
    // No small form: `a <= 3` is not `a < 4` for floats.
    check_ops(
        "(fn [a] (if (<= a 3) 1 2))",
        "Enter LoadInt LessEq JumpUnless Enter LoadInt Return Enter LoadInt Return",
        "Enter LoadInt JumpUnlessLessEq LoadInt Return Enter LoadInt Return",
    );
}

#[test]
fn literals_are_computed_before_the_run() {
    check_ops("(fn [] (+ 1 2 3))", "Enter LoadInt AddInt AddInt Return", "Enter LoadInt Return");
    // A constant collection is one object, optimised or not.
    check_ops("(fn [] [1 [2 3]])", "Enter Const Return", "Enter Const Return");
    check_ops("(fn [] {:a 1})", "Enter Const Return", "Enter Const Return");
    // Overflow goes to big integers, which only the machine has.
    let overflow = "(fn [] (+ 9223372036854775807 1))";
    check_ops(overflow, "Enter Const AddInt Return", "Enter Const AddInt Return");
}

#[test]
fn known_branches_leave_no_jump() {
    check_ops(
        "(fn [a] (if true a 2))",
        "Enter LoadBool JumpUnless Enter Return Enter LoadInt Return",
        "Enter Return",
    );
    check_ops(
        "(fn [a] (cond a 1 :k 2 a 3))",
        "Enter JumpUnless Enter LoadInt Return Enter Const JumpUnless Enter LoadInt Return Enter JumpUnless Enter LoadInt Return Enter LoadNil Return",
        "Enter JumpUnless LoadInt Return Enter LoadInt Return",
    );
    check_ops(
        "(fn [a] [(if (< 2 1) a 3)])",
        "Enter LoadInt LoadInt Less JumpUnless Enter Move Jump Enter LoadInt Enter NewVector Return",
        // The block behind the branch stays separate: a fault before it must not have paid for it.
        "Enter LoadInt Enter NewVector Return",
    );
}

#[test]
fn jumps_to_jumps_keep_the_price_of_each_block() {
    check_ops(
        "(fn [a b] [(if a (if b 1 2) 3)])",
        "Enter JumpUnless Enter JumpUnless Enter LoadInt Jump Enter LoadInt Enter Jump Enter LoadInt Enter NewVector Return",
        "Enter JumpUnless JumpUnless LoadInt Jump Enter LoadInt Enter Jump Enter LoadInt Enter NewVector Return",
    );
}

/// Returns whether a function contains an attempt, that is a fused pipeline.
fn is_fused(source: &str) -> bool {
    assert!(!ops(source, false).contains("Attempt"), "{source}");
    ops(source, true).contains("Attempt")
}

#[test]
fn pipelines_of_pure_functions_are_one_loop() {
    for fused in [
        "(fn [] (map (fn [x] (+ x 1)) (filter (fn [x] (odd? x)) (range 9))))",
        "(fn [] (->> (range 9) (map #(* % %)) (remove #(< % 3)) (reduce (fn [acc x] (+ acc x)) 0)))",
        "(fn [k] (mapv (fn [x] [k (str x)]) (keep (fn [x] (if (> x k) (- x k))) [1 2 3])))",
        "(fn [] (sort (map (fn [x] (* 2 x)) (map (fn [x] (+ x 1)) (range 9)))))",
        // The records are selected first, by the machine; the rest is one loop.
        "(fn [] (map (fn [r] (inc r)) (map (fn [r] (:n r)) (filter (fn [r] (> (:n r) 3)) [{:n 4}]))))",
    ] {
        assert!(is_fused(fused), "{fused}\n{}", ops(fused, true));
    }
    for apart in [
        "(fn [] (map (fn [x] (+ x 1)) (range 9)))",
        // Effects come in the order of the program.
        "(fn [] (map (fn [x] (+ x 1)) (map (fn [x] (do (println x) x)) (range 9))))",
        "(fn [f] (map (fn [x] (+ x 1)) (map (fn [x] (f x)) (range 9))))",
        "(fn [a] (map (fn [x] (+ x 1)) (map (fn [x] (+ x (deref a))) (range 9))))",
        // An end before the last element would show.
        "(fn [] (reduce (fn [acc x] (if (> x 5) (reduced acc) (+ acc x))) 0 (map (fn [x] (* x x)) (range 9))))",
        // Endless, or perhaps so.
        "(fn [xs] (map (fn [x] (+ x 1)) (map (fn [x] (* x x)) xs)))",
        "(fn [] (map (fn [r] (:n r)) (filter (fn [r] (> (:n r) 3)) [{:n 4}])))",
    ] {
        assert!(!is_fused(apart), "{apart}");
    }
}
