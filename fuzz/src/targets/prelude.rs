//! Bytes → `.ptcp` file → attach → a small run. The bytes are a file, changes to a section of a valid file, or changes
//! to the meaning of its code. Hashes are corrected.

use crate::bend::bend;
use crate::forge::mutate;
use crate::kit::{RUNTIME, choices, files, finish};
use crate::take::Take;
use ptc_bytecode::{Container, decode_prelude, encode_prelude, seal};
use ptc_runtime::{Attach, LoadOptions, Prelude, Tools};
use std::sync::LazyLock;

const SOURCE: &str = "(ns m \"Doc.\") (def k {:a [1 2]}) (defn- h [x] [x k]) (defn f \"F.\" [x] (map h x))
    (defn g [x] (tool/call {:server \"s\" :tool \"t\" :args {:x x}}))
    (defn many ([] (f [1])) ([a & more] (reduce + a more)))";

const PROGRAM: &str = "[(m/f [1 2]) m/k (m/g 1) (m/many) (m/many 1 2 3) (doc m/f) (source m/f) (dir m)]";

static FILE: LazyLock<Vec<u8>> =
    LazyLock::new(|| Prelude::compile(&RUNTIME, SOURCE).expect("a prelude").to_bytes());

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    runs(bytes);
    is_let_through(bytes);
}

/// Builds a file from the bytes and runs it if it is accepted; returns whether it was.
pub fn is_let_through(bytes: &[u8]) -> bool {
    runs(&bent(bytes))
}

/// Returns a valid file, changed by the bytes.
fn bent(bytes: &[u8]) -> Vec<u8> {
    let mut take = Take::new(bytes);
    if take.pick(2) == 0 {
        let container = Container::read(&FILE).expect("sound");
        let at = take.pick(container.sections.len());
        let bent = mutate(container.sections[at].body, take.rest());
        let mut sections = container.sections.clone();
        sections[at].body = &bent;
        return seal(container.header.flags, &sections);
    }
    let mut file = decode_prelude(&FILE).expect("sound");
    bend(&mut file.artifact, &mut take);
    encode_prelude(&file.sealed())
}

/// Loads a file and runs a program that uses it if it is accepted; returns whether it was.
fn runs(bytes: &[u8]) -> bool {
    let _ = Prelude::claims(bytes);
    let Ok(prelude) = Prelude::load(&RUNTIME, bytes, &LoadOptions::default()) else { return false };
    assert!(prelude.to_bytes() == bytes, "read and written again, it is another");
    let tools = Tools::new().with_answer("call", |args| Ok(args.datum().clone().into()));
    let Ok(attached) = RUNTIME.clone().with_tools(tools).attach(&prelude, &Attach::new()) else {
        return false;
    };
    let _ = attached.inventory(Default::default());
    let Ok(program) = attached.compile(PROGRAM) else { return false };
    let Ok(run) = attached.start(&program) else { return false };
    finish(run);
    true
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = choices(40);
    seeds.extend((0..60).map(|n| vec![n % 2, n % 5, 1, n, n / 2, 3, n, 9]));
    let sources = files("examples/preludes", ".clj");
    let compiled = sources.iter().filter_map(|source| std::str::from_utf8(source).ok());
    seeds.extend(compiled.filter_map(|source| Some(Prelude::compile(&RUNTIME, source).ok()?.to_bytes())));
    seeds
}
