//! Images and documents from files, as data of missions and of programs.

use crate::agent::cassette;
use crate::{file, ptc};
use ptc_agent::{Agent, RunOptions};
use ptc_model::Part;
use serde_json::json;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nthe rest of a picture";

/// A file with these bytes.
fn binary(name: &str, bytes: &[u8]) -> String {
    let path = file(name, "");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_picture_as_input_is_shown_to_the_model() {
    let photo = binary("photo.png", PNG);
    let toml = file("look.toml", "prompt = \"What is on it?\"\nsignature = \"(photo :any) -> :string\"\n");
    let agent =
        Agent::builder().prompt("What is on it?").signature("(photo :any) -> :string").build().unwrap();
    // The cassette is for a request that has the image, and for no other.
    let run = RunOptions::new().context(&json!({"photo": Part::image("image/png", PNG)})).unwrap();
    let tape = cassette("look.jsonl", &agent, run, &["(return (:mimeType data/photo))"]);
    let input = format!("photo=@{photo}");
    let ran = ptc(&["agent", "run", &toml, "--input", &input, "--replay", &tape]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "\"image/png\"\n"), "{ran:?}");

    let checked = ptc(&["agent", "check", &toml, "--input", &input, "--prompt"]);
    assert!(checked.out.contains("sample: <image image/png, 29 bytes>"), "{checked:?}");

    let trace = file("look.trace", "");
    let traced = ["agent", "run", &toml, "--input", &input, "--replay", &tape, "--trace", &trace];
    assert_eq!(ptc(&traced).code, 0);
    let written = std::fs::read_to_string(&trace).unwrap();
    assert!(
        written.contains("<image image/png, 29 bytes>") && !written.contains("iVBORw0KGgp0aGUg"),
        "{written}"
    );
    let again = ptc(&["agent", "replay", &trace]);
    assert!(
        again.code == 2 && again.err.contains("images or documents, which traces do not contain"),
        "{again:?}"
    );
}

#[test]
fn other_commands_take_pictures_as_data() {
    let pdf = binary("offer.pdf", b"%PDF-1.7 an offer");
    let program = "[(:type data/it) (:name data/it) (:mimeType data/it)]";
    let ran = ptc(&["eval", "--data", &format!("it=@{pdf}"), "-e", program]);
    let wanted = "[\"document\" \"offer.pdf\" \"application/pdf\"]\n";
    assert_eq!((ran.code, ran.out.as_str()), (0, wanted), "{ran:?}");
    let bad = binary("bad.bin", &[0xff, 0xfe, 0]);
    let toml = file("bad.toml", "prompt = \"Look\"\nsignature = \"(it :any) -> :any\"\n");
    let ran = ptc(&["agent", "check", &toml, "--input", &format!("it=@{bad}")]);
    assert!(ran.code == 2 && ran.err.contains("neither UTF-8 text nor a PNG"), "{ran:?}");
}
