//! Whole missions with incomplete replies, over each provider's wire format; and thoughts that are sent back.

use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{Agent, RunOptions, Step, run_async};
use ptc_model::{Api, HttpModel, HttpOptions, Output, StopReason};
use ptc_testkit::provider::{Answer, Provider, json};
use serde_json::{Value, json};

const APIS: [Api; 4] = [Api::Anthropic, Api::Chat, Api::Responses, Api::Compatible];

/// Returns a reply that stops for this reason, in the provider's words.
fn stopped(api: Api, text: &str, stop: &StopReason) -> Answer {
    let reason = match (api, stop) {
        (Api::Anthropic, StopReason::MaxTokens) => "max_tokens",
        (Api::Responses, StopReason::MaxTokens) => "max_output_tokens",
        (_, StopReason::MaxTokens) => "length",
        (Api::Anthropic, StopReason::Refusal) => "refusal",
        (_, StopReason::Filtered) => "content_filter",
        (Api::Anthropic, _) => "end_turn",
        (_, _) => "stop",
    };
    let is_refusal = *stop == StopReason::Refusal;
    let body = match api {
        Api::Anthropic => json!({
            "stop_reason": reason, "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 100, "output_tokens": 12},
        }),
        Api::Responses => {
            let part = if is_refusal { json!({"refusal": text}) } else { json!({"text": text}) };
            let is_cut = matches!(stop, StopReason::MaxTokens | StopReason::Filtered);
            let details = if is_cut { json!({"reason": reason}) } else { Value::Null };
            json!({
                "output": [{"type": "message", "content": [part]}], "incomplete_details": details,
                "usage": {"input_tokens": 100, "output_tokens": 12},
            })
        }
        _ => {
            let key = if is_refusal { "refusal" } else { "content" };
            json!({
                "choices": [{"finish_reason": reason, "message": {key: text}}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 12},
            })
        }
    };
    json(200, &body)
}

async fn mission(agent: &Agent, api: Api, server: &Provider) -> Result<Step, Box<Step>> {
    let options = HttpOptions::new(api, "m").base_url(&server.url).key("k");
    run_async(agent, &RunOptions::new().llm(LlmRef::client(HttpModel::new(options).unwrap()))).await
}

#[tokio::test]
async fn a_refusal_ends_the_mission_over_every_wire_format() {
    for api in APIS {
        for output in [Output::PtcLisp, Output::Text] {
            let agent = Agent::builder().prompt("Count").output(output).build().unwrap();
            let server = Provider::start([stopped(api, "I will not.", &StopReason::Refusal)]);
            let fail = mission(&agent, api, &server).await.unwrap_err().fail.unwrap();
            assert_eq!(fail.to_string(), "model_refused: I will not.", "{api:?}");
            assert_eq!(server.asked().len(), 1, "{api:?}");
        }
    }
}

#[tokio::test]
async fn a_filtered_reply_ends_the_mission() {
    for api in [Api::Chat, Api::Responses, Api::Compatible] {
        let server = Provider::start([stopped(api, "", &StopReason::Filtered)]);
        let agent = Agent::builder().prompt("Count").build().unwrap();
        assert_eq!(mission(&agent, api, &server).await.unwrap_err().reason(), "reply_filtered", "{api:?}");
    }
}

#[tokio::test]
async fn a_cut_reply_is_continued_or_told_over_every_wire_format() {
    let agent = Agent::builder().prompt("Add").build().unwrap();
    for api in APIS {
        let cut = stopped(api, "```clojure\n(return (+ 1", &StopReason::MaxTokens);
        let (rest, wanted) = match api {
            Api::Anthropic => (" 2))\n```", 3),
            _ => ("(return 4)", 4),
        };
        let server = Provider::start([cut, stopped(api, rest, &StopReason::EndTurn)]);
        let step =
            mission(&agent, api, &server).await.unwrap_or_else(|step| panic!("{api:?}: {:?}", step.fail));
        assert_eq!(step.json().unwrap(), wanted, "{api:?}");
        let turns = if api == Api::Anthropic { 1 } else { 2 };
        assert_eq!((step.usage.turns, step.usage.llm_requests), (turns, 2), "{api:?}");
        assert_eq!(step.usage.output_tokens, 24, "{api:?}: both replies are paid for");
        let told = server.asked()[1].body.to_string();
        let is_told = told.contains("Your reply was cut at 12 tokens; write a shorter program.");
        assert_eq!(is_told, api != Api::Anthropic, "{api:?}: {told}");
    }
}

#[tokio::test]
async fn thoughts_go_back_with_the_results_of_calls() {
    let thinking = json!({"type": "thinking", "thinking": "Search first.", "signature": "c2ln"});
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
    let call = json!({"type": "tool_use", "id": "a", "name": "search", "input": {}});
    let function = json!({"type": "function_call", "call_id": "a", "name": "search", "arguments": "{}"});
    let rows = [
        (
            Api::Anthropic,
            json!({"content": [thinking, call], "stop_reason": "tool_use"}),
            "/messages/1/content/0",
            thinking,
        ),
        (Api::Responses, json!({"output": [reasoning, function]}), "/input/1", reasoning),
    ];
    for (api, first, place, wanted) in rows {
        let search = Tool::new("search", |_, _| Ok("green")).signature("() -> :string");
        let agent = Agent::builder().prompt("Find tea").output(Output::Text).tool(search).build().unwrap();
        let server = Provider::start([json(200, &first), stopped(api, "Green.", &StopReason::EndTurn)]);
        let step = mission(&agent, api, &server).await.unwrap();
        assert_eq!(step.get::<String>().unwrap(), "Green.", "{api:?}");
        assert_eq!(server.asked()[1].body.pointer(place), Some(&wanted), "{api:?}");
    }
}
