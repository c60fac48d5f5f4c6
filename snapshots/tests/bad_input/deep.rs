//! Data nested 300,000 levels deep, on a stack far too small for recursion.

use super::{Victim, on_a_small_stack};
use ptc_runtime::{Grants, Limits};
use ptc_snapshots::is_stress;

const DEEP: &[(&str, &str)] = &[
    ("[]", "(fn [v _] [v])"),
    ("{}", "(fn [v _] {:a v})"),
    ("#{}", "(fn [v _] #{v})"),
    ("{}", "(fn [v _] {v 1})"),
];

/// Limits for two equal values built separately, which need more than the default.
const ROOMY: Limits = Limits {
    memory_bytes: 200_000_000,
    granted_bytes: 512_000_000,
    timeout_ms: 20_000,
    result_bytes: 8_000_000,
    ..Limits::DEFAULT
};

fn nested(start: &str, wrap: &str) -> String {
    format!("(reduce {wrap} {start} (range 300000))")
}

#[test]
fn built_within_the_default_memory() {
    if is_stress() {
        return;
    }
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits { timeout_ms: 20_000, ..Limits::default() });
        let source = nested("[]", "(fn [v _] [v])");
        let told = victim.tell(&source);
        assert_eq!(told, format!("{}{}", "[".repeat(300_001), "]".repeat(300_001)));
    });
}

#[test]
fn printed_compared_hashed_and_copied() {
    if is_stress() {
        return;
    }
    on_a_small_stack(|| {
        for (start, wrap) in DEEP {
            let mut victim = Victim::new(ROOMY);
            let deep = nested(start, wrap);
            victim.tell(&format!("(def deep {deep}) :made"));
            victim.gives(&format!("(def other {deep}) :made"), ":made");
            victim.gives("(= deep other)", "true");
            victim.gives("(= deep [other])", "false");
            victim.gives(
                "[(get {deep 1} other) (contains? #{deep} other) (count (distinct [deep other]))]",
                "[1 true 1]",
            );
            victim.gives("(count (group-by identity [deep other deep]))", "1");
            victim.gives("(compare deep other)", "0");
            victim.gives("(count (sort [deep other]))", "2");
            assert!(victim.tell("(count (str deep))").parse::<usize>().is_ok());
            assert!(victim.tell("(count (pr-str [deep other]))").parse::<usize>().is_ok());
            victim.tell("(println deep)");
            victim.gives("(count (pmap (fn [x] [x deep]) [1 2 3]))", "3");
            victim.gives("(count (map (fn [x] [x deep]) [1 2 3]))", "3");
            // Passed to a tool and back, and on to the next turn.
            let told = victim.tell("(def echoed (:x (tool/echo {:x deep}))) :made");
            assert_eq!(told, ":made");
            victim.tell("(= echoed deep)");
            victim.tell("deep");
            victim.tell("*1");
            victim.tell("(flatten deep)");
            victim.tell("(postwalk identity deep)");
            victim.tell("(prewalk identity deep)");
            victim.tell("(tree-seq coll? seq deep)");
            victim.tell("(keywordize-keys deep)");
            victim.tell("(fail deep)");
            victim.tell("(return deep)");
            victim.tell("(deep deep)");
            victim.tell("(+ 1 deep)");
            victim.tell("(tool/echo deep)");
            victim.tell("(tool/echo {deep 1})");
            victim.tell("(get-in deep (repeat 300000 :a))");
            victim.tell("(assoc-in {} (repeat 300000 :a) 1)");
            victim.gives("(= deep other)", "true");
        }
    });
}

#[test]
fn turned_into_what_the_host_wants() {
    if is_stress() {
        return;
    }
    on_a_small_stack(|| {
        let mut session = super::limited(Limits { result_bytes: 64_000_000, ..ROOMY }).session();
        for (start, wrap) in DEEP {
            let outcome = session.eval(&nested(start, wrap)).expect("a value");
            let _ = outcome.print();
            let _ = outcome.json();
            let datum = outcome.datum().expect("data");
            assert!(datum == datum.clone() && datum.nodes().len() > 300_000);
            let frozen = outcome.freeze();
            assert!(outcome.get::<serde_json::Value>().is_err(), "recursive data of serde has no room");
            let _ = outcome.get::<Vec<String>>();
            let grants = Grants::new().frozen("deep", frozen);
            session = session.with_grants(grants);
            assert!(session.eval("(= data/deep *1)").is_ok());
            assert!(session.eval("(+ data/deep 1)").is_err());
        }
    });
}

#[test]
fn granted_as_json() {
    on_a_small_stack(|| {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            for depth in [300_000, 3_000_000] {
                let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
                if let Ok(grants) = Grants::new().json("deep", &text) {
                    let mut session = super::limited(ROOMY).session().with_grants(grants);
                    let told = session.eval("(= data/deep data/deep)").map(|outcome| outcome.print());
                    assert_eq!(told.expect("a value").expect("prints"), "true");
                }
                assert!(Grants::new().json("deep", &text[..text.len() - 1]).is_err());
                assert!(Grants::new().json("deep", &open.repeat(depth)).is_err());
            }
        }
    });
}
