//! Images and documents in data, tool answers and results of programs, as models get them.

use crate::kit::{agent, everything, value, with};
use ptc_agent::definition::{Compaction, PromptParts};
use ptc_agent::mission::Step;
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::trace::{Event, Tracer};
use ptc_agent::{Agent, AgentBuilder, RunOptions, run};
use ptc_model::{LlmResponse, Message, Output, Part, Reply, Role, Scripted};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn photo() -> Part {
    Part::image("image/png", b"\x89PNG a photo of a cup")
}

/// Text that occurs wherever the bytes of the photo are shown.
const BYTES: &str = "iVBORyBhIHBo";
const WORDS: &str = "<image image/png, 21 bytes>";

fn photos() -> AgentBuilder {
    agent("Look").tool(Tool::new("photo", |_, _| Ok(photo())))
}

/// Returns the parts of each message of a request.
fn parts(model: &Scripted, request: usize) -> Vec<Vec<Part>> {
    model.requests()[request - 1].messages.iter().map(|message| message.parts.clone()).collect()
}

/// Returns the last message of a request.
fn last(model: &Scripted, request: usize) -> Message {
    model.requests()[request - 1].messages.last().unwrap().clone()
}

fn done(agent: &Agent, options: &RunOptions) -> Step {
    run(agent, options).unwrap_or_else(|step| panic!("{:?} {:?}", step.fail, step.turns.last()))
}

#[test]
fn data_is_shown_with_the_first_message() {
    let model = Scripted::new(["(return (:mimeType data/photo))"]);
    let context = json!({"photo": photo(), "note": "a cup", "more": [photo(), {"deep": photo()}]});
    let options = with(&model).context(&context).unwrap();
    let step = done(&agent("Look").build().unwrap(), &options);
    assert_eq!(value(&step), json!("image/png"), "for programs it is an ordinary map");
    let first = last(&model, 1);
    let system = &model.requests()[0].system;
    assert!(system.contains(&format!("data/photo  ; image, sample: {WORDS}")), "{system}");
    assert_eq!(first.parts, [photo()], "once, though it stands there three times");
    assert!(!system.contains(BYTES) && !first.content.contains(BYTES));
}

#[test]
fn results_and_definitions_of_programs_are_shown_and_prints_are_words() {
    let model = Scripted::new([
        "(println (tool/photo) [1 {:in (tool/photo)}]) (prn (tool/photo)) {:got (tool/photo)}",
        "(def kept (tool/photo))",
        "(return {:size (count (:data data/got)) :same (= kept data/got) :text (count (str kept))})",
    ]);
    let step = done(&photos().build().unwrap(), &with(&model));
    let size = photo().data().len();
    assert_eq!(value(&step)["size"], json!(size));
    assert_eq!(value(&step)["same"], json!(true));
    assert!(value(&step)["text"].as_u64().unwrap() > size as u64, "`str` gives a program all of it");
    assert_eq!(step.turns[0].prints, [format!("{WORDS} [1 {{:in {WORDS}}}]"), WORDS.to_string()]);
    assert_eq!(parts(&model, 2).last().unwrap(), &[photo()]);
    assert_eq!(parts(&model, 3).last().unwrap(), &[photo()]);
    assert!(last(&model, 2).content.contains(&format!("{{:got {WORDS}}}")));
    assert!(last(&model, 3).content.contains(&format!("kept = {WORDS}")));
    let words: Vec<String> = model
        .requests()
        .iter()
        .flat_map(|request| request.messages.iter().map(|m| m.content.clone()))
        .collect();
    assert!(words.iter().all(|words| !words.contains(BYTES)), "{words:?}");
}

#[test]
fn a_large_image_is_no_large_text() {
    let large = Part::image("image/jpeg", &vec![7; 3_000_000]);
    let answer = large.clone();
    let tool = Tool::new("scan", move |_, _| Ok(answer.clone()));
    let model = Scripted::new(["(def scan (tool/scan))", "(return (:type scan))"]);
    let agent = agent("Look").tool(tool).memory_limit(Some(64 << 20)).build().unwrap();
    let step = done(&agent, &with(&model));
    assert_eq!(value(&step), json!("image"));
    let told = last(&model, 2);
    assert!(told.content.contains("scan = <image image/jpeg, 3.0 MB>"), "{}", told.content);
    assert_eq!(told.parts, [large]);
}

#[test]
fn what_no_model_can_be_shown_says_why() {
    let broken = json!({"type": "image", "mimeType": "image/png", "data": "no base64 at all"});
    let film = json!({"type": "image", "mimeType": "video/mp4", "data": "AAAA"});
    let huge = Part::image("image/png", &vec![1; 5_000_000]);
    let many: Vec<Part> = (0..9_u8).map(|n| Part::image("image/png", &[n; 3])).collect();
    let (few, more) = many.split_at(5);
    let context = json!({"broken": broken, "film": film, "huge": huge, "many": [few, more]});
    let model = Scripted::new(["(return 1)"]);
    done(&agent("Look").build().unwrap(), &with(&model).context(&context).unwrap());
    let first = last(&model, 1);
    for words in [
        "<image image/png, 12 bytes, not shown: its data is not base64>",
        "<image video/mp4, 3 bytes, not shown: models read png, jpeg, gif and webp>",
        "<image image/png, 5.0 MB, not shown: it is larger than 3.9 MB>",
        "<image image/png, 3 bytes, not shown: a message has at most 8>",
    ] {
        let system = &model.requests()[0].system;
        assert!(system.contains(words), "{words}\n{system}");
    }
    assert_eq!(first.parts, many[..8]);
}

#[test]
fn text_agents_and_questions_see_what_their_prompts_name() {
    let see = Agent::builder().prompt("What is on {{photo}}?").signature("(photo :any) -> :string");
    let see = see.output(Output::Text).build().unwrap();
    let other = Part::image("image/png", b"another");
    let model = Scripted::new(["A cup."]);
    let options = with(&model).context(&json!({"photo": photo(), "other": other})).unwrap();
    assert_eq!(value(&done(&see, &options)), json!("A cup."));
    let first = last(&model, 1);
    assert!(first.content.contains(&format!("What is on {WORDS}?")));
    assert_eq!(first.parts, [photo()]);

    // A program asks a model, and an agent below gets the image.
    let model = Scripted::new([
        "(tool/llm-query {:prompt \"What is on {{it}}?\" :it (tool/photo)})",
        "A cup.",
        "(tool/see {:photo (tool/photo)})",
        "A blue cup.",
        "(return 1)",
    ]);
    let agent = photos().llm_query(true).tool(Tool::agent("see", see)).build().unwrap();
    done(&agent, &with(&model));
    for (request, words) in [(2, "What is on <image"), (4, "What is on <image")] {
        assert!(last(&model, request).content.contains(words), "{request}");
        assert_eq!(last(&model, request).parts, [photo()], "{request}");
    }
}

#[test]
fn the_result_of_an_agent_below_is_shown_to_the_one_above() {
    let child = photos().signature("() -> {it :any}").build().unwrap();
    let model = Scripted::new(["(tool/child {})", "(return {:it (tool/photo)})", "(return *1)"]);
    let step = done(&agent("Do").tool(Tool::agent("child", child)).build().unwrap(), &with(&model));
    assert_eq!(value(&step)["it"], serde_json::to_value(photo()).unwrap());
    assert_eq!(last(&model, 3).parts, [photo()]);
    assert!(last(&model, 3).content.contains(WORDS));
}

#[test]
fn a_failure_tells_of_images_in_words() {
    let model = Scripted::new(["(fail {:reason :blurred :message \"look\" :details {:it (tool/photo)}})"]);
    let step = run(&photos().build().unwrap(), &with(&model)).unwrap_err();
    assert_eq!(step.fail.as_ref().unwrap().details, json!({"it": WORDS}));
}

#[test]
fn old_images_leave_a_long_history() {
    let count = Arc::new(Mutex::new(0_u8));
    let tool = Tool::new("next", move |_, _| {
        let mut n = count.lock().unwrap();
        *n += 1;
        Ok(Part::image("image/png", &[*n; 3]))
    });
    let replies: Vec<Reply> = (0..5).map(|_| Reply::from("(vec (for [_ (range 5)] (tool/next)))")).collect();
    let model = Scripted::new(replies.into_iter().chain(["(return 1)".into()]).collect::<Vec<_>>());
    done(&agent("Look").tool(tool).max_turns(7).build().unwrap(), &with(&model));
    let held: Vec<usize> = parts(&model, 6).iter().map(Vec::len).collect();
    assert_eq!(held, [0, 0, 0, 0, 5, 0, 5, 0, 5, 0, 5], "the newest twenty");
    let words = &model.requests()[5].messages[2].content;
    assert_eq!(words.matches("not shown: newer ones took its place").count(), 5, "{words}");
}

#[test]
fn a_model_that_takes_none_does_its_work_without() {
    let blind = || Reply::from(LlmResponse { unseen_parts: 1, ..LlmResponse::from("(+ 1 2)") });
    let model = Scripted::new([blind(), Reply::from("(return *1)")]);
    let options = with(&model).context(&json!({"photo": photo()})).unwrap();
    let step = done(&agent("Look").build().unwrap(), &options);
    assert_eq!(value(&step), json!(3));
    let told = "`scripted` could not be shown images or documents, and got a text in their place";
    assert_eq!(step.warnings, [told]);
    assert!(parts(&model, 2).iter().all(Vec::is_empty), "it is not sent again");
    let words = "<image image/png, 21 bytes, not shown: this model could not be shown it>";
    assert!(model.requests()[1].messages[0].content.contains(words));
}

#[test]
fn checkpoints_keep_images_and_compaction_counts_them() {
    let dir = tempfile::tempdir().unwrap();
    let look =
        || photos().max_turns(5).llm_retry(ptc_model::LlmRetry { max_attempts: 1, ..crate::kit::at_once() });
    let model = Scripted::new([Reply::from("(tool/photo)"), ptc_model::LlmError::from("down").into()]);
    let options = RunOptions { checkpoint_dir: Some(dir.path().to_path_buf()), ..with(&model) };
    run(&look().build().unwrap(), &options.context(&json!({"it": photo()})).unwrap()).unwrap_err();

    let resumed = |it: Part| {
        let model = Scripted::new(["(return (:mimeType *1))"]);
        let options = RunOptions { resume_from: Some(dir.path().to_path_buf()), ..with(&model) };
        (run(&look().build().unwrap(), &options.context(&json!({"it": it})).unwrap()), model)
    };
    let (step, model) = resumed(photo());
    assert_eq!(value(&step.unwrap_or_else(|step| panic!("{:?}", step.fail))), json!("image/png"));
    assert_eq!(parts(&model, 1), [vec![photo()], vec![], vec![photo()]]);
    // Another photo of the same size makes another mission.
    let (other, _) = resumed(Part::image("image/png", b"\x89PNG a photo of a dog"));
    assert!(other.unwrap_err().fail.unwrap().message.contains("another mission"));

    let compaction = Compaction { after_turns: None, after_tokens: Some(6_000), ..Compaction::default() };
    let replies =
        ["(tool/photo)", "(tool/photo)", "(tool/photo)", "(tool/photo)", "(tool/photo)", "(return 1)"];
    let model = Scripted::new(replies);
    let agent = photos().compaction(Some(compaction)).max_turns(8).build().unwrap();
    let agent = agent.with(|builder| builder.system_prompt(PromptParts::default())).unwrap();
    let step = done(&agent, &with(&model));
    assert_eq!(
        step.usage.compaction.unwrap()["triggered"],
        json!(true),
        "five images are more than 6000 tokens"
    );
}

#[test]
fn traces_and_turns_have_words_in_place_of_images() {
    let seen: Arc<Mutex<String>> = Arc::default();
    let log = seen.clone();
    let tracer = Tracer::new().with(move |event: &Event| {
        log.lock().unwrap().push_str(&serde_json::to_string(&event.data).unwrap());
    });
    let model = Scripted::new([
        "(println (tool/photo)) (def kept (tool/photo)) [data/it kept]",
        "(return {:it kept :photos [(tool/photo)]})",
    ]);
    let agent = photos().trace_firewalled(true).build().unwrap();
    let options = with(&model)
        .context(&json!({"it": photo(), "_it": Part::image("image/png", b"\x89PNG a phone")}))
        .unwrap()
        .tracer(tracer);
    let step = done(&agent, &options);
    let told = seen.lock().unwrap().clone();
    assert!(!told.contains(BYTES), "{told}");
    assert!(told.contains(WORDS) && told.contains("it has images or documents, which traces do not contain"));
    assert_eq!(value(&step)["photos"][0]["data"], json!(photo().data()), "the host has all of it");
    let calls: Vec<Value> = step.tool_calls.iter().map(|call| call.result.clone()).collect();
    assert!(calls.iter().all(|result| *result == json!(WORDS)), "{calls:?}");
    assert!(step.turns.iter().flat_map(|turn| &turn.messages).all(|message| message.parts.is_empty()));
    assert!(everything(&model).contains(BYTES), "the model has them");
    assert!(model.requests()[0].messages.iter().all(|message| message.role == Role::User));
}

#[test]
fn a_typed_tool_may_answer_with_a_part() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Which {
        name: String,
    }
    let tool =
        Tool::typed("scan", |which: Which, _| Ok(Part::document(which.name, "application/pdf", b"%PDF-1")));
    assert_eq!(
        tool.signature_text(),
        "(name :string) -> {type :enum[image document], mimeType :string, data :string, name :string?}"
    );
    let model = Scripted::new(["(tool/scan {:name \"a.pdf\"})", "(return 1)"]);
    let options = RunOptions::new().llm(LlmRef::client(model.clone()));
    done(&agent("Look").tool(tool).build().unwrap(), &options);
    assert_eq!(last(&model, 2).parts, [Part::document("a.pdf", "application/pdf", b"%PDF-1")]);
    assert!(last(&model, 2).content.contains("<document a.pdf, application/pdf, 6 bytes>"));
}
