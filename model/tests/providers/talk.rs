//! Whole conversations in every format, with a fake provider that refuses what the real ones refuse. The providers' own
//! clients talk to it too: see `tests/sdks`.

use crate::anthropic::{delta, search, streaming};
use crate::matrix::api;
use ptc_model::{Api, Chunk, ErrorKind, HttpModel, HttpOptions, LlmRequest, LlmResponse, Message, Model};
use ptc_model::{StopReason, Tokens};
use ptc_testkit::provider::{Answer, Provider};
use ptc_testkit::wire::{End, Reply, TOKENS, Wire};
use serde_json::json;

fn model(server: &Provider, api: Api) -> HttpModel {
    HttpModel::new(HttpOptions::new(api, "fake").base_url(format!("{}/v1", server.url)).key("sk-canary"))
        .unwrap()
}

/// Returns a request that asks for thoughts.
fn thinking(api: Api, prompt: &str) -> LlmRequest {
    let mut request = LlmRequest::new("Be brief", prompt);
    let opts = match api {
        Api::Anthropic => json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        Api::Gemini => json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}}}),
        Api::Ollama => json!({"think": true}),
        _ => json!({"reasoning": {"effort": "low"}}),
    };
    request.llm_opts = serde_json::from_value(opts).unwrap();
    request
}

fn tokens(api: Api) -> Tokens {
    let (read, cached, written) = TOKENS;
    let tokens = Tokens::new(read, written);
    match api {
        Api::Ollama => tokens,
        Api::Anthropic => Tokens { cache_read: Some(cached), cache_creation: Some(0), ..tokens },
        _ => Tokens { cache_read: Some(cached), ..tokens },
    }
}

#[tokio::test]
async fn words_whole_and_in_pieces() {
    let server = Provider::talking();
    for wire in Wire::ALL {
        let api = api(wire);
        let reply = model(&server, api).call(&LlmRequest::new("s", "hello")).await.unwrap();
        assert_eq!(
            (reply.text(), reply.stop.clone()),
            ("You said hello", Some(StopReason::EndTurn)),
            "{api:?}"
        );
        assert_eq!((reply.tokens, reply.model.as_deref()), (Some(tokens(api)), Some("fake")), "{api:?}");
        let (request, chunks) = streaming();
        let streamed = model(&server, api).call(&request).await.unwrap();
        assert_eq!((streamed.text(), streamed.stop.clone()), ("You said Hello", reply.stop), "{api:?}");
        let shown = [delta("You sai"), delta("d Hello"), Chunk::Done(Some(tokens(api)))];
        assert_eq!(*chunks.lock().unwrap(), shown, "{api:?}");
    }
}

#[tokio::test]
async fn a_call_and_its_result_with_the_thought_before_it() {
    let server = Provider::talking();
    let apis = [Api::Anthropic, Api::Chat, Api::Compatible, Api::Responses, Api::Gemini, Api::Ollama];
    for api in apis {
        let mut request = thinking(api, "Call it");
        request.tools.push(search());
        let reply = model(&server, api).call(&request).await.unwrap();
        assert_eq!(reply.stop, Some(StopReason::ToolCalls), "{api:?}");
        assert_eq!(reply.tool_calls[0].args.as_ref().unwrap()["q"], "tea", "{api:?}");
        assert_eq!(reply.opaque.len(), 1, "{api:?}");

        // Round trip through JSON, as in checkpoints and cassettes.
        let reply: LlmResponse = serde_json::from_value(serde_json::to_value(reply).unwrap()).unwrap();
        let id = reply.tool_calls[0].id.clone().unwrap();
        let mut forgetful = request.clone();
        request.messages.push(reply.to_message().calls(reply.tool_calls.clone()));
        request.messages.push(Message::tool(id.clone(), "green"));
        let answer = model(&server, api).call(&request).await.unwrap();
        assert_eq!(answer.text(), "The tool said green", "{api:?}");

        forgetful.messages.push(Message::assistant("").calls(reply.tool_calls));
        forgetful.messages.push(Message::tool(id, "green"));
        let error = model(&server, api).call(&forgetful).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::ClientError, "{api:?}: without its thought, a call is refused");
    }
}

#[tokio::test]
async fn a_reply_in_pieces_is_the_whole_reply() {
    let full = || {
        Reply::text("Looking for tea").thought("Tea?", "c2ln").call("a", "search", json!({"q": "tea"})).call(
            "b",
            "search",
            json!({"n": [1, {"x": null}]}),
        )
    };
    for wire in Wire::ALL {
        let mut reply = full();
        if wire == Wire::Chat {
            // The format keeps thoughts only from whole replies, since turns with calls are not streamed.
            reply.thought = None;
        }
        for reply in [reply, Reply::text("Only words"), Reply::text("Grüße").end(End::Cut)] {
            let server = Provider::start(vec![Answer::Says(reply); 4]);
            let options = HttpOptions::new(api(wire), "fake").base_url(&server.url);
            let whole =
                HttpModel::new(options.clone()).unwrap().call(&LlmRequest::new("s", "p")).await.unwrap();
            let pieces = HttpModel::new(options).unwrap().call(&streaming().0).await.unwrap();
            assert_eq!(whole, pieces, "{wire:?}");
        }
    }
}

#[tokio::test]
async fn every_reason_to_stop_that_a_format_knows() {
    let server = Provider::talking();
    for wire in Wire::ALL {
        let rows = [
            ("Cut it", End::Cut, StopReason::MaxTokens),
            ("Refuse it", End::Refused, StopReason::Refusal),
            ("Filter it", End::Filtered, StopReason::Filtered),
        ];
        for (prompt, end, wanted) in rows {
            let reply = model(&server, api(wire)).call(&LlmRequest::new("s", prompt)).await.unwrap();
            let wanted = if wire.can_say(end) { wanted } else { StopReason::EndTurn };
            assert_eq!(reply.stop, Some(wanted), "{wire:?}: {prompt}");
        }
    }
}

#[tokio::test]
async fn a_newer_version_of_anthropic_is_a_header_of_the_host() {
    let server = Provider::talking();
    let options = HttpOptions::new(Api::Anthropic, "m").base_url(&server.url).key("k");
    let newer = options.clone().header("anthropic-version", "2026-10-21");
    for (options, status) in [
        (options.temperature(0.5), None),
        (newer.clone(), None),
        // By default nothing is sent that the newer version refuses; the host's settings are sent unchanged.
        (newer.temperature(0.5), Some(400)),
    ] {
        let result = HttpModel::new(options).unwrap().call(&LlmRequest::new("s", "p")).await;
        assert_eq!(result.err().and_then(|error| error.status), status);
    }
}

#[tokio::test]
async fn a_key_is_sent_where_the_provider_looks_for_it() {
    let server = Provider::talking();
    for wire in Wire::ALL {
        let options = HttpOptions::new(api(wire), "fake").base_url(&server.url);
        let result = HttpModel::new(options).unwrap().call(&LlmRequest::new("s", "p")).await;
        let status = result.err().and_then(|error| error.status);
        assert_eq!(status, (wire != Wire::Ollama).then_some(401), "{wire:?}");
    }
}
