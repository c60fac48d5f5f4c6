//! Arguments of waiting calls count as the program's memory until they are answered.

use ptc_runtime::{Failure, Grants, Limits, Run, Runtime, Step, Tools};

const SOME: &str = "(pmap (fn [i] (count (tool/put {:i i :all (vec (repeat 10 data/text))}))) (range 40))";

fn grants() -> Grants {
    Grants::new().serde("text", &"x".repeat(30_000)).unwrap()
}

fn runtime(limits: Limits) -> Runtime {
    let tools = Tools::new().with("put", |args| Ok(args.datum().nodes().len().to_string()));
    Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits).with_tools(tools)
}

fn start(runtime: &Runtime, source: &str) -> Run {
    runtime.start_with(&runtime.compile(source).unwrap(), &grants()).unwrap()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn told(failure: &Failure) -> (String, u64) {
    (failure.to_string(), failure.fuel)
}

#[test]
fn calls_that_wait_together_are_one_account() {
    let runtime = runtime(Limits::default());
    let failure = start(&runtime, SOME).finish().err().unwrap();
    assert_eq!(failure.reason(), "memory_exceeded", "{failure}");
    assert!(failure.to_string().contains("hold 10"), "{failure}");

    // The same calls fit one after the other, or with more memory.
    let one_by_one = SOME.replace("pmap", "mapv");
    assert_eq!(start(&runtime, &one_by_one).finish().unwrap().get::<Vec<u32>>().unwrap(), [2; 40]);
    let roomy = self::runtime(Limits { memory_bytes: 100_000_000, ..Limits::default() });
    assert_eq!(start(&roomy, SOME).finish().unwrap().get::<Vec<u32>>().unwrap(), [2; 40]);
}

#[test]
fn one_call_that_does_not_fit_is_not_made() {
    let runtime = runtime(Limits::default());
    for source in [
        "(tool/put {:all (vec (repeat 400 data/text))})",
        "(let [put tool/put] (put {:all (vec (repeat 400 data/text))}))",
        "(mapv tool/put [{:all (vec (repeat 400 data/text))}])",
        // Room for the data, but not for the text that is sent as well.
        "(tool/put {:all (vec (repeat 200 data/text))})",
        "(pcalls (fn [] 1) (fn [] (tool/put {:all (vec (repeat 200 data/text))})))",
    ] {
        let failure = start(&runtime, source).finish().err().unwrap();
        assert_eq!(failure.reason(), "memory_exceeded", "{source}: {failure}");
    }
    let fits = "(tool/put {:all (vec (repeat 150 data/text))})";
    assert_eq!(start(&runtime, fits).finish().unwrap().print().unwrap(), "\"153\"");
}

#[test]
fn the_fault_is_the_same_on_any_number_of_threads() {
    let runtime = runtime(Limits::default());
    let runs: Vec<_> = [1, 2, 8]
        .into_iter()
        .map(|threads| on_threads(threads, || told(&start(&runtime, SOME).finish().err().unwrap())))
        .collect();
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

#[test]
fn a_run_that_was_written_to_bytes_holds_as_much() {
    let limits = Limits { parallel_in_flight: 10, ..Limits::default() };
    let runtime = runtime(limits);
    // Ten calls wait; answering one lets another begin, which is one too many.
    let source = "(pmap (fn [i] (let [kept (vec (range (if (< i 10) 0 160000)))] (tool/put {:all (vec (repeat 20 data/text))}) (count kept))) (range 40))";
    let fails = |is_saved: bool| {
        let mut run = start(&runtime, source);
        loop {
            let calls = match run.step() {
                Step::Done(outcome) => return told(&outcome.err().unwrap()),
                Step::NeedsTools(calls) => calls,
            };
            if is_saved {
                run = runtime.load(&run.snapshot().unwrap(), &grants()).unwrap();
            }
            run.resume(&calls[0].id, &1).unwrap();
        }
    };
    let (message, fuel) = fails(false);
    assert!(message.contains("memory_exceeded"), "{message}");
    assert_eq!((message, fuel), fails(true));
}
