//! Bytes → artifact → verify → a small run. The bytes are a file as it is, changes to the bytes of a code section, or
//! changes to what the code says; hashes and lengths are put right, so that what was changed is looked at.

use crate::bend::bend;
use crate::forge::{self, mutate, seal_code, seal_snapshot};
use crate::kit::{LIMITS, PROGRAMS, RUNTIME, choices, finish};
use crate::take::Take;
use ptc_bytecode::{code_bytes, decode, disassemble, encode, verify};
use ptc_compiler::{Options, Scope, compile};
use ptc_runtime::Grants;
use ptc_snapshots::generate::program;

/// See the table.
pub fn body(bytes: &[u8]) {
    if let Ok(artifact) = decode(bytes) {
        let _ = verify(artifact);
    }
    is_let_through(bytes);
}

/// Whether what the bytes make of an artifact is let through, and so was run.
pub fn is_let_through(bytes: &[u8]) -> bool {
    let mut take = Take::new(bytes);
    let way = take.pick(4);
    let which = take.pick(PROGRAMS.len() + 1);
    let source = match PROGRAMS.get(which) {
        Some(source) => (*source).to_string(),
        // As many bytes as make a short program; the others change it.
        None => program(&take.rest()[..take.rest().len().min(60)]),
    };
    let Ok(mut artifact) = compile(&source, &Scope::default(), &LIMITS, Options::default()) else {
        return false;
    };
    let file = match way {
        0 => seal_code(&mutate(&code_bytes(&artifact), take.rest())),
        _ => {
            bend(&mut artifact, &mut take);
            // Positions do not matter here, and must not be in the way.
            artifact.blocks.iter_mut().for_each(|block| block.spans.clear());
            encode(&artifact)
        }
    };
    let Ok(artifact) = decode(&file) else { return false };
    assert!(encode(&artifact) == file, "read and written again, it is another");
    let _ = disassemble(&artifact, Some(&source));
    artifact.entry.is_some() && verify(artifact).is_ok() && run(&source, &file)
}

/// A run that has not begun carries its code along; gives it this code instead.
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

/// See the table.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = choices(60);
    seeds.push(encode(
        &compile(PROGRAMS[0], &Scope::default(), &LIMITS, Options::default()).expect("compiles"),
    ));
    // One change each, to every program.
    for which in 0..PROGRAMS.len() as u8 {
        seeds.extend((0..12).map(|change| vec![1, which, 1, change, which, change, which, 7, 1, 5, 200]));
        seeds.push(vec![0, which, 1, 9, 0, 3]);
    }
    seeds
}
