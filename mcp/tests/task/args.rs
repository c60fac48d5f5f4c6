//! Invalid calls are refused before anything is reserved or sent.

use crate::world::{READS, World};
use serde_json::{Value, json};

#[tokio::test]
async fn arguments_are_checked_first() {
    let world = World::new(&[READS, &["--max-context-bytes=40", "--max-program-bytes=30"]], [""; 0]);
    for (args, message) in [
        (json!({}), "argument `task` is required"),
        (json!({"task": 7}), "argument `task` must be a string, got a number"),
        (json!({"task": " \n"}), "argument `task` must be a non-empty string"),
        (json!({"task": "x".repeat(31)}), "argument `task` exceeds max_program_bytes (31 > 30)"),
        (json!({"tasks": "x"}), "unknown argument `tasks`; did you mean `task`?"),
        (
            json!({"task": "x", "context": []}),
            "argument `context` must be a JSON object whose keys become data/<key>, got an array",
        ),
        (
            json!({"task": "x", "context": {"a/b": 1}}),
            "argument `context`: keys may not contain `/`, got \"a/b\"",
        ),
        (
            json!({"task": "x", "context": {"call": 1}}),
            "argument `context`: the key `call` is reserved for calling servers",
        ),
        (
            json!({"task": "x", "context": {"a": "x".repeat(40)}}),
            "argument `context` exceeds max_context_bytes (48 > 40)",
        ),
        (
            json!({"task": "x", "constraints": 1}),
            "argument `constraints` must be a JSON object, got a number",
        ),
        (
            json!({"task": "x", "constraints": {"max_items": 0}}),
            "argument `constraints`: `max_items` must be a whole number above zero",
        ),
        (
            json!({"task": "x", "constraints": {"preferred_fields": [1]}}),
            "argument `constraints`: `preferred_fields` must be a list of names",
        ),
        (
            json!({"task": "x", "constraints": {"a": "x".repeat(40)}}),
            "argument `constraints` exceeds max_context_bytes (48 > 40)",
        ),
    ] {
        let told = world.call("lisp_task", args.clone()).await;
        let whole = json!({
            "status": "error", "reason": "args_error", "message": message, "feedback": message,
            "warnings": [], "planner": {}, "execution": {}, "upstream_calls": [],
        });
        assert_eq!(told, whole, "{args}");
    }
    assert_eq!(world.model.requests().len(), 0);
}

#[tokio::test]
async fn constraints_reach_the_model_and_those_that_nobody_knows_are_told() {
    let world = World::new(&[READS], ["(return [data/n 2 3])"]);
    let args = json!({
        "task": "List them", "context": {"n": 7},
        "constraints": {"max_items": 2, "preferred_fields": ["id", "total"], "colour": "red"},
    });
    let told = world.call("lisp_task", args).await;
    assert_eq!(told["structured_result"], json!([7, 2]), "{told}");
    assert_eq!(
        told["warnings"],
        json!([{"code": "unsupported_constraint", "detail": "colour"}, {"code": "max_items", "detail": 2}])
    );
    assert_eq!(told["execution"]["truncated"], true);
    let asked = world.asked(0);
    for part in ["List them\n", "- At most 2 items.", "Prefer these fields: id, total.", "data/n"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert!(!asked.contains("colour"));
    let null = World::new(&[READS], ["(return 1)"]);
    let args = json!({"task": "x", "context": null, "constraints": null});
    assert_eq!(null.call("lisp_task", args).await["warnings"], Value::Array(vec![]));
}
