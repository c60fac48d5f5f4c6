//! Helpers shared by the tests.

use libtest_mimic::Trial;
use ptc_upstream::config::StdioSettings;
use ptc_upstream::credentials::Secret;
use ptc_upstream::redact::Redactor;
use ptc_upstream::transport::mcp_stdio;
use ptc_upstream::{Client, Fault, Reason, Reply, Request};
use serde_json::{Value, json};
use std::future::Future;
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Secret that every fixture knows and that must never appear.
pub const CANARY: &str = "canary-7f3a9c5e";

/// Creates a test that fails if it hangs.
pub fn trial<F>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial
where
    F: Future<Output = ()>,
{
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), test()).await });
        outcome.map_err(|_| "hangs".into())
    })
}

/// Returns settings of a server that is this binary.
pub fn settings(options: &[&str]) -> StdioSettings {
    let mut args = vec!["--server".to_string()];
    args.extend(options.iter().map(|option| option.to_string()));
    StdioSettings {
        command: std::env::current_exe().expect("this binary"),
        args,
        env: vec![("TOKEN".to_string(), Secret::new(CANARY))],
        cd: None,
        inherit_env: false,
        handshake_timeout: Duration::from_secs(10),
        max_response_bytes: 100_000,
        max_concurrency: 8,
    }
}

pub fn redactor() -> Arc<Redactor> {
    let redactor = Redactor::new();
    redactor.register("token", &Secret::new(CANARY)).expect("registered");
    Arc::new(redactor)
}

/// Connects to a server that is this binary.
pub fn server(options: &[&str]) -> Arc<dyn Client> {
    mcp_stdio::connect("fixture", settings(options), redactor())
}

pub fn request(tool: &str, args: Value, patience: Duration) -> Request {
    Request {
        tool: tool.to_string(),
        args: args.as_object().cloned().unwrap_or_default(),
        deadline: Instant::now() + patience,
        timeout: patience,
        queue_timeout: patience,
        max_bytes: 10_000_000,
        traceparent: None,
    }
}

/// Makes a call that may take ten seconds.
pub async fn call(client: &Arc<dyn Client>, tool: &str, args: Value) -> Result<Reply, Fault> {
    client.call(request(tool, args, Duration::from_secs(10))).await
}

/// Returns the text of a reply.
pub async fn say(client: &Arc<dyn Client>, tool: &str, args: Value) -> String {
    let reply = call(client, tool, args).await.expect("an answer");
    reply.value()["content"][0]["text"].as_str().expect("a text").to_string()
}

pub async fn works(client: &Arc<dyn Client>) {
    assert_eq!(say(client, "echo", json!({"text": "still here"})).await, "still here");
}

/// Returns the fault of a failing call.
pub async fn fault(client: &Arc<dyn Client>, tool: &str, args: Value) -> Fault {
    call(client, tool, args).await.expect_err("a fault")
}

pub fn assert_fault(fault: &Fault, reason: Reason, words: &str) {
    assert_eq!(fault.reason, reason, "{fault}");
    assert!(fault.message.contains(words), "{fault}");
    assert!(!fault.message.contains(CANARY), "{fault}");
}

/// Waits until a condition holds.
pub async fn eventually(what: &str, so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !so() {
        assert!(Instant::now() < end, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns whether a process exists, alive or as a zombie.
pub fn exists(pid: &str) -> bool {
    std::path::Path::new("/proc").join(pid).exists()
}

static LOG: OnceLock<Arc<Mutex<Vec<u8>>>> = OnceLock::new();

#[derive(Clone)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Captures everything that may be logged, at any level.
pub fn capture_logs() {
    let log = Log(LOG.get_or_init(Arc::default).clone());
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || log.clone());
    let lines = lines.with_filter(tracing_subscriber::filter::filter_fn(ptc_upstream::may_log));
    tracing_subscriber::registry().with(lines).init();
}

pub fn logged(text: &str) -> bool {
    times_logged(text) > 0
}

pub fn times_logged(text: &str) -> usize {
    String::from_utf8_lossy(&LOG.get().expect("captured").lock().unwrap()).matches(text).count()
}
