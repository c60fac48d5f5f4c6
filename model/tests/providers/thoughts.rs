//! Thoughts that only their provider can read: kept unchanged, and sent back at their places.

use crate::anthropic::{search, streaming};
use crate::matrix;
use ptc_model::{Api, ChunkSink, HttpModel, HttpOptions, LlmRequest, LlmResponse, Message, Model};
use ptc_testkit::provider::{Answer, Provider, json, named_events, stream_of};
use ptc_testkit::wire::{Reply, Wire};
use serde_json::{Value, json};

fn model(server: &Provider, api: Api) -> HttpModel {
    HttpModel::new(HttpOptions::new(api, "m").base_url(&server.url)).unwrap()
}

/// Returns a conversation behind this reply, after a round trip through JSON as in checkpoints and cassettes.
fn after(reply: &LlmResponse) -> LlmRequest {
    let reply: LlmResponse = serde_json::from_value(serde_json::to_value(reply).unwrap()).unwrap();
    let mut request = LlmRequest::new("", "Find tea");
    request.tools.push(search());
    let results: Vec<Message> =
        reply.tool_calls.iter().map(|call| Message::tool(call.id.clone().unwrap(), "green")).collect();
    request.messages.push(reply.to_message().calls(reply.tool_calls));
    request.messages.extend(results);
    serde_json::from_value(serde_json::to_value(request).unwrap()).unwrap()
}

/// Returns the reply, and the body of the next request, which sends it back.
async fn sent_back(api: Api, body: &Value) -> (LlmResponse, Value) {
    let server = Provider::start([json(200, body), json(500, &json!({}))]);
    let mut request = LlmRequest::new("", "Find tea");
    request.tools.push(search());
    let reply = model(&server, api).call(&request).await.unwrap();
    model(&server, api).call(&after(&reply)).await.unwrap_err();
    (reply, server.asked()[1].body.clone())
}

#[tokio::test]
async fn signed_thoughts_of_anthropic() {
    let blocks = json!([
        {"type": "thinking", "thinking": "Tea?", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ"},
        {"type": "text", "text": "Looking. "},
        {"type": "thinking", "thinking": "Where?", "signature": "c2ln2"},
        {"type": "text", "text": "There."},
        {"type": "tool_use", "id": "a", "name": "search", "input": {"q": "tea"}},
    ]);
    let body = json!({"content": blocks, "stop_reason": "tool_use"});
    let (reply, sent) = sent_back(Api::Anthropic, &body).await;
    assert_eq!((reply.text(), reply.opaque.len()), ("Looking. There.", 3));
    assert_eq!(sent["messages"][1], json!({"role": "assistant", "content": blocks}));
}

#[tokio::test]
async fn thoughts_that_arrive_in_pieces() {
    let block = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let more = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let events = [
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        more(json!({"type": "thinking_delta", "thinking": "Te"})),
        more(json!({"type": "thinking_delta", "thinking": "a?"})),
        more(json!({"type": "signature_delta", "signature": "c2ln"})),
        block(1, json!({"type": "thinking", "thinking": "cut"})),
        block(2, json!({"type": "text", "text": "Green."})),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ];
    let server = Provider::start([stream_of(named_events(&events))]);
    let (request, chunks) = streaming();
    let reply = model(&server, Api::Anthropic).call(&request).await.unwrap();
    assert_eq!(reply.opaque.len(), 1, "one without a signature cannot go back");
    assert_eq!(reply.opaque[0].part, json!({"type": "thinking", "thinking": "Tea?", "signature": "c2ln"}));
    assert_eq!((reply.text(), chunks.lock().unwrap().len()), ("Green.", 2), "thoughts are not shown");
}

#[tokio::test]
async fn encrypted_reasoning_of_responses() {
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "search", "arguments": "{}"});
    let thought =
        |id: &str| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "gAAA"});
    let bare = json!({"type": "reasoning", "id": "rs_0", "summary": []});
    let output = json!([bare, thought("rs_1"), call("a"), thought("rs_2"), call("b")]);
    let (reply, sent) = sent_back(Api::Responses, &json!({"status": "completed", "output": output})).await;
    assert_eq!(reply.opaque.len(), 2, "what is not in the item would not be found: nothing is stored there");
    let input = sent["input"].as_array().unwrap();
    assert_eq!(input[1..5], [thought("rs_1"), call("a"), thought("rs_2"), call("b")]);
}

#[tokio::test]
async fn reasoning_is_asked_for_where_it_is_on() {
    let server = Provider::start(vec![json(500, &json!({})); 2]);
    let mut request = LlmRequest::new("s", "p");
    for wanted in [Value::Null, json!(["reasoning.encrypted_content"])] {
        model(&server, Api::Responses).call(&request).await.unwrap_err();
        assert_eq!(server.asked().last().unwrap().body["include"], wanted);
        request.llm_opts.insert("reasoning".to_string(), json!({"effort": "low"}));
    }
}

#[tokio::test]
async fn signatures_and_details_behind_chat_completions() {
    let signature = json!({"google": {"thought_signature": "c2ln"}});
    let details = json!([{"type": "reasoning.encrypted", "data": "gAAA", "index": 0}]);
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "search", "arguments": "{}"}});
    let mut signed = call("b");
    signed["extra_content"] = signature;
    let message = json!({"role": "assistant", "content": null, "reasoning_details": details, "tool_calls": [call("a"), signed]});
    let body = json!({"choices": [{"finish_reason": "tool_calls", "message": message}]});
    let (_, sent) = sent_back(Api::Compatible, &body).await;
    assert_eq!(sent["messages"][1], message);
}

#[tokio::test]
async fn details_that_come_in_pieces_are_sent_back_whole() {
    let delta = |delta: Value| json!({"choices": [{"delta": delta}]});
    let think = |part: Value| delta(json!({"reasoning_details": [part]}));
    let events = [
        think(json!({"type": "reasoning.text", "text": "Tea ", "signature": null, "index": 0})),
        think(json!({"type": "reasoning.text", "text": "first.", "index": 0})),
        think(json!({"type": "reasoning.encrypted", "data": "gAAA", "index": 1})),
        think(json!({"type": "reasoning.text", "signature": "c2ln", "index": 0})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "search", "arguments": "{}"}}]}),
        ),
        json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
    ];
    let server = Provider::start([stream_of(named_events(&events)), Answer::Bytes(Vec::new())]);
    let mut request = LlmRequest::new("s", "p");
    request.stream = Some(ChunkSink::new(drop));
    let reply = model(&server, Api::Compatible).call(&request).await.unwrap();
    model(&server, Api::Compatible).call(&after(&reply)).await.unwrap_err();
    let asked = server.asked();
    let sent = asked[1].body["messages"].as_array().unwrap();
    let said = sent.iter().find(|message| message["role"] == "assistant").unwrap();
    assert_eq!(
        said["reasoning_details"],
        json!([
            {"type": "reasoning.text", "text": "Tea first.", "signature": "c2ln", "index": 0},
            {"type": "reasoning.encrypted", "data": "gAAA", "index": 1},
        ])
    );
}

#[tokio::test]
async fn thoughts_of_one_provider_do_not_reach_another() {
    for wire in [Wire::Gemini, Wire::Ollama] {
        let reply = Reply::default().thought("canary", "canary").call("a", "search", json!({}));
        let (reply, _) = sent_back(matrix::api(wire), &wire.whole(&reply)).await;
        assert_eq!(reply.opaque.len(), 1);
        for other in Wire::ALL.into_iter().filter(|other| *other != wire) {
            let server = Provider::start([Answer::Bytes(Vec::new())]);
            model(&server, matrix::api(other)).call(&after(&reply)).await.unwrap_err();
            let sent = server.asked()[0].body.to_string();
            assert!(sent.contains("search") && !sent.contains("canary"), "{wire:?} {other:?}: {sent}");
        }
    }
    let thinking = json!({"type": "thinking", "thinking": "canary", "signature": "canary"});
    let use_ = json!({"type": "tool_use", "id": "a", "name": "search", "input": {}});
    let body = json!({"content": [thinking, use_], "stop_reason": "tool_use"});
    let (reply, _) = sent_back(Api::Anthropic, &body).await;
    for api in [Api::Chat, Api::Compatible, Api::Responses, Api::Gemini, Api::Ollama] {
        let server = Provider::start([Answer::Bytes(Vec::new())]);
        model(&server, api).call(&after(&reply)).await.unwrap_err();
        let sent = server.asked()[0].body.to_string();
        assert!(sent.contains("search") && !sent.contains("canary"), "{api:?}: {sent}");
    }
}
