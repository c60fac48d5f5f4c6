//! `lisp_eval` without a transport: what is asked, what comes of it, what a client sees.
#![allow(missing_docs)]

use ptc_mcp::args::EvalArgs;
use ptc_mcp::{Evaluator, Payload, Profile, Reason, Settings};
use serde_json::{Value, json};

fn evaluator() -> Evaluator {
    let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core()).unwrap();
    Evaluator::new(&runtime, &Settings::default())
}

fn call(args: Value) -> Payload {
    evaluator().lisp_eval(args.as_object().unwrap())
}

fn program(program: &str) -> Payload {
    call(json!({"program": program}))
}

fn error(args: Value) -> String {
    let payload = call(args);
    assert_eq!(payload.reason, Some(Reason::ArgsError));
    payload.message
}

#[test]
fn arguments_are_checked() {
    assert_eq!(error(json!({})), "argument `program` is required");
    assert_eq!(error(json!({"program": 7})), "argument `program` must be a string, got a number");
    assert_eq!(error(json!({"program": " \n"})), "argument `program` must be a non-empty string");
    let long = "1 ".repeat(40_000);
    assert_eq!(
        error(json!({"program": long})),
        "argument `program` exceeds max_program_bytes (80000 > 65536)"
    );
    assert!(error(json!({"program": "1", "context": []})).contains("must be a JSON object"));
    assert!(error(json!({"program": "1", "context": {"": 1}})).contains("keys must be non-empty"));
    assert!(error(json!({"program": "1", "context": {"a/b": 1}})).contains("keys may not contain `/`"));
    assert!(error(json!({"program": "1", "signature": "{n :int}"})).contains("`output_schema`"));
    assert!(error(json!({"program": "1", "output_schema": null})).contains("output_schema` is invalid"));
    assert!(error(json!({"program": "1", "contxt": {}})).contains("did you mean `context`?"));
    let large = json!({"program": "1", "context": {"text": "x".repeat(5 << 20)}});
    assert!(error(large).contains("exceeds max_context_bytes"));
}

#[test]
fn data_is_bound_by_its_key_and_what_is_missing_is_an_error() {
    let payload =
        call(json!({"program": "[data/n (get data/m \"a b\")]", "context": {"n": 1, "m": {"a b": 2}}}));
    assert_eq!(payload.result.as_deref(), Some("user=> [1 2]"));
    let payload = call(json!({"program": "(inc data/nope)", "context": {"n": 1}}));
    assert_eq!(payload.reason, Some(Reason::RuntimeError));
    assert!(payload.message.contains("data/nope"), "{}", payload.message);
}

#[test]
fn nothing_is_kept_between_calls() {
    let evaluator = evaluator();
    let run = |program: &str| evaluator.lisp_eval(json!({"program": program}).as_object().unwrap());
    assert!(!run("(def n 1)").is_error());
    assert_eq!(run("n").reason, Some(Reason::RuntimeError));
    assert_eq!(run("*1").result, None);
}

#[test]
fn every_way_to_fail_has_its_reason() {
    for (source, reason) in [
        ("(+ 1", Reason::ParseError),
        ("(+ 1 nil)", Reason::RuntimeError),
        ("(nope)", Reason::RuntimeError),
        ("(tool/call {:server \"a\" :tool \"b\"})", Reason::RuntimeError),
        ("(loop [] (recur))", Reason::Timeout),
        ("(count (mapv str (range 3000000)))", Reason::MemoryLimit),
        ("(fail {:reason :no_rows})", Reason::Fail),
    ] {
        let payload = program(source);
        assert_eq!(payload.reason, Some(reason), "{source}: {}", payload.message);
    }
    let payload = program("(println 1) (fail {:reason :no_rows})");
    assert_eq!(payload.result.as_deref(), Some("{:reason :no_rows}"));
    assert_eq!(payload.prints, ["1"]);
    // A program does not choose what its failure is called.
    let payload = program("(fail {:reason \"timeout\" :details {:code \"timeout\"}})");
    assert_eq!(payload.reason, Some(Reason::Fail));
}

#[test]
fn a_value_is_checked_against_the_schema() {
    let schema = json!({"type": "array", "items": {"type": "object", "required": ["id"],
        "properties": {"id": {"type": "integer"}, "at": {"type": "string"}}}});
    let with = |program: &str| call(json!({"program": program, "output_schema": schema}));
    let payload = with("(return [{:id 1 :at (java.util.Date. 0)} {:id 2 :kind :late}])");
    let validated = payload.validated.unwrap();
    assert_eq!(validated[0]["at"], "1970-01-01T00:00:00Z");
    assert_eq!(validated[1], json!({"id": 2, "kind": "late"}));
    let payload = with("[{:id 1.5} {}]");
    assert_eq!(payload.reason, Some(Reason::ValidationError));
    assert_eq!(
        payload.message,
        "return[0].id: expected an integer, got a number with a fraction; return[1].id: is required"
    );
    let payload = with("[{:id 1 :f (fn [x] x)}]");
    assert!(payload.message.starts_with("non-JSON-encodable value at [0].f"), "{}", payload.message);
}

#[test]
fn profiles_show_what_they_should() {
    let payload = program("(println \"rows\" 2) {:a 1}");
    let slim = payload.reply(Profile::Slim);
    assert_eq!(slim.text, "<prints>\nrows 2\n</prints>\n\n<result>\nuser=> {:a 1}\n</result>");
    assert_eq!((slim.is_error, slim.structured), (false, None));
    let structured = payload.reply(Profile::Structured).structured.unwrap();
    assert_eq!(Value::Object(structured), json!({"status": "ok", "result": "user=> {:a 1}"}));
    let debug = payload.reply(Profile::Debug);
    assert_eq!(debug.structured.as_ref().unwrap()["prints"], json!(["rows 2"]));
    assert_eq!(
        debug.text,
        Value::Object(debug.structured.unwrap()).to_string(),
        "the text mirrors the object"
    );

    let failed = program("(+ 1 nil)").reply(Profile::Slim);
    assert!(failed.is_error && failed.text.starts_with("runtime_error: "), "{}", failed.text);
    let nothing = program("nil").reply(Profile::Slim);
    assert_eq!(nothing.text, "");
}

#[test]
fn a_cancelled_program_says_so() {
    let cancel = ptc_runtime::Cancel::new();
    cancel.cancel();
    let args = json!({"program": "(loop [] (recur))"});
    let around = ptc_mcp::pending::RunScope::of(&cancel);
    let payload = evaluator()
        .run(EvalArgs::read(args.as_object().unwrap().clone(), &Settings::default()).unwrap(), &around)
        .to_end(&around);
    assert_eq!(payload.reason, Some(Reason::Cancelled));
}
