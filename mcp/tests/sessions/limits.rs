//! Limits on the contents of a session.

use crate::world::{World, debug, refused, structured};
use ptc_mcp::{Payload, Reason, Settings};
use serde_json::{Value, json};

fn breach(payload: &Payload) -> Value {
    refused(payload, Reason::SessionLimitExceeded);
    let detail = structured(payload)["detail"].clone();
    assert_eq!(Some(&detail), payload.detail.as_ref());
    detail
}

#[test]
fn too_many_definitions() {
    let world = World::with(|settings| settings.max_session_bindings = 2);
    let id = world.begin();
    world.value(&id, "(def a 1) (def b 2)");
    let detail = breach(&world.eval(&id, "(def c 3)"));
    let expected = json!({"field": "bindings", "limit": "max_session_bindings", "actual": 3, "max": 2});
    assert_eq!(detail, expected);
    assert_eq!(world.value(&id, "(def b 3) (+ a b)"), "4");
}

#[test]
fn definitions_that_are_too_large_together() {
    let world = World::with(|settings| settings.max_session_memory_bytes = 1_000);
    let id = world.begin();
    world.value(&id, "(def a (str (repeat 300 1)))");
    let detail = breach(&world.eval(&id, "(def b (vec (range 400 600)))"));
    assert_eq!((&detail["field"], &detail["limit"]), (&json!("memory"), &json!("max_session_memory_bytes")));
    assert!(detail["actual"].as_u64().unwrap() > 1_000 && detail["max"] == 1_000);
    assert_eq!(world.value(&id, "(count a)"), "601");
}

#[test]
fn one_definition_that_is_too_large() {
    let world = World::with(|settings| settings.max_session_binding_bytes = 500);
    let id = world.begin();
    let detail = breach(&world.eval(&id, "(def small 1) (def wide (vec (range 1000 1200)))"));
    assert_eq!((&detail["field"], &detail["name"]), (&json!("binding"), &json!("wide")));
    // A vector of 200 integers of 5 bytes each, after headers of 6 and 1 bytes.
    assert_eq!((&detail["actual"], &detail["max"]), (&json!(1007), &json!(500)));
}

#[test]
fn the_first_limit_in_order_is_told() {
    let all = |settings: &mut Settings| {
        settings.max_session_bindings = 1;
        settings.max_session_memory_bytes = 100;
        settings.max_session_binding_bytes = 50;
    };
    let world = World::with(all);
    let id = world.begin();
    let wide = "(vec (range 1000 1200))";
    assert_eq!(breach(&world.eval(&id, &format!("(def a {wide}) (def b 1)")))["field"], "bindings");
    assert_eq!(breach(&world.eval(&id, &format!("(def a {wide})")))["field"], "memory");
    assert_eq!(breach(&world.eval(&id, "(def a (vec (range 1000 1012)))"))["field"], "binding");
}

#[test]
fn a_breach_keeps_nothing_and_reports_what_was_done() {
    let world = World::with(|settings| settings.max_session_bindings = 1);
    let id = world.begin();
    let payload = world.eval(&id, "(println \"done\") (def a 1) (def b 2)");
    breach(&payload);
    let shown = debug(&payload);
    assert_eq!((&shown["prints"], &shown["session"]["turn"]), (&json!(["done"]), &json!(0)));
    assert_eq!(world.inspect(json!({"session_id": id}))["stored_keys"], json!([]));
}

#[test]
fn a_result_that_is_too_large_is_kept_as_a_note() {
    let world = World::with(|settings| settings.max_session_history_entry_bytes = 500);
    let id = world.begin();
    let payload = world.eval(&id, "(vec (range 1000 1200))");
    let notices = debug(&payload)["history_notices"].clone();
    assert_eq!(
        (&notices[0]["entry"], &notices[0]["bytes"], &notices[0]["max"]),
        (&json!("*1"), &json!(1007), &json!(500))
    );
    // Advice about `*1` would be about the note.
    assert!(!payload.feedback.contains("describe") && payload.feedback.contains("(def name"));
    assert_eq!(world.value(&id, "[(get *1 \"lisp_session_preview\") (get *1 \"bytes\")]"), "[true 1007]");
    assert!(world.value(&id, "(get *2 \"preview\")").contains("1000 1001"));
    assert!(debug(&world.eval(&id, "1")).get("history_notices").is_none());
}

#[test]
fn histories_lose_what_is_oldest() {
    let world = World::with(|settings| {
        settings.max_session_print_entries = 3;
        settings.max_session_print_bytes = 20;
    });
    let id = world.begin();
    world.value(&id, "(println \"a\") (println \"b\")");
    world.value(&id, "(println \"c\") (println \"d\")");
    assert_eq!(world.view(&id, "prints")["prints"], json!(["b", "c", "d"]));
    world.value(&id, "(println \"0123456789abcdef\")");
    assert_eq!(world.view(&id, "prints")["prints"], json!(["c", "d", "0123456789abcdef"]));
    world.value(&id, "(println \"a line that is longer than all that may be kept\")");
    assert_eq!(world.view(&id, "prints")["prints"], json!([]));
    assert_eq!(world.value(&id, "[*1 *2 *3]"), "[nil nil nil]");
}
