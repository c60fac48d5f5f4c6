//! HTTP servers, well-behaved and broken.

use crate::support::{CANARY, assert_fault, call, eventually, fault, logged, request, say, trial, works};
use crate::web::{Options, Web};
use libtest_mimic::Trial;
use ptc_upstream::config::HttpSettings;
use ptc_upstream::credentials::{Headers, Secret};
use ptc_upstream::transport::mcp_http;
use ptc_upstream::{Client, Health, Reason};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub const MODERN: Options = Options {
    protocol: "2026-07-28",
    sessions: false,
    events: None,
    crlf: false,
    status: None,
    discover_status: None,
    redirect: None,
    before_answer: None,
    flood: None,
};
pub const LEGACY: Options = Options { protocol: "2025-11-25", sessions: true, ..MODERN };

pub fn tests() -> Vec<Trial> {
    vec![
        trial("http::every_revision_is_spoken", every_revision_is_spoken),
        trial("http::servers_that_trip_over_the_modern_greeting", servers_that_trip_over_the_modern_greeting),
        trial("http::headers", headers),
        trial("http::events_cut_anywhere", events_cut_anywhere),
        trial("http::batches", batches),
        trial("http::a_stream_is_taken_up_again", a_stream_is_taken_up_again),
        trial("http::what_a_status_means", what_a_status_means),
        trial("http::what_a_status_means_at_the_greeting", what_a_status_means_at_the_greeting),
        trial("http::an_expired_session_is_renewed_once", an_expired_session_is_renewed_once),
        trial("http::nobody_is_there", nobody_is_there),
        trial("http::nobody_answers", nobody_answers),
        trial("http::redirects", redirects),
        trial("http::one_that_hangs", one_that_hangs),
        trial("http::one_whose_answers_are_too_long", one_whose_answers_are_too_long),
        trial("http::one_that_sends_malformed_answers", one_that_sends_malformed_answers),
        trial("http::many_calls_are_in_flight", many_calls_are_in_flight),
        trial("http::trace_context_is_handed_on", trace_context_is_handed_on),
        trial("http::changes_of_tools_are_noticed", changes_of_tools_are_noticed),
        trial("http::an_unreadable_ca_file", an_unreadable_ca_file),
    ]
}

pub fn settings(url: &str) -> HttpSettings {
    HttpSettings {
        url: url.parse().expect("a URL"),
        connect_timeout: Duration::from_secs(5),
        request_timeout: Duration::from_secs(30),
        handshake_timeout: Duration::from_secs(10),
        max_response_bytes: 100_000,
        max_concurrency: 16,
        ca_file: None,
    }
}

fn with_token() -> Headers {
    let mut headers = Headers::new();
    headers.add("Authorization", Secret::new(format!("Bearer {CANARY}")));
    headers.add("X-Tenant", Secret::new("seven"));
    headers
}

fn client(web: &Web) -> Arc<dyn Client> {
    mcp_http::connect("web", settings(&web.url), Headers::new())
}

async fn every_revision_is_spoken() {
    for protocol in ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"] {
        for events in [None, Some(0)] {
            for sessions in [false, true] {
                let web = Web::start(Options {
                    protocol,
                    sessions: sessions && protocol != "2026-07-28",
                    events,
                    ..MODERN
                });
                let client = client(&web);
                assert_eq!(client.health(), Health::Cold);
                assert_eq!(client.tools().await.expect(protocol)[0].name, "echo");
                works(&client).await;
                assert_eq!(client.health(), Health::Ready);
                assert_eq!(web.header("tools/call", "mcp-protocol-version").as_deref(), Some(protocol));
                client.stop().await;
            }
        }
    }
}

async fn servers_that_trip_over_the_modern_greeting() {
    for status in [400, 404, 405, 500] {
        let web = Web::start(Options { discover_status: Some(status), ..LEGACY });
        let client = client(&web);
        works(&client).await;
        assert_eq!(web.count("initialize"), 1, "{status}");
        client.stop().await;
    }
}

async fn headers() {
    for options in [MODERN, LEGACY] {
        let web = Web::start(options.clone());
        let client = mcp_http::connect("web", settings(&web.url), with_token());
        works(&client).await;
        let header = |name: &str| web.header("tools/call", name);
        assert_eq!(header("authorization"), Some(format!("Bearer {CANARY}")));
        assert_eq!(header("x-tenant").as_deref(), Some("seven"));
        assert_eq!(header("accept").as_deref(), Some("application/json, text/event-stream"));
        assert_eq!(header("mcp-session-id").as_deref(), options.sessions.then_some("session-1"));
        assert_eq!(
            header("mcp-method").as_deref(),
            (options.protocol == "2026-07-28").then_some("tools/call")
        );
        client.stop().await;
    }
    assert!(!logged(CANARY));
    assert!(!logged("session-1"), "who knows it may speak in it");
}

async fn events_cut_anywhere() {
    for size in 1..40 {
        let web = Web::start(Options { events: Some(size), crlf: size % 2 == 0, ..MODERN });
        let client = client(&web);
        let answer = call(&client, "echo", json!({"text": "zwölf Boxkämpfer\n\n"})).await.expect("an answer");
        assert_eq!(answer.value()["content"][0]["text"], "zwölf Boxkämpfer\n\n", "{size} bytes at a time");
        assert_eq!(answer.http_status, Some(200));
        assert!(answer.wire_bytes > 100);
        client.stop().await;
    }
}

async fn batches() {
    for events in [None, Some(0)] {
        let web = Web::start(Options { events, ..LEGACY });
        assert_eq!(say(&client(&web), "batch", json!({})).await, "one of many");
    }
}

async fn a_stream_is_taken_up_again() {
    for options in [MODERN, LEGACY] {
        let web = Web::start(options);
        let client = client(&web);
        assert_eq!(say(&client, "resume", json!({})).await, "the rest");
        works(&client).await;
        client.stop().await;
    }
}

async fn what_a_status_means() {
    for options in [MODERN, LEGACY] {
        let web = Web::start(options);
        let client = client(&web);
        works(&client).await;
        for (status, reason, words) in [
            (401, Reason::AuthFailed, "rejected the credential"),
            (403, Reason::UpstreamError, "denied access"),
            (418, Reason::UpstreamError, "refused the request (418"),
            (429, Reason::RateLimited, "limits the rate of calls; retry in 7 s"),
            (500, Reason::UpstreamUnavailable, "cannot answer (500"),
            (503, Reason::UpstreamUnavailable, "the reason"),
        ] {
            let fault = fault(&client, "status", json!({"status": status})).await;
            assert_fault(&fault, reason, words);
            assert_fault(&fault, reason, "upstream 'web': ");
            assert_eq!(fault.http_status, Some(status));
        }
        works(&client).await;
        client.stop().await;
    }
}

async fn what_a_status_means_at_the_greeting() {
    for (status, reason) in [
        (401, Reason::AuthFailed),
        (403, Reason::UpstreamError),
        (429, Reason::RateLimited),
        (502, Reason::UpstreamUnavailable),
    ] {
        let web = Web::start(Options { status: Some((status, "{}")), ..MODERN });
        let client = client(&web);
        let fault = client.tools().await.expect_err("a fault");
        assert_fault(&fault, reason, "upstream 'web' ");
        assert_eq!(fault.http_status, Some(status));
        // The next call tries again, and the server may have recovered by then.
        web.options.lock().unwrap().status = None;
        works(&client).await;
        client.stop().await;
    }
}

async fn an_expired_session_is_renewed_once() {
    let web = Web::start(LEGACY);
    let client = client(&web);
    assert_eq!(say(&client, "expire", json!({})).await, "expired");
    works(&client).await;
    assert_eq!(web.seen.lock().unwrap().sessions, 2);
    // A server that forgets the session at once is not tried a third time.
    web.options.lock().unwrap().status = Some((404, "{}"));
    let before = web.seen.lock().unwrap().requests.len();
    let gone = fault(&client, "echo", json!({})).await;
    assert_fault(&gone, Reason::UpstreamError, "404");
    assert!(web.seen.lock().unwrap().requests.len() - before < 6);
    web.options.lock().unwrap().status = None;
    works(&client).await;
    client.stop().await;
}

async fn nobody_is_there() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let client = mcp_http::connect("web", settings(&format!("http://{free}/mcp")), with_token());
    let fault = fault(&client, "echo", json!({})).await;
    assert_fault(&fault, Reason::UpstreamUnavailable, "upstream 'web' cannot be reached: ");
    assert_eq!(client.health(), Health::Cold);
}

async fn nobody_answers() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut silent = settings(&format!("http://{}/mcp", listener.local_addr().expect("an address")));
    silent.handshake_timeout = Duration::from_millis(400);
    let client = mcp_http::connect("web", silent, Headers::new());
    let words = "upstream 'web' did not finish its handshake within 400 ms (handshake_timeout_ms)";
    assert_fault(&fault(&client, "echo", json!({})).await, Reason::UpstreamUnavailable, words);
}

async fn redirects() {
    let elsewhere = Web::start(MODERN);
    for (headers, target, followed) in [
        (Headers::new(), "/there".to_string(), true),
        (with_token(), "/there".to_string(), false),
        (Headers::new(), elsewhere.url.clone(), false),
    ] {
        let web = Web::start(Options { redirect: Some(target.clone()), ..MODERN });
        let client = mcp_http::connect("web", settings(&web.url), headers);
        match followed {
            true => works(&client).await,
            false => {
                let fault = fault(&client, "echo", json!({})).await;
                assert_fault(&fault, Reason::UpstreamError, "sent a redirect, which is not followed (307");
            }
        }
    }
    assert!(elsewhere.seen.lock().unwrap().requests.is_empty());
}

async fn one_that_hangs() {
    for options in [MODERN, LEGACY] {
        let modern = options.protocol == "2026-07-28";
        let (web, other) = (Web::start(options), Web::start(MODERN));
        let (bad, good) = (client(&web), client(&other));
        works(&bad).await;
        let hanging = bad.call(request("hang", json!({}), Duration::from_millis(300)));
        let (hung, ()) = futures_util::future::join(hanging, works(&good)).await;
        assert_fault(&hung.expect_err("a fault"), Reason::Timeout, "upstream 'web' did not answer within ");
        match modern {
            true => eventually("the stream is closed", || web.seen.lock().unwrap().closed_early > 0).await,
            false => eventually("the server is told", || web.count("notifications/cancelled") > 0).await,
        }
        works(&bad).await;
    }
    let web = Web::start(MODERN);
    let mut impatient = settings(&web.url);
    impatient.request_timeout = Duration::from_millis(200);
    let client = mcp_http::connect("web", impatient, Headers::new());
    works(&client).await;
    assert_fault(&fault(&client, "hang", json!({})).await, Reason::Timeout, "within 200 ms");
}

async fn one_whose_answers_are_too_long() {
    for options in
        [MODERN, LEGACY, Options { events: Some(0), ..MODERN }, Options { events: Some(0), ..LEGACY }]
    {
        let web = Web::start(options);
        let client = client(&web);
        let big = fault(&client, "big", json!({"bytes": 5_000_000})).await;
        assert_fault(
            &big,
            Reason::ResponseTooLarge,
            "the reply has more than 100000 bytes (max_response_bytes)",
        );
        assert!(big.wire_bytes > 100_000 && big.wire_bytes < 5_000_000, "{big:?}");
        let endless = fault(&client, "endless", json!({})).await;
        assert_fault(&endless, Reason::ResponseTooLarge, "more than 100000 bytes");
        eventually("the stream is closed", || web.seen.lock().unwrap().closed_early > 0).await;
        works(&client).await;
        client.stop().await;
    }
}

async fn one_that_sends_malformed_answers() {
    for options in [MODERN, LEGACY] {
        let web = Web::start(options);
        let client = client(&web);
        for (tool, reason, words) in [
            ("malformed", Reason::UpstreamError, "the reply is not valid JSON"),
            ("html", Reason::UpstreamError, "content of type 'text/html'"),
            ("other_id", Reason::UpstreamError, "does not belong to the request"),
            ("no_answer", Reason::UpstreamError, "the event stream ended without a reply"),
            ("half_event", Reason::UpstreamError, "the reply is not valid JSON"),
            ("cut_off", Reason::UpstreamUnavailable, "the connection was lost"),
            ("unknown", Reason::UpstreamError, "error -32602: Unknown tool: unknown"),
        ] {
            assert_fault(&fault(&client, tool, json!({})).await, reason, words);
            works(&client).await;
        }
        client.stop().await;
    }
}

async fn many_calls_are_in_flight() {
    for options in [MODERN, Options { events: Some(0), ..LEGACY }] {
        let web = Web::start(options);
        let client = client(&web);
        let calls = (0..50).map(|_| say(&client, "sleep", json!({"ms": 50})));
        let texts = futures_util::future::join_all(calls).await;
        assert!(texts.iter().all(|text| text == "slept") && texts.len() == 50);
        client.stop().await;
    }
}

async fn trace_context_is_handed_on() {
    let web = Web::start(MODERN);
    let client = client(&web);
    let mut request = request("meta", json!({}), Duration::from_secs(10));
    request.traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_string());
    let reply = client.call(request.clone()).await.expect("an answer");
    let meta: Value =
        serde_json::from_str(reply.value()["content"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(meta["traceparent"].as_str(), request.traceparent.as_deref());
}

async fn changes_of_tools_are_noticed() {
    for options in [MODERN, LEGACY] {
        let web = Web::start(options);
        let client = client(&web);
        assert_eq!(client.tools().await.expect("tools")[0].name, "echo");
        // The stream for notifications is opened after the handshake.
        for _ in 0..100 {
            say(&client, "change", json!({})).await;
            if client.generation() > 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(client.generation() > 0);
        assert_eq!(client.tools().await.expect("tools")[0].name, "echo_new");
        client.stop().await;
    }
}

async fn an_unreadable_ca_file() {
    let mut settings = settings("https://localhost:1/mcp");
    settings.ca_file = Some("/nowhere/ca.pem".into());
    let client = mcp_http::connect("web", settings, Headers::new());
    assert_fault(
        &fault(&client, "echo", json!({})).await,
        Reason::UpstreamUnavailable,
        "ca_file /nowhere/ca.pem",
    );
}
