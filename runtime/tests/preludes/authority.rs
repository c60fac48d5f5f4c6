//! The authority of each export is derived from its code, through any path of calls.

use super::common::*;

/// Returns the requirements, tool references and dynamic flag of `a/f` with this body.
fn facts(body: &str) -> (Vec<String>, Vec<String>, bool) {
    let source = format!(
        "(ns a) (defn- helper [x] (tool/helped {{:x x}})) (defn- pure [x] x) (def maps [{{:server \"k\" :tool \"k\"}}]) \
         (defn f [x xs server] {body})"
    );
    let f = export(&source, "a/f");
    (f.requires, f.tool_refs, f.dynamic)
}

fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| item.to_string()).collect()
}

#[test]
fn literal_upstream_calls_in_every_form() {
    let found = (strings(&["upstream:s/t"]), strings(&["call"]), false);
    for body in [
        r#"(tool/call {:server "s" :tool "t" :args {:x x}})"#,
        r#"(tool/call {"server" "s" "tool" "t"})"#,
        r#"(tool/call '{:server "s" :tool "t"})"#,
        r#"(tool/call 's/t {:x x})"#,
        r#"(tool/call 's/t)"#,
        r#"(tool/call :server "s" :tool "t" :args {:x x})"#,
        r#"(map (fn [y] (tool/call {:server "s" :tool "t" :args {:y y}})) xs)"#,
        r#"(pmap #(tool/call {:server "s" :tool "t" :args {:y %}}) xs)"#,
        r#"(pcalls #(tool/call {:server "s" :tool "t"}))"#,
        r#"(map tool/call [{:server "s" :tool "t"} {:server "s" :tool "t" :args {:x x}}])"#,
        r#"(mapv tool/call [{:server "s" :tool "t" :args {:x x}}])"#,
        r#"(pmap tool/call [{:server "s" :tool "t" :args {:x x}}])"#,
        r#"(let [c tool/call] (c {:server "s" :tool "t"}))"#,
        r#"(let [c tool/call d c] (mapv d [{:server "s" :tool "t"}]))"#,
        r#"(let [c tool/call] (fn [] (c {:server "s" :tool "t"})))"#,
        r#"(-> {:server "s" :tool "t"} tool/call :value)"#,
        r#"[(tool/call {:server "s" :tool "t"})]"#,
        r#"{:k (tool/call {:server "s" :tool "t"})}"#,
        r#"{(tool/call {:server "s" :tool "t"}) 1}"#,
        r#"#{(tool/call {:server "s" :tool "t"})}"#,
        r#"(for [y xs :when (tool/call {:server "s" :tool "t"})] y)"#,
        r#"(for [y xs :let [z (tool/call {:server "s" :tool "t"})]] z)"#,
        r#"(doseq [y (tool/call {:server "s" :tool "t"})] y)"#,
        r#"(loop [i 0] (if (tool/call {:server "s" :tool "t"}) (recur i) i))"#,
        r#"(letfn [(g [] (tool/call {:server "s" :tool "t"}))] (g))"#,
        r#"(cond-> 1 x (do (tool/call {:server "s" :tool "t"})))"#,
        r#"(if x (return (tool/call {:server "s" :tool "t"})) (fail 1))"#,
    ] {
        assert_eq!(facts(body), found, "{body}");
    }
}

#[test]
fn calls_nested_in_the_arguments_of_another() {
    let body = r#"(tool/call {:server "s" :tool "t" :args {:id (tool/call {:server "u" :tool "v" :args {:k (tool/fetch {})}})}})"#;
    assert_eq!(
        facts(body),
        (strings(&["tool:fetch", "upstream:s/t", "upstream:u/v"]), strings(&["call", "fetch"]), false)
    );
}

#[test]
fn calls_that_only_a_run_knows() {
    let found = (vec![], strings(&["call"]), true);
    for body in [
        r#"(tool/call {:server server :tool "t"})"#,
        r#"(tool/call {:server "s" :tool (str x)})"#,
        "(tool/call x)",
        "(map tool/call xs)",
        "(map tool/call maps)",
        "(apply tool/call xs)",
        "tool/call",
        "(let [c tool/call] c)",
        r#"(tool/call {:server "" :tool "t"})"#,
        r#"(tool/call {:server "a/b" :tool "t"})"#,
        r#"(tool/call (merge {:server "s" :tool "t"} x))"#,
    ] {
        assert_eq!(facts(body), found, "{body}");
    }
}

#[test]
fn typed_tools_in_every_position() {
    let found = (strings(&["tool:fetch"]), strings(&["fetch"]), false);
    for body in [
        "(tool/fetch {:x x})",
        "(map tool/fetch xs)",
        "(let [f tool/fetch] (f {}))",
        "(let [f tool/fetch] f)",
        "[tool/fetch]",
        "(fn [] (tool/fetch {}))",
        "(call \"fetch\" {:x 1})",
    ] {
        assert_eq!(facts(body), found, "{body}");
    }
    assert_eq!(facts("(tool/servers)"), (vec![], vec![], false));
}

#[test]
fn siblings_in_every_position() {
    let found = (strings(&["tool:helped"]), strings(&["helped"]), false);
    for body in [
        "(helper x)",
        "(map helper xs)",
        "(let [h helper] (h x))",
        "(pmap helper xs)",
        "[helper]",
        "#(helper %)",
        "(let [g (fn [] (helper 1))] (g))",
        "(reduce (fn [a b] (helper b)) 0 xs)",
        "(-> x helper)",
    ] {
        assert_eq!(facts(body), found, "{body}");
    }
    assert_eq!(facts("(pure x)"), (vec![], vec![], false));
}

#[test]
fn locals_that_share_a_name_are_not_the_sibling() {
    for body in [
        "(let [helper inc] (helper x))",
        "((fn [helper] (helper 1)) inc)",
        "(loop [helper 1] helper)",
        "(for [helper xs] helper)",
        "(doseq [helper xs] helper)",
        "(let [{:keys [helper]} x] helper)",
        "(let [[helper] xs] helper)",
        "(do (def helper 1) helper)",
        "(comment (helper 1) (tool/fetch {}))",
        "'(helper (tool/fetch {}))",
        "(quote tool/fetch)",
    ] {
        assert_eq!(facts(body), (vec![], vec![], false), "{body}");
    }
}

#[test]
fn cycles_are_followed_once() {
    let source = "(ns a) (defn f [] (g)) (defn- g [] (tool/x {}) (h)) (defn- h [] (f)) (defn other [] 1)";
    assert_eq!(export(source, "a/f").requires, ["tool:x"]);
    assert!(export(source, "a/other").requires.is_empty());
}

/// Long chains and wide fans are followed in linear time.
#[test]
fn long_chains_are_followed() {
    let chain: String = (1..1_500).map(|i| format!("(defn f{i} [x] (f{} x))", i - 1)).collect();
    let source = format!("(ns a) (defn f0 [x] (tool/t {{:x x}})) {chain}");
    let prelude = compiled(&source);
    assert!(prelude.exports().iter().all(|export| export.requires == ["tool:t"]));
    let many: String = (0..5_000).map(|i| format!("(defn f{i} [] 1)")).collect();
    let (reason, message) = refused(&format!("(ns a) {many}"));
    assert_eq!(reason, "compile_error");
    assert!(message.contains("at most 4096"), "{message}");
}

#[test]
fn provider_ref_is_the_only_operation_of_the_own_body() {
    let source = r#"(ns a) (defn- low [] (tool/call {:server "s" :tool "low"}))
        (defn one [] (tool/call {:server "s" :tool "one"}) (low))
        (defn in-closure [xs] (map (fn [x] (tool/call {:server "s" :tool "one"})) xs))
        (defn two [] (tool/call {:server "s" :tool "a"}) (tool/call {:server "s" :tool "b"}))
        (defn through [] (low)) (defn none [] 1)"#;
    let provider = |name: &str| export(source, name).provider_ref;
    assert_eq!(provider("a/one").as_deref(), Some("upstream:s/one"));
    assert_eq!(provider("a/in-closure").as_deref(), Some("upstream:s/one"));
    assert_eq!((provider("a/two"), provider("a/through"), provider("a/none")), (None, None, None));
    assert_eq!(export(source, "a/one").requires, ["upstream:s/low", "upstream:s/one"]);
    let effect = |name: &str| export(source, name).effect.name();
    assert_eq!((effect("a/one"), effect("a/through"), effect("a/none")), ("unknown", "unknown", "pure"));
}

#[test]
fn constants_and_data() {
    let source =
        "(ns a) (def tools {:f tool/fetch}) (defn f [] (:f tools)) (defn g [] [data/rows data/other-rows])";
    assert_eq!(export(source, "a/tools").requires, ["tool:fetch"]);
    assert_eq!(export(source, "a/f").requires, ["tool:fetch"]);
    assert_eq!(export(source, "a/g").data_keys, ["other-rows", "rows"]);
}

#[test]
fn what_a_literal_call_sends() {
    let source = r#"(ns a) (defn f [x] (tool/call {:server "s" :tool "t" :args {:user-id x}}))
        (defn g [x] (tool/call 's/t {:user-id x})) (defn h [x] (tool/call :server "s" :tool "t" :args {:user-id x}))
        (defn p [xs] (pmap tool/call [{:server "s" :tool "t" :args {:user-id (first xs)}} {:server "s" :tool "u"}]))"#;
    let asked = r#"{"args" {"user_id" 7} "server" "s" "tool" "t"}"#;
    for call in ["(a/f 7)", "(a/g 7)", "(a/h 7)", "(first (a/p [7]))"] {
        let found = value(source, &format!("(into (sorted-map) (:value {call}))"));
        assert_eq!(found, asked, "{call}");
    }
    assert_eq!(value(source, "(map #(get-in % [:value :tool]) (a/p [7]))"), "[\"t\" \"u\"]");
}
