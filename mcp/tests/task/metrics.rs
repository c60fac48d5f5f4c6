//! Costs of a task, in its answer, in `lisp_debug` and in traces.

use crate::world::{CANARY, READS, World, call};
use ptc_model::{LlmResponse, Tokens};
use serde_json::{Value, json};

fn counted(text: &str, read: u64, written: u64) -> LlmResponse {
    LlmResponse::from(text).tokens(Tokens::new(read, written))
}

#[tokio::test]
async fn tokens_are_summed_if_every_reply_has_them() {
    let turns: &[&str] = &["--agentic-max-turns=2"];
    let (first, last) = (call("orders"), "(return 1)");
    let world = World::new(&[READS, turns], [counted(&first, 100, 20), counted(last, 150, 5)]);
    let told = world.task("x").await;
    let metrics = &told["ptc_metrics"];
    let llm = &metrics["server_side_llm"];
    let bytes: usize = (0..2)
        .map(|n| {
            let request = &world.model.requests()[n];
            request.system.len() + request.messages.iter().map(|message| message.content.len()).sum::<usize>()
        })
        .sum();
    let written = first.len() + last.len();
    let estimate = |bytes: usize| bytes.div_ceil(4);
    assert_eq!(
        *llm,
        json!({
            "planner_calls": 2, "provider_reported": true,
            "prompt_tokens": 250, "completion_tokens": 25, "total_tokens": 275,
            "prompt_bytes": bytes, "completion_bytes": written, "total_bytes": bytes + written,
            "estimated_prompt_tokens": estimate(bytes), "estimated_completion_tokens": estimate(written),
            "estimated_total_tokens": estimate(bytes) + estimate(written),
            "token_estimate_method": "utf8_bytes_div_4",
        })
    );
    assert_eq!(told["planner"]["total_tokens"], 275);
    assert!(metrics["efficiency_note"].as_str().unwrap().contains("excludes the planner cost"));
    assert_eq!((&metrics["upstream_call_count"], &metrics["prints_bytes"]), (&json!(1), &json!(0)));
    assert_eq!(metrics["final_result_bytes"], told["execution"]["result_bytes"]);
    assert!(metrics["payload_reduction_ratio"].is_f64(), "{metrics}");
}

#[tokio::test]
async fn tokens_are_null_if_one_reply_does_not_have_them() {
    let turns: &[&str] = &["--agentic-max-turns=2"];
    let world = World::new(&[READS, turns], [counted("(+ 1 2)", 100, 20), "(return 1)".into()]);
    let told = world.task("x").await;
    let llm = &told["ptc_metrics"]["server_side_llm"];
    assert_eq!((&llm["planner_calls"], &llm["provider_reported"]), (&json!(2), &json!(false)));
    for key in ["prompt_tokens", "completion_tokens", "total_tokens"] {
        assert_eq!((&llm[key], &told["planner"][key]), (&Value::Null, &Value::Null));
    }
    // There were no calls, but the model was still used.
    assert_eq!(told["ptc_metrics"]["payload_reduction_ratio"], Value::Null);
}

#[tokio::test]
async fn the_record_knows_tasks_and_what_they_cost() {
    let program = format!("(return (:ok {}))", call("orders"));
    let world = World::new(
        &[READS, &["--debug-tool"]],
        [counted(&program, 100, 20), counted("(fail \"no\")", 50, 5)],
    );
    world.task("one").await;
    world.task("two").await;
    world.call("lisp_task", json!({})).await;
    let stats = world.call("lisp_debug", json!({"op": "stats"})).await;
    assert_eq!(stats["agentic"], json!({"calls": 3, "ok": 1, "error": 2}), "{stats}");
    assert_eq!(stats["errors"]["by_reason"], json!({"agent_failed": 1, "args_error": 1}));
    let planner = &stats["payload_reduction"]["agentic_planner"];
    assert_eq!((&planner["planner_calls"], &planner["total_tokens"]), (&json!(2), &json!(175)), "{stats}");
    let recent = world.call("lisp_debug", json!({"op": "recent", "limit": 3})).await;
    let first = &recent["calls"][2];
    assert_eq!(
        (&first["tool"], &first["program"]["preview"]),
        (&json!("lisp_task"), &json!("one")),
        "{recent}"
    );
    assert_eq!((&first["result_bytes"], &first["upstream_calls"]), (&json!(4), &json!(1)));
    assert_eq!(first["ptc_metrics"]["server_side_llm"]["total_tokens"], 120);
}

#[tokio::test]
async fn a_trace_holds_prompts_only_if_it_is_told_to() {
    for (name, more) in [("without", &[][..]), ("with", &["--agentic-trace-prompts"])] {
        let folder = format!("{}/task/traces-{name}", env!("CARGO_TARGET_TMPDIR"));
        let _ = std::fs::remove_dir_all(&folder);
        let dir = format!("--trace-dir={folder}");
        let world = World::new(&[READS, &[&*dir], more], [counted("(return 7)", 100, 20)]);
        world.task(&format!("Is it {CANARY}?")).await;
        world.server.traces().unwrap().flush();
        let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(file).unwrap();
        assert!(!text.contains(CANARY), "{text}");
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let asked = lines.find(|line| line["event"] == "planner.call").unwrap();
        assert_eq!(
            (&asked["turn"], &asked["status"], &asked["prompt_tokens"]),
            (&json!(1), &json!("ok"), &json!(100))
        );
        let has_texts = asked["system"].is_string() && asked["reply"] == "(return 7)";
        assert_eq!(has_texts, name == "with", "{asked}");
        if has_texts {
            assert!(
                asked["messages"][0]["content"].as_str().unwrap().contains("Is it [REDACTED]?"),
                "{asked}"
            );
        }
    }
}
