//! No zombies and no orphans.

use crate::support::{
    assert_fault, call, eventually, exists, fault, logged, redactor, say, server, settings, trial,
};
use libtest_mimic::Trial;
use ptc_upstream::Reason;
use ptc_upstream::transport::mcp_stdio;
use serde_json::json;
use std::io::BufRead;
use std::process::{Command, Stdio};
use std::time::Duration;

pub fn tests() -> Vec<Trial> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    vec![
        trial(
            "children::a_stopped_child_is_gone_with_all_it_started",
            a_stopped_child_is_gone_with_all_it_started,
        ),
        trial("children::a_dropped_child_is_gone", a_dropped_child_is_gone),
        trial("children::a_stubborn_child_is_killed", a_stubborn_child_is_killed),
        trial("children::what_a_crashed_child_started_is_killed", what_a_crashed_child_started_is_killed),
        trial("children::stopping_while_starting", stopping_while_starting),
        trial("children::a_child_dies_with_a_killed_host", a_child_dies_with_a_killed_host),
    ]
}

async fn a_stopped_child_is_gone_with_all_it_started() {
    let client = server(&[]);
    let pid = say(&client, "pid", json!({})).await;
    let grandchild = say(&client, "grandchild", json!({})).await;
    assert!(exists(&pid) && exists(&grandchild));
    client.stop().await;
    assert!(!exists(&pid), "reaped before stop returns");
    eventually("the grandchild is gone", || !exists(&grandchild)).await;
}

async fn a_dropped_child_is_gone() {
    let client = server(&[]);
    let pid = say(&client, "pid", json!({})).await;
    drop(client);
    eventually("the child is gone", || !exists(&pid)).await;
}

async fn a_stubborn_child_is_killed() {
    // It ignores both the end of its input and SIGTERM.
    let mut stubborn = settings(&[]);
    stubborn.command = "/bin/sh".into();
    let script = "trap '' TERM; echo \"pid $$\" >&2; while :; do sleep 0.1; done";
    stubborn.args = vec!["-c".to_string(), script.to_string()];
    stubborn.handshake_timeout = Duration::from_millis(500);
    let client = mcp_stdio::connect("stubborn", stubborn, redactor());
    let fault = fault(&client, "echo", json!({})).await;
    assert_eq!(fault.reason, Reason::UpstreamUnavailable, "{fault}");
    let mine = std::process::id().to_string();
    eventually("no child like this is left", || {
        !std::fs::read_dir("/proc").expect("processes").flatten().any(|entry| {
            let status = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            let command = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            status.contains(&format!("PPid:\t{mine}\n")) && command.contains("trap '' TERM")
        })
    })
    .await;
}

async fn what_a_crashed_child_started_is_killed() {
    let client = server(&[]);
    let pid = say(&client, "pid", json!({})).await;
    let grandchild = say(&client, "grandchild", json!({})).await;
    fault(&client, "die", json!({"code": 1})).await;
    eventually("both are gone", || !exists(&pid) && !exists(&grandchild)).await;
}

async fn stopping_while_starting() {
    let client = server(&["--slow-start", "60000", "--stderr", "begun to start"]);
    let starting = call(&client, "echo", json!({}));
    let stopping = async {
        eventually("it has begun", || logged("begun to start")).await;
        client.stop().await;
    };
    let (started, ()) = futures_util::future::join(starting, stopping).await;
    assert_fault(
        &started.expect_err("a fault"),
        Reason::UpstreamUnavailable,
        "upstream 'fixture' has been stopped",
    );
    assert_eq!(client.health(), ptc_upstream::Health::Cold);
}

/// Starts a child, prints its pid, and waits to be killed.
pub fn host() {
    let client = server(&["--linger", "600000"]);
    let pid = pollster::block_on(say(&client, "pid", json!({})));
    println!("{pid}");
    std::thread::sleep(Duration::from_secs(600));
}

async fn a_child_dies_with_a_killed_host() {
    let mut host = Command::new(std::env::current_exe().expect("this binary"))
        .arg("--host")
        .stdout(Stdio::piped())
        .spawn()
        .expect("a host");
    let mut pid = String::new();
    let out = host.stdout.take().expect("a pipe");
    std::io::BufReader::new(out).read_line(&mut pid).expect("a line");
    let pid = pid.trim().to_string();
    assert!(exists(&pid));
    host.kill().expect("SIGKILL");
    host.wait().expect("reaped");
    eventually("the child is gone, though it ignores the end of its input", || {
        // As an orphan it belongs to init, which may take its time to reap it.
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.is_empty() || status.contains("State:\tZ")
    })
    .await;
}
