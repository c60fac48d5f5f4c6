//! Faults of providers and networks.

use crate::anthropic::{delta, events, model, streaming};
use ptc_model::LlmRetry;
use ptc_model::{Api, ErrorKind, HttpModel, HttpOptions, LlmError, LlmRequest, LlmResponse, Model, Retry};
use ptc_testkit::provider::{
    Answer, Provider, event_head, head, json, named_events, stream_of, with_headers,
};
use serde_json::json;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

async fn ask(answer: Answer, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
    model(&Provider::start([answer])).call(request).await
}

async fn fails(answer: Answer) -> LlmError {
    ask(answer, &LlmRequest::new("s", "p")).await.unwrap_err()
}

fn ok() -> Answer {
    json(200, &json!({"content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"}))
}

fn quick() -> LlmRetry {
    LlmRetry { base_delay: 0, ..LlmRetry::default() }
}

#[tokio::test]
async fn every_status_has_its_class() {
    let rows = [
        (400, ErrorKind::ClientError, "client_error"),
        (401, ErrorKind::ClientError, "client_error"),
        (404, ErrorKind::ClientError, "client_error"),
        (408, ErrorKind::Timeout, "timeout"),
        (429, ErrorKind::RateLimit, "rate_limit"),
        (500, ErrorKind::ServerError, "server_error"),
        (503, ErrorKind::ServerError, "server_error"),
        (529, ErrorKind::ServerError, "server_error"),
    ];
    for (status, kind, class) in rows {
        let body = json!({"type": "error", "error": {"type": "some_error", "message": "No"}});
        let error = fails(json(status, &body)).await;
        assert_eq!((error.kind, error.class(), error.status), (kind, class, Some(status)));
        assert_eq!((error.message.as_str(), error.cause.as_deref()), ("No", Some("some_error")));
        assert_eq!(error.reason(), "llm_error");
    }
}

#[tokio::test]
async fn errors_that_are_no_json() {
    let error = fails(with_headers(502, "", "<html>Bad gateway</html>")).await;
    assert_eq!(error.to_string(), "llm_error: <html>Bad gateway</html> (server_error, status 502)");
    let error = fails(with_headers(500, "", "")).await;
    assert_eq!(error.message, "the provider gave no reason");
    let error = fails(with_headers(500, "", &"x".repeat(1 << 20))).await;
    assert_eq!(error.message.chars().count(), 501, "a long one is cut");
}

#[tokio::test]
async fn keys_are_in_no_error_and_no_debug_output() {
    let body =
        json!({"error": {"type": "sk-canary-1", "message": "Incorrect API key provided: sk-canary-1."}});
    let server = Provider::start([json(401, &body)]);
    let model = model(&server);
    let error = model.call(&LlmRequest::new("s", "p")).await.unwrap_err();
    assert_eq!(error.message, "Incorrect API key provided: ….");
    for text in [format!("{error:?}{error}"), format!("{model:?}")] {
        assert!(!text.contains("canary"), "{text}");
    }
    // Some servers report errors with a status of success, and some repeat the address.
    for api in [Api::Anthropic, Api::Chat, Api::Compatible, Api::Responses, Api::Gemini, Api::Ollama] {
        let body =
            json!({"error": {"type": "sk-canary-1", "message": "no sk-canary-1 at /v1?token=canary%2B2"}});
        let server = Provider::start([json(200, &body)]);
        let options = HttpOptions::new(api, "m").base_url(format!("{}?token=canary%2B2", server.url));
        let model = HttpModel::new(options.key("sk-canary-1")).unwrap();
        let error = model.call(&LlmRequest::new("s", "p")).await.unwrap_err();
        assert_eq!(error.message, "no … at /v1?token=…", "{api:?}");
        assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    }
    let options = HttpOptions::new(Api::Chat, "m").key("bad\nkey-canary").base_url("http://127.0.0.1:1");
    let error = HttpModel::new(options).unwrap().call(&LlmRequest::new("s", "p")).await.unwrap_err();
    assert_eq!(error.message, "the key has characters that headers cannot contain");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let answer = with_headers(307, "location: http://127.0.0.1:9/steal\r\n", "");
    let error = fails(answer).await;
    assert_eq!(error.message, "the provider redirects to another address; set `base_url` to that");
}

#[tokio::test]
async fn busy_then_an_answer() {
    let busy = with_headers(429, "retry-after: 0\r\n", "{\"error\": {\"message\": \"Slow down\"}}");
    let server = Provider::start([busy, ok()]);
    let reply =
        Retry::new(model(&server), LlmRetry::default()).call(&LlmRequest::new("s", "p")).await.unwrap();
    assert_eq!((reply.text(), reply.retries), ("Hi", 1));
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn failing_again_and_again() {
    let down = || json(500, &json!({"error": {"message": "Down"}}));
    let server = Provider::start([down(), down(), down(), ok()]);
    let error = Retry::new(model(&server), quick()).call(&LlmRequest::new("s", "p")).await.unwrap_err();
    assert_eq!((error.kind, error.retries), (ErrorKind::ServerError, 2));
    assert_eq!(server.asked().len(), 3, "three attempts, the first included");
}

#[tokio::test]
async fn what_cannot_get_better_is_not_tried_again() {
    let no = |status: u16, cause: &str| json(status, &json!({"error": {"type": cause, "message": "No"}}));
    for (answer, attempts) in [
        (no(400, "x"), 1),
        (no(401, "x"), 1),
        (no(402, "x"), 1),
        (no(403, "x"), 1),
        (no(404, "x"), 1),
        (no(413, "x"), 1),
        (no(422, "x"), 1),
        (no(429, "insufficient_quota"), 1),
        (no(408, "x"), 3),
        (no(409, "x"), 3),
        (no(429, "rate_limit_error"), 3),
        (no(529, "overloaded_error"), 3),
    ] {
        let server = Provider::start(vec![answer; 4]);
        let error = Retry::new(model(&server), quick()).call(&LlmRequest::new("s", "p")).await.unwrap_err();
        assert_eq!((server.asked().len(), error.retries), (attempts, attempts as u32 - 1), "{error}");
    }
    // Errors inside a stream have a code or a name, and no HTTP status.
    for error in
        [json!({"code": 401, "message": "No"}), json!({"type": "authentication_error", "message": "No"})]
    {
        let event = json!({"type": "error", "error": error});
        let server = Provider::start(vec![stream_of(named_events(&[event])); 3]);
        Retry::new(model(&server), quick()).call(&streaming().0).await.unwrap_err();
        assert_eq!(server.asked().len(), 1, "{error}");
    }
}

#[tokio::test]
async fn how_long_to_wait() {
    let wait = async |headers: &str| fails(with_headers(429, headers, "{}")).await.retry_after;
    assert_eq!(wait("").await, None);
    assert_eq!(wait("retry-after: 7\r\n").await, Some(Duration::from_secs(7)));
    assert_eq!(wait("retry-after-ms: 250\r\nretry-after: 7\r\n").await, Some(Duration::from_millis(250)));
    assert_eq!(wait("retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n").await, Some(Duration::ZERO));
    for nonsense in ["-1", "soon", "1e400", "nan"] {
        assert_eq!(wait(&format!("retry-after: {nonsense}\r\n")).await, None, "{nonsense}");
    }
}

#[tokio::test]
async fn nobody_waits_for_years() {
    let busy = json!({"error": {"message": "busy", "details": [{"retryDelay": "99999999s"}]}});
    let server = Provider::start([json(429, &busy), ok()]);
    let asked = tokio::time::timeout(Duration::from_secs(20), async {
        Retry::new(model(&server), quick()).call(&LlmRequest::new("s", "p")).await
    });
    let error = asked.await.expect("it does not wait").unwrap_err();
    assert_eq!((error.kind, error.retries, server.asked().len()), (ErrorKind::RateLimit, 0, 1));
}

#[tokio::test]
async fn no_server_at_all() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = HttpModel::new(HttpOptions::new(Api::Chat, "m").base_url(url)).unwrap();
    let error = model.call(&LlmRequest::new("s", "p")).await.unwrap_err();
    assert_eq!((error.kind, error.class()), (ErrorKind::Network, "timeout"));
    assert!(error.message.starts_with("`m` could not be reached: "), "{error:?}");
}

#[tokio::test]
async fn addresses_that_are_none() {
    for url in ["", "nowhere", "ftp://x/v1", "file:///etc/passwd", "http://"] {
        let error = HttpModel::new(HttpOptions::new(Api::Chat, "m").base_url(url)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported, "{url}");
        assert!(error.message.starts_with("`base_url` is not"), "{error}");
    }
}

#[tokio::test]
async fn addresses_hold_no_secrets() {
    for url in [
        "http://user:canary@127.0.0.1/v1",
        "http://canary@127.0.0.1/v1",
        "http://canary@127.0.0.1/v1?key=canary",
    ] {
        let options = HttpOptions::new(Api::Chat, "m").base_url(url);
        let shown = format!("{options:?}");
        let error = HttpModel::new(options).unwrap_err();
        assert!(error.message.starts_with("`base_url` contains a password"), "{error}");
        assert!(!format!("{shown}{error:?}").contains("canary"), "{shown}");
    }
}

#[test]
fn without_a_runtime_there_is_an_error() {
    let model = HttpModel::new(HttpOptions::new(Api::Chat, "m")).unwrap();
    let error =
        futures_util::FutureExt::now_or_never(model.call(&LlmRequest::new("s", "p"))).unwrap().unwrap_err();
    assert_eq!(error.message, "asking a provider needs a tokio runtime");
}

#[tokio::test]
async fn a_provider_that_never_answers() {
    for bytes in [Vec::new(), event_head(), [event_head(), named_events(&events()[..4])].concat()] {
        let server = Provider::start([Answer::Stuck(bytes.clone()), Answer::Stuck(bytes)]);
        let options = HttpOptions::new(Api::Anthropic, "m").base_url(&server.url);
        let model = HttpModel::new(options.clone().timeout(Duration::from_millis(300))).unwrap();
        let error = model.call(&streaming().0).await.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Timeout, "`m` did not answer in time"));

        let (mut request, _) = streaming();
        request.deadline = Some(Instant::now() + Duration::from_millis(300));
        let error = HttpModel::new(options).unwrap().call(&request).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Timeout, "the deadline of the mission counts too");
    }
}

#[tokio::test]
async fn a_call_ends_when_it_is_dropped() {
    let server = Provider::start([Answer::Stuck(event_head())]);
    let model = model(&server);
    let (request, _) = streaming();
    tokio::select! {
        _ = model.call(&request) => panic!("there is no answer"),
        () = async { while server.asked().is_empty() { tokio::task::yield_now().await } } => {}
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off() {
    let half = named_events(&events()[..4]);
    // Once with a clean end of the connection, once in the middle of a transport chunk.
    let chunked = head(200, "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n");
    let chunk = [format!("{:x}\r\n", half.len() + 100).into_bytes(), half.clone()].concat();
    for answer in [stream_of(half), Answer::Bytes([chunked, chunk].concat())] {
        let (request, chunks) = streaming();
        let server = Provider::start([answer, ok()]);
        let error = Retry::new(model(&server), quick()).call(&request).await.unwrap_err();
        assert_eq!((error.kind, error.retries), (ErrorKind::Network, 0), "{error}");
        assert_eq!(*chunks.lock().unwrap(), [delta("Grü")]);
        assert_eq!(server.asked().len(), 1, "not asked again once a piece went out");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_before_its_first_piece_is_asked_for_again() {
    let server =
        Provider::start([stream_of(named_events(&events()[..3])), stream_of(named_events(&events()))]);
    let (request, chunks) = streaming();
    let reply = Retry::new(model(&server), quick()).call(&request).await.unwrap();
    assert_eq!((reply.text(), reply.retries), ("Grüße", 1));
    assert_eq!(chunks.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_stream_in_the_smallest_pieces() {
    let bytes = named_events(&events());
    let chunked = head(200, "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n");
    let pieces: Vec<u8> =
        bytes.iter().flat_map(|byte| [b"1\r\n".as_slice(), &[*byte], b"\r\n"].concat()).collect();
    let answer = Answer::Bytes([chunked, pieces, b"0\r\n\r\n".to_vec()].concat());
    assert_eq!(ask(answer, &streaming().0).await.unwrap().text(), "Grüße");
}

#[tokio::test]
async fn a_slow_stream() {
    // Cut in the middle of lines and of characters.
    let pieces = named_events(&events()).chunks(7).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let answer = Answer::Slow([vec![event_head()], pieces].concat());
    let (request, chunks) = streaming();
    assert_eq!(ask(answer, &request).await.unwrap().text(), "Grüße");
    assert_eq!(chunks.lock().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once_do_not_mix() {
    let server = Provider::start(vec![Answer::Echo; 200]);
    let model = model(&server);
    let calls = (0..200).map(|n| {
        let model = model.clone();
        tokio::spawn(async move {
            let reply = model.call(&LlmRequest::new("s", format!("call {n}"))).await.unwrap();
            assert_eq!(reply.text(), format!("call {n}"));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
}

/// Checks that a host with a runtime per run can share the client between them: a connection that the first runtime
/// left open is of no use to the second.
#[test]
fn a_client_outlives_the_runtime_that_first_used_it() {
    let body = r#"{"content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"}"#;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Answers every request, and leaves the connection open.
            std::thread::spawn(move || {
                let mut bytes = [0; 65536];
                while stream.read(&mut bytes).is_ok_and(|n| n > 0) {
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                    let _ = stream.write_all(format!("{head}{body}").as_bytes());
                }
            });
        }
    });
    let model = HttpModel::new(HttpOptions::new(Api::Anthropic, "m").base_url(url)).unwrap();
    for _ in 0..20 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reply = runtime.block_on(async { model.call(&LlmRequest::new("s", "p")).await.unwrap() });
        assert_eq!(reply.text(), "Hi");
    }
}

#[tokio::test]
async fn a_server_that_does_not_encrypt() {
    let server = Provider::start([ok()]);
    let url = server.url.replace("http://", "https://");
    let model = HttpModel::new(HttpOptions::new(Api::Chat, "m").base_url(url)).unwrap();
    let error = model.call(&LlmRequest::new("s", "p")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Network, "{error}");
}

#[tokio::test]
async fn garbage() {
    let wholes = ["", "nonsense", "[]", "{}", "{\"content\": 3}", "\u{0}\u{1}"];
    for body in wholes {
        let error = fails(with_headers(200, "", body)).await;
        assert_eq!((error.kind, error.class()), (ErrorKind::BadReply, "unknown"), "{body:?}");
    }
    let deep = format!("{{\"content\": {}", "[".repeat(100_000));
    assert_eq!(fails(with_headers(200, "", &deep)).await.kind, ErrorKind::BadReply);
    assert_eq!(fails(Answer::Bytes(b"\x16\x03\x01 no HTTP at all".to_vec())).await.kind, ErrorKind::Network);

    let streams: [&[u8]; 5] = [
        b"data: {\n\n",
        b"data: \xff\xfe\n\n",
        b"no field of events\n\n",
        b"data: {\"type\": \"content_block_delta\", \"index\": 5, \"delta\": {\"text\": \"x\"}}\n\n",
        b"data: [1, 2]\n\n",
    ];
    for body in streams {
        let error = ask(stream_of(body.to_vec()), &streaming().0).await.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::BadReply | ErrorKind::Network), "{error} for {body:?}");
    }
}

#[tokio::test]
async fn a_reply_of_a_million_parts_is_refused() {
    let rows = [
        (Api::Anthropic, r#"{"content": [@]}"#),
        (Api::Chat, r#"{"choices": [{"message": {"tool_calls": [@]}}]}"#),
        (Api::Compatible, r#"{"choices": [{"message": {"reasoning_details": [@]}}]}"#),
        (Api::Responses, r#"{"output": [@]}"#),
        (Api::Gemini, r#"{"candidates": [{"content": {"parts": [@]}}]}"#),
        (Api::Ollama, r#"{"message": {"tool_calls": [@]}, "done": true}"#),
    ];
    let parts = vec!["1"; 1_000_000].join(",");
    for (api, body) in rows {
        let server = Provider::start([with_headers(200, "", &body.replace('@', &parts))]);
        let model = HttpModel::new(HttpOptions::new(api, "m").base_url(&server.url)).unwrap();
        let error = model.call(&LlmRequest::new("s", "p")).await.unwrap_err();
        assert_eq!(error.message, "the reply has more than 4096 parts", "{api:?}");
    }
}

#[tokio::test]
async fn what_nests_too_deep_to_be_written_down_is_no_reply() {
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    // With more levels, the event around the arguments could not be read either.
    let args = format!(r#"{{"a": {}}}"#, deep(118));
    let call = format!(
        r#"{{"message": {{"tool_calls": [{{"function": {{"name": "f", "arguments": {args}}}}}]}}, "done": true}}"#
    );
    let server = Provider::start([with_headers(200, "", &call)]);
    let model = HttpModel::new(HttpOptions::new(Api::Ollama, "m").base_url(&server.url)).unwrap();
    let reply = model.call(&LlmRequest::new("s", "p")).await.unwrap();
    assert_eq!(reply.tool_calls[0].args, Err("the arguments nest deeper than 64 levels".to_string()));

    let thought = format!(r#"{{"type": "thinking", "signature": "c2ln", "thinking": {}}}"#, deep(118));
    let error = fails(with_headers(200, "", &format!(r#"{{"content": [{thought}]}}"#))).await;
    assert_eq!(error.message, "a part of the reply is nested too deeply");
}

#[tokio::test]
async fn replies_without_end_are_cut_off() {
    let event = named_events(&[json!({"type": "ping", "fill": "x".repeat(10_000)})]);
    let line = "x".repeat(10_000).into_bytes();
    let whole = head(200, "content-type: application/json\r\n");
    let answers = [
        (Answer::Endless(whole, line.clone()), LlmRequest::new("s", "p")),
        (Answer::Endless(event_head(), event), streaming().0),
        (Answer::Endless(event_head(), line), streaming().0),
    ];
    for (answer, request) in answers {
        let server = Provider::start([answer]);
        let options = HttpOptions::new(Api::Anthropic, "m").base_url(&server.url).max_response_bytes(1 << 20);
        let error = HttpModel::new(options).unwrap().call(&request).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::BadReply);
        assert_eq!(error.message, "the reply is larger than 1048576 bytes (`max_response_bytes`)");
    }
    let error = fails(Answer::Endless(head(500, ""), b"no ".repeat(1000))).await;
    assert_eq!((error.status, error.message.len() < 600), (Some(500), true));
}
