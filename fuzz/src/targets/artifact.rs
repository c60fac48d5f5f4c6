//! Bytes → artifact → verify → a small run. The bytes are a file, changes to the bytes of a code section, or
//! changes to the meaning of the code. Hashes and lengths are corrected, so that the changed part is read at
//! all.

use crate::bend::bend;
use crate::forge::{self, mutate, seal_code, seal_snapshot};
use crate::kit::{LIMITS, PROGRAMS, RUNTIME, choices, finish};
use crate::take::Take;
use ptc_bytecode::{code_bytes, decode, disassemble, encode, verify};
use ptc_compiler::{Options, Scope, compile};
use ptc_runtime::Grants;
use ptc_snapshots::generate::program;

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    if let Ok(artifact) = decode(bytes) {
        let _ = verify(artifact);
    }
    is_let_through(bytes);
}

/// Builds an artifact from the bytes and runs it if it is accepted; returns whether it was.
pub fn is_let_through(bytes: &[u8]) -> bool {
    let mut take = Take::new(bytes);
    let way = take.pick(4);
    let which = take.pick(PROGRAMS.len() + 1);
    let source = match PROGRAMS.get(which) {
        Some(source) => (*source).to_string(),
        // The first bytes make a short program; the others change it.
        None => program(&take.rest()[..take.rest().len().min(60)]),
    };
    let Ok(mut artifact) = compile(&source, &Scope::default(), &LIMITS, Options::default()) else {
        return false;
    };
    let file = match way {
        0 => seal_code(&mutate(&code_bytes(&artifact), take.rest())),
        _ => {
            bend(&mut artifact, &mut take);
            // Positions do not matter here, and must not cause a refusal.
            artifact.blocks.iter_mut().for_each(|block| block.spans.clear());
            encode(&artifact)
        }
    };
    let Ok(artifact) = decode(&file) else { return false };
    assert!(encode(&artifact) == file, "read and written again, it is another");
    let _ = disassemble(&artifact, Some(&source));
    artifact.entry.is_some() && verify(artifact).is_ok() && run(&source, &file)
}

/// Replaces the code in a saved run that has not started, and runs it if it is accepted; returns whether it was.
fn run(source: &str, file: &[u8]) -> bool {
    let Ok(program) = RUNTIME.compile(source) else { return false };
    let saved = RUNTIME.start(&program).expect("starts").snapshot().expect("saves");
    let body = forge::replace_artifact(forge::machine_of(&saved), file);
    match RUNTIME.load(&seal_snapshot(&saved, &body), &Grants::new()) {
        Ok(run) => {
            finish(run);
            true
        }
        Err(_) => false,
    }
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = choices(60);
    seeds.push(encode(
        &compile(PROGRAMS[0], &Scope::default(), &LIMITS, Options::default()).expect("compiles"),
    ));
    // Every program with one change.
    for which in 0..PROGRAMS.len() as u8 {
        seeds.extend((0..12).map(|change| vec![1, which, 1, change, which, change, which, 7, 1, 5, 200]));
        seeds.push(vec![0, which, 1, 9, 0, 3]);
    }
    seeds
}
