//! Trace files: `--trace-dir`.

use crate::pipe::{ENDLESS, Pipe};
use crate::server;
use ptc_mcp::protocol::Build;
use ptc_mcp::{Host, Server, Sessions};
use ptc_runtime::{Prelude, PreludeStore, Runtime};
use serde_json::{Value, json};
use std::path::Path;

fn traced(folder: &Path, more: &[&str]) -> Server {
    let dir = folder.join("traces").display().to_string();
    server(&[&["--trace-dir", &dir], more].concat())
}

/// Returns the names and lines of all traces, sorted by request id.
fn files(server: &Server, folder: &Path) -> Vec<(String, Vec<Value>)> {
    server.traces().unwrap().flush();
    let mut files: Vec<(String, Vec<Value>)> = std::fs::read_dir(folder.join("traces"))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            (path.file_name().unwrap().to_str().unwrap().to_string(), lines)
        })
        .collect();
    files.sort_by_key(|(_, lines)| lines[0]["request_id"].to_string());
    files
}

#[tokio::test]
async fn every_call_is_a_file_named_by_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let server = traced(folder.path(), &["--sessions"]);
    let mut pipe = Pipe::to(&server);
    pipe.eval("a", "(println \"hi\") (+ 1 2)").await;
    pipe.next().await;
    pipe.eval("b", "(fail :no)").await;
    pipe.next().await;
    pipe.ask("c", "tools/call", json!({"name": "lisp_session_list", "arguments": {}})).await;
    pipe.ask("d", "tools/list", json!({})).await;
    let files = files(&server, folder.path());
    let ends: Vec<&str> = files.iter().map(|(name, _)| name.rsplit_once('-').unwrap().1).collect();
    assert_eq!(ends, ["ok.jsonl", "error.jsonl", "ok.jsonl"]);
    // The hash of `a`.
    assert!(files[0].0.contains("-ca978112-ok") && !files[0].0.contains(':'), "{}", files[0].0);
    let events: Vec<&str> = files[0].1.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["trace.start", "call.start", "execute.stop", "call.stop", "trace.stop"]);
    let (start, stop) = (&files[0].1[0], &files[0].1[4]);
    assert_eq!(
        (&start["kind"], &start["query"]["preview"]),
        (&json!("mcp_call"), &json!("(println \"hi\") (+ 1 2)"))
    );
    assert_eq!((&stop["status"], &stop["prints"]), (&json!("ok"), &json!({"count": 1, "first": "hi"})));
    assert_eq!(files[1].1.last().unwrap()["reason"], "fail");
}

/// A traced server with these preludes, whose sessions have a store with one more.
fn with_preludes(folder: &Path, sources: &[&str]) -> (Server, Vec<Prelude>) {
    let dir = folder.join("traces").display().to_string();
    let settings = crate::settings(&["--sessions", "--trace-dir", &dir]);
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let preludes: Vec<Prelude> =
        sources.iter().map(|source| Prelude::compile(&runtime, source).unwrap()).collect();
    let host = preludes
        .iter()
        .fold(Host::new(&runtime, &settings, None), |host, prelude| host.prelude(prelude).unwrap());
    let store = PreludeStore::new(&runtime);
    store.write("paged", "(ns paged) (def size 1)", json!({})).unwrap();
    store.write("paged", "(ns paged) (def size 2)", json!({})).unwrap();
    let sessions = Sessions::builder(&host, &settings).store(&store).open().unwrap();
    (Server::new(host, &settings, Some(sessions), Build::default()).unwrap(), preludes)
}

#[tokio::test]
async fn a_trace_names_the_preludes_that_the_call_had() {
    let told = async |sources: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let (server, preludes) = with_preludes(folder.path(), sources);
        let mut pipe = Pipe::to(&server);
        pipe.eval("a", "(crm/find 1)").await;
        pipe.next().await;
        let start = files(&server, folder.path()).remove(0).1.remove(0);
        (start["preludes"].clone(), preludes)
    };
    let crm = "(ns crm) (defn find [id] id)";
    let (seen, preludes) = told(&[crm, "(ns shop) (def rate 19)"]).await;
    let wanted: Vec<Value> = preludes
        .iter()
        .map(|prelude| {
            json!({
                "source_hash": prelude.source_hash(), "artifact_hash": prelude.artifact_hash(),
                "interface_hash": prelude.interface_hash(), "namespaces": [prelude.namespaces()[0].name],
            })
        })
        .collect();
    assert_eq!(seen, json!(wanted));
    // Another body is another prelude, and a server without one says nothing.
    let (other, _) = told(&["(ns crm) (defn find [id] [id])", "(ns shop) (def rate 19)"]).await;
    assert_ne!(other[0]["source_hash"], seen[0]["source_hash"]);
    assert_ne!(other[0]["artifact_hash"], seen[0]["artifact_hash"]);
    assert_eq!((&other[0]["interface_hash"], &other[1]), (&seen[0]["interface_hash"], &seen[1]));
    assert_eq!(told(&[]).await.0, Value::Null);
}

#[tokio::test]
async fn a_trace_of_a_session_names_its_stored_preludes_too() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = with_preludes(folder.path(), &["(ns crm) (defn find [id] id)"]);
    let mut pipe = Pipe::to(&server);
    let start = json!({"name": "lisp_session_start", "arguments": {"preludes": ["paged@1"]}});
    let started = pipe.ask("a", "tools/call", start).await;
    let started: Value = serde_json::from_str(crate::pipe::text(&started)).unwrap();
    for (id, program) in [("b", "(crm/find paged/size)"), ("c", "(+ 1 nil)")] {
        let args = json!({"session_id": started["session_id"], "program": program});
        pipe.ask(id, "tools/call", json!({"name": "lisp_session_eval", "arguments": args})).await;
    }
    let files = files(&server, folder.path());
    for (name, lines) in &files[1..] {
        let refs = &lines.last().unwrap()["session"]["prelude_refs"];
        assert_eq!(refs, &started["prelude_refs"], "{name}: {lines:?}");
        assert_eq!((&refs[0]["id"], &refs[0]["version"]), (&json!("paged"), &json!(1)));
        assert_eq!(refs[0]["checksum"].as_str().unwrap().len(), 64);
        assert_eq!(lines[0]["preludes"][0]["namespaces"], json!(["crm"]));
    }
    assert_eq!(files.len(), 3);
}

#[tokio::test]
async fn payloads_are_as_the_settings_say() {
    for (policy, query, has_result) in [("none", json!(null), false), ("full", json!("(+ 1 data/n)"), true)] {
        let folder = tempfile::tempdir().unwrap();
        let server = traced(folder.path(), &["--trace-payloads", policy]);
        let mut pipe = Pipe::to(&server);
        let args = json!({"program": "(+ 1 data/n)", "context": {"n": 1}});
        pipe.ask(1, "tools/call", json!({"name": "lisp_eval", "arguments": args})).await;
        let lines = files(&server, folder.path()).remove(0).1;
        match policy {
            "full" => assert_eq!((&lines[0]["query"], &lines[0]["context"]), (&query, &json!({"n": 1}))),
            _ => assert_eq!(
                (&lines[0]["query"]["preview"], &lines[0]["context"]),
                (&query, &json!({"bytes": 7}))
            ),
        }
        assert_eq!(lines.last().unwrap().get("result").is_some(), has_result);
    }
}

#[tokio::test]
async fn old_files_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let server = traced(folder.path(), &["--trace-max-files=3"]);
    let mut pipe = Pipe::to(&server);
    for id in 0..8 {
        pipe.eval(id, "1").await;
        pipe.next().await;
    }
    assert_eq!(files(&server, folder.path()).len(), 3);
}

#[tokio::test]
async fn a_call_that_nobody_waited_for_ends_in_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let server = traced(folder.path(), &["--program-timeout-ms=600000"]);
    let mut pipe = Pipe::to(&server);
    pipe.eval(1, ENDLESS).await;
    pipe.ask(2, "ping", json!({})).await;
    pipe.hang_up().await;
    let files = files(&server, folder.path());
    assert!(files[0].0.ends_with("-error.jsonl"), "{}", files[0].0);
    assert_eq!(files[0].1.last().unwrap()["reason"], "cancelled");
}

#[tokio::test]
async fn a_folder_that_is_gone_costs_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let server = traced(folder.path(), &[]);
    std::fs::remove_dir_all(folder.path().join("traces")).unwrap();
    let mut pipe = Pipe::to(&server);
    pipe.eval(1, "(+ 1 2)").await;
    assert_eq!(crate::pipe::text(&pipe.next().await.unwrap()), "user=> 3");
}

#[cfg(unix)]
#[tokio::test]
async fn traces_are_for_their_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let server = traced(folder.path(), &[]);
    let mut pipe = Pipe::to(&server);
    pipe.eval("a", "1").await;
    pipe.next().await;
    let files = files(&server, folder.path());
    let traces = folder.path().join("traces");
    assert_eq!((files.len(), mode(&traces), mode(&traces.join(&files[0].0))), (1, 0o700, 0o600));
}
