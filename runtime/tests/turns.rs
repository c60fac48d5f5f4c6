//! Programs that are turns of a longer mission: the journal and the budget kept by their host.

use ptc_runtime::{Datum, Frozen, Grants, Limits, Node, Runtime, Step, Tools, TurnHost};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Mission {
    tasks: Mutex<BTreeMap<String, Frozen>>,
    steps: Mutex<Vec<(String, String)>>,
    /// True to return a fresh copy for every lookup, as a journal read from a file would.
    copies: bool,
}

impl Mission {
    fn done(&self) -> Vec<String> {
        self.tasks.lock().unwrap().keys().cloned().collect()
    }

    fn steps(&self) -> Vec<(String, String)> {
        self.steps.lock().unwrap().clone()
    }
}

impl TurnHost for Mission {
    fn task(&self, id: &str) -> Option<Frozen> {
        let found = self.tasks.lock().unwrap().get(id).cloned()?;
        if !self.copies {
            return Some(found);
        }
        Some(Frozen::from_datum(&found.to_datum(10_000).unwrap()).unwrap())
    }

    fn task_done(&self, id: &str, value: Frozen) {
        self.tasks.lock().unwrap().insert(id.to_string(), value);
    }

    fn task_reset(&self, id: &str) {
        self.tasks.lock().unwrap().remove(id);
    }

    fn step_done(&self, id: &str, summary: &str) {
        self.steps.lock().unwrap().push((id.to_string(), summary.to_string()));
    }

    fn budget(&self) -> Datum {
        let key = |name: &str| Node::Keyword(name.into());
        let nodes = vec![key("turns"), Node::Int(4), key("llm-requests"), Node::Int(1), Node::Map(2)];
        Datum::new(nodes).unwrap()
    }
}

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).expect("the core library")
}

fn mission() -> (Arc<Mission>, Grants) {
    let mission = Arc::new(Mission::default());
    (mission.clone(), Grants::new().turn_host(mission))
}

fn eval(runtime: &Runtime, grants: &Grants, source: &str) -> String {
    let tools = Tools::new().with("boom", |_| Err::<i64, _>(ptc_runtime::ToolError::new("no line")));
    match runtime.clone().with_tools(tools.clone()).eval(source, grants) {
        Ok(outcome) => outcome.print().expect("printed"),
        Err(failure) => format!("{}: {}", failure.reason(), failure.diagnostic().message),
    }
}

#[test]
fn a_task_runs_once_and_is_remembered_even_if_the_program_fails_later() {
    let (mission, grants) = mission();
    let run = |source: &str| eval(&runtime(), &grants, source);
    assert!(run("(task \"rows\" [1 {:a \"x\"} #{2.5}]) (+ 1 nil)").starts_with("type_error"));
    assert_eq!(mission.done(), ["rows"]);
    assert_eq!(run("(task \"rows\" (+ 1 nil))"), "[1 {:a \"x\"} #{2.5}]");
    assert_eq!(run("(conj (task \"rows\" nil) 9)"), "[1 {:a \"x\"} #{2.5} 9]");
    assert_eq!(run("(task \"nothing\" nil)"), "nil");
    assert_eq!(run("(task \"nothing\" 5)"), "nil", "nil is a value like any other");
    assert_eq!(run("(task-reset \"rows\") (task \"rows\" 7)"), "7");
    assert_eq!(run("(task-reset \"never-done\")"), "nil");
    assert_eq!(mission.done(), ["nothing", "rows"]);
}

#[test]
fn what_fails_is_not_stored() {
    let (mission, grants) = mission();
    let run = |source: &str| eval(&runtime(), &grants, source);
    assert!(run("(task \"a\" (+ 1 nil))").starts_with("type_error"));
    assert!(run("(task \"b\" (fail \"no\"))").starts_with("fail"));
    assert!(run("(task \"c\" (tool/boom {}))").starts_with("tool_error"));
    assert_eq!(mission.done(), [""; 0]);
}

#[test]
fn ids_are_turned_into_text() {
    let (mission, grants) = mission();
    let run = |source: &str| eval(&runtime(), &grants, source);
    run("(task 7 :a) (task :load :b) (task (str \"row-\" 3) :c) (task [\"page\" 2] :d) (step-done 7 \"ok\")");
    assert_eq!(mission.done(), ["7", ":load", "[\"page\" 2]", "row-3"]);
    assert_eq!(mission.steps(), [("7".to_string(), "ok".to_string())]);
    assert_eq!(run("(task nil 1)"), "type_error: `task` needs an id, but it is nil");
    assert_eq!(run("(task-reset \"\")"), "type_error: `task-reset` needs an id, but it is empty");
    assert_eq!(run("(step-done nil \"x\")"), "type_error: `step-done` needs an id, but it is nil");
}

#[test]
fn steps_reach_the_host_as_text() {
    let (mission, grants) = mission();
    let run = |source: &str| eval(&runtime(), &grants, source);
    assert_eq!(
        run("[(step-done \"a\" \"one\") (step-done \"a\" 2) (step-done \"b\" :k)]"),
        "[\"one\" \"2\" \":k\"]"
    );
    assert!(run("(step-done \"c\" nil)").contains("needs a summary as text, but it is nil"));
    let wanted = [("a", "one"), ("a", "2"), ("b", ":k")].map(|(id, text)| (id.to_string(), text.to_string()));
    assert_eq!(mission.steps(), wanted);
}

#[test]
fn tasks_work_inside_functions_that_library_functions_call() {
    let (mission, grants) = mission();
    let run = |source: &str| eval(&runtime(), &grants, source);
    assert_eq!(run("(map (fn [n] (task (str \"t\" n) (* n n))) [1 2 3])"), "[1 4 9]");
    assert_eq!(mission.done(), ["t1", "t2", "t3"]);
    assert_eq!(run("(mapv (fn [n] (task (str \"t\" n) (+ n nil))) [3 2 1])"), "[9 4 1]");
    assert_eq!(run("(reduce (fn [sum n] (+ sum (task (str \"t\" n) nil))) 0 [1 2 3])"), "14");
}

#[test]
fn functions_are_stored_with_what_they_captured_and_use() {
    let (_mission, grants) = mission();
    let mut session = runtime().session().with_grants(grants);
    session.eval("(def base 100) (defn more [x] (+ base x))").expect("defined");
    session.eval("(let [k 3] (task \"f\" (fn [x] (* k (more x)))))").expect("stored");
    // This program names neither `more` nor `base`.
    assert_eq!(session.eval("((task \"f\" nil) 2)").expect("found").print().unwrap(), "306");
    assert_eq!(session.eval("(map (task \"f\" nil) [0 1])").expect("found").print().unwrap(), "[300 303]");
    session.eval("(def base 0)").expect("defined");
    assert_eq!(session.eval("((task \"f\" nil) 2)").expect("found").print().unwrap(), "6");
}

#[test]
fn a_host_may_give_a_new_copy_each_time() {
    let mission = Arc::new(Mission { copies: true, ..Mission::default() });
    let grants = Grants::new().turn_host(mission);
    let run = |source: &str| eval(&runtime(), &grants, source);
    assert_eq!(run("(task \"a\" {:n 1})"), "{:n 1}");
    assert_eq!(run("(reduce + (map (fn [_] (:n (task \"a\" nil))) (range 50)))"), "50");
}

#[test]
fn tasks_survive_a_collector_that_never_rests() {
    let (_mission, grants) = mission();
    let runtime = runtime().stress(true);
    let run = |source: &str| eval(&runtime, &grants, source);
    let source = "(def all (mapv (fn [n] (task n (str \"value \" n))) (range 20))) (apply str all)";
    let first = run(source);
    assert_eq!(first, run(source));
    assert!(first.contains("value 19"), "{first}");
}

#[test]
fn parallel_branches_have_no_journal_but_see_the_budget() {
    let (mission, grants) = mission();
    let run = |source: &str| eval(&runtime(), &grants, source);
    assert_eq!(run("(task \"a\" 1)"), "1");
    let source = "(pmap (fn [n] (step-done \"s\" \"x\") [(task \"a\" n) (:turns (budget/remaining))]) [5 6])";
    assert_eq!(run(source), "[[5 4] [6 4]]");
    assert_eq!(run("(pcalls (fn [] (task-reset \"a\")))"), "[nil]");
    assert_eq!((mission.done(), mission.steps()), (vec!["a".to_string()], Vec::new()));
    assert_eq!(run("(task \"all\" (pmap inc [1 2]))"), "[2 3]", "a task may hold branches");
    assert_eq!(run("(task \"all\" nil)"), "[2 3]");
}

#[test]
fn the_budget_comes_from_the_host() {
    let (_mission, grants) = mission();
    let run = |source: &str| eval(&runtime(), &grants, source);
    assert_eq!(run("(budget/remaining)"), "{:turns 4 :llm-requests 1}");
    assert_eq!(run("budget/remaining"), "{:turns 4 :llm-requests 1}");
    assert_eq!(run("((fn [] (:turns (budget/remaining))))"), "4");
    assert_eq!(eval(&runtime(), &Grants::new(), "(budget/remaining)"), "{}");
}

#[test]
fn without_a_host_everything_is_as_before() {
    let run = |source: &str| eval(&runtime(), &Grants::new(), source);
    assert_eq!(
        run("[(task \"a\" 1) (task \"a\" 2) (task nil 3) (step-done \"a\" 4) (task-reset \"a\")]"),
        "[1 2 3 \"4\" nil]"
    );
}

#[test]
fn a_saved_run_goes_on_with_the_journal_it_is_given() {
    let runtime = runtime();
    let (first, grants) = mission();
    let source = "[(task \"a\" 1) (task \"b\" (+ 1 (tool/ask {}))) (pmap (fn [n] [(tool/ask {:n n}) (:turns (budget/remaining)) (task \"c\" n)]) [1])]";
    let program = runtime.compile(source).expect("compiles");
    let mut run = runtime.start_with(&program, &grants).expect("starts");
    let mut saved = Vec::new();
    for _ in 0..2 {
        let Step::NeedsTools(calls) = run.step() else { panic!("it asks") };
        saved.push(run.snapshot().expect("saved"));
        run.resume(&calls[0].id, &10).expect("answered");
    }
    assert_eq!(first.done(), ["a", "b"]);
    for bytes in &saved {
        let (later, grants) = mission();
        let mut run = runtime.load(bytes, &grants).expect("loaded");
        let outcome = loop {
            match run.step() {
                Step::Done(outcome) => break outcome.expect("ended"),
                Step::NeedsTools(calls) => {
                    run.resume(&calls[0].id, &10).expect("answered");
                }
            }
        };
        assert_eq!(outcome.print().unwrap(), "[1 11 [[10 4 1]]]");
        assert!(later.done().len() <= 1, "only what is done after loading is stored");
    }
    let (later, grants) = mission();
    later.task_done("b", Frozen::from_datum(&Datum::scalar(Node::Int(5))).unwrap());
    let mut run = runtime.load(&saved[0], &grants).expect("loaded");
    let Step::NeedsTools(calls) = run.step() else { panic!("it waits where it was") };
    assert_eq!(calls[0].name, "ask");
}

#[test]
fn a_function_out_of_the_journal_is_saved_with_the_run() {
    let runtime = runtime();
    let (_mission, grants) = mission();
    runtime.eval("(task \"f\" (let [k 3] (fn [x] (* k x))))", &grants).expect("stored");
    let program = runtime.compile("(let [f (task \"f\" nil)] (f (tool/ask {})))").expect("compiles");
    let mut run = runtime.start_with(&program, &grants).expect("starts");
    let Step::NeedsTools(calls) = run.step() else { panic!("it asks") };
    let bytes = run.snapshot().expect("saved");
    let mut run = runtime.load(&bytes, &Grants::new()).expect("loaded");
    run.resume(&calls[0].id, &7).expect("answered");
    let Step::Done(Ok(outcome)) = run.step() else { panic!("it ends") };
    assert_eq!(outcome.print().unwrap(), "21");
}

#[test]
fn what_the_host_is_given_to_keep_is_bounded() {
    let (mission, grants) = mission();
    let limits = Limits { granted_bytes: 20_000, ..Limits::default() };
    let runtime = runtime().limits(limits);
    let run = |source: &str| eval(&runtime, &grants, source);
    let big = "(apply str (repeat 1000 \"x\"))";
    let text = run(&format!("(doseq [n (range 100)] (task n {big}))"));
    assert!(text.starts_with("memory_exceeded: the program gave more than 20000 bytes to keep"), "{text}");
    assert!(mission.done().len() < 20);
    let text = run(&format!("(doseq [n (range 100)] (step-done 1 {big}))"));
    assert!(text.starts_with("memory_exceeded"), "{text}");
    assert!(mission.steps().len() < 20);
    // A value read from the journal counts as granted data.
    mission.task_done(
        "big",
        Frozen::build(|heap| heap.new_str(&"y".repeat(30_000)).map_err(|_| fault())).unwrap(),
    );
    let text = run("(count (task \"big\" nil))");
    assert!(text.starts_with("memory_exceeded"), "{text}");
    assert_eq!(run("(+ 1 1)"), "2");
}

fn fault() -> ptc_runtime::Fault {
    ptc_runtime::Fault::new(ptc_runtime::Code::Internal, "no room")
}
