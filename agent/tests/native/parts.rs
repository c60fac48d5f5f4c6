//! Images in answers to calls that the model made itself.

use crate::{calls, combined, eval, text, with};
use ptc_agent::definition::Transport;
use ptc_agent::tools::{Expose, NativePreview, Tool};
use ptc_agent::{Agent, run};
use ptc_model::{Message, Part, Role, Scripted};
use serde_json::{Value, json};

const WORDS: &str = "<image image/png, 5 bytes>";

fn photo() -> Part {
    Part::image("image/png", b"a cup")
}

fn tool() -> Tool {
    Tool::new("photo", |_, _| Ok(json!({"note": "a cup", "it": photo()})))
}

/// Returns the answer to the first call: its text and its parts.
fn answer(agent: &Agent, model: &Scripted) -> Message {
    let step = run(agent, &with(model)).unwrap_or_else(|step| panic!("{:?}", step.fail));
    step.messages.unwrap().into_iter().find(|message| message.role == Role::Tool).unwrap()
}

#[test]
fn answers_of_tools_go_with_their_images() {
    let call = || calls(&[("a", "photo", json!({}))]);
    for agent in [text("Look"), combined("Look")] {
        let model = Scripted::new([call(), "A cup.".into()]);
        let agent = agent.tool(tool().expose(Expose::Native)).build().unwrap();
        let answer = answer(&agent, &model);
        assert_eq!(
            serde_json::from_str::<Value>(&answer.content).unwrap(),
            json!({"note": "a cup", "it": WORDS})
        );
        assert_eq!(answer.parts, [photo()]);
    }
}

#[test]
fn a_large_image_takes_no_room_in_an_answer() {
    let large = Part::image("image/png", &vec![9; 1_000_000]);
    let given = large.clone();
    let tool = Tool::new("photo", move |_, _| Ok(json!({"n": 1, "it": given})));
    let model = Scripted::new([calls(&[("a", "photo", json!({}))]), "A cup.".into()]);
    let answer = answer(&text("Look").tool(tool).build().unwrap(), &model);
    let whole = json!({"n": 1, "it": "<image image/png, 1.0 MB>"});
    assert_eq!(serde_json::from_str::<Value>(&answer.content).unwrap(), whole, "it is whole, and no excerpt");
    assert_eq!(answer.parts, [large]);
}

#[test]
fn previews_show_images_too() {
    let rows = Tool::new("photo", |_, _| Ok(vec![json!({"it": photo()}), json!({"it": 2})]));
    let rows = rows.expose(Expose::Both).cache(true).native_result(NativePreview::Rows { limit: 1 });
    let model = Scripted::new([calls(&[("a", "photo", json!({}))]), "A cup.".into()]);
    let answer = answer(&combined("Look").tool(rows).build().unwrap(), &model);
    let shown: Value = serde_json::from_str(&answer.content).unwrap();
    assert_eq!((&shown["rows"], &shown["result_count"]), (&json!([{"it": WORDS}]), &json!(2)));
    assert_eq!(answer.parts, [photo()]);
}

#[test]
fn programs_in_calls_are_answered_with_the_images_of_their_results() {
    let program = "(println (tool/photo)) (tool/photo)";
    let model = Scripted::new([eval("a", program), "A cup.".into()]);
    let beside = combined("Look").tool(tool().expose(Expose::Both)).build().unwrap();
    let call = Agent::builder().prompt("Look").ptc_transport(Some(Transport::ToolCall)).tool(tool());
    let call = call.build().unwrap();
    let only = Scripted::new([eval("a", program), eval("b", "(return 1)")]);
    for (agent, model) in [(beside, model), (call, only)] {
        let answer = answer(&agent, &model);
        let shown: Value = serde_json::from_str(&answer.content).unwrap();
        assert!(shown["result"].as_str().unwrap().contains(WORDS), "{shown}");
        assert!(shown["prints"][0].as_str().unwrap().contains(WORDS), "{shown}");
        assert!(shown["feedback"].as_str().unwrap().contains(WORDS), "{shown}");
        assert!(!answer.content.contains(photo().data()));
        assert_eq!(answer.parts, [photo()]);
    }
}
