//! Events as subscribers get them.

use ptc_agent::trace::{AgentLabel, Event, Kind, Scope, Tracer};
use ptc_contract::firewall::{Secrets, SharedSecrets};
use ptc_model::Tokens;
use ptc_runtime::bridge::json_to_datum;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

type Seen = Arc<Mutex<Vec<Event>>>;

fn recorded() -> (Tracer, Seen) {
    let seen = Seen::default();
    let to = seen.clone();
    (Tracer::new().with(move |event: &Event| to.lock().unwrap().push(event.clone())), seen)
}

fn label() -> AgentLabel {
    AgentLabel::new(Some("triage"), "c0ffee12")
}

fn knowing(data: Value) -> Option<SharedSecrets> {
    let mut secrets = Secrets::default();
    secrets.learn(&json_to_datum(&data).unwrap());
    Some(Arc::new(Mutex::new(secrets)))
}

#[test]
fn every_event_says_where_it_belongs() {
    let (tracer, seen) = recorded();
    let mission = tracer.mission(label(), None);
    mission.emit(Kind::RunStart, |_| ());
    let turn = mission.child();
    turn.emit(Kind::TurnStart, |event| event.turn = Some(1));
    let tool = turn.child();
    let below = tool.mission(AgentLabel::new(None, "00000002"), None);
    below.emit(Kind::RunStart, |_| ());

    let seen = seen.lock().unwrap();
    let [_, run, turned, _, child] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!((run.depth, run.parent, run.agent_name.as_deref()), (0, None, Some("triage")));
    assert_eq!((turned.trace_id, turned.parent), (run.trace_id, Some(run.span)));
    assert_eq!((child.depth, child.parent, &*child.agent_id), (1, Some(tool.span()), "00000002"));
    assert_ne!(child.trace_id, run.trace_id);
    assert_eq!(child.data["parent_trace_id"], run.trace_id.to_string());
    assert_eq!((below.trace_id(), below.parent_trace_id()), (child.trace_id, Some(run.trace_id)));
}

#[test]
fn the_config_comes_first_and_once() {
    let (tracer, seen) = recorded();
    let mission = tracer.mission(label(), None);
    let config = || json!({"max_turns": 5}).as_object().cloned().unwrap();
    mission.config(config);
    mission.emit(Kind::RunStart, |event| {
        event.model = Some("m1".into());
        event.put("prompt", "Count");
    });
    mission.child().config(|| unreachable!("told already"));
    let seen = seen.lock().unwrap();
    let kinds: Vec<Kind> = seen.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::TraceStart, Kind::AgentConfig, Kind::RunStart]);
    assert_eq!(
        (seen[0].seq, &seen[0].data["query"], seen[0].model.as_deref()),
        (0, &json!("Count"), Some("m1"))
    );
    assert_eq!(seen[1].data["max_turns"], 5);
}

#[test]
fn a_trace_ends_when_the_last_scope_is_gone() {
    let (tracer, seen) = recorded();
    let mission = tracer.mission(label(), None);
    mission.emit(Kind::RunStart, |_| ());
    let turn = mission.child();
    drop(mission);
    turn.emit(Kind::TurnStop, |_| ());
    drop(turn);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.last().unwrap().kind, Kind::TraceStop);
    assert!(seen.last().unwrap().duration.is_some() && seen[2].duration.is_some());
    assert!(seen.iter().enumerate().all(|(i, event)| event.seq == i as u64));
}

#[test]
fn nothing_firewalled_leaves() {
    let (tracer, seen) = recorded();
    let secrets = knowing(json!({"_token": "tok-84711", "_account": 20481024}));
    let mission = tracer.mission(AgentLabel::new(Some("tok-84711 agent"), "c0ffee12"), secrets);
    mission.config(|| json!({"note": "tok-84711"}).as_object().cloned().unwrap());
    mission.emit(Kind::ToolCall, |event| {
        event.tool_name = Some("pay tok-84711".into());
        event.status = Some("refused: tok-84711".into());
        event.model = Some("m-tok-84711".into());
        event.put("prompt", "pay with tok-84711");
        event.put(
            "args",
            json!({"_card": {"n": 1}, "deep": [{"x": "a tok-84711 b", "_y": 2, "tok-84711": 20481024}]}),
        );
    });
    drop(mission);
    let seen = seen.lock().unwrap();
    let all = format!("{seen:?}");
    assert!(!all.contains("tok-84711") && !all.contains("20481024"), "{all}");
    let call = seen.iter().find(|event| event.kind == Kind::ToolCall).unwrap();
    let x = json!({"x": "a <Firewalled> b", "_y": "<Firewalled>", "<Firewalled>": "<Firewalled>"});
    assert_eq!(call.data["args"], json!({"_card": "<Firewalled>", "deep": [x]}));
}

#[test]
fn an_agent_may_show_what_is_firewalled() {
    let (tracer, seen) = recorded();
    tracer.mission(label(), None).emit(Kind::ToolCall, |event| event.put("args", json!({"_card": 1})));
    assert_eq!(seen.lock().unwrap()[1].data["args"], json!({"_card": 1}));
}

#[test]
fn more_secrets_than_can_be_found_hide_every_text() {
    let (tracer, seen) = recorded();
    let many: Vec<String> = (0..100_001).map(|n| format!("secret-{n}")).collect();
    let mission = tracer.mission(label(), knowing(json!({"_ids": many})));
    mission.emit(Kind::TurnStop, |event| event.put("prints", json!(["secret-100000", 7])));
    assert_eq!(seen.lock().unwrap()[1].data["prints"], json!(["<Firewalled>", 7]));
}

#[test]
fn a_subscriber_that_panics_is_left_out() {
    let (tracer, seen) = recorded();
    let calls = Arc::new(Mutex::new(0));
    let counted = calls.clone();
    let tracer = tracer.with(move |_: &Event| {
        *counted.lock().unwrap() += 1;
        std::panic::panic_any("a subscriber's own mistake");
    });
    let mission = tracer.mission(label(), None);
    mission.emit(Kind::RunStart, |_| ());
    mission.emit(Kind::RunStop, |_| ());
    assert_eq!((seen.lock().unwrap().len(), *calls.lock().unwrap_or_else(|e| e.into_inner())), (3, 1));
}

#[test]
fn deterministic_traces_are_the_same_every_time() {
    let run = || {
        let (tracer, seen) = recorded();
        let mission = tracer.deterministic().mission(label(), None);
        mission.emit(Kind::RunStart, |_| ());
        let llm = mission.child();
        llm.emit(Kind::LlmStart, |_| ());
        llm.emit(Kind::LlmStop, |event| {
            event.tokens = Some(Tokens::new(7, 2));
            event.duration = Some(std::time::Duration::from_nanos(u64::from(std::process::id())));
        });
        mission.mission(label(), None).emit(Kind::RunStart, |_| ());
        drop((llm, mission));
        seen.lock().unwrap().clone()
    };
    let (one, other) = (run(), run());
    assert_eq!(one, other);
    assert_eq!(one[0].trace_id.to_string(), "00000000000000000000000000000001");
    assert_eq!(one[0].at.to_string(), "2030-01-01T00:00:00.001Z");
    assert_eq!(one[3].duration.map(|took| took.as_millis()), Some(2));
}

#[test]
fn scopes_cross_threads() {
    let (tracer, seen) = recorded();
    let mission = tracer.mission(label(), None);
    std::thread::scope(|threads| {
        for _ in 0..8 {
            let branch = mission.child();
            threads.spawn(move || (0..100).for_each(|_| branch.child().emit(Kind::ToolCall, |_| ())));
        }
    });
    let seen = seen.lock().unwrap();
    let spans: std::collections::HashSet<_> = seen.iter().map(|event| event.span).collect();
    let seqs: std::collections::HashSet<_> = seen.iter().map(|event| event.seq).collect();
    assert_eq!((seen.len(), spans.len(), seqs.len()), (801, 801, 801));
}

#[test]
fn names_of_events_have_aliases() {
    let aliases: Vec<_> = Kind::ALL.iter().filter_map(|kind| Some((kind.alias()?, kind.name()))).collect();
    let wanted = [
        ("mission_start", "run.start"),
        ("mission_stop", "run.stop"),
        ("turn_start", "turn.start"),
        ("turn_stop", "turn.stop"),
    ];
    assert_eq!(aliases, wanted);
    assert!(Kind::ALL.iter().all(|kind| Kind::from_name(kind.name()) == Some(*kind)));
}

#[test]
fn nobody_listens() {
    let scope = Scope::off();
    scope.config(|| unreachable!());
    scope.child().mission(label(), None).emit(Kind::RunStart, |_| unreachable!());
    assert!(!scope.is_on() && !Tracer::new().mission(label(), None).is_on());
}
