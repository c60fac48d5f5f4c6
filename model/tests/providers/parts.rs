//! Images and documents in messages.

use crate::matrix::api;
use ptc_model::{ErrorKind, HttpModel, HttpOptions, LlmRequest, Message, Model, Part};
use ptc_testkit::provider::{Answer, Provider};
use ptc_testkit::wire::{Reply, Wire};
use serde_json::{Value, json};

fn request(parts: &[Part]) -> LlmRequest {
    let mut request = LlmRequest::new("", "Look");
    request.messages = vec![Message { parts: parts.to_vec(), ..Message::user("Look") }];
    // As checkpoints and cassettes have it.
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
        assert!(error.message.starts_with("only messages of the user hold images"), "{error}");
    }
    assert!(server.asked().is_empty());
}
