//! Servers that do not support schemas of answers.

use ptc_model::ModelRegistry;
use ptc_model::{Api, HttpModel, HttpOptions, LlmRequest, LlmRetry, Model, Registry, RegistryConfig, Retry};
use ptc_testkit::provider::{Answer, Provider, json};
use ptc_testkit::wire::{Reply, Wire};
use serde_json::{Value, json};

const APIS: [(Api, &str); 6] = [
    (Api::Anthropic, "/output_config"),
    (Api::Chat, "/response_format"),
    (Api::Compatible, "/response_format"),
    (Api::Responses, "/text"),
    (Api::Gemini, "/generationConfig/responseJsonSchema"),
    (Api::Ollama, "/format"),
];

fn request() -> LlmRequest {
    let mut request = LlmRequest::new("s", "p");
    request.schema = Some(json!({"type": "object", "properties": {"a": {"type": "integer"}}}));
    request
}

fn reply(api: Api) -> Answer {
    let body = match api {
        Api::Anthropic => json!({"content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn"}),
        Api::Responses => {
            json!({"output": [{"type": "message", "content": [{"type": "output_text", "text": "{}"}]}]})
        }
        Api::Gemini => Wire::Gemini.whole(&Reply::text("{}")),
        Api::Ollama => Wire::Ollama.whole(&Reply::text("{}")),
        _ => json!({"choices": [{"finish_reason": "stop", "message": {"content": "{}"}}]}),
    };
    json(200, &body)
}

fn refusal(status: u16) -> Answer {
    json(status, &json!({"error": {"type": "invalid_request_error", "message": "unknown field"}}))
}

fn has_schema(server: &Provider, field: &str) -> Vec<bool> {
    server
        .asked()
        .iter()
        .map(|asked| asked.body.pointer(field).is_some_and(|value: &Value| !value.is_null()))
        .collect()
}

#[tokio::test]
async fn a_server_that_refuses_a_schema_is_asked_once_more_without_it() {
    for (api, field) in APIS {
        for status in [400, 422, 501] {
            let server = Provider::start([refusal(status), reply(api), reply(api)]);
            let model = HttpModel::new(HttpOptions::new(api, "m").base_url(&server.url)).unwrap();
            let model = Retry::new(model, LlmRetry::default());
            let first = model.call(&request()).await.unwrap();
            assert_eq!((first.text(), first.retries), ("{}", 1), "{api:?}");
            assert_eq!(model.call(&request()).await.unwrap().retries, 0, "{api:?}");
            assert_eq!(has_schema(&server, field), [true, false, false], "{api:?} {status}");
        }
    }
}

#[tokio::test]
async fn a_request_that_is_wrong_otherwise_is_not_asked_a_third_time() {
    let server = Provider::start([refusal(400), refusal(400), reply(Api::Chat), reply(Api::Chat)]);
    let model = HttpModel::new(HttpOptions::new(Api::Chat, "m").base_url(&server.url)).unwrap();
    let model = Retry::new(model, LlmRetry::default());
    let error = model.call(&request()).await.unwrap_err();
    assert_eq!((error.status, error.retries), (Some(400), 1));
    model.call(&request()).await.unwrap();
    assert_eq!(
        has_schema(&server, "/response_format"),
        [true, false, true],
        "it was not the schema, so that is sent again"
    );
}

#[tokio::test]
async fn a_model_whose_table_says_so_is_sent_none() {
    for (setting, wanted) in [("", true), ("json_schema = true", true), ("json_schema = false", false)] {
        let server = Provider::start([reply(Api::Compatible)]);
        let table = format!(
            "[models.local]\nadapter = \"openai_compat\"\nmodel = \"m\"\nbase_url = \"{}\"\n{setting}\n",
            server.url
        );
        let registry = Registry::new(RegistryConfig::from_toml(&table).unwrap());
        let model = registry.resolve("local").unwrap();
        assert_eq!(model.supports().schema, wanted);
        model.call(&request()).await.unwrap();
        assert_eq!(has_schema(&server, "/response_format"), [wanted], "{setting}");
    }
}
