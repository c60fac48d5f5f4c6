//! A server with all that the conformance suite asks for and `ptc mcp` does not offer. What it says is made up; how it is
//! carried is the code of the real one.

mod content;
mod inputs;
mod tasks;
mod tools;

use ptc_mcp::Settings;
use ptc_mcp::client::{Capabilities, Client};
use ptc_mcp::connection::{Connection, Flight};
use ptc_mcp::frame::{Request, RpcError};
use ptc_mcp::protocol::Revision;
use ptc_mcp::service::{Answered, Service};
use serde_json::{Map, Value, json};
use std::collections::hash_map::RandomState;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use tasks::Tasks;

const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// What is the same for a while, and says so in revisions that have a word for it.
const CACHED: &[&str] = &[
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

pub struct Fixture {
    settings: Settings,
    tasks: Tasks,
    listeners: Mutex<Vec<Listener>>,
    /// Tells states that it gave out from those that somebody made up.
    seal: RandomState,
}

/// A client that wants to hear of changes.
struct Listener {
    client: Client,
    id: Value,
    wanted: Map<String, Value>,
}

/// A request with what is known of who asks.
struct Asked<'a> {
    request: &'a Request,
    client: &'a Client,
    is_modern: bool,
}

impl Asked<'_> {
    fn param(&self, name: &str) -> Option<&Value> {
        self.request.params.get(name)
    }

    fn text(&self, name: &str) -> &str {
        self.param(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn argument(&self, name: &str) -> Option<&Value> {
        self.param("arguments")?.get(name)
    }

    /// Whether the client of a request that speaks for itself can do something.
    fn can(&self, capability: &str) -> bool {
        self.request.meta(META_CAPABILITIES).is_some_and(|known| known.get(capability).is_some())
    }
}

impl Service for Fixture {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn answer<'a>(
        &'a self,
        request: Request,
        flight: &'a Flight,
    ) -> Pin<Box<dyn Future<Output = Answered> + Send + 'a>> {
        Box::pin(async move {
            let is_modern = Revision::of(&request, flight.connection().agreed())?.is_modern();
            let asked = Asked { request: &request, client: flight.client(), is_modern };
            let result = self.respond(&asked, flight.connection()).await?;
            Ok(complete(result, &asked))
        })
    }

    fn headers(&self, request: &Request) -> Vec<(String, Option<String>)> {
        tools::headers(request)
    }
}

impl Fixture {
    pub fn new(settings: Settings) -> Fixture {
        let (tasks, listeners) = (Tasks::default(), Mutex::default());
        Fixture { settings, tasks, listeners, seal: RandomState::new() }
    }

    async fn respond(&self, asked: &Asked<'_>, connection: &Connection) -> Answered {
        Ok(match (asked.request.method.as_str(), asked.is_modern) {
            ("initialize", false) => {
                let agreed = Revision::negotiate(asked.text("protocolVersion"));
                connection.agree(agreed, Capabilities::read(asked.param("capabilities")));
                json!({"protocolVersion": agreed.name(), "serverInfo": about(), "capabilities": capabilities(false)})
            }
            ("ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe", false) => {
                json!({})
            }
            ("server/discover", true) => {
                let versions: Vec<&str> = Revision::ALL.iter().map(|revision| revision.name()).collect();
                json!({"supportedVersions": versions, "capabilities": capabilities(true)})
            }
            ("tools/list", _) => json!({"tools": tools::list()}),
            ("tools/call", _) => self.call(asked).await?,
            ("prompts/list", _) => json!({"prompts": content::prompts()}),
            ("prompts/get", _) => content::prompt(asked)?,
            ("resources/list", _) => json!({"resources": content::resources()}),
            ("resources/templates/list", _) => json!({"resourceTemplates": content::templates()}),
            ("resources/read", _) => content::resource(asked)?,
            ("completion/complete", _) => {
                json!({"completion": {"values": ["testing"], "total": 1, "hasMore": false}})
            }
            ("subscriptions/listen", true) => self.listen(asked).await,
            ("tasks/get" | "tasks/update" | "tasks/cancel", true) => self.tasks.answer(asked)?,
            (other, _) => {
                return Err(RpcError::new(RpcError::NO_METHOD, format!("Method not found: {other}")));
            }
        })
    }

    /// Tells of changes for as long as the client listens.
    async fn listen(&self, asked: &Asked<'_>) -> Value {
        let wanted = asked.param("notifications").and_then(Value::as_object).cloned().unwrap_or_default();
        let id = asked.request.id.to_json();
        let agreed = json!({"_meta": {META_SUBSCRIPTION: id}, "notifications": wanted});
        asked.client.tell("notifications/subscriptions/acknowledged", agreed);
        self.join(Listener { client: asked.client.clone(), id, wanted });
        std::future::pending().await
    }

    fn join(&self, listener: Listener) {
        let mut listeners = self.listeners.lock().expect("listeners");
        listeners.retain(|listener| listener.client.is_reachable());
        listeners.push(listener);
    }

    /// Tells who wants to know that there are others of these: tools, prompts.
    fn changed(&self, what: &str) {
        for listener in self.listeners.lock().expect("listeners").iter() {
            if listener.wanted.get(&format!("{what}ListChanged")) == Some(&json!(true)) {
                let meta = json!({"_meta": {META_SUBSCRIPTION: listener.id}});
                listener.client.tell(&format!("notifications/{what}/list_changed"), meta);
            }
        }
    }
}

fn about() -> Value {
    json!({"name": "fixture", "version": "1"})
}

fn capabilities(is_modern: bool) -> Value {
    let changes = json!({"listChanged": true});
    match is_modern {
        true => {
            json!({"tools": changes, "prompts": changes, "resources": {}, "completions": {}, "extensions": {tasks::EXTENSION: {}}})
        }
        false => {
            json!({"tools": changes, "prompts": changes, "resources": {"subscribe": true}, "completions": {}, "logging": {}})
        }
    }
}

/// What every result has in its revision.
fn complete(mut result: Value, asked: &Asked<'_>) -> Value {
    if let (true, Some(result)) = (asked.is_modern, result.as_object_mut()) {
        result.entry("resultType").or_insert_with(|| json!("complete"));
        result.insert("_meta".to_string(), json!({META_SERVER: about()}));
        if CACHED.contains(&asked.request.method.as_str()) && result["resultType"] == "complete" {
            result.insert("ttlMs".to_string(), json!(1000));
            result.insert("cacheScope".to_string(), json!("public"));
        }
    }
    result
}

/// A client that cannot do what is needed is told what that is.
fn needs(capabilities: Value) -> RpcError {
    RpcError {
        code: RpcError::MISSING_CAPABILITY,
        message: "Missing required client capability".to_string(),
        data: Some(json!({"requiredCapabilities": capabilities})),
    }
}

fn wrong(message: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, message)
}

/// The result of a tool.
fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}
