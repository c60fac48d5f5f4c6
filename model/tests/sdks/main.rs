//! The providers' own Python clients, installed by `.ci/run sdks`, talk to the fake provider that our clients are
//! tested with. This proves that the fake accepts and sends what the real providers do.
//!
//! Skipped unless `PTC_TEST_MODEL_SDKS` names the folder of the clients: plain `cargo test` needs only Rust.
#![allow(missing_docs)]

use ptc_testkit::provider::Provider;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a part of the script against a provider of its own.
fn talk(part: &str) {
    let Some(folder) = std::env::var_os("PTC_TEST_MODEL_SDKS").map(PathBuf::from) else {
        println!("skipped: PTC_TEST_MODEL_SDKS names no folder of clients; `.ci/run sdks` installs them");
        return;
    };
    let server = Provider::talking();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdks/talk.py");
    let output = Command::new(folder.join("venv/bin/python"))
        .arg(script)
        .args([part, &server.url])
        .env_clear()
        .output()
        .expect("the Python of the clients");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{part}: {text}");
    assert!(server.asked().len() >= 5, "{part}: a script that asks nothing shows nothing");
}

#[test]
fn anthropic() {
    talk("anthropic");
}

#[test]
fn openai_chat() {
    talk("chat");
}

#[test]
fn openai_responses() {
    talk("responses");
}

#[test]
fn google() {
    talk("gemini");
}

#[test]
fn ollama() {
    talk("ollama");
}
