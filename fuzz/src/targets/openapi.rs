//! A description of a web service → tools, as if a server had sent it.

use crate::kit::{files, texts};
use ptc_upstream::config::{Method, OpenApiSettings, Schema};
use ptc_upstream::credentials::Headers;
use ptc_upstream::transport::openapi::connect;
use ptc_upstream::{Client, Fault, Request, schema};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// Operations to include, by id and by method and path.
const OPERATIONS: [&str; 4] = ["a", "getThing", "GET /things/{id}", "get /b"];

/// One service, whose document changes with each case, and the clients and runtime that use it.
struct Service {
    path: PathBuf,
    clients: Vec<Arc<dyn Client>>,
    waiting: Runtime,
    _folder: tempfile::TempDir,
}

static SERVICE: LazyLock<Mutex<Service>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("api.json");
    let client = |(operation, methods): (&str, Option<Vec<Method>>)| {
        let settings = OpenApiSettings {
            base_url: Some("http://127.0.0.1:9/api/v1".parse().expect("an address")),
            server_variables: Default::default(),
            address_rules: Default::default(),
            schema: Schema::File(path.clone()),
            schema_max_bytes: 100_000,
            methods,
            include_operations: vec![operation.to_string()],
            operation_overrides: Default::default(),
            connect_timeout: Duration::from_millis(1),
            request_timeout: Duration::from_secs(10),
            max_response_bytes: 1_000,
            max_concurrency: 1,
            ca_file: None,
        };
        connect("api", settings, Headers::new())
    };
    let narrow = OPERATIONS.map(|operation| (operation, None));
    let all = [("*", Some(Method::ALL.to_vec()))];
    let clients = narrow.into_iter().chain(all).map(client).collect();
    let waiting = Builder::new_current_thread().enable_all().build().expect("a runtime");
    Mutex::new(Service { path, clients, waiting, _folder: folder })
});

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    // One case at a time, because there is only one file.
    let service = SERVICE.lock().unwrap_or_else(PoisonError::into_inner);
    std::fs::write(&service.path, bytes).expect("the file can be written");
    let args: Map<String, Value> = match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(document)) => match document.get("args") {
            Some(Value::Object(args)) => args.clone(),
            _ => Map::new(),
        },
        _ => Map::new(),
    };
    for client in &service.clients {
        let tools = match service.waiting.block_on(client.tools()) {
            Ok(tools) => tools,
            Err(fault) => {
                brief(&fault);
                continue;
            }
        };
        for tool in tools {
            let written = tool.input_schema.to_string().len();
            assert!(written < 20_000 * (20 + bytes.len()), "{written}");
            let output = client.output_schema(&tool.name).and_then(|output| output.build());
            let _ = (schema::args(&tool.input_schema), schema::result(output.as_ref()));
            let short = schema::brief(output.as_ref());
            assert!(short.len() < 1_000 + 2 * bytes.len(), "{} bytes: {short}", short.len());
            // Only the address is built, without waiting for a reply.
            let request = Request {
                tool: tool.name,
                args: args.clone(),
                deadline: Instant::now(),
                timeout: Duration::ZERO,
                queue_timeout: Duration::ZERO,
                max_bytes: 1_000,
                traceparent: None,
            };
            if let Err(fault) = service.waiting.block_on(client.call(request)) {
                brief(&fault);
            }
        }
    }
}

fn brief(fault: &Fault) {
    assert!(!fault.message.contains("internal error"), "{fault}");
    assert!(fault.message.len() < 20_000, "{fault}");
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let ok =
        json!({"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S"}}}}});
    let get = |id: &str, params: Value| json!({"get": {"operationId": id, "summary": "S", "parameters": params, "responses": ok}});
    let document = json!({
        "openapi": "3.0.3",
        "args": {"id": "x/../y", "q": 1.5, "tags": ["a"]},
        "components": {
            "parameters": {"Q": {"name": "q", "in": "query", "schema": {"type": "integer", "nullable": true, "enum": [1, 2]}}},
            "schemas": {"S": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/S"}, "n": {"minimum": 1, "exclusiveMinimum": true}}}},
        },
        "paths": {
            "/things/{id}": get("getThing", json!([{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}, {"$ref": "#/components/parameters/Q"}])),
            "/b": get("a", json!([])),
            "/c": {"$ref": "#/paths/~1b"},
            "/files": {"post": {"operationId": "upload", "responses": {"default": {}}, "requestBody": {"required": true, "content": {
                "multipart/form-data": {"encoding": {"n": {"style": "deepObject"}}, "schema": {"allOf": [{"type": "object"}, {"properties": {"tags": {"format": "binary"}}}]}}}}}},
        },
    });
    let mut seeds = texts(&[
        &document.to_string(),
        r#"{"openapi":"3.1.0","paths":{"/b":{"get":{"responses":{"204":{}},"x-ptc-name":"N","x-ptc-default-args":{}}}}}"#,
    ]);
    seeds.extend(files("examples", ".json"));
    seeds
}
