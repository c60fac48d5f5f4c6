//! Suspended runs: written to bytes, loaded and resumed, a run gives the result of an uninterrupted one; in one
//! process at every point, in a new process at three points per program.
#![allow(missing_docs)]

use ptc_runtime::{CallId, Datum, Grants, Limits, Node, PendingCall, Run, Runtime, Step, ToolError};
use ptc_snapshots::generate::{asking_program, bytes};
use ptc_snapshots::tried::tried;
use ptc_snapshots::{runtime, setting};

/// Programs that use the tools `id` (returns its `x`), `twice` (its `x` doubled), `rows` (a vector of maps) and
/// `bad` (an error), and the granted `data/items`.
const PROGRAMS: &[&str] = &[
    // Calls in straight code, in arguments, in literals.
    "(tool/id {:x 1})",
    "(+ (tool/id {:x 1}) (tool/id {:x 2}) (tool/twice {:x 3}))",
    "[(tool/id {:x 1}) {:a (tool/id {:x 2}) :b [(tool/twice {:x \"q\"})]}]",
    "#{(tool/id {:x 1}) (tool/id {:x 2})}",
    "(do (tool/id {:x 1}) (tool/id {:x 2}))",
    "(let [a (tool/id {:x 1}) b (tool/twice {:x a})] (+ a b))",
    "(let [{:keys [x y]} (tool/id {:x {:x 1 :y 2}})] (- x y))",
    "(if (tool/id {:x false}) :yes (tool/id {:x :no}))",
    "(str (tool/id {:x \"grüße\"}) \"-\" (tool/id {:x nil}) \"-\" (tool/id {:x 1.5}))",
    "(tool/id :x [1 [2 [3]]])",
    // Definitions and functions.
    "(def a (tool/id {:x 4})) (def b (tool/twice {:x a})) [a b]",
    "(defn f [x] (tool/twice {:x x})) (f (f (f 1)))",
    "(defn f [n] (if (= n 0) 0 (+ (tool/id {:x n}) (f (- n 1))))) (f 6)",
    "(defn g ([x] (g x 10)) ([x y] (+ (tool/id {:x x}) (tool/id {:x y})))) (+ (g 1) (g 2 3))",
    "(defn v [a & more] [(tool/id {:x a}) more]) (v 1 2 3)",
    "((fn [f x] (f (tool/id {:x x}))) (fn [y] (tool/twice {:x y})) 5)",
    "(let [k (tool/id {:x 7}) f (fn [x] (+ x k))] (map f [1 2 (tool/id {:x 3})]))",
    // Loops.
    "(loop [i 0 acc []] (if (< i 5) (recur (inc i) (conj acc (tool/id {:x i}))) acc))",
    "(loop [i 0 m {}] (if (< i 20) (recur (inc i) (assoc m i (tool/twice {:x i}))) m))",
    "(loop [i 3] (if (> (tool/id {:x i}) 0) (recur (dec i)) i))",
    // Inside higher-order functions of the core library.
    "(map (fn [x] (tool/twice {:x x})) [1 2 3 4])",
    "(map (fn [x y] (+ (tool/id {:x x}) y)) [1 2 3] [10 20 30])",
    "(filter (fn [x] (> (tool/id {:x x}) 2)) [1 2 3 4])",
    "(reduce (fn [acc x] (+ acc (tool/twice {:x x}))) 0 [1 2 3])",
    "(reduce (fn [acc x] (+ acc (tool/id {:x x}))) (range 6))",
    "(sort-by (fn [x] (tool/id {:x (- x)})) [3 1 2])",
    "(sort (fn [a b] (< (tool/id {:x a}) b)) [3 1 2 5 4])",
    "(group-by (fn [x] (= 0 (mod (tool/id {:x x}) 2))) [1 2 3 4 5])",
    "(update {:a 1} :a (fn [x] (+ x (tool/id {:x 41}))))",
    "(into {} (map (fn [x] [x (tool/twice {:x x})]) [1 2 3]))",
    "(apply + (map (fn [x] (tool/id {:x x})) (range 5)))",
    "(map tool/id [{:x 1} {:x 2}])",
    "(map (fn [[k v]] [k (tool/id {:x v})]) {:a 1 :b 2})",
    "(reduce (fn [m row] (update m (:team row) (fn [n] (+ (or n 0) (:points row))))) {} (tool/rows {}))",
    // In the parts of `try`, and through it.
    "(try (tool/id {:x 1}) (catch Exception e 2))",
    "(try (tool/bad {}) (catch Exception e (str (tool/id {:x \"caught\"}) (:kind (ex-data e)))))",
    "(try (throw (ex-info \"x\" {:rows (tool/rows {})})) (catch ExceptionInfo e (tool/twice {:x (count (:rows (ex-data e)))})))",
    "(try (tool/id {:x 1}) (/ 1 0) (catch ArithmeticException e (tool/id {:x (ex-message e)})) (finally (tool/id {:x 2})))",
    "(let [e (try (throw (ex-info \"kept\" {:a 1})) (catch Exception e e)) x (tool/id {:x 5})] [(ex-message e) (ex-data e) x])",
    "(defn f [n] (if (= n 0) (tool/bad {}) (+ (tool/id {:x n}) (f (- n 1))))) (try (f 3) (catch Exception e (tool/id {:x :down})))",
    "(pmap (fn [i] (try (if (odd? i) (tool/bad {}) (tool/id {:x i})) (catch Exception e (tool/id {:x :odd})))) (range 4))",
    "(try (pmap (fn [i] (if (= i 2) (tool/bad {}) (tool/id {:x i}))) (range 4)) (catch Exception e (tool/id {:x (:index (ex-data e))})))",
    // Inside the steps of endless sequences, and between steps of stateful transducers.
    "(take 4 (iterate (fn [x] (tool/twice {:x x})) 1))",
    "(nth (iterate (fn [x] (tool/twice {:x x})) 1) 5)",
    "(first (drop 2 (map (fn [x] (tool/id {:x x})) (range))))",
    "(let [[a b c] (repeatedly (fn [] (tool/id {:x 7})))] (+ a b c))",
    "(for [x (map (fn [x] (tool/id {:x x})) (iterate inc 0)) :while (< x 3)] (tool/twice {:x x}))",
    "(some (fn [x] (if (> (tool/id {:x x}) 3) x nil)) (filter odd? (range)))",
    "(first (map (fn [x] (tool/twice {:x x})) (iterate inc 4)))",
    "(into [] (comp (map (fn [x] (tool/id {:x x}))) (partition-all 2) (take 2)) (range))",
    "(into [] (comp (take 3) (map-indexed (fn [i x] [i (tool/id {:x x})]))) [5 6 7 8])",
    "(let [f (memoize (fn [x] (tool/twice {:x x})))] [(f 1) (f 2) (f 1)])",
    "(let [f (memoize (fn [g x] (if (= x 0) 0 (+ (tool/id {:x 1}) (g g (- x 1))))))] [(f f 3) (f f 4)])",
    "(reduce (fn [m x] (assoc m (tool/id {:x x}) x)) (sorted-map) [3 1 2])",
    "(let [s (sorted-set-by > 1 2 3)] (conj s (tool/id {:x 9})))",
    // Atoms, shared and in circles, written to before and after.
    "(let [a (atom 1) b [a a]] (swap! a + (tool/id {:x 1})) (reset! a (tool/id {:x [5]})) [@a (= (first b) (second b)) b])",
    "(let [a (atom [])] (doseq [x [1 2 3]] (swap! a conj (tool/twice {:x x}))) [@a a])",
    "(let [a (atom 1)] (swap! a (fn [x] (reset! a 100) (+ x (tool/id {:x 5})))) @a)",
    "(let [a (atom nil) v (volatile! a)] (reset! a {:a a :v v}) (tool/id {:x 1}) [(= a @v) (= a (:a @a)) (= v (:v @a)) (vreset! v 2) (str a)])",
    "(let [n (atom 0) f (fn [] (swap! n inc))] [(f) (tool/id {:x 7}) (f) {:n n} (get {n :key} n)])",
    "(let [a (atom 10)] (pmap (fn [x] (let [own (atom @a)] (swap! own + (tool/id {:x x})) [own (= a a)])) [1 2 3]))",
    "(let [a (atom 10) as (pmap (fn [x] (let [own (atom (tool/id {:x x}))] [own own a])) [1 2])] (swap! (ffirst as) inc) [as (map (fn [[x y z]] [(= x y) (= z a)]) as)])",
    "(let [a (atom 10)] (try (pmap (fn [x] (tool/id {:x 1}) (swap! a inc)) [1 2]) (catch Exception e [(ex-message e) (tool/id {:x @a})])))",
    "(let [a (atom 10)] (pmap (fn [x] (tool/id {:x 1}) (swap! a inc)) [1 2]))",
    // Granted data, which a snapshot refers to without copying it.
    "(map (fn [item] (+ (:price item) (tool/id {:x 1}))) data/items)",
    "(let [first-item (nth data/items 0)] [(tool/id {:x 1}) first-item (:tags first-item)])",
    "(reduce (fn [acc item] (conj acc (tool/id {:x (:name item)}))) #{} data/items)",
    // Large maps and sets after removals, suspended in the middle of an iteration.
    "(let [m (dissoc (into {} (map (fn [i] [i i]) (range 20))) 0 3 4)] (for [[k v] m] (tool/id {:x k})))",
    "(let [m (apply dissoc (into {} (map (fn [i] [i i]) (range 20))) (range 9))] (map (fn [[k v]] (tool/id {:x v})) m))",
    "(let [s (disj (set (range 20)) 0 3 4)] (map (fn [x] (tool/id {:x x})) s))",
    "(let [s (disj (set (range 20)) 0 3 4)] [(tool/id {:x 1}) (conj s 3 20) (contains? s 3) (= s (set (seq s)))])",
    // A fault that names an item which its function no longer holds.
    "(group-by (fn [x] (+ (when (tool/id {:x false}) 1) 1)) [17 18])",
    "(sort-by (fn [x] (let [y (tool/id {:x x})] (+ y nil))) #{[1 \"a\"]})",
    "(sort-by (fn [e] (+ (tool/id {:x 1}) nil)) {:k [1 2]})",
    // The calls that led to a fault.
    "(defn half [x] (/ 1 (tool/id {:x x}))) (defn all [xs] (map half xs)) (all [1 0])",
    "(defn half [x] (/ 1 (tool/id {:x x}))) (defn all [xs] (pmap (fn [x] (half x)) xs)) (all [1 0 2 0])",
    // Branches: several calls in flight.
    "(pmap (fn [x] (tool/twice {:x x})) [1 2 3])",
    "(pmap (fn [x] (+ (tool/id {:x x}) (tool/twice {:x x}))) (range 5))",
    "(pcalls (fn [] (tool/id {:x 1})) (fn [] (tool/twice {:x 2})) (fn [] 3))",
    "(let [base (tool/id {:x 100}) m {:k base}] (pmap (fn [x] (+ (:k m) (tool/id {:x x}))) [1 2 3]))",
    "(pmap (fn [x] (map (fn [y] (+ x (tool/id {:x y}))) [1 2])) [10 20])",
    "(pmap (fn [x] (pmap (fn [y] (tool/id {:x [x y]})) [1 2])) [10 20])",
    "(reduce + (pmap (fn [row] (* (:points row) (tool/id {:x 2}))) (tool/rows {})))",
    "(pmap tool/id [{:x 1} {:x [2 3]}])",
    "(pmap (fn [item] [(:name item) (tool/id {:x (:price item)})]) data/items)",
    "(defn slow [x] (if (< x 2) x (tool/id {:x x}))) (pmap slow [1 2 3 1])",
    // Values under construction when the branches start, in an arena that is lent to them.
    "(for [a [1 2 3]] (pmap (fn [x] (tool/twice {:x x})) [a 10]))",
    "(map (fn [a] (count (pmap (fn [x] (tool/id {:x x})) (range a)))) [1 2 3])",
    "(pmap (fn [a] (for [b [1 2]] (pmap (fn [c] (tool/id {:x [a b c]})) [7 8]))) [10 20])",
    // Endings other than a value.
    "(do (println \"before\") (tool/id {:x 1}) (println \"after\") (return (tool/id {:x 2})))",
    "(do (tool/id {:x 1}) (fail {:why (tool/id {:x \"no\"})}))",
    "(pmap (fn [x] (+ 1 (tool/id {:x x}))) [1 nil 3])",
    "(do (tool/id {:x 1}) (tool/bad {}))",
    "(let [big (map (fn [i] {:i i :s (str \"row\" i)}) (range 50))] [(tool/id {:x 1}) (nth big 49) (count big)])",
    "(let [n (* 99999999999 99999999999)] (+ n (tool/id {:x 1})))",
];

const ITEMS: &str = r#"[{"name":"tea","price":3,"tags":["hot"]},{"name":"cake","price":4.5,"tags":[]}]"#;

fn grants() -> Grants {
    Grants::new().json("items", ITEMS).expect("items")
}

/// Answers a call from its arguments in flat form.
fn answer(call: &PendingCall) -> Result<Datum, ToolError> {
    let nodes = call.args.nodes();
    let x = || {
        assert_eq!(nodes.first(), Some(&Node::Str("x".into())), "{call:?}");
        Datum::new(nodes[1..nodes.len() - 1].to_vec()).expect("one value")
    };
    match call.name.as_str() {
        "id" => Ok(x()),
        "twice" => match x().nodes() {
            [Node::Int(n)] => Ok(Datum::scalar(Node::Int(2 * n))),
            [Node::Str(s)] => Ok(Datum::scalar(Node::Str(format!("{s}{s}").into()))),
            other => panic!("twice of {other:?}"),
        },
        "rows" => {
            let row = |team: &str, points| {
                [
                    Node::Str("team".into()),
                    Node::Str(team.into()),
                    Node::Str("points".into()),
                    Node::Int(points),
                    Node::Map(2),
                ]
            };
            let mut nodes = Vec::new();
            nodes.extend(row("red", 1));
            nodes.extend(row("blue", 2));
            nodes.extend(row("red", 3));
            nodes.push(Node::Vector(3));
            Ok(Datum::new(nodes).expect("rows"))
        }
        _ => Err(ToolError::new("it is broken")),
    }
}

/// Returns everything a user would notice about the end of a run.
fn told(step: Step) -> String {
    match step {
        Step::Done(Ok(outcome)) => format!(
            "{} returned={} prints={:?} fuel={} calls={}",
            // A value too long to print is an outcome too.
            outcome.print().unwrap_or_else(|fault| format!("{fault:?}")),
            outcome.returned,
            outcome.prints,
            outcome.fuel,
            outcome.tool_calls
        ),
        Step::Done(Err(failure)) => format!("{failure} prints={:?} fuel={}", failure.prints, failure.fuel),
        Step::NeedsTools(_) => panic!("not ended"),
    }
}

fn start(runtime: &Runtime, source: &str) -> Run {
    let program = runtime.compile(source).unwrap_or_else(|failure| panic!("{source}\n{failure}"));
    runtime.start_with(&program, &grants()).unwrap_or_else(|failure| panic!("{source}\n{failure}"))
}

fn resume(run: &mut Run, call: &PendingCall) {
    run.answer(&call.id, answer(call).map(Into::into)).expect("resume");
}

/// Runs to the end, answering one call at a time, the last one in flight first. `visit` may replace the run
/// whenever it waits.
fn drive(mut run: Run, mut visit: impl FnMut(usize, Run) -> Run) -> (String, usize) {
    let mut points = 0;
    loop {
        let step = run.step();
        if !matches!(step, Step::NeedsTools(_)) {
            return (told(step), points);
        }
        loop {
            run = visit(points, run);
            points += 1;
            let mut calls = run.pending();
            let Some(call) = calls.pop() else { break };
            resume(&mut run, &call);
            if calls.is_empty() {
                break;
            }
        }
    }
}

#[test]
fn resumed_runs_end_as_uninterrupted_ones() {
    let runtime = runtime();
    assert!(PROGRAMS.len() >= 50);
    for source in PROGRAMS {
        let (expected, points) = drive(start(&runtime, source), |_, run| run);
        assert!(points > 0, "{source} never waits");
        let reload = |run: Run| {
            let bytes = run.snapshot().unwrap_or_else(|failure| panic!("{source}\n{failure}"));
            runtime.load(&bytes, &grants()).unwrap_or_else(|failure| panic!("{source}\n{failure}"))
        };
        // At each point alone, and at all of them in turn.
        for at in 0..points {
            let (got, _) =
                drive(start(&runtime, source), |point, run| if point == at { reload(run) } else { run });
            assert_eq!(got, expected, "{source} suspended at point {at}");
        }
        let (got, _) = drive(start(&runtime, source), |_, run| reload(run));
        assert_eq!(got, expected, "{source} suspended at every point");
    }
}

#[test]
fn generated_programs_resumed_anywhere_end_as_uninterrupted_ones() {
    resumed_alike(|source, _| source);
}

#[test]
fn generated_programs_with_try_resumed_anywhere_end_as_uninterrupted_ones() {
    resumed_alike(|source, seed| tried(&source, seed).unwrap_or(source));
}

fn resumed_alike(change: impl Fn(String, u64) -> String) {
    let (start, cases) = (setting("PTC_TEST_SEED", 0), setting("PTC_TEST_CASES", 1_000));
    let limits = Limits { fuel: 300_000, timeout_ms: 120_000, ..Limits::default() };
    let runtime = runtime().limits(limits);
    let mut waited = 0;
    for seed in start..start + cases {
        let bytes = bytes(seed);
        let source = change(asking_program(&bytes), seed);
        let Ok(program) = runtime.compile(&source) else { continue };
        let begin = || runtime.start(&program).unwrap_or_else(|failure| panic!("{source}\n{failure}"));
        let (expected, points) = drive(begin(), |_, run| run);
        assert!(!expected.contains("internal_error"), "seed {seed}\n{source}\n{expected}");
        let (got, _) = drive(begin(), |point, run| match bytes[point % bytes.len()] % 2 {
            0 => run,
            _ => {
                let saved = run.snapshot().unwrap_or_else(|failure| panic!("{source}\n{failure}"));
                let loaded = runtime.load(&saved, &Grants::new());
                loaded.unwrap_or_else(|failure| panic!("seed {seed}\n{source}\n{failure}"))
            }
        });
        assert_eq!(got, expected, "seed {seed}\n{source}");
        waited += u64::from(points > 0);
    }
    println!("{waited} of {cases} programs waited for something");
    assert!(waited * 2 >= cases, "{waited}");
}

#[test]
fn a_snapshot_of_a_loaded_run_is_the_same_again() {
    let runtime = runtime();
    for source in PROGRAMS {
        let mut run = start(&runtime, source);
        if let Step::NeedsTools(_) = run.step() {
            let bytes = run.snapshot().expect("snapshot");
            let again = runtime.load(&bytes, &grants()).expect("load").snapshot().expect("snapshot");
            assert!(bytes == again, "{source} changes as it is saved and loaded");
        }
    }
}

/// Child half of the next test: loads a snapshot from standard input and runs it to its end.
#[test]
fn child_process_of_the_test_below() {
    use std::io::Read;
    if std::env::var_os("PTC_RESUME_CHILD").is_none() {
        return;
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).expect("stdin");
    let run = runtime().load(&bytes, &grants()).expect("load");
    let pending: Vec<CallId> = run.pending().into_iter().map(|call| call.id).collect();
    assert!(!pending.is_empty());
    println!("CHILD {}", drive_waiting(run).replace('\n', "\u{1}"));
}

fn drive_waiting(mut run: Run) -> String {
    while let Some(call) = run.pending().pop() {
        resume(&mut run, &call);
    }
    drive(run, |_, run| run).0
}

#[test]
fn runs_go_on_in_a_new_process() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let runtime = runtime();
    for source in PROGRAMS {
        let (expected, points) = drive(start(&runtime, source), |_, run| run);
        let mut wanted = vec![0, points / 2, points - 1];
        wanted.dedup();
        let mut saved = Vec::new();
        drive(start(&runtime, source), |point, run| {
            if wanted.contains(&point) {
                saved.push(run.snapshot().expect("snapshot"));
            }
            run
        });
        for bytes in saved {
            let mut child = Command::new(std::env::current_exe().expect("exe"))
                .args(["--exact", "child_process_of_the_test_below", "--nocapture"])
                .env("PTC_RESUME_CHILD", "1")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("child");
            child.stdin.take().expect("stdin").write_all(&bytes).expect("write");
            let output = child.wait_with_output().expect("child");
            let stdout = String::from_utf8(output.stdout).expect("utf-8");
            let told = stdout.lines().find_map(|line| line.split_once("CHILD ").map(|(_, told)| told));
            let told = told.unwrap_or_else(|| panic!("{source}: the child said\n{stdout}"));
            assert_eq!(told.replace('\u{1}', "\n"), expected, "{source} in a new process");
        }
    }
}

#[test]
fn damaged_snapshots_are_refused() {
    let runtime = runtime();
    let mut run = start(&runtime, "(pmap (fn [x] (map (fn [y] (tool/id {:x [x y]})) [1 2])) [10 20 30])");
    run.step();
    let bytes = run.snapshot().expect("snapshot");
    assert!(runtime.load(&bytes, &Grants::new()).is_err(), "the granted data is missing");
    for cut in 0..bytes.len() {
        assert!(runtime.load(&bytes[..cut], &grants()).is_err(), "cut at {cut}");
    }
    for at in 8..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        // A changed source text is not code; everything after it is covered by the hash.
        if let Ok(mut run) = runtime.load(&flipped, &grants()) {
            run.step();
        }
    }
}
