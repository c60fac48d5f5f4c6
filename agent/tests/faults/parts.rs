//! Leaks of firewalled images: they are planted wherever data enters a mission, in every mode. Their bytes may come out
//! at one place only, the result that the host gets.

use ptc_agent::definition::Transport;
use ptc_agent::tools::{Expose, LlmRef, NativePreview, Tool};
use ptc_agent::trace::{Event, Tracer};
use ptc_agent::{Agent, AgentBuilder, RunOptions, Step, run};
use ptc_model::{LlmResponse, Output, Part, Reply, Scripted, ToolCall};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Returns a picture whose base64 occurs nowhere else.
fn secret(n: u8) -> Part {
    let bytes: Vec<u8> = (0..300_u32).map(|i| ((i * 7919 + u32::from(n) * 104_729) >> 3) as u8).collect();
    Part::image("image/png", &bytes)
}

/// Image numbers by place: in the data, in a tool's answer, in its answer to a model, in the result of an agent below.
const PLACES: [u8; 4] = [1, 2, 3, 4];

/// Returns pieces of each image as texts would show them: of its base64 and of its size.
fn pieces() -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for n in PLACES {
        let part = secret(n);
        let text: Vec<char> = part.data().chars().collect();
        all.extend(text.chunks(16).filter(|chunk| chunk.len() == 16).map(|chunk| chunk.iter().collect()));
    }
    all.push("image/png, 300 bytes".to_string());
    all
}

fn tools(builder: AgentBuilder) -> AgentBuilder {
    let child = Agent::builder()
        .prompt("Look at {{what}}")
        .signature("(what :any) -> {seen :any, _found :any}")
        .tool(Tool::new("find", |_, _| Ok(json!({"_it": secret(4)}))))
        .max_turns(2)
        .build()
        .unwrap();
    let both = |tool: Tool| tool.expose(Expose::Both);
    builder
        .tool(both(Tool::new("photo", |_, _| {
            Ok(json!({"n": 1, "_it": secret(2), "list": [{"_it": secret(2)}]}))
        })))
        // Answers publicly with its arguments, and with the data's image that is firewalled there.
        .tool(both(Tool::new("echo", |args, _| Ok(json!({"got": args.json()?, "it": secret(1)})))))
        .tool(both(
            Tool::new("rows", |_, _| Ok(vec![json!({"_it": secret(3)}), json!({"_it": secret(3)})]))
                .cache(true)
                .native_result(NativePreview::Rows { limit: 2 }),
        ))
        .tool(both(Tool::agent("child", child)))
        .max_turns(20)
        .turn_budget(60)
}

/// Runs a mission and searches everything that a model or a log got for the images.
fn told_nothing(agent: &Agent, replies: Vec<Reply>) -> Step {
    let model = Scripted::new(replies);
    let events: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = events.clone();
    let tracer = Tracer::new().with(move |event: &Event| {
        seen.lock().unwrap().push(format!("{event:?} {}", serde_json::to_string(&event.data).unwrap()));
    });
    let context =
        json!({"_photo": secret(1), "open": {"_deep": secret(1), "n": 1}, "list": [{"_it": secret(1)}]});
    let options =
        RunOptions::new().context(&context).unwrap().tracer(tracer).llm(LlmRef::client(model.clone()));
    let step = run(agent, &options).unwrap_or_else(|step| panic!("{:?} {:?}", step.fail, step.turns.last()));
    assert_eq!(model.left(), 0);
    let mut texts = std::mem::take(&mut *events.lock().unwrap());
    assert!(texts.len() > 5, "nothing was looked at");
    for request in model.requests() {
        assert!(request.messages.iter().all(|message| message.parts.is_empty()), "{:?}", request.messages);
        texts.push(serde_json::to_string(&request).unwrap());
    }
    for piece in pieces() {
        if let Some(text) = texts.iter().find(|text| text.contains(&piece)) {
            panic!("{piece} is told:\n{text}");
        }
    }
    step
}

/// Returns programs that use the images.
fn programs() -> Vec<&'static str> {
    vec![
        "(println data/_photo data/open data/list) (prn data/_photo) {:it data/_photo :all [data/open data/list]}",
        "(def kept data/_photo) (def made (assoc data/_photo :note 1)) [kept made (:data data/_photo)]",
        // Rebuilt from its fields, by hand and from text.
        "{:type \"image\" :mimeType \"image/png\" :data (:data data/_photo)}",
        "(def got (tool/photo {})) (println got) [got (:_it got) (map :_it (:list got))]",
        "(tool/echo {:it data/_photo})",
        "(tool/rows {})",
        "(+ 1 data/_photo)",
    ]
}

fn fenced(programs: Vec<&str>) -> Vec<Reply> {
    programs.into_iter().map(|program| Reply::from(format!("```clojure\n{program}\n```"))).collect()
}

fn child_turns() -> Vec<Reply> {
    fenced(vec![
        "(println data/what (tool/find {})) (tool/find {})",
        "(return {:seen (:_it (tool/find {})) :_found data/what})",
    ])
}

#[test]
fn firewalled_images_stay_with_programs() {
    let agent = tools(Agent::builder().prompt("Do {{_photo}} {{open}}")).build().unwrap();
    let mut replies = fenced(programs());
    replies.extend(fenced(vec!["(def below (tool/child {:what data/_photo})) (println below) below"]));
    replies.extend(child_turns());
    replies.extend(fenced(vec!["(return {:_it data/_photo :seen (:_found below)})"]));
    let step = told_nothing(&agent, replies);
    assert_eq!(step.json().unwrap()["_it"], serde_json::to_value(secret(1)).unwrap(), "the host has it");
}

fn eval(program: &str) -> Reply {
    call("lisp_eval", json!({"program": program}))
}

fn call(name: &str, args: Value) -> Reply {
    Reply::from(LlmResponse::calls([ToolCall::read(Some("c"), name, &args.to_string())]))
}

#[test]
fn firewalled_images_stay_with_programs_in_calls() {
    let agent =
        tools(Agent::builder().prompt("Do")).ptc_transport(Some(Transport::ToolCall)).build().unwrap();
    let mut replies: Vec<Reply> = programs().into_iter().map(eval).collect();
    replies.push(eval("(tool/child {:what data/_photo})"));
    replies.extend(child_turns());
    replies.push(eval("(return {:_it data/_photo})"));
    told_nothing(&agent, replies);
}

#[test]
fn firewalled_images_stay_out_of_answers_to_a_model() {
    let answer = || Reply::from("Done.");
    let text = tools(Agent::builder().prompt("Do {{_photo}} {{open}}")).output(Output::Text);
    let combined = text.clone().ptc_transport(Some(Transport::ToolCall)).build().unwrap();
    let text = text.build().unwrap();
    let asked = || {
        let mut replies =
            vec![call("photo", json!({})), call("echo", json!({"n": 1})), call("rows", json!({}))];
        replies.push(call("child", json!({"what": 1})));
        replies.extend(child_turns());
        replies
    };
    told_nothing(&text, asked().into_iter().chain([answer()]).collect());
    let programs = programs().into_iter().map(eval);
    told_nothing(&combined, asked().into_iter().chain(programs).chain([answer()]).collect());
}
