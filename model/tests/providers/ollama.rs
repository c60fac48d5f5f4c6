//! Ollama's own `/api/chat`.

use crate::anthropic::{search, streaming};
use ptc_model::{Api, ErrorKind, HttpModel, HttpOptions, LlmRequest, Message, Model};
use ptc_testkit::provider::{Answer, Provider, json, stream_head};
use ptc_testkit::wire::Wire;
use serde_json::{Value, json};

fn model(server: &Provider) -> HttpModel {
    let url = server.url.trim_end_matches("/v1");
    HttpModel::new(HttpOptions::new(Api::Ollama, "qwen3").base_url(url).max_tokens(50)).unwrap()
}

fn reply(message: &Value) -> Value {
    json!({"model": "qwen3", "message": message, "done": true, "done_reason": "stop"})
}

#[tokio::test]
async fn requests_as_ollama_reads_them() {
    let said = reply(&json!({"role": "assistant", "content": "Hi", "thinking": "Hm"}));
    let server = Provider::start(vec![json(200, &said); 2]);
    let mut request = LlmRequest::new("Be brief", "Hello");
    request.schema = Some(json!({"type": "object"}));
    let opts = json!({"temperature": 0.5, "think": true, "options": {"num_ctx": 4096}, "keep_alive": "1m"});
    request.llm_opts = serde_json::from_value(opts).unwrap();
    let said = model(&server).call(&request).await.unwrap();
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/api/chat");
    assert!(!asked.head.contains("authorization"));
    let body = json!({
        "model": "qwen3", "stream": false, "format": {"type": "object"}, "think": true, "keep_alive": "1m",
        "messages": [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hello"}],
        "options": {"num_predict": 50, "temperature": 0.5, "num_ctx": 4096},
    });
    assert_eq!(asked.body, body);

    request.messages.push(said.to_message());
    request.messages.push(Message::user("More"));
    model(&server).call(&request).await.unwrap();
    let back = json!({"role": "assistant", "content": "Hi", "thinking": "Hm"});
    assert_eq!(server.asked()[1].body["messages"][2], back);
}

#[tokio::test]
async fn calls_without_ids_and_their_results() {
    let call = json!({"function": {"name": "search", "arguments": {"q": "tea"}}});
    let said = reply(&json!({"role": "assistant", "content": "", "tool_calls": [call]}));
    let server = Provider::start(vec![json(200, &said); 2]);
    let mut request = LlmRequest::new("", "Find tea");
    request.tools.push(search());
    let mut reply = model(&server).call(&request).await.unwrap();
    reply.name_calls(&mut 0);
    request.messages.push(reply.to_message().calls(reply.tool_calls));
    request.messages.push(Message::tool("tc_1", "green"));
    model(&server).call(&request).await.unwrap();
    let body = &server.asked()[1].body;
    assert_eq!(body["tools"], json!([search()]));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "Find tea"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "tc_1", "function": {"name": "search", "arguments": {"q": "tea"}}},
            ]},
            {"role": "tool", "content": "green", "tool_call_id": "tc_1", "tool_name": "search"},
        ])
    );
}

#[tokio::test]
async fn an_error_behind_the_first_words() {
    let lines = "{\"message\": {\"content\": \"Gr\"}}\n\n{\"error\": \"out of memory\"}\n";
    let server = Provider::start([Answer::Bytes([stream_head(Wire::Ollama), lines.into()].concat())]);
    let (request, chunks) = streaming();
    let error = model(&server).call(&request).await.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Unknown, "out of memory"));
    assert_eq!(chunks.lock().unwrap().len(), 1);
}
