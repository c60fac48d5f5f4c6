//! `lisp_eval` without a transport: arguments, outcomes and replies.
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
    // A program cannot choose its failure's reason.
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
    assert_eq!(Value::Object(structured), json!({"status": "ok", "value": {"a": 1}}));
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
fn values_come_back_whole_up_to_the_limit() {
    let rows = "(mapv (fn [i] {:id i :name (apply str (repeat 300 \"n\"))}) (range 90))";
    for source in [rows, "(doc map)", "(dir str)", "(meta 'map)", "(apply str (repeat 30000 \"x\"))"] {
        let payload = program(source);
        let slim = payload.reply(Profile::Slim).text;
        assert!(
            !payload.truncated && !slim.contains('…') && !slim.contains("[truncated]"),
            "{source}: {slim}"
        );
    }
    let payload = program(rows);
    assert_eq!(payload.reply(Profile::Slim).text.matches(&"n".repeat(300)).count(), 90);
    for profile in [Profile::Structured, Profile::Debug] {
        let object = payload.reply(profile).structured.unwrap();
        assert_eq!(object["value"].as_array().unwrap().len(), 90);
        assert_eq!(object["value"][89], json!({"id": 89, "name": "n".repeat(300)}));
    }
    let schema = json!({"type": "array"});
    let checked = call(json!({"program": rows, "output_schema": schema}));
    let object = checked.reply(Profile::Structured).structured.unwrap();
    assert_eq!(object["validated"].as_array().unwrap().len(), 90);
    assert!(!object.contains_key("value"), "the same twice");
    let failed = program(&format!("(fail {rows})"));
    assert!(failed.message.matches(&"n".repeat(300)).count() == 90 && !failed.truncated);
    assert!(failed.reply(Profile::Slim).text.starts_with(&format!("fail: {}", failed.message)));
    assert_eq!(failed.reply(Profile::Structured).structured.unwrap()["value"].as_array().unwrap().len(), 90);
    let nil = program("nil").reply(Profile::Structured).structured.unwrap();
    assert_eq!(nil["value"], Value::Null);
    let function = program("{:f inc}").reply(Profile::Structured).structured.unwrap();
    assert!(function["result"].as_str().unwrap().starts_with("user=> {:f "), "{function:?}");
}

#[test]
fn what_is_too_large_is_an_excerpt_that_can_be_read_and_says_how_to_get_more() {
    let payload = program("{:total 20000 :rows (vec (range 20000))}");
    let text = payload.reply(Profile::Slim).text;
    let (value, notes) = text.strip_prefix("user=> ").unwrap().split_once('\n').unwrap();
    assert!(text.len() <= 33 << 10, "{}", text.len());
    // The text, including comments, is a program whose value is the excerpt.
    let read = program(&format!("{value}\n{}", notes.trim_end_matches("[truncated]")));
    assert_eq!(read.value.unwrap().json.unwrap()["total"], 20_000);
    assert!(notes.contains("; left out: 18000 of 20000 items at [:rows]"), "{notes}");
    let form = "(let [r LAST-FORM] (take 2000 (drop 2000 (get-in r [:rows]))))";
    assert!(notes.contains(form), "{notes}");
    let next = program(&form.replace("LAST-FORM", "{:total 20000 :rows (vec (range 20000))}"));
    let next = next.reply(Profile::Structured).structured.unwrap();
    assert_eq!((&next["value"][0], next["value"].as_array().unwrap().len()), (&json!(2_000), 2_000));
    let object = payload.reply(Profile::Structured).structured.unwrap();
    assert_eq!(object["value_preview"]["rows"].as_array().unwrap().len(), 2_000);
    assert_eq!(
        object["left_out"],
        json!([{"path": "[:rows]", "kept": 2_000, "of": 20_000, "unit": "items"}])
    );
    assert_eq!((&object["fetch"], &object["truncated"]), (&json!(form), &json!(true)));
    assert!(!object.contains_key("value"));
}

#[test]
fn the_limit_of_results_is_a_setting() {
    let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core()).unwrap();
    let with = |max_result_bytes| {
        let settings = Settings { max_result_bytes, ..Settings::default() };
        let args = json!({"program": "(vec (range 20000))"});
        Evaluator::new(&runtime, &settings).lisp_eval(args.as_object().unwrap())
    };
    for profile in Profile::ALL {
        assert!(!with(200_000).reply(profile).text.contains("[truncated]"), "{profile}");
    }
    let small = with(100).reply(Profile::Slim).text;
    assert!(small.starts_with("user=> [0 1 2") && small.len() < 400, "{small}");
}

const IMAGE: &str = r#"{"type" "image" "mimeType" "image/png" "data" "iVBORw=="}"#;

#[test]
fn images_audio_files_and_links_are_blocks_for_the_client() {
    let audio = r#"{:type "audio" :mimeType "audio/wav" :data "UklGRg=="}"#;
    let file = r#"{"type" "resource" "resource" {"uri" "file:///a.bin" "mimeType" "application/zip" "blob" "UEsDBA=="}}"#;
    let link = r#"{"type" "resource_link" "uri" "file:///a.csv" "name" "a.csv"}"#;
    let payload = program(&format!("{{:n 1 :all [{IMAGE} {audio} {file} {link} {IMAGE}]}}"));
    let reply = payload.reply(Profile::Slim);
    let shown = r#"user=> {:n 1 :all ["<image image/png, 4 bytes>" "<audio audio/wav, 4 bytes>" "<resource filea.bin, application/zip, 4 bytes>" {"type" "resource_link" "uri" "file:///a.csv" "name" "a.csv"} "<image image/png, 4 bytes>"]}"#;
    assert_eq!(reply.text, shown.replace("filea.bin", "file///a.bin"));
    let content = reply.to_json()["content"].clone();
    let blocks = json!([
        {"type": "text", "text": reply.text},
        {"type": "image", "mimeType": "image/png", "data": "iVBORw=="},
        {"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="},
        {"type": "resource", "resource": {"uri": "file:///a.bin", "mimeType": "application/zip", "blob": "UEsDBA=="}},
        {"type": "resource_link", "uri": "file:///a.csv", "name": "a.csv"},
    ]);
    assert_eq!(content, blocks);
    let object = payload.reply(Profile::Structured).structured.unwrap();
    assert_eq!(object["value"]["all"][0], "<image image/png, 4 bytes>");
    let checked = call(json!({"program": IMAGE, "output_schema": {"type": "object", "required": ["data"]}}));
    assert_eq!(checked.reply(Profile::Structured).to_json()["content"][1]["type"], "image");
}

#[test]
fn blocks_have_limits_and_firewalled_ones_are_never_shown() {
    let many = r#"(mapv (fn [n] {"type" "image" "mimeType" "image/png" "data" (str "AAA" (rem n 10) (if (< n 10) "AAAA" "BBBB"))}) (range 20))"#;
    let reply = program(many).reply(Profile::Slim);
    assert_eq!(reply.blocks.len(), 16);
    assert!(reply.text.contains("not shown: a reply has at most 16>"), "{}", reply.text);
    let large = r#"{"type" "image" "mimeType" "image/png" "data" (.repeat "A" 9000000)}"#;
    let settings = Settings {
        program_memory_limit_bytes: Some(100 << 20),
        program_timeout_ms: Some(20_000),
        ..Settings::default()
    };
    let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core()).unwrap();
    let payload =
        Evaluator::new(&runtime, &settings).lisp_eval(json!({"program": large}).as_object().unwrap());
    let reply = payload.reply(Profile::Slim);
    assert!(reply.blocks.is_empty() && reply.text.contains("--max-attached-bytes"), "{}", reply.text);
    for odd in [
        r#"{"type" "image" "mimeType" "image/png" "data" "no base64!"}"#.to_string(),
        format!("{{:_photo {IMAGE}}}"),
        r#"{"type" "image" "mimeType" "image/png" "_data" "iVBORw==" "data" 7}"#.to_string(),
    ] {
        let reply = program(&odd).reply(Profile::Slim);
        assert!(reply.blocks.is_empty() && !reply.text.contains("iVBORw=="), "{odd}: {}", reply.text);
    }
}

#[test]
fn what_a_program_returned_is_measured_before_anything_is_cut() {
    let payload = program("(vec (range 20000))");
    let whole = 2 + (0..20_000).map(|n: u64| n.to_string().len() as u64 + 1).sum::<u64>() - 1;
    assert_eq!(payload.returned_bytes(), "user=> ".len() as u64 + whole);
    assert!(payload.truncated);
    assert_eq!(program("[1 2]").returned_bytes(), "user=> [1 2]".len() as u64);
    for nothing in ["nil", "(fail {:rows (range 100)})", "(+ 1 nil)"] {
        assert_eq!(program(nothing).returned_bytes(), 0, "{nothing}");
    }
}

#[test]
fn a_cancelled_program_says_so() {
    let cancel = ptc_runtime::Cancel::new();
    cancel.cancel();
    let args = json!({"program": "(loop [] (recur))"});
    let around = ptc_mcp::pending::RunScope::of(&cancel);
    let args = EvalArgs::read(args.as_object().unwrap().clone(), &Settings::default()).unwrap();
    let payload = pollster::block_on(async { evaluator().run(args, &around).await.to_end(&around).await });
    assert_eq!(payload.reason, Some(Reason::Cancelled));
}

const SLIP: &str = "warning[W1001] surplus_bracket: this `)` closes nothing, so it was skipped (line 1, column 8); hint: \
                    remove it, or look for a bracket before it that closes too early";

#[test]
fn warnings_stand_behind_the_value_and_in_the_object() {
    let payload = program("(+ 1 2))");
    assert_eq!(payload.reply(Profile::Slim).text, format!("user=> 3\n; {SLIP}"));
    for profile in [Profile::Structured, Profile::Debug] {
        let structured = payload.reply(profile).structured.unwrap();
        assert_eq!((&structured["value"], &structured["warnings"]), (&json!(3), &json!([SLIP])));
    }
    let payload = program("(+ 1 2)");
    assert_eq!(payload.reply(Profile::Slim).text, "user=> 3");
    assert!(!payload.reply(Profile::Debug).structured.unwrap().contains_key("warnings"));
}

#[test]
fn a_failure_has_warnings_too_and_more_than_three_are_counted() {
    let payload = program("(+ 1 x)) 2) 3) 4)");
    let reply = payload.reply(Profile::Structured);
    assert!(reply.is_error);
    assert!(
        reply.text.contains(&format!("\n; {SLIP}\n")) && reply.text.ends_with("\n; and 1 more"),
        "{}",
        reply.text
    );
    assert_eq!(reply.structured.unwrap()["warnings"].as_array().unwrap().len(), 4);
    // The value does not match the schema.
    let payload = call(json!({"program": "(+ 1 2))", "output_schema": {"type": "string"}}));
    assert_eq!(
        (payload.reason, &payload.warnings[..]),
        (Some(Reason::ValidationError), &[SLIP.to_string()][..])
    );
    // Nil has no text of its own.
    assert_eq!(program("(when nil 1))").reply(Profile::Slim).text.lines().count(), 1);
}
