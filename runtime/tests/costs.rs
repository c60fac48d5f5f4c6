//! Natives pay for their work: programs that used to run for seconds on almost no fuel now run out of it.

use ptc_runtime::{Grants, Limits, Runtime};

/// An integer of half a million bits.
const BIG: &str = "(bit-shift-left 1 500000)";

fn reason(source: &str, fuel: u64) -> String {
    let limits = Limits { fuel, timeout_ms: 600_000, ..Limits::default() };
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits);
    match runtime.eval(source, &Grants::new()) {
        Ok(outcome) => format!("ok for {} units", outcome.fuel),
        Err(failure) => failure.reason().to_string(),
    }
}

/// Each program took seconds of processor time for less than a hundredth of this fuel.
#[test]
fn attacks_end_with_the_fuel() {
    let texts = "(let [a (.repeat \"ab\" 500000) b (.repeat \"ab\" 500000)] ";
    let attacks = [
        format!("(format (.repeat \"%1$e\" 3000) {BIG})"),
        format!("(format (.repeat \"%1$d\" 3000) {BIG})"),
        format!("(apply <= (repeat 300000 {BIG}))"),
        format!("(apply max (repeat 300000 {BIG}))"),
        format!("(apply = (interleave (repeat 9000 {BIG}) (repeat 9000 {BIG})))"),
        format!("(sort (repeat 300000 {BIG}))"),
        format!("(frequencies (repeat 300000 {BIG}))"),
        format!("(apply sorted-set (repeat 30000 {BIG}))"),
        format!("(count (map str (repeat 1000 {BIG})))"),
        format!("{texts}(apply = (interleave (repeat 5000 a) (repeat 5000 b))))"),
        format!("{texts}(apply compare [a b]) (dotimes [i 5000] (= a b)))"),
        format!("{texts}(dotimes [i 5000] (< a b)))"),
        format!("{texts}(dotimes [i 5000] (get {{a 1}} b)))"),
        format!("{texts}(dotimes [i 5000] (.containsKey {{a 1}} b)))"),
        format!("{texts}(dotimes [i 5000] (last-index-of a \"zz\")))"),
        "(let [s (.repeat \"0\" 5000000)] (dotimes [i 2000] (Integer/parseInt s 10)))".to_string(),
        "(let [s (str \"a\" (.repeat \"\u{301}\" 300000))] (dotimes [i 1000] (long s)))".to_string(),
        "(let [v (vec (range 10000))] (dotimes [i 1000] (starts-with? v \"a\")))".to_string(),
        "(let [v {:a (vec (range 10000)) :f inc}] (dotimes [i 5000] (json/generate-string v)))".to_string(),
        "(let [s (.repeat \" \" 100000)] (dotimes [i 1000] (count (seq s))))".to_string(),
    ];
    for source in attacks {
        assert_eq!(reason(&source, 2_000_000), "fuel_exceeded", "{source}");
    }
}

#[test]
fn a_search_for_thousands_of_words_ends_with_the_fuel() {
    assert_eq!(reason("(apropos (.repeat \"sort \" 90000))", 2_000_000), "fuel_exceeded");
}

/// Printing many values has one bound for all of them together, not one for each.
#[test]
fn texts_of_many_values_are_bounded_together() {
    for name in ["str", "pr-str", "prn-str", "println", "prn"] {
        let source = format!("(let [s (.repeat \"x\" 1000000)] (apply {name} :a (repeat 10000 s)))");
        assert_eq!(reason(&source, 200_000_000), "memory_exceeded", "{name}");
    }
}

/// Makes a runtime with a timeout for a busy machine: these tests are about other limits.
fn patient() -> Runtime {
    let limits = Limits { timeout_ms: 60_000, ..Limits::default() };
    Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits)
}

/// Messages cut long keys: listing long keys takes no more text than listing short ones.
#[test]
fn a_survey_of_long_keys_is_short() {
    let source = "(let [k (.repeat \"k\" 20000) row (zipmap (map (fn [i] (str k i)) (range 50)) (range 50))] \
        (count (str (describe (vec (repeat 300 row)) {:paths true :depth 5}))))";
    let outcome = patient().eval(source, &Grants::new()).unwrap();
    assert!(outcome.get::<usize>().unwrap() < 100_000, "{}", outcome.print().unwrap());
}

/// Failed operations are paid for, so that failing is no way to work for nothing.
#[test]
fn what_failed_has_paid() {
    let runtime = patient();
    let source = format!("(let [n {BIG}] (format \"%1$d%1$d%2$d\" n \"x\"))");
    let failure = runtime.eval(&source, &Grants::new()).unwrap_err();
    assert_eq!(failure.reason(), "runtime_error");
    assert!(failure.fuel > 1_000_000, "{}", failure.fuel);
}

fn fuel_of(source: &str, grants: &Grants) -> u64 {
    match patient().eval(source, grants) {
        Ok(outcome) => outcome.fuel,
        Err(failure) => failure.fuel,
    }
}

/// A branch is a separate machine, however little it runs.
#[test]
fn each_branch_has_a_price() {
    let fuel = |n: usize| fuel_of(&format!("(pmap identity (vec (range {n})))"), &Grants::new());
    assert!(fuel(2_000) - fuel(1_000) >= 100_000, "{} {}", fuel(1_000), fuel(2_000));
}

/// A run that fills its memory pays for that, however far the instruction got before there was no room.
#[test]
fn filling_the_memory_has_a_price() {
    let memory = Limits::default().memory_bytes;
    for source in ["(str (vec (repeat 100000 (vec (range 1000)))))", "(loop [v []] (recur (conj v (str v))))"]
    {
        let failure = patient().eval(source, &Grants::new()).unwrap_err();
        assert_eq!(failure.reason(), "memory_exceeded", "{source}");
        assert!(failure.fuel >= memory / 2, "{source}: {}", failure.fuel);
    }
}

/// Granted vectors are stored as a whole; changing one copies it, each time.
#[test]
fn copying_a_long_vector_has_a_price() {
    let numbers: Vec<u32> = (0..8_000).collect();
    let grants = Grants::new().serde("v", &numbers).unwrap();
    let fuel = |n: usize| fuel_of(&format!("(dotimes [_ {n}] (conj data/v 1))"), &grants);
    assert!(fuel(20) - fuel(10) >= 10 * 1_000, "{} {}", fuel(10), fuel(20));
}

/// A long name costs the same at every lookup, even if the map was queried with it before.
#[test]
fn long_names_pay_for_every_lookup() {
    let fuel = |n: usize| {
        let source = format!(
            "(let [k (keyword (.repeat \"k\" 64000)) m {{k 1}} s (.repeat \"s\" 64000)] \
             (dotimes [_ {n}] (get m k) (get m s)))"
        );
        fuel_of(&source, &Grants::new())
    };
    let (first, second) = (fuel(20) - fuel(10), fuel(30) - fuel(20));
    assert_eq!(first, second);
    assert!(first >= 10 * 2 * 2_000, "{first}");
}

#[test]
fn a_union_of_shared_sets_takes_no_more_memory_than_it_has() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let eval = |source: &str| runtime.eval(source, &Grants::new()).unwrap().print().unwrap();
    // Half a million elements, ten thousand of them distinct, in order of insertion.
    let source = "(let [sets (mapv (fn [k] (set (range (* k 1000) (* (inc k) 1000)))) (range 10))
                        all (apply union #{-1} (vec (mapcat (fn [_] sets) (range 50))))]
                    [(count all) (= all (set (range -1 10000))) (take 3 (seq all))])";
    assert_eq!(eval(source), "[10001 true [-1 0 1]]");
}
