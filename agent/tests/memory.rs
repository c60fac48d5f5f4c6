//! Sizes of definitions.
#![allow(missing_docs)]

use ptc_agent::memory::{size, total};
use ptc_runtime::{Frozen, Runtime, Session};

const MOST: u64 = 10_000_000;

fn session() -> Session {
    Runtime::with_core(ptc_preludes::core()).expect("the core library").session()
}

fn of(source: &str) -> u64 {
    size(&session().eval(source).expect(source).freeze(), MOST)
}

#[test]
fn every_kind_of_value_has_its_size() {
    let rows = [
        ("0", 2),
        ("255", 2),
        ("256", 5),
        ("-1", 5),
        ("2147483647", 5),
        ("-2147483648", 5),
        ("2147483648", 3 + 4),
        ("1099511627776", 3 + 6),
        ("-9223372036854775808", 3 + 8),
        ("(* 9223372036854775807 2)", 3 + 8),
        ("(* 9223372036854775807 9223372036854775807)", 3 + 16),
        ("1.0", 9),
        ("\"\"", 5),
        ("\"näh\"", 5 + 4),
        (":key", 2 + 3),
        ("nil", 5),
        ("true", 6),
        ("false", 7),
        ("[]", 6),
        ("[1 2]", 6 + 2 + 2),
        ("(range 3)", 6 + 3 * 2),
        ("#{1}", 6 + 2),
        ("{}", 5),
        ("{:a 1 \"b\" [nil]}", 5 + 3 + 2 + 6 + 6 + 5),
        ("(into {} (map (fn [n] [n n]) (range 100)))", 5 + 100 * 4),
        ("inc", 2 + 3),
    ];
    for (source, bytes) in rows {
        assert_eq!(of(source), 1 + bytes, "{source}");
    }
}

#[test]
fn the_size_does_not_depend_on_how_a_value_was_made() {
    let pairs = [
        ("[1 2 3]", "(conj [1 2] 3)"),
        ("[1 2 3]", "(rest [0 1 2 3])"),
        ("[0 1 2]", "(range 3)"),
        ("{:a 1}", "(dissoc {:a 1 :b 2} :b)"),
        ("[[1] [1]]", "(let [x [1]] [x x])"),
        ("\"ab\"", "(str \"a\" \"b\")"),
    ];
    for (a, b) in pairs {
        assert_eq!(of(a), of(b), "{a} and {b}");
    }
}

#[test]
fn functions_count_their_source_and_what_they_captured() {
    let small = of("(fn [x] (+ x 1))");
    let longer = of("(fn [x] (+ x 1 (* x x) (- x 7) (count [x x x])))");
    assert!(longer > small + 20, "{small} {longer}");
    let captured = of("(let [text (apply str (repeat 1000 \"x\"))] (fn [n] (take n text)))");
    assert!(captured > 1000, "{captured}");
    let mut session = session();
    session.eval("(def big (vec (range 1000))) (defn f [] (count big))").expect("defined");
    let f = size(session.definition("f").expect("defined"), MOST);
    assert!(f < 100, "a definition it uses is counted where it is defined: {f}");
}

#[test]
fn shared_parts_count_each_time_and_cannot_hang() {
    // 2^60 ones in a few hundred bytes.
    let bomb = session().eval("(reduce (fn [x _] [x x]) [1] (range 60))").expect("small").freeze();
    assert!(bomb.bytes() < 10_000);
    let found = size(&bomb, 1_048_576);
    assert!(found > 1_048_576 && found < 1_048_700, "{found}");
    assert_eq!(size(&bomb, 1_048_576), found, "the same each time");
    assert_eq!(of("(reduce (fn [x _] [x x]) [1] (range 3))"), 1 + 7 * 6 + 8 * 8);
}

#[test]
fn deep_values_need_no_stack() {
    let deep = session().eval("(reduce (fn [x _] [x]) nil (range 100000))").expect("deep").freeze();
    assert_eq!(size(&deep, MOST), 1 + 100_000 * 6 + 5);
    let maps = session().eval("(reduce (fn [x _] {:k x}) nil (range 50000))").expect("deep").freeze();
    assert_eq!(size(&maps, MOST), 1 + 50_000 * 8 + 5);
}

#[test]
fn a_limit_is_exact() {
    let value = session().eval("[1 2 3 \"four\"]").expect("small").freeze();
    let whole = size(&value, MOST);
    assert_eq!(size(&value, whole), whole);
    assert!(size(&value, whole - 1) > whole - 1);
    assert!(size(&value, 0) > 0);
    assert_eq!(size(&value, u64::MAX), whole);
}

#[test]
fn endless_sequences_have_a_size() {
    for source in ["(iterate inc 0)", "(repeat \"x\")", "(cycle [1 2])", "(map inc (range))"] {
        let found = of(source);
        assert!(found > 1 && found < 1000, "{source} {found}");
    }
}

#[test]
fn a_map_of_definitions_is_counted_as_one() {
    let mut session = session();
    session.eval("(def a 1) (def rows [1 2])").expect("defined");
    let names: Vec<String> = session.defined().map(str::to_string).collect();
    let all = |session: &Session| -> Vec<(String, Frozen)> {
        let value = |name: &String| (name.clone(), session.definition(name).expect("defined").clone());
        names.iter().map(value).collect()
    };
    let defs = all(&session);
    let found = total(defs.iter().map(|(name, value)| (name.as_str(), value)), MOST);
    assert_eq!(found, 1 + 5 + (2 + 1 + 2) + (2 + 4 + 10));
    assert!(total(defs.iter().map(|(name, value)| (name.as_str(), value)), 8) > 8);
}
