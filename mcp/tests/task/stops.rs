//! Tasks that are stopped: by time, by their client, by their side effects.

use crate::pipe::Pipe;
use crate::world::{READS, WRITES, World, call, runtime, settings, upstream};
use ptc_agent::RunOptions;
use ptc_mcp::protocol::Build;
use ptc_mcp::service::Service;
use ptc_mcp::{Host, Planner, Server};
use ptc_model::{ErrorKind, LlmError, Registry, Reply};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_model_has_its_own_time() {
    let world = World::new(&[READS, &["--agentic-planner-timeout-ms=50"]], [Reply::Hang]);
    let told = world.task("x").await;
    assert_eq!(told["reason"], "planner_timeout", "{told}");
    assert!(told["message"].as_str().unwrap().contains("--agentic-planner-timeout-ms"), "{told}");
    assert_eq!(told["planner"]["error"], "planner_timeout");
    assert_eq!(told["ptc_metrics"]["server_side_llm"]["planner_calls"], 1);
    assert_eq!(world.server.running(), 0);
}

#[tokio::test]
async fn a_model_that_fails_is_told_apart_from_one_that_cannot_be_asked() {
    let refused = LlmError::new(ErrorKind::ClientError, "too many words").status(400);
    // The request is retried, as for any model, and then the task ends.
    let busy = LlmError::new(ErrorKind::RateLimit, "busy").retry_after(Duration::ZERO);
    let replies = [Reply::from(busy), refused.clone().into(), refused.clone().into()];
    let fast = |reply: Reply| match reply {
        Reply::Error(error) => Reply::Error(error.retry_after(Duration::ZERO)),
        other => other,
    };
    let told = World::new(&[READS], replies.map(fast)).task("x").await;
    assert_eq!(
        (&told["reason"], &told["message"]),
        (&json!("planner_error"), &json!("too many words")),
        "{told}"
    );
    let settings = settings(READS);
    let host = Host::new(&runtime(), &settings, Some(upstream(&Arc::default())));
    let keyless = RunOptions::new().models(Registry::default().env(|_| None)).llm("anthropic:x");
    let planner = Planner::new(&host, &settings, keyless).unwrap();
    let server = Server::new(host.planner(planner), &settings, None, Build::default()).unwrap();
    let answer = Pipe::to(&server)
        .ask(1, "tools/call", json!({"name": "lisp_task", "arguments": {"task": "x"}}))
        .await;
    let told = &answer["result"]["structuredContent"];
    assert_eq!(told["reason"], "agentic_config_error", "{answer}");
    assert!(told["message"].as_str().unwrap().contains("ANTHROPIC_API_KEY"), "{answer}");
    // The model was not called, so there is nothing to measure.
    assert_eq!((&told["planner"]["calls"], told.get("ptc_metrics")), (&json!(0), None));
}

#[tokio::test]
async fn a_task_has_its_time_whoever_takes_it() {
    let flags: &[&str] = &["--agentic-task-timeout-ms=150"];
    let endless = "(loop [n 0] (recur (inc n)))";
    for reply in [Reply::Hang, Reply::from(call("hang")), Reply::from(endless)] {
        let world = World::new(&[READS, flags], [reply]);
        let began = Instant::now();
        let told = world.task("x").await;
        assert_eq!(told["reason"], "budget_exceeded", "{told}");
        assert!(told["message"].as_str().unwrap().contains("--agentic-task-timeout-ms"), "{told}");
        assert!(began.elapsed() < Duration::from_secs(15));
        idle(&world).await;
    }
}

/// Waits until no program runs, which must not take long.
async fn idle(world: &World) {
    let until = Instant::now() + Duration::from_secs(20);
    while world.server.running() > 0 || world.shop.in_flight.load(Ordering::SeqCst) > 0 {
        assert!(Instant::now() < until, "something still runs");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn task() -> Value {
    json!({"name": "lisp_task", "arguments": {"task": "x"}})
}

#[tokio::test]
async fn whoever_cancels_gives_the_permit_back() {
    for reply in [Reply::Hang, Reply::from(call("hang"))] {
        let world = World::new(&[READS, &["--max-open-calls=1"]], [reply, "(return 1)".into()]);
        let mut pipe = Pipe::to(&world.server);
        pipe.request(1, "tools/call", task()).await;
        while world.model.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let busy = pipe.ask(2, "tools/call", task()).await;
        let told = &busy["result"]["structuredContent"];
        assert_eq!((&busy["id"], &told["reason"], &told["planner"]), (&json!(2), &json!("busy"), &json!({})));
        pipe.notify("notifications/cancelled", json!({"requestId": 1})).await;
        idle(&world).await;
        // A cancelled request gets no reply.
        let next = pipe.ask(3, "tools/call", task()).await;
        assert_eq!((&next["id"], &next["result"]["structuredContent"]["answer"]), (&json!(3), &json!("1")));
    }
}

#[tokio::test]
async fn whoever_hangs_up_gives_the_permit_back() {
    let world = World::new(&[READS], [Reply::Hang]);
    let mut pipe = Pipe::to(&world.server);
    pipe.request(1, "tools/call", task()).await;
    while world.model.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(pipe.hang_up().await.is_empty());
    idle(&world).await;
}

#[tokio::test]
async fn there_is_no_further_turn_after_a_write() {
    let turns: &[&str] = &["--agentic-max-turns=3"];
    for (tool, effect) in [("pay", "write"), ("poke", "unknown")] {
        for program in
            [call(tool), format!("(do {} (frobnicate))", call(tool)).replace("(frobnicate)", "(inc nil)")]
        {
            let world = World::new(&[WRITES, turns], [program.as_str(), "(return 1)"]);
            let told = world.task("x").await;
            assert_eq!((&told["reason"], world.model.left()), (&json!("partial_side_effects"), 1), "{told}");
            assert_eq!(told["upstream_calls"][0]["effect"], effect);
            assert_eq!(
                told["detail"],
                json!({"matched_calls": [{"server": "shop", "tool": tool, "effect": effect}]})
            );
        }
    }
    // A program that writes and finishes in the same turn is fine, and reads may continue.
    let done = format!("(return (:ok {}))", call("pay"));
    let world = World::new(&[WRITES, turns], [call("orders").as_str(), &done]);
    assert_eq!(world.task("x").await["answer"], "true");
}

#[tokio::test]
async fn a_last_turn_that_wrote_and_did_not_finish_says_so() {
    let told = World::new(&[WRITES], [call("pay")]).task("x").await;
    assert_eq!(told["reason"], "partial_side_effects", "{told}");
    assert_eq!(told["detail_reason"], "ptc_must_return_missing");
    // A call that was sent and never answered may have written, too.
    let world = World::new(&[WRITES, &["--agentic-task-timeout-ms=300"]], [call("stick")]);
    let told = world.task("x").await;
    assert_eq!(
        (&told["reason"], &told["detail_reason"]),
        (&json!("partial_side_effects"), &json!("budget_exceeded")),
        "{told}"
    );
    let sent = &told["upstream_calls"][0];
    assert_eq!(
        (&sent["tool"], &sent["status"], &sent["effect"]),
        (&json!("stick"), &json!("error"), &json!("unknown")),
        "{told}"
    );
    // A program that calls `fail` knows what it did.
    let fail = format!("(do {} (fail \"no\"))", call("pay"));
    assert_eq!(World::new(&[WRITES], [fail]).task("x").await["reason"], "agent_failed");
}

#[tokio::test]
async fn a_tool_that_writes_is_refused_unless_that_is_allowed() {
    let turns: &[&str] = &["--agentic-max-turns=2"];
    let world = World::new(&[READS, turns], [call("pay").as_str(), "(return \"left alone\")"]);
    let told = world.task("x").await;
    assert_eq!(told["answer"], "left alone", "{told}");
    assert!(
        world.asked(1).contains("tool 'shop.pay' writes, and this run may only read"),
        "{}",
        world.asked(1)
    );
    assert!(world.shop.asked.lock().unwrap().is_empty());
    assert_eq!(told["upstream_calls"], json!([]));
    // Tools of unknown effect count as writes.
    let world = World::new(&[READS, turns], [call("poke").as_str(), "(return \"left alone\")"]);
    assert_eq!(world.task("x").await["answer"], "left alone");
    let asked = world.asked(1);
    assert!(asked.contains("tool 'shop.poke' may write, and this run may only read"), "{asked}");
    assert!(world.shop.asked.lock().unwrap().is_empty());
    let told = World::new(&[WRITES], [format!("(return (:ok {}))", call("pay"))]).task("x").await;
    assert_eq!(told["answer"], "true", "{told}");
}
