//! Tasks that succeed, and tasks whose program fails.

use crate::pipe::Pipe;
use crate::world::{CANARY, READS, World, call};
use serde_json::{Value, json};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn an_answer_says_how_it_came_about() {
    let program = format!(
        "(let [r (:value {})] (return {{:answer \"2 orders\" :totals (map :total (:orders r))}}))",
        call("orders")
    );
    let world = World::new(&[READS], [format!("```clojure\n{program}\n```")]);
    let told = world.task("How many orders are there?").await;
    let mut found = keys(&told);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "answer",
            "execution",
            "planner",
            "program",
            "ptc_metrics",
            "status",
            "structured_result",
            "upstream_calls",
            "upstream_results",
            "warnings"
        ]
    );
    assert_eq!((&told["status"], &told["answer"]), (&json!("ok"), &json!("2 orders")), "{told}");
    // Numbers are not rounded.
    assert_eq!(told["structured_result"], json!({"answer": "2 orders", "totals": [40.125, 2]}));
    assert_eq!((&told["program"], &told["warnings"]), (&json!(program), &json!([])));
    let call = &told["upstream_calls"][0];
    assert_eq!(
        (&call["tool"], &call["status"], &call["effect"]),
        (&json!("orders"), &json!("ok"), &json!("read"))
    );
    assert_eq!(told["upstream_results"][0]["shape"], "map keys=[orders] count=1");
    let execution = &told["execution"];
    assert_eq!((&execution["turn_count"], &execution["truncated"]), (&json!(1), &json!(false)));
    let counted =
        json!({"answer": told["answer"], "structured_result": told["structured_result"]}).to_string();
    assert_eq!(execution["result_bytes"], counted.len());
    assert!(execution["duration_ms"].is_u64());
    let planner = &told["planner"];
    assert_eq!((&planner["model"], &planner["calls"]), (&json!("scripted"), &json!(1)));
    let asked = world.asked(0);
    for part in ["How many orders are there?", "tool/call", "- shop:", "Only read."] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert_eq!(world.model.requests()[0].llm_opts["max_tokens"], 1200);
}

#[tokio::test]
async fn text_and_data_are_answers_too() {
    for (program, answer, structured) in [
        ("(return \"done\")", "done", Value::Null),
        ("(return [1 2])", "[1,2]", json!([1, 2])),
        ("(return {:a 1})", r#"{"a":1}"#, json!({"a": 1})),
        ("(return nil)", "null", Value::Null),
    ] {
        let told = World::new(&[READS, &["--agentic-include-program=false"]], [program]).task("x").await;
        assert_eq!((&told["answer"], &told["structured_result"]), (&json!(answer), &structured), "{told}");
        assert_eq!((told.get("program"), told.get("upstream_results")), (None, None));
    }
}

#[tokio::test]
async fn a_result_is_whole_or_not_there() {
    let flags: &[&str] = &["--agentic-max-result-bytes=16"];
    let text = World::new(&[READS, flags], ["(return \"twenty-five characters é\")"]).task("x").await;
    assert_eq!(text["answer"], "twenty-five char");
    assert_eq!(text["warnings"], json!([{"code": "max_result_bytes", "detail": 16}]));
    let data = World::new(&[READS, flags], ["(return {:answer \"short\" :rows (range 20)})"]).task("x").await;
    assert_eq!((&data["answer"], &data["structured_result"]), (&json!("short"), &Value::Null), "{data}");
    assert_eq!(data["execution"]["truncated"], true);
    let exact = World::new(&[READS, flags], ["(return [1 2 3 4 5 6 7])"]).task("x").await;
    assert_eq!(
        (&exact["structured_result"], &exact["warnings"]),
        (&json!([1, 2, 3, 4, 5, 6, 7]), &json!([]))
    );
}

#[tokio::test]
async fn a_program_may_give_up() {
    let fail = format!(
        "(do {} (fail {{:reason :no_order :message \"no such order\" :details {{:id 9}}}}))",
        call("orders")
    );
    let told = World::new(&[READS], [fail.as_str()]).task("x").await;
    assert_eq!(
        (&told["reason"], &told["message"]),
        (&json!("agent_failed"), &json!("no such order")),
        "{told}"
    );
    assert_eq!((&told["detail_reason"], &told["detail"]), (&json!("no_order"), &json!({"id": 9})));
    // A program cannot use the server's own reasons.
    let ours = fail.replace("no_order", "timeout");
    let told = World::new(&[READS], [ours.as_str()]).task("x").await;
    assert_eq!((&told["reason"], &told["message"]), (&json!("agent_failed"), &json!("no such order")));
    assert_eq!((told.get("detail_reason"), &told["detail"]), (None, &json!({"id": 9})));
    let told = World::new(&[READS], [fail.as_str()]).task("x").await;
    assert_eq!((&told["program"], &told["upstream_calls"][0]["tool"]), (&json!(fail), &json!("orders")));
    assert_eq!(told["ptc_metrics"]["final_result_bytes"], 0);
    let plain = World::new(&[READS], ["(fail \"no\")"]).task("x").await;
    assert_eq!((&plain["message"], plain.get("detail_reason")), (&json!("no"), None));
}

#[tokio::test]
async fn a_task_belongs_to_the_trace_its_client_names() {
    let program = format!("```clojure\n(return (:value {}))\n```", call("orders"));
    let world = World::new(&[READS], [program]);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let named = format!("00-{trace}-00f067aa0ba902b7-01");
    let params = json!({"name": "lisp_task", "arguments": {"task": "look"}, "_meta": {"traceparent": named}});
    let answer = Pipe::to(&world.server).ask(1, "tools/call", params).await;
    assert_eq!(answer["result"]["structuredContent"]["trace_id"], trace, "{answer}");
    assert_eq!(*world.shop.traces.lock().unwrap(), [Some(named)]);
}

#[tokio::test]
async fn a_task_must_come_to_an_end_within_its_turns() {
    let none = World::new(&[READS], ["(+ 1 2)"]).task("x").await;
    assert_eq!(none["reason"], "ptc_must_return_missing", "{none}");
    let broken = World::new(&[READS], ["(frobnicate 1)"]).task("x").await;
    assert_eq!(broken["reason"], "ptc_max_turns_exceeded", "{broken}");
    let message = broken["message"].as_str().unwrap();
    assert!(
        message.contains("the last one failed: analysis_error: ") && message.contains("frobnicate"),
        "{message}"
    );
    let turns: &[&str] = &["--agentic-max-turns=2"];
    let world = World::new(&[READS, turns], ["(frobnicate 1)", "(return 2)"]);
    let mended = world.task("x").await;
    assert_eq!((&mended["answer"], &mended["execution"]["turn_count"]), (&json!("2"), &json!(2)), "{mended}");
    assert!(world.asked(1).contains("frobnicate"));
}

#[tokio::test]
async fn the_prelude_of_the_server_is_there() {
    let prelude = r#"(ns desk) (defn orders "All orders." [] (:orders (:value (tool/call {:server "shop" :tool "orders" :args {}}))))"#;
    let world = World::with(&[READS], Some(prelude), ["(return (count (desk/orders)))"]);
    let told = world.task("x").await;
    assert_eq!(told["answer"], "2", "{told}");
    assert!(world.asked(0).contains("desk/orders"));
}

#[tokio::test]
async fn secrets_are_neither_asked_nor_answered() {
    let program = format!("(return {{:answer (str \"{CANARY} \" (:value {})) :key data/key}})", call("tell"));
    let turns: &[&str] = &["--agentic-max-turns=2"];
    let world = World::new(&[READS, turns], [format!("(do (println data/key) {})", call("tell")), program]);
    let args = json!({"task": format!("Is it {CANARY}?"), "context": {"key": CANARY, "keys": [CANARY]}});
    let told = world.call("lisp_task", args).await;
    assert_eq!(told["status"], "ok", "{told}");
    assert!(!told.to_string().contains(CANARY), "{told}");
    assert_eq!(told["structured_result"]["key"], "[REDACTED]");
    for n in 0..2 {
        let asked = format!("{:?}", world.model.requests()[n]);
        assert!(asked.contains("[REDACTED]") && !asked.contains(CANARY), "{asked}");
    }
    let failed = World::new(&[READS], ["(fail {:reason :x :message data/key})"]);
    let told = failed.call("lisp_task", json!({"task": "x", "context": {"key": CANARY}})).await;
    assert_eq!(told["message"], "[REDACTED]");
}
