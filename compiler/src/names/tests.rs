use super::{Names, names};
use crate::meter::Meter;
use ptc_bytecode::Limits;

fn of(text: &str) -> Names {
    let limits = Limits::default();
    names(text, &limits, &Meter::new(&limits, &|| false))
}

/// Returns the text with every place of the name at `‸` in `«»`.
fn marked(text: &str) -> String {
    let at = text.find('‸').expect("a cursor");
    let text = text.replace('‸', "");
    let names = of(&text);
    let Some(found) = names.at(at as u32) else { return "no name".to_string() };
    let mut out = String::new();
    let mut end = 0;
    for span in names.uses_of(found.meaning) {
        out += &format!("{}«{}»", &text[end..span.start as usize], span.text(&text));
        end = span.end as usize;
    }
    out + &text[end..]
}

#[test]
fn every_place_of_a_name_and_no_other() {
    for (text, wanted) in [
        ("(let [‸x 1 y x] (let [x 2] x) (+ x y))", "(let [«x» 1 y «x»] (let [x 2] x) (+ «x» y))"),
        ("(let [x 1] (let [x 2] ‸x) x)", "(let [x 1] (let [«x» 2] «x») x)"),
        ("(defn f [a & b] (f a b)) (‸f 1)", "(defn «f» [a & b] («f» a b)) («f» 1)"),
        (
            "(def x 1) (def x (inc x‸)) [x #'x 'x :x \"x\"]",
            "(def «x» 1) (def «x» (inc «x»)) [«x» #'«x» 'x :x \"x\"]",
        ),
        ("(fn g [n] (if n (g‸ n) n))", "(fn «g» [n] (if n («g» n) n))"),
        ("(loop [[a b] [1 2] c a] (recur [b a‸] c))", "(loop [[«a» b] [1 2] c «a»] (recur [b «a»] c))"),
        ("(let [{:keys [a] :or {a 1} b :b} {}] [a‸ b])", "(let [{:keys [«a»] :or {«a» 1} b :b} {}] [«a» b])"),
        ("(for [x xs :let [y x‸] :when y] [x y])", "(for [«x» xs :let [y «x»] :when y] [«x» y])"),
        ("(try 1 (catch Exception ‸e (ex-message e)))", "(try 1 (catch Exception «e» (ex-message «e»)))"),
        ("(as-> 1 ‸v (inc v) (dec v))", "(as-> 1 «v» (inc «v») (dec «v»))"),
        ("(-> ‸x (assoc :a x))", "no name"),
        ("(let [x 1] (->> [1] (map (fn [y] (+ ‸x y)))))", "(let [«x» 1] (->> [1] (map (fn [y] (+ «x» y)))))"),
        ("(defn f ([‸a] a) ([a b] [a b]))", "(defn f ([«a»] «a») ([a b] [a b]))"),
        ("(doseq [p [1]] (println ‸p)) (let [p 2] p)", "(doseq [«p» [1]] (println «p»)) (let [p 2] p)"),
        ("(declare g‸) (defn f [] (g)) (defn g [] 1)", "(declare «g») (defn f [] («g»)) (defn «g» [] 1)"),
        ("(let [é 1] [‸é 2])", "no name"),
        // Definitions of preludes see each other in any order, those of programs do not.
        ("(ns a) (defn f [] (‸g)) (defn- g [] (f))", "(ns a) (defn f [] («g»)) (defn- «g» [] (f))"),
        ("(ns a) (defn f [] 1) (ns b) (defn f [] (‸f))", "(ns a) (defn f [] 1) (ns b) (defn «f» [] («f»))"),
        ("(ns a) (defn ^{:effect :read} f [] (f‸))", "(ns a) (defn ^{:effect :read} «f» [] («f»))"),
        ("(ns a) (defn f [x] (def y x) (+ y‸ 1))", "(ns a) (defn f [x] (def «y» x) (+ «y» 1))"),
        ("(deftest t (let [‸x 1] (is (= x 1))))", "(deftest t (let [«x» 1] (is (= «x» 1))))"),
        // With errors elsewhere, and in the form itself.
        ("(let [x 1] (nope x) (‸x", "(let [«x» 1] (nope «x») («x»"),
        ("(let [x 1 y] x) (def ‸z 1) (inc z)", "(let [x 1 y] x) (def «z» 1) (inc «z»)"),
    ] {
        assert_eq!(marked(text), wanted, "{text}");
    }
}

#[test]
fn locals_are_those_of_the_forms_around_the_cursor() {
    for (text, wanted) in [
        ("(defn f [a {:keys [b] :as c}] ‸)", "a b c"),
        ("(defn f ([a] 1) ([b c] ‸))", "b c"),
        ("(let [a 1] (let [b 2] b) ‸", "a"),
        ("(map (fn [x] (let [y x] (‸", "x y"),
        ("(let [a 1] a) ‸", ""),
        ("#(+ % ‸)", ""),
    ] {
        let at = text.find('‸').expect("a cursor") as u32;
        let text = text.replace('‸', "");
        let names = of(&text);
        let found: Vec<&str> = names.locals_at(at).map(|span| span.text(&text)).collect();
        assert_eq!(found.join(" "), wanted, "{text}");
    }
}

#[test]
fn other_namespaces_by_alias_and_referred_names() {
    let names =
        of("(ns a (:require [crm :as c :refer [find]] [clojure.string :as s])) (defn f [] (c/get 1))");
    assert_eq!((names.in_full("c/get"), names.in_full("find")), ("crm/get".into(), "crm/find".into()));
    assert_eq!((names.namespace("s"), names.in_full("map")), ("clojure.string", "map".into()));
    assert_eq!(of("(require '[crm :as c]) (c/x)").namespace("c"), "crm");
}

#[test]
fn a_name_that_is_a_key_is_told_apart() {
    let names = of("(let [{:keys [a] b :b :strs [c]} {}] [a b c])");
    let keys: Vec<bool> =
        [14, 17, 29].into_iter().map(|at| names.is_key(names.at(at).expect("a name").span)).collect();
    assert_eq!(keys, [true, false, true]);
}

/// Hostile texts take no more than their length.
#[test]
fn any_text_has_names_soon() {
    for text in [
        "(",
        "\"",
        "((((((",
        "(let [",
        ")))",
        "{:or {",
        "(ns",
        "(ns a) (defn",
        "(deftest)",
        "#(%",
        "\u{feff}(def x",
    ] {
        of(text);
        of(&text.repeat(20_000));
    }
    let many = format!("(fn [{}] 1)", "x ".repeat(100_000));
    of(&many);
    of(&"(let [x 1] ".repeat(60));
}
