//! Settings of a model outside its format: addresses with a query, headers, places for keys, caching.

use ptc_model::{Api, ErrorKind, HttpModel, HttpOptions, LlmError, LlmRequest, Model, ModelRegistry};
use ptc_model::{Registry, RegistryConfig};
use ptc_testkit::provider::{Provider, json};
use ptc_testkit::wire::{Reply, Wire};
use serde_json::{Value, json};

fn provider(wire: Wire) -> Provider {
    Provider::start(vec![json(200, &wire.whole(&Reply::text("Hi"))); 3])
}

/// Asks a model of a table, with these environment variables.
async fn ask(table: &str, env: &[(&str, &str)], name: &str) -> Result<Value, LlmError> {
    let env: Vec<(String, String)> = env.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let registry = Registry::new(RegistryConfig::from_toml(table).unwrap())
        .env(move |name| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()));
    let reply = registry.resolve(name)?.call(&LlmRequest::new("s", "p")).await?;
    Ok(serde_json::to_value(reply).unwrap())
}

#[tokio::test]
async fn a_query_goes_with_every_request_and_is_shown_nowhere() {
    let server = provider(Wire::Gemini);
    let url = format!("{}?tenant=canary-1&x=a%20b", server.url);
    let options = HttpOptions::new(Api::Gemini, "m").base_url(&url);
    assert!(!format!("{options:?}").contains("canary"));
    let model = HttpModel::new(options).unwrap();
    assert!(!format!("{model:?}").contains("canary"));
    let mut request = LlmRequest::new("s", "p");
    model.call(&request).await.unwrap();
    request.stream = Some(ptc_model::ChunkSink::new(|_| ()));
    model.call(&request).await.unwrap();
    let paths: Vec<String> = server.asked().into_iter().map(|asked| asked.path).collect();
    let start = "/v1/models/m:";
    assert_eq!(paths[0], format!("{start}generateContent?tenant=canary-1&x=a%20b"));
    assert_eq!(paths[1], format!("{start}streamGenerateContent?tenant=canary-1&x=a%20b&alt=sse"));

    let config = format!("[models.m]\nadapter = \"google\"\nmodel = \"m\"\nbase_url = \"{url}\"");
    let config = RegistryConfig::from_toml(&config).unwrap();
    assert!(!format!("{config:?}{:?}", Registry::new(config.clone())).contains("canary"));
}

#[tokio::test]
async fn headers_of_the_host_are_sent_and_shown_nowhere() {
    let told = json!({"error": {"type": "canary-h2", "message": "no access with canary-h1 or canary-h2 or canary-q1"}});
    let server = Provider::start([json(200, &Wire::Anthropic.whole(&Reply::text("Hi"))), json(403, &told)]);
    let options = HttpOptions::new(Api::Anthropic, "m")
        .base_url(format!("{}?k=canary-q1", server.url))
        .header("X-Team", "canary-h1")
        .header("anthropic-version", "2030-01-01")
        .header("anthropic-beta", "canary-h2");
    assert!(!format!("{options:?}").contains("canary"));
    let model = HttpModel::new(options).unwrap();
    model.call(&LlmRequest::new("s", "p")).await.unwrap();
    let headers = &server.asked()[0].headers;
    assert_eq!((headers["x-team"].as_str(), headers["anthropic-beta"].as_str()), ("canary-h1", "canary-h2"));
    assert_eq!(headers["anthropic-version"], "2030-01-01", "the host's word is the last");
    let error = model.call(&LlmRequest::new("s", "p")).await.unwrap_err();
    assert_eq!(error.message, "no access with … or … or …");
    assert!(!format!("{error:?}{model:?}").contains("canary"));
}

#[tokio::test]
async fn headers_that_cannot_be_sent() {
    let error = HttpModel::new(HttpOptions::new(Api::Chat, "m").header("Content-Length", "5")).unwrap_err();
    assert_eq!(error.message, "`headers` cannot set `Content-Length`: the connection sets it");
    for (name, value, wanted) in [
        ("x y", "v", "`x y` is no name of a header"),
        ("x-y", "canary\nz", "the header `x-y` has characters that no header can hold"),
    ] {
        let options = HttpOptions::new(Api::Chat, "m").base_url("http://127.0.0.1:1").header(name, value);
        let error = HttpModel::new(options).unwrap().call(&LlmRequest::new("s", "p")).await.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Unsupported, wanted));
    }
}

#[tokio::test]
async fn headers_in_a_table() {
    let server = provider(Wire::Chat);
    let table = format!(
        "[models.m]\nadapter = \"openai_compat\"\nmodel = \"m\"\nbase_url = \"{}\"\n\
         headers = {{ x-team = \"tea\" }}\nheader_env = {{ x-gateway-key = \"GATEWAY_KEY\" }}",
        server.url
    );
    let error = ask(&table, &[], "m").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::MissingKey);
    assert_eq!(
        error.message,
        "`m` needs the header `x-gateway-key` in the environment variable `GATEWAY_KEY`"
    );
    ask(&table, &[("GATEWAY_KEY", "canary-5")], "m").await.unwrap();
    let headers = &server.asked()[0].headers;
    assert_eq!((headers["x-team"].as_str(), headers["x-gateway-key"].as_str()), ("tea", "canary-5"));
}

#[tokio::test]
async fn azure_by_its_own_variables() {
    let server = provider(Wire::Chat);
    let endpoint = server.url.trim_end_matches("/v1");
    let key = ("AZURE_OPENAI_API_KEY", "canary-6");
    let error = ask("", &[key], "azure:gpt-5").await.unwrap_err();
    assert!(error.message.contains("set the environment variable `AZURE_OPENAI_ENDPOINT`"), "{error}");
    let place = ("AZURE_OPENAI_ENDPOINT", endpoint);
    let version = ("OPENAI_API_VERSION", "2024-10-21");
    ask("", &[key, place], "azure:gpt-5").await.unwrap();
    ask("", &[key, place, version], "azure:gpt-5").await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[0].path, "/openai/v1/chat/completions");
    assert_eq!(asked[1].path, "/openai/deployments/gpt-5/chat/completions?api-version=2024-10-21");
    assert_eq!(
        (asked[0].headers["api-key"].as_str(), asked[0].headers.get("authorization")),
        ("canary-6", None)
    );
}

#[tokio::test]
async fn a_key_in_another_header() {
    let server = provider(Wire::Anthropic);
    let table = format!(
        "[models.m]\nadapter = \"anthropic\"\nmodel = \"m\"\nbase_url = \"{}\"\nkey_env = \"K\"\nkey_header = \"Authorization\"",
        server.url
    );
    ask(&table, &[("K", "canary-7")], "m").await.unwrap();
    let headers = &server.asked()[0].headers;
    assert_eq!((headers["authorization"].as_str(), headers.get("x-api-key")), ("Bearer canary-7", None));
}

#[tokio::test]
async fn bedrock_takes_its_key_as_a_bearer() {
    let server = provider(Wire::Chat);
    let table = format!("[models.m]\nadapter = \"bedrock\"\nmodel = \"m\"\nbase_url = \"{}\"", server.url);
    ask(&table, &[("AWS_BEARER_TOKEN_BEDROCK", "canary-8")], "m").await.unwrap();
    assert_eq!(server.asked()[0].headers["authorization"], "Bearer canary-8");
}

#[tokio::test]
async fn a_table_can_ask_for_caching() {
    let marked = |setting: &'static str| async move {
        let server = provider(Wire::Anthropic);
        let table = format!(
            "[models.m]\nadapter = \"anthropic\"\nmodel = \"m\"\nbase_url = \"{}\"\nkey_env = \"K\"\n{setting}",
            server.url
        );
        let reply = ask(&table, &[("K", "k")], "m").await.unwrap();
        assert_eq!(reply["tokens"]["cache_read"], 8);
        server.asked()[0].body.pointer("/system/0/cache_control").is_some()
    };
    assert!(!marked("").await && !marked("prompt_cache = false").await);
    assert!(marked("prompt_cache = true").await);
}

#[test]
fn addresses_of_other_formats_are_told() {
    let told = |adapter: &str, url: &str| {
        let table = format!("[models.m]\nadapter = \"{adapter}\"\nmodel = \"m\"\nbase_url = \"{url}\"");
        RegistryConfig::from_toml(&table).err().map(|error| error.to_string())
    };
    assert_eq!(
        told("ollama", "http://localhost:11434/v1/").as_deref(),
        Some(
            "the model `m`: `base_url` ends with `/v1`, where the provider speaks Chat Completions; leave that out, or \
             set `adapter = \"openai_compat\"`"
        )
    );
    assert!(told("google", "https://x.example/v1beta/openai").unwrap().contains("ends with `/openai`"));
    assert_eq!(told("google", "https://x.example/v1"), None);
    assert_eq!(told("ollama", "http://localhost:11434"), None);
}

#[test]
fn a_table_that_cannot_be_read_does_not_show_its_lines() {
    let table =
        "[models.m]\nadapter = \"openai\"\nbase_url = \"http://x/?key=canary\" headers = 1\nmodel = \"m\"";
    let error = RegistryConfig::from_toml(table).unwrap_err().to_string();
    assert!(error.starts_with("line 3: ") && !error.contains("canary"), "{error}");
    for headers in ["[\"canary\"]", "\"canary\"", "{ x = 5, y = \"canary\" }"] {
        let table = format!("[models.m]\nadapter = \"openai\"\nmodel = \"m\"\nheaders = {headers}");
        let error = RegistryConfig::from_toml(&table).unwrap_err().to_string();
        assert!(error.starts_with("line 4: invalid type") && !error.contains("canary"), "{error}");
    }
}

#[test]
fn a_reference_holds_no_query() {
    let error = Registry::default().resolve("openai-compat:http://x.example/v1?key=1|m").err().unwrap();
    assert!(
        error.message.contains("give the model a name and a `base_url` in the table of models"),
        "{error}"
    );
}
