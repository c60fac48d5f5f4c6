//! Whole missions over each provider's wire format: concurrent calls, `lisp_eval` next to other calls and alone, and
//! the answer as it arrives.

use ptc_agent::definition::Transport;
use ptc_agent::tools::{Expose, LlmRef, Tool};
use ptc_agent::{Agent, AgentBuilder, RunOptions, run_async};
use ptc_model::{Api, Chunk, ChunkSink, HttpModel, HttpOptions, Output, Scripted};
use ptc_testkit::provider::{Answer, Provider};
use ptc_testkit::wire::Reply;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Returns a reply with calls: `(id, name, args)`.
fn calls(calls: &[(&str, &str, Value)]) -> Answer {
    let reply = Reply::default();
    Answer::Says(calls.iter().fold(reply, |reply, (id, name, args)| reply.call(id, name, args.clone())))
}

fn words(text: &str) -> Answer {
    Answer::Says(Reply::text(text))
}

/// Returns the ids of the calls that a request answers, in order.
fn answered(api: Api, body: &Value) -> Vec<String> {
    let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    let ids: Vec<Value> = match api {
        Api::Anthropic | Api::BedrockAnthropic => {
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
        Api::Gemini => {
            let parts = list("contents")
                .into_iter()
                .flat_map(|content| content["parts"].as_array().cloned().unwrap_or_default());
            parts.filter_map(|part| part.pointer("/functionResponse/id").cloned()).collect()
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
    for api in [
        Api::Anthropic,
        Api::BedrockAnthropic,
        Api::Chat,
        Api::Responses,
        Api::Compatible,
        Api::Gemini,
        Api::Ollama,
    ] {
        let program = |text: &str| json!({"program": text});
        let server = Provider::start([
            calls(&[("a", "search", json!({"q": "tea"})), ("b", "search", json!({"q": "cake"}))]),
            calls(&[("c", "lisp_eval", program("1")), ("d", "search", json!({"q": "tea"}))]),
            calls(&[("e", "lisp_eval", program("(return (count (tool/search {:q \"tea\"})))"))]),
            words("Two hundred."),
        ]);
        // Each waits for the other: run one after the other, they would never end.
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
        let tools = &asked[0].body["tools"];
        let tools = tools.pointer("/0/functionDeclarations").unwrap_or(tools);
        assert_eq!(tools.as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn an_agent_can_ask_for_prompt_caching() {
    let asked = async |builder: AgentBuilder, run: RunOptions| {
        let model = Scripted::new(["(return 3)"]);
        let run = run.llm(LlmRef::client(model.clone()));
        run_async(&builder.build().unwrap(), &run).await.unwrap();
        model.requests()[0].cache
    };
    let file = |setting: Value| AgentBuilder::from_json(&json!({"prompt": "Count", "prompt_cache": setting}));
    assert!(!asked(Agent::builder().prompt("Count"), RunOptions::new()).await);
    assert!(asked(Agent::builder().prompt("Count").prompt_cache(true), RunOptions::new()).await);
    assert!(
        asked(file(json!(true)), RunOptions::new()).await
            && !asked(file(json!(false)), RunOptions::new()).await
    );
    assert!(asked(Agent::builder().prompt("Count"), RunOptions { cache: true, ..RunOptions::new() }).await);
}
