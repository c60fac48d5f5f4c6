//! The server under attack: half-sent requests, large bodies, strangers trying to lock others out.

use crate::http::{TOKEN, Web, eval, hello, message};
use crate::server;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Time limit for anything that does not hang.
const GUARD: Duration = Duration::from_secs(60);

const HALF_A_HEAD: &[u8] = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-a: ";

async fn connect(web: &Web) -> TcpStream {
    TcpStream::connect(web.url.strip_prefix("http://").unwrap()).await.unwrap()
}

/// Opens a connection and sends these bytes.
async fn sent(web: &Web, bytes: &[u8]) -> TcpStream {
    let mut stream = connect(web).await;
    stream.write_all(bytes).await.unwrap();
    stream
}

/// Returns the beginning of a response, up to its status code.
async fn answered(stream: &mut TcpStream) -> String {
    let mut told = [0; 12];
    tokio::time::timeout(GUARD, stream.read_exact(&mut told)).await.expect("an answer").unwrap();
    String::from_utf8(told.to_vec()).unwrap()
}

/// Reads from a connection until the server closes it.
async fn heard(stream: &mut TcpStream) -> String {
    let mut heard = Vec::new();
    // A reset connection is closed as well.
    let _ = tokio::time::timeout(GUARD, stream.read_to_end(&mut heard)).await.expect("it is closed");
    String::from_utf8(heard).unwrap()
}

async fn status(request: RequestBuilder) -> u16 {
    request.timeout(GUARD).send().await.unwrap().status().as_u16()
}

/// Returns the head of a message with a body of this length.
fn head(length: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn half_sent_headers_cost_the_places_of_who_sent_them() {
    // The attack needs more open files than many systems allow by default.
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    let web = Web::open(&["--http-max-connections-per-address=100"]).await;
    let mut slow = Vec::new();
    for _ in 0..1_100 {
        slow.push(sent(&web, HALF_A_HEAD).await);
    }
    let health = || web.client.get(format!("{}/health", web.url));
    assert_eq!(status(health()).await, 200);
    assert_eq!(heard(&mut slow[0]).await, "");
    // Calls still get through, and later connections do not cut them off.
    assert_eq!(status(web.post(&hello())).await, 200);
}

#[tokio::test]
async fn headers_have_to_come_in_time_and_idle_connections_end() {
    let web = Web::open(&["--http-header-timeout-ms=200"]).await;
    let mut half = sent(&web, HALF_A_HEAD).await;
    let mut silent = connect(&web).await;
    let mut idle = sent(&web, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(heard(&mut half).await, "");
    assert_eq!(heard(&mut silent).await, "");
    assert!(heard(&mut idle).await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn a_stream_that_is_open_is_no_idle_connection() {
    let web = Web::open(&["--http-header-timeout-ms=200", "--http-max-connections-per-address=2"]).await;
    let session = web.hello().await;
    let stream = web.client.get(format!("{}/mcp", web.url)).header("accept", "text/event-stream");
    let mut stream = stream.header("mcp-session-id", &session).send().await.unwrap();
    assert_eq!(stream.status(), 200);
    for _ in 0..10 {
        sent(&web, HALF_A_HEAD).await;
    }
    // The open stream is silent for longer than waiting connections may be, and is still there.
    let quiet = tokio::time::timeout(Duration::from_millis(800), stream.chunk()).await;
    assert!(quiet.is_err(), "{quiet:?}");
    let delete = web.client.delete(format!("{}/mcp", web.url)).header("mcp-session-id", &session);
    assert_eq!(status(delete).await, 202);
    assert_eq!(tokio::time::timeout(GUARD, stream.chunk()).await.unwrap().unwrap(), None);
}

#[tokio::test]
async fn nothing_locks_a_good_token_out() {
    let web = Web::with_token(&["--http-auth-rate-limit-max-failures=3"]).await;
    // Requests without a token guess nothing, so they are never blocked.
    for _ in 0..20 {
        assert_eq!(status(web.post(&hello())).await, 401);
    }
    for _ in 0..3 {
        assert_eq!(status(web.post(&hello()).bearer_auth("wrong")).await, 401);
    }
    for _ in 0..3 {
        assert_eq!(status(web.post(&hello()).bearer_auth("wrong")).await, 429);
        assert_eq!(status(web.post(&hello()).bearer_auth(TOKEN)).await, 200);
        assert_eq!(status(web.post(&hello())).await, 401);
    }
}

#[tokio::test]
async fn pages_of_other_sites_are_refused_before_anything_counts() {
    let web = Web::with_token(&["--http-allowed-origin=https://app.example"]).await;
    let from = |site: &str| web.post(&hello()).header("sec-fetch-site", site);
    for site in ["cross-site", "same-site"] {
        // An image request, with a token that the page's author put into it.
        for _ in 0..10 {
            assert_eq!(status(from(site).bearer_auth("wrong")).await, 403);
        }
        assert_eq!(status(from(site).bearer_auth(TOKEN)).await, 403);
        let allowed = from(site).header("origin", "https://app.example");
        assert_eq!(status(allowed.bearer_auth(TOKEN)).await, 200);
        assert_eq!(status(from(site).header("origin", "https://evil.example").bearer_auth(TOKEN)).await, 403);
    }
    assert_eq!(status(web.post(&hello()).bearer_auth("wrong")).await, 401);
    assert_eq!(status(from("same-origin").bearer_auth(TOKEN)).await, 200);
    assert_eq!(status(from("none").bearer_auth(TOKEN)).await, 200);
}

#[tokio::test]
async fn a_trusted_proxy_says_who_sent_wrong_tokens() {
    let flags = ["--http-auth-rate-limit-max-failures=1", "--http-trusted-proxy=127.0.0.0/8"];
    let web = Web::with_token(&flags).await;
    let wrong = |client: &str| web.post(&hello()).bearer_auth("wrong").header("x-forwarded-for", client);
    assert_eq!(status(wrong("192.0.2.1")).await, 401);
    assert_eq!(status(wrong("192.0.2.1")).await, 429);
    assert_eq!(status(wrong("192.0.2.2")).await, 401);
    // The proxy appends the address it saw; everything before that is the client's claim.
    assert_eq!(status(wrong("192.0.2.3, 192.0.2.2")).await, 429);
    assert_eq!(status(wrong("192.0.2.2, 192.0.2.3")).await, 401);

    let web = Web::with_token(&flags[..1]).await;
    let wrong = |client: &str| web.post(&hello()).bearer_auth("wrong").header("x-forwarded-for", client);
    assert_eq!(status(wrong("192.0.2.1")).await, 401);
    assert_eq!(status(wrong("192.0.2.2")).await, 429, "nobody trusts who connects");
}

#[tokio::test]
async fn the_body_of_a_stranger_is_not_looked_at() {
    // The body never arrives: a server that waits for it sends no response.
    let web = Web::open(&["--http-request-timeout-ms=600000", "--http-min-body-bytes-per-second=1"]).await;
    let bogus = head(8_000_000).replace("Content-Type", "Mcp-Session-Id: mcp_none\r\nContent-Type");
    let mut stranger = sent(&web, bogus.as_bytes()).await;
    assert_eq!(answered(&mut stranger).await, "HTTP/1.1 404");
    // A client that sends it all gets the same response, without being cut off.
    let whole = web.post(&eval(1, &"1 ".repeat(1_000_000))).header("mcp-session-id", "mcp_none");
    assert_eq!(status(whole).await, 404);

    let web = Web::with_token(&["--http-request-timeout-ms=600000"]).await;
    let mut stranger = sent(&web, head(8_000_000).as_bytes()).await;
    assert_eq!(answered(&mut stranger).await, "HTTP/1.1 401");
}

#[tokio::test]
async fn a_body_has_to_come_in_time_and_at_a_pace() {
    let web = Web::open(&["--http-request-timeout-ms=200"]).await;
    let mut half = sent(&web, (head(1000) + "{").as_bytes()).await;
    assert_eq!(answered(&mut half).await, "HTTP/1.1 408");

    let web = Web::open(&["--http-request-timeout-ms=600000"]).await;
    let mut drip = sent(&web, (head(1_000_000) + "{").as_bytes()).await;
    let (mut reading, mut writing) = drip.split();
    let dripping = async {
        while writing.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let mut told = [0; 12];
    tokio::select! {
        read = tokio::time::timeout(GUARD, reading.read_exact(&mut told)) => drop(read.expect("an answer").unwrap()),
        () = dripping => panic!("closed without a word"),
    }
    assert_eq!(&told, b"HTTP/1.1 408");
}

#[tokio::test]
async fn bodies_share_memory_and_count_as_what_they_become() {
    let web = Web::open(&["--http-max-bodies-bytes=200000"]).await;
    let session = web.hello().await;
    let call = |context: Value| {
        let arguments = json!({"program": "(count data/rows)", "context": {"rows": context}});
        let call = message(1, "tools/call", json!({"name": "lisp_eval", "arguments": arguments}));
        web.post(&call).header("mcp-session-id", &session)
    };
    // Both are 3.5 kB of text; parsed, the first takes hundreds of kB.
    assert_eq!(status(call(json!(vec![json!({"": 0}); 500]))).await, 413);
    assert_eq!(status(call(json!("x".repeat(3500)))).await, 200);

    // A client sends most of the available memory and then nothing.
    let mut large = sent(&web, head(200_000).as_bytes()).await;
    large.write_all(&vec![b' '; 120_000]).await.unwrap();
    let row = "x".repeat(60_000);
    let refused = loop {
        let answer = call(json!(row)).send().await.unwrap();
        // Repeated until the server has read what was sent.
        if answer.status() != 200 {
            break answer;
        }
    };
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"1".parse().unwrap()));
    // Small messages get through all the while.
    assert_eq!(status(web.post(&eval(2, "(+ 1 2)")).header("mcp-session-id", &session)).await, 200);
    drop(large);
    let again = async { while status(call(json!(row))).await != 200 {} };
    tokio::time::timeout(GUARD, again).await.expect("memory is given back");
}

const ADA: &str = "ada's token, which is long enough.";
const BOB: &str = "bob's token, which is long enough.";

/// Returns the path of a file with the tokens of two clients.
fn tokens(folder: &tempfile::TempDir) -> String {
    use sha2::Digest;
    let row = |name: &str, token: &str| {
        let hash = sha2::Sha256::digest(token.as_bytes());
        format!("{name}:{}\n", hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    };
    let file = folder.path().join("tokens");
    std::fs::write(&file, row("ada", ADA) + &row("bob", BOB)).unwrap();
    file.display().to_string()
}

#[tokio::test]
async fn bodies_of_one_client_leave_memory_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--http", "--http-auth-token-file", &tokens(&folder), "--http-max-bodies-bytes=2000000"];
    let web = Web::start(server(&flags)).await;
    let call = |token: &str| {
        let row = "x".repeat(60_000);
        let arguments = json!({"program": "(count data/row)", "context": {"row": row}});
        let call = message(1, "tools/call", json!({"name": "lisp_eval", "arguments": arguments}));
        crate::http::modern(&web, &call).bearer_auth(token)
    };
    // Ada sends as much as her share allows, and then nothing.
    let mut held = Vec::new();
    while status(call(ADA)).await == 200 {
        let head = head(200_000).replace(
            "Host:",
            &format!("Authorization: Bearer {ADA}\r\nMcp-Protocol-Version: 2026-07-28\r\nHost:"),
        );
        let mut stream = sent(&web, head.as_bytes()).await;
        stream.write_all(&vec![b' '; 190_000]).await.unwrap();
        held.push(stream);
        assert!(held.len() < 100, "she takes more than there is");
    }
    assert_eq!(status(call(BOB)).await, 200);
    drop(held);
    let again = async { while status(call(ADA)).await != 200 {} };
    tokio::time::timeout(GUARD, again).await.expect("memory is given back");
}

#[tokio::test]
async fn clients_see_their_own_calls_only() {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("traces").display().to_string();
    let file = tokens(&folder);
    let (ada, bob) = (ADA, BOB);
    for (more, bob_sees) in [(&[][..], 1), (&["--debug-all-owners"][..], 2)] {
        let flags = ["--http", "--debug-tool", "--http-auth-token-file", &file];
        let flags = [&flags[..], &["--trace-dir", &traces, "--trace-payloads=full"], more].concat();
        let web = Web::start(server(&flags)).await;
        let call = |token: &str, id: u64, tool: &str, arguments: Value| {
            let call = message(id, "tools/call", json!({"name": tool, "arguments": arguments}));
            crate::http::modern(&web, &call).bearer_auth(token.to_string())
        };
        let ask = |token: &str, arguments: Value| {
            let request = call(token, 99, "lisp_debug", arguments);
            async move { request.send().await.unwrap().text().await.unwrap() }
        };
        call(ada, 7, "lisp_eval", json!({"program": "(count \"of ada\")"})).send().await.unwrap();
        call(bob, 8, "lisp_eval", json!({"program": "(count \"of bob\")"})).send().await.unwrap();
        web.server.traces().unwrap().flush();
        let recent: Value = serde_json::from_str(&ask(bob, json!({"op": "recent"})).await).unwrap();
        let recent = &recent["result"]["structuredContent"];
        assert_eq!(recent["count"], bob_sees, "{recent}");
        let stats: Value = serde_json::from_str(&ask(bob, json!({"op": "stats"})).await).unwrap();
        let stats = &stats["result"]["structuredContent"];
        assert_eq!((&stats["ring_count"], &stats["window"]["calls"]), (&json!(bob_sees), &json!(bob_sees)));
        // The call is found by its id neither in memory nor in the trace folder.
        let hers = ask(bob, json!({"op": "get", "request_id": "7"})).await;
        assert_eq!(hers.contains("of ada"), bob_sees == 2, "{hers}");
        assert!(ask(ada, json!({"op": "get", "request_id": "7"})).await.contains("of ada"));
        if bob_sees == 2 {
            let owners: Vec<&Value> =
                recent["calls"].as_array().unwrap().iter().map(|row| &row["owner"]).collect();
            assert!(owners[0].is_string() && owners[0] != owners[1], "{owners:?}");
        }
    }
}
