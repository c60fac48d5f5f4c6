//! Stop reasons in every format, whole and in pieces; and continuation of cut replies.

use crate::anthropic::{delta, streaming};
use crate::chat::{self, data_lines};
use ptc_model::{Api, Chunk, HttpModel, HttpOptions, LlmRequest, Model, Recorder, Replay};
use ptc_model::{StopReason, Tokens};
use ptc_testkit::provider::{Answer, Provider, json, named_events, stream_of};
use serde_json::{Value, json};

fn whole(api: Api, text: &str, reason: &str) -> Value {
    match api {
        Api::Anthropic => json!({
            "content": [{"type": "text", "text": text}], "stop_reason": reason,
            "usage": {"input_tokens": 10, "output_tokens": 4},
        }),
        Api::Responses => json!({
            "status": "incomplete", "incomplete_details": {"reason": reason},
            "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}],
        }),
        _ => json!({"choices": [{"finish_reason": reason, "message": {"content": text}}]}),
    }
}

/// Returns an answer in events with this text and stop reason.
fn pieces(api: Api, text: &str, reason: &str) -> Answer {
    stream_of(match api {
        Api::Anthropic => named_events(&[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 4}}),
            json!({"type": "message_stop"}),
        ]),
        Api::Responses => named_events(&[
            json!({"type": "response.output_text.delta", "delta": text}),
            json!({"type": "response.incomplete", "response": whole(api, text, reason)}),
        ]),
        _ => data_lines(&[
            json!({"choices": [{"delta": {"content": text}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": reason}]}),
        ]),
    })
}

fn model(server: &Provider, api: Api) -> HttpModel {
    HttpModel::new(HttpOptions::new(api, "m").base_url(&server.url)).unwrap()
}

#[tokio::test]
async fn every_format_tells_why_the_model_stopped() {
    let rows = [
        (Api::Anthropic, "refusal", StopReason::Refusal),
        (Api::Chat, "length", StopReason::MaxTokens),
        (Api::Chat, "content_filter", StopReason::Filtered),
        (Api::Compatible, "length", StopReason::MaxTokens),
        (Api::Compatible, "content_filter", StopReason::Filtered),
        (Api::Responses, "max_output_tokens", StopReason::MaxTokens),
        (Api::Responses, "content_filter", StopReason::Filtered),
    ];
    for (api, reason, wanted) in rows {
        let server = Provider::start([json(200, &whole(api, "So", reason)), pieces(api, "So", reason)]);
        for request in [LlmRequest::new("s", "p"), streaming().0] {
            let reply = model(&server, api).call(&request).await.unwrap();
            assert_eq!((reply.text(), reply.stop.clone()), ("So", Some(wanted.clone())), "{api:?} {reason}");
        }
        assert_eq!(server.asked().len(), 2, "{api:?}: nothing is asked for again");
    }
}

#[tokio::test]
async fn a_refusal_in_a_part_of_its_own() {
    let part = json!({"type": "refusal", "refusal": "I cannot"});
    let body = json!({"status": "completed", "output": [{"type": "message", "content": [part]}]});
    let events = [
        json!({"type": "response.refusal.delta", "delta": "I cannot"}),
        json!({"type": "response.completed", "response": body}),
    ];
    let server = Provider::start([json(200, &body), stream_of(named_events(&events))]);
    for request in [LlmRequest::new("s", "p"), streaming().0] {
        let reply = chat::model(&server, Api::Responses).call(&request).await.unwrap();
        assert_eq!((reply.text(), reply.stop.clone()), ("I cannot", Some(StopReason::Refusal)));
    }
}

#[tokio::test]
async fn a_cut_reply_goes_on_once_where_the_provider_allows_it() {
    let api = Api::Anthropic;
    let cut = || json(200, &whole(api, "(+ 1 ", "max_tokens"));
    let server = Provider::start([cut(), json(200, &whole(api, " 2)", "end_turn"))]);
    let reply = model(&server, api).call(&LlmRequest::new("s", "Add")).await.unwrap();
    assert_eq!((reply.text(), &reply.stop), ("(+ 1 2)", &Some(StopReason::EndTurn)));
    assert_eq!((reply.tokens, reply.continued), (Some(Tokens::new(20, 8)), true));
    let asked = server.asked();
    assert_eq!(
        asked[1].body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Add"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "(+ 1"}]},
        ])
    );

    let server = Provider::start([cut(), json(200, &whole(api, "2", "max_tokens"))]);
    let reply = model(&server, api).call(&LlmRequest::new("s", "Add")).await.unwrap();
    assert_eq!((reply.text(), reply.stop.clone()), ("(+ 1 2", Some(StopReason::MaxTokens)));
    assert_eq!(server.asked().len(), 2, "once, and not again and again");
}

#[tokio::test]
async fn a_reply_in_pieces_goes_on_in_pieces() {
    let api = Api::Anthropic;
    let server = Provider::start([pieces(api, "It is ", "max_tokens"), pieces(api, " 42.", "end_turn")]);
    let (request, chunks) = streaming();
    let reply = model(&server, api).call(&request).await.unwrap();
    assert_eq!((reply.text(), &reply.stop), ("It is 42.", &Some(StopReason::EndTurn)));
    let tokens = Some(Tokens::new(20, 8));
    assert_eq!(*chunks.lock().unwrap(), [delta("It is "), delta("42."), Chunk::Done(tokens)]);
}

#[tokio::test]
async fn a_reply_that_cannot_go_on_stays_cut() {
    let api = Api::Anthropic;
    let cut = || json(200, &whole(api, "(+ 1", "max_tokens"));
    let no = json(400, &json!({"error": {"type": "invalid_request_error", "message": "no prefill"}}));
    let server = Provider::start([cut(), no, cut()]);
    let model = model(&server, api);
    for requests in [2, 3] {
        let reply = model.call(&LlmRequest::new("s", "Add")).await.unwrap();
        assert_eq!((reply.text(), reply.stop.clone()), ("(+ 1", Some(StopReason::MaxTokens)));
        assert_eq!(server.asked().len(), requests, "what was refused is not tried with every reply");
    }

    // With thinking, a conversation must not end with the model's own text.
    let server = Provider::start([cut()]);
    let mut request = LlmRequest::new("s", "Add");
    request.llm_opts.insert("thinking".to_string(), json!({"type": "enabled", "budget_tokens": 1024}));
    assert!(!self::model(&server, api).call(&request).await.unwrap().continued);
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn cassettes_keep_the_reason_and_old_ones_have_none() {
    let api = Api::Chat;
    let server = Provider::start([json(200, &whole(api, "So", "content_filter"))]);
    let mut cassette: Vec<u8> = Vec::new();
    let recorder = Recorder::to_writer(model(&server, api), &mut cassette).unwrap();
    recorder.call(&LlmRequest::new("s", "p")).await.unwrap();
    drop(recorder);
    let text = String::from_utf8(cassette).unwrap();
    assert!(text.contains(r#""stop":"filtered""#), "{text}");
    let reply = Replay::parse(&text).unwrap().call(&LlmRequest::new("s", "p")).await.unwrap();
    assert_eq!(reply.stop, Some(StopReason::Filtered));

    let old = concat!(
        "{\"cassette\":1}\n",
        r#"{"request":{"system":"s","messages":[{"role":"user","content":"p"}],"turn":1,"prompt":"p","tool_names":[],"#,
        r#""llm_opts":{},"output":"ptc_lisp","cache":false,"depth":0},"response":{"content":"(+ 1 2)","stop":"refusal"}}"#,
    );
    let reply = Replay::parse(old).unwrap().call(&LlmRequest::new("s", "p")).await.unwrap();
    assert_eq!((reply.text(), &reply.stop), ("(+ 1 2)", &Some(StopReason::Refusal)));
    assert_eq!(serde_json::to_value(reply.to_message()).unwrap().as_object().unwrap().len(), 2);
}
