//! `tools/call`: the order of checks, permits, and cancellation.

use crate::pipe::{ENDLESS, Pipe, text};
use crate::server;
use serde_json::{Value, json};

#[tokio::test]
async fn an_unknown_tool_is_named_beside_those_there_are() {
    let call = json!({"name": "lisp_session_eval", "arguments": {}});
    let mut pipe = Pipe::to(&server(&["--debug-tool"]));
    let answer = pipe.ask(1, "tools/call", call.clone()).await;
    let told = &answer["result"]["structuredContent"];
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(
        (&told["reason"], &told["feedback"]),
        (&json!("unknown_tool"), &json!("the tools are: lisp_eval, lisp_debug"))
    );

    let mut strict = Pipe::to(&server(&["--strict-mcp"]));
    assert_eq!(strict.ask(1, "tools/call", call).await["error"]["code"], -32602);
}

#[tokio::test]
async fn wrong_arguments_need_no_permit() {
    let mut pipe = Pipe::to(&server(&[
        "--program-timeout-ms=600000",
        "--max-concurrent-calls=1",
        "--max-queued-calls=0",
    ]));
    pipe.eval(1, ENDLESS).await;
    for (arguments, told) in [
        (json!({}), "args_error: argument `program` is required"),
        (json!({"program": 3}), "args_error: argument `program` must be a string, got a number"),
        (json!([1]), "args_error: `arguments` must be an object, got an array"),
        (json!({"program": "1"}), "busy: "),
    ] {
        let answer = pipe.ask(2, "tools/call", json!({"name": "lisp_eval", "arguments": arguments})).await;
        assert!(text(&answer).starts_with(told), "{answer}");
        assert_eq!(answer["result"]["isError"], true);
    }
}

#[tokio::test]
async fn a_hundred_calls_at_once_are_all_answered() {
    let mut pipe = Pipe::to(&server(&["--program-timeout-ms=600000", "--max-concurrent-calls=2"]));
    for n in 0..100 {
        pipe.eval(n, &format!("(* {n} {n})")).await;
    }
    let mut answered = Vec::new();
    for _ in 0..100 {
        let answer = pipe.next().await.unwrap();
        let n = answer["id"].as_u64().unwrap();
        assert_eq!(text(&answer), format!("user=> {}", n * n));
        answered.push(n);
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..100).collect::<Vec<_>>());
}

#[tokio::test]
async fn who_waits_for_a_place_as_long_as_its_program_may_run_is_told_so() {
    let mut pipe = Pipe::to(&server(&["--program-timeout-ms=300", "--max-concurrent-calls=1"]));
    // Programs of one owner begin in order of arrival.
    for n in 0..6 {
        pipe.eval(n, ENDLESS).await;
    }
    let mut told = Vec::new();
    for _ in 0..6 {
        told.push(text(&pipe.next().await.unwrap()).to_string());
    }
    let is_told = |start: &str| told.iter().any(|text| text.starts_with(start));
    assert!(is_told("timeout: ") && is_told("busy: all program slots are taken (1)"), "{told:?}");
}

#[tokio::test]
async fn one_of_two_calls_is_cancelled_and_never_answered() {
    let mut pipe = Pipe::to(&server(&["--program-timeout-ms=600000", "--max-concurrent-calls=2"]));
    pipe.eval("stays", ENDLESS).await;
    pipe.eval("goes", ENDLESS).await;
    pipe.notify("notifications/cancelled", json!({"requestId": "goes", "reason": "changed my mind"})).await;
    // The permit is released as soon as the program has stopped.
    loop {
        pipe.eval("next", "(+ 1 2)").await;
        let answer = pipe.next().await.unwrap();
        assert_eq!(answer["id"], "next");
        if text(&answer) == "user=> 3" {
            break;
        }
        assert!(text(&answer).starts_with("busy: "), "{answer}");
    }
    assert_eq!(pipe.hang_up().await, Vec::<Value>::new());
}

#[tokio::test]
async fn every_profile_shows_what_it_should() {
    let program = json!({"name": "lisp_eval", "arguments": {"program": "(println \"hi\") {:n 1}"}});
    let failing = json!({"name": "lisp_eval", "arguments": {"program": "(fail {:why \"none\"})"}});
    for profile in ["slim", "structured", "debug"] {
        let mut pipe = Pipe::to(&server(&["--response-profile", profile]));
        let ok = pipe.ask(1, "tools/call", program.clone()).await["result"].take();
        let failed = pipe.ask(2, "tools/call", failing.clone()).await["result"].take();
        insta::assert_json_snapshot!(format!("profile_{profile}"), json!({"ok": ok, "failed": failed}));
    }
}

#[tokio::test]
async fn a_program_without_servers_cannot_call_any() {
    let mut pipe = Pipe::to(&server(&[]));
    pipe.eval(1, "(tool/call {:server \"crm\" :tool \"find\"})").await;
    let answer = pipe.next().await.unwrap();
    assert!(text(&answer).starts_with("runtime_error: "), "{answer}");
}

#[tokio::test]
async fn calls_know_nothing_of_each_other() {
    let mut pipe = Pipe::to(&server(&[]));
    pipe.eval(1, "(def x 41) x").await;
    assert_eq!(text(&pipe.next().await.unwrap()), "user=> 41");
    pipe.eval(2, "x").await;
    assert!(text(&pipe.next().await.unwrap()).starts_with("runtime_error: "));
}

#[tokio::test]
async fn integers_beyond_64_bits_stay_exact() {
    let mut pipe = Pipe::to(&server(&["--response-profile=structured", "--sessions"]));
    // As text: a JSON library would round it on the way.
    let long = "123456789012345678901234567890";
    let call = |tool: &str, session: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","arguments":{{{session}"program":"[(+ data/n 1) (str data/n) data/m]","context":{{"n":{long},"m":-9223372036854775809}}}}}}}}"#
        )
    };
    let exact =
        r#"user=> [123456789012345678901234567891 "123456789012345678901234567890" -9223372036854775809]"#;
    pipe.raw(format!("{}\n", call("lisp_eval", "")).as_bytes()).await;
    let told = pipe.next().await.unwrap();
    assert_eq!(told["result"]["content"][0]["text"], exact);
    // The object has no rounded number either.
    let object = &told["result"]["structuredContent"];
    assert_eq!((&object["value"], &object["result"]), (&Value::Null, &json!(exact)));
    let started = pipe.ask(1, "tools/call", json!({"name": "lisp_session_start", "arguments": {}})).await;
    let id = started["result"]["structuredContent"]["session_id"].as_str().unwrap();
    let in_session = call("lisp_session_eval", &format!(r#""session_id":"{id}","#));
    pipe.raw(format!("{in_session}\n").as_bytes()).await;
    let told = pipe.next().await.unwrap();
    assert!(told["result"]["content"][0]["text"].as_str().unwrap().starts_with(exact), "{told}");
    let schema = json!({"name": "lisp_eval", "arguments": {"program": "(* 99999999999 99999999999 99999999999)", "output_schema": {"type": "integer"}}});
    let told = pipe.ask(2, "tools/call", schema).await;
    assert!(text(&told).contains("(str n)"), "{told}");
}
