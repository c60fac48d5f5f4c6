//! Services described by an OpenAPI document, served by the test.
#![cfg(feature = "http")]

use ptc_runtime::{Limits, Runtime};
use ptc_testkit::http;
use ptc_upstream::config::{Config, Surroundings};
use ptc_upstream::{Options, ProgramOptions, Upstream};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Path and headers of each request.
type Seen = Arc<Mutex<Vec<(String, String)>>>;

/// Serves responses by path.
fn serve(document: Value) -> (String, Seen) {
    let seen = Seen::default();
    let told = seen.clone();
    let address = http::serve(move |request, stream| {
        told.lock().unwrap().push((request.path.clone(), request.head.clone()));
        let (status, body) = match request.path.split('?').next().unwrap() {
            "/schema" => (200, document.to_string()),
            "/api/empty" => (204, String::new()),
            "/api/null" => (200, "null".into()),
            "/api/broken" => (200, "{not json".into()),
            "/api/large" => (200, format!("[{}1]", "1,".repeat(2000))),
            "/api/status/500" => (500, "down".into()),
            "/api/status/401" => (401, "who".into()),
            "/api/status/429" => (429, "later".into()),
            "/api/status/404" => (404, "no such thing".into()),
            "/api/status/418" => (418, "tea".into()),
            "/api/status/302" => (302, String::new()),
            _ => (200, json!({"target": request.path}).to_string()),
        };
        http::write(stream, status, &[], &body)
    });
    (address, seen)
}

fn ok_json() -> Value {
    json!({"200": {"content": {"application/json": {"schema": {"type": "object", "properties": {"target": {"type": "string"}}}}}}})
}

fn get(id: &str, params: Value) -> Value {
    json!({"get": {"operationId": id, "summary": format!("Does {id}"), "parameters": params, "responses": ok_json()}})
}

fn document() -> Value {
    let path =
        |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
    let query = |name: &str, schema: Value| json!({"name": name, "in": "query", "schema": schema});
    json!({
        "openapi": "3.0.3",
        "servers": [{"url": "https://elsewhere.example"}],
        "components": {
            "parameters": {"Limit": query("limit", json!({"$ref": "#/components/schemas/Limit"}))},
            "schemas": {"Limit": {"type": "integer", "nullable": true}, "Loop": {"properties": {"next": {"$ref": "#/components/schemas/Loop"}}}},
        },
        "paths": {
            "/things/{thing_id}": get("getThing", json!([path("thing_id"), {"$ref": "#/components/parameters/Limit"}, query("tags", json!({"type": "array"}))])),
            "/steps": get("list_steps", json!([query("summary", json!({"type": "boolean"})), {"name": "trace", "in": "query", "required": true, "schema": {"type": "string"}}])),
            "/status/{code}": get("status", json!([path("code")])),
            "/empty": {"get": {"operationId": "empty", "responses": {"204": {"description": "nothing"}}}},
            "/null": get("nothing", json!([])),
            "/broken": get("broken", json!([])),
            "/large": get("large", json!([])),
            "/loop": {"get": {"operationId": "loop", "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Loop"}}}}}}},
            "/post": {"post": {"operationId": "post", "responses": ok_json()}},
            "/old": {"get": {"operationId": "old", "deprecated": true, "responses": ok_json()}},
            "/body": {"get": {"operationId": "body", "requestBody": {}, "responses": ok_json()}},
            "/header": get("header", json!([{"name": "X-A", "in": "header"}])),
            "/cookie": get("cookie", json!([{"name": "a", "in": "cookie"}])),
            "/far": get("far", json!([{"$ref": "other.json#/a"}])),
            "/un/{declared}": get("undeclared", json!([])),
            "/foreign": {"get": {"operationId": "foreign", "servers": [{"url": "https://evil.example"}], "responses": ok_json()}},
            "/html": {"get": {"operationId": "html", "responses": {"200": {"content": {"text/html": {}}}}}},
            "/none": {"get": {"operationId": "none", "responses": {"404": {}}}},
            "/list-steps": get("listSteps", json!([])),
        },
    })
}

fn start(operations: &[&str], more: Value) -> (Result<Upstream, String>, Seen) {
    let (address, seen) = serve(document());
    let mut entry = json!({
        "transport": "openapi", "base_url": format!("{address}/api/"), "allow_insecure_http": true,
        "schema_url": format!("{address}/schema"), "include_operations": operations,
    });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let config = json!({"credentials": {"key": {"source": "literal", "value": "canary-55"}}, "upstreams": {"api": entry}});
    let around = Surroundings::of([("PATH", "/bin")]);
    let config = Config::parse(&config.to_string(), Path::new("."), &around).unwrap();
    (Upstream::start(&config, &around, Options::default()).map_err(|error| error.to_string()), seen)
}

fn eval(upstream: &Upstream, program: &str) -> String {
    let limits = Limits { timeout_ms: 20_000, ..Limits::default() };
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits);
    let run = upstream.run(&runtime, program, &ProgramOptions::default());
    run.result().unwrap_or_else(|| run.error().unwrap())
}

#[test]
fn operations_are_tools() {
    let auth = json!({
        "auth": [{"scheme": "custom_header", "binding": "key", "header": "X-Api-Key"}], "allow_insecure_auth": true,
        "static_headers": {"X-Tenant": "t1"},
        "operation_overrides": {"list_steps": {"default_args": {"summary": true, "trace": "t"}, "description": "All steps"}},
    });
    let (upstream, seen) = start(&["getThing", "list_steps"], auth);
    let upstream = upstream.unwrap();
    // The document is read at the start, with the headers of the calls.
    assert_eq!(seen.lock().unwrap()[0].0, "/schema");
    assert_eq!(eval(&upstream, "(dir 'api)"), r#"["get-thing - Does getThing" "list-steps - All steps"]"#);
    let call = |call: &str| eval(&upstream, &format!("(:target (:value (tool/call {call})))"));
    assert_eq!(
        call("'api/get-thing {:thing_id \"a/b ü?\" :limit 5}"),
        "\"/api/things/a%2Fb%20%C3%BC%3F?limit=5\""
    );
    assert_eq!(call("'api/get-thing {:thing_id \"1\" :limit nil}"), "\"/api/things/1\"");
    assert_eq!(call("'api/list-steps {}"), "\"/api/steps?summary=true&trace=t\"");
    assert_eq!(
        call("'api/list-steps {:summary false :trace \"x y\"}"),
        "\"/api/steps?summary=false&trace=x+y\""
    );
    assert_eq!(call("'api/list-steps {:undeclared 1}"), "\"/api/steps?summary=true&trace=t\"");
    for (_, headers) in seen.lock().unwrap().iter() {
        assert!(headers.contains("x-api-key: canary-55") && headers.contains("x-tenant: t1"), "{headers}");
    }
    assert_eq!(
        eval(
            &upstream,
            "(let [m (meta 'api/list-steps)] [(get-in m [:_ptc :operationId]) (get-in m [:_ptc :method]) (get-in m [:_ptc :path]) (get-in m [:_ptc :defaultArgs :trace]) (get-in m [:annotations :readOnlyHint])])"
        ),
        r#"["list_steps" "GET" "/steps" "t" true]"#
    );
    let doc = eval(&upstream, "(doc 'api/get-thing)");
    assert!(doc.contains("Args: {:thing_id string :limit integer? :tags array?}"), "{doc}");
    assert!(doc.contains("Returns: Result<{:target string?}>"), "{doc}");
    // A default makes an argument optional.
    assert!(eval(&upstream, "(doc 'api/list-steps)").contains("Required args: none"));
    for bad in ["..", ".", ""] {
        let said = eval(&upstream, &format!("(:reason (tool/call 'api/get-thing {{:thing_id {bad:?}}}))"));
        assert_eq!(said, ":upstream_error", "{bad}");
    }
    // Lists are sent as the document says; its default is one parameter for each item.
    assert_eq!(
        call("'api/get-thing {:thing_id \"1\" :tags [1 \"a b\"]}"),
        "\"/api/things/1?tags=1&tags=a+b\""
    );
}

#[test]
fn answers_are_json_or_empty() {
    let (upstream, _) = start(
        &["empty", "nothing", "broken", "large", "status", "loop"],
        json!({"max_response_bytes": 1000}),
    );
    let upstream = upstream.unwrap();
    let call = |call: &str| {
        eval(&upstream, &format!("(let [r (tool/call {call})] [(:ok r) (or (:value_kind r) (:reason r))])"))
    };
    assert_eq!(call("'api/empty {}"), "[true :none]");
    assert_eq!(call("'api/nothing {}"), "[true :json]");
    assert_eq!(call("'api/broken {}"), "[false :upstream_error]");
    assert_eq!(call("'api/large {}"), "[false :response_too_large]");
    for (status, wanted) in [
        ("500", "upstream_unavailable"),
        ("401", "auth_failed"),
        ("429", "rate_limited"),
        ("404", "tool_error"),
        ("418", "upstream_error"),
        ("302", "upstream_error"),
    ] {
        assert_eq!(call(&format!("'api/status {{:code {status:?}}}")), format!("[false :{wanted}]"));
    }
    let said = eval(&upstream, "(:message (tool/call 'api/status {:code \"404\"}))");
    assert!(said.contains("no such thing"), "{said}");
    // A schema that refers to itself takes anything there.
    assert!(eval(&upstream, "(doc 'api/loop)").contains("Returns: Result<{:next any?}>"));
    assert!(eval(&upstream, "(doc 'api/empty)").contains("Returns: Result<null>"));
}

#[test]
fn what_cannot_be_offered_stops_the_start() {
    for (id, wanted) in [
        ("missing", "'missing': it is not in the document"),
        ("post", "'post': it is a POST, and only GET is supported"),
        ("old", "it is deprecated"),
        ("body", "it has a request body"),
        ("header", "its parameter 'X-A' is in the header"),
        ("cookie", "its parameter 'a' is in the cookie"),
        ("far", "refers to other.json#/a, which is not in the document"),
        ("undeclared", "its path has {declared}, which is not declared"),
        ("foreign", "whose origin is not that of base_url"),
        ("html", "its reply 200 is not JSON"),
        ("none", "it describes no successful reply"),
    ] {
        let error = start(&[id], json!({})).0.unwrap_err();
        assert!(error.starts_with("upstream 'api' cannot be used") && error.contains(wanted), "{error}");
    }
    let error = start(&["list_steps", "listSteps"], json!({})).0.unwrap_err();
    assert!(error.contains("'listSteps': another operation has the name 'list-steps', too"), "{error}");
    let error = start(&["list_steps"], json!({"schema_max_bytes": 100})).0.unwrap_err();
    assert!(error.contains("has a document of more than 100 bytes"), "{error}");
}
