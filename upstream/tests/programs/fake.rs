//! Fake servers with scripted behaviour.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ptc_agent::{Agent, RunOptions, Step};
use ptc_runtime::{Limits, Runtime};
use ptc_upstream::redact::Redactor;
use ptc_upstream::{
    About, Client, Fault, Health, Options, ProgramOptions, ProgramRun, Reason, Reply, Request, RunContext,
    Tool, Upstream,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub type Answer = dyn Fn(&Request) -> Result<Value, Fault> + Send + Sync;

/// A server within the test.
pub struct Fake {
    pub tools: Mutex<Result<Vec<Tool>, Fault>>,
    pub answer: Box<Answer>,
    pub delay: Duration,
    pub slow_start: Duration,
    pub asked: Mutex<Vec<Request>>,
    pub listed: AtomicUsize,
    pub changes: AtomicU64,
    pub health: Mutex<Health>,
    pub in_flight: AtomicUsize,
    pub most_in_flight: AtomicUsize,
    pub stopped: AtomicUsize,
}

impl Fake {
    pub fn new(
        tools: Vec<Tool>,
        answer: impl Fn(&Request) -> Result<Value, Fault> + Send + Sync + 'static,
    ) -> Fake {
        Fake {
            tools: Mutex::new(Ok(tools)),
            answer: Box::new(answer),
            delay: Duration::ZERO,
            slow_start: Duration::ZERO,
            asked: Mutex::default(),
            listed: AtomicUsize::new(0),
            changes: AtomicU64::new(0),
            health: Mutex::new(Health::Ready),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
            stopped: AtomicUsize::new(0),
        }
    }

    /// Creates a server that cannot be started.
    pub fn down() -> Fake {
        let fake = Fake::new(vec![], |_| Ok(json!({})));
        *fake.tools.lock().unwrap() = Err(Fault::new(Reason::UpstreamUnavailable, "no such program"));
        *fake.health.lock().unwrap() = Health::Cold;
        fake
    }

    /// Returns the arguments of the last call.
    pub fn last(&self) -> Value {
        Value::Object(self.asked.lock().unwrap().last().unwrap().args.clone())
    }
}

impl Client for Fake {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        self.listed.fetch_add(1, Ordering::SeqCst);
        async {
            tokio::time::sleep(self.slow_start).await;
            self.tools.lock().unwrap().clone()
        }
        .boxed()
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Reply, Fault>> {
        async move {
            let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_in_flight.fetch_max(now, Ordering::SeqCst);
            if !self.delay.is_zero() {
                tokio::time::sleep(self.delay).await;
            }
            let result = (self.answer)(&request);
            self.asked.lock().unwrap().push(request);
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            Ok(Reply::new(&result?))
        }
        .boxed()
    }

    fn health(&self) -> Health {
        *self.health.lock().unwrap()
    }

    fn generation(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.stopped.fetch_add(1, Ordering::SeqCst);
        async {}.boxed()
    }
}

/// Creates a tool with a schema of its arguments.
pub fn tool(name: &str, description: &str, input_schema: Value) -> Tool {
    Tool {
        name: name.into(),
        description: Some(description.into()),
        input_schema,
        output_schema: None,
        annotations: None,
        provenance: None,
    }
}

pub fn structured(value: Value) -> Value {
    json!({"content": [], "structuredContent": value})
}

pub fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// Creates a file server: `read_text_file` and `list_directory`.
pub fn files() -> Fake {
    let path = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let mut read = tool("read_text_file", "Read the contents of a UTF-8 text file", path.clone());
    read.annotations = Some(json!({"readOnlyHint": true, "title": "Reader"}));
    let tools = vec![read, tool("list_directory", "List the entries in a directory", path)];
    Fake::new(tools, |request| match request.args.get("path").and_then(Value::as_str) {
        Some("gone") => Ok(
            json!({"isError": true, "structuredContent": {"a": 1}, "content": [{"type": "text", "text": "ENOENT: gone"}]}),
        ),
        Some(path) => Ok(text(&format!("contents of {path}"))),
        None => Ok(json!({"content": []})),
    })
}

/// Creates a store of items by number.
pub fn store() -> Fake {
    let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}, "page-size": {"type": "integer"}, "tag": {"type": "string"}}, "required": ["id"]});
    Fake::new(vec![tool("get", "Get an item", schema)], |request| {
        let id = request.args["id"].as_i64().unwrap();
        match id {
            404 => Err(Fault::new(Reason::UpstreamError, "-32602: no such item")),
            _ => Ok(structured(json!({"id": id, "name": format!("item {id}")}))),
        }
    })
}

/// Servers and runtime of a test.
pub struct World {
    pub upstream: Upstream,
    pub runtime: Runtime,
}

pub fn about(description: &str) -> About {
    About {
        transport: "mcp_stdio".into(),
        description: Some(description.into()),
        trusts_annotations: true,
        ..About::default()
    }
}

impl World {
    pub fn new(servers: Vec<(&str, Arc<Fake>)>, options: Options) -> World {
        World::try_new(servers, options, Redactor::new()).unwrap()
    }

    pub fn try_new(
        servers: Vec<(&str, Arc<Fake>)>,
        options: Options,
        redactor: Redactor,
    ) -> Result<World, ptc_upstream::StartError> {
        let clients = servers.into_iter().map(|(name, fake)| {
            let client: Arc<dyn Client> = fake;
            (name.to_string(), about(&format!("The {name} server.")), client)
        });
        let upstream = Upstream::of_clients(clients, Arc::new(redactor), options)?;
        let limits = Limits { timeout_ms: 20_000, memory_bytes: 100 << 20, ..Limits::default() };
        let runtime = Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits);
        Ok(World { upstream, runtime })
    }

    pub fn run(&self, program: &str) -> ProgramRun {
        self.upstream.run(&self.runtime, program, &ProgramOptions::default())
    }

    /// Returns the printed value of a program; panics with its error.
    #[track_caller]
    pub fn value(&self, program: &str) -> String {
        let run = self.run(program);
        run.result().unwrap_or_else(|| panic!("{}", run.error().unwrap()))
    }

    /// Returns reason and message of a failing program.
    #[track_caller]
    pub fn raised(&self, program: &str) -> (String, String) {
        match self.run(program).outcome {
            Ok(outcome) => panic!("{program} gives {}", outcome.print().unwrap()),
            Err(failure) => (failure.reason().to_string(), failure.diagnostic().message.clone()),
        }
    }
}

/// Creates a world with two servers and a live catalogue.
pub fn world() -> World {
    World::new(vec![("fs", files().into()), ("store", store().into())], Options::default())
}

/// A finished mission, with its calls.
pub struct MissionRun {
    pub step: Result<Step, Box<Step>>,
    pub context: Arc<RunContext>,
}

/// Runs an agent with servers, as hosts do.
pub fn run_mission(upstream: &Upstream, agent: &Agent, options: &RunOptions) -> MissionRun {
    let servers = upstream.attach(None);
    let step = ptc_agent::run(agent, &options.clone().servers(servers.clone()));
    MissionRun { step, context: servers.context() }
}
