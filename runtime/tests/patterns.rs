//! Patterns pay for their work: for compiling, for the text they search, and for replacements.

use ptc_bytecode::Limits;
use ptc_runtime::{Grants, Runtime};

fn runtime() -> Runtime {
    let limits = Limits { fuel: 1 << 40, timeout_ms: 600_000, ..Limits::default() };
    Runtime::with_core(ptc_preludes::core()).expect("the core library").limits(limits)
}

/// Returns the fuel that a program takes, and its value.
fn run(runtime: &Runtime, program: &str) -> (u64, String) {
    match runtime.eval(program, &Grants::new()) {
        Ok(outcome) => (outcome.fuel, outcome.print().expect("a result")),
        Err(failure) => (failure.fuel, failure.to_string()),
    }
}

fn fuel(program: &str) -> u64 {
    run(&runtime(), program).0
}

/// Asserts that `program` with `b` in place of `N` takes at least `times` the fuel it takes with `a`.
#[track_caller]
fn grows(program: &str, a: usize, b: usize, times: u64) {
    let cost = |n: usize| fuel(&program.replace('N', &n.to_string()));
    let (few, many) = (cost(a), cost(b));
    assert!(many >= times * few, "{program}: {few}, {many}");
}

#[test]
fn a_pattern_pays_for_what_its_repetitions_stand_for() {
    grows(r#"(re-pattern "(?:ab|[cd]){N}")"#, 10, 1000, 50);
    grows(r#"(re-pattern (.repeat "(a)?" N))"#, 9, 900, 40);
    grows(r#"(re-pattern (str "(?<=a)(?:(?=b)b{N}){10}"))"#, 5, 500, 40);
    // Each takes some tens of microseconds.
    assert!(fuel(r#"(doseq [i (range 1000)] (re-pattern (str "a+b" i)))"#) > 1_500_000);
}

#[test]
fn a_pattern_pays_each_time_it_is_made() {
    let made = r#"(doseq [i (range N) j (range 10)] (re-pattern (str "[ab]*a[ab]{900}" j)))"#;
    grows(made, 1, 4, 3);
    assert!(fuel(&made.replace('N', "4")) > 40 * 50_000);
}

#[test]
fn a_pattern_in_a_loop_pays_a_share_for_each_use() {
    let made = fuel(r#"(re-pattern "(?:ab|[cd]){500}")"#);
    let used = fuel(r##"(dotimes [i 100] (re-find #"(?:ab|[cd]){500}" "x"))"##);
    assert!(used > 5 * made && used < 50 * made, "{made} {used}");
    // A small pattern costs little.
    assert!(fuel(r##"(dotimes [i 100] (re-find #"(\w+)@(\w+)" "x"))"##) < 100 * 1000);
    assert!(fuel(r##"(dotimes [i 100] (str/split "a,b" #","))"##) < 100 * 150);
}

#[test]
fn searching_pays_for_all_that_is_looked_at() {
    // Each match scans all the text behind it.
    grows(r##"(count (re-seq #"b.*c|b" (.repeat "b" N)))"##, 1000, 8000, 30);
    grows(r##"(count (re-seq #"b(?=.*c)" (.repeat "b" N)))"##, 100, 800, 30);
    grows(r##"(count (str/split (.repeat "b" N) #"b.*c|b"))"##, 1000, 8000, 30);
    // For the groups of a match, the states of the pattern are tried at each byte of it.
    let grouped = r#"(re-find (re-pattern (.repeat "(a)?" 300)) (.repeat "a" N))"#;
    assert!(fuel(&grouped.replace('N', "300")) > fuel(&grouped.replace('N', "3")) + 50_000);
}

#[test]
fn a_replacement_pays_for_its_parts_and_for_what_it_copies() {
    grows(r#"(count (.replaceAll "ab" "(a)" (.repeat "$1" N)))"#, 1000, 100_000, 50);
    grows(r#"(count (.replaceAll (.repeat "a" 300) "(a)" (.repeat "$1" N)))"#, 10, 1000, 20);
    // The groups may be long.
    grows(r#"(count (.replaceAll (.repeat "a" N) "(a+)" (.repeat "$1" 100)))"#, 100, 10_000, 30);
    let too_much = run(&runtime(), r#"(.replaceAll (.repeat "a" 1000000) "(a+)" (.repeat "$1" 1000000))"#).1;
    assert!(too_much.contains("memory_bytes"), "{too_much}");
}

#[test]
fn a_pattern_that_is_too_large_is_refused_before_it_is_built() {
    for pattern in ["((a{1000}){1000}){1000}", "(?<=a)(?:(?:b{1000}){1000}){1000}", r"(?:\\p{L}{1000}){1000}"]
    {
        let (fuel, told) = run(&runtime(), &format!(r#"(re-pattern "{pattern}")"#));
        assert!(told.contains("the pattern is too large"), "{told}");
        assert!(fuel < 10_000, "{pattern}: {fuel}");
    }
}

#[test]
fn what_others_compiled_makes_no_difference() {
    let programs = [
        r##"(re-seq #"(a+)(b+)" "xaabbyab")"##,
        r##"(re-find #"(?<=q)[a-z]{3,9}" "qabc")"##,
        r##"(str/replace "2024-05-01" #"(\d+)-(\d+)" "$2/$1")"##,
        r##"(count (re-seq #"[ab]*a[ab]{40}c|b" (.repeat "abbab" 200)))"##,
        r##"(pmap (fn [s] (re-matches #"(\d+)(px|em)" s)) ["12px" "3em" "x"])"##,
        r#"(re-pattern "(oops")"#,
    ];
    let alone: Vec<_> = programs.iter().map(|program| run(&runtime(), program)).collect();
    // Fills the pattern cache with others.
    fuel(r#"(doseq [i (range 100)] (re-find (re-pattern (str i "[ab]*a[ab]{900}")) "abab"))"#);
    let threads: Vec<_> = (0..4)
        .map(|_| std::thread::spawn(move || programs.map(|program| run(&runtime(), program))))
        .collect();
    for thread in threads {
        assert_eq!(thread.join().expect("an answer").to_vec(), alone);
    }
    // Collecting garbage makes no difference either.
    let stressed: Vec<_> = programs.iter().map(|program| run(&runtime().stress(true), program)).collect();
    assert_eq!(stressed, alone);
}
