//! Failing servers: each fails as documented, within its deadline, and without affecting others.

use crate::support::{
    CANARY, assert_fault, call, eventually, exists, fault, logged, redactor, request, say, server, settings,
    times_logged, trial, works,
};
use libtest_mimic::Trial;
use ptc_upstream::transport::mcp_stdio;
use ptc_upstream::{Health, Reason};
use serde_json::json;
use std::time::Duration;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("chaos::one_that_hangs", one_that_hangs),
        trial("chaos::one_that_dies_in_a_call", one_that_dies_in_a_call),
        trial("chaos::one_that_floods", one_that_floods),
        trial("chaos::one_that_sends_malformed_messages", one_that_sends_malformed_messages),
        trial("chaos::one_whose_answers_are_too_long", one_whose_answers_are_too_long),
        trial("chaos::one_that_mixes_up_ids", one_that_mixes_up_ids),
        trial("chaos::one_that_answers_too_late", one_that_answers_too_late),
        trial("chaos::one_that_changes_its_tools", one_that_changes_its_tools),
        trial("chaos::one_that_comes_back_is_greeted_as_before", one_that_comes_back_is_greeted_as_before),
        trial("chaos::one_that_tells_its_credential", one_that_tells_its_credential),
        trial("chaos::one_that_is_slow_to_greet", one_that_is_slow_to_greet),
        trial("chaos::one_that_refuses_to_greet", one_that_refuses_to_greet),
        trial("chaos::one_that_crashes_again_and_again", one_that_crashes_again_and_again),
    ]
}

async fn one_that_hangs() {
    let (bad, good) = (server(&[]), server(&[]));
    works(&bad).await;
    let hanging = bad.call(request("hang", json!({}), Duration::from_millis(300)));
    let (hung, ()) = futures_util::future::join(hanging, works(&good)).await;
    assert_fault(&hung.expect_err("a fault"), Reason::Timeout, "upstream 'fixture' did not answer within ");
    works(&bad).await;
}

async fn one_that_dies_in_a_call() {
    let (bad, good) = (server(&["--stderr", "goodbye"]), server(&[]));
    let pid = say(&bad, "pid", json!({})).await;
    let calls = ["hang", "hang", "die"].map(|tool| {
        let bad = bad.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(if tool == "die" { 100 } else { 0 })).await;
            fault(&bad, tool, json!({"code": 7})).await
        }
    });
    for fault in futures_util::future::join_all(calls).await {
        assert_fault(
            &fault,
            Reason::UpstreamUnavailable,
            "its process has ended (exit status: 7); its last line on stderr: goodbye",
        );
    }
    assert!(!exists(&pid));
    eventually("it rests", || bad.health() == Health::Backoff).await;
    let resting = fault(&bad, "echo", json!({})).await;
    assert_fault(&resting, Reason::UpstreamUnavailable, "upstream 'fixture' is in its recovery window");
    works(&good).await;
    // The first call after its delay restarts it.
    let mut answer = call(&bad, "echo", json!({"text": "back"})).await;
    while answer.as_ref().is_err_and(|fault| fault.message.contains("in its recovery window")) {
        tokio::time::sleep(Duration::from_millis(50)).await;
        answer = call(&bad, "echo", json!({"text": "back"})).await;
    }
    assert_eq!(answer.expect("an answer").value()["content"][0]["text"], "back");
    assert_eq!(bad.health(), Health::Ready);
    assert_ne!(say(&bad, "pid", json!({})).await, pid);
}

async fn one_that_floods() {
    let (bad, good) = (server(&[]), server(&[]));
    let flood = call(&bad, "flood", json!({"n": 5000}));
    let (flood, ()) = futures_util::future::join(flood, works(&good)).await;
    assert_eq!(flood.expect("an answer").value()["content"][0]["text"], "after the flood");
    works(&bad).await;
}

async fn one_that_sends_malformed_messages() {
    let client = server(&[]);
    let pid = say(&client, "pid", json!({})).await;
    assert_eq!(say(&client, "garbage", json!({})).await, "in between");
    assert_fault(
        &fault(&client, "malformed", json!({})).await,
        Reason::UpstreamError,
        "the reply is not valid JSON",
    );
    assert_fault(
        &fault(&client, "deep", json!({})).await,
        Reason::UpstreamError,
        "the reply is not valid JSON",
    );
    assert_eq!(say(&client, "pid", json!({})).await, pid, "the child is kept");
}

async fn one_whose_answers_are_too_long() {
    let (bad, good) = (server(&[]), server(&[]));
    let pid = say(&bad, "pid", json!({})).await;
    for args in [json!({"bytes": 30_000_000}), json!({"bytes": 200_000, "id_last": true})] {
        let (fault, ()) = futures_util::future::join(fault(&bad, "big", args.clone()), works(&good)).await;
        assert_fault(
            &fault,
            Reason::ResponseTooLarge,
            "the reply has more than 100000 bytes (max_response_bytes)",
        );
        assert!(fault.wire_bytes > args["bytes"].as_u64().unwrap(), "{fault:?}");
    }
    // The limit of the call may be lower than the server's.
    let mut small = request("big", json!({"bytes": 5000}), Duration::from_secs(10));
    small.max_bytes = 4000;
    let small = bad.call(small).await.expect_err("a fault");
    assert_fault(&small, Reason::ResponseTooLarge, "more than 4000 bytes");
    assert_eq!(say(&bad, "big", json!({"bytes": 90_000})).await.len(), 90_000);
    assert_eq!(say(&bad, "pid", json!({})).await, pid, "the child is kept");
}

async fn one_that_mixes_up_ids() {
    let client = server(&[]);
    works(&client).await;
    let lost = client.call(request("wrong_id", json!({}), Duration::from_millis(300))).await;
    assert_fault(&lost.expect_err("a fault"), Reason::Timeout, "did not answer");
    assert_eq!(say(&client, "twice", json!({})).await, "once");
    works(&client).await;
}

async fn one_that_answers_too_late() {
    let client = server(&[]);
    works(&client).await;
    let late =
        client.call(request("sleep", json!({"ms": 300, "text": "late"}), Duration::from_millis(50))).await;
    assert_fault(&late.expect_err("a fault"), Reason::Timeout, "did not answer within ");
    assert_eq!(say(&client, "sleep", json!({"ms": 500, "text": "in time"})).await, "in time");
}

async fn one_that_changes_its_tools() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lives");
    let client = server(&["--second-life", file.to_str().expect("a path")]);
    assert_eq!(client.tools().await.expect("tools")[0].name, "echo");
    let before = client.generation();
    fault(&client, "die", json!({})).await;
    // After its restart it has `echo_new` in place of `echo`.
    let mut gone = fault(&client, "echo", json!({})).await;
    while gone.message.contains("in its recovery window") {
        tokio::time::sleep(Duration::from_millis(50)).await;
        gone = fault(&client, "echo", json!({})).await;
    }
    let words = "upstream 'fixture' no longer has tool 'echo' since it was restarted";
    assert_fault(&gone, Reason::UpstreamError, words);
    assert!(client.generation() > before);
    assert!(logged("has different tools since its restart"));
    say(&client, "pid", json!({})).await;
}

async fn one_that_comes_back_is_greeted_as_before() {
    let client = server(&["--tag", "once-only"]);
    works(&client).await;
    eventually("the first greeting is logged", || logged("asked to discover once-only")).await;
    fault(&client, "die", json!({})).await;
    let mut answer = call(&client, "stderr", json!({"text": "back once-only"})).await;
    while answer.is_err() {
        tokio::time::sleep(Duration::from_millis(50)).await;
        answer = call(&client, "stderr", json!({"text": "back once-only"})).await;
    }
    eventually("it is back", || logged("back once-only")).await;
    assert_eq!(times_logged("asked to discover once-only"), 1);
}

async fn one_that_tells_its_credential() {
    let client = server(&["--stderr", &format!("token={CANARY}")]);
    works(&client).await;
    let fault = fault(&client, "die", json!({})).await;
    assert_fault(&fault, Reason::UpstreamUnavailable, "its last line on stderr: token=[REDACTED]");
    assert!(!logged(CANARY));
}

async fn one_that_is_slow_to_greet() {
    let mut slow = settings(&["--slow-start", "60000"]);
    slow.handshake_timeout = Duration::from_millis(500);
    let (bad, good) = (mcp_stdio::connect("slow", slow, redactor()), server(&[]));
    let (slow, ()) = futures_util::future::join(fault(&bad, "echo", json!({})), works(&good)).await;
    let words = "upstream 'slow' did not finish its handshake within 500 ms (handshake_timeout_ms)";
    assert_fault(&slow, Reason::UpstreamUnavailable, words);
    assert_eq!(bad.health(), Health::Backoff);
}

async fn one_that_refuses_to_greet() {
    let client = server(&["--handshake", "refused"]);
    let fault = client.tools().await.expect_err("a fault");
    assert_fault(&fault, Reason::UpstreamUnavailable, "failed the handshake");
    assert_fault(&fault, Reason::UpstreamUnavailable, "not today");
}

async fn one_that_crashes_again_and_again() {
    let client = server(&["--crash", "always", "--stderr", "no luck"]);
    let mut starts = 0;
    while client.health() != Health::Failed {
        let fault = fault(&client, "echo", json!({})).await;
        assert_eq!(fault.reason, Reason::UpstreamUnavailable, "{fault}");
        if !fault.message.contains("in its recovery window") {
            assert_fault(&fault, Reason::UpstreamUnavailable, "exit status: 3");
            assert_fault(&fault, Reason::UpstreamUnavailable, "no luck");
            starts += 1;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(starts, 5);
    let fault = fault(&client, "echo", json!({})).await;
    assert_fault(&fault, Reason::UpstreamUnavailable, "has crashed too often and will not be started for ");
}
