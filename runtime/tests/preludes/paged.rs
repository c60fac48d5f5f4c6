//! The shipped prelude `paged`.

use super::common::*;
use ptc_runtime::{Attach, Failure, Grants, LoadOptions, Outcome, Prelude, Tools};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn paged() -> Prelude {
    Prelude::load(&runtime(), ptc_preludes::paged(), &LoadOptions::default()).unwrap()
}

/// Makes tools that page the numbers 1 to 7, three per page, by cursor, number and offset, and count the requests.
fn tools() -> (Tools, Arc<AtomicU64>) {
    let calls = Arc::new(AtomicU64::new(0));
    let rows = |from: u64| -> Vec<u64> { (from + 1..=(from + 3).min(7)).collect() };
    let counted = {
        let calls = calls.clone();
        move || calls.fetch_add(1, Ordering::Relaxed)
    };
    let by_cursor = {
        let counted = counted.clone();
        move |args: ptc_runtime::ToolArgs| {
            counted();
            let from = args.json()?["cursor"].as_str().map_or(0, |cursor| cursor[1..].parse().unwrap_or(0));
            let next = (from + 3 < 7).then(|| format!("c{}", from + 3));
            Ok(json!({"items": rows(from), "next": next}))
        }
    };
    let by_page = {
        let counted = counted.clone();
        move |args: ptc_runtime::ToolArgs| {
            counted();
            let page = args.json()?["page"].as_u64().unwrap_or(1);
            Ok(json!(rows((page - 1) * 3)))
        }
    };
    let by_offset = move |args: ptc_runtime::ToolArgs| {
        counted();
        let offset = args.json()?["offset"].as_u64().unwrap_or(0);
        Ok(json!({"ok": true, "value": {"results": rows(offset)}}))
    };
    let tools = Tools::new()
        .with("cursor", by_cursor)
        .with("page", by_page)
        .with("offset", by_offset)
        .with("echo", |args| Ok(args.json()?["page"].clone()));
    (tools, calls)
}

const FETCH: &str = "(fn [cursor] (tool/cursor {:cursor cursor}))";

fn run(program: &str) -> (Result<Outcome, Failure>, u64) {
    let (tools, calls) = tools();
    let runtime = runtime().with_tools(tools.clone()).attach(&paged(), &Attach::new()).unwrap();
    let outcome = runtime.eval(&program.replace("FETCH", FETCH), &Grants::new());
    (outcome, calls.load(Ordering::Relaxed))
}

fn value(program: &str) -> String {
    run(program).0.unwrap_or_else(|failure| panic!("{program}\n{failure}")).print().unwrap()
}

fn failed(program: &str) -> Value {
    let failure = run(program).0.expect_err(program);
    assert_eq!(failure.reason(), "fail", "{failure}");
    ptc_runtime::bridge::datum_to_json(&failure.value.unwrap()).unwrap()
}

#[test]
fn what_is_embedded_is_what_the_source_compiles_to() {
    for (name, bytes) in ptc_preludes::shipped() {
        let shipped = Prelude::load(&runtime(), bytes, &LoadOptions::default()).unwrap();
        let source = &shipped.sources().unwrap()[0];
        assert_eq!(compiled(source).to_bytes(), bytes, "{name}");
        for export in shipped.exports() {
            assert!(export.doc.is_some(), "{} has no doc string", export.reference());
        }
    }
    assert!(paged().is_pure());
}

#[test]
fn fold_over_all_items() {
    assert_eq!(value("(paged/fold + 0 FETCH)"), "28");
    assert_eq!(
        value("(paged/fold (fn [acc x] (if (> x 4) (reduced acc) (conj acc x))) [] FETCH)"),
        "[1 2 3 4]"
    );
    assert_eq!(run("(paged/fold (fn [_ x] (reduced x)) nil FETCH)").1, 1);
    assert_eq!(value("(paged/fold + 0 FETCH {:start \"c3\"})"), "22");
}

#[test]
fn collect_take_find_count() {
    assert_eq!(value("(paged/collect FETCH)"), "[1 2 3 4 5 6 7]");
    for (n, items, calls) in
        [(0, "[]", 0), (2, "[1 2]", 1), (3, "[1 2 3]", 1), (4, "[1 2 3 4]", 2), (9, "[1 2 3 4 5 6 7]", 3)]
    {
        let program = format!("(paged/take {n} FETCH)");
        assert_eq!((value(&program), run(&program).1), (items.to_string(), calls), "{n}");
    }
    assert_eq!(value("(paged/find #(> % 4) FETCH)"), "5");
    assert_eq!(run("(paged/find #(> % 4) FETCH)").1, 2);
    assert_eq!(value("(paged/find #(> % 40) FETCH)"), "nil");
    assert_eq!(value("(paged/count FETCH)"), "7");
}

#[test]
fn pages_by_number() {
    let fetch = "(paged/by-page (fn [n] (tool/page {:page n})))";
    assert_eq!(value(&format!("(paged/collect {fetch})")), "[1 2 3 4 5 6 7]");
    // One page past the end is requested, unless the page size tells.
    assert_eq!(run(&format!("(paged/collect {fetch})")).1, 4);
    let sized = "(paged/by-page (fn [n] (tool/page {:page n})) {:size 3})";
    assert_eq!(run(&format!("(paged/collect {sized})")).1, 3);
    let from_zero = "(paged/by-page (fn [n] (tool/page {:page (inc n)})) {:first 0 :size 3})";
    assert_eq!(value(&format!("(paged/count {from_zero})")), "7");
    let told = "(paged/by-page (fn [n] {:rows [n] :hasMore (< n 4)}))";
    assert_eq!(value(&format!("(paged/collect {told})")), "[1 2 3 4]");
    let total = "(paged/by-page (fn [n] {:data [n] :total_pages 2}))";
    assert_eq!(value(&format!("(paged/collect {total})")), "[1 2]");
    let total = "(paged/by-page (fn [n] {:data [n] :total_pages 2}) {:first 0})";
    assert_eq!(value(&format!("(paged/collect {total})")), "[0 1]");
}

#[test]
fn pages_by_offset() {
    let fetch = "(paged/by-offset 3 (fn [offset limit] (tool/offset {:offset offset :limit limit})))";
    assert_eq!(value(&format!("(paged/collect {fetch})")), "[1 2 3 4 5 6 7]");
    assert_eq!(run(&format!("(paged/collect {fetch})")).1, 3);
    assert_eq!(
        failed("(paged/by-offset 0 identity)")["reason"],
        "paged: the size of a page must be a positive number, but it is 0"
    );
}

#[test]
fn pages_of_many_looks() {
    for (page, items) in [
        ("[1 2]", "[1 2]"),
        ("{:items [1 2]}", "[1 2]"),
        ("{\"results\" [1 2] \"nextCursor\" nil}", "[1 2]"),
        ("{:data [1] :next_cursor \"\"}", "[1]"),
        ("{:ok true :value {:items [1]}}", "[1]"),
        ("{:ok true :value [1]}", "[1]"),
        ("nil", "[]"),
        ("{:items []}", "[]"),
    ] {
        assert_eq!(value(&format!("(paged/collect (fn [_] {page}))")), items, "{page}");
    }
    assert_eq!(value("(paged/collect (fn [_] {:list [1]}) {:items :list})"), "[1]");
    assert_eq!(value("(paged/collect (fn [_] {:a {:b [1]}}) {:items [:a :b]})"), "[1]");
    assert_eq!(value("(paged/collect (fn [_] {:a 1 :b 2}) {:items vals})"), "[1 2]");
    let nested = "(fn [c] {:items [c] :meta {:cursor (when (< (or c 0) 2) (inc (or c 0)))}})";
    assert_eq!(value(&format!("(paged/collect {nested} {{:next [:meta :cursor]}})")), "[nil 1 2]");
}

#[test]
fn what_is_wrong_is_told() {
    let no_items = failed("(paged/collect (fn [_] {:stuff [1]}))");
    assert!(no_items["reason"].as_str().unwrap().starts_with("page_without_items"), "{no_items}");
    assert!(no_items["reason"].as_str().unwrap().contains("stuff"), "{no_items}");
    assert!(failed("(paged/collect (fn [_] 7))")["reason"].as_str().unwrap().starts_with("not_a_page"));
    let upstream =
        failed("(paged/collect (fn [c] (if c {:ok false :reason \"timeout\"} {:items [1 2] :next 1})))");
    assert_eq!(
        (&upstream["reason"], &upstream["pages"], &upstream["items"]),
        (&json!("timeout"), &json!(1), &json!(2))
    );
    let numbered = failed("(paged/collect (paged/by-page (fn [_] {:ok false :reason \"denied\"})))");
    assert_eq!(numbered["reason"], "denied");
    let again = failed("(paged/collect (fn [_] {:items [1] :next \"same\"}))");
    assert!(again["reason"].as_str().unwrap().starts_with("cursor_repeats"), "{again}");
}

#[test]
fn pages_are_bounded() {
    let endless = "(fn [c] {:items [c] :next (inc (or c 0))})";
    let stopped = failed(&format!("(paged/collect {endless})"));
    assert_eq!((&stopped["pages"], &stopped["next"]), (&json!(100), &json!(100)));
    assert!(stopped["reason"].as_str().unwrap().contains(":max-pages"), "{stopped}");
    assert_eq!(failed(&format!("(paged/count {endless} {{:max-pages 3}})"))["pages"], 3);
    assert_eq!(value(&format!("(paged/take 2 {endless} {{:max-pages 3}})")), "[nil 1]");
    for most in ["0", "-1", "1001", "\"x\"", "1.5"] {
        let wrong = failed(&format!("(paged/collect {endless} {{:max-pages {most}}})"));
        assert!(wrong["reason"].as_str().unwrap().contains(":max-pages must be"), "{wrong}");
    }
}

#[test]
fn walk_never_fails_and_goes_on_later() {
    let walked = "(paged/walk conj [] FETCH {:max-pages 2})";
    let shown = value(&format!(
        "(let [w {walked}] [(:ok w) (:value w) (:pages w) (:items w) (:next w) (:stopped w)])"
    ));
    assert_eq!(shown, "[true [1 2 3 4 5 6] 2 6 \"c6\" \"page_limit\"]");
    assert_eq!(value(&format!("(:value (paged/walk conj [] FETCH {{:start (:next {walked})}}))")), "[7]");
    assert_eq!(value("(:stopped (paged/walk conj [] FETCH))"), "\"end\"");
    assert_eq!(value("(:stopped (paged/walk (fn [_ x] (reduced x)) nil FETCH))"), "\"early\"");
    let broken = "(paged/walk conj [] (fn [c] (if c {:ok false :reason \"gone\"} {:items [1] :next 2})))";
    assert_eq!(
        value(&format!("(let [w {broken}] [(:ok w) (:reason w) (:value w) (:next w)])")),
        "[false \"gone\" [1] 2]"
    );
}

#[test]
fn five_exports_stand_in_the_prompt() {
    let inventory = paged().inventory(Default::default()).unwrap();
    for name in ["by-page", "collect", "find", "fold", "take"] {
        assert!(inventory.contains(&format!("paged/{name} ")), "{inventory}");
    }
    assert!(!inventory.contains("more:"), "{inventory}");
}
