//! A secret that a server echoes everywhere, which must appear nowhere.

use super::fake::*;
use ptc_agent::tools::LlmRef;
use ptc_agent::trace::{Event, Tracer};
use ptc_agent::{Agent, RunOptions};
use ptc_model::Scripted;
use ptc_runtime::{Prelude, Runtime};
use ptc_upstream::credentials::Secret;
use ptc_upstream::redact::Redactor;
use ptc_upstream::{Fault, Options, Reason, Snapshot};
use serde_json::json;
use std::sync::{Arc, Mutex};

const SECRET: &str = "canary/7a\"1f";

/// Returns all encoded forms of the secret.
fn forms() -> Vec<String> {
    let escaped = serde_json::to_string(SECRET).unwrap();
    vec![
        SECRET.to_string(),
        escaped[1..escaped.len() - 1].to_string(),
        "canary%2F7a%221f".to_string(),
        "Y2FuYXJ5LzdhIjFm".to_string(),
    ]
}

#[track_caller]
fn clean(what: &str, text: &str) {
    for form in forms() {
        assert!(!text.contains(&form), "{what} shows it: {text}");
    }
}

/// Creates a server that echoes its credential wherever it can.
fn echo() -> Fake {
    let mut told = tool(
        &format!("t_{SECRET}"),
        &format!("Uses {SECRET} and {}", forms()[3]),
        json!({"properties": {SECRET: {"description": SECRET, "enum": [SECRET]}}}),
    );
    told.annotations = Some(json!({SECRET: SECRET, "title": SECRET}));
    told.output_schema = Some(json!({"description": SECRET, "properties": {SECRET: {}}}));
    told.provenance = Some(json!({"path": SECRET}));
    let plain = tool("plain", "", json!({}));
    let broken = tool("broken", "", json!({}));
    let failing = tool("failing", "", json!({}));
    Fake::new(vec![told, plain, broken, failing], |request| match &*request.tool {
        "broken" => Err(Fault::new(Reason::UpstreamError, format!("401 for {SECRET}, {}", "x".repeat(480)))),
        "failing" => Ok(
            json!({"isError": true, "content": [{"type": "text", "text": format!("{}{SECRET}", "y".repeat(495))}]}),
        ),
        _ => Ok(structured(json!({SECRET: SECRET, "url": "https://x?k=canary%2F7a%221f"}))),
    })
}

fn world(snapshot: Snapshot) -> World {
    let redactor = Redactor::new();
    redactor.register("pat", &Secret::new(SECRET)).unwrap();
    World::try_new(vec![("s", echo().into())], Options { snapshot, ..Options::default() }, redactor).unwrap()
}

#[test]
fn it_is_in_no_catalogue_and_no_lookup() {
    for snapshot in [Snapshot::Frozen, Snapshot::Live] {
        let world = world(snapshot);
        clean("catalogue", &format!("{:?} {}", world.upstream, world.upstream.render()));
        for program in [
            "(tool/servers)",
            "(dir 's)",
            "(map doc (map #(str \"s/\" %) [\"plain\" \"t_[REDACTED]\"]))",
            "(meta \"s/t_[REDACTED]\")",
            "(apropos \"uses\" {:load true})",
        ] {
            clean(program, &world.value(program));
            let raw = world.run(program).outcome.unwrap().print().unwrap();
            clean(program, &raw);
        }
    }
}

#[test]
fn it_is_in_no_result_message_or_record() {
    let world = world(Snapshot::Live);
    for program in [
        "(tool/call 's/plain {})",
        "(:message (tool/call 's/broken {}))",
        "(:message (tool/call 's/failing {}))",
        "(do (tool/call 's/plain {}) (doc 's/plain))",
        "(fail (tool/call 's/plain {}))",
        "(+ 1 (:value (tool/call 's/plain {})))",
        &format!("(tool/call 's/plain {{:a inc :b {SECRET:?}}})"),
    ] {
        let run = world.run(program);
        clean(program, &format!("{:?} {:?}", run.result(), run.error()));
        clean("calls", &run.context.upstream_calls().to_string());
        clean("results", &run.context.upstream_results().to_string());
        clean("metrics", &format!("{:?}", run.metrics()));
        clean("context", &format!("{:?}", run.context));
    }
    // The program itself does not see the secret either.
    for program in ["(:message (tool/call 's/failing {}))", "(:value (tool/call 's/plain {}))"] {
        clean(program, &world.run(program).outcome.unwrap().print().unwrap());
    }
}

#[test]
fn a_program_cannot_send_it_on() {
    let echoes = forms().into_iter().map(|form| json!({"said": form, "as_text": format!("<{form}>")}));
    let echoes: Vec<_> = echoes.chain([json!({SECRET: 1})]).collect();
    let in_text = text(&json!({"key": SECRET}).to_string());
    let escaped =
        text(&format!(r#"{{"key": "{}"}}"#, SECRET.replace('"', "\\u0022").replace('c', "\\u0063")));
    let answers = move |request: &ptc_upstream::Request| match &*request.tool {
        "structured" => Ok(structured(json!(echoes))),
        "text" => Ok(in_text.clone()),
        "escaped" => Ok(escaped.clone()),
        _ => Ok(json!({"isError": true, "content": [{"type": "text", "text": SECRET}]})),
    };
    let tools = ["structured", "text", "escaped", "failing"].map(|name| tool(name, "", json!({})));
    let sink = Arc::new(Fake::new(vec![tool("put", "", json!({}))], |_| Ok(text("thanks"))));
    let redactor = Redactor::new();
    redactor.register("pat", &Secret::new(SECRET)).unwrap();
    let servers = vec![("s", Arc::new(Fake::new(tools.to_vec(), answers))), ("sink", sink.clone())];
    let world = World::try_new(servers, Options::default(), redactor).unwrap();
    for name in ["structured", "text", "escaped", "failing"] {
        let program =
            format!("(let [r (tool/call 's/{name} {{}})] (tool/call 'sink/put {{:all r :text (pr-str r)}}))");
        world.value(&program);
        let sent = sink.last();
        assert!(sent["all"].is_object(), "{name}: {sent}");
        for text in [sent.to_string(), sent["text"].as_str().unwrap().to_string()] {
            clean(name, &text);
            assert!(text.contains("REDACTED"), "{name}: {text}");
        }
    }
}

#[test]
fn it_is_in_no_prompt_and_no_step_of_a_mission() {
    let world = world(Snapshot::Frozen);
    let agent = Agent::builder().prompt("Look").max_turns(3).build().unwrap();
    let model = Scripted::new(["(tool/call 's/plain {})", "(return (tool/call 's/plain {}))"]);
    let options = RunOptions {
        continuation_guard: Some(Arc::new(|_, _| ptc_agent::mission::Guard::Continue)),
        ..RunOptions::new()
    };
    let run = run_mission(&world.upstream, &agent, &options.llm(LlmRef::client(model.clone())));
    clean("step", &format!("{:?}", run.step));
    clean("requests", &format!("{:?}", model.requests()));
    clean("calls", &run.context.upstream_calls().to_string());
    assert!(run.step.is_ok());
}

/// Wrappers of preludes leak nothing either: not in the prelude, in prompts about it, or in traces of its calls.
#[test]
fn it_is_in_no_prelude_and_in_no_trace_of_its_calls() {
    let source = r#"(ns told "Tells.") (defn plain "All." [] (tool/call {:server "s" :tool "plain"}))
        (defn broken [] (:message (tool/call {:server "s" :tool "broken"})))"#;
    let prelude = Prelude::compile(&Runtime::with_core(ptc_preludes::core()).unwrap(), source).unwrap();
    let events: Arc<Mutex<Vec<String>>> = Arc::default();
    let keep = events.clone();
    let tracer = Tracer::new().with(move |event: &Event| keep.lock().unwrap().push(format!("{event:?}")));
    let world = world(Snapshot::Live);
    let agent = Agent::builder().prompt("Look").max_turns(3).runtime_prelude(Some(prelude.clone())).build();
    let model = Scripted::new([
        "(println (told/plain)) (told/broken)",
        "(println (doc 'told/plain) (meta 'told/plain)) (return [(told/plain) (told/broken)])",
    ]);
    let options = RunOptions {
        continuation_guard: Some(Arc::new(|_, _| ptc_agent::mission::Guard::Continue)),
        tracer,
        ..RunOptions::new()
    };
    let run = run_mission(&world.upstream, &agent.unwrap(), &options.llm(LlmRef::client(model.clone())));
    let step = run.step.unwrap();
    assert!(model.requests()[0].system.contains("told/plain (plain)"));
    assert_eq!(step.tool_calls.iter().filter(|call| call.origin.is_some()).count(), 2);
    clean("requests", &format!("{:?}", model.requests()));
    clean("step", &format!("{step:?}"));
    clean("prelude trace", &serde_json::to_string(&step.prelude_trace).unwrap());
    clean("artifact", &String::from_utf8_lossy(&prelude.to_bytes()));
    let events = events.lock().unwrap();
    assert!(events.iter().any(|event| event.contains("REDACTED")), "the calls are in the trace: {events:?}");
    events.iter().for_each(|event| clean("event", event));
}
