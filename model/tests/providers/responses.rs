//! OpenAI Responses.

use crate::anthropic::{delta, search, streaming};
use crate::chat::model;
use ptc_model::{Api, Chunk, ErrorKind, LlmRequest, Message, Model, StopReason, Tokens, ToolCall};
use ptc_testkit::provider::{Provider, json, named_events, stream_of};
use serde_json::{Value, json};

fn text_reply() -> Value {
    json!({
        "model": "gpt-x-1", "status": "completed", "error": null, "incomplete_details": null,
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]},
        ],
        "usage": {"input_tokens": 11, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 8}},
    })
}

#[tokio::test]
async fn text_and_what_it_cost() {
    let server = Provider::start([json(200, &text_reply())]);
    let mut request = LlmRequest::new("Be brief", "Hello");
    request.schema = Some(json!({"type": "object"}));
    let reply = model(&server, Api::Responses).call(&request).await.unwrap();
    assert_eq!((reply.text(), reply.stop.clone()), ("Hi", Some(StopReason::EndTurn)));
    assert_eq!(reply.tokens, Some(Tokens { cache_read: Some(8), ..Tokens::new(11, 3) }));
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/responses");
    let body = json!({
        "model": "gpt-x", "max_output_tokens": 50, "store": false, "instructions": "Be brief",
        "input": [{"role": "user", "content": "Hello"}],
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object"}, "strict": false}},
    });
    assert_eq!(asked.body, body);
}

#[tokio::test]
async fn calls_in_parallel_and_their_results() {
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "search", "arguments": arguments});
    let reply =
        json!({"status": "completed", "output": [call("a", "{\"q\":\"tea\"}"), call("b", "nonsense")]});
    let server = Provider::start([json(200, &reply), json(200, &text_reply())]);
    let model = model(&server, Api::Responses);
    let mut request = LlmRequest::new("", "Find tea");
    request.tools.push(search());
    let reply = model.call(&request).await.unwrap();
    assert_eq!(reply.stop, Some(StopReason::ToolCalls));
    assert_eq!(reply.tool_calls[0], ToolCall::read(Some("a"), "search", "{\"q\":\"tea\"}"));
    assert!(reply.tool_calls[1].args.is_err());

    request.messages.push(Message::assistant("").calls(reply.tool_calls));
    request.messages.push(Message::tool("a", "green"));
    model.call(&request).await.unwrap();
    let body = &server.asked()[1].body;
    assert_eq!(body["tools"][0]["name"], "search");
    let items = json!([
        {"role": "user", "content": "Find tea"},
        call("a", "{\"q\":\"tea\"}"),
        call("b", "{}"),
        {"type": "function_call_output", "call_id": "a", "output": "green"},
    ]);
    assert_eq!(body["input"], items);
}

#[tokio::test]
async fn text_in_pieces() {
    let mut whole = text_reply();
    whole["status"] = json!("incomplete");
    whole["incomplete_details"] = json!({"reason": "max_output_tokens"});
    let events = [
        json!({"type": "response.created", "response": {}}),
        json!({"type": "response.output_text.delta", "delta": "H"}),
        json!({"type": "response.output_text.delta", "delta": "i"}),
        json!({"type": "response.incomplete", "response": whole}),
    ];
    let server = Provider::start([stream_of(named_events(&events))]);
    let (request, chunks) = streaming();
    let reply = model(&server, Api::Responses).call(&request).await.unwrap();
    assert_eq!((reply.text(), reply.stop.clone()), ("Hi", Some(StopReason::MaxTokens)));
    assert_eq!(*chunks.lock().unwrap(), [delta("H"), delta("i"), Chunk::Done(reply.tokens)]);
}

#[tokio::test]
async fn a_reply_that_failed() {
    let failed =
        json!({"status": "failed", "error": {"code": "server_error", "message": "Sorry"}, "output": []});
    let event = json!({"type": "response.failed", "response": failed});
    let error = json!({"type": "error", "code": "rate_limit_exceeded", "message": "Slow down"});
    let answers = [json(200, &failed), stream_of(named_events(&[event])), stream_of(named_events(&[error]))];
    let server = Provider::start(answers);
    let model = model(&server, Api::Responses);
    let wanted = [
        (LlmRequest::new("s", "p"), ErrorKind::ServerError, "Sorry"),
        (streaming().0, ErrorKind::ServerError, "Sorry"),
        (streaming().0, ErrorKind::RateLimit, "Slow down"),
    ];
    for (request, kind, message) in wanted {
        let error = model.call(&request).await.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message));
    }
}
