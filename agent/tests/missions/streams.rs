//! Missions that are watched while they run.

use crate::kit::{agent, at_once, with};
use ptc_agent::mission::{MissionEvent, MissionEventKind as What, stream};
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::trace::{Event, Kind, MemorySink, Tracer};
use ptc_agent::{Agent, RunOptions, run};
use ptc_model::{
    Chunk, Client, LlmError, LlmRequest, LlmResponse, Model, ModelFuture, Output, Reply, Scripted, ToolCall,
};
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Formats an event as one line.
fn line(event: &MissionEvent) -> String {
    let text = match &event.kind {
        What::TurnBegan(kind) => format!("turn {} {}", event.turn.unwrap(), kind.name()),
        What::Text(text) => format!("text {text}"),
        What::TextRestarted => "again".to_string(),
        What::Program(program) => format!("program {program}"),
        What::ToolCalled { name, args } => format!("call {name} {args}"),
        What::ToolAnswered { name, answer: Ok(answer), .. } => format!("answer {name} {answer}"),
        What::ToolAnswered { name, answer: Err(error), .. } => format!("error {name} {error}"),
        What::Printed(lines) => format!("printed {}", lines.join("|")),
        What::Feedback(text) => format!("told {}", text.lines().next().unwrap_or_default()),
        What::TurnEnded { is_success, .. } => format!("turn over {is_success}"),
        What::Omitted(count) => format!("omitted {count}"),
        What::Ended(Ok(step)) => format!("ended {}", step.json().unwrap()),
        What::Ended(Err(step)) => format!("failed {}", step.reason()),
        other => format!("{other:?}"),
    };
    format!("{}{text}", "  ".repeat(event.depth as usize))
}

fn lines(agent: Agent, options: RunOptions) -> Vec<String> {
    stream(agent, options).blocking().map(|event| line(&event)).collect()
}

fn price() -> Tool {
    Tool::new("price", |args, _| Ok(args.json()?["of"].as_str().map_or(0, str::len)))
}

#[test]
fn everything_is_told_as_it_happens() {
    let model = Scripted::new([
        Reply::pieces(["(println \"hi\") ", "(tool/price {:of \"tea\"})"]),
        "(tool/price 5)".into(),
        "(return 7)".into(),
    ]);
    let events = lines(agent("Tea?").tool(price()).build().unwrap(), with(&model));
    let expected = [
        "turn 1 normal",
        "text (println \"hi\") (tool/price {:of \"tea\"})",
        "program (println \"hi\") (tool/price {:of \"tea\"})",
        "call price {\"of\":\"tea\"}",
        "answer price 3",
        "printed hi",
        "turn over true",
        "turn 2 normal",
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let told: Vec<&&str> = events.iter().filter(|line| line.starts_with("told ")).collect();
    assert_eq!(told.len(), 2, "{events:#?}");
    let rest: Vec<&str> = events.iter().copied().filter(|line| !line.starts_with("told ")).collect();
    assert_eq!(rest[..8], expected, "{events:#?}");
    assert_eq!(rest.last(), Some(&"ended 7"));
}

#[tokio::test]
async fn text_comes_in_pieces_while_the_model_writes() {
    // The second piece is only written after the first was read.
    struct Slow(Arc<tokio::sync::Notify>);
    impl Model for Slow {
        fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
            Box::pin(async move {
                let sink = request.stream.as_ref().expect("somebody watches");
                sink.send(Chunk::Delta("(return ".into()));
                self.0.notified().await;
                sink.send(Chunk::Delta("7)".into()));
                Ok(LlmResponse::from("(return 7)"))
            })
        }
    }
    let read = Arc::<tokio::sync::Notify>::default();
    let options = RunOptions::new().llm(LlmRef::client(Slow(read.clone())));
    let mut events = stream(agent("Count").build().unwrap(), options);
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        if let What::Text(text) = &event.kind {
            seen.push(text.clone());
            read.notify_one();
        }
    }
    assert_eq!(seen, ["(return ", "7)"]);
}

#[test]
fn words_beside_calls_of_tools_are_told_and_the_host_s_stream_has_answers_only() {
    let answers = Arc::<Mutex<Vec<Chunk>>>::default();
    let given = answers.clone();
    let sink = ptc_model::ChunkSink::new(move |chunk| given.lock().unwrap().push(chunk));
    let call = ToolCall::read(Some("a"), "price", "{\"of\": \"tea\"}");
    let mut first = LlmResponse::calls([call]);
    first.content = Some("Let me see.".into());
    let model = Scripted::new([Reply::from(first), Reply::pieces(["Three ", "euros."])]);
    let agent = agent("Tea?").output(Output::Text).tool(price()).build().unwrap();
    let events = lines(agent, RunOptions { on_chunk: Some(sink), ..with(&model) });
    let of_interest: Vec<&String> = events.iter().filter(|line| !line.starts_with("turn")).collect();
    assert_eq!(
        of_interest,
        [
            "text Let me see.",
            "call price {\"of\":\"tea\"}",
            "answer price 3",
            "text Three euros.",
            "ended \"Three euros.\""
        ]
    );
    let answer = Chunk::Delta("Three euros.".into());
    assert_eq!(*answers.lock().unwrap(), [answer, Chunk::Done(None)]);
}

#[test]
fn agents_below_are_told_with_their_depth() {
    let below = Agent::builder().name("counter").prompt("Count").signature("() -> :int").build().unwrap();
    let model = Scripted::new(["(return (tool/count {}))", "(return 7)"]);
    let events = lines(agent("Ask").tool(Tool::agent("count", below)).build().unwrap(), with(&model));
    let at = |line: &str| {
        events.iter().position(|known| known == line).unwrap_or_else(|| panic!("{line}: {events:#?}"))
    };
    assert!(at("call count {}") < at("  turn 1 normal"), "{events:#?}");
    assert!(at("  program (return 7)") < at("answer count 7"), "{events:#?}");
    assert_eq!(events.iter().filter(|line| line.starts_with("ended")).count(), 1);
}

#[test]
fn a_failed_mission_and_one_that_cannot_start_end_the_stream() {
    let events = lines(agent("Count").build().unwrap(), RunOptions::new());
    assert_eq!(events, ["failed llm_required"]);
    let model = Scripted::new(["(fail {:reason :gone :message \"m\"})"]);
    let events = lines(agent("Count").build().unwrap(), with(&model));
    assert_eq!(events.last().unwrap(), "failed gone");
}

#[test]
fn a_reader_holds_the_mission_back() {
    let calls = Arc::<AtomicUsize>::default();
    let counted = calls.clone();
    let model = move |_: &LlmRequest| {
        // A reply that is there at once would let the first poll go on to the second turn.
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok("(+ 1 2)")
    };
    let options = RunOptions::new().llm(LlmRef::from(model));
    let mut events =
        stream(agent("Count").max_turns(50).turn_budget(50).build().unwrap(), options).blocking();
    assert!(matches!(events.next().unwrap().kind, What::TurnBegan(_)));
    // The first request may be under way on a thread of its own; no later one starts until its turn is read.
    std::thread::sleep(Duration::from_millis(100));
    assert!(calls.load(Ordering::SeqCst) <= 1, "nothing is asked that nobody reads about");
    let turns = events.filter(|event| matches!(event.kind, What::TurnBegan(_))).count();
    assert_eq!((turns, calls.load(Ordering::SeqCst)), (49, 50));
}

#[test]
fn what_waits_in_memory_is_bounded() {
    // All events in one step of the mission, so that the reader cannot hold it back.
    let flood = |request: &LlmRequest| {
        let sink = request.stream.as_ref().unwrap();
        for n in 0..100_000 {
            sink.send(Chunk::Delta(format!("{n} {}", "x".repeat(1000))));
        }
        Ok::<_, LlmError>("(return 7)")
    };
    let model = Scripted::new([Reply::from_fn(flood)]);
    let mut bytes = 0;
    let mut omitted = 0;
    let mut last = String::new();
    for event in stream(agent("Count").build().unwrap(), with(&model)).blocking() {
        match &event.kind {
            What::Text(text) => bytes += text.len(),
            What::Omitted(count) => omitted += count,
            _ => {}
        }
        last = line(&event);
    }
    assert!(bytes <= 4 << 20, "{bytes}");
    assert!(omitted > 90_000, "{omitted}");
    assert_eq!(last, "ended 7", "the result is never left out");
}

#[tokio::test]
async fn dropping_the_stream_ends_the_mission() {
    struct Gone(Arc<AtomicBool>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let gone = Arc::<AtomicBool>::default();
    let seen = gone.clone();
    let slow = Tool::new_async("slow", move |_, _| {
        let gone = Gone(gone.clone());
        async move {
            std::future::pending::<()>().await;
            drop(gone);
            Ok(1)
        }
    });
    let ends = Arc::<Mutex<Vec<Kind>>>::default();
    let noted = ends.clone();
    let tracer = Tracer::new().with(move |event: &Event| {
        if event.kind.ends_run() {
            noted.lock().unwrap().push(event.kind);
        }
    });
    let options = with(&Scripted::new(["(tool/slow {})"])).tracer(tracer);
    let mut events = stream(agent("Wait").tool(slow).build().unwrap(), options);
    loop {
        let event = events.next().await.expect("the call");
        if matches!(event.kind, What::ToolCalled { .. }) {
            break;
        }
    }
    drop(events);
    assert!(seen.load(Ordering::SeqCst), "the call is dropped");
    assert_eq!(*ends.lock().unwrap(), [Kind::RunException]);
}

#[test]
fn firewalled_values_are_hidden_however_the_text_is_cut() {
    let secret = "canary-84711-of-the-house";
    let data = json!({"_token": secret, "n": 1});
    let model = || {
        Scripted::new([
            Reply::pieces([
                "(println \"can",
                "ary-84711",
                "-of-the-house",
                " canary-84",
                "712\") ",
                "(tool/note {:_t data/_token})",
            ]),
            Reply::pieces(["(return 7) ; ", "canary-8471"]),
        ])
    };
    let note = || Tool::new("note", |args, _| Ok(json!({"_seen": args.json()?["_t"], "n": 2})));
    let shown = |show: bool| {
        let agent = agent("Look").tool(note()).trace_firewalled(show).build().unwrap();
        let events = stream(agent, with(&model()).context(&data).unwrap()).blocking();
        let events: Vec<String> =
            events.filter(|event| !matches!(event.kind, What::Ended(_))).map(|event| line(&event)).collect();
        events.join("\n")
    };
    let hidden = shown(false);
    assert!(!hidden.contains(secret), "{hidden}");
    assert!(!hidden.contains("-of-the-house"), "no part of it: {hidden}");
    assert!(hidden.contains("text (println \"<Firewalled> canary-84712\") (tool/note"), "{hidden}");
    assert!(hidden.contains("answer note {\"_seen\":\"<Firewalled>\",\"n\":2}"), "{hidden}");
    assert!(shown(true).contains(secret), "an agent may say that traces show them");
}

#[test]
fn a_reply_that_broke_off_is_asked_for_again_and_its_text_is_void() {
    struct Breaks(AtomicUsize);
    impl Model for Breaks {
        fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
            Box::pin(async move {
                let sink = request.stream.as_ref().unwrap();
                if self.0.fetch_add(1, Ordering::SeqCst) == 0 {
                    sink.send(Chunk::Delta("(retu".into()));
                    return Err(LlmError::new(ptc_model::ErrorKind::Network, "the connection broke"));
                }
                sink.send(Chunk::Delta("(return 7)".into()));
                Ok(LlmResponse::from("(return 7)"))
            })
        }
    }
    let options = RunOptions::new().llm(LlmRef::client(Client::new(Breaks(AtomicUsize::new(0)))));
    let events = lines(agent("Count").llm_retry(at_once()).build().unwrap(), options);
    assert_eq!(events[..4], ["turn 1 normal", "text (retu", "again", "text (return 7)"].map(String::from));
    assert_eq!(events.last().unwrap(), "ended 7");
}

#[test]
fn traces_are_the_same_whether_somebody_watches_or_not() {
    let trace = |is_watched: bool| {
        let memory = MemorySink::new();
        let options = with(&Scripted::new(["(println 1) 2", "(return 3)"]));
        let options = options.tracer(Tracer::new().with(memory.clone()).deterministic());
        let agent = agent("Count").build().unwrap();
        match is_watched {
            true => drop(stream(agent, options).blocking().last()),
            false => drop(run(&agent, &options).unwrap()),
        }
        let events = memory.events();
        assert!(events.iter().enumerate().all(|(at, event)| event.seq == at as u64), "no gaps");
        events.iter().map(|event| event.kind.name()).collect::<Vec<_>>()
    };
    assert_eq!(trace(true), trace(false));
}

#[test]
fn live_events_go_to_those_who_ask_for_them_by_name() {
    let pieces = Arc::<Mutex<String>>::default();
    let seen = pieces.clone();
    let tracer = Tracer::new().on("llm.piece", move |event| {
        seen.lock().unwrap().push_str(event.data["text"].as_str().unwrap());
    });
    let model = Scripted::new([Reply::pieces(["(return", " 1)"])]);
    run(&agent("Count").build().unwrap(), &with(&model).tracer(tracer.unwrap())).unwrap();
    assert_eq!(*pieces.lock().unwrap(), "(return 1)");
}
