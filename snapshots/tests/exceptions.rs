//! `try`, `throw` and exceptions: catchable faults, uncatchable ones, and the host's view of uncaught ones.
#![allow(missing_docs)]

use ptc_runtime::{Grants, Limits, Runtime, ToolError, Tools};

fn runtime() -> Runtime {
    let tools = Tools::new()
        .with("bad", |_| Err::<(), _>(ToolError::new("the server is down")))
        .with("ok", |_| Ok(1));
    Runtime::with_core(ptc_preludes::core()).unwrap().with_tools(tools)
}

/// Returns the value of a program, or its failure's reason with its message.
fn told(runtime: &Runtime, source: &str) -> String {
    match runtime.eval(source, &Grants::new()) {
        Ok(outcome) => outcome.print().unwrap(),
        Err(failure) => format!("{}: {}", failure.reason(), failure.diagnostic().message),
    }
}

#[track_caller]
fn gives(source: &str, value: &str) {
    assert_eq!(told(&runtime(), source), value, "{source}");
}

#[test]
fn faults_are_caught_by_class_and_told_as_data() {
    gives("(try (/ 1 0) (catch ArithmeticException e (:kind (ex-data e))))", ":arithmetic_error");
    gives("(try (+ 1 nil) (catch NullPointerException e :null))", ":null");
    gives("(try (+ 1 \"a\") (catch ClassCastException e :cast))", ":cast");
    gives("(try ((fn [x] x)) (catch clojure.lang.ArityException e :arity))", ":arity");
    gives(
        "(try (assert false \"no\") (catch AssertionError e (ex-message e)))",
        "\"assert failed: no: false\"",
    );
    gives("(try (assert false) (catch Exception e 1) (catch Throwable t 2))", "2");
    gives("(try (tool/bad {}) (catch Exception e (:kind (ex-data e))))", ":tool_error");
    gives("(try (/ 1 0) (catch ExceptionInfo e 1) (catch java.lang.RuntimeException e 2))", "2");
    gives("(try 1 2 (catch Exception e 3))", "2");
    gives("(try)", "nil");
    gives("(try (/ 1 0) (catch Exception _))", "nil");
}

#[test]
fn what_is_thrown_arrives() {
    gives(
        "(try (throw (ex-info \"no\" {:id 7})) (catch ExceptionInfo e [(ex-message e) (ex-data e)]))",
        "[\"no\" {:id 7}]",
    );
    gives("(try (throw (ex-info \"no\" {:f inc})) (catch Exception e ((:f (ex-data e)) 1)))", "2");
    gives(
        "(try (throw (IllegalStateException. \"s\")) (catch IllegalArgumentException e 1) (catch Exception e 2))",
        "2",
    );
    gives("(ex-message (ex-cause (ex-info \"a\" {} (Exception. \"b\"))))", "\"b\"");
    gives("(ex-message (Exception. (Exception. \"b\")))", "\"b\"");
    gives("(ex-data (Exception. \"b\"))", "nil");
    gives(
        "(map #(try (if (even? %) (throw (ex-info \"\" {:n %})) %) (catch ExceptionInfo e (- (:n (ex-data e))))) (range 5))",
        "[0 1 -2 3 -4]",
    );
    gives(
        "(let [e (try (throw (ex-info \"x\" {})) (catch Exception e e))] (try (throw e) (catch Exception again (= e again))))",
        "true",
    );
}

#[test]
fn nothing_catches_the_end_of_the_run() {
    let limits = Limits {
        fuel: 1_000_000,
        memory_bytes: 300_000,
        stack_bytes: 100_000,
        tool_calls: 3,
        ..Limits::default()
    };
    let runtime = runtime().limits(limits);
    let ends = |body: &str, reason: &str| {
        let source = format!(
            "(try {body} (catch Throwable e :caught) (catch :default e :caught) (finally (println 1)))"
        );
        let failure = runtime.eval(&source, &Grants::new()).err().unwrap();
        assert_eq!((failure.reason(), failure.prints.len()), (reason, 0), "{source}");
    };
    ends("(fail \"x\")", "fail");
    ends("(loop [] (recur))", "fuel_exceeded");
    ends("(loop [v []] (recur (conj v [(count v) 1 2])))", "memory_exceeded");
    ends("(do (defn f [n] (+ 1 (f n))) (f 1))", "stack_exceeded");
    ends("(dotimes [_ 9] (tool/ok {}))", "tool_call_limit_exceeded");
    ends("(pmap (fn [x] (fail x)) [1 2])", "pmap_error");
    let failure = runtime
        .eval("(pmap (fn [x] (fail {:message \"carrier is down\"})) [1])", &Grants::new())
        .unwrap_err();
    assert!(failure.diagnostic().message.contains("`fail` with {:message \"carrier is down\"}"), "{failure}");
    let source = "(try (return 5) (finally (println 1)))";
    let outcome = runtime.eval(source, &Grants::new()).unwrap();
    assert_eq!((outcome.print().unwrap(), outcome.prints.len()), ("5".to_string(), 0));
}

#[test]
fn what_nothing_catches_is_what_it_was() {
    let thrown = "(throw (ex-info \"no rows\" {:table \"orders\"}))";
    gives(thrown, "uncaught_exception: no rows {:table \"orders\"}");
    gives("(throw \"text\")", "type_error: `throw` takes an exception, but this is a string");
    // A fault that passes through `finally`, or is rethrown, keeps its kind, its hint and its place.
    let plain = runtime().eval("(do (+ 1 nil))", &Grants::new()).err().unwrap();
    for source in ["(try (+ 1 nil) (finally 1))", "(try (+ 1 nil) (catch Exception e (throw e)))"] {
        let failure = runtime().eval(source, &Grants::new()).err().unwrap();
        let (was, is) = (plain.diagnostic(), failure.diagnostic());
        assert_eq!((is.code, &is.message, &is.hint), (was.code, &was.message, &was.hint), "{source}");
        let span = is.span.unwrap();
        assert_eq!(&source[span.start as usize..span.end as usize], "(+ 1 nil)");
    }
}

#[test]
fn branches_that_fail_are_told_apart() {
    gives(
        "(try (pmap (fn [n] (/ 6 n)) [1 0 2]) (catch ArithmeticException e [(:kind (ex-data e)) (:index (ex-data e))]))",
        "[:arithmetic_error 1]",
    );
    gives(
        "(try (pmap (fn [n] (throw (ex-info \"no\" {:n n}))) [4 5]) (catch ExceptionInfo e (ex-data (ex-cause e))))",
        "{:n 4}",
    );
    gives("(pmap (fn [n] (try (/ 6 n) (catch Exception e :none))) [1 0 2])", "[6.0 :none 3.0]");
}

#[test]
fn the_work_of_a_caught_fault_is_paid_for() {
    let fuel = |source: &str| runtime().eval(source, &Grants::new()).unwrap().fuel;
    let long = "(reduce + (range 20000))";
    let caught = fuel(&format!("(try (do {long} (/ 1 0)) (catch Exception e 1))"));
    assert!(caught > fuel(long), "{caught}");
    // A native that refuses its arguments after much work is not free either.
    let sorted = fuel("(try (sort (conj (vec (range 20000)) nil (fn [x] x))) (catch Exception e 1))");
    assert!(sorted > 20_000, "{sorted}");
}

#[test]
fn wrong_forms_are_told() {
    for (source, part) in [
        ("(loop [i 0] (try (recur (inc i)) (catch Exception e i)))", "`recur` cannot leave `try`"),
        ("(loop [i 0] (try 1 (catch Exception e (recur 1))))", "`recur` cannot leave `try`"),
        ("(fn [] (try (recur) (finally 1)))", "`recur` cannot leave `try`"),
        ("(try 1 (catch Oops e 2))", "`Oops`, which is not an exception class"),
        ("(try 1 (catch e 2))", "not an exception class"),
        ("(try 1 (catch Exception))", "without a name"),
        ("(try 1 (finally 2) (catch Exception e 3))", "after `finally`"),
        ("(try 1 (catch Exception e 3) 4)", "after `catch`"),
        ("(throw)", "takes 1 operand"),
        ("(catch Exception e 1)", "`catch` is not defined"),
    ] {
        let answer = told(&runtime(), source);
        assert!(answer.contains(part), "{source}: {answer}");
    }
    gives("(try (loop [i 0] (if (< i 5) (recur (inc i)) i)) (catch Exception e 1))", "5");
    gives("(loop [i 0] (let [x (try (/ 6 i) (catch Exception e nil))] (if x x (recur (inc i)))))", "6.0");
}
