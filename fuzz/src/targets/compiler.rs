//! Text → code.

use crate::kit::{LIMITS, RUNTIME};
use ptc_bytecode::{code_bytes, decode, disassemble, encode, verify};
use ptc_compiler::{Options, Scope, compile};
use ptc_runtime::Prelude;

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    let made = [true, false].map(|optimize| {
        let options = Options { optimize, ..Options::default() };
        match compile(text, &Scope::default(), &LIMITS, options) {
            Ok(artifact) => {
                let file = encode(&artifact);
                let again = compile(text, &Scope::default(), &LIMITS, options).expect("compiled before");
                assert!(file == encode(&again), "compiled twice, {text:?} gives other bytes");
                // By bytes: NaN is not equal to itself.
                assert!(decode(&file).is_ok_and(|read| encode(&read) == file), "{text:?}");
                let _ = disassemble(&artifact, Some(text));
                assert!(!code_bytes(&artifact).is_empty());
                if let Err(problem) = verify(artifact) {
                    // Only exceeding a limit may cause a refusal.
                    assert_eq!(problem.code.reason(), "limit_exceeded", "{}: {text:?}", problem.message);
                }
                true
            }
            Err(problems) => {
                assert!(!problems.is_empty(), "{text:?}");
                for problem in problems {
                    let shown = problem.to_text(text);
                    assert!(problem.code.reason() != "internal_error", "{shown}");
                    assert!(shown.len() < 4_000, "{shown}");
                }
                false
            }
        }
    });
    assert_eq!(made[0], made[1], "optimised or not, {text:?} compiles or does not");
    if text.contains("(ns") {
        library(text);
    }
}

/// Compiles the text as a library, and checks its file.
fn library(text: &str) {
    if let Ok(prelude) = Prelude::compile(&RUNTIME, text) {
        let bytes = prelude.to_bytes();
        let again = Prelude::load(&RUNTIME, &bytes, &Default::default()).expect("what was written is read");
        assert!(again.to_bytes() == bytes, "{text:?}");
    }
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = crate::kit::corpus();
    seeds.extend(crate::kit::files("examples", ".clj"));
    seeds.extend((0..100).map(|seed| {
        let bytes = ptc_snapshots::generate::bytes(seed);
        ptc_snapshots::generate::program(&bytes).into_bytes()
    }));
    seeds
}
