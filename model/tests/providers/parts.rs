//! Images and documents in messages.

use crate::matrix::api;
use ptc_model::{ErrorKind, HttpModel, HttpOptions, LlmRequest, Message, Model, Part, ToolCall};
use ptc_testkit::provider::{Answer, Provider, json as json_answer};
use ptc_testkit::wire::{Reply, Wire};
use serde_json::{Value, json};

fn request(parts: &[Part]) -> LlmRequest {
    let mut request = LlmRequest::new("", "Look");
    request.messages = vec![Message { parts: parts.to_vec(), ..Message::user("Look") }];
    // Round trip through JSON, as in checkpoints and cassettes.
    serde_json::from_value(serde_json::to_value(request).unwrap()).unwrap()
}

#[tokio::test]
async fn every_format_has_images_and_all_but_one_documents() {
    let (image, pdf) = (Part::image("image/png", b"png"), Part::document("a.pdf", "application/pdf", b"pdf"));
    let source = |kind: &str, data: &str| json!({"type": "base64", "media_type": kind, "data": data});
    let rows: [(Wire, &str, Value); 5] = [
        (
            Wire::Anthropic,
            "/messages/0/content",
            json!([
                {"type": "image", "source": source("image/png", "cG5n")},
                {"type": "document", "title": "a.pdf", "source": source("application/pdf", "cGRm")},
                {"type": "text", "text": "Look"},
            ]),
        ),
        (
            Wire::Chat,
            "/messages/0/content",
            json!([
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,cGRm"}},
                {"type": "text", "text": "Look"},
            ]),
        ),
        (
            Wire::Responses,
            "/input/0/content",
            json!([
                {"type": "input_image", "image_url": "data:image/png;base64,cG5n"},
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,cGRm"},
                {"type": "input_text", "text": "Look"},
            ]),
        ),
        (
            Wire::Gemini,
            "/contents/0/parts",
            json!([
                {"inlineData": {"mimeType": "image/png", "data": "cG5n"}},
                {"inlineData": {"mimeType": "application/pdf", "data": "cGRm"}},
                {"text": "Look"},
            ]),
        ),
        (Wire::Ollama, "/messages/0/images", json!(["cG5n"])),
    ];
    for (wire, place, wanted) in rows {
        let server = Provider::start([Answer::Says(Reply::text("I see"))]);
        let model = HttpModel::new(HttpOptions::new(api(wire), "m").base_url(&server.url)).unwrap();
        let both = [image.clone(), pdf.clone()];
        let parts = if wire == Wire::Ollama { &both[..1] } else { &both[..] };
        model.call(&request(parts)).await.unwrap();
        assert_eq!(server.asked()[0].body.pointer(place), Some(&wanted), "{wire:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_told_before_anything_is() {
    let server = Provider::start([]);
    let model = |wire| HttpModel::new(HttpOptions::new(api(wire), "qwen3").base_url(&server.url)).unwrap();
    let pdf = Part::document("a.pdf", "application/pdf", b"canary");
    let error = model(Wire::Ollama).call(&request(&[pdf])).await.unwrap_err();
    let told = "`qwen3` takes images, but no documents; give the text of `a.pdf` in words, or ask a model of another \
                provider";
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Unsupported, told));
    let mut said = request(&[]);
    said.messages.push(Message::assistant("So").part(Part::image("image/png", b"canary")));
    for wire in Wire::ALL {
        let error = model(wire).call(&said).await.unwrap_err();
        assert!(error.message.starts_with("images and documents can only be"), "{error}");
    }
    assert!(server.asked().is_empty());
}

/// Returns a conversation with two calls in one reply, and an image in the result of the first.
fn answered(parts: &[Part]) -> LlmRequest {
    let mut request = request(&[]);
    let calls = ["a", "b"].map(|id| ToolCall::read(Some(id), "photo", "{}"));
    request.messages.push(Message::assistant("").calls(calls.into()));
    request.messages.push(Message { parts: parts.to_vec(), ..Message::tool("a", "A photo") });
    request.messages.push(Message::tool("b", "none"));
    request.messages.push(Message::user("Well?"));
    request
}

#[tokio::test]
async fn answers_to_calls_bring_images_in_every_format() {
    let words = "From the result of `photo`: <image image/png, 3 bytes>";
    let source = json!({"type": "base64", "media_type": "image/png", "data": "cG5n"});
    let url = "data:image/png;base64,cG5n";
    let rows: [(Wire, &str, Value); 5] = [
        (
            Wire::Anthropic,
            "/messages/2/content/0",
            json!({"type": "tool_result", "tool_use_id": "a", "content": [
                {"type": "text", "text": "A photo"}, {"type": "image", "source": source},
            ]}),
        ),
        (
            Wire::Chat,
            // Nothing may stand between the results for one reply.
            "/messages/4",
            json!({"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": words},
            ]}),
        ),
        (
            Wire::Responses,
            "/input/3",
            json!({"type": "function_call_output", "call_id": "a", "output": [
                {"type": "input_image", "image_url": url}, {"type": "input_text", "text": "A photo"},
            ]}),
        ),
        (
            Wire::Gemini,
            "/contents/2/parts/2",
            json!({"inlineData": {"mimeType": "image/png", "data": "cG5n"}}),
        ),
        (Wire::Ollama, "/messages/4", json!({"role": "user", "content": words, "images": ["cG5n"]})),
    ];
    for (wire, place, wanted) in rows {
        let server = Provider::start([Answer::Says(Reply::text("I see"))]);
        let model = HttpModel::new(HttpOptions::new(api(wire), "m").base_url(&server.url)).unwrap();
        model.call(&answered(&[Part::image("image/png", b"png")])).await.unwrap();
        assert_eq!(server.asked()[0].body.pointer(place), Some(&wanted), "{wire:?}");
    }
}

/// Starts a provider that refuses once and then replies.
fn refusing(wire: Wire, status: u16) -> Provider {
    let refusal = json_answer(status, &wire.error(status, "invalid_request_error", "no eyes"));
    Provider::start([refusal, Answer::Says(Reply::text("I cannot see it"))])
}

#[tokio::test]
async fn a_model_that_takes_none_is_told_in_words_if_the_caller_allows_it() {
    for wire in Wire::ALL {
        let server = refusing(wire, 400);
        let model = HttpModel::new(HttpOptions::new(api(wire), "m").base_url(&server.url)).unwrap();
        let mut request = answered(&[Part::image("image/png", b"png")]);
        request.tells_unseen = true;
        let reply = model.call(&request).await.unwrap();
        assert_eq!((reply.text(), reply.unseen_parts, reply.retries), ("I cannot see it", 1, 1), "{wire:?}");
        let told = server.asked()[1].body.to_string();
        let words = "<image image/png, 3 bytes, not shown: the provider refuses it>";
        assert!(told.contains(words) && !told.contains("cG5n"), "{wire:?}: {told}");

        let server = refusing(wire, 400);
        let model = HttpModel::new(HttpOptions::new(api(wire), "m").base_url(&server.url)).unwrap();
        let error = model.call(&answered(&[Part::image("image/png", b"png")])).await.unwrap_err();
        assert_eq!((error.status, server.asked().len()), (Some(400), 1), "{wire:?}");
    }
}

#[tokio::test]
async fn a_request_that_is_wrong_without_images_too_stays_an_error() {
    let refusal = || json_answer(400, &Wire::Chat.error(400, "invalid_request_error", "too long"));
    let server = Provider::start([refusal(), refusal()]);
    let model = HttpModel::new(HttpOptions::new(api(Wire::Chat), "m").base_url(&server.url)).unwrap();
    let mut request = request(&[Part::image("image/png", b"png")]);
    request.tells_unseen = true;
    let error = model.call(&request).await.unwrap_err();
    assert_eq!((error.status, error.retries, server.asked().len()), (Some(400), 1, 2));
}

#[tokio::test]
async fn documents_that_a_format_has_not_are_told_in_words_if_the_caller_allows_it() {
    let server = Provider::start([Answer::Says(Reply::text("Thanks"))]);
    let model = HttpModel::new(HttpOptions::new(api(Wire::Ollama), "m").base_url(&server.url)).unwrap();
    let pdf = Part::document("a.pdf", "application/pdf", b"canary");
    let mut request = request(&[Part::image("image/png", b"png"), pdf]);
    request.tells_unseen = true;
    assert_eq!(model.call(&request).await.unwrap().unseen_parts, 1);
    let message = server.asked()[0].body["messages"][0].clone();
    let words =
        "Look\n\n<document a.pdf, application/pdf, 6 bytes, not shown: this model takes no documents>";
    assert_eq!(message, json!({"role": "user", "content": words, "images": ["cG5n"]}));
}

#[test]
fn a_part_is_the_map_that_data_holds() {
    use ptc_contract::data::Tree;
    for part in [Part::image("image/png", b"png"), Part::document("a.pdf", "application/pdf", b"pdf")] {
        let datum = ptc_runtime::bridge::to_datum(&part).unwrap();
        let tree = Tree::new(&datum);
        assert_eq!(Part::from(tree.root().media().unwrap()), part);
    }
    // In MCP's notation.
    let block =
        json!({"type": "image", "data": "cG5n", "mimeType": "image/png", "annotations": {"priority": 1}});
    assert_eq!(serde_json::from_value::<Part>(block).unwrap(), Part::image("image/png", b"png"));
}
