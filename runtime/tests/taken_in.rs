//! Received data counts by its size as values, as long as a live value refers to it.

use ptc_runtime::json::freeze_json;
use ptc_runtime::{Failure, Frozen, Grants, Limits, Run, Runtime, Step, ToolAnswer, Tools};

/// Makes a page of about 100 kB as data.
fn page() -> Frozen {
    let row = r#"{"id":1,"tags":["a","b"]}"#;
    freeze_json(format!("[{}{row}]", format!("{row},").repeat(900)), u64::MAX).unwrap()
}

fn runtime(pages: u64) -> Runtime {
    let granted_bytes = pages * page().bytes() as u64 + 1_000;
    let tools = Tools::new()
        .with_answer("page", |_| Ok(ToolAnswer::Frozen(page())))
        .with_answer("small", |_| ToolAnswer::from_serialize(&1));
    let limits = Limits { granted_bytes, ..Limits::default() };
    Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits).with_tools(tools)
}

fn start(runtime: &Runtime, source: &str) -> Run {
    runtime.start(&runtime.compile(source).unwrap()).unwrap()
}

/// Runs a program whose calls are answered one by one, optionally saved and loaded in between.
fn step_by_step(runtime: &Runtime, source: &str, is_saved: bool) -> Result<String, (String, u64)> {
    let mut run = start(runtime, source);
    loop {
        let calls = match run.step() {
            Step::Done(Ok(outcome)) => return Ok(outcome.print().unwrap()),
            Step::Done(Err(failure)) => return Err(told(&failure)),
            Step::NeedsTools(calls) => calls,
        };
        if is_saved {
            run = runtime.load(&run.snapshot().unwrap(), &Grants::new()).unwrap();
        }
        let answer = match &*calls[0].name {
            "page" => Ok(ToolAnswer::Frozen(page())),
            _ => ToolAnswer::from_serialize(&1),
        };
        run.answer(&calls[0].id, answer).unwrap();
    }
}

fn told(failure: &Failure) -> (String, u64) {
    (failure.to_string(), failure.fuel)
}

/// Programs, the number of pages they hold at a time, and their values.
const PROGRAMS: &[(&str, u64, &str)] = &[
    ("(loop [i 0 n 0] (if (= i 20) n (recur (inc i) (+ n (count (tool/page {}))))))", 1, "18020"),
    ("(let [pages (mapv (fn [_] (tool/page {})) (range 5))] (count pages))", 5, "5"),
    // A part of a page keeps the whole page alive.
    ("(let [rows (mapv (fn [_] (first (tool/page {}))) (range 4))] (count rows))", 4, "4"),
    // Values made from its fields do not.
    ("(let [ids (mapv (fn [_] (mapv :id (tool/page {}))) (range 4))] (count ids))", 1, "4"),
    ("(def kept (tool/page {})) (tool/small {}) (count (tool/page {}))", 2, "901"),
    ("(def kept (tool/page {})) (def kept nil) (tool/small {}) (count (tool/page {}))", 1, "901"),
    ("(count (pmap (fn [_] (first (tool/page {}))) (range 6)))", 6, "6"),
    // Branches count as if they ran one after the other.
    ("(pmap (fn [_] (let [p (tool/page {})] (+ (tool/small {}) (count p)))) (range 3))", 1, "[902 902 902]"),
    (
        "(pmap (fn [_] (let [p (tool/page {}) q (tool/page {})] (+ (count p) (count q)))) (range 3))",
        2,
        "[1802 1802 1802]",
    ),
    (
        "(count (pmap (fn [i] (let [p (tool/page {})] (tool/small {}) (if (= i 9) (count p) p))) (range 10)))",
        10,
        "10",
    ),
    ("(pmap (fn [_] (count (pmap (fn [_] (tool/page {})) [1 2 3]))) [1 2])", 3, "[3 3]"),
    (
        "(pmap (fn [_] (let [p (tool/page {})] (+ (count (pmap (fn [_] (tool/page {})) [1 2])) (count p)))) [1 2])",
        3,
        "[903 903]",
    ),
    (
        "(let [p (tool/page {})] (pmap (fn [i] (nth (mapv :id (tool/page {})) i)) (range 1)) (count p))",
        2,
        "901",
    ),
    ("(let [p (first (pmap (fn [_] (tool/page {})) [1]))] (count (mapv :id p)))", 1, "901"),
    (
        "(let [ps (pmap (fn [_] (tool/page {})) [1 2]) n (count ps)] (loop [i 0] (if (= i 5) n (do (tool/page {}) (recur (inc i))))))",
        2,
        "2",
    ),
];

#[test]
fn the_account_goes_down_with_what_nothing_refers_to() {
    for (source, pages, value) in PROGRAMS {
        for is_saved in [false, true] {
            let enough = step_by_step(&runtime(*pages), source, is_saved);
            assert_eq!(enough.as_deref(), Ok(*value), "{source}, saved: {is_saved}");
        }
        if *pages > 1 {
            let [plain, saved] = [false, true]
                .map(|is_saved| step_by_step(&runtime(pages - 1), source, is_saved).expect_err(source));
            assert!(plain.0.contains("memory_exceeded") && plain.0.contains("granted_bytes"), "{}", plain.0);
            assert_eq!(plain, saved, "{source}");
        }
    }
}

#[test]
fn the_fault_is_the_same_on_any_number_of_threads() {
    for (source, pages, _) in PROGRAMS.iter().filter(|(_, pages, _)| *pages > 1) {
        let runtime = runtime(pages - 1);
        let runs: Vec<_> = [1, 2, 8]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| start(&runtime, source).finish().map(|o| o.print()).map_err(|f| told(&f)))
            })
            .map(|ended| format!("{ended:?}"))
            .collect();
        assert!(runs[0] == runs[1] && runs[0] == runs[2], "{source}: {runs:?}");
    }
}

#[test]
fn an_answer_given_twice_counts_twice() {
    let same = page();
    let granted_bytes = 2 * page().bytes() as u64 - 1;
    let shared = same.clone();
    let tools = Tools::new().with_answer("page", move |_| Ok(ToolAnswer::Frozen(shared.clone())));
    let limits = Limits { granted_bytes, ..Limits::default() };
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits).with_tools(tools);
    for source in [
        "(let [a (tool/page {}) b (tool/page {})] [(count a) (count b)])",
        "(count (pmap (fn [_] (tool/page {})) [1 2]))",
        "(let [a (tool/page {})] [(pmap (fn [_] (count (tool/page {}))) [1]) (count a)])",
    ] {
        let failure = start(&runtime, source).finish().expect_err(source);
        assert_eq!(failure.reason(), "memory_exceeded", "{source}: {failure}");
    }
    let fits = "[(count (tool/page {})) (count (tool/page {}))]";
    assert_eq!(start(&runtime, fits).finish().unwrap().print().unwrap(), "[901 901]");
    drop(same);
}
