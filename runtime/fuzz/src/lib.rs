//! What the fuzz targets do with their bytes. Each function returns, or panics on a finding.
#![forbid(unsafe_code)]

mod forge;

use forge::{SNAPSHOT_SOURCE_BYTES, mutate, seal_artifact, seal_snapshot};
use ptc_bytecode::{Artifact, Node, decode, encode, verify};
use ptc_compiler::{Options, Scope, compile, parse};
use ptc_runtime::{
    Attach, Datum, Failure, Grants, Limits, LoadOptions, Outcome, Prelude, Run, Runtime, Step, Tools,
};
use ptc_snapshots::generate;
use ptc_snapshots::oracle::{Evaluator, NO_OPINION, Oracle};
use std::sync::LazyLock;

const LIMITS: Limits = Limits {
    fuel: 20_000,
    memory_bytes: 1_000_000,
    stack_bytes: 500_000,
    granted_bytes: 1_000_000,
    timeout_ms: 2_000,
    loop_iterations: 0,
    tool_calls: 50,
    output_bytes: 20_000,
    print_chars: 500,
    result_bytes: 1_000_000,
    parallel_in_flight: 8,
    parallel_depth: 2,
    source_bytes: 20_000,
    symbols: 1_000,
    nesting: 64,
    digits: 100,
    compile_ms: 5_000,
};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Runtime::with_core(ptc_preludes::core()).expect("the core library loads").limits(LIMITS)
});

/// Reasons that say how far a run got. What was left out may cost differently on the way there.
const STOPS: &[&str] = &["fuel_exceeded", "memory_exceeded", "stack_exceeded", "output_exceeded", "timeout"];

fn told(outcome: &Result<Outcome, Failure>) -> Result<String, &'static str> {
    match outcome {
        Ok(outcome) => outcome.print().map_err(|fault| fault.code().reason()),
        Err(failure) => {
            let ours = failure.reason() == "internal_error" || failure.reason() == "compile_error";
            assert!(!ours, "{failure}");
            Err(failure.reason())
        }
    }
}

/// What only forged code or a forged run can do, since nothing says which registers hold builders
/// and cursors: the run stops with these words, and nothing else comes of it.
const FORGED: &[&str] = &["a builder was used after it was built", "a cursor is not a number"];

/// Text → forms, or diagnostics that can be shown.
pub fn lex_parse(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let arena = bumpalo::Bump::new();
    match parse(&text, &arena, &LIMITS) {
        Ok(forms) => forms.iter().for_each(|form| drop(form.to_string())),
        Err(problems) => problems.iter().for_each(|problem| drop(problem.to_text(&text))),
    }
}

/// Text → compile → a small run, with and without optimisation.
pub fn compile_run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let [fast, plain] = [true, false].map(|optimize| {
        let runtime = RUNTIME.clone().optimize(optimize);
        let outcome = runtime.eval(&text, &Grants::new(), &Tools::new());
        let fuel = outcome.as_ref().map_or_else(|failure| failure.fuel, |outcome| outcome.fuel);
        (told(&outcome), fuel)
    });
    if ![&fast, &plain].iter().any(|(answer, _)| *answer == Err("timeout")) {
        assert_eq!(fast, plain, "{text}");
    }
}

/// Programs whose artifacts and suspended runs are bent.
const SEEDS: &[&str] = &[
    "(defn f [a & r] (if r (+ a (count r)) [a])) (map f [1 2] [3 4])",
    "(loop [i 0 acc {}] (if (< i 9) (recur (inc i) (assoc acc i [(str i) :k 1.5])) acc))",
    "(def x 1) (let [g (fn [y] (+ x y (tool/id {:x y})))] (reduce + (map g [1 2 3])))",
    "(pmap (fn [x] (let [k [x x]] (tool/id {:x k}))) [1 2 3])",
    "(sort (fn [a b] (< (:x (tool/id {:x a})) (:x b))) [{:x 2} {:x 1} {:x 3}])",
    "(for [x (range 4) :when (odd? x)] {:a x \"b\" #{x} :c (tool/id :x 99999999999999999999)})",
    "(apply (fn ([a] a) ([a b & c] [a b c (tool/id {})])) (range 6))",
];

/// The seed a first byte names, and the rest.
fn seed(bytes: &[u8]) -> (&'static str, &[u8]) {
    match bytes.split_first() {
        Some((first, rest)) => (SEEDS[usize::from(*first) % SEEDS.len()], rest),
        None => (SEEDS[0], bytes),
    }
}

fn compiled(source: &str) -> Artifact {
    let options = Options::default();
    compile(source, &Scope::default(), &LIMITS, options).expect("seeds compile")
}

/// Bytes → decode → verify → link → a small run. The bytes are a file as it is, or changes to a
/// valid artifact whose hash is then put right.
pub fn decode_verify_run(bytes: &[u8]) {
    if let Ok(artifact) = decode(bytes) {
        let _ = verify(artifact);
    }
    let (source, changes) = seed(bytes);
    let file = seal_artifact(&mutate(&ptc_bytecode::code_bytes(&compiled(source)), changes));
    let Ok(artifact) = decode(&file) else { return };
    assert_eq!(encode(&artifact), encode(&decode(&encode(&artifact)).expect("decodes again")));
    let _ = ptc_bytecode::disassemble(&artifact, Some(source));
    if verify(artifact).is_err() {
        return;
    }
    // A run that has not begun carries its code along; give it this code instead.
    let program = RUNTIME.compile(source).expect("seeds compile");
    let snapshot = RUNTIME.start(&program).expect("starts").snapshot().expect("saves");
    let body = forge::replace_artifact(&snapshot[SNAPSHOT_SOURCE_BYTES + source.len()..], &file);
    if let Ok(run) = RUNTIME.load(&seal_snapshot(source, &body), &Grants::new()) {
        finish(run);
    }
}

/// Bytes → load a prelude → attach → a small run. The bytes are a file as it is, or changes to a section of
/// a valid one whose hashes are then put right.
pub fn prelude_load(bytes: &[u8]) {
    static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let source = "(ns m) (def k {:a [1 2]}) (defn- h [x] [x k]) (defn f [x] (map h x)) \
            (defn g [x] (tool/call {:server \"s\" :tool \"t\" :args {:x x}}))";
        Prelude::compile(&RUNTIME, source).expect("a prelude").to_bytes()
    });
    let try_out = |bytes: &[u8]| {
        let Ok(prelude) = Prelude::load(&RUNTIME, bytes, &LoadOptions::default()) else { return };
        let tools = Tools::new();
        let Ok(attached) = RUNTIME.attach(&prelude, &Attach::to(&tools)) else { return };
        let Ok(program) = attached.compile("[(m/f [1 2]) m/k (m/g 1)]") else { return };
        if let Ok(run) = attached.start(&program) {
            finish(run);
        }
    };
    try_out(bytes);
    let Some((which, changes)) = bytes.split_first() else { return };
    let container = ptc_bytecode::Container::read(&FILE).expect("sound");
    let at = usize::from(*which) % container.sections.len();
    let bent = mutate(container.sections[at].body, changes);
    let mut sections = container.sections.clone();
    sections[at].body = &bent;
    try_out(&ptc_bytecode::seal(container.header.flags, &sections));
}

/// Bytes → load a suspended run → go on.
pub fn snapshot_load(bytes: &[u8]) {
    let _ = RUNTIME.load(bytes, &Grants::new());
    let (source, changes) = seed(bytes);
    let mut run = RUNTIME.start(&RUNTIME.compile(source).expect("seeds compile")).expect("starts");
    if !matches!(run.step(), Step::NeedsTools(_)) {
        run = RUNTIME.start(&RUNTIME.compile(source).expect("seeds compile")).expect("starts");
    }
    let saved = run.snapshot().expect("saves");
    let body = forge::snapshot_body(&saved[SNAPSHOT_SOURCE_BYTES + source.len()..]);
    let bent = seal_snapshot(source, &mutate(body, changes));
    if let Ok(run) = RUNTIME.load(&bent, &Grants::new()) {
        let again = run.snapshot().expect("what was loaded can be saved");
        drop(RUNTIME.load(&again, &Grants::new()));
        finish(run);
    }
}

/// Takes a run to its end with some answer to every call.
fn finish(mut run: Run) {
    for _ in 0..60 {
        match run.step() {
            Step::Done(Err(failure)) if FORGED.contains(&&*failure.diagnostic().message) => return,
            Step::Done(outcome) => {
                let _ = told(&outcome);
                return;
            }
            Step::NeedsTools(calls) => {
                for call in calls {
                    let _ = run.resume(&call.id, Ok(Datum::scalar(Node::Int(1)).into()));
                }
            }
        }
    }
}

/// Bytes → a generated program: the runtime and the slow evaluator agree.
pub fn differential(bytes: &[u8]) {
    let source = generate::program(bytes);
    let outcome = RUNTIME.eval(&source, &Grants::new(), &Tools::new());
    let answer = told(&outcome);
    if answer.as_ref().is_err_and(|reason| STOPS.contains(reason)) {
        return;
    }
    let opinion = Evaluator::new(200_000, 3_000).eval(&source);
    if opinion != Err(NO_OPINION) {
        assert_eq!(answer, opinion, "the runtime and the evaluator on\n{source}");
    }
}

#[cfg(test)]
mod tests {
    use ptc_snapshots::generate;

    /// Every target over the same inputs: some bytes, and all of one valid input's neighbours.
    #[test]
    fn targets_take_any_bytes() {
        for seed in 0..400 {
            let mut bytes = generate::bytes(seed);
            bytes.truncate(4 + seed as usize % 60);
            super::lex_parse(&bytes);
            super::compile_run(&bytes);
            super::compile_run(generate::program(&bytes).as_bytes());
            super::decode_verify_run(&bytes);
            super::snapshot_load(&bytes);
            super::differential(&bytes);
        }
    }

    #[test]
    fn one_byte_changed_anywhere() {
        for seed in 0..super::SEEDS.len() as u8 {
            for at in 0..700u16 {
                for kind in 0..4 {
                    let [low, high] = at.to_le_bytes();
                    let bytes = [seed, kind, low, high, 1 + (at % 7) as u8];
                    super::decode_verify_run(&bytes);
                    super::snapshot_load(&bytes);
                }
            }
        }
    }
}
