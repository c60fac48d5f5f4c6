//! Missions with images, over each provider's wire format: one in the data, another in the answer of a tool.

use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{Agent, RunOptions, run_async};
use ptc_model::{Api, HttpModel, HttpOptions, LlmRetry, Output, Part};
use ptc_testkit::provider::{Answer, Provider, json as answer};
use ptc_testkit::wire::{Reply, Wire};
use serde_json::{Value, json};

const APIS: [(Api, Wire); 5] = [
    (Api::Anthropic, Wire::Anthropic),
    (Api::Chat, Wire::Chat),
    (Api::Responses, Wire::Responses),
    (Api::Gemini, Wire::Gemini),
    (Api::Ollama, Wire::Ollama),
];

fn photo(bytes: &[u8]) -> Part {
    Part::image("image/png", bytes)
}

fn agent() -> Agent {
    Agent::builder()
        .prompt("What is on {{photo}}?")
        .signature("(photo :any) -> :string")
        .output(Output::Text)
        .tool(Tool::new("look", |_, _| Ok(json!({"it": photo(b"closer")}))))
        .llm_retry(LlmRetry { max_attempts: 1, ..LlmRetry::default() })
        .build()
        .unwrap()
}

fn options(server: &Provider, api: Api) -> RunOptions {
    let http = HttpOptions::new(api, "m").base_url(&server.url).key("k");
    let run = RunOptions::new().context(&json!({"photo": photo(b"from afar")})).unwrap();
    run.llm(LlmRef::client(HttpModel::new(http).unwrap()))
}

/// Returns the value at a JSON pointer of a request.
fn at<'b>(body: &'b Value, place: &str) -> &'b Value {
    body.pointer(place).unwrap_or_else(|| panic!("no {place} in {body:#}"))
}

#[tokio::test]
async fn images_of_data_and_tools_arrive_as_each_provider_wants_them() {
    for (api, wire) in APIS {
        let call = Reply::default().call("c", "look", json!({}));
        let server = Provider::start([Answer::Says(call), Answer::Says(Reply::text("A cup."))]);
        let step = run_async(&agent(), &options(&server, api)).await;
        let step = step.unwrap_or_else(|step| panic!("{wire:?}: {:?}", step.fail));
        assert_eq!((step.get::<String>().unwrap().as_str(), &step.warnings), ("A cup.", &vec![]), "{wire:?}");
        let asked = server.asked();
        let (data, answered) = (photo(b"from afar"), photo(b"closer"));
        let (data, answered) = (data.data(), answered.data());
        let url = |data: &str| format!("data:image/png;base64,{data}");
        // Places of the data's image, in both requests, and of the tool's image.
        let (first, second, wanted) = match wire {
            Wire::Anthropic => {
                let tool = "/messages/2/content/0/content/1/source/data";
                ("/messages/0/content/0/source/data", tool, [data.to_string(), answered.to_string()])
            }
            Wire::Chat => {
                let tool = "/messages/4/content/0/image_url/url";
                ("/messages/1/content/0/image_url/url", tool, [url(data), url(answered)])
            }
            Wire::Responses => {
                ("/input/0/content/0/image_url", "/input/2/output/0/image_url", [url(data), url(answered)])
            }
            Wire::Gemini => {
                let tool = "/contents/2/parts/1/inlineData/data";
                ("/contents/0/parts/0/inlineData/data", tool, [data.to_string(), answered.to_string()])
            }
            Wire::Ollama => {
                ("/messages/1/images/0", "/messages/4/images/0", [data.to_string(), answered.to_string()])
            }
        };
        assert_eq!(at(&asked[0].body, first), &json!(wanted[0]), "{wire:?}");
        assert_eq!(at(&asked[1].body, first), &json!(wanted[0]), "{wire:?}");
        assert_eq!(at(&asked[1].body, second), &json!(wanted[1]), "{wire:?}");
        let body = asked[1].body.to_string();
        for (image, words) in [(data, "<image image/png, 9 bytes>"), (answered, "<image image/png, 6 bytes>")]
        {
            assert!(body.contains(words), "{wire:?}: {body}");
            assert_eq!(body.matches(image).count(), 1, "{wire:?}: once, and not as text: {body}");
        }
    }
}

#[tokio::test]
async fn a_model_without_eyes_is_told_and_does_its_work() {
    for (api, wire) in APIS {
        let refusal = answer(400, &wire.error(400, "invalid_request_error", "images are not supported"));
        let call = Reply::default().call("c", "look", json!({}));
        let words = Reply::text("I cannot see it.");
        let server = Provider::start([refusal.clone(), Answer::Says(call), refusal, Answer::Says(words)]);
        let step = run_async(&agent(), &options(&server, api)).await;
        let step = step.unwrap_or_else(|step| panic!("{wire:?}: {:?}", step.fail));
        assert_eq!(step.get::<String>().unwrap(), "I cannot see it.", "{wire:?}");
        assert_eq!(
            step.warnings,
            ["`m` could not be shown images or documents, and got a text in their place"]
        );
        let asked = server.asked();
        assert!(
            asked[1].body.to_string().contains("9 bytes, not shown: the provider refuses it"),
            "{wire:?}"
        );
        let last = asked[3].body.to_string();
        // An image that was refused once is not sent again.
        assert!(!asked[2].body.to_string().contains(photo(b"from afar").data()), "{wire:?}");
        assert!(last.contains("9 bytes, not shown: this model could not be shown it"), "{wire:?}: {last}");
        assert!(last.contains("6 bytes, not shown: the provider refuses it"), "{wire:?}: {last}");
    }
}
