//! Functions called from Rust, and evaluators over frozen values.

use ptc_runtime::{Evaluator, Failure, Frozen, Grants, Limits, Runtime, Tools, bridge};
use serde_json::{Value, json};

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).unwrap()
}

fn function(runtime: &Runtime, source: &str, name: &str) -> Result<ptc_runtime::Function, Failure> {
    runtime.function(&runtime.compile(source)?, &Grants::new(), name)
}

/// Rows of one vector: texts, nested maps, numbers.
fn rows(n: usize) -> Vec<Frozen> {
    let rows: Vec<Value> = (0..n)
        .map(|i| json!({"id": i, "name": format!("row {i}"), "tags": ["a", i], "price": {"net": i as f64 / 2.0}}))
        .collect();
    bridge::freeze(&rows).unwrap().items().unwrap()
}

#[test]
fn functions_take_and_give_types_of_rust() {
    let source = "(defn greet ([] \"hi\") ([name] (str \"hi \" name)) ([name & more] (into [name] more)))";
    let mut greet = function(&runtime(), source, "greet").unwrap();
    assert_eq!(greet.call::<String>(&()).unwrap(), "hi");
    assert_eq!(greet.call::<String>(&("Ada",)).unwrap(), "hi Ada");
    assert_eq!(
        greet.call::<Vec<Value>>(&("Ada", 1, vec![2.5], None::<i64>)).unwrap(),
        json!(["Ada", 1, [2.5], null]).as_array().unwrap().clone()
    );
    assert_eq!(greet.call::<i64>(&("Ada",)).unwrap_err().reason(), "type_error");
}

#[test]
fn a_call_sees_nothing_of_earlier_calls_and_has_a_full_budget() {
    let runtime = runtime().limits(Limits { fuel: 20_000, ..Limits::default() });
    let source = "(def calls (atom 0)) (defn work [n] (println n) (reduce + (range n)))";
    let mut work = function(&runtime, source, "work").unwrap();
    for _ in 0..50 {
        let outcome = work.outcome(&(1_000,)).unwrap();
        assert_eq!((outcome.get::<i64>().unwrap(), outcome.prints.len()), (499_500, 1));
    }
    assert_eq!(work.call::<i64>(&(1_000_000,)).unwrap_err().reason(), "fuel_exceeded");
    assert_eq!(work.call::<i64>(&(10,)).unwrap(), 45);
}

#[test]
fn functions_use_what_was_defined_beside_them_granted_and_offered() {
    let tools = Tools::new().with("double", |args| Ok(args.json()?["n"].as_i64().unwrap_or(0) * 2));
    let runtime = runtime().with_tools(tools);
    let source = "(def base 100) (defn- twice [n] (tool/double {:n n})) (defn score [n] (+ base data/bonus (twice n)))";
    let program = runtime.compile(source).unwrap();
    let grants = Grants::new().serde("bonus", &7).unwrap();
    let mut score = runtime.function(&program, &grants, "score").unwrap();
    assert_eq!(score.call::<i64>(&(1,)).unwrap(), 109);
    assert_eq!(pollster::block_on(score.call_async::<i64>(&(2,))).unwrap(), 111);
}

#[test]
fn builtins_and_exports_are_functions_and_other_names_are_errors() {
    let session = runtime().session();
    assert_eq!(session.function("max").unwrap().call::<i64>(&(3, 9, 4)).unwrap(), 9);
    assert_eq!(session.function("nope").err().unwrap().reason(), "unbound_var");
    assert_eq!(session.function("clojure.string/upper-case").unwrap().call::<String>(&("a",)).unwrap(), "A");
    for name in ["", "9", "(fn [] 1)", "f) (println 1", "a b", "\"a\"", "a;b"] {
        assert_eq!(session.function(name).err().unwrap().reason(), "invalid_config", "{name}");
    }
    let mut session = session;
    session.eval("(def answer 42)").unwrap();
    let failure = session.function("answer").unwrap().call::<i64>(&(1,)).unwrap_err();
    assert_eq!(failure.reason(), "not_callable");
}

#[test]
fn frozen_records_give_what_their_copies_give() {
    let runtime = runtime();
    let program = runtime
        .compile("{:id (:id data/row) :net (get-in data/row [:price :net]) :all data/row :tags (conj (:tags data/row) 1)}")
        .unwrap();
    let mut frozen = Evaluator::new(&runtime, &program);
    let mut copied = Evaluator::new(&runtime, &program);
    for row in &rows(200) {
        let copy: Value = bridge::from_frozen(row).unwrap();
        let here = frozen.frozen("row", row).unwrap();
        let there = copied.serde("row", &copy).unwrap();
        assert_eq!(here.print().unwrap(), there.print().unwrap());
        assert_eq!(here.fuel, there.fuel);
    }
}

/// More values than stay attached to a machine, each in memory of its own, in turns with rows of one vector.
#[test]
fn values_of_many_memories_are_never_mixed_up() {
    let runtime = runtime();
    let program = runtime.compile("[(:id data/row) (:name data/row) (keys data/row)]").unwrap();
    let mut evaluator = Evaluator::new(&runtime, &program);
    let (mut apart, together) = (Vec::new(), rows(300));
    for i in 0..300 {
        // Other keys, in another order, so that a place known from one is wrong in the next.
        let row = match i % 3 {
            0 => json!({"name": format!("apart {i}"), "id": i}),
            1 => json!({"x": 1, "id": i, "name": format!("apart {i}")}),
            _ => json!({"id": i, "y": [i], "name": format!("apart {i}"), "z": {}}),
        };
        apart.push(bridge::freeze(&row).unwrap());
    }
    for _ in 0..2 {
        for (i, (row, other)) in apart.iter().zip(&together).enumerate() {
            let (id, name, keys): (usize, String, Vec<String>) =
                evaluator.frozen("row", row).unwrap().get().unwrap();
            assert_eq!((id, name), (i, format!("apart {i}")));
            assert_eq!(keys.len(), 2 + [0, 1, 2][i % 3]);
            let (id, name, _): (usize, String, Vec<String>) =
                evaluator.frozen("row", other).unwrap().get().unwrap();
            assert_eq!((id, name), (i, format!("row {i}")));
        }
    }
}

#[test]
fn what_is_shared_counts_as_granted_for_its_run_only() {
    let limits = Limits { granted_bytes: 20_000, ..Limits::default() };
    let runtime = runtime().limits(limits);
    let mut evaluator = Evaluator::new(&runtime, &runtime.compile("(count data/row)").unwrap());
    let small = bridge::freeze(&"x".repeat(8_000)).unwrap();
    let large = bridge::freeze(&"x".repeat(30_000)).unwrap();
    for _ in 0..100 {
        assert_eq!(evaluator.frozen("row", &small).unwrap().get::<usize>().unwrap(), 8_000);
    }
    let failure = evaluator.frozen("row", &large).unwrap_err();
    assert_eq!(failure.reason(), "memory_exceeded");
    assert!(failure.to_string().contains("limits.granted_bytes = 20000"), "{failure}");
    assert_eq!(evaluator.frozen("row", &small).unwrap().get::<usize>().unwrap(), 8_000);
}

#[test]
fn firewalled_fields_of_frozen_records_stay_behind_the_firewall() {
    let runtime = runtime();
    let program = runtime.compile("(println data/row) (:name data/row)").unwrap();
    let grants = Grants::new().firewall(true);
    let mut evaluator = Evaluator::new(&runtime, &program).grants(grants);
    let people =
        bridge::freeze(&json!([{"name": "Ada", "_mail": "a@b.c"}, {"name": "Bo", "_mail": "b@b.c"}]))
            .unwrap();
    for person in people.items().unwrap() {
        let outcome = evaluator.frozen("row", &person).unwrap();
        assert!(!outcome.prints[0].contains("@b.c"), "{:?}", outcome.prints);
    }
}

#[test]
fn only_vectors_have_items() {
    assert!(bridge::freeze(&json!({"a": 1})).unwrap().items().is_none());
    assert!(bridge::freeze(&"text").unwrap().items().is_none());
    assert!(bridge::freeze(&json!([])).unwrap().items().unwrap().is_empty());
    // Rows that refer to other memory: a field of a frozen map is in a memory that refers to the map's.
    let inner = bridge::freeze(&json!({"rows": [{"a": [1, 2]}, {"a": [3]}]})).unwrap().field("rows").unwrap();
    let items = inner.items().unwrap();
    assert_eq!(bridge::from_frozen::<Value>(&items[1]).unwrap(), json!({"a": [3]}));
}
