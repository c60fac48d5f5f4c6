//! Programs are checked against the return values of exports before they run.

use super::common::*;
use ptc_bytecode::{Key, PreludeFile, Returned, Returns, encode_prelude};
use ptc_runtime::{Attach, Code, Diagnostic, Grants, LoadOptions, Prelude, Shape, ToolShape, Tools};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const SHOP: &str = r#"
(ns shop "Orders." {:visibility :prompt})
(def rates {:de {:full 19 :reduced 7}})
(defn- brief [order] {:id (:id order) :cents (* 100 (:total order))})
(defn orders [country] (tool/orders {:country country}))
(defn briefs [country] (map brief (orders country)))
(defn summary [country]
  (let [all (orders country)]
    {:country country :count (count all) :best {:id 1 :total 2}}))
(defn changed [country] (map #(assoc % :checked true) (orders country)))
(defn same [x] x)
"#;

fn shop() -> (Tools, Arc<AtomicU32>) {
    let order = json!({
        "type": "object", "properties": {"id": {"type": "integer"}, "total": {"type": "number"}},
        "additionalProperties": false,
    });
    let answers = Shape::of_json_schema(&json!({"type": "array", "items": order}));
    let takes = Shape::of_json_schema(&json!({"type": "object"}));
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let tools = Tools::new().with("orders", move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(json!([{"id": 1, "total": 5}, {"id": 2, "total": 7}]))
    });
    (tools.shaped("orders", ToolShape::new(takes, answers)), calls)
}

fn line(told: &Diagnostic) -> String {
    format!("{}: {}; {}", told.code.reason(), told.message, told.hint.as_deref().unwrap_or(""))
}

/// Runs a program; returns its error or warnings, and whether a tool was called.
fn told(program: &str) -> (Vec<String>, bool) {
    let (tools, calls) = shop();
    let lines = match attached(SHOP, &tools).eval(program, &Grants::new()) {
        Ok(outcome) => outcome.warnings().iter().map(line).collect(),
        Err(failure) => vec![line(failure.diagnostic())],
    };
    (lines, calls.load(Ordering::Relaxed) > 0)
}

#[test]
fn a_field_that_the_maps_of_an_export_do_not_have_is_a_warning() {
    let (lines, _) = told("(:contry (shop/summary \"DE\"))");
    assert_eq!(
        lines,
        ["absent_field: no map in the result of `shop/summary` has `:contry`; did you mean `:country`?"]
    );
    let (lines, _) = told("(->> (shop/briefs \"DE\") (map :cent) first)");
    assert_eq!(
        lines,
        ["absent_field: no map in the result of `shop/briefs` has `:cent`; did you mean `:cents`?"]
    );
    let (lines, _) = told("(get-in (shop/summary \"DE\") [:best :totl])");
    assert_eq!(
        lines,
        ["absent_field: no map in the result of `shop/summary` has `:totl`; did you mean `:total`?"]
    );
}

#[test]
fn what_an_export_hands_on_from_a_tool_is_held_against_the_schema_of_the_tool() {
    for program in [
        "(sum-by :totl (shop/orders \"DE\"))",
        "(let [all (shop/orders \"DE\")] (map :totl all))",
        "(map :totl (shop/changed \"DE\"))",
    ] {
        let (lines, called) = told(program);
        assert_eq!(lines.len(), 1, "{program}: {lines:?}");
        assert!(lines[0].starts_with("unknown_field: no record in the result of `tool/orders`"), "{lines:?}");
        assert!(lines[0].ends_with("did you mean `:total`?"), "{lines:?}");
        assert!(!called, "{program} called a tool");
    }
}

#[test]
fn a_constant_of_data_is_held_against_its_value() {
    let (lines, _) = told("(get-in shop/rates [:de :ful])");
    assert_eq!(lines, ["unknown_field: no map at `:de` of `shop/rates` has `:ful`; did you mean `:full`?"]);
}

#[test]
fn right_programs_hear_nothing() {
    for program in [
        "(:country (shop/summary \"DE\"))",
        "(map :cents (shop/briefs \"DE\"))",
        "(map :checked (shop/changed \"DE\"))",
        "(sum-by :total (shop/orders \"DE\"))",
        "(:full (:de shop/rates))",
        "(:anything (shop/same {:anything 1}))",
        "(or (:city (shop/summary \"DE\")) \"nowhere\")",
        "(map #(shop/same %) [1 2])",
        "(mapv shop/briefs [\"DE\" \"FR\"])",
    ] {
        let (lines, called) = told(program);
        assert!(lines.is_empty(), "{program}: {lines:?}");
        assert!(called || !program.contains("briefs"));
    }
}

fn loaded(file: &PreludeFile, options: &LoadOptions<'_>) -> Result<Prelude, Diagnostic> {
    Prelude::load(&runtime(), &encode_prelude(file), options)
}

#[test]
fn a_file_keeps_it_and_is_believed_when_its_texts_are() {
    let file = compiled(SHOP).to_file();
    let warnings = |options: &LoadOptions<'_>| {
        let (tools, _) = shop();
        let prelude = loaded(&file, options).unwrap();
        assert_eq!(prelude.to_file(), file);
        let runtime = runtime().with_tools(tools).attach(&prelude, &Attach::new()).unwrap();
        let outcome = runtime.eval("(:contry (shop/summary \"DE\"))", &Grants::new()).unwrap();
        outcome.warnings().iter().map(line).collect::<Vec<_>>()
    };
    let vouched = LoadOptions { vouched: true, ..LoadOptions::default() };
    assert!(warnings(&vouched)[0].contains("in the result of `shop/summary`"));
    // For an untrusted file, only findings of the run itself are reported.
    let [seen] = &warnings(&LoadOptions::default())[..] else { panic!("one warning") };
    assert!(seen.contains("`:contry` was not found in any map"), "{seen}");
}

#[test]
fn what_a_forged_file_says_is_refused_or_bounded() {
    let refusal = |change: &dyn Fn(&mut PreludeFile)| {
        let mut file = compiled(SHOP).to_file();
        change(&mut file);
        loaded(&file, &LoadOptions { vouched: true, ..LoadOptions::default() }).map(|_| ()).unwrap_err()
    };
    let key = || Key { name: "a".into(), is_keyword: true };
    let cases: [&dyn Fn(&mut PreludeFile); 6] = [
        // Made of itself, of later nodes, of nothing.
        &|file| file.returns[0].1 = Returns(vec![Returned::List(0)]),
        &|file| file.returns[0].1 = Returns(vec![Returned::List(1), Returned::Anything]),
        &|file| {
            file.returns[0].1 = Returns(vec![Returned::Map { base: None, fields: vec![(key(), 7)] }]);
        },
        &|file| file.returns[0].1 = Returns(vec![Returned::Anything; 257]),
        &|file| file.returns.push(("shop/zzz".into(), Returns(vec![Returned::Anything]))),
        &|file| file.returns.insert(0, file.returns[0].clone()),
    ];
    for change in cases {
        assert_eq!(refusal(change).code, Code::BadExport);
    }
    // Each map holds the previous one twice: as a tree it would be exponential.
    let mut nodes = vec![Returned::Anything];
    for at in 0..200 {
        let fields = vec![(key(), at), (Key { name: "b".into(), is_keyword: true }, at)];
        nodes.push(Returned::Map { base: None, fields });
    }
    let mut file = compiled(SHOP).to_file();
    let summary = file.returns.iter_mut().find(|(name, _)| name == "shop/summary").unwrap();
    summary.1 = Returns(nodes);
    let prelude = loaded(&file, &LoadOptions { vouched: true, ..LoadOptions::default() }).unwrap();
    let runtime = runtime().with_tools(shop().0).attach(&prelude, &Attach::new()).unwrap();
    let program = "(let [s (shop/summary \"DE\")] [s s (shop/summary \"FR\")])";
    assert!(runtime.eval(program, &Grants::new()).is_ok());
}
