//! Keys chosen by an attacker: their cost, and proof that hashes influence nothing but time.

use ptc_runtime::json::freeze_json;
use ptc_runtime::{Code, Grants, Limits, Run, Runtime, Step};
use ptc_vm::Value;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Limits for fuel tests: enough time and memory for a busy machine.
fn limits(fuel: u64) -> Limits {
    Limits { fuel, timeout_ms: 120_000, memory_bytes: 1 << 30, ..Limits::default() }
}

fn runtime() -> Runtime {
    let runtime = Runtime::with_core(ptc_preludes::core()).expect("the core library");
    runtime.limits(limits(1_000_000_000))
}

/// Evaluates a program; returns its printed value and its fuel.
fn eval(runtime: &Runtime, source: &str) -> (String, u64) {
    let outcome =
        runtime.eval(source, &Grants::new()).unwrap_or_else(|failure| panic!("{source}\n{failure}"));
    (outcome.print().expect("it is short"), outcome.fuel)
}

/// Texts of 16 bytes that all had the same hash before it had a secret: the second half undid the first.
fn colliding_names(n: usize) -> Vec<String> {
    const SEED: u64 = 0x2d35_8dcc_aa6c_78a5;
    const MIX: u64 = 0x8bb8_4b93_962e_acc9;
    let start = SEED ^ 16_u64.wrapping_mul(MIX);
    let mut state = 88_172_645_463_325_252_u64;
    let mut names = Vec::with_capacity(n);
    while names.len() < n {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Eight characters between @ and _.
        let first = 0x4040_4040_4040_4040 | (state & 0x1f1f_1f1f_1f1f_1f1f);
        let product = u128::from(start ^ first) * u128::from(MIX);
        let second = product as u64 ^ (product >> 64) as u64;
        // All bytes are ASCII, so the text is valid.
        if second & 0x8080_8080_8080_8080 == 0 {
            let bytes = [first.to_le_bytes(), second.to_le_bytes()].concat();
            names.push(String::from_utf8(bytes).expect("ASCII"));
        }
    }
    names
}

fn object_of(names: &[String]) -> String {
    let mut text = String::from("{");
    for (i, name) in names.iter().enumerate() {
        text.push_str(if i == 0 { "\"" } else { ",\"" });
        for c in name.chars() {
            match c {
                '"' | '\\' | '\0'..'\x20' => write!(text, "\\u{:04x}", c as u32).expect("a string"),
                _ => text.push(c),
            }
        }
        write!(text, "\":{i}").expect("a string");
    }
    text + "}"
}

#[test]
fn names_that_used_to_collide_are_names_like_others() {
    const NAMES: usize = 80_000;
    let hostile = colliding_names(NAMES);
    let mut state = 1_u64;
    let honest: Vec<String> = (0..NAMES)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{state:016x}")
        })
        .collect();
    let probes = |names: &[String]| {
        let frozen = freeze_json(object_of(names), 1 << 30).expect("JSON");
        frozen.read(|heap, value| {
            let Value::Map(map) = value else { panic!("no map") };
            assert_eq!(heap.map_len(map), names.len());
            heap.collected_for(2 * names.len(), 32 * names.len()).expect("no limit");
            for (i, name) in names.iter().enumerate() {
                let key = heap.new_str(name).expect("room");
                assert!(matches!(heap.map_get(map, key), Some(Value::Int(n)) if n == i as i64), "{name:?}");
            }
            heap.table_probes(map).expect("it is large").0
        })
    };
    let (hostile_probes, honest_probes) = (probes(&hostile), probes(&honest));
    assert!(hostile_probes <= 3 * honest_probes, "{hostile_probes} probes, {honest_probes} for random names");

    // Inside a program: as keys of a map, of a set, of groups, and as JSON text.
    let few = &hostile[..20_000];
    let grants = Grants::new().json("names", &object_of(few)).expect("JSON");
    let source = "(let [names (keys data/names)]
                    [(count (reduce (fn [m k] (assoc m k 1)) {} names)) (count (set names))
                     (count (frequencies names)) (count (group-by identity names)) (count (distinct names))
                     (count (zipmap names names))])";
    let outcome = runtime().eval(source, &grants).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(outcome.print().expect("it is short"), "[20000 20000 20000 20000 20000 20000]");
}

/// Integers that the compiler's table of constants used to hash to the same number: multiples of the inverse of its
/// multiplier.
fn colliding_integers(n: i64) -> Vec<i64> {
    const FACTOR: i64 = 0x517c_c1b7_2722_0a95;
    // Each round of Newton's method doubles the number of correct bits; any odd number starts with three.
    let inverse = (0..5).fold(FACTOR, |x, _| x.wrapping_mul(2_i64.wrapping_sub(FACTOR.wrapping_mul(x))));
    assert_eq!(inverse.wrapping_mul(FACTOR), 1);
    (1..=n).map(|i| (i << 32 | i).wrapping_mul(inverse)).collect()
}

#[test]
fn constants_that_used_to_collide_compile_like_others() {
    let runtime = runtime();
    let compile_time = |numbers: &[i64]| {
        let source: String = numbers.iter().map(|n| format!("(inc {n})\n")).collect();
        (0..3)
            .map(|_| {
                let start = Instant::now();
                runtime.compile(&source).unwrap_or_else(|failure| panic!("{failure}"));
                start.elapsed()
            })
            .min()
    };
    let hostile = colliding_integers(20_000);
    let honest: Vec<i64> = hostile.iter().map(|n| n.rotate_left(17) ^ 0x5555).collect();
    let (hostile, honest) =
        (compile_time(&hostile).expect("three times"), compile_time(&honest).expect("three times"));
    assert!(hostile < 6 * honest, "{hostile:?} against {honest:?}");
}

#[test]
fn maps_that_differ_deep_inside_are_told_apart_at_once() {
    let limited = runtime().limits(limits(1_000_000));
    for source in [
        "(count (distinct (map (fn [i] {:user {:id i}}) (range 10000))))",
        "(count (set (map (fn [i] #{#{i} :x}) (range 10000))))",
        "(count (frequencies (map (fn [i] [[[i]]]) (range 10000))))",
        "(count (group-by identity (map (fn [i] {{:id i} 1}) (range 10000))))",
        "(count (reduce (fn [m i] (assoc m {:user {:id i}} i)) {} (range 10000)))",
    ] {
        let (count, fuel) = eval(&limited, source);
        assert_eq!(count, "10000", "{source}");
        assert!(fuel < 400_000, "{source} took {fuel}");
    }
    // Vectors that are equal up to the 199th item.
    let source = "(count (set (map (fn [i] (conj (vec (range 199)) i)) (range 500))))";
    assert_eq!(eval(&limited, source).0, "500");
}

#[test]
fn keys_cost_what_they_are_long() {
    let runtime = runtime();
    let fuel = |op: &str, n: u32| {
        let key = format!("(vec (range {n}))");
        eval(&runtime, &format!("(let [k {key} m {{1 2, 3 4}} s #{{1 2}} v [k]] {op} nil)")).1
    };
    // Cost of 80,000 more items in the key, besides making it.
    let cost = |op: &str| fuel(op, 80_008) - fuel(op, 8) - (fuel("k", 80_008) - fuel("k", 8));
    let once = cost("(get m k)");
    assert!(once >= 10_000, "{once}");
    for op in [
        "(contains? m k)",
        "(contains? s k)",
        "(m k)",
        "(s k)",
        "(assoc m k 1)",
        "(conj s k)",
        "(dissoc m k)",
        "(disj s k)",
        "(into s v)",
        "(into {5 6} [[k 1] [1 2]])",
        "(get-in m [k])",
        "(assoc-in m [k] 1)",
        "(update m k identity)",
        "(select-keys m v)",
        "(frequencies v)",
        "(distinct v)",
        "(group-by identity v)",
        "(hash-map k 1 2 3)",
        "(hash-set k 1)",
        "{k 1 2 3}",
        "#{k 1}",
        "(merge m {k 1})",
        "(zipmap [k 1] [1 2])",
        "(some #{1 k} v)",
        "(apply hash-set k v)",
    ] {
        let more = cost(op);
        // Some operations look the key up before they insert it.
        assert!((once..=3 * once).contains(&more), "{op}: the key costs {more}, and {once} to be looked up");
    }
    // Long text pays by its bytes, short text nothing.
    let text = |n: u32| {
        let source =
            format!("(let [m (zipmap (range 20) (range)) k (apply str (repeat {n} \"x\"))] (get m k) nil)");
        eval(&runtime, &source).1
    };
    let made = |n: u32| eval(&runtime, &format!("(let [k (apply str (repeat {n} \"x\"))] k nil)")).1;
    assert_eq!(text(500) - text(40), made(500) - made(40));
    assert!(text(640_000) - text(40) >= made(640_000) - made(40) + 10_000 / 8);
}

#[test]
fn functions_and_nan_as_keys_pay_for_being_compared() {
    // All of them share a hash, so each is compared with all others.
    let runtime = runtime();
    for source in
        ["(count (set (map (fn [i] (fn [] i)) (range N))))", "(count (set (repeat N (- ##Inf ##Inf))))"]
    {
        let fuel = |n: &str| eval(&runtime, &source.replace('N', n)).1;
        let (some, twice) = (fuel("1000"), fuel("2000"));
        assert!(twice - some > 1000 * 1000 / 8, "{source}: {some}, {twice}");
    }
}

#[test]
fn keys_that_unfold_to_something_huge_cost_what_they_take_in_memory() {
    let limited = runtime().limits(limits(200_000));
    for op in [
        "(get {huge 1} twin)",
        "(get (assoc {1 2} huge 1) twin)",
        "(count #{1 huge})",
        "(count (distinct [huge twin]))",
        "(get (frequencies [huge]) twin)",
        "(get (assoc (zipmap (range 20) (range)) huge 1) twin)",
    ] {
        let made = "(reduce (fn [v _] [v v]) 1 (range 60))";
        let source = format!("(let [huge {made} twin {made}] (pos? {op}))");
        let outcome = limited.eval(&source, &Grants::new()).expect(op);
        assert!(outcome.get::<bool>().unwrap(), "{op}");
        assert!(outcome.fuel < 20_000, "{op}: {}", outcome.fuel);
    }
}

#[test]
fn keys_of_many_parts_end_with_the_fuel() {
    let limited = runtime().limits(limits(20_000));
    for op in ["(get {1 2} wide)", "(assoc {1 2} wide 1)", "#{1 wide}", "(frequencies [wide wide])"] {
        let source = format!("(let [wide (range 100000)] {op} nil)");
        let failure = limited.eval(&source, &Grants::new()).expect_err(op);
        assert_eq!(failure.diagnostics[0].code, Code::FuelExceeded, "{op}: {failure}");
    }
}

/// Programs with hashes in every possible place; each waits for a call in the middle.
const PROGRAMS: &[&str] = &[
    // Large maps and sets with all kinds of keys, removed entries, versions that share a table.
    "(let [rows (map (fn [i] {:user {:id i} :tags #{i (mod i 7)} :text (str \"text \" i)}) (range 300))
           by (group-by :user rows)
           gone (reduce dissoc by (map (fn [i] {:id i}) (range 0 300 3)))
           seen (into #{} (map (juxt :user :tags) rows))
           grown (reduce (fn [m i] (assoc m [i] i)) gone (range 40))
           n (tool/ask {:n 1})
           again (reduce (fn [m i] (assoc m [i] n)) gone (range 60))]
       (println (count seen) (contains? seen [{:id 5} #{5}]) (get gone {:id 4}))
       [n (count gone) (get grown [7]) (get again [50]) (= by (into {} (reverse (seq by))))
        (= seen (set (reverse (seq seen)))) (take 9 (keys again)) (take 5 (vals again))
        (frequencies (map :tags (take 30 rows)))])",
    // Keys that share a hash, or part of it.
    "(let [fs (map (fn [i] (fn [] i)) (range 40))
           s (set fs)
           m (zipmap (map vector fs) (range))
           ask (fn [x] (tool/ask {:n x}))
           n (ask 2)]
       [(count s) (count m) (get m [(nth fs 7)]) (= s (set (reverse fs))) (= m (into {} (reverse (seq m))))
        (count (distinct (concat fs fs))) (count (set (repeat 30 (- ##Inf ##Inf)))) n])",
    // Granted data, branches, and functions that describe data.
    "(let [names (keys data/names)
           parts (pmap (fn [k] (tool/ask {:n (get data/names k)}) (frequencies (vals data/names)))
                       (take 3 names))
           long (fn [i] (conj (vec (range 3000)) i))]
       [(count names) (map count parts) (first names) (last names)
        (describe (reduce (fn [m i] (assoc m (long i) i)) {} (range 5)))
        (describe data/names)])",
];

fn grants() -> Grants {
    let names: Vec<String> = (0..500).map(|i| format!("name {}", i * 37 % 500)).collect();
    Grants::new().json("names", &object_of(&names)).expect("JSON")
}

/// Describes everything a user would notice of a run whose calls are answered with 5. `wait` is called with the run
/// whenever it waits.
fn told(mut run: Run, mut wait: impl FnMut(&Run)) -> String {
    loop {
        for call in run.pending() {
            run.resume(&call.id, &5).expect("it waits");
        }
        match run.step() {
            Step::NeedsTools(_) => wait(&run),
            Step::Done(Ok(outcome)) => {
                let value = outcome.print().expect("it is short");
                return format!("{value} prints={:?} fuel={}", outcome.prints, outcome.fuel);
            }
            Step::Done(Err(failure)) => return format!("{failure} fuel={}", failure.fuel),
        }
    }
}

fn started(runtime: &Runtime, source: &str) -> Run {
    let program = runtime.compile(source).unwrap_or_else(|failure| panic!("{source}\n{failure}"));
    runtime.start_with(&program, &grants()).unwrap_or_else(|failure| panic!("{source}\n{failure}"))
}

/// Child process of the test below: finishes the run read from standard input, and repeats the whole program.
#[test]
fn a_process_with_another_secret() {
    let Ok(number) = std::env::var("PTC_HASHING_CHILD") else { return };
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).expect("stdin");
    let runtime = runtime();
    let resumed = told(runtime.load(&bytes, &grants()).expect("load"), |_| {});
    let anew = told(started(&runtime, PROGRAMS[number.parse::<usize>().expect("a number")]), |_| {});
    println!("CHILD {:?}", [resumed, anew]);
}

/// `PTC_HASHING_PROCESSES=1000` tries that many processes.
#[test]
fn runs_go_on_in_processes_with_other_secrets() {
    let processes = std::env::var("PTC_HASHING_PROCESSES").ok().and_then(|n| n.parse().ok()).unwrap_or(9);
    let runtime = runtime();
    let saved: Vec<(String, Vec<u8>)> = PROGRAMS
        .iter()
        .map(|source| {
            let mut saved = None;
            let whole = told(started(&runtime, source), |run| {
                saved.get_or_insert_with(|| run.snapshot().expect("snapshot"));
            });
            assert!(!whole.contains("error"), "{whole}");
            (whole, saved.expect("it waits"))
        })
        .collect();
    for process in 0..processes {
        let number = process % PROGRAMS.len();
        let (whole, bytes) = &saved[number];
        let mut child = Command::new(std::env::current_exe().expect("exe"))
            .args(["--exact", "a_process_with_another_secret", "--nocapture"])
            .env("PTC_HASHING_CHILD", number.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("child");
        child.stdin.take().expect("stdin").write_all(bytes).expect("write");
        let output = child.wait_with_output().expect("child");
        let stdout = String::from_utf8(output.stdout).expect("text");
        let expected = format!("CHILD {:?}", [whole, whole]);
        assert!(
            stdout.lines().any(|line| line.ends_with(&expected)),
            "expected\n{expected}\nbut got\n{stdout}"
        );
    }
}

#[test]
fn collecting_changes_no_price() {
    let calm = runtime();
    let stressed = calm.clone().stress(true);
    for source in PROGRAMS {
        let expected = told(started(&calm, source), |_| {});
        assert_eq!(told(started(&stressed, source), |_| {}), expected, "{source}");
    }
}
