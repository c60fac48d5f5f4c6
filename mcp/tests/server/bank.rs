//! An upstream server with an account: reading is free, paying needs approval.

use crate::settings;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ptc_mcp::protocol::Build;
use ptc_mcp::{Host, Server, Sessions};
use ptc_runtime::Runtime;
use ptc_upstream::redact::Redactor;
use ptc_upstream::{About, Approval, Client, Fault, Health, Options, Reply, Request, Tool, Upstream};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Bank that records payments and received traces.
#[derive(Default)]
pub struct Bank {
    paid: Mutex<Vec<i64>>,
    traces: Mutex<Vec<Option<String>>>,
    /// Gate that calls of `wait` pass once it is open.
    gate: Gate,
}

struct Gate {
    waiting: AtomicUsize,
    open: Semaphore,
}

impl Default for Gate {
    fn default() -> Gate {
        Gate { waiting: AtomicUsize::new(0), open: Semaphore::new(0) }
    }
}

impl Bank {
    pub fn paid(&self) -> Vec<i64> {
        let mut paid = self.paid.lock().unwrap().clone();
        paid.sort_unstable();
        paid
    }

    /// Waits until this many calls are waiting.
    pub async fn have_waiting(&self, count: usize) {
        let all_wait = async {
            while self.gate.waiting.load(Ordering::SeqCst) < count {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(120), all_wait).await.expect("calls that wait");
    }

    /// Answers all waiting calls.
    pub fn open(&self) {
        self.gate.open.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    pub fn traces(&self) -> Vec<Option<String>> {
        self.traces.lock().unwrap().clone()
    }
}

impl Client for Bank {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        let tool = |name: &str, is_read_only: bool| Tool {
            name: name.into(),
            description: None,
            input_schema: json!({"type": "object", "properties": {"eur": {"type": "integer"}}}),
            output_schema: None,
            annotations: Some(json!({"readOnlyHint": is_read_only})),
            provenance: None,
        };
        async move { Ok(vec![tool("balance", true), tool("pay", false), tool("slow", true), tool("wait", true)]) }.boxed()
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Reply, Fault>> {
        self.traces.lock().unwrap().push(request.traceparent.clone());
        async move {
            let eur = request.args.get("eur").and_then(Value::as_i64).unwrap_or_default();
            let told = match &*request.tool {
                "pay" => {
                    self.paid.lock().unwrap().push(eur);
                    json!({"paid": eur})
                }
                "wait" => {
                    self.gate.waiting.fetch_add(1, Ordering::SeqCst);
                    let _open = self.gate.open.acquire().await;
                    json!({"waited": eur})
                }
                "slow" => {
                    tokio::time::sleep(Duration::from_millis(600)).await;
                    json!({"slow": true})
                }
                _ => json!({"balance": 100}),
            };
            Ok(Reply::new(&json!({"content": [], "structuredContent": told})))
        }
        .boxed()
    }

    fn health(&self) -> Health {
        Health::Ready
    }

    fn generation(&self) -> u64 {
        0
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}

/// Creates a server with a bank whose writes need approval.
pub fn server_with_bank(flags: &[&str]) -> (Server, Arc<Bank>) {
    server_with(About { approval: Approval::Writes, ..About::default() }, flags)
}

/// Creates a server with a bank configured by `about`.
pub fn server_with(about: About, flags: &[&str]) -> (Server, Arc<Bank>) {
    let bank = Arc::new(Bank::default());
    let client: Arc<dyn Client> = bank.clone();
    let clients = [("bank".to_string(), about, client)];
    let mut options = Options::default();
    // Loaded machines may be slow.
    options.limits.call_timeout = Duration::from_secs(120);
    let upstream = Upstream::of_clients(clients, Arc::new(Redactor::new()), options).unwrap();
    let settings = settings(flags);
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let host = Host::new(&runtime, &settings, Some(upstream));
    let sessions = settings.sessions.then(|| Sessions::builder(&host, &settings).open().unwrap());
    (Server::new(host, &settings, sessions, Build::default()).unwrap(), bank)
}

/// Returns a program's call that pays.
pub fn pay(eur: i64) -> String {
    format!(r#"(tool/call {{:server "bank" :tool "pay" :args {{:eur {eur}}}}})"#)
}
