//! Generated programs: the runtime and the slow evaluator agree, the runtime gives one answer for one amount of
//! fuel in every mode (optimised or not, collecting at every safepoint or not, changing collections in place or
//! not, fusing loops or not), and `pmap` gives the result of `map`.
#![allow(missing_docs)]

use ptc_runtime::{Limits, Runtime};
use ptc_snapshots::generate::{accumulating_program, bytes, pipeline_program, program, shrink};
use ptc_snapshots::oracle::{Evaluator, NO_OPINION, Oracle, Subject};
use ptc_snapshots::setting;
use ptc_snapshots::tried::tried;

/// Outcome of a program in one mode of the runtime.
#[derive(PartialEq, Debug)]
struct Observed {
    answer: Result<String, &'static str>,
    prints: Vec<String>,
    fuel: u64,
}

struct Judges {
    modes: Vec<(&'static str, Subject)>,
    evaluator: Evaluator,
}

/// Reasons that depend on how far a run got, not on the program's meaning: the evaluator has other limits.
const LIMITS: &[&str] = &["fuel_exceeded", "memory_exceeded", "stack_exceeded", "output_exceeded"];

fn base() -> Runtime {
    let limits = Limits { fuel: 300_000, timeout_ms: 120_000, ..Limits::default() };
    Runtime::with_core(ptc_preludes::core()).expect("the core library loads").limits(limits)
}

impl Judges {
    fn new() -> Judges {
        let mode = |optimize, stress| Subject::new(base().optimize(optimize).stress(stress));
        let modes = vec![
            ("optimised", mode(true, false)),
            ("plain", mode(false, false)),
            ("optimised, collecting", mode(true, true)),
            ("plain, collecting", mode(false, true)),
            ("never in place", Subject::new(base().in_place(false))),
            ("never fused", Subject::new(base().fused(false))),
        ];
        Judges { modes, evaluator: Evaluator::default() }
    }

    /// Returns the disagreement about this program, if there is one; and whether the evaluator had an opinion.
    fn judge(&mut self, source: &str) -> (Option<String>, bool) {
        let mut told: Vec<(&str, Observed)> = Vec::new();
        for (mode, subject) in &mut self.modes {
            let answer = subject.eval(source);
            told.push((mode, Observed { answer, prints: subject.prints().to_vec(), fuel: subject.fuel() }));
        }
        let first = &told[0].1;
        if first.answer == Err("internal_error") || told.iter().any(|(_, other)| other != first) {
            return (Some(told.iter().map(|(mode, told)| format!("{mode}: {told:?}\n")).collect()), true);
        }
        let opinion = self.evaluator.eval(source);
        let has_opinion =
            opinion != Err(NO_OPINION) && !first.answer.as_ref().is_err_and(|reason| LIMITS.contains(reason));
        if has_opinion && (opinion != first.answer || self.evaluator.prints() != first.prints) {
            let evaluator = (opinion, self.evaluator.prints());
            return (Some(format!("the runtime: {first:?}\nthe evaluator: {evaluator:?}\n")), true);
        }
        (None, has_opinion)
    }
}

/// Wraps some calls of a program in `try`; returns it unchanged if it has none.
fn trying(source: &str, seed: u64) -> String {
    tried(source, seed).unwrap_or_else(|| source.to_string())
}

#[test]
fn generated_programs_with_try_have_one_answer() {
    let (start, cases) = (setting("PTC_TEST_SEED", 0), setting("PTC_TEST_CASES", 3_000));
    let mut judges = Judges::new();
    let (mut trying_ones, mut catching) = (0, 0);
    for seed in start..start + cases {
        let plain = program(&bytes(seed));
        let Some(source) = tried(&plain, seed) else { continue };
        trying_ones += 1;
        let answers = |source: &str, judges: &mut Judges| judges.modes[0].1.eval(source);
        let answer = answers(&source, &mut judges);
        // Endless recursion takes minutes if garbage is collected at every step.
        if answer.as_ref().is_err_and(|reason| LIMITS.contains(reason)) {
            continue;
        }
        let (problem, _) = judges.judge(&source);
        assert!(problem.is_none(), "seed {seed}\n{source}\n{}", problem.unwrap_or_default());
        catching += u64::from(answer.is_ok() && answers(&plain, &mut judges).is_err());
    }
    println!("{trying_ones} of {cases} programs with `try`, {catching} of them stopped without it");
    assert!(trying_ones * 10 >= cases * 6 && catching * 100 >= cases, "{trying_ones}, {catching}");
}

/// Describes a disagreement: the smallest program found, its code, all answers.
fn story(judges: &mut Judges, found: &[u8]) -> String {
    let small = shrink(found, |bytes| judges.judge(&program(bytes)).0.is_some());
    let source = program(&small);
    let answers = judges.judge(&source).0.unwrap_or_default();
    let listing = match base().compile(&source) {
        Ok(compiled) => ptc_bytecode::disassemble(compiled.artifact(), Some(&source)),
        Err(failure) => failure.to_string(),
    };
    format!("----- SOURCE\n{source}\n----- BYTECODE\n{listing}\n----- ANSWERS\n{answers}")
}

#[test]
fn generated_programs_have_one_answer() {
    let (start, cases) = (setting("PTC_TEST_SEED", 0), setting("PTC_TEST_CASES", 3_000));
    let mut judges = Judges::new();
    let (mut opinions, mut values, mut stories) = (0, 0, Vec::new());
    for seed in start..start + cases {
        let bytes = bytes(seed);
        let (problem, has_opinion) = judges.judge(&program(&bytes));
        opinions += u64::from(has_opinion);
        values += u64::from(judges.evaluator.eval(&program(&bytes)).is_ok());
        if problem.is_some() {
            stories.push(format!("===== seed {seed}\n{}", story(&mut judges, &bytes)));
            if stories.len() >= 5 {
                break;
            }
        }
    }
    println!("{cases} programs, {opinions} with a second opinion, {values} of them with a value");
    assert!(stories.is_empty(), "{}", stories.join("\n"));
    assert!(opinions * 10 >= cases * 8, "the evaluator must know most of what is generated: {opinions}");
    assert!(values * 10 >= cases * 4, "too many programs stop early: {values}");
}

/// Loops that change collections step by step, and hold on to some of them: what anybody holds never changes, whether
/// collections are changed in place or not.
#[test]
fn accumulators_have_one_answer() {
    let (start, cases) = (setting("PTC_TEST_SEED", 0), setting("PTC_TEST_CASES", 500));
    let mut judges = Judges::new();
    // Collecting at every step of loops as long as these takes minutes.
    judges.modes.retain(|(mode, _)| *mode != "plain, collecting");
    let (mut values, mut opinions, mut kept) = (0, 0, 0);
    for seed in start..start + cases {
        let source = accumulating_program(&bytes(seed));
        let (problem, has_opinion) = judges.judge(&source);
        assert!(problem.is_none(), "seed {seed}\n{source}\n{}", problem.unwrap_or_default());
        opinions += u64::from(has_opinion);
        if let Ok(text) = judges.modes[0].1.eval(&source) {
            values += 1;
            kept += u64::from(text.contains("[true "));
            // Nothing else in these programs is false: a value is not what it was when it was kept.
            assert!(!text.contains("[false "), "seed {seed}\n{source}\n{text}");
        }
    }
    println!(
        "{cases} programs, {values} with a value, {kept} that keep some, {opinions} with a second opinion"
    );
    assert!(values * 10 >= cases * 6 && kept * 10 >= cases * 2, "{values}, {kept}");
}

/// Loops that walk each other's results: they give the same, whether they run one by one or as one loop, also if fuel runs out
/// anywhere in them.
#[test]
fn pipelines_have_one_answer() {
    let (start, cases) = (setting("PTC_TEST_SEED", 0), setting("PTC_TEST_CASES", 2_000));
    let (base, mut judges) = (base(), Judges::new());
    let (mut values, mut opinions) = (0, 0);
    for seed in start..start + cases {
        let source = pipeline_program(&bytes(seed));
        let (problem, has_opinion) = judges.judge(&source);
        assert!(problem.is_none(), "seed {seed}\n{source}\n{}", problem.unwrap_or_default());
        opinions += u64::from(has_opinion);
        let fuel = judges.modes[0].1.fuel();
        values += u64::from(judges.modes[0].1.eval(&source).is_ok());
        // Half of the programs are cut off at some point.
        let limits =
            Limits { fuel: fuel * (seed % 97) / 97 + seed % 5, timeout_ms: 120_000, ..Limits::default() };
        let observed = |runtime: Runtime| {
            let mut subject = Subject::new(runtime.limits(limits));
            let answer = subject.eval(&source);
            Observed { answer, prints: subject.prints().to_vec(), fuel: subject.fuel() }
        };
        if seed % 2 == 0 {
            assert_eq!(observed(base.clone()), observed(base.clone().fused(false)), "seed {seed}\n{source}");
        }
    }
    println!("{cases} programs, {values} with a value, {opinions} with a second opinion");
    assert!(values * 10 >= cases * 3 && opinions * 10 >= cases * 5, "{values}, {opinions}");
}

/// A sorted set lends elements that have to be found, which the next payment pays: that is no part of the attempt that may
/// come before it.
#[test]
fn what_is_owed_before_an_attempt_is_not_given_back_with_it() {
    let source = "(let [found (mapv (fn [x] x) (sorted-set 3 1 2))]
                    (reduce (fn [sum x] (+ sum x)) 0 (map (fn [x] (* nil x)) found)))";
    let (problem, _) = Judges::new().judge(source);
    assert!(problem.is_none(), "{}", problem.unwrap_or_default());
}

/// Replaces `map` by `pmap` in a program.
fn parallel(source: &str) -> String {
    source.replace("(map (", "(pmap (").replace("(map #", "(pmap #")
}

#[test]
fn what_is_mapped_one_by_one_and_in_parallel_is_the_same() {
    mapped_alike(|source, _| source);
}

/// Checks that a failing branch is caught like its cause, if the program does not inspect the exception.
#[test]
fn what_catches_one_by_one_and_in_parallel_is_the_same() {
    mapped_alike(|source, seed| trying(&source, seed).replace("ArithmeticException", "Exception"));
}

fn mapped_alike(change: impl Fn(String, u64) -> String) {
    let (start, cases) = (setting("PTC_TEST_SEED", 0), setting("PTC_TEST_CASES", 3_000));
    let (mut serial, mut beside) = (Subject::new(base()), Subject::new(base()));
    let (mut changed, mut values) = (0, 0);
    for seed in start..start + cases {
        let source = change(program(&bytes(seed)).replace("(pmap ", "(map "), seed);
        let in_parallel = parallel(&source);
        if in_parallel == source {
            continue;
        }
        changed += 1;
        let (one, mut other) = (serial.eval(&source), beside.eval(&in_parallel));
        values += u64::from(one.is_ok());
        // A failure in a branch has its own reason, which names the branch.
        if other == Err("pmap_error") && one.is_err() {
            other.clone_from(&one);
        }
        // Branches have limits of their own.
        if [&one, &other].iter().any(|told| told.as_ref().is_err_and(|reason| LIMITS.contains(reason))) {
            continue;
        }
        // Prints of branches are dropped.
        assert_eq!(one, other, "seed {seed}\n{in_parallel}");
    }
    println!("{changed} of {cases} programs map something, {values} of them with a value");
    assert!(values * 10 >= cases, "{values}");
}
