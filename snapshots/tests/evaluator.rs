//! Reused machines give the results of new ones, whatever ran before.
#![allow(missing_docs)]

use ptc_runtime::{Evaluator, Grants, Limits, Tools};
use ptc_snapshots::runtime;
use serde_json::{Value, json};

const PROGRAM: &str = "
(def seen (:id data/row))
(let [{:keys [id tags] :as row} data/row
      total (reduce + 0 (map #(or (:n %) 0) (:items row)))]
  (println id)
  {:id id :total total :tags (sort tags) :unit (:unit-price row) :again (= seen id)
   :more (assoc (select-keys row [:a :b :c]) :k (count (str (:text row))))})";

/// Returns records of many shapes, with keys in several orders, some with long texts.
fn records() -> Vec<Value> {
    let mut seed = 1u64;
    let mut next = move |n: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    (0..400)
        .map(|i| {
            let mut row = json!({"id": i});
            for name in ["a", "b", "c", "text", "tags", "unit_price", "items", "x y", "ä"] {
                if next(3) > 0 {
                    row[name] = match name {
                        "text" => json!("text ".repeat(next(50) as usize)),
                        "tags" => json!((0..next(4)).map(|t| format!("tag{t}")).collect::<Vec<_>>()),
                        "items" => {
                            json!((0..next(5)).map(|n| json!({"n": n, "m": [n]})).collect::<Vec<_>>())
                        }
                        _ => json!(next(1000)),
                    };
                }
            }
            if next(10) == 0 {
                row[format!("only{i}")] = json!(null);
            }
            row
        })
        .collect()
}

#[test]
fn every_record_is_evaluated_as_if_it_were_the_first() {
    let runtime = runtime();
    let program = runtime.compile(PROGRAM).unwrap();
    let (mut by_text, mut by_serde) =
        (Evaluator::new(&runtime, &program), Evaluator::new(&runtime, &program));
    for row in records() {
        let text = row.to_string();
        let grants = Grants::new().json("row", &text).unwrap();
        let fresh = runtime.eval(PROGRAM, &grants).unwrap();
        let wanted = (fresh.print().unwrap(), fresh.prints.clone(), fresh.fuel);
        for outcome in [by_text.json("row", &text).unwrap(), by_serde.serde("row", &row).unwrap()] {
            assert_eq!((outcome.print().unwrap(), outcome.prints.clone(), outcome.fuel), wanted, "{text}");
        }
    }
}

#[test]
fn a_record_that_fails_leaves_nothing_behind() {
    let limits = Limits { memory_bytes: 200_000, fuel: 200_000, ..Limits::default() };
    let runtime = runtime().limits(limits);
    let program =
        runtime.compile("(def x (:n data/row)) (reduce + x (range 1 (+ 1 (:k data/row 3))))").unwrap();
    let mut evaluator = Evaluator::new(&runtime, &program);
    let huge = format!("{{\"n\": 1, \"text\": \"{}\"}}", "x".repeat(300_000));
    for _ in 0..3 {
        for (record, wanted) in [
            ("{\"n\": 1}", Ok("7")),
            ("{\"n\": null}", Err("type_error")),
            ("{\"n\": 1, \"k\": 100000}", Err("fuel_exceeded")),
            ("{\"n\": 1, ", Err("invalid_data")),
            ("\"text\"", Err("type_error")),
            (&huge[..], Err("memory_exceeded")),
            ("{\"n\": 2}", Ok("8")),
        ] {
            match (evaluator.json("row", record), wanted) {
                (Ok(outcome), Ok(wanted)) => assert_eq!(outcome.print().unwrap(), wanted),
                (Err(failure), Err(reason)) => assert_eq!(failure.reason(), reason, "{failure}"),
                (found, wanted) => panic!("{record:.50}: {:?}, not {wanted:?}", found.map(|o| o.print())),
            }
        }
    }
}

#[test]
fn collections_between_records_do_no_harm() {
    let runtime = runtime().limits(Limits { memory_bytes: 3_000_000, fuel: 1 << 40, ..Limits::default() });
    // More garbage than fits: the arena is collected, and the keys move with it.
    let source = "(loop [i 0 last nil] (if (< i 60000) (recur (inc i) (assoc data/row :i i :s (str i))) [(:a last) (:i last)]))";
    let program = runtime.compile(source).unwrap();
    let mut evaluator = Evaluator::new(&runtime, &program);
    for i in 0..3 {
        let outcome = evaluator.serde("row", &json!({"a": i, "b": [i]})).unwrap();
        assert_eq!(outcome.print().unwrap(), format!("[{i} 59999]"));
    }
}

#[test]
fn tools_and_grants_are_there_for_every_record() {
    let tools = Tools::new()
        .with("twice", |args: ptc_runtime::ToolArgs| Ok(json!(args.json()?["x"].as_i64().unwrap() * 2)));
    let runtime = runtime().with_tools(tools);
    let program = runtime.compile("(+ data/base (tool/twice {:x (:n data/row)}))").unwrap();
    let grants = Grants::new().serde("base", &100).unwrap();
    let mut evaluator = Evaluator::new(&runtime, &program).grants(grants);
    for n in 0..5 {
        assert_eq!(evaluator.serde("row", &json!({"n": n})).unwrap().get::<i64>().unwrap(), 100 + 2 * n);
    }
}
