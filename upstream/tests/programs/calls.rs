//! `tool/call`: notations of calls, tagged results, failures of servers and mistakes of programs, budgets.

use super::fake::*;
use ptc_upstream::{CallLimits, Fault, Health, Options, ProgramOptions, Reason};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn a_call_gives_a_tagged_value() {
    let world = world();
    assert_eq!(
        world.value(r#"(tool/call {:server "store" :tool "get" :args {:id 7}})"#),
        r#"{:ok true :value {"id" 7 "name" "item 7"} :value_kind :json}"#
    );
    assert_eq!(
        world.value(r#"(tool/call {:server "fs" :tool "read_text_file" :args {:path "a"}})"#),
        r#"{:ok true :value "contents of a" :value_kind :text}"#
    );
    // Keywords work as keys in place of strings.
    assert_eq!(
        world.value(r#"(-> (tool/call {:server "store" :tool "get" :args {:id 7}}) :value :name)"#),
        r#""item 7""#
    );
}

#[test]
fn calls_are_spelled_in_several_ways() {
    let world = world();
    for call in [
        r#"(tool/call {:server "store" :tool "get" :args {:id 7}})"#,
        r#"(tool/call {"server" "store" "tool" "get" "args" {"id" 7}})"#,
        r#"(tool/call 'store/get {:id 7})"#,
        r#"(tool/call :server "store" :tool "get" :args {:id 7})"#,
        r#"(first (map tool/call [{:server "store" :tool "get" :args {:id 7}}]))"#,
        r#"(first (pmap tool/call [{:server "store" :tool "get" :args {:id 7}}]))"#,
        r#"((fn [f] (f {:server "store" :tool "get" :args {:id 7}})) tool/call)"#,
        r#"(-> {:server "store" :tool "get" :args {:id 7}} tool/call)"#,
    ] {
        assert_eq!(world.value(&format!("(:name (:value {call}))")), "\"item 7\"", "{call}");
    }
}

/// Comparing a long name with the known ones would take memory in proportion to both lengths.
#[test]
fn long_names_are_told_in_brief() {
    let world = world();
    let long = r#"(apply str (repeat 1000000 "x"))"#;
    for call in [
        format!(r#"(tool/call {{:server "store" :tool {long}}})"#),
        format!(r#"(tool/call {{:server {long} :tool "get"}})"#),
        format!(r#"(tool/call {{:server "store" :tool {long} :args 1}})"#),
        format!(r#"(tool/call {{:server {long} :tool 1}})"#),
        format!(
            r#"(tool/call {{:server "store" :tool "get" :args {{:id 1 :tag {long} :page-size {long}}}}})"#
        ),
    ] {
        let (reason, message) = world.raised(&call);
        assert_eq!(reason, "runtime_error");
        assert!(message.len() < 600, "{} bytes: {message:.200}", message.len());
    }
}

/// Such a schema would keep a validator busy for years, or overflow the stack.
#[test]
fn servers_cannot_keep_a_program_with_their_schemas() {
    let chain = |step: &dyn Fn(String) -> serde_json::Value| {
        let names = (0..3_000).map(|n| (format!("d{n}"), step(format!("#/$defs/d{}", n + 1))));
        let definitions: serde_json::Map<_, _> = names.chain([("d3000".to_string(), json!({}))]).collect();
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    };
    let long = chain(&|next| json!({"$ref": next}));
    let forked = chain(&|next| json!({"anyOf": [{"$ref": next}, {"$ref": next}]}));
    let many: Vec<String> = (0..100_000).map(|n| format!("argument{n}")).collect();
    let tools =
        vec![tool("long", "", long), tool("forked", "", forked), tool("many", "", json!({"required": many}))];
    let fake = Fake::new(tools, |_| Ok(text("done")));
    let world = World::new(vec![("s", fake.into())], Options::default());
    for name in ["long", "forked"] {
        let call = format!(r#"(:value (tool/call {{:server "s" :tool "{name}" :args {{:a 1}}}}))"#);
        assert_eq!(world.value(&call), "\"done\"");
    }
    let (_, message) = world
        .raised(r#"(tool/call {:server "s" :tool "many" :args (zipmap (map str (range 100000)) (range))})"#);
    assert!(
        message.starts_with("tool 's.many' rejected args: missing required args argument0, "),
        "{message:.200}"
    );
    assert!(message.len() < 600, "{} bytes", message.len());
}

#[test]
fn arguments_may_be_left_out() {
    let fake =
        Fake::new(vec![tool("t", "", json!({}))], |asked| Ok(structured(json!({"given": asked.args}))));
    let world = World::new(vec![("s", fake.into())], Options::default());
    for call in [r#"{:server "s" :tool "t"}"#, r#"{:server "s" :tool "t" :args {}}"#] {
        assert_eq!(world.value(&format!("(:value (tool/call {call}))")), r#"{"given" {}}"#);
    }
}

#[test]
fn payloads_are_selected() {
    let answers = [
        (structured(json!({"a": 1})), r#"{:ok true :value {"a" 1} :value_kind :json}"#),
        (
            json!({"structuredContent": null, "content": [{"type": "text", "text": "{\"b\": 2}"}]}),
            r#"{:ok true :value {"b" 2} :value_kind :json}"#,
        ),
        (text("null"), "{:ok true :value nil :value_kind :json}"),
        (text("[1, 2]"), "{:ok true :value [1 2] :value_kind :json}"),
        (text("{not json"), r#"{:ok true :value "{not json" :value_kind :text}"#),
        (
            json!({"content": [{"type": "image", "data": "x"}, {"type": "text", "text": "later"}]}),
            r#"{:ok true :value "later" :value_kind :text}"#,
        ),
        (
            json!({"content": [
                {"type": "text", "text": "a chart"},
                {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
            ]}),
            r#"{:ok true :value [{"text" "a chart" "type" "text"} {"data" "iVBORw==" "mimeType" "image/png" "type" "image"}] :value_kind :blocks}"#,
        ),
        (
            json!({"content": [{"type": "resource_link", "uri": "file:///a.csv", "name": "a"}]}),
            r#"{:ok true :value [{"name" "a" "type" "resource_link" "uri" "file:///a.csv"}] :value_kind :blocks}"#,
        ),
        (
            json!({"structuredContent": {"n": 1}, "content": [
                {"type": "text", "text": "{\"n\": 1}"},
                {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
            ]}),
            r#"{:ok true :value {"n" 1} :value_kind :json :blocks [{"text" "{\"n\": 1}" "type" "text"} {"data" "UklGRg==" "mimeType" "audio/wav" "type" "audio"}]}"#,
        ),
        (json!({"content": []}), "{:ok true :value nil :value_kind :none}"),
        (json!({}), "{:ok true :value nil :value_kind :none}"),
        (
            json!({"isError": true, "structuredContent": {"a": 1}, "content": [{"type": "text", "text": "no"}]}),
            r#"{:ok false :reason :tool_error :message "no"}"#,
        ),
    ];
    for (answer, wanted) in answers {
        let shown = answer.to_string();
        let fake = Fake::new(vec![tool("t", "", json!({}))], move |_| Ok(answer.clone()));
        let world = World::new(vec![("s", fake.into())], Options::default());
        assert_eq!(world.value("(tool/call 's/t {})"), wanted, "{shown}");
    }
}

#[test]
fn faults_of_the_world_are_values() {
    let reasons = [
        Reason::UpstreamUnavailable,
        Reason::UpstreamError,
        Reason::ToolError,
        Reason::AuthFailed,
        Reason::RateLimited,
        Reason::Timeout,
        Reason::ResponseTooLarge,
    ];
    for reason in reasons {
        let fake = Fake::new(vec![tool("t", "", json!({}))], move |_| Err(Fault::new(reason, "it is so")));
        let world = World::new(vec![("s", fake.into())], Options::default());
        let run = world.run("(let [r (tool/call 's/t {})] [(:ok r) (:reason r) (:message r)])");
        assert_eq!(run.result().unwrap(), format!("[false :{} \"it is so\"]", reason.name()));
        let calls = run.context.upstream_calls();
        assert_eq!((&calls[0]["status"], &calls[0]["reason"]), (&json!("error"), &json!(reason.name())));
        assert_eq!(calls[0]["error"], "it is so");
        assert_eq!(calls[0]["oversize"], json!(reason == Reason::ResponseTooLarge));
    }
}

#[test]
fn a_server_that_cannot_start_is_a_fault_of_the_world() {
    let world = World::new(vec![("s", Fake::down().into()), ("fs", files().into())], Options::default());
    let program =
        r#"[(:reason (tool/call 's/anything {})) (:ok (tool/call 'fs/read_text_file {:path "a"}))]"#;
    assert_eq!(world.value(program), "[:upstream_unavailable true]");
    assert_eq!(world.run(program).context.upstream_calls()[0]["reason"], "upstream_unavailable");
}

#[test]
fn what_is_missing_while_a_server_is_down_is_no_fault_of_the_program() {
    let fake = Arc::new(files());
    let world = World::new(vec![("fs", fake.clone())], Options::default());
    let call = "(:reason (tool/call 'fs/nope {}))";
    assert_eq!(world.raised(call).1, "no tool 'nope' in upstream 'fs'");
    *fake.health.lock().unwrap() = Health::Backoff;
    assert_eq!(world.value(call), ":upstream_unavailable");
}

#[test]
fn faults_of_the_program_have_these_messages_in_this_order() {
    let world = world();
    let cases = [
        ("(tool/call 5)", "tool/call requires a map, got 5"),
        (r#"(tool/call {:server "fs" :tol "x"})"#, "tool/call got an unknown key :tol"),
        (r#"(tool/call {:server "fs" "server" "fs"})"#, "tool/call has the key \"server\" twice"),
        ("(tool/call {})", "tool/call requires :server (string), got nil"),
        (r#"(tool/call {:server "" :tool 1})"#, "tool/call requires :server (string), got \"\""),
        ("(tool/call {:server :fs :tool 1})", "tool/call requires :server (string), got :fs"),
        (r#"(tool/call {:server "nope"})"#, "tool/call on upstream 'nope' requires :tool (string), got nil"),
        (
            r#"(tool/call {:server "nope" :tool 1})"#,
            "tool/call on upstream 'nope' requires :tool (string), got 1",
        ),
        (
            r#"(tool/call {:server "nope" :tool "t" :args [1]})"#,
            "tool 'nope.t' rejected args: :args must be a map, got [1]",
        ),
        (r#"(tool/call {:server "nope" :tool "t" :args {:f inc}})"#, "no upstream 'nope' configured"),
        (r#"(tool/call {:server "fs" :tool "nope" :args {:f inc}})"#, "no tool 'nope' in upstream 'fs'"),
        (
            r#"(tool/call {:server "fs" :tool "list_directory" :args {:f inc}})"#,
            "tool 'fs.list_directory' rejected args: not JSON-encodable (a function)",
        ),
        (
            r#"(tool/call {:server "store" :tool "get" :args {:id ##NaN}})"#,
            "tool 'store.get' rejected args: not JSON-encodable (##NaN is not a JSON number)",
        ),
        (
            r#"(tool/call {:server "fs" :tool "list_directory"})"#,
            "tool 'fs.list_directory' rejected args: missing required args path",
        ),
        (
            r#"(tool/call {:server "store" :tool "get" :args {:id "7"}})"#,
            "tool 'store.get' rejected args: id: \"7\" is not of type \"integer\"",
        ),
    ];
    for (program, wanted) in cases {
        let (reason, message) = world.raised(program);
        assert_eq!((&*reason, &*message), ("runtime_error", wanted), "{program}");
    }
    let failure = world.run(r#"(tool/call {:server "nope" :tool "t"})"#).error().unwrap();
    assert!(failure.contains("configured servers: fs, store"), "{failure}");
    let failure = world.run("(tool/call 'fs/read_file {})").error().unwrap();
    assert!(failure.contains("it has: read_text_file, list_directory"), "{failure}");
}

#[test]
fn nothing_is_sent_for_a_wrong_call_and_it_is_not_recorded() {
    let fake = Arc::new(store());
    let world = World::new(vec![("store", fake.clone())], Options::default());
    let run = world.run(r#"(tool/call 'store/get {:id "seven"})"#);
    assert!(run.outcome.is_err());
    assert!(fake.asked.lock().unwrap().is_empty());
    assert_eq!(run.context.upstream_calls(), json!([]));
    assert_eq!(run.metrics(), None);
}

#[test]
fn keys_are_spelled_as_the_server_does() {
    let fake = Arc::new(store());
    let world = World::new(vec![("store", fake.clone())], Options::default());
    world.value(r#"(tool/call 'store/get {:id 1 :page-size 5 :other-key {:deep-key 2 "kept-key" 3} "string-key" :kw})"#);
    assert_eq!(
        fake.last(),
        json!({"id": 1, "page-size": 5, "other_key": {"deep_key": 2, "kept-key": 3}, "string-key": "kw"})
    );
    // nil for an optional argument means leaving it out.
    world.value("(tool/call 'store/get {:id 1 :tag nil})");
    assert_eq!(fake.last(), json!({"id": 1}));
    world.value("(tool/call 'store/get {:id 1 :set #{2} :date nil :big 18446744073709551615})");
    assert_eq!(
        fake.last(),
        json!({"id": 1, "set": [2], "date": null, "big": 18_446_744_073_709_551_615_u64})
    );
}

#[test]
fn budgets_are_exact_under_pmap() {
    let fake = Arc::new(store());
    let limits = CallLimits { max_calls: 10, ..CallLimits::default() };
    let world = World::new(vec![("store", fake.clone())], Options { limits, ..Options::default() });
    // The order of the calls is not defined.
    let program = "(let [told (pmap #(tool/call 'store/get {:id %}) (range 60)) n (frequencies (map :reason told))] \
                   [(count (filter :ok told)) (:cap_exhausted n)])";
    let run = world.run(program);
    assert_eq!(run.result().unwrap(), "[10 50]");
    assert_eq!(fake.asked.lock().unwrap().len(), 10);
    // The cap and ten more are recorded; the rest are only counted.
    assert_eq!(run.context.upstream_calls().as_array().unwrap().len(), 20);
    assert_eq!(run.metrics().unwrap()["upstream_call_count"], 60);
    let message = world.value("(:message (last (map #(tool/call 'store/get {:id %}) (range 11))))");
    assert!(
        message.contains("10 upstream calls") && message.contains("max_upstream_calls_per_program"),
        "{message}"
    );
}

#[test]
fn fifty_calls_are_in_flight_together() {
    let fake = Arc::new(Fake { delay: Duration::from_millis(100), ..store() });
    let world = World::new(vec![("store", fake.clone())], Options::default());
    assert_eq!(world.value("(count (filter :ok (pmap #(tool/call 'store/get {:id %}) (range 50))))"), "50");
    assert_eq!(fake.most_in_flight.load(Ordering::SeqCst), 50);
    // The second call of a branch does not wait for the slowest first call.
    let fake = Arc::new(Fake { delay: Duration::from_millis(5), ..store() });
    let world = World::new(vec![("store", fake.clone())], Options::default());
    let twice = "(pmap (fn [n] [(:ok (tool/call 'store/get {:id n})) (:ok (tool/call 'store/get {:id n}))]) (range 20))";
    assert_eq!(world.value(&format!("(every? (fn [p] (every? true? p)) {twice})")), "true");
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    let fake = Arc::new(Fake { delay: Duration::from_secs(600), ..store() });
    let limits = CallLimits { call_timeout: Duration::from_millis(30), ..CallLimits::default() };
    let world = World::new(vec![("store", fake)], Options { limits, ..Options::default() });
    assert_eq!(world.value("(:reason (tool/call 'store/get {:id 1}))"), ":timeout");
    // The time limit of the program counts, too.
    let fake = Arc::new(Fake { delay: Duration::from_secs(600), ..store() });
    let mut world = World::new(vec![("store", fake)], Options::default());
    let limits = ptc_runtime::Limits { timeout_ms: 200, ..*world.runtime.current_limits() };
    world.runtime = world.runtime.limits(limits);
    assert_eq!(world.value("(:reason (tool/call 'store/get {:id 1}))"), ":timeout");
}

#[test]
fn the_trace_of_a_run_is_handed_on() {
    let fake = Arc::new(store());
    let world = World::new(vec![("store", fake.clone())], Options::default());
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let other = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more";
    for (given, wanted) in [
        (Some(trace), Some(trace)),
        (Some(other), Some(other)),
        (None, None),
        (Some("00-00000000000000000000000000000000-00f067aa0ba902b7-01"), None),
        (Some("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"), None),
        (Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nx: y"), None),
        (Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"), None),
        (Some("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), None),
        (Some(""), None),
    ] {
        let options = ProgramOptions { traceparent: given.map(str::to_string), ..ProgramOptions::default() };
        world.upstream.run(&world.runtime, "(tool/call 'store/get {:id 1})", &options);
        let asked = fake.asked.lock().unwrap().last().unwrap().traceparent.clone();
        assert_eq!(asked.as_deref(), wanted, "{given:?}");
    }
}

#[test]
fn a_server_that_starts_slowly_does_not_outlast_the_program() {
    let fake = Arc::new(Fake { slow_start: Duration::from_secs(600), ..store() });
    let mut world = World::new(vec![("store", fake)], Options::default());
    let limits = ptc_runtime::Limits { timeout_ms: 100, ..*world.runtime.current_limits() };
    world.runtime = world.runtime.limits(limits);
    let run = world.run("(tool/call 'store/get {:id 1})");
    let told = "upstream 'store' was not ready before the time limit of the program";
    assert_eq!(run.result().unwrap(), format!("{{:ok false :reason :timeout :message {told:?}}}"));
    assert_eq!(run.context.upstream_calls()[0]["reason"], "timeout");
    for lookup in ["(doc 'store/get)", "(dir 'store)"] {
        let run = world.run(lookup);
        assert_eq!(run.result().as_deref(), Some("nil"), "{:?}", run.error());
        let missed = run.context.catalog_faults();
        assert_eq!((&missed[0]["reason"], &missed[0]["error"]), (&json!("timeout"), &json!(told)));
    }
    // A tenth of the time is left for the program to search the known tools.
    let limits = ptc_runtime::Limits { timeout_ms: 2_000, ..*world.runtime.current_limits() };
    world.runtime = world.runtime.limits(limits);
    let run = world.run(r#"(apropos "get" {:load true :limit 1})"#);
    assert!(
        run.result().is_some_and(|found| found.starts_with("[\"local: ")),
        "{:?} {:?}",
        run.result(),
        run.error()
    );
    assert_eq!(run.context.catalog_faults()[0]["error"], json!(told));
}

#[test]
fn too_large_answers_are_refused_and_counted_apart() {
    let limits = CallLimits { max_response_bytes: 10, ..CallLimits::default() };
    let world = World::new(vec![("store", store().into())], Options { limits, ..Options::default() });
    let run = world.run("(:reason (tool/call 'store/get {:id 1}))");
    assert_eq!(run.result().unwrap(), ":response_too_large");
    let metrics = run.metrics().unwrap();
    assert_eq!(
        (&metrics["upstream_oversize_count"], &metrics["upstream_error_count"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(run.context.upstream_calls()[0]["oversize"], true);
}

#[test]
fn a_client_with_a_bug_harms_nobody_else() {
    let fake = Fake::new(vec![tool("t", "", json!({}))], |_| panic!("bug"));
    let world = World::new(vec![("s", fake.into()), ("store", store().into())], Options::default());
    assert_eq!(
        world.value("[(:reason (tool/call 's/t {})) (:ok (tool/call 'store/get {:id 1}))]"),
        "[:upstream_error true]"
    );
}

#[test]
fn a_run_that_is_over_calls_nothing() {
    let fake = Arc::new(store());
    let world = World::new(vec![("store", fake.clone())], Options::default());
    let attachment = world.upstream.attach(None);
    let tools = attachment.grant(ptc_runtime::Tools::new());
    let program = "(:reason (tool/call 'store/get {:id 1}))";
    let runtime = world.runtime.clone().with_tools(tools);
    let eval = || runtime.eval(program, &ptc_runtime::Grants::new()).unwrap().print().unwrap();
    assert_eq!(eval(), "nil");
    attachment.context().close();
    assert_eq!(eval(), ":run_context_closed");
    // The next run of a session has a full budget again.
    attachment.next(None);
    assert_eq!(eval(), "nil");
    assert_eq!(fake.asked.lock().unwrap().len(), 2);
}

#[test]
fn raw_envelopes_are_there_when_asked_for() {
    let client: Arc<dyn ptc_upstream::Client> = Arc::new(store());
    let about = ptc_upstream::About { raw_envelope: true, ..about("") };
    let redactor = ptc_upstream::redact::Redactor::new().into();
    let upstream = ptc_upstream::Upstream::of_clients(
        [("store".to_string(), about, client)],
        redactor,
        Options::default(),
    );
    let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core()).unwrap();
    let program = "(get-in (tool/call 'store/get {:id 1}) [:raw :structuredContent :id])";
    let run = upstream.unwrap().run(&runtime, program, &ProgramOptions::default());
    assert_eq!(run.result().unwrap(), "1");
}

#[test]
fn the_record_of_a_run_tells_sizes_and_shapes() {
    let world = world();
    let run = world.run(
        r#"(do (tool/call 'store/get {:id 1}) (tool/call 'fs/read_text_file {:path "a"}) (tool/call 'fs/read_text_file {:path "gone"}) "x")"#,
    );
    let calls = run.context.upstream_calls();
    assert_eq!(
        (&calls[0]["server"], &calls[0]["tool"], &calls[0]["status"]),
        (&json!("store"), &json!("get"), &json!("ok"))
    );
    assert_eq!(calls[0]["result_bytes"], r#"{"id":1,"name":"item 1"}"#.len());
    assert_eq!(calls[1]["result_bytes"], "contents of a".len());
    assert!(calls[0]["duration_ms"].is_u64());
    assert_eq!((&calls[2]["reason"], &calls[2]["error"]), (&json!("tool_error"), &json!("ENOENT: gone")));
    let results = run.context.upstream_results();
    assert_eq!(results[0]["shape"], "map keys=[id, name] count=2");
    assert_eq!(results[0]["preview"], r#"{"id":1,"name":"item 1"}"#);
    assert_eq!(
        (&results[1]["shape"], &results[1]["value_kind"]),
        (&json!("string chars=13"), &json!("text"))
    );
    let metrics = run.metrics().unwrap();
    assert_eq!(metrics["final_result_bytes"], 3);
    assert_eq!(metrics["upstream_result_bytes"], 24 + 13);
    assert_eq!(metrics["payload_reduction_ratio"], 12.33);
}

#[test]
fn metrics_of_a_program_that_fails_tell_what_was_fetched() {
    let run = world().run("(do (tool/call 'store/get {:id 1}) (fail \"no\"))");
    let metrics = run.metrics().unwrap();
    assert_eq!(
        (&metrics["final_result_bytes"], &metrics["payload_reduction_ratio"]),
        (&json!(0), &json!(null))
    );
    assert_eq!(metrics["upstream_result_bytes"], 24);
}

#[test]
fn without_servers_there_is_no_call() {
    let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core()).unwrap();
    let failure = runtime.eval("(tool/call {:server \"s\" :tool \"t\"})", &Default::default());
    assert_eq!(failure.err().unwrap().reason(), "runtime_error");
}

/// Runs the three programs of the guide against servers of the test.
#[test]
fn the_programs_of_the_guide_run() {
    let github = Fake::new(vec![tool("list_prs", "List pull requests", json!({}))], |_| {
        Ok(structured(json!([{"number": 1, "files": ["a.rs"]}, {"number": 2, "files": ["b.rs", "c.rs"]}])))
    });
    let fs = Fake::new(vec![tool("read_text_file", "", json!({}))], |request| {
        Ok(text(if request.args["path"] == "/etc/watched-paths.txt" { "c.rs\nd.rs" } else { "# Notes" }))
    });
    let world = World::new(
        vec![("fs", fs.into()), ("github", github.into()), ("store", store().into())],
        Options::default(),
    );
    let simple = r#"(let [r (tool/call {:server "fs" :tool "read_text_file" :args {:path "/srv/sandbox/notes.md"}})]
        (if (:ok r) (:value r) (fail (:message r))))"#;
    assert_eq!(world.value(simple), "\"# Notes\"");
    let cross = r#"
        (def unwrap (fn [r] (if (:ok r) (:value r) (fail (:message r)))))
        (def open-prs (unwrap (tool/call {:server "github" :tool "list_prs" :args {:state "open" :limit 50}})))
        (def watched-paths (unwrap (tool/call {:server "fs" :tool "read_text_file" :args {:path "/etc/watched-paths.txt"}})))
        (def watch-set (set (clojure.string/split-lines watched-paths)))
        (def hits (filter (fn [pr] (some watch-set (:files pr))) open-prs))
        (map :number hits)"#;
    assert_eq!(world.value(cross), "[2]");
    let batch = r#"
        (def ids [101 102 404 104])
        (def items (pmap (fn [id] (tool/call {:server "store" :tool "get" :args {:id id}})) ids))
        (def good (map :value (filter :ok items)))
        (map :name good)"#;
    assert_eq!(world.value(batch), r#"["item 101" "item 102" "item 104"]"#);
}
