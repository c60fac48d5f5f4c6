//! Combined mode: text, tools of the host, and programs over the tools' answers.

use crate::{answers, calls, combined, eval, text, with};
use ptc_agent::tools::{Expose, NativePreview, Tool};
use ptc_agent::trace::{Event, Tracer};
use ptc_agent::{AgentBuilder, RunOptions, run};
use ptc_model::{Message, Reply, Role, Scripted};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

fn search(called: Arc<AtomicU32>) -> Tool {
    Tool::new("search_logs", move |_, _| {
        called.fetch_add(1, Ordering::Relaxed);
        let row = |id: i64| json!({"id": id, "timestamp": "2031-01-01T00:00:00Z", "message": "failed"});
        Ok((0..1842).map(row).collect::<Vec<Value>>())
    })
    .signature("(query :string) -> [:any]")
    .description("Search log events.")
    .expose(Expose::Both)
    .cache(true)
    .native_result(NativePreview::Metadata)
}

fn assistant(called: &Arc<AtomicU32>) -> AgentBuilder {
    combined("How many errors with code 42 last hour?").tool(search(called.clone())).max_turns(6)
}

#[test]
fn s000_the_cache_bridge() {
    let called = Arc::new(AtomicU32::new(0));
    let model = Scripted::new([
        calls(&[("call_1", "search_logs", json!({"query": "error code 42"}))]),
        eval(
            "call_2",
            "(def rows (tool/search_logs {:query \"error code 42\"}))\n(return {:total (count rows)})",
        ),
        "There were 1842 errors with code 42 in the queried window.".into(),
    ]);
    let step = run(&assistant(&called).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(step.get::<String>().unwrap(), "There were 1842 errors with code 42 in the queried window.");
    assert_eq!(called.load(Ordering::Relaxed), 1, "the tool runs once");

    let offered: Vec<String> = model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(offered, ["search_logs", "lisp_eval"]);
    let messages = step.messages.unwrap();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::Tool, Role::Assistant, Role::Tool, Role::Assistant]
    );
    assert_eq!(messages[1].tool_calls[0].name, "search_logs");
    let answers = answers(&messages);
    assert_eq!(
        answers[0],
        (
            "call_1".to_string(),
            json!({
                "status": "ok",
                "result_count": 1842,
                "schema": {"type": "array", "items": {"type": "object",
                    "properties": {"id": "integer", "timestamp": "string", "message": "string"}}},
                "sample_keys": ["id", "message", "timestamp"],
                "full_result_cached": true,
                "cache_hint": "Call lisp_eval and then call (tool/search_logs {:query \"error code 42\"}) to process the full cached result.",
            })
        )
    );
    assert_eq!(answers[1].0, "call_2");
    let envelope = &answers[1].1;
    assert_eq!(
        (&envelope["status"], &envelope["result"], &envelope["prints"]),
        (&json!("ok"), &json!("user=> {:total 1842}"), &json!([]))
    );
    assert_eq!(envelope["memory"]["stored_keys"], json!(["rows"]));
    assert_eq!(step.usage.turns, 3);
}

#[test]
fn s000_whoever_calls_first_fills_the_cache() {
    let called = Arc::new(AtomicU32::new(0));
    let model = Scripted::new([
        eval("a", "(count (tool/search_logs {:query \"x\"}))"),
        calls(&[("b", "search_logs", json!({"query": "x"}))]),
        "done".into(),
    ]);
    let step = run(&assistant(&called).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(called.load(Ordering::Relaxed), 1);
    assert_eq!(answers(&step.messages.unwrap())[1].1["full_result_cached"], true);
}

#[test]
fn s000_every_tool_call_event_says_where_it_came_from() {
    let called = Arc::new(AtomicU32::new(0));
    let model = Scripted::new([
        calls(&[("a", "search_logs", json!({"query": "x"}))]),
        eval("b", "(return (count (tool/search_logs {:query \"x\"})))"),
        "done".into(),
    ]);
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let seen = events.clone();
    let tracer =
        Tracer::new().on("tool.call", move |event| seen.lock().unwrap().push(event.clone())).unwrap();
    run(&assistant(&called).build().unwrap(), &with(&model).tracer(tracer)).unwrap();
    let events = events.lock().unwrap();
    let field = |i: usize, name: &str| events[i].data[name].clone();
    assert_eq!(
        (field(0, "exposure_layer"), field(1, "exposure_layer")),
        (json!("native"), json!("ptc_lisp"))
    );
    assert_eq!((field(0, "cached"), field(1, "cached")), (json!(false), json!(true)));
    assert_eq!(field(0, "cache_key_hash"), field(1, "cache_key_hash"));
    for i in 0..2 {
        assert_eq!(field(i, "full_result_cached"), true);
        assert!(field(i, "retained_bytes").as_u64().unwrap() > 10_000);
    }
    assert_eq!(field(0, "result_preview_truncated"), true);
    drop(events);
    // Every field is there for every call, also of tools without a cache, of calls that fail, and in other modes.
    let fields = |builder: AgentBuilder, model: &Scripted| {
        let broken = Tool::new("broken", |_, _| Err::<(), _>(ptc_runtime::ToolError::new("no")));
        let plain = Tool::new("plain", |_, _| Ok(7));
        let seen: Arc<Mutex<Vec<Event>>> = Arc::default();
        let to = seen.clone();
        let tracer =
            Tracer::new().on("tool.call", move |event| to.lock().unwrap().push(event.clone())).unwrap();
        let builder = builder.tool(plain.expose(Expose::Both)).tool(broken.expose(Expose::Both));
        run(&builder.build().unwrap(), &with(model).tracer(tracer)).unwrap();
        let mut seen = seen.lock().unwrap().clone();
        // Calls of one reply run beside each other, so either may end first.
        seen.sort_by_key(|event| (event.data["exposure_layer"].to_string(), event.status.clone()));
        seen.iter()
            .map(|event| {
                for name in ["cache_key_hash", "result_preview_truncated"] {
                    assert!(event.data.contains_key(name), "{name}: {event:?}");
                }
                let of = |name: &str| event.data[name].clone();
                let kept = (of("cached"), of("full_result_cached"), of("retained_bytes"));
                assert_eq!(kept, (json!(false), json!(false), json!(0)));
                (event.tool_name.clone().unwrap(), of("exposure_layer"), event.status.clone().unwrap())
            })
            .collect::<Vec<_>>()
    };
    let both = |layer: &str| {
        [("broken", "error"), ("plain", "ok")]
            .map(|(tool, status)| (tool.to_string(), json!(layer), status.to_string()))
            .to_vec()
    };
    let by_model = || calls(&[("a", "plain", json!({})), ("b", "broken", json!({}))]);
    let by_program = ["(tool/plain)", "(tool/broken)"].map(|program| eval("c", program));
    let model = Scripted::new([by_model(), by_program[0].clone(), by_program[1].clone(), "done".into()]);
    assert_eq!(fields(combined("Think"), &model), [both("native"), both("ptc_lisp")].concat());
    assert_eq!(fields(text("Think"), &Scripted::new([by_model(), "done".into()])), both("native"));
    let model = Scripted::new(["(tool/plain)", "(tool/broken)", "(return 1)"]);
    assert_eq!(fields(ptc_agent::Agent::builder().prompt("Think"), &model), both("ptc_lisp"));
}

#[test]
fn s000_return_and_fail_are_answers_and_not_the_end() {
    let agent = combined("Think").max_turns(6).build().unwrap();
    let model = Scripted::new([
        eval("a", "(return {:n 1})"),
        eval("b", "(fail {:reason :no_rows})"),
        eval("c", "(+ 40 2)"),
        eval("d", "(println *1) [*1 *2]"),
        eval("e", "(+ 1 nil)"),
        "The answer.".into(),
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(step.get::<String>().unwrap(), "The answer.");
    let answers: Vec<Value> =
        answers(&step.messages.unwrap()).into_iter().map(|(_, answer)| answer).collect();
    assert_eq!(answers[0]["result"], "user=> {:n 1}");
    assert_eq!(
        (&answers[1]["status"], &answers[1]["reason"], &answers[1]["result"]),
        (&json!("error"), &json!("fail"), &json!("{:reason :no_rows}"))
    );
    assert_eq!(answers[2]["result"], "user=> 42");
    // Only plain values are remembered.
    assert_eq!((&answers[3]["result"], &answers[3]["prints"]), (&json!("user=> [42 nil]"), &json!(["42"])));
    assert_eq!(answers[4]["reason"], "runtime_error");
    assert!(answers[4].get("result").is_none());
}

#[test]
fn s000_the_last_turn_is_paired_and_is_no_answer() {
    let agent = combined("Think").max_turns(1).build().unwrap();
    let model = Scripted::new([eval("a", "(return {:n 1})")]);
    let step = run(&agent, &with(&model)).unwrap_err();
    assert_eq!(step.reason(), "max_turns_exceeded");
    assert!(step.returned.is_none());
    assert_eq!(answers(&step.messages.unwrap())[0].1["status"], "ok");
}

#[test]
fn s000_exposure_decides_who_may_call() {
    let tool = |name: &str, expose: Option<Expose>| {
        let tool = Tool::new(name, |_, _| Ok(7)).description("Seven.");
        match expose {
            Some(expose) => tool.expose(expose),
            None => tool,
        }
    };
    let agent = combined("Think")
        .tool(tool("plain", None))
        .tool(tool("mine", Some(Expose::PtcLisp)))
        .tool(tool("shared", Some(Expose::Both)))
        .max_turns(9)
        .build()
        .unwrap();
    let model = Scripted::new([
        eval("a", "(do (tool/mine {}) (tool/plain {}))"),
        eval("b", "(+ (tool/mine {}) (tool/shared {}))"),
        calls(&[("c", "mine", json!({})), ("d", "plain", json!({})), ("e", "shared", json!({}))]),
        "ok".into(),
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    let answers: Vec<Value> =
        answers(&step.messages.unwrap()).into_iter().map(|(_, answer)| answer).collect();
    assert_eq!(answers[0]["reason"], "parse_error");
    let message = answers[0]["message"].as_str().unwrap();
    assert!(message.contains("expose: native") && message.contains("plain"), "{message}");
    assert_eq!(answers[1]["result"], "user=> 14");
    assert_eq!(answers[2]["reason"], "unknown_tool");
    assert_eq!((&answers[3], &answers[4]), (&json!(7), &json!(7)));
    // The call is refused before anything runs, including the code before it.
    assert_eq!(step.turns[0].tool_calls.len(), 0);
    // If a program names a tool that it may not call, none of it runs.
    let ran = Arc::new(AtomicU32::new(0));
    let count = ran.clone();
    let shared =
        Tool::new("shared", move |_, _| Ok(count.fetch_add(1, Ordering::Relaxed))).expose(Expose::Both);
    let refusing = combined("Think").tool(shared).tool(tool("plain", None)).build().unwrap();
    let program = "(tool/shared {}) (tool/plain {})";
    run(&refusing, &with(&Scripted::new([eval("a", program), "ok".into()]))).unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    // The default is `native` in text, with and without programs, and `ptc_lisp` where programs are the answer.
    for (agent, is_native) in [
        (crate::text("Think"), true),
        (combined("Think"), true),
        (ptc_agent::Agent::builder().prompt("Think"), false),
    ] {
        let model = Scripted::new(["(return (tool/plain {}))"]);
        let step = run(&agent.tool(tool("plain", None)).build().unwrap(), &with(&model)).unwrap();
        let offered = model.requests()[0].tools.iter().any(|tool| tool.name == "plain");
        assert_eq!((offered, step.json().unwrap() == json!(7)), (is_native, !is_native));
    }
    // The prompt has the card, with the tools that programs may call.
    let system = &model.requests()[0].system;
    assert!(system.contains("full_result_cached") && system.contains("(tool/mine {})"), "{system}");
    assert!(!system.contains("tool/plain"));
    let offered = |builder: ptc_agent::AgentBuilder| {
        let model = Scripted::new(["1"]);
        let agent = builder.tool(tool("plain", None)).tool(tool("mine", Some(Expose::PtcLisp)));
        let _ = run(&agent.tool(tool("shared", Some(Expose::Both))).build().unwrap(), &with(&model));
        let request = model.requests().remove(0);
        let native: Vec<String> = request.tools.iter().map(|tool| tool.name.clone()).collect();
        let in_programs =
            ["plain", "mine", "shared"].map(|name| request.system.contains(&format!("{name}(...) -> :any")));
        (native, in_programs)
    };
    // By default tools of text agents are native, and those of program agents are for programs.
    assert_eq!(offered(text("Think")).0, ["plain", "shared"]);
    let program = ptc_agent::Agent::builder().prompt("Think");
    assert_eq!(offered(program.clone()), (Vec::new(), [true, true, true]));
    let by_call = program.ptc_transport(Some(ptc_agent::definition::Transport::ToolCall));
    assert_eq!(offered(by_call), (vec!["lisp_eval".to_string()], [true, true, true]));
}

#[test]
fn s000_without_tools_programs_still_compute() {
    let agent = combined("Sum {{rows}}").signature("(rows [:int]) -> :int").build().unwrap();
    let model = Scripted::new([eval("a", "(return (reduce + data/rows))"), "6".into()]);
    let options = with(&model).context(&json!({"rows": [1, 2, 3]})).unwrap();
    let step = run(&agent, &options).unwrap();
    assert_eq!(step.get::<i64>().unwrap(), 6);
    let system = &model.requests()[0].system;
    assert!(system.contains("lisp_eval") && system.contains("full_result_cached"), "the card: {system}");
}

#[test]
fn s000_lisp_eval_does_not_count_as_a_tool_call() {
    let agent = combined("Think")
        .tool(Tool::new("seven", |_, _| Ok(7)).expose(Expose::Both))
        .max_tool_calls(Some(1))
        .max_turns(9)
        .build()
        .unwrap();
    let model = Scripted::new([
        eval("a", "(tool/seven {})"),
        eval("b", "(tool/seven {})"),
        calls(&[("c", "seven", json!({})), ("d", "seven", json!({}))]),
        calls(&[("e", "seven", json!({}))]),
        eval("f", "1"),
        "ok".into(),
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    let answers = answers(&step.messages.unwrap());
    let reasons: Vec<&Value> = answers.iter().map(|(_, answer)| &answer["reason"]).collect();
    let limit = json!("tool_call_limit_exceeded");
    assert_eq!(reasons, [&Value::Null, &Value::Null, &Value::Null, &limit, &limit, &Value::Null]);
}

#[test]
fn firewalled_values_stay_inside() {
    let rows = Tool::new("rows", |_, _| Ok(json!([{"id": 1, "_mail": "ann@example.org"}])))
        .expose(Expose::Both)
        .cache(true)
        .native_result(NativePreview::Rows { limit: 5 });
    let plain = Tool::new("plain", |_, _| Ok(json!({"_mail": "bob@example.org", "n": 1})));
    let agent = combined("Think").tool(rows).tool(plain).max_turns(9).build().unwrap();
    let model = Scripted::new([
        calls(&[("a", "rows", json!({})), ("b", "plain", json!({}))]),
        eval(
            "c",
            "(def r (tool/rows {})) (println (:_mail (first r))) (return {:_m (:_mail (first r)) :t (str (:_mail (first r)))})",
        ),
        eval("d", "(assert false (:_mail (first r)))"),
        "ok".into(),
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    let told: Vec<&Message> = step.messages.as_ref().unwrap().iter().collect();
    let text = serde_json::to_string(&told).unwrap();
    assert!(!text.contains("ann@example.org") && !text.contains("bob@example.org"), "{text}");
    assert!(text.contains("<Firewalled>"));
}

#[test]
fn a_value_too_large_to_hand_on_is_no_end() {
    let large = "(def n 7) (reduce (fn [acc _] [acc acc]) [1 2 3] (range 30))";
    let model = Scripted::new([eval("a", large), eval("b", "n"), Reply::from("seven")]);
    let step = run(&combined("Work").build().unwrap(), &with(&model)).unwrap();
    assert_eq!(step.json().unwrap(), json!("seven"));
    let answers = answers(&model.requests()[2].messages);
    assert_eq!(answers[0].1["status"], "error");
    assert_eq!(answers[1].1["result"], "user=> 7", "definitions stay");
}

#[test]
fn strict_memory_ends_the_mission_after_the_call_is_paired() {
    let model = Scripted::new([eval("a", "(def large (mapv str (range 2000)))"), Reply::from("never")]);
    let agent = combined("Work").memory_limit(Some(4000)).build().unwrap();
    let options = RunOptions { collect_messages: true, ..with(&model) };
    let step = run(&agent, &options).unwrap_err();
    assert_eq!(step.reason(), "memory_exceeded");
    assert_eq!(answers(step.messages.as_ref().unwrap())[0].1["reason"], "memory_limit");
}

#[test]
fn warnings_are_in_the_feedback_of_the_answer() {
    let model = Scripted::new([eval("a", "(+ 1 2))"), "Three.".into()]);
    let step = run(&combined("Count").build().unwrap(), &with(&model)).unwrap();
    let answers = answers(&step.messages.unwrap());
    let feedback = answers[0].1["feedback"].as_str().unwrap();
    assert!(feedback.contains("surplus_bracket") && feedback.contains("(line 1, column 8)"), "{feedback}");
}
