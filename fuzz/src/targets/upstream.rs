//! Tools and replies of a server → what programs, prompts and users see of them. The bytes are a JSON object
//! with `tools`, `answer`, and the `args` that a program passes. Any other bytes are a text reply.

use crate::kit::{RUNTIME, texts, told};
use ptc_runtime::Grants;
use ptc_upstream::redact::Redactor;
use ptc_upstream::{About, Client, Fault, Health, Options, ProgramOptions, Reply, Request, Tool, Upstream};
use serde_json::{Value, json};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Programs that look up everything and call it.
const PROGRAMS: [&str; 4] = [
    r#"[(apropos "a") (apropos "read the file") (dir 's) (doc 's)]"#,
    "[(doc 's/a) (meta 's/a)]",
    r#"(mapv (fn [n] (tool/call {:server "s" :tool n :args data/args})) data/names)"#,
    r#"(tool/call {:server "s" :tool "b" :args data/args :raw true})"#,
];

/// A server whose tools and replies change with each case.
#[derive(Default)]
struct Hostile {
    said: Mutex<Said>,
    changes: AtomicU64,
}

#[derive(Default)]
struct Said {
    tools: Vec<Tool>,
    answer: Value,
}

type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Hostile {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client for Hostile {
    fn tools(&self) -> Later<'_, Result<Vec<Tool>, Fault>> {
        Box::pin(ready(Ok(self.said().tools.clone())))
    }

    fn call(&self, _: Request) -> Later<'_, Result<Reply, Fault>> {
        Box::pin(ready(Ok(Reply::new(&self.said().answer))))
    }

    fn health(&self) -> Health {
        Health::Ready
    }

    fn generation(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    fn stop(&self) -> Later<'_, ()> {
        Box::pin(ready(()))
    }
}

static SERVER: LazyLock<(Arc<Hostile>, Upstream)> = LazyLock::new(|| {
    let server = Arc::new(Hostile::default());
    let about = About { transport: "mcp_stdio".to_string(), ..About::default() };
    let client: Arc<dyn Client> = server.clone();
    let clients = [("s".to_string(), about, client)];
    let upstream = Upstream::of_clients(clients, Redactor::new().into(), Options::default());
    (server, upstream.expect("servers"))
});

/// Lock for one case at a time, because there is only one server.
static TURN: Mutex<()> = Mutex::new(());

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut document = match serde_json::from_slice::<Value>(bytes) {
        Ok(document @ Value::Object(_)) => document,
        _ => json!({"answer": {"content": [{"type": "text", "text": String::from_utf8_lossy(bytes)}]}}),
    };
    let tools: Vec<Tool> = match document["tools"].take() {
        Value::Array(tools) => tools.into_iter().filter_map(tool).collect(),
        _ => tool(json!({"name": "a"})).into_iter().collect(),
    };
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    let grants = Grants::new().serde("names", &names).and_then(|all| all.serde("args", &document["args"]));
    // Numbers beyond all floats cannot become data.
    let Ok(grants) = grants else { return };
    let (server, upstream) = &*SERVER;
    *server.said() = Said { tools, answer: document["answer"].take() };
    server.changes.fetch_add(1, Ordering::SeqCst);
    let options = ProgramOptions { grants, ..ProgramOptions::default() };
    for program in PROGRAMS {
        let run = upstream.run(&RUNTIME, program, &options);
        let _ = told(&run.outcome);
        let _ = (run.result(), run.error(), run.metrics());
    }
    assert!(upstream.render().len() < 100_000);
}

/// Returns the tool as a server would list it.
fn tool(mut listed: Value) -> Option<Tool> {
    let text = |value: Value| value.as_str().map(str::to_string);
    let object = |value: Value| Some(value).filter(Value::is_object);
    listed.is_object().then_some(())?;
    Some(Tool {
        name: text(listed["name"].take())?,
        description: text(listed["description"].take()),
        input_schema: object(listed["inputSchema"].take()).unwrap_or_else(|| json!({"type": "object"})),
        output_schema: object(listed["outputSchema"].take()),
        annotations: object(listed["annotations"].take()),
        provenance: None,
    })
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let documents = [
        json!({
            "tools": [{
                "name": "a", "description": "Reads the file", "annotations": {"readOnlyHint": true, "title": "A"},
                "inputSchema": {
                    "type": "object", "required": ["path", "id"], "additionalProperties": false,
                    "properties": {
                        "path": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 9},
                        "id": {"type": ["integer", "null"], "minimum": 1, "enum": [1, 2, null]},
                        "rows": {"type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/row"}},
                    },
                    "$defs": {"row": {"anyOf": [{"const": 1}, {"not": {"type": "string"}}], "format": "date"}},
                },
                "outputSchema": {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "integer"}}}},
            }, {"name": "b"}],
            "args": {"path": "abc", "id": 1, "rows": [1, 2, "x"]},
            "answer": {"structuredContent": {"x": [1, 2]}, "content": [{"type": "text", "text": "words"}]},
        }),
        json!({
            "tools": [{"name": "b", "inputSchema": {"$ref": "#/$defs/x", "$defs": {
                "x": {"allOf": [{"$ref": "#/$defs/y"}, {"$ref": "#/$defs/y"}], "unevaluatedProperties": false},
                "y": {"if": {"$ref": "#"}, "then": {"oneOf": [{"$ref": "#/$defs/x"}, true]},
                      "patternProperties": {"^a(b|c)*$": {"$ref": "#"}}, "propertyNames": {"minLength": 1},
                      "dependentSchemas": {"a": {"$dynamicRef": "#z"}}, "contains": {"$id": "urn:a"}},
            }}}],
            "args": {"a": [[[{"a": 1}]]]},
            "answer": {"isError": true, "content": [{"type": "image"}, {"type": "text", "text": "no such file"}]},
        }),
        json!({"answer": {"content": [{"type": "text", "text": "{\"a\": [1, 2.5e300, null]}"}]}}),
    ];
    let mut seeds: Vec<Vec<u8>> =
        documents.iter().map(|document| document.to_string().into_bytes()).collect();
    seeds.extend(texts(&["words", "[1, 2]", "{\"tools\": 1}"]));
    seeds
}
