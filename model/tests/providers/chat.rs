//! OpenAI Chat Completions, and compatible servers.

use crate::anthropic::{delta, search, streaming};
use ptc_model::{
    Api, Chunk, ErrorKind, HttpModel, HttpOptions, LlmRequest, Message, Model, StopReason, Tokens, ToolCall,
};
use ptc_testkit::provider::{Provider, json, stream_of};
use serde_json::{Value, json};

pub fn model(server: &Provider, api: Api) -> HttpModel {
    HttpModel::new(HttpOptions::new(api, "gpt-x").base_url(&server.url).key("sk-canary-2").max_tokens(50))
        .unwrap()
}

fn text_reply() -> Value {
    json!({
        "model": "gpt-x-1", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14, "prompt_tokens_details": {"cached_tokens": 8}},
    })
}

pub fn data_lines(events: &[Value]) -> Vec<u8> {
    let mut text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    text.push_str("data: [DONE]\n\n");
    text.into_bytes()
}

#[tokio::test]
async fn text_and_what_it_cost() {
    let server = Provider::start([json(200, &text_reply())]);
    let mut request = LlmRequest::new("Be brief", "Hello");
    request.schema = Some(json!({"type": "object"}));
    let reply = model(&server, Api::Chat).call(&request).await.unwrap();
    assert_eq!((reply.text(), reply.stop.clone()), ("Hi", Some(StopReason::EndTurn)));
    assert_eq!(reply.tokens, Some(Tokens { cache_read: Some(8), ..Tokens::new(11, 3) }));
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert!(asked.head.contains("authorization: Bearer sk-canary-2"));
    let body = json!({
        "model": "gpt-x", "max_completion_tokens": 50,
        "messages": [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hello"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}},
    });
    assert_eq!(asked.body, body);
}

#[tokio::test]
async fn others_know_the_old_name_and_tell_the_cost() {
    let mut reply = text_reply();
    reply["usage"]["cost"] = json!(0.25);
    let server = Provider::start([json(200, &reply)]);
    let reply = model(&server, Api::Compatible).call(&LlmRequest::new("s", "p")).await.unwrap();
    assert_eq!(reply.tokens.unwrap().total_cost, Some(0.25));
    assert_eq!(server.asked()[0].body["max_tokens"], 50);
}

#[tokio::test]
async fn a_system_message_is_marked_for_those_that_need_it() {
    let server = Provider::start([json(200, &text_reply()), json(200, &text_reply())]);
    let mut request = LlmRequest::new("s", "p");
    request.cache = true;
    for (name, content) in [
        (
            "anthropic/claude-haiku-4.5",
            json!([{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]),
        ),
        ("openai/gpt-5", json!("s")),
    ] {
        let options = HttpOptions::new(Api::Compatible, name).base_url(&server.url);
        HttpModel::new(options).unwrap().call(&request).await.unwrap();
        let body = &server.asked().last().unwrap().body.clone();
        assert_eq!(body["messages"][0], json!({"role": "system", "content": content}));
    }
}

#[tokio::test]
async fn a_server_without_keys_gets_none() {
    let server = Provider::start([json(200, &text_reply())]);
    let model = HttpModel::new(HttpOptions::new(Api::Compatible, "qwen3").base_url(&server.url)).unwrap();
    model.call(&LlmRequest::new("s", "p")).await.unwrap();
    assert!(!server.asked()[0].head.contains("authorization"));
}

#[tokio::test]
async fn calls_in_parallel_and_their_results() {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "search", "arguments": arguments}});
    let reply = json!({"choices": [{"finish_reason": "tool_calls", "message": {
        "content": null, "tool_calls": [call("a", "{\"q\":\"tea\"}"), call("b", "{\"q\":"), call("", "")],
    }}]});
    let server = Provider::start([json(200, &reply), json(200, &text_reply())]);
    let model = model(&server, Api::Chat);
    let mut request = LlmRequest::new("", "Find tea");
    request.tools.push(search());
    let mut reply = model.call(&request).await.unwrap();
    assert_eq!((reply.content.as_deref(), &reply.stop), (None, &Some(StopReason::ToolCalls)));
    assert_eq!(reply.tool_calls[0], ToolCall::read(Some("a"), "search", "{\"q\":\"tea\"}"));
    assert!(reply.tool_calls[1].args.as_ref().unwrap_err().starts_with("the arguments are not valid JSON"));
    reply.name_calls(&mut 0);
    assert_eq!(reply.tool_calls[2].id.as_deref(), Some("tc_1"));
    assert_eq!(reply.tokens, None);

    request.messages.push(Message::assistant("").calls(reply.tool_calls));
    request.messages.push(Message::tool("a", "green"));
    model.call(&request).await.unwrap();
    let body = &server.asked()[1].body;
    assert_eq!(body["tools"], json!([search()]));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "Find tea"},
            {"role": "assistant", "content": null, "tool_calls": [
                call("a", "{\"q\":\"tea\"}"), call("b", "{}"), call("tc_1", "{}"),
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "green"},
        ])
    );
}

fn piece(content: &str) -> Value {
    json!({"model": "gpt-x-1", "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": null}]})
}

fn last() -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
}

#[tokio::test]
async fn text_in_pieces() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}});
    let server = Provider::start([stream_of(data_lines(&[piece("Gr"), piece("ün"), last(), usage]))]);
    let (request, chunks) = streaming();
    let reply = model(&server, Api::Chat).call(&request).await.unwrap();
    assert_eq!((reply.text(), reply.stop.clone()), ("Grün", Some(StopReason::MaxTokens)));
    assert_eq!(*chunks.lock().unwrap(), [delta("Gr"), delta("ün"), Chunk::Done(Some(Tokens::new(4, 2)))]);
    assert_eq!(server.asked()[0].body["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn a_server_that_counts_no_tokens_or_cannot_stream() {
    let whole = json(200, &text_reply());
    let server = Provider::start([stream_of(data_lines(&[piece("Hi"), last()])), whole]);
    let (request, chunks) = streaming();
    let model = model(&server, Api::Compatible);
    let reply = model.call(&request).await.unwrap();
    assert_eq!((reply.text(), reply.tokens), ("Hi", None));
    assert_eq!(*chunks.lock().unwrap(), [delta("Hi"), Chunk::Done(None)]);
    assert_eq!(model.call(&request).await.unwrap().text(), "Hi");
    assert_eq!(chunks.lock().unwrap().len(), 2, "what came whole is shown by whoever asks");
}

#[tokio::test]
async fn calls_that_arrive_in_pieces() {
    let part = |call: Value| json!({"choices": [{"delta": {"tool_calls": [call]}}]});
    let events = [
        part(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}})),
        part(json!({"index": 1, "id": "b", "function": {"name": "g", "arguments": "{\"x\""}})),
        part(json!({"index": 0, "function": {"arguments": "{}"}})),
        part(json!({"index": 1, "function": {"arguments": ":2}"}})),
        json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
    ];
    let server = Provider::start([stream_of(data_lines(&events))]);
    let reply = model(&server, Api::Chat).call(&streaming().0).await.unwrap();
    let wanted = [ToolCall::read(Some("a"), "f", "{}"), ToolCall::read(Some("b"), "g", "{\"x\":2}")];
    assert_eq!(reply.tool_calls, wanted);
}

#[tokio::test]
async fn an_error_where_a_reply_should_be() {
    let error = json!({"error": {"code": 429, "message": "Rate limited upstream"}});
    let server = Provider::start([json(200, &error), stream_of(data_lines(&[piece("Hi"), error.clone()]))]);
    let model = model(&server, Api::Compatible);
    let (request, _) = streaming();
    for request in [LlmRequest::new("s", "p"), request] {
        let error = model.call(&request).await.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::RateLimit, "Rate limited upstream"));
    }
}

#[tokio::test]
async fn a_refusal_is_text_with_a_reason() {
    let reply =
        json!({"choices": [{"finish_reason": "stop", "message": {"content": null, "refusal": "I cannot"}}]});
    let server = Provider::start([json(200, &reply)]);
    let reply = model(&server, Api::Chat).call(&LlmRequest::new("s", "p")).await.unwrap();
    assert_eq!((reply.text(), reply.stop.clone()), ("I cannot", Some(StopReason::Refusal)));
}
