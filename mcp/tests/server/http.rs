//! The server over HTTP: access and responses.

use crate::pipe::ENDLESS;
use crate::server;
use ptc_mcp::Server;
use ptc_mcp::service::Service;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

pub struct Web {
    pub server: Server,
    pub url: String,
    pub client: Client,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<Result<(), String>>,
}

impl Web {
    pub async fn open(flags: &[&str]) -> Web {
        let flags = [&["--http", "--http-disable-auth"], flags].concat();
        Web::start(server(&flags)).await
    }

    pub async fn with_token(flags: &[&str]) -> Web {
        let flags = [&["--http", "--http-auth-token", TOKEN], flags].concat();
        Web::start(server(&flags)).await
    }

    pub async fn start(server: Server) -> Web {
        // Other crates compile TLS into the client, which then needs a provider; the first test sets it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = oneshot::channel();
        let asked = async {
            let _ = stopped.await;
        };
        let serving = tokio::spawn(ptc_mcp::http::serve(server.clone(), listener, asked));
        let url = format!("http://127.0.0.1:{port}");
        Web { server, url, client: Client::new(), stop: Some(stop), serving }
    }

    pub fn post(&self, message: &Value) -> RequestBuilder {
        let url = format!("{}/mcp", self.url);
        self.client.post(url).header("content-type", "application/json").body(message.to_string())
    }

    pub async fn hello(&self) -> String {
        let response = self.post(&hello()).send().await.unwrap();
        response.headers()["mcp-session-id"].to_str().unwrap().to_string()
    }
}

pub fn hello() -> Value {
    message(
        0,
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    )
}

pub fn message(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn eval(id: u64, program: &str) -> Value {
    message(id, "tools/call", json!({"name": "lisp_eval", "arguments": {"program": program}}))
}

async fn body(response: Response) -> Value {
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

#[tokio::test]
async fn a_client_shakes_hands_and_calls_within_its_session() {
    let web = Web::open(&[]).await;
    let session = web.hello().await;
    assert!(session.starts_with("mcp_") && session.len() == 36);
    let answer = web.post(&eval(1, "(+ 1 2)")).header("mcp-session-id", &session).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(body(answer).await["result"]["content"][0]["text"], "user=> 3");

    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let noted = web.post(&note).header("mcp-session-id", &session).send().await.unwrap();
    assert_eq!((noted.status(), noted.text().await.unwrap()), (StatusCode::ACCEPTED, String::new()));
}

#[tokio::test]
async fn a_request_needs_its_session_and_its_revision() {
    let web = Web::open(&[]).await;
    let session = web.hello().await;
    let ping = message(1, "ping", json!({}));
    let status = |request: RequestBuilder| async { request.send().await.unwrap().status() };
    assert_eq!(status(web.post(&ping)).await, 400);
    assert_eq!(status(web.post(&ping).header("mcp-session-id", "mcp_none")).await, 404);
    let named = || web.post(&ping).header("mcp-session-id", &session);
    assert_eq!(status(named()).await, 200);
    assert_eq!(status(named().header("mcp-protocol-version", "2025-06-18")).await, 200);
    assert_eq!(status(named().header("mcp-protocol-version", "2025-11-25")).await, 400);
    assert_eq!(status(web.post(&hello()).header("mcp-session-id", &session)).await, 400);
}

#[tokio::test]
async fn a_session_ends_when_the_client_says_so() {
    let web = Web::open(&[]).await;
    let session = web.hello().await;
    let delete = |name: Option<&str>| {
        let request = web.client.delete(format!("{}/mcp", web.url));
        name.iter().fold(request, |request, name| request.header("mcp-session-id", *name)).send()
    };
    assert_eq!(delete(None).await.unwrap().status(), 400);
    assert_eq!(delete(Some("mcp_none")).await.unwrap().status(), 404);
    assert_eq!(delete(Some(&session)).await.unwrap().status(), 202);
    assert_eq!(delete(Some(&session)).await.unwrap().status(), 404);
}

#[tokio::test]
async fn checks_come_in_their_order() {
    let web = Web::with_token(&[]).await;
    let ask = |method: Method, path: &str| web.client.request(method, format!("{}{path}", web.url));
    let status = |request: RequestBuilder| async { request.send().await.unwrap().status().as_u16() };
    // Neither a token nor an allowed origin is required here.
    assert_eq!(status(ask(Method::GET, "/health").header("origin", "https://evil.example")).await, 200);
    assert_eq!(status(ask(Method::GET, "/ready")).await, 200);
    assert_eq!(status(ask(Method::GET, "/elsewhere").header("host", "evil.example")).await, 404);
    assert_eq!(status(ask(Method::POST, "/mcp").header("host", "evil.example")).await, 403);
    for host in ["localhost", "localhost:1", "127.0.0.1", "[::1]:80"] {
        assert_eq!(status(ask(Method::POST, "/mcp").header("host", host)).await, 401, "{host}");
    }
    for origin in ["https://evil.example", "null", "nonsense", "http://localhost.evil.example"] {
        assert_eq!(status(ask(Method::POST, "/mcp").header("origin", origin)).await, 403, "{origin}");
    }
    let known = |method| ask(method, "/mcp").bearer_auth(TOKEN).header("origin", "http://localhost:3000");
    assert_eq!(status(known(Method::GET)).await, 405);
    assert_eq!(status(known(Method::POST).header("content-type", "text/plain").body("{}")).await, 415);
    assert_eq!(status(known(Method::POST)).await, 400);
    assert_eq!(status(known(Method::POST).header("content-type", "application/json").body("{")).await, 400);
    assert_eq!(
        status(
            known(Method::POST).header("content-type", "application/vnd.x+json").body(hello().to_string())
        )
        .await,
        200
    );
}

#[tokio::test]
async fn pages_of_allowed_origins_may_ask_first_and_read_the_answers() {
    let page = "https://app.example";
    let web = Web::with_token(&["--http-allowed-origin", page]).await;
    let ask = |origin: &str, headers: &str| {
        web.client
            .request(Method::OPTIONS, format!("{}/mcp", web.url))
            .header("origin", origin)
            .header("sec-fetch-site", "cross-site")
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", headers)
            .send()
    };
    // Browsers send no token with this request.
    let told = ask(page, "authorization, content-type, mcp-param-region, x-evil").await.unwrap();
    assert_eq!(told.status(), 204);
    assert_eq!(told.headers()["access-control-allow-origin"], page);
    assert_eq!(told.headers()["access-control-allow-methods"], "POST, GET, DELETE");
    assert_eq!(
        told.headers()["access-control-allow-headers"],
        "authorization, content-type, mcp-param-region"
    );
    assert_eq!(told.headers()["vary"], "Origin");
    let told = ask("https://evil.example", "authorization").await.unwrap();
    assert_eq!(told.status(), 403);
    assert!(!told.headers().contains_key("access-control-allow-origin"));
    let called = web.post(&hello()).bearer_auth(TOKEN).header("origin", page).send().await.unwrap();
    assert_eq!(called.status(), 200);
    assert_eq!(called.headers()["access-control-allow-origin"], page);
    assert!(called.headers()["access-control-expose-headers"].to_str().unwrap().contains("Mcp-Session-Id"));
    let refused = web.post(&hello()).header("origin", page).send().await.unwrap();
    assert_eq!(
        (refused.status(), &refused.headers()["access-control-allow-origin"]),
        (StatusCode::UNAUTHORIZED, &page.parse().unwrap())
    );
    // Without a list, pages of this machine may call, but no browser asks for them.
    let web = Web::with_token(&[]).await;
    let local =
        web.post(&hello()).bearer_auth(TOKEN).header("origin", "http://localhost:1").send().await.unwrap();
    assert!(local.status() == 200 && !local.headers().contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn wrong_tokens_are_told_apart_from_none_until_the_sender_is_blocked() {
    let web = Web::with_token(&["--http-auth-rate-limit-max-failures=3"]).await;
    let without = web.post(&hello()).send().await.unwrap();
    assert_eq!(without.status(), 401);
    assert_eq!(without.headers()["www-authenticate"], r#"Bearer realm="ptc""#);
    let wrong = web.post(&hello()).bearer_auth("wrong").send().await.unwrap();
    assert!(wrong.headers()["www-authenticate"].to_str().unwrap().contains("invalid_token"));
    assert_eq!(web.post(&hello()).bearer_auth(TOKEN).send().await.unwrap().status(), 200);
    for _ in 0..2 {
        assert_eq!(web.post(&hello()).bearer_auth("wrong").send().await.unwrap().status(), 401);
    }
    let blocked = web.post(&hello()).bearer_auth("wrong").send().await.unwrap();
    assert_eq!(blocked.status(), 429);
    assert!(blocked.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() <= 60);
    assert!(!blocked.headers().contains_key("www-authenticate"));
    // The block changes nothing for requests without a token; a valid token is accepted.
    assert_eq!(web.post(&hello()).send().await.unwrap().status(), 401);
    assert_eq!(web.post(&hello()).bearer_auth(TOKEN).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn two_users_do_not_see_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let (ada, bob) = ("ada's token, which is long enough.", "bob's token, which is long enough.");
    let hash = |token: &str| {
        use sha2::Digest;
        sha2::Sha256::digest(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    std::fs::write(&file, format!("# who may\nada:{}\nbob:{}\n", hash(ada), hash(bob))).unwrap();
    let flags = ["--http", "--sessions", "--http-auth-token-file", file.to_str().unwrap()];
    let web = Web::start(server(&flags)).await;
    let hers = web.post(&hello()).bearer_auth(ada).send().await.unwrap();
    let hers = hers.headers()["mcp-session-id"].to_str().unwrap().to_string();
    let ping = message(1, "ping", json!({}));
    let ask = |token: &str, session: &str| {
        web.post(&ping).bearer_auth(token).header("mcp-session-id", session).send()
    };
    assert_eq!(ask(ada, &hers).await.unwrap().status(), 200);
    // Another user's session looks like one that does not exist.
    let (theirs, none) = (ask(bob, &hers).await.unwrap(), ask(bob, "mcp_none").await.unwrap());
    assert_eq!((theirs.status(), none.status()), (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND));
    assert_eq!(theirs.text().await.unwrap(), none.text().await.unwrap());

    let start = message(2, "tools/call", json!({"name": "lisp_session_start", "arguments": {}}));
    let modern = |token: &str, call: &Value| modern(&web, call).bearer_auth(token);
    let started = body(modern(ada, &start).send().await.unwrap()).await;
    let id = &started["result"]["structuredContent"]["session_id"];
    let list = message(3, "tools/call", json!({"name": "lisp_session_list", "arguments": {}}));
    let count = |answer: Value| answer["result"]["structuredContent"]["count"].as_u64().unwrap();
    assert_eq!(count(body(modern(ada, &list).send().await.unwrap()).await), 1);
    assert_eq!(count(body(modern(bob, &list).send().await.unwrap()).await), 0);
    let eval = |id: &Value| {
        message(
            4,
            "tools/call",
            json!({"name": "lisp_session_eval", "arguments": {"session_id": id, "program": "1"}}),
        )
    };
    let theirs = body(modern(bob, &eval(id)).send().await.unwrap()).await;
    assert!(
        theirs["result"]["content"][0]["text"].as_str().unwrap().starts_with("session_not_found: "),
        "{theirs}"
    );
    assert!(
        body(modern(ada, &eval(id)).send().await.unwrap()).await["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("user=> 1")
    );
}

/// Builds a self-contained request.
pub fn modern(web: &Web, call: &Value) -> RequestBuilder {
    let mut call = call.clone();
    call["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = web.post(&call).header("mcp-protocol-version", "2026-07-28");
    let request = request.header("mcp-method", call["method"].as_str().unwrap());
    match call["params"]["name"].as_str() {
        Some(name) => request.header("mcp-name", name),
        None => request,
    }
}

#[tokio::test]
async fn requests_that_speak_for_themselves_say_the_same_in_their_headers() {
    let web = Web::open(&[]).await;
    let answer = modern(&web, &eval(1, "(+ 1 2)")).header("mcp-session-id", "ignored").send().await.unwrap();
    assert!(!answer.headers().contains_key("mcp-session-id"));
    let answer = body(answer).await;
    assert_eq!(
        (&answer["result"]["resultType"], &answer["result"]["content"][0]["text"]),
        (&json!("complete"), &json!("user=> 3"))
    );

    let list = message(2, "tools/list", json!({}));
    let mut call = list.clone();
    call["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    for headers in [
        vec![],
        vec![("mcp-protocol-version", "2026-07-28")],
        vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call")],
    ] {
        let request =
            headers.iter().fold(web.post(&call), |request, (name, value)| request.header(*name, *value));
        let refused = request.send().await.unwrap();
        assert_eq!(refused.status(), 400);
        assert_eq!(body(refused).await["error"]["code"], -32020);
    }
    // Names that headers cannot carry are encoded.
    let wrapped = web
        .post(&call)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "=?base64?dG9vbHMvbGlzdA==?=");
    assert_eq!(wrapped.send().await.unwrap().status(), 200);
    // A request without its revision in `_meta` is not self-contained.
    let bare =
        web.post(&list).header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/list");
    let bare = bare.send().await.unwrap();
    assert_eq!(
        (bare.status(), body(bare).await["error"]["code"].as_i64()),
        (StatusCode::BAD_REQUEST, Some(-32602))
    );
    let unknown = modern(&web, &message(3, "no/such", json!({}))).send().await.unwrap();
    assert_eq!(
        (unknown.status(), body(unknown).await["error"]["code"].as_i64()),
        (StatusCode::NOT_FOUND, Some(-32601))
    );
    let mut old = call.clone();
    old["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2030-01-01");
    let request =
        web.post(&old).header("mcp-protocol-version", "2030-01-01").header("mcp-method", "tools/list");
    let refused = request.send().await.unwrap();
    assert_eq!(
        (refused.status(), body(refused).await["error"]["code"].as_i64()),
        (StatusCode::BAD_REQUEST, Some(-32022))
    );
}

#[tokio::test]
async fn bodies_have_a_longest() {
    let web = Web::open(&["--http-max-body-bytes=1000"]).await;
    let long = eval(1, &"1 ".repeat(1000));
    assert_eq!(web.post(&long).send().await.unwrap().status(), 413);
    assert_eq!(web.post(&hello()).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn sessions_of_the_protocol_are_not_without_number() {
    let web = Web::open(&["--http-max-sessions=3", "--http-max-sessions-per-owner=2"]).await;
    web.hello().await;
    web.hello().await;
    let third = web.post(&hello()).send().await.unwrap();
    assert_eq!(third.status(), 429);
    let told = body(third).await;
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(0), &json!(-32000)));
}

#[tokio::test]
async fn who_goes_away_frees_the_permit() {
    let web =
        Web::open(&["--program-timeout-ms=600000", "--max-concurrent-calls=1", "--max-queued-calls=0"]).await;
    let session = web.hello().await;
    let endless =
        web.post(&eval(1, ENDLESS)).header("mcp-session-id", &session).timeout(Duration::from_millis(200));
    assert!(endless.send().await.unwrap_err().is_timeout());
    for id in 2.. {
        let answer = web.post(&eval(id, "1")).header("mcp-session-id", &session).send().await.unwrap();
        let answer = body(answer).await;
        if answer["result"]["isError"] == false {
            break;
        }
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("busy: "), "{answer}");
    }
}

#[tokio::test]
async fn a_cancelled_call_says_so() {
    let web = Web::open(&["--program-timeout-ms=600000"]).await;
    let session = web.hello().await;
    let endless = web.post(&eval(1, ENDLESS)).header("mcp-session-id", &session).send();
    let cancel = async {
        while web.server.running() == 0 {
            tokio::task::yield_now().await;
        }
        let note = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        web.post(&note).header("mcp-session-id", &session).send().await.unwrap();
    };
    let (answer, ()) = tokio::join!(endless, cancel);
    let answer = body(answer.unwrap()).await;
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("cancelled: "), "{answer}");
}

#[tokio::test]
async fn one_session_has_only_so_many_calls_under_way() {
    let flags =
        ["--program-timeout-ms=600000", "--max-concurrent-calls=8", "--http-max-in-flight-per-session=1"];
    let web = Web::open(&flags).await;
    let session = web.hello().await;
    let endless = web.post(&eval(1, ENDLESS)).header("mcp-session-id", &session).send();
    let second = async {
        while web.server.running() == 0 {
            tokio::task::yield_now().await;
        }
        body(web.post(&eval(2, "1")).header("mcp-session-id", &session).send().await.unwrap()).await
    };
    tokio::select! {
        _ = endless => panic!("it does not end"),
        busy = second => {
            assert!(busy["result"]["content"][0]["text"].as_str().unwrap().starts_with("busy: "), "{busy}");
        }
    }
}

#[tokio::test]
async fn asked_to_end_it_takes_no_calls_and_waits_for_those_under_way() {
    let mut web = Web::open(&["--program-timeout-ms=4000", "--http-shutdown-grace-ms=60000"]).await;
    let session = web.hello().await;
    let url = web.url.clone();
    let under_way = tokio::spawn(web.post(&eval(1, ENDLESS)).header("mcp-session-id", &session).send());
    while web.server.running() == 0 {
        tokio::task::yield_now().await;
    }
    web.stop.take().unwrap().send(()).unwrap();
    while !web.server.is_draining() {
        tokio::task::yield_now().await;
    }
    assert_eq!(web.client.get(format!("{url}/ready")).send().await.unwrap().status(), 503);
    assert_eq!(web.client.get(format!("{url}/health")).send().await.unwrap().status(), 200);
    let refused = web.post(&eval(2, "1")).header("mcp-session-id", &session).send().await.unwrap();
    assert_eq!(refused.status(), 503);
    assert_eq!(body(refused).await["error"]["message"], "server draining");
    let answer = body(under_way.await.unwrap().unwrap()).await;
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("timeout: "), "{answer}");
    web.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn requests_have_names_and_counts() {
    let web = Web::open(&["--http-metrics"]).await;
    let named = web.post(&hello()).header("x-request-id", "mine").send().await.unwrap();
    assert_eq!(named.headers()["x-request-id"], "mine");
    let unnamed = web.post(&hello()).header("x-request-id", "x".repeat(200)).send().await.unwrap();
    assert!(unnamed.headers()["x-request-id"].len() < 128);
    let metrics = web.client.get(format!("{}/metrics", web.url)).send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("ptc_mcp_http_sessions") && metrics.contains("status=\"200\"} 2"), "{metrics}");
}

#[tokio::test]
async fn calls_are_counted_by_tool_server_and_owner() {
    let (server, _bank) =
        crate::bank::server_with_bank(&["--http", "--http-auth-token", TOKEN, "--http-metrics"]);
    let web = Web::start(server).await;
    let session = web.post(&hello()).bearer_auth(TOKEN).send().await.unwrap();
    let session = session.headers()["mcp-session-id"].to_str().unwrap().to_string();
    let call = |program: &str| {
        web.post(&eval(1, program)).bearer_auth(TOKEN).header("mcp-session-id", &session).send()
    };
    let balance = r#"(count (str (tool/call {:server "bank" :tool "balance"})))"#;
    for program in [balance, balance, "(fail 1)"] {
        assert_eq!(call(program).await.unwrap().status(), 200);
    }
    let page = |path: &str| web.client.get(format!("{}{path}", web.url));
    let metrics = page("/metrics").bearer_auth(TOKEN).send().await.unwrap().text().await.unwrap();
    let value = |parts: &[&str]| {
        let line = metrics.lines().find(|line| parts.iter().all(|part| line.contains(part)));
        let line = line.unwrap_or_else(|| panic!("no {parts:?} in {metrics}"));
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(value(&["ptc_mcp_tool_calls_total", r#"tool="lisp_eval""#, r#"status="ok""#]), 2.0);
    assert_eq!(value(&["ptc_mcp_tool_calls_total", r#"status="fail""#]), 1.0);
    assert_eq!(value(&["ptc_mcp_tool_duration_seconds_count", r#"tool="lisp_eval""#]), 3.0);
    let bank = [r#"upstream="bank""#, r#"tool="balance""#];
    assert_eq!(
        value(&[&["ptc_mcp_upstream_calls_total", r#"status="ok""#, "owner=\""][..], &bank].concat()),
        2.0
    );
    assert_eq!(value(&[&["ptc_mcp_upstream_duration_seconds_count"][..], &bank].concat()), 2.0);
    for name in ["ptc_mcp_tool_request_bytes_total", "ptc_mcp_tool_reply_bytes_total"] {
        assert!(value(&[name]) > 0.0, "{name}");
    }
    value(&["ptc_mcp_saved_bytes_total"]);
    assert!(metrics.ends_with("# EOF\n") && metrics.matches("# EOF").count() == 1, "{metrics}");
    assert!(!metrics.contains(TOKEN));

    // The short page is for everybody, the long one is not.
    assert_eq!(page("/ready").send().await.unwrap().text().await.unwrap(), r#"{"status":"ready"}"#);
    assert_eq!(page("/ready?verbose").send().await.unwrap().status(), 401);
    let health = body(page("/ready?verbose").bearer_auth(TOKEN).send().await.unwrap()).await;
    assert_eq!(health["status"], "ready");
    assert_eq!(
        (&health["upstreams"][0]["name"], &health["upstreams"][0]["healthy"]),
        (&json!("bank"), &json!(true))
    );
    assert!(health["upstreams"][0]["tools"].as_u64().unwrap() > 0, "{health}");
}
