//! HTTP servers that flood the client, next to one that behaves.

use crate::http::{LEGACY, MODERN, settings};
use crate::support::{assert_fault, eventually, logged, request, say, trial, works};
use crate::web::{Options, Web};
use libtest_mimic::Trial;
use ptc_upstream::config::HttpSettings;
use ptc_upstream::credentials::Headers;
use ptc_upstream::transport::mcp_http;
use ptc_upstream::{Client, Reason};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("hostile::a_batch_of_questions_does_not_bury_the_answer", a_batch_of_questions),
        trial("hostile::questions_nobody_expected_are_not_all_answered", questions_nobody_expected),
        trial("hostile::endless_news_of_tools_are_few_changes", endless_news_of_tools),
        trial("hostile::a_stream_of_nothing_is_read_slowly", a_stream_of_nothing),
        trial("hostile::waiting_for_a_place_is_not_call_time", waiting_for_a_place),
    ]
}

fn client(web: &Web, max_concurrency: usize) -> Arc<dyn Client> {
    let settings = HttpSettings { max_response_bytes: 4 << 20, max_concurrency, ..settings(&web.url) };
    mcp_http::connect("web", settings, Headers::new())
}

/// Builds an event of 70,000 requests, sent both in reply to a call and unsolicited.
fn questions() -> String {
    let batch: Vec<_> = (0..70_000).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).collect();
    format!("id: 1\ndata: {}\n\n", json!(batch))
}

/// Returns how many of its requests the server got a reply to.
fn answered(web: &Web) -> usize {
    let seen = web.seen.lock().unwrap();
    seen.requests.iter().filter(|request| request.body.get("result").is_some()).count()
}

async fn a_batch_of_questions() {
    let web = Web::start(Options { before_answer: Some(questions().into()), ..MODERN });
    let (hostile, good) = (client(&web, 16), Web::start(MODERN));
    let good = client(&good, 16);
    assert_eq!(say(&hostile, "asks_first", json!({})).await, "done");
    works(&good).await;
    works(&hostile).await;
    assert!(answered(&web) < 1_000, "{} questions were answered", answered(&web));
    hostile.stop().await;
    good.stop().await;
}

async fn questions_nobody_expected() {
    let web = Web::start(Options { flood: Some(questions().into()), ..LEGACY });
    let (hostile, good) = (client(&web, 16), Web::start(LEGACY));
    let good = client(&good, 16);
    works(&hostile).await;
    eventually("some are answered", || answered(&web) > 0).await;
    for _ in 0..20 {
        works(&good).await;
        works(&hostile).await;
    }
    assert!(answered(&web) < 5_000, "{} questions were answered", answered(&web));
    hostile.stop().await;
    good.stop().await;
}

async fn endless_news_of_tools() {
    let news = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let web = Web::start(Options { flood: Some(format!("data: {news}\n\n").repeat(1_000).into()), ..LEGACY });
    let (hostile, good) = (client(&web, 16), Web::start(LEGACY));
    let good = client(&good, 16);
    works(&hostile).await;
    eventually("the news are heard", || hostile.generation() > 0).await;
    for _ in 0..20 {
        works(&good).await;
        works(&hostile).await;
    }
    assert!(hostile.generation() < 100, "{} changes", hostile.generation());
    hostile.stop().await;
    good.stop().await;
}

async fn a_stream_of_nothing() {
    let web = Web::start(Options { flood: Some(":\n\n".repeat(10_000).into()), ..LEGACY });
    let hostile = mcp_http::connect("says-nothing", settings(&web.url), Headers::new());
    let good = Web::start(LEGACY);
    let good = client(&good, 16);
    works(&hostile).await;
    // Comments are not events: only their bytes count.
    eventually("it is read more slowly", || logged("now read more slowly upstream=\"says-nothing\"")).await;
    for _ in 0..20 {
        works(&good).await;
        works(&hostile).await;
    }
    hostile.stop().await;
    good.stop().await;
}

async fn waiting_for_a_place() {
    let web = Web::start(MODERN);
    let narrow = client(&web, 1);
    works(&narrow).await;
    // One after another they take three seconds, and each may take two.
    let calls = (0..6).map(|_| {
        let mut call = request("sleep", json!({"ms": 500}), Duration::from_secs(30));
        call.timeout = Duration::from_secs(2);
        narrow.call(call)
    });
    for answer in futures_util::future::join_all(calls).await {
        answer.expect("an answer");
    }
    let sent = web.count("tools/call");
    let long = narrow.call(request("sleep", json!({"ms": 2_000}), Duration::from_secs(30)));
    let impatient = async {
        eventually("the place is taken", || web.count("tools/call") > sent).await;
        let mut call = request("sleep", json!({"ms": 0}), Duration::from_secs(30));
        call.queue_timeout = Duration::from_millis(50);
        narrow.call(call).await.expect_err("no place")
    };
    let (answer, fault) = futures_util::future::join(long, impatient).await;
    answer.expect("an answer");
    let words = "waited 50 ms for one of its 1 slots (max_concurrency) and was not sent";
    assert_fault(&fault, Reason::Timeout, words);
    assert_eq!(web.count("tools/call"), sent + 1);
    narrow.stop().await;
}
