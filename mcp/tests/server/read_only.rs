//! `--aggregator-read-only`: hints say that programs change nothing, and calls that may write are never sent.

use crate::bank::{Bank, pay, server_with};
use crate::pipe::Pipe;
use ptc_bytecode::Effects;
use ptc_mcp::Server;
use ptc_upstream::About;
use serde_json::{Value, json};
use std::sync::Arc;

fn guarded(about: About) -> (Server, Arc<Bank>) {
    server_with(about, &["--aggregator-read-only", "--sessions"])
}

async fn run(server: &Server, program: &str) -> String {
    let mut pipe = Pipe::to(server);
    pipe.eval("a", program).await;
    pipe.next().await.unwrap()["result"]["content"][0]["text"].as_str().unwrap().to_string()
}

const BALANCE: &str = r#"(:balance (:value (tool/call {:server "bank" :tool "balance" :args {}})))"#;

#[tokio::test]
async fn what_writes_is_refused_and_nothing_is_sent() {
    let (server, bank) = guarded(About { trusts_annotations: true, ..About::default() });
    assert_eq!(run(&server, BALANCE).await, "user=> 100");
    let told = run(&server, &pay(5)).await;
    assert!(told.contains("tool 'bank.pay' writes, and this run may only read"), "{told}");
    assert_eq!((bank.paid(), bank.traces().len()), (vec![], 1));
    // Programs in sessions cannot write either.
    let mut pipe = Pipe::to(&server);
    let call = |tool: &str, arguments: Value| json!({"name": tool, "arguments": arguments});
    let started = pipe.ask(1, "tools/call", call("lisp_session_start", json!({}))).await;
    let id = &started["result"]["structuredContent"]["session_id"];
    let eval = call("lisp_session_eval", json!({"session_id": id, "program": pay(5)}));
    let told = pipe.ask(2, "tools/call", eval).await.to_string();
    assert!(told.contains("this run may only read"), "{told}");
    assert_eq!((bank.paid(), bank.traces().len()), (vec![], 1));
}

#[tokio::test]
async fn a_server_is_not_believed_about_itself() {
    let (server, bank) = guarded(About::default());
    let told = run(&server, BALANCE).await;
    assert!(told.contains("is declared as read-only") && told.contains("trust_annotations"), "{told}");
    assert!(bank.traces().is_empty());
    // Without the flag, reads are not checked.
    let (server, _) = server_with(About::default(), &[]);
    assert_eq!(run(&server, BALANCE).await, "user=> 100");
}

#[tokio::test]
async fn the_configuration_knows_better_than_the_server() {
    let effects = |effect| [("balance".to_string(), effect)].into();
    let (server, _) = guarded(About { effect_tools: effects(Effects::Read), ..About::default() });
    assert_eq!(run(&server, BALANCE).await, "user=> 100");
    let (server, _) = guarded(About { effect: Some(Effects::Read), ..About::default() });
    assert_eq!(run(&server, BALANCE).await, "user=> 100");
    let about = About { effect_tools: effects(Effects::Write), trusts_annotations: true, ..About::default() };
    let (server, bank) = guarded(about);
    assert!(run(&server, BALANCE).await.contains("tool 'bank.balance' writes"));
    assert!(bank.traces().is_empty());
}
