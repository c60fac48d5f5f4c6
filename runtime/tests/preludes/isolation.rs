//! Isolation of exports: their own names inside, the caller's surroundings otherwise.

use super::common::*;
use ptc_runtime::{Attach, Evaluator, Grants, LoadOptions, Prelude, Runtime, Step, Tools};

const LIB: &str = "(ns lib) (defn- count [x] :private) (def k 10)
    (defn apply-to [f xs] (map f xs))
    (defn adder [n] (fn [x] [(count x) (+ x n k)]))
    (defn leak [] (def secret 1) (def total (+ secret 1)) (if (= total 2) (do (def late 5) (+ total late)) 0))
    (defn stop [x] (return [:stopped x]))
    (defn abort [x] (fail {:why x}))
    (defn say [x] (println \"said\" x) x)
    (defn later [n] (defn step [m] (if (zero? m) :done (step (dec m)))) (step n))
    (defn many [a & more] [a more])";

#[test]
fn a_user_closure_resolves_names_in_the_user_namespace() {
    assert_eq!(value(LIB, "(lib/apply-to (fn [x] (count x)) [[1 2] [3]])"), "[2 1]");
    assert_eq!(value(LIB, "(def k 3) (lib/apply-to (fn [x] (+ x k)) [1])"), "[4]");
}

#[test]
fn a_closure_of_an_export_keeps_its_helpers() {
    assert_eq!(value(LIB, "(def f (lib/adder 1)) (map f [1 2])"), "[[:private 12] [:private 13]]");
}

#[test]
fn exports_are_values() {
    for form in [
        "(map lib/many [1])",
        "(pmap lib/many [1])",
        "[(apply lib/many [1])]",
        "(mapv #(lib/many %) [1])",
        "(pcalls (fn [] (lib/many 1)))",
    ] {
        assert_eq!(value(LIB, form), "[[1 nil]]", "{form}");
    }
    assert_eq!(value(LIB, "(let [f lib/many] [(fn? f) (f 1 2 3)])"), "[true [1 [2 3]]]");
}

#[test]
fn definitions_inside_an_export_stay_there() {
    let mut session = attached(LIB, &Tools::new()).session();
    assert_eq!(session.eval("(def secret :mine) [(lib/leak) secret]").unwrap().print().unwrap(), "[7 :mine]");
    assert_eq!(session.defined().collect::<Vec<_>>(), ["secret"]);
    assert_eq!(session.eval("(lib/later 3)").unwrap().print().unwrap(), ":done");
    assert!(session.eval("total").is_err());
}

#[test]
fn return_and_fail_end_the_whole_program() {
    assert_eq!(value(LIB, "(def x 1) (lib/stop x) (def y 2) y"), "[:stopped 1]");
    let mut session = attached(LIB, &Tools::new()).session();
    session.eval("(def x 1) (lib/stop 5)").unwrap();
    assert_eq!(session.defined().collect::<Vec<_>>(), ["x"]);
    let (reason, message) = fault(LIB, "(lib/abort 3)");
    assert_eq!(reason, "fail");
    assert!(message.contains(":why 3"), "{message}");
}

#[test]
fn prints_and_budgets_are_the_callers() {
    let outcome = eval(LIB, "(lib/say 1)", &Tools::new()).unwrap();
    assert_eq!(outcome.prints, ["said 1"]);
    let limits = ptc_runtime::Limits { fuel: 200, ..Default::default() };
    let runtime = attached("(ns a) (defn spin [] (loop [] (recur)))", &Tools::new()).limits(limits);
    assert_eq!(runtime.eval("(a/spin)", &Grants::new()).unwrap_err().reason(), "fuel_exceeded");
}

#[test]
fn faults_in_an_export_are_placed_at_the_call() {
    let source = "(ns a) (defn f [x] (+ x nil))";
    let program = "(def y 1)\n(a/f y)";
    let failure = eval(source, program, &Tools::new()).unwrap_err();
    let place = failure.diagnostic().place(program).unwrap();
    assert_eq!((failure.reason(), place.line), ("type_error", 2));
}

#[test]
fn unqualified_names_never_collide() {
    assert_eq!(value(LIB, "(def adder 1) (def many 2) [adder many (lib/many 3)]"), "[1 2 [3 nil]]");
}

#[test]
fn calls_are_checked_before_the_run() {
    let (reason, message) = fault(LIB, "(println 1) (lib/adder 1 2)");
    assert_eq!(reason, "arity_error");
    assert!(message.contains("lib/adder` expects 1 argument(s), got 2"), "{message}");
    assert!(fault(LIB, "(lib/many)").1.contains("expects at least 1"));
    let failure = eval(LIB, "(lib/nope 1)", &Tools::new()).unwrap_err();
    let hint = failure.diagnostic().hint.clone().unwrap();
    assert!(failure.diagnostic().message.contains("lib/nope"), "{failure}");
    assert!(hint.contains("(ns-publics 'lib)") && hint.contains("(apropos \"nope\")"), "{hint}");
    assert!(fault(LIB, "[lib/nope]").1.contains("lib/nope"));
    let (_, message) = fault(LIB, "(ghost/x)");
    assert!(message.contains("unknown namespace") && message.contains("`ghost`"), "{message}");
    let (_, message) = fault(LIB, "(def foo/bar 1)");
    assert!(
        message.contains("qualified definitions are not supported") && !message.contains("protected"),
        "{message}"
    );
}

#[test]
fn wrong_counts_at_run_time_name_the_export() {
    let (reason, message) = fault(LIB, "(map lib/adder [1] [2])");
    assert_eq!(reason, "arity_mismatch");
    assert!(message.contains("lib/adder"), "{message}");
}

#[test]
fn every_definition_form_is_refused_in_a_protected_namespace() {
    for form in [
        "(def lib/x 1)",
        "(defn lib/x [] 1)",
        "(defn- lib/x [] 1)",
        "(defonce lib/x 1)",
        "(declare lib/x)",
        "(when true (def lib/adder 1))",
    ] {
        let (reason, message) = fault(LIB, form);
        assert_eq!(reason, "invalid_form", "{form}");
        assert!(message.contains("lib is a protected namespace"), "{form}: {message}");
    }
    for form in
        ["(def tool/x 1)", "(def data/x 1)", "(def budget/x 1)", "(def mcp/x 1)", "(def ptc.core/x 1)"]
    {
        assert_eq!(runtime().eval(form, &Grants::new()).unwrap_err().reason(), "invalid_form", "{form}");
    }
}

#[test]
fn a_function_of_an_earlier_turn_still_finds_exports() {
    let mut session = attached(LIB, &Tools::new()).session();
    session.eval("(defn f [x] ((lib/adder 1) x))").unwrap();
    assert_eq!(session.eval("(f 1)").unwrap().print().unwrap(), "[:private 12]");
    session.eval("(def g (lib/adder 5))").unwrap();
    assert_eq!(session.eval("(map g [1])").unwrap().print().unwrap(), "[[:private 16]]");
}

#[test]
fn one_ledger_entry_with_its_origin_for_each_wrapped_call() {
    let runtime = runtime().attach(&compiled(CRM), &Attach::new()).unwrap();
    let program = runtime.compile("[(crm/get-user 1) (tool/call {:server \"crm\" :tool \"get_user\"})]");
    let mut run = runtime.start(&program.unwrap()).unwrap();
    let Step::NeedsTools(calls) = run.step() else { panic!("it waits") };
    assert_eq!((calls.len(), &*calls[0].name, calls[0].origin.as_deref()), (1, "call", Some("crm/get-user")));
    let bytes = run.snapshot().unwrap();
    // A run is saved with the prelude it uses, and goes on unchanged.
    let mut run = runtime.load(&bytes, &Grants::new()).unwrap();
    let Step::NeedsTools(again) = run.step() else { panic!("it waits") };
    assert_eq!((&again[0].args, again[0].origin.as_deref()), (&calls[0].args, Some("crm/get-user")));
    run.resume(&again[0].id, &1).unwrap();
    let failure = match run.step() {
        Step::Done(done) => done.err(),
        Step::NeedsTools(_) => None,
    };
    // The program's own `tool/call` is refused by the language if it is not granted.
    assert_eq!(failure.map(|failure| failure.reason()), Some("runtime_error"));
}

#[test]
fn an_evaluator_keeps_the_prelude_from_record_to_record() {
    let runtime = attached(LIB, &Tools::new());
    let program = runtime.compile("[(lib/many data/row) lib/k]").unwrap();
    let mut evaluator = Evaluator::new(&runtime, &program);
    for n in 0..3 {
        let found = evaluator.json("row", n.to_string()).unwrap().print().unwrap();
        assert_eq!(found, format!("[[{n} nil] 10]"));
    }
}

/// The same programs with the prelude compiled here and loaded from its file, with and without a collection at
/// every step: equal values, prints and fuel.
#[test]
fn source_and_file_give_equal_steps() {
    let programs = [
        "(lib/apply-to inc [1 2])",
        "((lib/adder 1) 2)",
        "(lib/leak)",
        "(lib/stop 1)",
        "(lib/abort 1)",
        "(lib/say [1])",
        "(pmap (lib/adder 3) [1 2])",
        "lib/k",
        "(lib/many 1 2)",
    ];
    let prelude = compiled(LIB);
    let loaded = Prelude::load(&runtime(), &prelude.to_bytes(), &LoadOptions::default()).unwrap();
    let step = |runtime: Runtime, program: &str| match runtime.eval(program, &Grants::new()) {
        Ok(outcome) => (outcome.print().unwrap(), outcome.prints, outcome.fuel),
        Err(failure) => (failure.to_string(), failure.prints, failure.fuel),
    };
    for program in programs {
        let steps: Vec<_> = [(&prelude, false), (&loaded, false), (&loaded, true)]
            .into_iter()
            .map(|(prelude, stress)| {
                step(runtime().stress(stress).attach(prelude, &Attach::new()).unwrap(), program)
            })
            .collect();
        assert_eq!(steps[0], steps[1], "{program}");
        assert_eq!(steps[0], steps[2], "{program}");
    }
}
