//! Files that are wrong inside but whose hashes are right go through load, verify and a run. Whatever
//! happens, nothing panics, hangs or says "internal error".
//!
//! `PTC_MUTANTS=1000000 cargo test -p ptc-runtime --test preludes mutants` looks at more of them.

use super::common::*;
use ptc_bytecode::{Container, Op, PreludeFile, Section, code_bytes, encode_prelude, kind, seal};
use ptc_runtime::{Attach, Grants, Limits, LoadOptions, Prelude, Runtime};

const SOURCE: &str = "(ns m) (def k {:a [1 2] :b \"text\"}) (def f (fn [x] (+ x 1)))
    (defn- helper [x] (if (map? x) (:a x) [x]))
    (defn loops [n] (loop [i 0 acc []] (if (< i n) (recur (inc i) (conj acc (helper i))) acc)))
    (defn calls [x] (tool/call {:server \"s\" :tool \"t\" :args {:x x}}))
    (defn data [] (get-in data/rows [0 :id]))
    (defn many ([] (f 1)) ([a & more] (reduce + a (map f more))))
    (defn branches [x] (cond (nil? x) :nil (string? x) (str x k) :else {:x x :k k}))";

const PROGRAM: &str = "[(m/loops 3) (m/calls 1) (m/data) (m/many) (m/many 1 2 3) (m/branches nil) (m/branches \"a\") m/k ((m/f) 1)]";

/// Small numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below.max(1)
    }
}

fn count() -> usize {
    std::env::var("PTC_MUTANTS").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000)
}

fn small(runtime: Runtime) -> Runtime {
    runtime.limits(Limits { fuel: 20_000, memory_bytes: 2_000_000, timeout_ms: 2_000, ..Limits::default() })
}

/// Loads, and runs what loads. True if it did.
fn try_out(bytes: &[u8]) -> bool {
    let Ok(prelude) = Prelude::load(&runtime(), bytes, &LoadOptions::default()) else { return false };
    // What was loaded can be written, shown and looked up.
    let _ = (prelude.to_bytes(), prelude.inventory(Default::default()));
    let tools = stub();
    let attached = match small(runtime()).attach(&prelude, &Attach::to(&tools)) {
        Ok(attached) => attached,
        Err(failure) => {
            assert_ne!(failure.reason(), "internal_error", "{failure}");
            return true;
        }
    };
    let grants = Grants::new().json("rows", "[{\"id\": 1}]").unwrap();
    let everything = prelude.exports().iter().map(|export| match export.is_constant() {
        true => export.reference(),
        false => format!("({} {})", export.reference(), "1 ".repeat(export.min_arity())),
    });
    for program in std::iter::once(PROGRAM.to_string()).chain(everything) {
        if let Err(failure) = attached.eval(&program, &grants, &tools) {
            assert_ne!(failure.reason(), "internal_error", "{program}\n{failure}");
        }
    }
    let _ = attached.eval("[(all-ns) (dir 'm) (apropos \"loops\") (source m/loops)]", &grants, &tools);
    true
}

#[test]
fn the_original_runs() {
    assert!(try_out(&compiled(SOURCE).to_bytes()));
    let grants = Grants::new().json("rows", "[{\"id\": 7}]").unwrap();
    let found = attached(SOURCE, &stub()).eval(PROGRAM, &grants, &stub()).unwrap();
    assert!(found.print().unwrap().starts_with("[[[0] [1] [2]] {"), "{}", found.print().unwrap());
}

#[test]
fn mutants_of_sections() {
    let bytes = compiled(SOURCE).to_bytes();
    let container = Container::read(&bytes).unwrap();
    let mut dice = Dice(1);
    let mut ran = 0;
    for _ in 0..count() {
        let mut bodies: Vec<(u32, bool, Vec<u8>)> =
            container.sections.iter().map(|s| (s.kind, s.ancillary, s.body.to_vec())).collect();
        let which = dice.roll(bodies.len());
        for _ in 0..=dice.roll(3) {
            bend(&mut bodies[which].2, &mut dice);
        }
        // The hash of the code in the manifest is put right half of the time.
        let sections: Vec<Section<'_>> = bodies
            .iter()
            .map(|(kind, ancillary, body)| Section { kind: *kind, ancillary: *ancillary, body })
            .collect();
        ran += usize::from(try_out(&seal(container.header.flags, &sections)));
    }
    assert!(ran < count());
}

#[test]
fn mutants_of_structure() {
    let file = compiled(SOURCE).to_file();
    let mut dice = Dice(2);
    let (mut ran, mut tried) = (0, 0);
    for _ in 0..count() {
        let mut bent = file.clone();
        for _ in 0..=dice.roll(2) {
            bend_file(&mut bent, &mut dice);
        }
        // As a forger would: every hash and total put right.
        let bytes = encode_prelude(&bent.sealed());
        tried += 1;
        ran += usize::from(try_out(&bytes));
    }
    // Some changes are harmless: another constant, another name. They must run too.
    assert!(ran > 0 && ran < tried, "{ran} of {tried}");
}

#[test]
fn any_bytes() {
    let mut dice = Dice(3);
    for length in 0..400 {
        let bytes: Vec<u8> = (0..length).map(|_| dice.roll(256) as u8).collect();
        assert!(!try_out(&bytes));
        let code = Section { kind: kind::CODE, ancillary: false, body: &bytes };
        assert!(!try_out(&seal(0, &[code])));
        let manifest = Section { kind: kind::MANIFEST, ancillary: false, body: &bytes };
        let code = code_bytes(&Default::default());
        let code = Section { kind: kind::CODE, ancillary: false, body: &code };
        assert!(!try_out(&seal(0, &[manifest, code])));
    }
}

fn bend(body: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.roll(body.len());
    if body.is_empty() {
        return body.push(dice.roll(256) as u8);
    }
    match dice.roll(5) {
        0 => body[at] ^= 1 << dice.roll(8),
        1 => body[at] = dice.roll(256) as u8,
        2 => body.insert(at, dice.roll(256) as u8),
        3 => drop(body.splice(at..at + 1, [])),
        _ => {
            let from = dice.roll(body.len());
            let len = dice.roll(12).min(body.len() - at.max(from));
            body.copy_within(from..from + len, at);
        }
    }
}

/// One change to what the file means.
fn bend_file(file: &mut PreludeFile, dice: &mut Dice) {
    let artifact = &mut file.artifact;
    match dice.roll(9) {
        0 => {
            let block = dice.roll(artifact.blocks.len());
            let ops = &mut artifact.blocks[block].ops;
            let (at, from) = (dice.roll(ops.len()), dice.roll(ops.len()));
            ops[at] = ops[from];
        }
        1 => {
            // An instruction with other operands, through its bytes.
            let block = dice.roll(artifact.blocks.len());
            let ops = &mut artifact.blocks[block].ops;
            let at = dice.roll(ops.len());
            let mut bytes = postcard::to_stdvec(&ops[at]).unwrap();
            let byte = dice.roll(bytes.len());
            bytes[byte] = dice.roll(256) as u8;
            if let Ok(op) = postcard::from_bytes::<Op>(&bytes) {
                ops[at] = op;
            }
        }
        2 => {
            let block = dice.roll(artifact.blocks.len());
            artifact.blocks[block].regs = dice.roll(300) as u16;
        }
        3 => {
            let (a, b) = (dice.roll(artifact.consts.len()), dice.roll(artifact.consts.len()));
            artifact.consts.swap(a, b);
        }
        4 => {
            let (a, b) = (dice.roll(artifact.imports.len()), dice.roll(artifact.imports.len()));
            artifact.imports.swap(a, b);
        }
        5 => {
            let (a, b) = (dice.roll(artifact.functions.len()), dice.roll(artifact.functions.len()));
            artifact.functions.swap(a, b);
        }
        6 => {
            let export = dice.roll(file.manifest.exports.len());
            let export = &mut file.manifest.exports[export];
            export.requires = vec![["tool:x", "upstream:s/t", "nothing", ""][dice.roll(4)].into()];
        }
        7 => {
            let block = dice.roll(artifact.blocks.len());
            let ops = &mut artifact.blocks[block].ops;
            let at = dice.roll(ops.len());
            ops.remove(at);
        }
        _ => {
            let function = dice.roll(artifact.functions.len());
            let arity = &mut artifact.functions[function].arities[0];
            match dice.roll(3) {
                0 => arity.required = dice.roll(256) as u8,
                1 => arity.rest = !arity.rest,
                _ => arity.block = dice.roll(20) as u32,
            }
        }
    }
}
