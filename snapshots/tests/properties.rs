//! Properties that hold for every value and every program.
#![allow(missing_docs)]

use proptest::prelude::*;
use ptc_bytecode::{Artifact, decode, encode, verify};
use ptc_compiler::{Options, Scope, compile};
use ptc_runtime::{Cancel, Failure, Grants, Limits, Outcome, Runtime, Session};
use ptc_snapshots::{generate, is_stress, runtime, setting};
use std::sync::LazyLock;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(runtime);

fn eval(source: &str) -> Result<String, String> {
    let outcome = RUNTIME.eval(source, &Grants::new());
    let outcome = outcome.map_err(|failure| failure.to_string())?;
    outcome.print().map_err(|fault| fault.to_diagnostic().to_text(source))
}

fn compiled(source: &str, optimize: bool) -> Option<Artifact> {
    let options = Options { optimize, ..Options::default() };
    compile(source, &Scope::default(), &Limits::default(), options).ok()
}

/// Returns settings without a file of seeds: failures found become named tests instead.
fn settings(cases: u32) -> ProptestConfig {
    let cases = u32::try_from(setting("PTC_TEST_CASES", u64::from(cases))).unwrap_or(u32::MAX);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn some_bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

proptest! {
    #![proptest_config(settings(400))]

    /// Printed data reads back as an equal value that prints the same.
    #[test]
    fn read_after_print_is_identity(bytes in some_bytes(120)) {
        let source = generate::datum(&bytes);
        let printed = eval(&source).expect("data has a value");
        prop_assert_eq!(eval(&printed), Ok(printed.clone()), "{}", source);
        let same = eval(&format!("[(= {source} {printed}) (= {source} {source})]"));
        prop_assert_eq!(same, Ok("[true true]".to_string()), "{}\n{}", source, printed);
        // Also as keys: equal data has equal hashes, however it was made.
        let found = eval(&format!("(get {{{printed} :found}} {source})"));
        prop_assert_eq!(found, Ok(":found".to_string()), "{}\n{}", source, printed);
    }

    /// The verifier accepts all output of the compiler, and encoding is unique.
    #[test]
    fn compiled_programs_verify_and_encode_one_way(bytes in some_bytes(400)) {
        let source = generate::program(&bytes);
        for optimize in [true, false] {
            let Some(artifact) = compiled(&source, optimize) else { continue };
            let encoded = encode(&artifact);
            prop_assert_eq!(&encoded, &encode(&compiled(&source, optimize).expect("compiles again")), "{}", source);
            let decoded = decode(&encoded).expect("decodes");
            // By bytes, because a NaN among the constants is not equal to itself.
            prop_assert_eq!(&encode(&decoded), &encoded, "{}", source);
            prop_assert!(verify(decoded).is_ok(), "{} does not verify", source);
        }
    }

    /// Any text compiles or is refused, without an internal error.
    #[test]
    fn any_text_is_an_answer(text in "[()\\[\\]{}#\"'\\\\:;%&^@~` a-z0-9./+*<>=!?_-]{0,60}") {
        let told = RUNTIME.eval(&text, &Grants::new());
        prop_assert!(!told.is_err_and(|failure| failure.reason() == "internal_error"), "{}", text);
    }
}

/// Everything a host can observe of a run.
#[derive(PartialEq, Clone, Debug)]
struct Observed {
    answer: Result<String, (&'static str, String)>,
    prints: Vec<String>,
    fuel: u64,
}

fn observed(outcome: Result<Outcome, Failure>) -> Observed {
    match outcome {
        Ok(outcome) => Observed {
            answer: Ok(outcome.print().expect("prints")),
            prints: outcome.prints.clone(),
            fuel: outcome.fuel,
        },
        Err(failure) => Observed {
            answer: Err((failure.reason(), failure.to_string())),
            prints: failure.prints.clone(),
            fuel: failure.fuel,
        },
    }
}

fn with_fuel(source: &str, fuel: u64) -> Observed {
    let limits = Limits { fuel, ..*RUNTIME.current_limits() };
    observed(RUNTIME.clone().limits(limits).eval(source, &Grants::new()))
}

/// Checks that equal fuel stops at the same place, and that enough fuel, or more, gives the answer.
fn check_fuel(source: &str, points: u64) {
    let whole = with_fuel(source, 1_000_000);
    let is_out = |told: &Observed| told.answer.as_ref().is_err_and(|(reason, _)| *reason == "fuel_exceeded");
    if is_out(&whole) {
        return;
    }
    // The fuel that a value took is enough for it. A fault may come while a native is still being paid for.
    if whole.answer.is_ok() {
        assert_eq!(with_fuel(source, whole.fuel), whole, "{source}\nwith just the fuel it takes");
    }
    let step = (whole.fuel / points).max(1);
    let mut answered = false;
    for fuel in (0..=whole.fuel).step_by(usize::try_from(step).expect("small")).chain([whole.fuel + 10_000]) {
        let stopped = with_fuel(source, fuel);
        assert_eq!(with_fuel(source, fuel), stopped, "{source}\nstops elsewhere with {fuel} fuel");
        // Once there is an answer, it stays. An error is reported even if fuel does not cover the operation it
        // ended, and then uses up the rest.
        answered |= !is_out(&stopped);
        let wanted = Observed {
            fuel: if whole.answer.is_ok() { whole.fuel } else { whole.fuel.min(fuel) },
            ..whole.clone()
        };
        assert!(
            if answered { stopped == wanted } else { is_out(&stopped) },
            "{source}\n{stopped:?}\n{whole:?}"
        );
        assert!(whole.prints.starts_with(&stopped.prints), "{source}\n{stopped:?}");
    }
    assert!(answered, "{source}\nhas an answer: {whole:?}");
}

proptest! {
    #![proptest_config(settings(60))]

    #[test]
    fn more_fuel_never_changes_an_answer(bytes in some_bytes(300)) {
        check_fuel(&generate::program(&bytes), 12);
    }
}

/// Checks that steps short of a whole unit of fuel are free, also if an operation checks on its way whether
/// fuel still covers it.
#[test]
fn steps_short_of_a_unit_are_free() {
    check_fuel("(+ (/ -9223372036854775808 -1) 0 0)", 100);
}

#[test]
fn fuel_is_exact_under_pmap_with_threads() {
    for source in [
        "(pmap inc (range 40))",
        "(reduce + (pmap (fn [x] (reduce + (range x))) (range 64)))",
        "(pmap (fn [x] (pmap (fn [y] (* x y)) (range 5))) (range 9))",
        "(do (println :before) (count (pmap (fn [i] (println i) (str i)) (range 30))))",
        "(pmap (fn [i] (if (= i 7) (+ 1 nil) (reduce * (range 1 (+ i 2))))) (range 20))",
        "(pcalls (fn [] (reduce + (range 100))) (fn [] (sort (fn [a b] (< a b)) [3 1 2])) (fn [] :c))",
        "(let [m {:k [1 2 3]}] (pmap (fn [x] (conj (:k m) x)) (range 20)))",
    ] {
        check_fuel(source, if is_stress() { 20 } else { 150 });
    }
}

fn answers(session: &mut Session, source: &str) -> String {
    match session.eval(source) {
        Ok(outcome) => outcome.print().expect("prints"),
        Err(failure) => failure.reason().to_string(),
    }
}

/// Checks that a session is unchanged and usable after any abnormal end of a program.
#[test]
fn an_interrupted_session_is_intact() {
    let limits = Limits { fuel: 20_000_000, timeout_ms: 60_000, stack_bytes: 1_000_000, ..Limits::default() };
    let small = RUNTIME.clone().limits(limits);
    let impatient =
        RUNTIME.clone().limits(Limits { timeout_ms: 30, fuel: u64::MAX / 8, ..Limits::default() });
    let cancelled = Cancel::new();
    cancelled.cancel();
    let forever = "(def x :lost) (def y 1) (loop [i 0] (recur (inc i)))";
    let cases: [(&Runtime, Grants, &str, &str); 8] = [
        (&small, Grants::new(), forever, "fuel_exceeded"),
        (&small, Grants::new(), "(def x :lost) (defn f [n] (inc (f n))) (f 1)", "stack_exceeded"),
        (
            &small,
            Grants::new(),
            "(def x :lost) (loop [v []] (recur [v v (range 9) (str v)]))",
            "memory_exceeded",
        ),
        (
            &small,
            Grants::new(),
            "(def x :lost) (loop [v []] (recur (conj v (str (count v)))))",
            "memory_exceeded",
        ),
        (&impatient, Grants::new(), forever, "timeout"),
        (&impatient, Grants::new(), "(def x :lost) (pmap (fn [i] (loop [] (recur))) (range 8))", "timeout"),
        (&small, Grants::new().cancel(&cancelled), forever, "cancelled"),
        (&small, Grants::new(), "(def x :lost) (fail {:x x})", "fail"),
    ];
    for (runtime, grants, source, reason) in cases {
        // Collecting visits ever more data at every safepoint: quadratic.
        if is_stress() && matches!(reason, "memory_exceeded" | "stack_exceeded") {
            continue;
        }
        let mut session = runtime.session();
        assert_eq!(answers(&mut session, "(def x [1 {:a 2}]) (defn twice [n] (* 2 n)) :ready"), ":ready");
        session = session.with_grants(grants);
        assert_eq!(answers(&mut session, source), reason, "{source}");
        session = session.with_grants(Grants::new());
        assert_eq!(answers(&mut session, "[x (twice 4) *1]"), "[[1 {:a 2}] 8 :ready]", "after {source}");
        assert_eq!(session.defined().collect::<Vec<_>>(), ["twice", "x"], "after {source}");
        assert_eq!(answers(&mut session, "(def x 2) (+ x 1)"), "3", "after {source}");
        assert_eq!(answers(&mut session, "[x *1]"), "[2 3]", "after {source}");
    }
}
