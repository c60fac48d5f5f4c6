//! A program is committed as a whole or not at all, and the reply says which.

use crate::world::{World, debug, refused, slim, structured};
use ptc_mcp::Reason;
use serde_json::json;

#[test]
fn definitions_results_and_prints_are_kept() {
    let world = World::new();
    let id = world.begin();
    world.value(&id, "(def n 2) (defn twice [x] (* n x))");
    let payload = world.eval(&id, "(println \"hi\") (let [hidden 5] (twice hidden))");
    let shown = debug(&payload);
    assert_eq!((&shown["status"], &shown["result"]), (&json!("ok"), &json!("user=> 10")));
    assert_eq!(shown["prints"], json!(["hi"]));
    assert_eq!(shown["session"]["turn"], 2);
    assert_eq!(shown["session"]["binding_count"], 2);
    assert_eq!(shown["session"]["session_id"], json!(id));
    assert_eq!(shown["memory"]["changed_keys"], json!([]));
    assert_eq!(shown["memory"]["stored_keys"], json!(["n", "twice"]));
    assert_eq!((&shown["memory"]["truncated"], &shown["truncated"]), (&json!(false), &json!(false)));
    world.value(&id, "7");
    assert_eq!(world.value(&id, "[*1 *2 *3]"), "[7 10 #'twice]");
    assert!(world.eval(&id, "hidden").is_error());
}

#[test]
fn an_error_keeps_nothing() {
    let world = World::with(|settings| settings.program_memory_limit_bytes = Some(1 << 20));
    let id = world.begin();
    world.value(&id, "(def n 1)");
    let schema = json!({"type": "string"});
    let failures = [
        (world.eval(&id, "(def n 2) (println 9) (+ 1 nil)"), Reason::RuntimeError),
        (world.eval(&id, "(def n 2) (fail {:why :none})"), Reason::Fail),
        (world.eval(&id, "(def n 2"), Reason::ParseError),
        (world.eval(&id, "(def n 2) (loop [] (recur))"), Reason::Timeout),
        (world.eval(&id, "(def n 2) (reduce conj [] (range 100000000))"), Reason::MemoryLimit),
        (
            world.eval_args(json!({"session_id": id, "program": "(def n 2)", "output_schema": schema})),
            Reason::ValidationError,
        ),
    ];
    for (payload, reason) in &failures {
        refused(payload, *reason);
        let shown = debug(payload);
        assert_eq!((&shown["session"]["turn"], &shown["session"]["binding_count"]), (&json!(1), &json!(1)));
        assert!(shown.get("memory").is_none());
        assert!(slim(payload).ends_with("\n[rolled back]"), "{}", slim(payload));
        assert!(!slim(payload).contains("\n\n[rolled back]"), "{}", slim(payload));
    }
    assert_eq!(debug(&failures[0].0)["prints"], json!(["9"]));
    assert_eq!(world.value(&id, "[n *1]"), "[1 #'n]");
    assert_eq!(world.view(&id, "prints")["prints"], json!([]));
    // Turns count commits, attempts count programs.
    let overview = world.inspect(json!({"session_id": id}));
    assert_eq!((&overview["session"]["turn"], &overview["attempts"]), (&json!(2), &json!(8)));
}

#[test]
fn reasons_are_of_the_table_and_the_engines_own_stand_beside() {
    let world = World::new();
    let id = world.begin();
    let unbound = structured(&world.eval(&id, "(nope 1)"));
    assert_eq!(unbound["reason"], "runtime_error");
    assert!(unbound["detail_reason"].is_string(), "{unbound}");
    let arity = structured(&world.eval(&id, "((fn [x] x))"));
    assert_eq!(
        (&arity["reason"], &arity["detail_reason"]),
        (&json!("runtime_error"), &json!("arity_mismatch"))
    );
    assert!(structured(&world.eval(&id, "(fail 1)")).get("detail_reason").is_none());
    for payload in [unbound, arity] {
        for key in ["status", "message", "feedback", "session"] {
            assert!(!payload[key].is_null(), "{key}");
        }
    }
}

#[test]
fn the_text_ends_with_what_became_of_the_session() {
    let world = World::new();
    let id = world.begin();
    assert_eq!(slim(&world.eval(&id, "(def b 1) (def a 2)")), "user=> #'a\n[stored: a, b]");
    assert_eq!(slim(&world.eval(&id, "(+ a b)")), "user=> 3");
    assert_eq!(slim(&world.eval(&id, "(def c nil) nil")), "[stored: c]");
}

#[test]
fn values_of_definitions_are_for_the_full_view() {
    let world = World::with(|settings| settings.max_session_preview_chars = 40);
    let id = world.begin();
    let payload = world.eval(&id, "(def n 7) (def many (vec (range 100))) (def _secret 1) n");
    let shown = debug(&payload);
    assert_eq!(shown["memory"]["changed"]["n"], "7");
    assert_eq!(shown["memory"]["truncated"], true);
    assert!(shown["memory"]["changed"]["many"].as_str().unwrap().chars().count() <= 60);
    assert_ne!(shown["memory"]["changed"]["_secret"], "1");
    let compact = structured(&payload);
    assert_eq!(compact["memory"]["changed_keys"].as_array().unwrap().len(), 3);
    assert!(compact["memory"].get("changed").is_none());
    assert_eq!(compact["session"]["turn"], 1);
}

#[test]
fn a_schema_is_checked_before_anything_is_kept() {
    let world = World::new();
    let id = world.begin();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let args = json!({"session_id": id, "program": "(def a 1) {:n data/k}", "context": {"k": 4}, "output_schema": schema});
    let payload = world.eval_args(args);
    assert_eq!(debug(&payload)["validated"], json!({"n": 4}));
    assert_eq!(world.value(&id, "a"), "1");
    // Data belongs to one program only.
    assert!(world.eval(&id, "data/k").message.contains("data/k"));
}

#[test]
fn arguments_are_checked_before_the_session_is_reserved() {
    let world = World::new();
    let id = world.begin();
    let told = |args| world.eval_args(args);
    let missing = refused(&told(json!({"program": "1"})), Reason::SessionArgsError);
    assert!(missing.contains("`session_id` is required"));
    let blank = refused(&told(json!({"session_id": id, "program": " "})), Reason::ArgsError);
    assert!(blank.contains("non-empty"));
    let unknown = refused(&told(json!({"session_id": id, "program": "1", "contxt": {}})), Reason::ArgsError);
    assert!(unknown.contains("did you mean `context`?"));
    let signature = json!({"session_id": id, "program": "1", "signature": "x"});
    assert!(refused(&told(signature), Reason::ArgsError).contains("output_schema"));
    assert_eq!(world.inspect(json!({"session_id": id}))["attempts"], 0);
}

#[test]
fn a_long_result_comes_with_advice() {
    let world = World::new();
    let id = world.begin();
    assert!(!world.eval(&id, "(range 2000)").truncated);
    let payload = world.eval(&id, "{:a (vec (repeat 4 (apply str (repeat 9000 \"x\")))) :b 1}");
    assert!(payload.truncated);
    assert!(debug(&payload)["feedback"].as_str().unwrap().contains("(describe *1)"));
    let fetch = structured(&payload)["fetch"].as_str().unwrap().to_string();
    assert_eq!(fetch, "(subs (get-in *1 [:a 0]) 4096)");
    assert!(slim(&payload).contains(&format!("\n; more: {fetch}\n")), "{}", slim(&payload));
    assert_eq!(world.value(&id, &fetch), format!("\"{}\"", "x".repeat(4904)));
    assert!(!world.eval(&id, "(describe *1)").is_error());
    assert_eq!(world.eval(&id, "1").feedback, "");
}

#[test]
fn many_maps_come_with_better_advice_if_asked_for() {
    let world = World::with(|settings| settings.collection_hint = true);
    let id = world.begin();
    let rows = "(vec (map (fn [i] {:id i :name (str \"row\" i)}) (range 30)))";
    let named = world.eval(&id, &format!("(def rows {rows})"));
    assert!(named.feedback.contains("(describe rows {:paths true})"), "{}", named.feedback);
    let value = world.eval(&id, rows);
    assert!(value.feedback.contains("(describe *1 {:paths true})"), "{}", value.feedback);
    assert!(!world.eval(&id, "(describe rows {:paths true})").is_error());
    assert!(!world.eval(&id, "(take 19 rows)").feedback.contains(":paths"));
    let plain = World::new();
    let id = plain.begin();
    assert!(!plain.eval(&id, rows).feedback.contains(":paths"));
}

#[test]
fn warnings_come_with_what_was_kept() {
    let world = World::new();
    let id = world.begin();
    let payload = world.eval(&id, "(def n 2))");
    let text = slim(&payload);
    assert!(
        text.starts_with("user=> #'n\n; warning[W1001] surplus_bracket: this `)` closes nothing"),
        "{text}"
    );
    assert!(text.ends_with("\n[stored: n]"), "{text}");
    let warnings = &structured(&payload)["warnings"];
    assert!(warnings[0].as_str().unwrap().contains("(line 1, column 10)"), "{warnings}");
    let failed = world.eval(&id, "(+ n nil))");
    assert_eq!(structured(&failed)["warnings"].as_array().unwrap().len(), 1);
    assert!(slim(&failed).ends_with("\n[rolled back]"));
    assert_eq!(structured(&world.eval(&id, "n")).get("warnings"), None);
}
