//! Atoms and volatiles: Clojure's answers within a run, and their values outside.
#![allow(missing_docs)]

use ptc_runtime::{Grants, Limits, Node, Prelude, Runtime, Tools};

fn runtime() -> Runtime {
    let tools = Tools::new().with("echo", |args| args.json());
    Runtime::with_core(ptc_preludes::core()).unwrap().with_tools(tools)
}

/// Returns the printed value of a program, or its failure's reason with message and hint.
fn told(source: &str) -> String {
    match runtime().eval(source, &Grants::new()) {
        Ok(outcome) => outcome.print().unwrap(),
        Err(failure) => {
            let diagnostic = failure.diagnostic();
            let hint = diagnostic.hint.as_deref().unwrap_or_default();
            format!("{}: {} | {hint}", failure.reason(), diagnostic.message)
        }
    }
}

#[track_caller]
fn gives(source: &str, value: &str) {
    assert_eq!(told(source), value, "{source}");
}

#[track_caller]
fn fails(source: &str, parts: &[&str]) {
    let told = told(source);
    assert!(parts.iter().all(|part| told.contains(part)), "{source}\n{told}\nlacks one of {parts:?}");
}

#[test]
fn atoms_are_read_and_changed() {
    gives("(let [a (atom 1)] [@a (deref a) (reset! a 2) (swap! a inc) @a])", "[1 1 2 3 3]");
    gives("(def n (atom 0)) (doseq [x [1 2 3]] (swap! n + x)) @n", "6");
    gives("(let [a (atom [])] (run! #(swap! a conj %) [1 2]) @a)", "[1 2]");
    gives(
        "(let [a (atom {})] (reduce (fn [_ k] (swap! a update k (fnil inc 0))) nil [:x :y :x]))",
        "{:x 2 :y 1}",
    );
    gives(
        "(let [a (atom 1)] [(swap! a + 1) (swap! a + 1 1) (swap! a + 1 1 1 1) (swap! a str)])",
        "[2 4 8 \"8\"]",
    );
    gives(
        "(let [a (atom {:n 1})] [(swap-vals! a update :n + 1 2) (reset-vals! a 7) @a])",
        "[[{:n 1} {:n 4}] [{:n 4} 7] 7]",
    );
    gives("(let [a (atom 1)] [(compare-and-set! a 2 3) (compare-and-set! a 1 5) @a])", "[false true 5]");
    gives("(let [a (atom 1)] [(compare-and-set! a 1.0 3) @a])", "[false 1]");
    gives(
        "(let [v (volatile! 1)] [(vswap! v + 2 3) (vreset! v 9) @v (volatile? v) (volatile? (atom 1))])",
        "[6 9 9 true false]",
    );
    gives("(let [deref inc a (atom 1)] [@a (deref 1)])", "[1 2]");
    gives("[@(atom @(atom 5)) @ (atom 1) @#_x(atom 2)]", "[5 1 2]");
    gives("'@a", "['deref 'a]");
    gives("(map deref [(atom 1) (volatile! 2)])", "[1 2]");
    gives(
        "[(type (atom 1)) (type (volatile! 1)) (fn? (atom inc)) (@(atom inc) 1)]",
        "[:atom :volatile false 2]",
    );
    gives("@(reduced 4)", "4");
    gives("(let [a (atom 0) f (fn [] (swap! a inc))] [(f) (f) @a])", "[1 2 2]");
    gives(
        "(let [fact (atom nil)] (reset! fact (fn [n] (if (< n 2) 1 (* n (@fact (dec n)))))) (@fact 5))",
        "120",
    );
}

#[test]
fn atoms_are_equal_to_themselves_only() {
    gives(
        "(let [a (atom 1)] [(= a a) (= a (atom 1)) (= [a] [a]) (= {:k a} {:k (atom 1)})])",
        "[true false true false]",
    );
    gives(
        "(let [a (atom 1) b (atom 1) m {a :a b :b}] (reset! a 9) [(m a) (m b) (m (atom 9)) (count (hash-set a b a))])",
        "[:a :b nil 2]",
    );
    gives("(let [as (map atom (range 100)) m (zipmap as (range 100))] (map m (take 3 as)))", "[0 1 2]");
    fails("(sorted-set (atom 1) (atom 2))", &["type_error", "an order"]);
}

#[test]
fn what_a_function_fails_with_leaves_the_atom_as_it_was() {
    gives("(let [a (atom 1)] [(try (swap! a / 0) (catch ArithmeticException e :no)) @a])", "[:no 1]");
    gives(
        "(let [a (atom 1)] (try (swap! a (fn [x] (reset! a 5) (throw (ex-info \"x\" {})))) (catch Exception e @a)))",
        "5",
    );
    gives(
        "(let [a (atom 0)] (try (swap! a inc) (throw (ex-info \"\" {})) (catch Exception e @a) (finally (swap! a inc))))",
        "1",
    );
    fails("(swap! (atom nil) inc)", &["type_error", "`inc`"]);
}

#[test]
fn mistakes_are_told_with_what_to_write() {
    fails("(let [a (atom 1)] (+ a 1))", &["type_error", "`+`", "an atom", "`@a`"]);
    fails("(count (atom [1]))", &["type_error", "an atom", "`@a`"]);
    fails("@5", &["type_error", "`deref`: expected an atom, got a number", "a session keeps what it held"]);
    fails("(swap! 5 inc)", &["type_error", "`swap!`: expected an atom, got a number"]);
    fails("(reset! {} 1)", &["type_error", "`reset!`: expected an atom, got a map"]);
    fails("(reset! (volatile! 1) 2)", &["type_error", "got a volatile", "vreset!"]);
    fails("(vswap! (atom 1) inc)", &["type_error", "`vswap!`: expected a volatile, got an atom", "swap!"]);
    gives("(json/generate-string {:a (atom 1)})", "nil");
    fails("(atom)", &["arity"]);
    fails("(atom 1 :validator pos?)", &["arity"]);
    for name in ["ref", "agent", "add-watch", "set!", "var-set", "alter-var-root", "dosync"] {
        fails(&format!("({name} 1 2)"), &["unbound_var", "(atom 0)"]);
    }
    fails("(let [a (atom 1)] @)", &["parse_error", "`@` needs a form after it"]);
}

#[test]
fn outside_of_a_run_there_are_values() {
    let outcome = |source: &str| runtime().eval(source, &Grants::new()).unwrap();
    let mixed = outcome("{:a (atom [1 (volatile! \"x\")]) :b [(atom nil)]}");
    assert_eq!(mixed.print().unwrap(), "{:a #atom [1 #volatile \"x\"] :b [#atom nil]}");
    assert_eq!(mixed.json().unwrap(), r#"{"a":[1,"x"],"b":[null]}"#);
    assert_eq!(mixed.get::<serde_json::Value>().unwrap(), serde_json::json!({"a": [1, "x"], "b": [null]}));
    let frozen = mixed.freeze().to_datum(1000).unwrap();
    assert_eq!(frozen.nodes().iter().filter(|node| matches!(node, Node::Opaque(_))).count(), 0);
    assert_eq!(
        outcome("(str \"n = \" (atom 3) (atom \"s\"))").print().unwrap(),
        r##""n = #atom 3#atom \"s\"""##
    );
    assert_eq!(outcome("(tool/echo {:n (atom {:k (atom 1)})})").json().unwrap(), r#"{"n":{"k":1}}"#);
    let printed = outcome("(println (atom [1 2])) (prn (volatile! \"a\"))");
    assert_eq!(printed.prints, ["#atom [1 2]", "#volatile \"a\""]);
    let failure = runtime().eval("(fail {:n (atom 1)})", &Grants::new()).err().unwrap();
    assert_eq!(failure.reason(), "fail");
    assert!(failure.diagnostic().message.contains("#atom 1"), "{failure}");
}

/// Atoms that contain themselves, directly and through others.
const CIRCLES: &[&str] = &[
    "(let [a (atom nil)] (reset! a a) a)",
    "(let [a (atom nil)] (reset! a [a]) a)",
    "(let [a (atom nil)] (reset! a [1 a {:k a}]) @a)",
    "(let [a (atom nil) b (atom a)] (reset! a b) [a b])",
    "(let [a (atom nil) b (atom [a a]) c (atom [a b])] (reset! a [b c]) [a [b] {:c c}])",
    "(let [a (atom nil) v [a]] (reset! a {:v v :w [v v]}) v)",
    "(let [a (atom nil)] (reset! a #{a}) a)",
    "(let [a (atom nil)] (reset! a {a a}) [@a a])",
    "(let [a (atom nil) f (fn [] a)] (reset! a f) [f a])",
    "(let [a (volatile! nil)] (vreset! a (map (fn [i] a) (range 40))) a)",
    "(let [a (atom nil) e (ex-info \"x\" {:a a})] (reset! a e) [a e])",
    "(let [a (atom nil) s (iterate (fn [x] a) a)] (reset! a (first s)) a)",
    "(reduce (fn [a i] (atom a)) (atom 0) (range 20000))",
    "(let [a (atom nil)] (reset! a (reduce (fn [x _] [x]) a (range 20000))) a)",
    "(let [as (map atom (range 30))] (doseq [a as] (reset! a (vec as))) as)",
];

#[test]
fn nothing_goes_round_in_circles() {
    for source in CIRCLES {
        let outcome =
            runtime().eval(source, &Grants::new()).unwrap_or_else(|failure| panic!("{source}\n{failure}"));
        // Some of them unfold to enormous texts; it is enough that they end.
        let _ = outcome.print();
        let _ = outcome.json();
        let _ = outcome.get::<serde_json::Value>();
        let frozen = outcome.freeze();
        let _ = frozen.to_datum(100_000);
        let _ = frozen.outline(3, 3);
        let mut parts = 0;
        frozen.parts(|_| {
            parts += 1;
            if parts > 10_000 {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        });
        frozen.read(|heap, value| {
            let _ = heap.print(value, &mut String::new(), 10_000);
            heap.key_hash(value, 1);
        });
        for program in [
            "(= x x)",
            "(hash-set x [x])",
            "(count (pr-str [x]))",
            "(get {[x] 1} [x])",
            "(println x)",
            "(tool/echo {:x [1] :y (vector? [x])})",
        ] {
            // Only limits may be exceeded.
            if let Err(failure) = runtime()
                .limits(Limits { fuel: 3_000_000, ..Limits::default() })
                .eval(&format!("(let [x {source}] {program})"), &Grants::new())
            {
                assert!(
                    ["fuel_exceeded", "output_exceeded", "memory_exceeded", "type_error"]
                        .contains(&failure.reason()),
                    "{source} {program}\n{failure}"
                );
            }
        }
        // A later turn of a session sees it, and it can be stored again.
        let mut session = runtime().session();
        session.eval(&format!("(def x {source})")).unwrap();
        session.eval("(def y [x])").unwrap();
        let _ = session.eval("y").unwrap().print();
        assert_eq!(session.eval("(= y [x])").unwrap().print().unwrap(), "true", "{source}");
    }
    gives("(let [a (atom nil)] (reset! a a) a)", "#atom #atom ...");
    gives("(let [a (atom nil)] (reset! a [1 a]) a)", "#atom [1 #atom ...]");
    let outcome = runtime().eval("(let [a (atom nil)] (reset! a [1 a]) a)", &Grants::new()).unwrap();
    assert_eq!(outcome.json().unwrap(), r##"[1,"#atom ..."]"##);
}

#[test]
fn a_session_keeps_values() {
    let mut session = runtime().session();
    let mut eval = |source: &str| match session.eval(source) {
        Ok(outcome) => outcome.print().unwrap(),
        Err(failure) => format!(
            "{} | {}",
            failure.diagnostic().message,
            failure.diagnostic().hint.as_deref().unwrap_or("")
        ),
    };
    assert_eq!(eval("(def a (atom 1)) (def both [a a]) (def t {:in (atom [a])}) (swap! a inc)"), "2");
    assert_eq!(eval("[a both t *1]"), "[2 [2 2] {:in [2]} 2]");
    let refused = eval("@a");
    assert!(
        refused.contains("expected an atom, got a number") && refused.contains("`x` and not `@x`"),
        "{refused}"
    );
    assert_eq!(eval("(def a (atom a)) (swap! a inc)"), "3");
    assert_eq!(eval("(def counter (let [n (atom 0)] (fn [] (swap! n inc)))) [(counter) (counter)]"), "[1 2]");
    let refused = eval("(counter)");
    assert!(refused.contains("`swap!`: expected an atom, got a number"), "{refused}");
    // Large collections, and an atom as a result.
    assert_eq!(eval("(def m (zipmap (range 50) (map atom (range 50)))) (atom [1])"), "#atom [1]");
    assert_eq!(eval("[(get m 49) *1]"), "[49 [1]]");
    // A function that finds itself through an atom still does, but can no longer be changed.
    assert_eq!(
        eval("(def f (let [me (atom nil)] (reset! me (fn [n] (if (< n 2) 1 (* n (@me (dec n))))))))"),
        "#'f"
    );
    assert_eq!(eval("(f 5)"), "120");
    assert_eq!(eval("(def loop-atom (atom nil)) (reset! loop-atom [loop-atom]) nil"), "nil");
    let refused = eval("(swap! loop-atom conj 1)");
    assert!(refused.contains("belongs to an earlier program"), "{refused}");
    assert_eq!(eval("(count @loop-atom)"), "1");
    // Keys keep their identity, so that they are found again.
    assert_eq!(eval("(def k (atom 1)) (def by {k :found [k] :too}) (def in #{k})"), "#'in");
    assert_eq!(eval("[(by k) (by [k]) (contains? in k) @k]"), "[:found :too true 1]");
}

#[test]
fn branches_read_atoms_and_change_their_own() {
    gives("(let [a (atom 5)] (pmap (fn [x] (+ x @a)) [1 2]))", "[6 7]");
    gives("(pmap (fn [x] (let [n (atom 0)] (dotimes [i x] (swap! n + i)) @n)) [2 3 4])", "[1 3 6]");
    gives("(let [as (pmap (fn [x] (atom x)) [1 2])] (swap! (first as) + 10) (map deref as))", "[11 2]");
    gives(
        "(let [[a b] (first (pmap (fn [x] (let [a (atom x)] [a a])) [1]))] (swap! a inc) [(= a b) @b])",
        "[true 2]",
    );
    gives("(let [a (atom 1)] [(= [a a] (pmap (fn [x] a) [1 2])) (pcalls (fn [] @a))])", "[true [1]]");
    for change in [
        "(swap! a inc)",
        "(reset! a 1)",
        "(compare-and-set! a 0 1)",
        "(swap-vals! a inc)",
        "(reset-vals! a 1)",
    ] {
        for form in [format!("(pmap (fn [x] {change}) [1 2])"), format!("(pcalls (fn [] {change}))")] {
            fails(
                &format!("(let [a (atom 0)] {form})"),
                &[
                    "runtime_error",
                    "a branch of `pmap` or `pcalls` cannot change the atom",
                    "(reduce + (pmap f xs))",
                ],
            );
        }
    }
    fails("(let [v (volatile! 0)] (pmap (fn [x] (vswap! v inc)) [1]))", &["cannot change the volatile"]);
    fails(
        "(let [a (atom 0)] (pmap (fn [x] (pmap (fn [y] (swap! a inc)) [1])) [1]))",
        &["cannot change the atom"],
    );
    // The error comes before the function is called.
    gives(
        "(let [a (atom 0)] (try (pmap (fn [x] (swap! a (fn [n] (tool/echo {}) (fail n)))) [1]) (catch Exception e @a)))",
        "0",
    );
}

#[test]
fn a_prelude_holds_no_atoms() {
    let compile = |source: &str| Prelude::compile(&runtime(), source);
    for source in [
        "(ns m) (def n (atom 0))",
        "(ns m) (def n {:deep [(volatile! 0)]})",
        "(ns m) (def next-id (let [n (atom 0)] (fn [] (swap! n inc))))",
        "(ns m) (def f (partial swap! (atom 0)))",
    ] {
        let failure = compile(source).err().unwrap_or_else(|| panic!("{source}"));
        let told = failure.to_string();
        assert!(told.contains("holds an atom, and a prelude has no state"), "{source}\n{told}");
    }
    let source = "(ns m) (def six (let [n (atom 0)] (doseq [x [1 2 3]] (swap! n + x)) @n))
        (defn total [xs] (let [n (atom 0)] (run! #(swap! n + %) xs) @n)) (defn counter [] (atom six))
        (def size (memoize count))";
    let prelude = compile(source).unwrap();
    let attached = runtime().attach(&prelude, &ptc_runtime::Attach::new()).unwrap();
    let outcome = attached.eval(
        "(let [a (m/counter) b (m/counter)] (swap! a inc) [@a @b (m/total [1 2]) (let [f m/size] (f [1]))])",
        &Grants::new(),
    );
    assert_eq!(outcome.unwrap().print().unwrap(), "[7 6 3 1]");
}

#[test]
fn memory_and_work_are_paid_for() {
    let limits = Limits { fuel: 20_000_000, memory_bytes: 2_000_000, ..Limits::default() };
    let reason = |source: &str| match runtime().limits(limits).eval(source, &Grants::new()) {
        Ok(outcome) => outcome.print().unwrap(),
        Err(failure) => failure.reason().to_string(),
    };
    assert_eq!(
        reason("(let [a (atom [])] (loop [] (swap! a (fn [v] [v v (str v)])) (recur)))"),
        "memory_exceeded"
    );
    assert_eq!(reason("(loop [a (atom nil)] (recur (atom a)))"), "memory_exceeded");
    assert_eq!(
        reason("(let [a (atom nil)] (loop [] (reset! a (vec (range 100))) (recur)))"),
        "fuel_exceeded"
    );
    // Garbage in atoms is collected, and sharing is restored.
    assert_eq!(
        reason(
            "(let [a (atom nil) b [a]] (dotimes [i 3000] (reset! a (vec (range i (+ i 100))))) [(count @a) (= a (first b))])"
        ),
        "[100 true]"
    );
    // Printing costs what it writes, through atoms too.
    let fuel = |source: &str| runtime().eval(source, &Grants::new()).unwrap().fuel;
    let plain = fuel("(let [v (vec (range 1000))] (count (str v)))");
    let held = fuel("(let [v (vec (range 1000))] (count (str (atom v))))");
    assert!(held > plain && held < plain + 100, "{plain} {held}");
}
