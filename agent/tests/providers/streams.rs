//! Missions that are watched, over each provider's wire format: text as it arrives, also before tool calls.

use ptc_agent::mission::{MissionEventKind as What, stream};
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{Agent, RunOptions};
use ptc_model::{Api, HttpModel, HttpOptions, LlmRetry, Output};
use ptc_testkit::provider::{Answer, Provider, event_head, named_events, stream_of};
use ptc_testkit::wire::{Reply, Wire};
use serde_json::{Value, json};

/// Returns events of text in two pieces, and perhaps a call, as a provider streams them.
fn reply(api: Api, words: [&str; 2], call: Option<(&str, Value)>) -> Vec<Value> {
    match api {
        Api::Anthropic => {
            let mut events = vec![
                json!({"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            ];
            events.extend(words.map(|text| {
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
            }));
            if let Some((name, args)) = &call {
                let args = args.to_string();
                let (first, rest) = args.split_at(3);
                events.push(json!({"type": "content_block_start", "index": 1,
                    "content_block": {"type": "tool_use", "id": "a", "name": name, "input": {}}}));
                events.extend([first, rest].map(|part| {
                    json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": part}})
                }));
            }
            let stop = if call.is_some() { "tool_use" } else { "end_turn" };
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 4}}));
            events.push(json!({"type": "message_stop"}));
            events
        }
        Api::Responses => {
            let text = words.concat();
            let mut output = vec![
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
            ];
            output.extend(call.map(|(name, args)| {
                json!({"type": "function_call", "call_id": "a", "name": name, "arguments": args.to_string()})
            }));
            let pieces = words.map(|text| json!({"type": "response.output_text.delta", "delta": text}));
            let end =
                json!({"type": "response.completed", "response": {"status": "completed", "output": output}});
            pieces.into_iter().chain([end]).collect()
        }
        _ => {
            let delta = |delta: Value| json!({"choices": [{"delta": delta}]});
            let mut events: Vec<Value> = words.map(|text| delta(json!({"content": text}))).into();
            let stop = if call.is_some() { "tool_calls" } else { "stop" };
            if let Some((name, args)) = call {
                let args = args.to_string();
                let (first, rest) = args.split_at(3);
                events.push(delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": name, "arguments": first}}]})));
                events.push(delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": rest}}]})));
            }
            events.push(json!({"choices": [{"delta": {}, "finish_reason": stop}]}));
            events.push(json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}));
            events
        }
    }
}

fn options(api: Api, server: &Provider) -> RunOptions {
    let options = HttpOptions::new(api, "m").base_url(&server.url).key("k");
    RunOptions::new().llm(LlmRef::client(HttpModel::new(options).unwrap()))
}

#[tokio::test]
async fn text_arrives_in_pieces_also_where_tools_are_called() {
    for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Compatible] {
        let server = Provider::start([
            stream_of(named_events(&reply(api, ["Let me ", "see."], Some(("search", json!({"q": "tea"})))))),
            stream_of(named_events(&reply(api, ["Two ", "hundred."], None))),
        ]);
        let search = Tool::new_async("search", |args, _| async move { Ok(args.json()?["q"].clone()) });
        let agent = Agent::builder().prompt("How much?").output(Output::Text);
        let agent = agent.tool(search.signature("(q :string) -> :string")).build().unwrap();
        let mut events = stream(agent, options(api, &server));
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            match event.kind {
                What::Text(text) => seen.push(text),
                What::ToolCalled { name, args } => seen.push(format!("{name} {args}")),
                What::ToolAnswered { answer, .. } => seen.push(answer.unwrap().to_string()),
                What::Ended(step) => {
                    let step = step.unwrap_or_else(|step| panic!("{api:?}: {:?}", step.fail));
                    seen.push(step.get().unwrap());
                }
                _ => {}
            }
        }
        // Pieces that arrive together are joined.
        let text = seen.concat();
        assert_eq!(
            text, "Let me see.search {\"q\":\"tea\"}\"tea\"Two hundred.Two hundred.",
            "{api:?}: {seen:?}"
        );
        assert_eq!(seen[seen.len() - 1], "Two hundred.");
        assert!(server.asked().iter().all(|request| request.body["stream"] == true), "{api:?}");
    }
}

/// Checks that text streams in pieces in every format of the shared provider, also in turns with calls.
#[tokio::test]
async fn every_format_streams_a_turn_that_calls_tools() {
    for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Compatible, Api::Gemini, Api::Ollama] {
        let server = Provider::start([
            Answer::Says(Reply::text("Let me see.").call("a", "search", json!({"q": "tea"}))),
            Answer::Says(Reply::text("Two hundred.")),
        ]);
        let search = Tool::new("search", |args, _| Ok(args.json()?["q"].clone()));
        let agent = Agent::builder().prompt("How much?").output(Output::Text);
        let agent = agent.tool(search.signature("(q :string) -> :string")).build().unwrap();
        let mut events = stream(agent, options(api, &server));
        let (mut text, mut turns) = (String::new(), Vec::new());
        while let Some(event) = events.next().await {
            match event.kind {
                What::Text(piece) => text.push_str(&piece),
                What::ToolCalled { name, args } => {
                    assert_eq!(text, "Let me see.", "{api:?}: the words come before the call");
                    turns.push(format!("{name} {args}"));
                }
                What::ToolAnswered { answer, .. } => turns.push(answer.unwrap().to_string()),
                What::Ended(step) => {
                    let step = step.unwrap_or_else(|step| panic!("{api:?}: {:?}", step.fail));
                    turns.push(step.get().unwrap());
                }
                _ => {}
            }
        }
        assert_eq!(text, "Let me see.Two hundred.", "{api:?}");
        assert_eq!(turns, ["search {\"q\":\"tea\"}", "\"tea\"", "Two hundred."], "{api:?}");
        // Requests asked for a stream and offered the tool; the second one held the answer.
        for request in server.asked() {
            let wire = Wire::of(&request).unwrap();
            assert!(wire.is_streamed(&request), "{api:?}: {}", request.path);
            assert!(request.body["tools"].to_string().contains("search"), "{api:?}");
        }
        assert!(server.asked()[1].body.to_string().contains("tea"), "{api:?}");
    }
}

#[tokio::test]
async fn a_piece_is_there_before_the_rest_is_written() {
    let begun = json!({"choices": [{"delta": {"content": "(return "}}]});
    let server = Provider::start([Answer::Stuck([event_head(), named_events(&[begun])].concat())]);
    let agent = Agent::builder().prompt("Count").mission_timeout(Some(20_000)).build().unwrap();
    let mut events = stream(agent, options(Api::Chat, &server));
    loop {
        let event = events.next().await.expect("the piece");
        if let What::Text(text) = event.kind {
            assert_eq!(text, "(return ");
            break;
        }
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_asked_for_again() {
    let all = reply(Api::Chat, ["(return ", "7)"], None);
    let broken = [event_head(), named_events(&all[..1])].concat();
    let server = Provider::start([Answer::Bytes(broken), stream_of(named_events(&all))]);
    let retry = LlmRetry { base_delay: 0, ..LlmRetry::default() };
    let agent = Agent::builder().prompt("Count").llm_retry(retry).build().unwrap();
    let mut events = stream(agent, options(Api::Chat, &server));
    let mut seen = String::new();
    while let Some(event) = events.next().await {
        match event.kind {
            What::Text(text) => seen.push_str(&text),
            What::TextRestarted => seen.push('|'),
            What::Ended(step) => assert_eq!(step.unwrap().get::<i64>().unwrap(), 7),
            _ => {}
        }
    }
    assert_eq!(seen, "(return |(return 7)");
}
