//! Waiting programs hold no slot, and long-running ones yield theirs regularly.

use crate::bank::{Bank, server_with};
use crate::pipe::{ENDLESS, Pipe, text};
use crate::server;
use ptc_mcp::Server;
use ptc_mcp::service::Service;
use ptc_mcp::sessions::Owner;
use ptc_upstream::About;
use std::sync::Arc;

fn bank(flags: &[&str]) -> (Server, Arc<Bank>) {
    server_with(
        About::default(),
        &[&["--max-concurrent-calls=1", "--program-timeout-ms=60000"], flags].concat(),
    )
}

/// Returns a program that calls a server, which replies when the test says so.
fn waits(n: usize) -> String {
    format!(r#"(:waited (:value (tool/call {{:server "bank" :tool "wait" :args {{:eur {n}}}}})))"#)
}

#[tokio::test]
async fn a_program_that_waits_for_a_server_holds_no_place() {
    let (server, bank) = bank(&["--max-queued-calls=0"]);
    let mut pipe = Pipe::to(&server);
    pipe.eval("waits", &waits(7)).await;
    bank.have_waiting(1).await;
    pipe.eval("computes", "(+ 1 2)").await;
    assert_eq!(text(&pipe.next().await.unwrap()), "user=> 3");
    bank.open();
    let answer = pipe.next().await.unwrap();
    assert_eq!((&answer["id"], text(&answer)), (&"waits".into(), "user=> 7"));
}

#[tokio::test]
async fn hundreds_wait_at_once_and_all_are_answered() {
    let (server, bank) = bank(&["--max-queued-calls=100000"]);
    let mut pipe = Pipe::to(&server);
    for n in 0..400 {
        pipe.eval(n, &waits(n)).await;
    }
    bank.have_waiting(400).await;
    pipe.eval("computes", "(+ 1 2)").await;
    assert_eq!(pipe.next().await.unwrap()["id"], "computes");
    bank.open();
    for _ in 0..400 {
        let answer = pipe.next().await.unwrap();
        assert_eq!(text(&answer), format!("user=> {}", answer["id"]));
    }
}

#[tokio::test]
async fn programs_of_a_session_that_wait_hold_no_place() {
    let (server, bank) = bank(&["--sessions", "--max-queued-calls=0"]);
    let mut pipe = Pipe::to(&server);
    let started = pipe.ask(1, "tools/call", serde_json::json!({"name": "lisp_session_start"})).await;
    let id = started["result"]["structuredContent"]["session_id"].clone();
    let args = serde_json::json!({"session_id": id, "program": format!("(def x {})", waits(5))});
    pipe.request(2, "tools/call", serde_json::json!({"name": "lisp_session_eval", "arguments": args})).await;
    bank.have_waiting(1).await;
    pipe.eval(3, "(+ 1 2)").await;
    assert_eq!(pipe.next().await.unwrap()["id"], 3);
    bank.open();
    assert_eq!(pipe.next().await.unwrap()["id"], 2);
    let args = serde_json::json!({"session_id": id, "program": "x"});
    let kept =
        pipe.ask(4, "tools/call", serde_json::json!({"name": "lisp_session_eval", "arguments": args})).await;
    assert!(text(&kept).contains("user=> 5"), "{kept}");
}

#[tokio::test]
async fn an_endless_program_lets_those_of_others_pass() {
    let server = server(&["--max-concurrent-calls=1", "--program-timeout-ms=600000"]);
    let mut hostile = Pipe::of(&server, Owner::new("hostile"));
    for n in 0..5 {
        hostile.eval(n, ENDLESS).await;
        let branches = "(pmap (fn [n] (loop [n n] (recur (inc n)))) (range 4))";
        hostile.eval(n + 10, branches).await;
    }
    while server.running() < 10 {
        tokio::task::yield_now().await;
    }
    let mut honest = Pipe::of(&server, Owner::new("honest"));
    for n in 0..20 {
        honest.eval(n, "(+ 1 2)").await;
        assert_eq!(text(&honest.next().await.unwrap()), "user=> 3");
    }
}

#[tokio::test]
async fn programs_that_are_open_have_a_limit() {
    let (server, bank) = bank(&["--max-open-calls=2"]);
    let mut pipe = Pipe::to(&server);
    pipe.eval(1, &waits(1)).await;
    pipe.eval(2, &waits(2)).await;
    bank.have_waiting(2).await;
    pipe.eval(3, "1").await;
    let busy = pipe.next().await.unwrap();
    assert!(text(&busy).starts_with("busy: ") && text(&busy).contains("--max-open-calls"), "{busy}");
    bank.open();
    pipe.next().await.unwrap();
    pipe.next().await.unwrap();
    pipe.eval(4, "1").await;
    assert_eq!(text(&pipe.next().await.unwrap()), "user=> 1");
}

#[tokio::test]
async fn data_that_came_with_a_call_counts_while_it_waits() {
    let (server, bank) = bank(&["--max-all-programs-bytes=30000000", "--program-memory-limit-bytes=5000000"]);
    let mut pipe = Pipe::to(&server);
    // Half a megabyte as text, and many times that after parsing.
    let rows = serde_json::json!(vec![serde_json::json!({"": 0}); 6_000]);
    let call = |n: usize| {
        let program = format!("[(count data/rows) {}]", waits(n));
        serde_json::json!({"name": "lisp_eval", "arguments": {"program": program, "context": {"rows": rows}}})
    };
    let mut waiting = 0;
    let refused = loop {
        pipe.request(waiting, "tools/call", call(waiting)).await;
        let told = tokio::select! {
            told = pipe.next() => Some(told.unwrap()),
            () = bank.have_waiting(waiting + 1) => None,
        };
        if let Some(told) = told {
            break told;
        }
        waiting += 1;
        assert!(waiting < 20, "their data counts for nothing");
    };
    assert!(waiting > 0 && text(&refused).contains("memory"), "{refused}");
    bank.open();
    for _ in 0..waiting {
        let told = pipe.next().await.unwrap();
        assert_eq!(text(&told), format!("user=> [6000 {}]", told["id"]));
    }
}

#[tokio::test]
async fn one_owner_takes_neither_places_nor_the_line_from_others() {
    let server = server(&["--max-concurrent-calls=1", "--max-queued-calls=4", "--program-timeout-ms=600000"]);
    let mut greedy = Pipe::of(&server, Owner::new("greedy"));
    for n in 0..5 {
        greedy.eval(n, ENDLESS).await;
    }
    let mut other = Pipe::of(&server, Owner::new("other"));
    other.eval(1, "(+ 1 2)").await;
    assert_eq!(text(&other.next().await.unwrap()), "user=> 3");
    // Owners without a slot get an extra one, so no program had to leave the queue.
    greedy.eval(6, "1").await;
    assert!(text(&greedy.next().await.unwrap()).starts_with("busy: "), "its own line is full");
}

#[tokio::test]
async fn all_programs_share_one_account_of_memory() {
    let (server, bank) = bank(&["--max-all-programs-bytes=13500000", "--program-memory-limit-bytes=5000000"]);
    let mut pipe = Pipe::to(&server);
    let holding = |n: usize| format!("(let [rows (mapv inc (range 100000))] [{} (count rows)])", waits(n));
    for n in 1..=3 {
        pipe.eval(n, &holding(n)).await;
        bank.have_waiting(n).await;
    }
    // Three waiting programs hold 1.6 MB each, which leaves less than a fourth may need.
    pipe.eval(4, "(+ 1 2)").await;
    let refused = pipe.next().await.unwrap();
    assert_eq!(refused["id"], 4);
    assert!(text(&refused).contains("the memory for all programs together is used up"), "{refused}");
    // The others are unaffected, and cancelled ones free their memory.
    pipe.notify("notifications/cancelled", serde_json::json!({"requestId": 1})).await;
    pipe.notify("notifications/cancelled", serde_json::json!({"requestId": 2})).await;
    bank.open();
    assert_eq!(text(&pipe.next().await.unwrap()), "user=> [3 100000]");
    pipe.eval(5, &holding(5)).await;
    assert_eq!(text(&pipe.next().await.unwrap()), "user=> [5 100000]");
}
