//! A server with a planner, a scripted model and scripted upstream servers.

use crate::pipe::Pipe;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ptc_agent::RunOptions;
use ptc_agent::tools::LlmRef;
use ptc_mcp::protocol::Build;
use ptc_mcp::{Host, Planner, Server, Settings};
use ptc_model::{LlmRequest, Reply, Scripted};
use ptc_runtime::{Prelude, Runtime};
use ptc_upstream::credentials::Secret;
use ptc_upstream::redact::Redactor;
use ptc_upstream::{About, Client, Fault, Health, Options, Request, Snapshot, Tool, Upstream};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub const CANARY: &str = "canary-3f9c1a77e2";

/// A shop with tools that read, write, have an unknown effect, never reply, and leak a secret.
#[derive(Default)]
pub struct Shop {
    pub asked: Mutex<Vec<String>>,
    pub traces: Mutex<Vec<Option<String>>>,
    pub in_flight: Arc<AtomicUsize>,
}

/// Counts calls in flight.
struct InFlight(Arc<AtomicUsize>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

pub fn tool(name: &str, reads: Option<bool>) -> Tool {
    Tool {
        name: name.into(),
        description: Some(format!("{name} of {CANARY}")),
        input_schema: json!({"type": "object"}),
        output_schema: None,
        annotations: reads.map(|reads| json!({"readOnlyHint": reads})),
        provenance: None,
    }
}

impl Client for Shop {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        let orders = Tool {
            output_schema: Some(json!({"type": "object", "properties": {"orders": {"type": "array"}}})),
            ..tool("orders", Some(true))
        };
        let tools = vec![
            orders,
            tool("tell", Some(true)),
            tool("hang", Some(true)),
            tool("pay", Some(false)),
            tool("poke", None),
            tool("stick", None),
        ];
        async move { Ok(tools) }.boxed()
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<ptc_upstream::Reply, Fault>> {
        self.asked.lock().unwrap().push(request.tool.clone());
        self.traces.lock().unwrap().push(request.traceparent.clone());
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        let guard = InFlight(self.in_flight.clone());
        async move {
            let _guard = guard;
            let value = match &*request.tool {
                "orders" if request.args.contains_key("of") => json!({
                    "name": "Ada", "_mail": "ada@engine.uk", "_short": "q7z", "_pin": 4711,
                }),
                "orders" => json!({"orders": [{"id": 1, "total": 40.125}, {"id": 2, "total": 2}]}),
                "tell" => json!({"said": format!("it is {CANARY}")}),
                "hang" | "stick" => std::future::pending().await,
                _ => json!({"done": true}),
            };
            Ok(ptc_upstream::Reply::new(&json!({"content": [], "structuredContent": value})))
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

pub fn upstream(shop: &Arc<Shop>) -> Upstream {
    let redactor = Arc::new(Redactor::new());
    redactor.register("pat", &Secret::new(CANARY)).unwrap();
    let client: Arc<dyn Client> = shop.clone();
    let about = About { trusts_annotations: true, ..About::default() };
    let options = Options { snapshot: Snapshot::Frozen, ..Options::default() };
    Upstream::of_clients([("shop".to_string(), about, client)], redactor, options).unwrap()
}

pub fn settings(flags: &[&str]) -> Settings {
    Settings::resolve(flags.iter().copied(), |_| None).unwrap().settings
}

pub fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).unwrap()
}

/// Creates a planner with these flags, or returns the error.
pub fn planner(flags: &[&str], models: RunOptions) -> Result<Planner, String> {
    let settings = settings(flags);
    let host = Host::new(&runtime(), &settings, Some(upstream(&Arc::default())));
    Planner::new(&host, &settings, models)
}

pub struct World {
    pub server: Server,
    pub model: Scripted,
    pub shop: Arc<Shop>,
}

/// Flags for tasks that only read.
pub const READS: &[&str] = &["--agentic", "--aggregator-read-only", "--program-timeout-ms=20000"];
/// Flags for tasks that may write.
pub const WRITES: &[&str] = &["--agentic", "--agentic-allow-writes", "--program-timeout-ms=20000"];

impl World {
    pub fn new<T: Into<Reply>>(flags: &[&[&str]], replies: impl IntoIterator<Item = T>) -> World {
        World::with(flags, None, replies)
    }

    pub fn with<T: Into<Reply>>(
        flags: &[&[&str]],
        prelude: Option<&str>,
        replies: impl IntoIterator<Item = T>,
    ) -> World {
        let settings = settings(&flags.concat());
        let (model, shop) = (Scripted::new(replies), Arc::new(Shop::default()));
        let runtime = runtime();
        let mut host = Host::new(&runtime, &settings, Some(upstream(&shop)));
        if let Some(source) = prelude {
            host = host.prelude(&Prelude::compile(&runtime, source).unwrap()).ok().unwrap();
        }
        let models = RunOptions::new().llm(LlmRef::client(model.clone()));
        let planner = Planner::new(&host, &settings, models).unwrap();
        let server = Server::new(host.planner(planner), &settings, None, Build::default()).unwrap();
        World { server, model, shop }
    }

    /// Returns the result of a call; asserts that its text says the same.
    pub async fn call(&self, tool: &str, args: Value) -> Value {
        let mut pipe = Pipe::to(&self.server);
        let answer = pipe.ask(1, "tools/call", json!({"name": tool, "arguments": args})).await;
        let result = &answer["result"];
        let told = result["structuredContent"].clone();
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), told);
        assert_eq!(result["isError"], told["status"] == "error", "{told}");
        told
    }

    pub async fn task(&self, task: &str) -> Value {
        self.call("lisp_task", json!({"task": task})).await
    }

    /// Returns the text of the nth request to the model.
    pub fn asked(&self, n: usize) -> String {
        let LlmRequest { system, messages, .. } = self.model.requests().swap_remove(n);
        let said: Vec<String> = messages.into_iter().map(|message| message.content).collect();
        format!("{system}\n{}", said.join("\n"))
    }
}

/// Returns a program's call of a tool of the shop.
pub fn call(tool: &str) -> String {
    format!("(tool/call {{:server \"shop\" :tool \"{tool}\" :args {{}}}})")
}

/// Writes a file and returns its path.
pub fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("task").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// Returns the flag with a file as its value.
pub fn with_file(flag: &str, name: &str, text: &str) -> String {
    format!("--{flag}={}", file(name, text))
}
