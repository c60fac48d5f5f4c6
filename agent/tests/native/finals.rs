//! Final texts of agents that answer in text, and the data read from them.

use crate::{calls, combined, text, with};
use ptc_agent::AgentBuilder;
use ptc_agent::run;
use ptc_agent::tools::Tool;
use ptc_model::Scripted;
use serde_json::{Value, json};

fn both(signature: Option<&str>) -> [AgentBuilder; 2] {
    [text("Say"), combined("Say")].map(|builder| match signature {
        Some(signature) => builder.signature(signature),
        None => builder,
    })
}

#[test]
fn s000_the_final_answer_by_type() {
    let cases: &[(Option<&str>, &str, Value)] = &[
        (None, " as it is \n", json!(" as it is \n")),
        (Some(":string"), "{\"a\": 1}", json!("{\"a\": 1}")),
        (Some(":any"), "[1]", json!("[1]")),
        (Some("{n :int}"), "Here: {\"n\": 3}.", json!({"n": 3})),
        (Some("{n :int}"), "```json\n{\"n\": 3}\n```", json!({"n": 3})),
        (Some("[:int]"), "[1, 2]", json!([1, 2])),
        (Some("[:int]"), "{\"items\": [1, 2]}", json!([1, 2])),
        (Some(":int"), " 42 ", json!(42)),
        (Some(":float"), "2.5", json!(2.5)),
        (Some(":bool"), "true", json!(true)),
        (Some(":int?"), "null", Value::Null),
        (Some(":keyword"), ":late", json!("late")),
        (Some(":keyword"), "\"late\"", json!("late")),
        (Some(":enum[low high]"), "high", json!("high")),
        (Some(":int[1..5]"), "4", json!(4)),
        (Some(":int"), "42.0", json!(42)),
        (Some(":int"), "\"42\"", json!(42)),
        (Some(":int?"), "\"42.0\"", json!(42)),
        (Some(":int[1..5]"), "4.0", json!(4)),
        (Some(":float"), "42", json!(42.0)),
        (Some(":float"), "\"2.5\"", json!(2.5)),
        (Some(":bool"), "True", json!(true)),
        (Some(":bool"), "FALSE\n", json!(false)),
        (Some(":bool"), "\"true\"", json!(true)),
    ];
    for (signature, reply, wanted) in cases {
        for agent in both(*signature) {
            let model = Scripted::new([*reply]);
            let step = run(&agent.build().unwrap(), &with(&model))
                .unwrap_or_else(|step| panic!("{signature:?} {reply}: {:?}", step.fail));
            assert_eq!(step.json().unwrap(), *wanted, "{signature:?} {reply}");
        }
    }
    for (reply, fits) in
        [("2031-05-01T08:00:00Z", true), ("\"2031-05-01T08:00:00Z\"", true), ("tomorrow", false)]
    {
        for agent in both(Some(":datetime")) {
            let model = Scripted::new([reply]);
            let ended = run(&agent.max_turns(1).build().unwrap(), &with(&model));
            // The value is a date, not a text that looks like one.
            let is_date = |step: ptc_agent::Step| {
                matches!(step.returned.unwrap().nodes(), [ptc_bytecode::Node::Instant(1_935_388_800_000_000)])
            };
            assert_eq!(ended.map(is_date).unwrap_or_default(), fits, "{reply}");
        }
    }
    // Maps and lists are parsed as JSON and checked against the signature.
    for (signature, reply) in [
        ("{n :int}", "{\"n\": \"3\"}"),
        ("{n :int}", "[3]"),
        ("{n :int}", "n is 3"),
        ("[:int]", "[1, \"x\"]"),
        ("[{id :int}]", "[{\"id\": 1}, {}]"),
    ] {
        for agent in both(Some(signature)) {
            let ended = run(&agent.max_turns(1).build().unwrap(), &with(&Scripted::new([reply])));
            assert!(ended.is_err(), "{signature} {reply}");
        }
    }
}

#[test]
fn an_answer_that_does_not_fit_is_asked_for_again() {
    for agent in both(Some("{n :int}")) {
        let agent = agent.max_turns(3).build().unwrap();
        let model = Scripted::new(["no idea", "{\"n\": \"x\"}", "{\"n\": 3}"]);
        let step = run(&agent, &with(&model)).unwrap();
        assert_eq!((step.json().unwrap(), step.usage.turns), (json!({"n": 3}), 3));
        let told = &model.requests()[2].messages[4].content;
        assert!(told.contains("n: expected int, got string \"x\""), "{told}");
    }
}

#[test]
fn on_the_last_turn_it_ends_the_mission() {
    let cases =
        [("no idea", "json_parse_error"), ("{\"n\": \"x\"}", "validation_error"), ("  ", "empty_response")];
    for (reply, reason) in cases {
        for agent in both(Some("{n :int}")) {
            let model = Scripted::new([reply]);
            let step = run(&agent.max_turns(1).build().unwrap(), &with(&model)).unwrap_err();
            assert_eq!(step.reason(), reason);
        }
    }
}

#[test]
fn an_empty_reply_is_asked_for_again() {
    let agent = text("Say").max_turns(2).build().unwrap();
    let model = Scripted::new(["", "hello"]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(step.get::<String>().unwrap(), "hello");
    assert!(model.requests()[1].messages[2].content.contains("neither text nor tool calls"));
}

#[test]
fn a_schema_goes_along_only_without_tools() {
    let model = Scripted::new(["{\"n\": 1}", "{\"n\": 1}"]);
    let alone = text("Say").signature("{n :int}").build().unwrap();
    let beside = text("Say").signature("{n :int}").tool(Tool::new("seven", |_, _| Ok(7))).build().unwrap();
    let step = run(&alone, &with(&model)).unwrap();
    assert_eq!(step.usage.schema_used, Some(true));
    run(&beside, &with(&model)).unwrap();
    let requests = model.requests();
    assert!(requests[0].schema.is_some() && requests[1].schema.is_none());
    // Both requests state the schema in words.
    assert!(requests.iter().all(|request| request.messages[0].content.contains("\"n\"")));
}

#[test]
fn words_beside_calls_are_kept() {
    let agent = text("Say").tool(Tool::new("seven", |_, _| Ok(7))).build().unwrap();
    let model = Scripted::new([calls(&[("a", "seven", json!({}))]), "Seven it is.".into()]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(step.get::<String>().unwrap(), "Seven it is.");
    assert_eq!(step.messages.unwrap().len(), 4);
}

#[test]
fn what_is_no_value_of_the_type_stays_refused() {
    for (signature, reply) in [
        (":int", "42.5"),
        (":int", "true"),
        (":int", "\"forty-two\""),
        (":int", "1e300"),
        (":float", "\"NaN\""),
        (":bool", "yes"),
        (":bool", "1"),
    ] {
        for agent in both(Some(signature)) {
            let model = Scripted::new([reply]);
            let step = run(&agent.max_turns(1).build().unwrap(), &with(&model)).unwrap_err();
            assert!(["validation_error", "json_parse_error"].contains(&step.reason()), "{signature} {reply}");
        }
    }
}
