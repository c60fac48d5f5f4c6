//! Real third-party servers, installed by `.ci/run servers`.
//!
//! Skipped unless `PTC_TEST_REAL_SERVERS` names their folder: plain `cargo test` needs only Rust.
#![forbid(unsafe_code)]

#[cfg(feature = "http")]
mod apis;
mod programs;

use libtest_mimic::{Arguments, Trial};
use ptc_upstream::config::StdioSettings;
use ptc_upstream::credentials::Secret;
use ptc_upstream::redact::Redactor;
use ptc_upstream::transport::mcp_stdio;
use ptc_upstream::{Client, Fault, Reason, Reply, Request};
use serde_json::{Value, json};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let arguments = Arguments::from_args();
    let Some(folder) = std::env::var_os("PTC_TEST_REAL_SERVERS").map(PathBuf::from) else {
        println!(
            "skipped: PTC_TEST_REAL_SERVERS names no folder of servers; `.ci/run servers` installs them"
        );
        libtest_mimic::run(&arguments, Vec::new()).exit();
    };
    let test = |name: &str, test: fn(PathBuf) -> futures_util::future::BoxFuture<'static, ()>| {
        let folder = folder.clone();
        Trial::test(name, move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            run(&runtime, test(folder))
        })
    };
    let mut tests = vec![
        test("filesystem", |folder| Box::pin(filesystem(folder))),
        test("everything", |folder| Box::pin(everything(folder))),
        test("time", |folder| Box::pin(time(folder))),
        test("git", |folder| Box::pin(git(folder))),
    ];
    let servers = folder.clone();
    tests.push(Trial::test("programs", move || {
        programs::run_all(&which("node"), &servers);
        Ok(())
    }));
    #[cfg(feature = "http")]
    {
        tests.push(test("everything_over_http", |folder| Box::pin(everything_over_http(folder))));
        tests.push(Trial::test("apis", move || {
            apis::run_all(&which("node"), &folder);
            Ok(())
        }));
    }
    libtest_mimic::run(&arguments, tests).exit();
}

/// Runs a test; one that hangs has failed.
fn run(
    runtime: &tokio::runtime::Runtime,
    test: impl Future<Output = ()>,
) -> Result<(), libtest_mimic::Failed> {
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(90), test).await.map_err(|_| "hangs".into())
    })
}

/// Builds the settings of an npm server, started as its package says.
fn node(folder: &Path, package: &str, args: &[&str]) -> StdioSettings {
    let script = folder.join("node_modules/@modelcontextprotocol").join(package).join("dist/index.js");
    let node = which("node");
    settings(
        node,
        [script.to_string_lossy().into_owned()].into_iter().chain(args.iter().map(|arg| arg.to_string())),
    )
}

/// Builds the settings of a PyPI server.
fn python(folder: &Path, module: &str, args: &[&str]) -> StdioSettings {
    let args = ["-m", module].iter().chain(args).map(|arg| arg.to_string()).collect::<Vec<_>>();
    settings(folder.join("venv/bin/python"), args)
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("PATH");
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .expect(program)
}

fn settings(command: PathBuf, args: impl IntoIterator<Item = String>) -> StdioSettings {
    StdioSettings {
        command,
        args: args.into_iter().collect(),
        env: vec![("PYTHONDONTWRITEBYTECODE".to_string(), Secret::new("1"))],
        cd: None,
        inherit_env: false,
        handshake_timeout: Duration::from_secs(60),
        max_response_bytes: 2 << 20,
        max_concurrency: 8,
    }
}

fn start(name: &str, settings: StdioSettings) -> Arc<dyn Client> {
    mcp_stdio::connect(name, settings, Arc::new(Redactor::new()))
}

async fn call(client: &Arc<dyn Client>, tool: &str, args: Value) -> Result<Reply, Fault> {
    let args = args.as_object().cloned().expect("arguments");
    let deadline = Instant::now() + Duration::from_secs(20);
    client
        .call(Request {
            tool: tool.to_string(),
            args,
            deadline,
            timeout: Duration::from_secs(20),
            queue_timeout: Duration::from_secs(20),
            max_bytes: 2 << 20,
            traceparent: None,
        })
        .await
}

async fn text(client: &Arc<dyn Client>, tool: &str, args: Value) -> String {
    let reply = call(client, tool, args).await.unwrap_or_else(|fault| panic!("{tool}: {fault}"));
    assert_ne!(reply.value()["isError"], true, "{}", reply.value());
    reply.value()["content"][0]["text"].as_str().expect("a text").to_string()
}

async fn names(client: &Arc<dyn Client>) -> Vec<String> {
    client.tools().await.unwrap_or_else(|fault| panic!("{fault}")).into_iter().map(|tool| tool.name).collect()
}

async fn filesystem(folder: PathBuf) {
    let sandbox = tempfile::tempdir().expect("a folder");
    let root = sandbox.path().canonicalize().expect("a path");
    std::fs::write(root.join("notes.md"), "one\ntwo\n").expect("a file");
    let client = start("fs", node(&folder, "server-filesystem", &[root.to_str().expect("a path")]));
    let tools = client.tools().await.unwrap_or_else(|fault| panic!("{fault}"));
    let read = tools.iter().find(|tool| tool.name == "read_text_file").expect("read_text_file");
    assert_eq!(read.input_schema["properties"]["path"]["type"], "string");
    assert_eq!(text(&client, "read_text_file", json!({"path": root.join("notes.md")})).await, "one\ntwo\n");
    assert!(text(&client, "list_directory", json!({"path": root})).await.contains("notes.md"));
    // A file outside of its folder is an error of the tool, not of the server.
    let denied = call(&client, "read_text_file", json!({"path": "/etc/passwd"})).await.expect("an answer");
    assert_eq!(denied.value()["isError"], true);
    // Fifty calls at once.
    let reads = (0..50).map(|_| text(&client, "read_text_file", json!({"path": root.join("notes.md")})));
    assert!(futures_util::future::join_all(reads).await.iter().all(|text| text == "one\ntwo\n"));
    client.stop().await;
}

async fn everything(folder: PathBuf) {
    let client = start("everything", node(&folder, "server-everything", &["stdio"]));
    exercise(&client).await;
    client.stop().await;
}

/// Exercises the features of the reference server, over any transport.
async fn exercise(client: &Arc<dyn Client>) {
    let names = names(client).await;
    for name in ["echo", "get-sum"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    assert_eq!(text(client, "echo", json!({"message": "hé"})).await, "Echo: hé");
    assert!(text(client, "get-sum", json!({"a": 2, "b": 40})).await.contains("42"));
    if names.iter().any(|name| name == "get-structured-content") {
        let weather =
            call(client, "get-structured-content", json!({"location": "Chicago"})).await.expect("an answer");
        assert!(weather.value()["structuredContent"].is_object(), "{}", weather.value());
    }
    // Unknown tools are reported in one of two ways.
    match call(client, "no-such-tool", json!({})).await {
        Ok(reply) => assert_eq!(reply.value()["isError"], true),
        Err(fault) => assert_eq!(fault.reason, Reason::UpstreamError, "{fault}"),
    }
    // A long operation that nobody waits for does not delay the next call.
    if names.iter().any(|name| name == "trigger-long-running-operation") {
        let long = json!({"duration": 10, "steps": 5}).as_object().cloned().expect("arguments");
        let deadline = Instant::now() + Duration::from_millis(300);
        let tool = "trigger-long-running-operation".to_string();
        let request = Request {
            tool,
            args: long,
            deadline,
            timeout: Duration::from_secs(20),
            queue_timeout: Duration::from_secs(20),
            max_bytes: 1 << 20,
            traceparent: None,
        };
        assert_eq!(client.call(request).await.expect_err("a fault").reason, Reason::Timeout);
    }
    assert_eq!(text(client, "echo", json!({"message": "again"})).await, "Echo: again");
}

#[cfg(feature = "http")]
async fn everything_over_http(folder: PathBuf) {
    use ptc_upstream::config::HttpSettings;
    use ptc_upstream::credentials::Headers;
    use ptc_upstream::transport::mcp_http;
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let script = folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let mut server = std::process::Command::new(which("node"))
        .arg(script)
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("a server");
    let settings = HttpSettings {
        url: format!("http://127.0.0.1:{port}/mcp").parse().expect("a URL"),
        connect_timeout: Duration::from_secs(5),
        request_timeout: Duration::from_secs(30),
        handshake_timeout: Duration::from_secs(60),
        max_response_bytes: 2 << 20,
        max_concurrency: 16,
        ca_file: None,
    };
    let client = mcp_http::connect("everything", settings, Headers::new());
    // The server takes a while until it listens.
    let mut listed = client.tools().await;
    for _ in 0..100 {
        if listed.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        listed = client.tools().await;
    }
    let outcome = std::panic::AssertUnwindSafe(async {
        listed.unwrap_or_else(|fault| panic!("{fault}"));
        exercise(&client).await;
        client.stop().await;
    });
    let outcome = futures_util::FutureExt::catch_unwind(outcome).await;
    server.kill().expect("killed");
    server.wait().expect("reaped");
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

async fn time(folder: PathBuf) {
    let client = start("time", python(&folder, "mcp_server_time", &["--local-timezone", "Europe/Berlin"]));
    assert!(names(&client).await.contains(&"convert_time".to_string()));
    let args = json!({"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let converted: Value = serde_json::from_str(&text(&client, "convert_time", args).await).expect("JSON");
    assert_eq!(converted["target"]["timezone"], "Asia/Tokyo");
    client.stop().await;
}

async fn git(folder: PathBuf) {
    let repository = tempfile::tempdir().expect("a folder");
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let done =
            std::process::Command::new("git").args(who).args(args).current_dir(repository.path()).output();
        assert!(done.expect("git").status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "the first one"]);
    let client = start("git", python(&folder, "mcp_server_git", &[]));
    assert!(names(&client).await.contains(&"git_log".to_string()));
    let log = text(&client, "git_log", json!({"repo_path": repository.path()})).await;
    assert!(log.contains("the first one"), "{log}");
    client.stop().await;
}
