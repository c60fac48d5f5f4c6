//! Traces: the record of a mission for outside readers.

use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::trace::{Event, Tracer};
use ptc_agent::{Agent, RunOptions, run};
use ptc_model::{LlmResponse, Reply, Scripted, Tokens};
use serde_json::json;
use std::sync::{Arc, Mutex};

#[test]
fn s001_four_events_and_the_trace_of_a_step() {
    let agent = Agent::builder()
        .prompt("How many orders are late?")
        .signature("() -> :int")
        .tool(Tool::new("orders", |_, _| Ok(json!([1, 2, 3]))).signature("() -> [:int]"))
        .build()
        .unwrap();
    let counted = |text: &str, output| Reply::from(LlmResponse::from(text).tokens(Tokens::new(100, output)));
    let model = Scripted::new([
        counted("(def orders (tool/orders))", 7),
        counted("(+ 1 nil)", 8),
        counted("(return (count orders))", 9),
    ]);
    let seen: Arc<Mutex<Vec<(String, Event)>>> = Arc::default();
    let mut tracer = Tracer::new();
    for name in ["mission_start", "turn_start", "turn_stop", "mission_stop"] {
        let to = seen.clone();
        let put = move |event: &Event| to.lock().unwrap().push((name.to_string(), event.clone()));
        tracer = tracer.on(name, put).unwrap();
    }
    let step = run(&agent, &RunOptions::new().llm(LlmRef::client(model)).tracer(tracer)).unwrap();

    let seen = seen.lock().unwrap();
    let names: Vec<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
    let turn = ["turn_start", "turn_stop"];
    assert_eq!(names, [&["mission_start"], &turn[..], &turn[..], &turn[..], &["mission_stop"]].concat());
    // The end of a turn reports its cost and status; the end of the mission reports the total cost.
    let stops: Vec<&Event> =
        seen.iter().filter(|(name, _)| name == "turn_stop").map(|(_, event)| event).collect();
    let told: Vec<_> = stops
        .iter()
        .map(|stop| {
            (stop.turn, stop.tokens.unwrap().output, stop.status.as_deref(), stop.data["success"].clone())
        })
        .collect();
    assert_eq!(
        told,
        [
            (Some(1), Some(7), Some("ok"), json!(true)),
            (Some(2), Some(8), Some("error"), json!(false)),
            (Some(3), Some(9), Some("ok"), json!(true)),
        ]
    );
    assert!(stops.iter().all(|stop| stop.duration.is_some()));
    let (_, ended) = seen.last().unwrap();
    assert_eq!((&ended.data["return"], ended.status.as_deref()), (&json!(3), Some("ok")));
    assert!(ended.duration.is_some());
    assert_eq!(
        (&ended.data["usage"]["turns"], &ended.data["usage"]["output_tokens"]),
        (&json!(3), &json!(24))
    );
    assert_eq!(seen[2].1.data["program"], "(def orders (tool/orders))");

    let trace = step.trace();
    assert_eq!(trace.len(), 3);
    assert_eq!([trace[0].success, trace[1].success, trace[2].success], [true, false, true]);
    assert_eq!(trace[0].program.as_deref(), Some("(def orders (tool/orders))"));
    assert_eq!(
        (trace[0].tool_calls[0].name.as_str(), &trace[0].tool_calls[0].result),
        ("orders", &json!([1, 2, 3]))
    );
    assert_eq!(step.trace_id, ended.trace_id.to_string());
}
