//! Tests of projections, as text: `of{amount} price`, where `*` is everything.

use super::{Projection, conditions, projections};
use crate::Scope;

fn shown(projection: &Projection) -> String {
    if projection.is_whole() {
        return "*".to_string();
    }
    let member = |(key, part): &(ptc_bytecode::Key, Projection)| match shown(part).as_str() {
        "*" => key.name.to_string(),
        inner => format!("{}{{{inner}}}", key.name),
    };
    projection.members.iter().map(member).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(source: &str, wanted: &str) {
    let found = projections(source, &Scope::default(), &Default::default());
    assert_eq!(shown(&found.data("row")), wanted, "{source}");
}

#[track_caller]
fn check_step(source: &str, wanted: &str) {
    let found = projections(source, &Scope::default(), &Default::default());
    assert_eq!(shown(found.step()), wanted, "{source}");
}

#[test]
fn constant_keys_are_followed() {
    check("(* (:price data/row) (get data/row \"amount\"))", "price amount");
    check("(data/row :id)", "id");
    check("(-> data/row :of :amount inc)", "of{amount}");
    check("(get-in data/row [:a :b] 0)", "a{b}");
    check("(:a data/row (:b data/row))", "a b");
    check(
        "(let [{:keys [id country] {:keys [x]} :pos :or {id 1}} data/row] [id country x])",
        "id country pos{x}",
    );
    check("(select-keys data/row [:id :name])", "id name");
    check("(some-> data/row :a :b str)", "a{b}");
    check("(let [row data/row f (fn [] (:n row))] (f))", "n");
    check("{:id (:id data/row)}", "id");
    check("(if (:open data/row) (:id data/row) 0)", "open{} id");
    check("(nil? (:id data/row))", "id{}");
    check("1", "");
}

#[test]
fn functions_of_the_program_are_followed() {
    check("(defn net [row] (* (:price row) (:amount row))) (net data/row)", "price amount");
    check("(defn of [row] (:of row)) (:amount (of data/row))", "of{amount}");
    check("(defn f [row n] (if (pos? n) (f row (dec n)) (:id row))) (f data/row 3)", "*");
    check("(def f (fn [row] (:a row))) (def f (fn [row] (:b row))) (f data/row)", "*");
}

#[test]
fn a_record_that_goes_anywhere_is_used_in_full() {
    for source in [
        "data/row",
        "(count data/row)",
        "(assoc data/row :n 1)",
        "[(:a data/row) data/row]",
        "(get data/row (:key data/row))",
        "(def saved data/row) (:id saved)",
        "(map :id [data/row])",
        "((fn [r] (:a r)) data/row)",
        "(let [r (or nil data/row)] (keys r))",
        "(loop [r data/row n 0] (if (> n 3) 1 (recur data/row (inc n))))",
        "(return data/row)",
        "(fail data/row)",
        "(try (throw data/row) (catch e 1))",
        "(doseq [[k v] data/row] (println k))",
        "(defn f [] data/row) (:a (f))",
        "(let [f (fn [] data/row)] (f))",
        "(-> data/row vals first)",
        "(#(:a %) data/row)",
        "(juxt (constantly data/row))",
        "(tool/send data/row)",
        "(defn f [& rows] (:a (first rows))) (f data/row)",
        "(= data/row {})",
        "(:a data/row 1 2",
    ] {
        check(source, "*");
    }
}

#[test]
fn the_record_of_a_fold() {
    check_step("(def init 0) (defn step [sum row] (+ sum (:n row))) (defn combine [a b] (+ a b))", "n");
    check_step(
        "(defn step [sums {:keys [country lines]}] (update sums country (fnil + 0) lines))",
        "country lines",
    );
    check_step("(defn step [all row] (conj all row))", "*");
    check_step("(defn step [n & rows] n)", "*");
    check_step("(def step (comp inc first))", "*");
    check_step("(defn step [n row] (if (:open row) (inc n) n))", "open{}");
    check_step("(def init 0)", "*");
    check_step("(def step +) (defn step [n row] (:n row))", "*");
}

#[test]
fn long_and_deep_programs_use_everything() {
    let deep = format!("{}(:a data/row){}", "(inc ".repeat(190), ")".repeat(190));
    assert_eq!(shown(&projections(&deep, &Scope::default(), &Default::default()).data("row")), "*");
    let many: String = (0..40).map(|n| format!("(defn f{} [r] (f{n} r) (f{n} r)) ", n + 1)).collect();
    check(&format!("(defn f0 [r] (:a r)) {many} (f40 data/row)"), "*");
}

#[test]
fn conditions_of_filters() {
    let shown = |source: &str| {
        let found = conditions(source, &Scope::default(), &Default::default(), "row", |name| name == "n");
        let one =
            |found: &super::Condition| format!("{} {:?} {:?}", found.member.name, found.order, found.literal);
        found.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(shown("(when (> (:n data/row) 5) data/row)"), "n Greater Int(5)");
    assert_eq!(shown("(if (<= 5 (get data/row \"n\")) 1 nil)"), "n GreaterOrEqual Int(5)");
    let both = "n Less Int(5), c Equal Text(\"NO\")";
    assert_eq!(shown("(let [{:keys [n c]} data/row] (when (and (< n 5) (= c \"NO\")) n))"), both);
    assert_eq!(shown("(when (> (:n data/row) 5.5) 1)"), "n Greater Float(5.5)");
    assert_eq!(shown("(when (and (< data/n 5) (= \"NO\" (data/row :c))) 1)"), "n Less Int(5)");
    assert_eq!(shown("(when (and (< (:n data/row) 5) (f 1) (= (:c data/row) 1)) 1)"), "");
    for none in [
        "(when (> (:n data/row 0) 5) 1)",
        "(if (> (:n data/row) 5) 1 2)",
        "(when-not (> (:n data/row) 5) 1)",
        "(println 1) (when (> (:n data/row) 5) 1)",
        "(let [m (inc (:m data/row))] (when (> (:n data/row) 5) m))",
        "(when (> (:n data/other) 5) 1)",
        "(when (> (:n data/row) \"a\") 1)",
        "(when (or (> (:n data/row) 5) true) 1)",
        "(when (> (:n (:of data/row)) 5) 1)",
    ] {
        assert_eq!(shown(none), "", "{none}");
    }
}
