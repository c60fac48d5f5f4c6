//! `lisp_debug`: recording and lookup of calls.
#![allow(missing_docs)]

use ptc_mcp::debug::{Debug, Record};
use ptc_mcp::sessions::Owner;
use ptc_mcp::settings::TracePayloads;
use ptc_mcp::{Payload, Profile, Reason, Settings};
use ptc_upstream::credentials::Secret;
use ptc_upstream::redact::Redactor;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn debug(change: impl FnOnce(&mut Settings)) -> Debug {
    let mut settings = Settings { debug_tool: true, ..Settings::default() };
    change(&mut settings);
    Debug::with_clock(&settings, None, Arc::new(now))
}

fn owner() -> Owner {
    Owner::new("me")
}

/// Creates a call that ended this many seconds ago.
fn call(id: &str, ago: u64, payload: Payload) -> Record {
    let args = json!({"program": "(+ 1 2)", "context": {"rows": [1, 2, 3]}});
    let mut record = Record::new(&owner(), &json!(id), "lisp_eval", args.as_object().unwrap(), &payload);
    record.at = now() - Duration::from_secs(ago);
    record.duration = Duration::from_millis(ago + 1);
    record
}

fn ok() -> Payload {
    Payload { result: Some("user=> 3".into()), prints: vec!["one".into()], ..Payload::default() }
}

fn ask(debug: &Debug, args: Value) -> Value {
    let payload = debug.call(args.as_object().unwrap(), &owner(), 64);
    let reply = payload.reply(Profile::Slim);
    assert_eq!(reply, payload.reply(Profile::Debug));
    let answer = Value::Object(reply.structured.unwrap());
    assert_eq!(serde_json::from_str::<Value>(&reply.text).unwrap(), answer);
    assert_eq!(answer["redaction_applied"], true);
    assert!(answer["payload_policy"].is_string() && answer.as_object().unwrap().contains_key("op"));
    answer
}

fn metered(sent: u64, answered: u64, ratio: Value) -> Payload {
    let metrics = json!({
        "upstream_result_bytes": sent, "final_result_bytes": answered, "payload_reduction_ratio": ratio,
    });
    Payload { metrics: Some(metrics), ..ok() }
}

#[test]
fn recent_shows_the_newest_first() {
    let debug = debug(|_| {});
    let mut first = call("a", 30, ok());
    first.protocol_version = Some("2025-11-25".to_string());
    first.args.insert("output_schema".to_string(), json!({"type": "integer"}));
    debug.recorder().record(first);
    debug.recorder().record(call("b", 20, Payload::error(Reason::Timeout, "too long")));
    let recent = ask(&debug, json!({"op": "recent"}));
    assert_eq!(
        (&recent["op"], &recent["payload_policy"], &recent["count"]),
        (&json!("recent"), &json!("summary"), &json!(2))
    );
    let rows = recent["calls"].as_array().unwrap();
    assert_eq!(
        (&rows[0]["request_id"], &rows[0]["status"], &rows[0]["reason"]),
        (&json!("b"), &json!("error"), &json!("timeout"))
    );
    let row = &rows[1];
    assert_eq!(
        (&row["request_id"], &row["tool"], &row["status"]),
        (&json!("a"), &json!("lisp_eval"), &json!("ok"))
    );
    assert_eq!((&row["ts"], &row["duration_ms"]), (&json!("2027-01-15T07:59:30.000Z"), &json!(31)));
    assert_eq!((&row["result_bytes"], &row["prints_count"]), (&json!(8), &json!(1)));
    assert_eq!((&row["signature_present"], &row["protocol_version"]), (&json!(true), &json!("2025-11-25")));
    assert_eq!(
        (&row["upstream_calls"], &row["ptc_metrics"], &row["reason"]),
        (&json!(0), &Value::Null, &Value::Null)
    );
}

#[test]
fn calls_are_asked_for_by_age_outcome_and_number() {
    let debug = debug(|_| {});
    for i in 0..30 {
        let payload = if i % 3 == 0 { Payload::error(Reason::Fail, "no") } else { ok() };
        debug.recorder().record(call(&i.to_string(), 100 - i, payload));
    }
    let count = |args: Value| ask(&debug, args)["count"].clone();
    assert_eq!(count(json!({"op": "recent"})), 20);
    assert_eq!(count(json!({"op": "recent", "limit": 200})), 30);
    assert_eq!(count(json!({"op": "recent", "limit": 1})), 1);
    assert_eq!(count(json!({"op": "recent", "since_seconds": 75})), 5);
    assert_eq!(count(json!({"op": "recent", "errors_only": true})), 10);
    let stats = ask(&debug, json!({"op": "stats", "errors_only": true, "since_seconds": 75}));
    assert_eq!((&stats["window"]["calls"], &stats["ring_count"]), (&json!(1), &json!(30)));
    assert_eq!(stats["window"]["from"], "2027-01-15T07:58:45.000Z");
}

#[test]
fn bad_arguments_are_told_in_few_words() {
    let debug = debug(|_| {});
    let long = "x".repeat(5_000);
    for (args, said) in [
        (json!({}), "`op` is required"),
        (json!({"op": long}), "must be stats, recent or get"),
        (json!({"op": "stats", "since_seconds": 0}), "from 1 to 86400, got 0"),
        (json!({"op": "stats", "since_seconds": 86_401}), "from 1 to 86400"),
        (json!({"op": "stats", "errors_only": long}), "true or false"),
        (json!({"op": "stats", "limit": 3}), "unknown argument `limit`"),
        (json!({"op": "recent", "limit": 201}), "from 1 to 200"),
        (json!({"op": "recent", "limit": "20"}), "from 1 to 200"),
        (json!({"op": "get"}), "`request_id` is required"),
        (json!({"op": "get", "request_id": "x".repeat(257)}), "at most 256 bytes, got 257"),
        (json!({"op": "get", "request_id": true}), "must be a string"),
        (json!({"op": "get", "request_id": "a", "limit": 1}), "unknown argument"),
    ] {
        let answer = ask(&debug, args.clone());
        assert_eq!((&answer["status"], &answer["reason"]), (&json!("error"), &json!("args_error")), "{args}");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(said) && message.len() < 250, "{message}");
    }
    assert_eq!(ask(&debug, json!({"op": "get", "request_id": 7}))["found"], false);
}

#[test]
fn get_finds_the_newest_of_an_id() {
    let debug = debug(|_| {});
    debug.recorder().record(call("7", 30, ok()));
    debug.recorder().record(call("7", 10, Payload::error(Reason::Fail, "no rows")));
    let found = ask(&debug, json!({"op": "get", "request_id": "7"}));
    assert_eq!((&found["found"], &found["source"]), (&json!(true), &json!("ring_buffer")));
    assert_eq!(
        (&found["record"]["reason"], &found["record"]["message"]),
        (&json!("fail"), &json!("no rows"))
    );
    assert_eq!(ask(&debug, json!({"op": "get", "request_id": "8"}))["found"], false);
}

#[test]
fn get_shows_a_trace_file_if_it_holds_everything_and_fits() {
    let dir = tempfile::tempdir().unwrap();
    let hash = ptc_bytecode::hex(&Sha256::digest(b"7").into());
    let file = dir.path().join(format!("2027-01-15T08-00-00Z-{}-ok.jsonl", &hash[..8]));
    let owner = &ptc_bytecode::hex(&Sha256::digest(b"me").into())[..16];
    let start = format!("{{\"event\":\"trace.start\",\"owner\":\"{owner}\"}}\n");
    std::fs::write(&file, format!("{start}{{\"event\":\"trace.stop\"}}\n")).unwrap();
    let set = |policy: TracePayloads| {
        let dir = dir.path().display().to_string();
        debug(move |settings| (settings.trace_dir, settings.trace_payloads) = (Some(dir), policy))
    };
    let get = |debug: &Debug| {
        debug.recorder().record(call("7", 1, ok()));
        ask(debug, json!({"op": "get", "request_id": "7"}))
    };
    let found = get(&set(TracePayloads::Full));
    assert_eq!(
        (&found["source"], &found["record"][1]["event"]),
        (&json!("trace_file"), &json!("trace.stop"))
    );
    assert_eq!(get(&set(TracePayloads::Summary))["source"], "ring_buffer");
    std::fs::write(&file, start.replace(owner, "0000000000000000")).unwrap();
    assert_eq!(get(&set(TracePayloads::Full))["source"], "ring_buffer", "of somebody else");
    std::fs::write(&file, format!("{start}{{\"event\":\"{}\"}}\n", "x".repeat(70_000))).unwrap();
    let full = set(TracePayloads::Full);
    assert_eq!(get(&full)["source"], "ring_buffer");
    assert_eq!(ask(&full, json!({"op": "stats"}))["trace_dir_enabled"], true);
}

#[test]
fn stats_count_calls_by_tool_reason_and_server() {
    let debug = debug(|_| {});
    for ms in 1..=20 {
        let mut record = call("a", 5, ok());
        record.duration = Duration::from_millis(ms);
        debug.recorder().record(record);
    }
    debug.recorder().record(call("b", 4, Payload::error(Reason::ArgsError, "no")));
    let calls = vec![
        json!({"server": "crm", "tool": "find", "status": "ok"}),
        json!({"server": "crm", "tool": "find", "status": "error", "reason": "timeout"}),
        json!({"server": "fs", "tool": "read", "status": "ok"}),
    ];
    let mut task = call("c", 3, Payload { upstream_calls: calls, ..ok() });
    task.tool = "lisp_session_eval".to_string();
    debug.recorder().record(task);
    let stats = ask(&debug, json!({"op": "stats"}));
    assert_eq!(
        (&stats["ring_size"], &stats["ring_count"], &stats["trace_dir_enabled"]),
        (&json!(500), &json!(22), &json!(false))
    );
    assert_eq!(
        (&stats["window"]["calls"], &stats["window"]["to"]),
        (&json!(22), &json!("2027-01-15T08:00:00.000Z"))
    );
    let eval = &stats["by_tool"]["lisp_eval"];
    assert_eq!((&eval["calls"], &eval["ok"], &eval["error"]), (&json!(21), &json!(20), &json!(1)));
    assert_eq!(eval["error_rate"], 0.048);
    // Nearest rank of 21 values: the 11th and the 20th.
    assert_eq!(eval["duration_ms"], json!({"p50": 10, "p95": 19, "max": 20}));
    assert_eq!(stats["errors"]["by_reason"], json!({"args_error": 1}));
    let upstream = &stats["upstream_calls"];
    assert_eq!(
        (&upstream["total"], &upstream["ok"], &upstream["by_reason"]),
        (&json!(3), &json!(2), &json!({"timeout": 1}))
    );
    assert_eq!(upstream["by_server"]["crm"], json!({"calls": 2, "ok": 1, "error": 1}));
    assert_eq!((&stats["agentic"], &stats["payload_reduction"]), (&Value::Null, &Value::Null));
}

#[test]
fn stats_tell_how_much_was_reduced() {
    let debug = debug(|_| {});
    debug.recorder().record(call("small", 9, metered(100, 50, json!(2.0))));
    debug.recorder().record(call("older", 8, metered(48_122, 812, json!(59.26))));
    debug.recorder().record(call("newer", 7, metered(48_122, 812, json!(59.26))));
    debug.recorder().record(call("failed", 6, metered(1_000, 0, Value::Null)));
    debug.recorder().record(call("none", 5, ok()));
    let told = ask(&debug, json!({"op": "stats"}))["payload_reduction"].clone();
    assert_eq!(
        (&told["calls"], &told["upstream_result_bytes"], &told["final_result_bytes"]),
        (&json!(4), &json!(97_344), &json!(1_674))
    );
    assert_eq!(told["ratio"], json!({"p50": 59.26, "p95": 59.26, "max": 59.26, "weighted": 58.15}));
    let top: Vec<&str> = told["top_reducers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["request_id"].as_str().unwrap())
        .collect();
    assert_eq!(top, ["newer", "older", "small"]);
    for i in 0..12 {
        debug.recorder().record(call(&i.to_string(), 1, metered(100, 50, json!(2.0))));
    }
    assert_eq!(
        ask(&debug, json!({"op": "stats"}))["payload_reduction"]["top_reducers"].as_array().unwrap().len(),
        10
    );
    assert_eq!(ask(&debug, json!({"op": "recent"}))["calls"][0]["ptc_metrics"]["final_result_bytes"], 50);
}

#[test]
fn planners_are_summed_up_and_unknown_tokens_stay_unknown() {
    let debug = debug(|_| {});
    let task = |tokens: Value| {
        let mut payload = metered(100, 50, json!(2.0));
        payload.metrics.as_mut().unwrap()["server_side_llm"] =
            json!({"planner_calls": 2, "prompt_tokens": tokens, "prompt_bytes": 40, "completion_bytes": 4});
        let mut record = call("t", 1, payload);
        record.tool = "lisp_task".to_string();
        record
    };
    debug.recorder().record(task(json!(10)));
    let planner = || ask(&debug, json!({"op": "stats"}))["payload_reduction"]["agentic_planner"].clone();
    assert_eq!((&planner()["planner_calls"], &planner()["prompt_tokens"]), (&json!(2), &json!(10)));
    debug.recorder().record(task(Value::Null));
    assert_eq!((&planner()["prompt_bytes"], &planner()["prompt_tokens"]), (&json!(80), &Value::Null));
    let agentic = ask(&debug, json!({"op": "stats"}))["agentic"].clone();
    assert_eq!(agentic, json!({"calls": 2, "ok": 2, "error": 0}));
}

#[test]
fn the_ring_forgets_the_oldest() {
    let small = debug(|settings| settings.debug_ring_size = 1);
    for i in 0..12 {
        small.recorder().record(call(&i.to_string(), 1, ok()));
    }
    let stats = ask(&small, json!({"op": "stats"}));
    assert_eq!((&stats["ring_size"], &stats["ring_count"]), (&json!(10), &json!(10)));
    assert_eq!(ask(&small, json!({"op": "get", "request_id": "1"}))["found"], false);
    assert_eq!(ask(&small, json!({"op": "get", "request_id": "2"}))["found"], true);
    assert_eq!(
        ask(&debug(|settings| settings.debug_ring_size = 9_999), json!({"op": "stats"}))["ring_size"],
        5_000
    );
}

#[test]
fn the_ring_has_a_size_in_bytes_and_each_record_too() {
    let debug = debug(|settings| settings.trace_payloads = TracePayloads::Full);
    let program = |bytes: usize| {
        let mut record = call("large", 1, ok());
        record.args.insert("program".to_string(), json!("x".repeat(bytes)));
        record
    };
    for _ in 0..60 {
        debug.recorder().record(program(200 << 10));
        // Wait until calls are stored; the queue holds only a thousand.
        ask(&debug, json!({"op": "stats"}));
    }
    let count = ask(&debug, json!({"op": "stats"}))["ring_count"].as_u64().unwrap();
    assert!((35..=41).contains(&count), "{count}");
    debug.recorder().record(program(300 << 10));
    let row = ask(&debug, json!({"op": "recent", "limit": 1}))["calls"][0].clone();
    assert_eq!((&row["summarised"], &row["program"]["bytes"]), (&json!(true), &json!(300 << 10)));
}

#[test]
fn long_ids_are_shortened() {
    let debug = debug(|_| {});
    debug.recorder().record(call(&"i".repeat(1_000), 1, ok()));
    let row = ask(&debug, json!({"op": "recent"}))["calls"][0].clone();
    let id = row["request_id"].as_str().unwrap();
    assert!(id.len() <= 256 && id.ends_with("…(1000 bytes)"), "{id}");
    assert_eq!(ask(&debug, json!({"op": "get", "request_id": id}))["found"], true);
}

#[test]
fn what_was_refused_is_not_kept() {
    let debug = debug(|settings| settings.trace_payloads = TracePayloads::Full);
    for reason in [Reason::ArgsError, Reason::Busy] {
        debug.recorder().record(call("a", 1, Payload::error(reason, "no")));
        let row = ask(&debug, json!({"op": "recent"}))["calls"][0].clone();
        assert_eq!(
            (&row["reason"], &row["program"], &row["context"]),
            (&json!(reason.name()), &Value::Null, &Value::Null)
        );
    }
    let mut own = call("own", 1, ok());
    own.tool = "lisp_debug".to_string();
    debug.recorder().record(own);
    debug.recorder().record(call("unknown", 1, Payload::error(Reason::UnknownTool, "no")));
    assert_eq!(ask(&debug, json!({"op": "stats"}))["ring_count"], 2);
}

#[test]
fn how_much_is_shown_follows_the_policy() {
    for (policy, program, context) in [
        (TracePayloads::None, None, json!({"bytes": 16})),
        (
            TracePayloads::Summary,
            Some("(+ 1 2)"),
            json!({"bytes": 16, "keys": {"rows": {"type": "array", "count": 3}}}),
        ),
    ] {
        let debug = debug(|settings| settings.trace_payloads = policy);
        debug.recorder().record(call("a", 1, ok()));
        let row = ask(&debug, json!({"op": "recent"}))["calls"][0].clone();
        assert_eq!((row["program"]["preview"].as_str(), &row["context"]), (program, &context));
        assert_eq!(
            (&row["program"]["bytes"], row["program"]["sha256"].as_str().unwrap().len()),
            (&json!(7), 64)
        );
    }
    let debug = debug(|settings| settings.trace_payloads = TracePayloads::Full);
    debug.recorder().record(call("a", 1, ok()));
    let record = ask(&debug, json!({"op": "get", "request_id": "a"}))["record"].clone();
    assert_eq!((&record["program"], &record["context"]), (&json!("(+ 1 2)"), &json!({"rows": [1, 2, 3]})));
    assert_eq!((&record["result"], &record["prints"]), (&json!("user=> 3"), &json!(["one"])));
}

#[test]
fn secrets_are_nowhere() {
    const CANARY: &str = "canary-77aa01b2";
    let redactor = Arc::new(Redactor::new());
    redactor.register("pat", &Secret::new(CANARY)).unwrap();
    for policy in [TracePayloads::None, TracePayloads::Summary, TracePayloads::Full] {
        let settings = Settings { trace_payloads: policy, ..Settings::default() };
        let debug = Debug::with_clock(&settings, Some(redactor.clone()), Arc::new(now));
        let payload = Payload {
            reason: Some(Reason::RuntimeError),
            message: format!("said {CANARY}"),
            result: Some(CANARY.into()),
            prints: vec![CANARY.into()],
            validated: Some(json!({"k": CANARY})),
            upstream_calls: vec![json!({"server": "s", "tool": "t", "status": "error", "error": CANARY})],
            ..Payload::default()
        };
        let mut record = call("a", 1, payload);
        // The preview cuts the secret in two, so scrubbing after that would miss it.
        record.args.insert("program".to_string(), json!(format!("{}{CANARY}", "x".repeat(250))));
        record.args.insert("context".to_string(), json!({"k": CANARY}));
        debug.recorder().record(record);
        for args in [json!({"op": "stats"}), json!({"op": "recent"}), json!({"op": "get", "request_id": "a"})]
        {
            let shown = ask(&debug, args).to_string();
            assert!(!shown.contains(CANARY) && !shown.contains("canary"), "{shown}");
        }
    }
}

/// Returns the size of the whole message as it would be sent, and the structured content.
fn frame(debug: &Debug, args: Value) -> (usize, Value) {
    let around = r#"{"jsonrpc":"2.0","id":7,"result":}"#.len();
    let payload = debug.call(args.as_object().unwrap(), &owner(), around);
    let reply = payload.reply(Profile::Slim).to_json();
    (reply.to_string().len() + around, reply["structuredContent"].clone())
}

#[test]
fn answers_have_a_size_and_shrink_in_order() {
    let debug = debug(|settings| {
        settings.max_debug_response_bytes = 1;
        settings.trace_payloads = TracePayloads::Full;
    });
    for i in 0..40 {
        let calls =
            (0..20).map(|n| json!({"server": format!("server-{i}-{n}"), "tool": "t", "status": "ok"}));
        let payload = Payload { upstream_calls: calls.collect(), ..metered(48_122, 812, json!(59.26)) };
        let mut record = call(&i.to_string(), 1, payload);
        record.tool = format!("tool_{i}");
        record.args.insert("program".to_string(), json!("x".repeat(100)));
        debug.recorder().record(record);
    }
    let (size, stats) = frame(&debug, json!({"op": "stats"}));
    assert!(size <= 4_096, "{size}");
    let omitted = json!(["top_reducers", "payload_reduction", "by_server", "durations", "by_tool"]);
    assert_eq!((&stats["truncated"], &stats["omitted"]), (&json!(true), &omitted));
    assert_eq!(stats["upstream_calls"], json!({"total": 800, "ok": 800, "by_reason": {}}));
    let (size, recent) = frame(&debug, json!({"op": "recent", "limit": 40}));
    assert!(size <= 4_096, "{size}");
    // The newest calls are there, as many as fit.
    assert_eq!(recent["calls"][0]["request_id"], "39");
    let shown = recent["count"].as_u64().unwrap();
    assert!(shown >= 2 && recent["omitted_calls"] == 40 - shown, "{recent}");
    let mut large = call("large", 1, ok());
    large.args.insert("program".to_string(), json!("x".repeat(9_000)));
    debug.recorder().record(large);
    let (size, found) = frame(&debug, json!({"op": "get", "request_id": "large"}));
    assert!(size <= 4_096, "{size}");
    assert_eq!((&found["found"], found.get("record")), (&json!(true), None));
    assert!(found["note"].as_str().unwrap().contains("--trace-dir"));
}

#[test]
fn load_is_shed_and_nobody_waits() {
    let debug = debug(|settings| settings.debug_ring_size = 5_000);
    let recorder = debug.recorder();
    for i in 0..20_000 {
        recorder.record(call(&i.to_string(), 1, ok()));
    }
    let count = ask(&debug, json!({"op": "stats"}))["ring_count"].as_u64().unwrap();
    assert!((1..=5_000).contains(&count), "{count}");
    // A recorder outlives the debugger without harm.
    drop(debug);
    recorder.record(call("late", 1, ok()));
}
