//! Whole missions over each provider's wire format: calls side by side, `lisp_eval` in the wrong company and alone, and the
//! answer as it arrives.

use ptc_agent::definition::Transport;
use ptc_agent::tools::{Expose, LlmRef, Tool};
use ptc_agent::{Agent, RunOptions, run_async};
use ptc_model::Output;
use ptc_model::{Api, Chunk, ChunkSink, HttpModel, HttpOptions};
use ptc_testkit::provider::{Answer, Provider, json};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Calls `(id, name, args)` as a provider writes them.
fn calls(api: Api, calls: &[(&str, &str, Value)]) -> Answer {
    let args = |args: &Value| args.to_string();
    let body = match api {
        Api::Anthropic => json!({
            "stop_reason": "tool_use",
            "content": calls.iter().map(|(id, name, args)| json!({"type": "tool_use", "id": id, "name": name, "input": args})).collect::<Vec<_>>(),
        }),
        Api::Responses => json!({
            "status": "completed",
            "output": calls.iter().map(|(id, name, input)| json!({"type": "function_call", "call_id": id, "name": name, "arguments": args(input)})).collect::<Vec<_>>(),
        }),
        _ => {
            json!({"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": null,
                "tool_calls": calls.iter().map(|(id, name, input)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": args(input)}})).collect::<Vec<_>>(),
            }}]})
        }
    };
    json(200, &body)
}

fn words(api: Api, text: &str) -> Answer {
    let body = match api {
        Api::Anthropic => json!({"stop_reason": "end_turn", "content": [{"type": "text", "text": text}]}),
        Api::Responses => json!({"status": "completed", "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]}),
        _ => {
            json!({"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": text}}]})
        }
    };
    json(200, &body)
}

/// The ids that a request answers, in order.
fn answered(api: Api, body: &Value) -> Vec<String> {
    let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    let ids: Vec<Value> = match api {
        Api::Anthropic => {
            let blocks = list("messages")
                .into_iter()
                .flat_map(|m| m["content"].as_array().cloned().unwrap_or_default());
            blocks
                .filter(|block| block["type"] == "tool_result")
                .map(|block| block["tool_use_id"].clone())
                .collect()
        }
        Api::Responses => {
            let items = list("input").into_iter().filter(|item| item["type"] == "function_call_output");
            items.map(|item| item["call_id"].clone()).collect()
        }
        _ => {
            let messages = list("messages").into_iter().filter(|message| message["role"] == "tool");
            messages.map(|message| message["tool_call_id"].clone()).collect()
        }
    };
    ids.iter().map(|id| id.as_str().unwrap().to_string()).collect()
}

#[tokio::test]
async fn combined_mode_over_every_wire_format() {
    for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Compatible] {
        let program = |text: &str| json!({"program": text});
        let server = Provider::start([
            calls(api, &[("a", "search", json!({"q": "tea"})), ("b", "search", json!({"q": "cake"}))]),
            calls(api, &[("c", "lisp_eval", program("1")), ("d", "search", json!({"q": "tea"}))]),
            calls(api, &[("e", "lisp_eval", program("(return (count (tool/search {:q \"tea\"})))"))]),
            words(api, "Two hundred."),
        ]);
        // Both wait for each other: one after the other would never end.
        let together = Arc::new(tokio::sync::Barrier::new(2));
        let search = Tool::new_async("search", move |_, _| {
            let together = together.clone();
            async move {
                together.wait().await;
                Ok((0..200).collect::<Vec<i32>>())
            }
        })
        .signature("(q :string) -> [:int]")
        .expose(Expose::Both)
        .cache(true);
        let agent = Agent::builder()
            .prompt("How much?")
            .output(Output::Text)
            .ptc_transport(Some(Transport::ToolCall))
            .tool(search)
            .build()
            .unwrap();
        let options = HttpOptions::new(api, "m").base_url(&server.url).key("k");
        let model = LlmRef::client(HttpModel::new(options).unwrap());
        let pieces: Arc<Mutex<String>> = Arc::default();
        let seen = pieces.clone();
        let sink = ChunkSink::new(move |chunk| {
            if let Chunk::Delta(text) = chunk {
                seen.lock().unwrap().push_str(&text);
            }
        });
        let run = RunOptions { on_chunk: Some(sink), ..RunOptions::new() }.llm(model);
        let step = run_async(&agent, &run).await.unwrap_or_else(|step| panic!("{api:?}: {:?}", step.fail));
        assert_eq!(step.get::<String>().unwrap(), "Two hundred.", "{api:?}");
        assert_eq!(*pieces.lock().unwrap(), "Two hundred.", "{api:?}: only the answer is streamed");
        let asked = server.asked();
        assert_eq!(answered(api, &asked[3].body), ["a", "b", "c", "d", "e"], "{api:?}");
        let told = asked[3].body.to_string();
        assert!(told.contains("mixed_with_lisp_eval") && told.contains("user=> 200"), "{api:?}: {told}");
        assert_eq!(asked[0].body["tools"].as_array().unwrap().len(), 2);
    }
}
