//! Chains of missions, and steps outside of the process.

use crate::kit::{agent, everything, value, with};
use ptc_agent::mission::{run_or_err, then, then_or_err};
use ptc_agent::tools::Tool;
use ptc_agent::{RunOptions, Step, run};
use ptc_model::Scripted;
use serde_json::json;
use std::collections::BTreeMap;

#[test]
fn a_step_is_the_data_of_the_next_mission() {
    let find = agent("Find urgent emails")
        .signature("{count :int, _email_ids [:int]}")
        .field_descriptions(BTreeMap::from([("count".to_string(), "How many are urgent".to_string())]))
        .build()
        .unwrap();
    let draft = agent("Draft {{count}} replies").build().unwrap();
    let model = Scripted::new([
        "(return {:count 2 :_email_ids [7011001 7011002]})",
        "(return (map #(str \"re: \" %) data/_email_ids))",
        "(return data/_email_ids)",
    ]);
    let first = run(&find, &with(&model)).unwrap();
    let second = run(&draft, &with(&model).after(&first)).unwrap();
    assert_eq!(value(&second), json!(["re: 7011001", "re: 7011002"]));
    let request = &model.requests()[1];
    assert_eq!(request.prompt, "Draft 2 replies");
    assert!(request.system.contains("data/count  ; :int"), "{}", request.system);
    assert!(request.system.contains("How many are urgent"), "{}", request.system);
    assert!(request.system.contains("data/_email_ids  ; [:int], sample: <Firewalled>"), "{}", request.system);

    // Options that are named one by one give the prompt that the chain gives, apart from the fields' descriptions.
    let mut options = with(&model).context_signature(first.signature.as_str());
    options.context = first.returned.clone().unwrap();
    run(&draft, &options).unwrap();
    let (auto, long) = (&model.requests()[1].system, &model.requests()[2].system);
    assert_eq!(auto.replace(" -- How many are urgent", ""), *long);
    assert!(!everything(&model).contains("7011001"));
}

#[test]
fn any_other_value_is_the_result() {
    let model = Scripted::new(["(return [1 2 3])", "(return (reduce + data/result))"]);
    let first = run("Count", &with(&model)).unwrap();
    assert_eq!(value(&run("Sum", &with(&model).after(&first)).unwrap()), json!(6));
}

#[test]
fn a_failed_step_is_not_built_upon() {
    let model = Scripted::new([
        "(fail {:reason :not_found :message \"no such user\" :op \"find\" :details {:id 7}})",
    ]);
    let first = run("Find", &with(&model)).unwrap_err();
    let second = run("Write", &with(&model).after(&first)).unwrap_err();
    let fail = second.fail.unwrap();
    assert_eq!((fail.reason.as_str(), model.requests().len()), ("chained_failure", 1));
    let original =
        json!({"reason": "not_found", "message": "no such user", "op": "find", "details": {"id": 7}});
    assert_eq!((&fail.details["original_failure"], &fail.details["upstream"]), (&original, &original));
}

#[test]
fn then_passes_failures_on_and_names_what_is_missing() {
    let next = agent("Use {{a}} {{b}} {{c}}").signature("(a :int, b :int, c :int?) -> :int").build().unwrap();
    let model =
        Scripted::new(["(return {:x 1})", "(fail \"no\")", "(return {:a 1 :b 2 :c 3})", "(return data/b)"]);
    let first = run("Find", &with(&model));
    let step = then(first, &next, with(&model)).unwrap_err();
    assert_eq!((step.reason(), model.requests().len()), ("chain_error", 1));
    assert_eq!(step.fail.unwrap().details["missing"], json!(["a", "b"]));

    let step = then(run("Find", &with(&model)), &next, with(&model)).unwrap_err();
    assert_eq!((step.reason(), step.fail.as_ref().unwrap().message.as_str()), ("failed", "no"));

    let step = then_or_err(run_or_err("Find", &with(&model)), &next, with(&model)).unwrap();
    assert_eq!(value(&step), json!(2));
}

#[test]
fn steps_become_json_and_back() {
    let model = Scripted::new([
        "(def rate 1.5) (def twice (fn [x] (* 2 x))) (println \"hi\") (tool/load {:n 1})",
        "(return {:n (twice data/n) :_token \"tok-84711\"})",
    ]);
    let agent =
        agent("Load").name("loader").tool(Tool::new("load", |_, _| Ok(json!({"n": 20})))).build().unwrap();
    let options = RunOptions { collect_messages: true, ..with(&model) };
    let step = run(&agent, &options).unwrap();
    let text = serde_json::to_string(&step).unwrap();
    let back: Step = serde_json::from_str(&text).unwrap();
    assert_eq!(value(&back), json!({"n": 40, "_token": "tok-84711"}));
    assert_eq!((&back.usage, back.name.as_deref()), (&step.usage, Some("loader")));
    assert_eq!(back.turns.len(), 2);
    assert_eq!(
        (&back.turns[0].prints, &back.turns[0].tool_calls),
        (&step.turns[0].prints, &step.turns[0].tool_calls)
    );
    assert_eq!(back.memory["rate"].to_datum(100).unwrap(), step.memory["rate"].to_datum(100).unwrap());
    assert!(text.contains("\"twice\""), "{text}");
    // A second round trip loses nothing either.
    let again: serde_json::Value = serde_json::to_value(&back).unwrap();
    assert_eq!(again, serde_json::from_str::<serde_json::Value>(&text).unwrap());
    // By its older name, `trace`.
    let old: Step = serde_json::from_value(json!({"return": 1, "trace": [{"number": 1}]})).unwrap();
    assert_eq!(old.trace()[0].number, 1);
    // A chain continues from a stored step.
    let model = Scripted::new(["(return data/n)"]);
    assert_eq!(value(&run("Next", &with(&model).after(&back)).unwrap()), json!(40));
}

#[test]
fn messages_are_kept_on_request() {
    let model = Scripted::new(["Thinking.\n```clojure\n(+ 1 1)\n```\nDone.", "(return *1)"]);
    let step = run("Add", &RunOptions { collect_messages: true, ..with(&model) }).unwrap();
    let messages = step.messages.unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message.role.name()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    // The text around the program is recorded in the turn, but not sent to the model again.
    assert!(!messages[1].content.contains("Thinking"), "{}", messages[1].content);
    assert!(step.turns[0].raw_response.contains("Thinking"));
    assert!(run("Add", &with(&Scripted::new(["(return 1)"]))).unwrap().messages.is_none());
}
