//! Guarantees for servers that run as child processes.

use crate::support::{
    assert_fault, call, eventually, fault, logged, redactor, request, say, server, settings, trial, works,
};
use libtest_mimic::Trial;
use ptc_upstream::transport::mcp_stdio;
use ptc_upstream::{Health, Reason};
use serde_json::{Value, json};
use std::time::Duration;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("stdio::nothing_starts_before_it_is_needed", nothing_starts_before_it_is_needed),
        trial("stdio::every_revision_is_spoken", every_revision_is_spoken),
        trial(
            "stdio::servers_that_do_not_know_the_modern_greeting",
            servers_that_do_not_know_the_modern_greeting,
        ),
        trial("stdio::lists_have_pages", lists_have_pages),
        trial("stdio::answers_come_as_they_were_sent", answers_come_as_they_were_sent),
        trial("stdio::faults_of_the_server", faults_of_the_server),
        trial("stdio::the_environment_is_clean", the_environment_is_clean),
        trial("stdio::many_calls_are_in_flight", many_calls_are_in_flight),
        trial(
            "stdio::waiting_for_a_place_ends_with_the_deadline",
            waiting_for_a_place_ends_with_the_deadline,
        ),
        trial("stdio::trace_context_is_handed_on", trace_context_is_handed_on),
        trial("stdio::a_dropped_call_is_taken_back", a_dropped_call_is_taken_back),
        trial("stdio::changes_of_tools_are_noticed", changes_of_tools_are_noticed),
        trial("stdio::questions_of_the_server", questions_of_the_server),
        trial(
            "stdio::errors_of_the_child_are_logged_and_scrubbed",
            errors_of_the_child_are_logged_and_scrubbed,
        ),
        Trial::test("stdio::no_runtime_of_the_host_is_needed", || {
            let client = server(&[]);
            pollster::block_on(works(&client));
            pollster::block_on(client.stop());
            Ok(())
        }),
    ]
}

async fn nothing_starts_before_it_is_needed() {
    let client = server(&[]);
    assert_eq!(client.health(), Health::Cold);
    works(&client).await;
    assert_eq!(client.health(), Health::Ready);
    client.stop().await;
    assert_fault(&fault(&client, "echo", json!({})).await, Reason::UpstreamUnavailable, "has been stopped");
}

async fn every_revision_is_spoken() {
    for protocol in ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let client = server(&["--protocol", protocol]);
        let tools = client.tools().await.unwrap_or_else(|fault| panic!("{protocol}: {fault}"));
        assert_eq!(tools[0].name, "echo", "{protocol}");
        works(&client).await;
        client.stop().await;
    }
}

async fn servers_that_do_not_know_the_modern_greeting() {
    for how in ["silence", "death"] {
        let mut settings = settings(&["--discover", how]);
        settings.handshake_timeout = Duration::from_secs(4);
        let client = mcp_stdio::connect("old", settings, redactor());
        works(&client).await;
        client.stop().await;
    }
}

async fn lists_have_pages() {
    let client = server(&["--pages", "3"]);
    let tools = client.tools().await.expect("tools");
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["echo", "pid", "echo_1", "echo_2"]);
    assert_eq!(tools[0].description.as_deref(), Some("Says it again"));
    assert_eq!(tools[0].input_schema["properties"]["text"]["type"], "string");
    assert_eq!(tools[1].description.as_deref(), Some("page 0"), "the first of a name counts");
    client.stop().await;
}

async fn answers_come_as_they_were_sent() {
    let client = server(&[]);
    let structured = call(&client, "structured", json!({})).await.expect("an answer");
    let sent = json!({"content": [], "structuredContent": {"a": [1, {"b": null}]}, "odd": true});
    assert_eq!(structured.value(), sent);
    assert!(structured.wire_bytes > 50);
    assert_eq!(structured.http_status, None);
    let strange = call(&client, "strange", json!({})).await.expect("an answer");
    assert_eq!(strange.value()["content"][0]["type"], "hologram");
    let failed = call(&client, "fail", json!({})).await.expect("an answer");
    assert_eq!(failed.value()["isError"], true);
    assert_eq!(say(&client, "string_id", json!({})).await, "as a string");
    client.stop().await;
}

async fn faults_of_the_server() {
    let client = server(&[]);
    let refused = fault(&client, "refuse", json!({})).await;
    assert_fault(
        &refused,
        Reason::UpstreamError,
        "upstream 'fixture': the server answered with error -32602: no such thing",
    );
    assert!(refused.wire_bytes > 0);
    assert_fault(&fault(&client, "input", json!({})).await, Reason::UpstreamError, "input_required");
    assert_fault(
        &fault(&client, "neither", json!({})).await,
        Reason::UpstreamError,
        "neither a result nor an error",
    );
    works(&client).await;
    client.stop().await;

    let mut missing = settings(&[]);
    missing.command = "/nowhere/to/be/found".into();
    let client = mcp_stdio::connect("missing", missing, redactor());
    // Clients see the name of the command, but not its path.
    let words = "upstream 'missing' could not be started: found: No such file";
    let fault = fault(&client, "echo", json!({})).await;
    assert_fault(&fault, Reason::UpstreamUnavailable, words);
    assert!(!fault.to_string().contains("nowhere"), "{fault}");
}

async fn the_environment_is_clean() {
    let env = async |inherit_env: bool| -> Value {
        let mut settings = settings(&[]);
        settings.inherit_env = inherit_env;
        settings.cd = Some("/".into());
        let client = mcp_stdio::connect("fixture", settings, redactor());
        let env = say(&client, "env", json!({})).await;
        assert_eq!(say(&client, "folder", json!({})).await, "/");
        client.stop().await;
        serde_json::from_str(&env).expect("JSON")
    };
    // Cargo sets this for tests.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let clean = env(false).await;
    let mut names: Vec<&str> = clean.as_object().expect("an object").keys().map(String::as_str).collect();
    names.retain(|name| !["PATH", "HOME", "LANG", "TMPDIR"].contains(name));
    assert_eq!(names, ["TOKEN"]);
    let all = env(true).await;
    assert_eq!(all["TOKEN"], crate::support::CANARY);
    assert!(all.get("CARGO_MANIFEST_DIR").is_some());
}

async fn many_calls_are_in_flight() {
    let client = server(&[]);
    let calls = (0..50).map(|n| {
        let client = client.clone();
        async move { say(&client, "sleep", json!({"ms": 50, "text": n.to_string()})).await }
    });
    let texts = futures_util::future::join_all(calls).await;
    assert_eq!(texts, (0..50).map(|n| n.to_string()).collect::<Vec<_>>());
    let most: usize = say(&client, "most", json!({})).await.parse().expect("a number");
    assert!((2..=8).contains(&most), "{most} at once");
    client.stop().await;
}

async fn waiting_for_a_place_ends_with_the_deadline() {
    let mut settings = settings(&[]);
    settings.max_concurrency = 1;
    let client = mcp_stdio::connect("narrow", settings, redactor());
    works(&client).await;
    let long = client.call(request("hang", json!({}), Duration::from_secs(3)));
    let short = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        client.call(request("echo", json!({"text": "x"}), Duration::from_millis(100))).await
    };
    let (long, short) = futures_util::future::join(long, short).await;
    assert_fault(&long.expect_err("hangs"), Reason::Timeout, "did not answer within");
    assert_fault(&short.expect_err("waits"), Reason::Timeout, "upstream 'narrow' is busy: the call waited ");
    works(&client).await;
    client.stop().await;
}

async fn trace_context_is_handed_on() {
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for protocol in ["2026-07-28", "2025-11-25"] {
        let client = server(&["--protocol", protocol]);
        let mut request = request("meta", json!({}), Duration::from_secs(10));
        request.traceparent = Some(traceparent.to_string());
        let reply = client.call(request).await.expect("an answer");
        let meta: Value =
            serde_json::from_str(reply.value()["content"][0]["text"].as_str().expect("text")).expect("JSON");
        assert_eq!(meta["traceparent"], traceparent);
        let version = meta.get("io.modelcontextprotocol/protocolVersion");
        assert_eq!(version.is_some(), protocol == "2026-07-28", "{meta}");
        client.stop().await;
    }
}

async fn a_dropped_call_is_taken_back() {
    for protocol in ["2026-07-28", "2025-11-25"] {
        let client = server(&["--protocol", protocol]);
        works(&client).await;
        let hanging = client.call(request("hang", json!({}), Duration::from_secs(30)));
        let _ = tokio::time::timeout(Duration::from_millis(100), hanging).await;
        // A deadline cancels the request as well.
        let _ = client.call(request("hang", json!({}), Duration::from_millis(50))).await;
        let mut cancelled = Vec::new();
        for _ in 0..200 {
            cancelled = serde_json::from_str(&say(&client, "cancelled", json!({})).await).expect("JSON");
            if cancelled.len() == 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let cancelled: Vec<Value> = cancelled;
        assert_eq!(cancelled.len(), 2, "{protocol}");
        client.stop().await;
    }
}

async fn changes_of_tools_are_noticed() {
    for protocol in ["2026-07-28", "2025-11-25"] {
        let client = server(&["--protocol", protocol]);
        assert_eq!(client.tools().await.expect("tools")[0].name, "echo");
        let before = client.generation();
        if protocol == "2026-07-28" {
            // The server notifies only those who have subscribed by now.
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        assert_eq!(say(&client, "change", json!({})).await, "changed");
        eventually("the change is noticed", || client.generation() > before).await;
        assert_eq!(client.tools().await.expect("tools")[0].name, "echo_new");
        client.stop().await;
    }
}

async fn questions_of_the_server() {
    let client = server(&[]);
    let answers: Value = serde_json::from_str(&say(&client, "ask", json!({})).await).expect("JSON");
    let answer = |id: &str| {
        let found = answers.as_array().expect("a list").iter().find(|answer| answer["id"] == id);
        found.cloned().unwrap_or_else(|| panic!("no answer to {id}: {answers}"))
    };
    assert_eq!(answer("q0")["result"], json!({}), "we are here");
    assert_eq!(answer("q1")["error"]["code"], -32601, "there is no model to ask");
    client.stop().await;
}

async fn errors_of_the_child_are_logged_and_scrubbed() {
    let client = server(&[]);
    let text = format!("line 4711 holds {}", crate::support::CANARY);
    say(&client, "stderr", json!({"text": text})).await;
    eventually("the line is logged", || logged("line 4711 holds [REDACTED]")).await;
    client.stop().await;
}
