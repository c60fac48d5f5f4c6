//! Gemini's `generateContent`.

use crate::anthropic::{search, streaming};
use ptc_model::{Api, ErrorKind, HttpModel, HttpOptions, LlmRequest, Message, Model, OpaquePart, StopReason};
use ptc_testkit::provider::{Provider, json};
use serde_json::{Value, json};
use std::time::Duration;

fn model(server: &Provider) -> HttpModel {
    let options = HttpOptions::new(Api::Gemini, "gemini-x").base_url(&server.url).key("sk-canary-3");
    HttpModel::new(options.max_tokens(50).temperature(0.5)).unwrap()
}

fn reply(parts: &Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]})
}

#[tokio::test]
async fn requests_as_google_reads_them() {
    let server = Provider::start(vec![json(200, &reply(&json!([{"text": "{}"}]))); 2]);
    let mut request = LlmRequest::new("Be brief", "Hello");
    request.schema = Some(json!({"type": "object"}));
    request.tools.push(search());
    let opts = json!({"generationConfig": {"topK": 3}, "safetySettings": [], "max_tokens": 60});
    request.llm_opts = serde_json::from_value(opts).unwrap();
    model(&server).call(&request).await.unwrap();
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/models/gemini-x:generateContent");
    assert!(asked.head.contains("x-goog-api-key: sk-canary-3") && !asked.head.contains("authorization"));
    let body = json!({
        "systemInstruction": {"parts": [{"text": "Be brief"}]},
        "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
        "tools": [{"functionDeclarations": [{
            "name": "search", "description": "Search for items", "parametersJsonSchema": search().parameters,
        }]}],
        "generationConfig": {
            "maxOutputTokens": 60, "temperature": 0.5, "topK": 3,
            "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"},
        },
        "safetySettings": [],
    });
    assert_eq!(asked.body, body);
    model(&server).call(&streaming().0).await.unwrap();
    assert_eq!(server.asked()[1].path, "/v1/models/gemini-x:streamGenerateContent?alt=sse");
}

#[tokio::test]
async fn names_of_models_are_no_way_to_another_address() {
    for (name, path) in [
        ("tunedModels/mine", "/v1/tunedModels/mine:generateContent"),
        ("../../admin", "/v1/admin:generateContent"),
        ("a?key=1#b", "/v1/models/a%3Fkey=1%23b:generateContent"),
    ] {
        let server = Provider::start([json(200, &reply(&json!([{"text": "Hi"}])))]);
        let options = HttpOptions::new(Api::Gemini, name).base_url(&server.url);
        HttpModel::new(options).unwrap().call(&LlmRequest::new("s", "p")).await.unwrap();
        assert_eq!(server.asked()[0].path, path);
    }
}

#[tokio::test]
async fn calls_results_and_signatures_go_back_as_they_came() {
    let parts = json!([
        {"text": "Tea, tea, tea", "thought": true},
        {"text": "Looking. ", "thoughtSignature": "dGV4dA"},
        {"text": "There."},
        {"functionCall": {"name": "search", "args": {"q": "tea"}}, "thoughtSignature": "Y2FsbA"},
        {"functionCall": {"name": "search", "args": {"q": "milk"}}},
        {"text": "", "thoughtSignature": "ZW5k"},
    ]);
    let server = Provider::start([json(200, &reply(&parts)), json(200, &reply(&json!([{"text": "Hi"}])))]);
    let mut request = LlmRequest::new("", "Find tea");
    request.tools.push(search());
    let mut reply = model(&server).call(&request).await.unwrap();
    assert_eq!((reply.text(), reply.stop.clone()), ("Looking. There.", Some(StopReason::ToolCalls)));
    reply.name_calls(&mut 0);
    request.messages.push(reply.to_message().calls(reply.tool_calls));
    request.messages.push(Message::tool("tc_1", "green"));
    request.messages.push(Message::tool("tc_2", "white"));
    model(&server).call(&request).await.unwrap();
    let response = |id: &str, output: &str| json!({"functionResponse": {"id": id, "name": "search", "response": {"output": output}}});
    let contents = json!([
        {"role": "user", "parts": [{"text": "Find tea"}]},
        {"role": "model", "parts": [
            {"text": "Looking. ", "thoughtSignature": "dGV4dA"},
            {"text": "There."},
            {"functionCall": {"id": "tc_1", "name": "search", "args": {"q": "tea"}}, "thoughtSignature": "Y2FsbA"},
            {"functionCall": {"id": "tc_2", "name": "search", "args": {"q": "milk"}}},
            {"text": "", "thoughtSignature": "ZW5k"},
        ]},
        {"role": "user", "parts": [response("tc_1", "green"), response("tc_2", "white")]},
    ]);
    assert_eq!(server.asked()[1].body["contents"], contents);
}

#[tokio::test]
async fn a_signature_that_fits_nothing_any_more_is_left_out() {
    let part = |text_before: usize, part: Value| OpaquePart { text_before, calls_before: 0, part };
    let server = Provider::start([json(200, &reply(&json!([{"text": "Hi"}])))]);
    let mut request = LlmRequest::new("", "Hello");
    request.messages.push(Message {
        opaque: vec![
            part(3, json!({"text": "ther words", "thoughtSignature": "YQ"})),
            part(99, json!({"thoughtSignature": "Yg"})),
        ],
        ..Message::assistant("The words")
    });
    model(&server).call(&request).await.unwrap();
    let sent = server.asked()[0].body["contents"][1].clone();
    assert_eq!(sent, json!({"role": "model", "parts": [{"text": "The"}, {"text": " words"}]}));
}

#[tokio::test]
async fn what_google_holds_back() {
    let blocked =
        json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}});
    let partly = json!({"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]});
    let odd = json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]});
    let server = Provider::start([json(200, &blocked), json(200, &partly), json(200, &odd)]);
    for wanted in
        [StopReason::Filtered, StopReason::Filtered, StopReason::Other("MALFORMED_FUNCTION_CALL".to_string())]
    {
        let reply = model(&server).call(&LlmRequest::new("s", "p")).await.unwrap();
        assert_eq!((reply.text(), reply.stop.clone()), ("", Some(wanted)));
    }
}

#[tokio::test]
async fn google_says_in_the_body_how_long_to_wait() {
    let details =
        json!([{"@type": "x"}, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.5s"}]);
    let error = |details: &Value| json!({"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED", "details": details}});
    let odd = ["soon", "-1s", "1e999s", "NaNs", "3"].map(|delay| json!([{"retryDelay": delay}]));
    for (details, wanted) in std::iter::once((details, Some(Duration::from_millis(2500))))
        .chain(odd.map(|details| (details, None)))
    {
        let server = Provider::start([json(429, &error(&details))]);
        let error = model(&server).call(&LlmRequest::new("s", "p")).await.unwrap_err();
        assert_eq!((error.kind, error.retry_after), (ErrorKind::RateLimit, wanted), "{details}");
        assert_eq!(error.cause.as_deref(), Some("RESOURCE_EXHAUSTED"));
    }
}
