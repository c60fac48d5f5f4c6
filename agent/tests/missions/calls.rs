//! Tool calls: their forms, their errors, their caching.

use crate::kit::{agent, failure, told, value, with};
use ptc_agent::tools::Tool;
use ptc_agent::{Agent, run};
use ptc_model::Scripted;
use ptc_runtime::ToolError;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Returns a tool that records its arguments.
fn noted(name: &str) -> (Tool, Arc<Mutex<Vec<Value>>>) {
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let note = seen.clone();
    let tool = Tool::new(name, move |args, _| {
        note.lock().unwrap().push(args.json()?);
        args.json()
    });
    (tool, seen)
}

fn users() -> Agent {
    agent("Find the user")
        .tool(Tool::new("raises", |_, _| Err::<(), _>(ToolError::new("User not found"))))
        .tool(Tool::new("panics", |_, _| -> Result<(), ToolError> { panic!("index 7 is out of bounds") }))
        .tool(Tool::new("maps", |_, _| Ok(json!({"error": "not_found", "message": "User does not exist"}))))
        .tool(Tool::new("pairs", |_, _| Ok(json!(["error", "not_found"]))))
        .build()
        .unwrap()
}

#[test]
fn an_error_of_a_tool_ends_the_program_and_reaches_the_model() {
    for (tool, said) in [("raises", "User not found"), ("panics", "index 7 is out of bounds")] {
        let model = Scripted::new([
            format!("(def before 1) (tool/{tool} {{}}) (def after 2)"),
            "(return [before (:reason data/fail)])".to_string(),
        ]);
        let step = run(&users(), &with(&model)).unwrap();
        assert_eq!(value(&step), json!([1, "tool_error"]));
        assert!(told(&model, 2).contains(said), "{}", told(&model, 2));
        assert!(!step.memory.contains_key("after"));
        let call = &step.turns[0].tool_calls[0];
        assert!(call.error.as_ref().unwrap().contains(said) && call.result.is_null(), "{call:?}");
        assert_eq!(failure(&step, 1)["details"]["class"], "eval_error");
    }
}

#[test]
fn an_error_map_is_a_value_to_look_at() {
    let model =
        Scripted::new(["(let [user (tool/maps {})] (return (if (:error user) (:message user) user)))"]);
    assert_eq!(value(&run(&users(), &with(&model)).unwrap()), json!("User does not exist"));
}

#[test]
fn an_error_pair_passes_through() {
    let model =
        Scripted::new(["(let [[status reason] (tool/pairs {})] (return {:status status :reason reason}))"]);
    assert_eq!(
        value(&run(&users(), &with(&model)).unwrap()),
        json!({"status": "error", "reason": "not_found"})
    );
}

#[test]
fn calls_without_arguments_give_an_empty_map() {
    let (tool, seen) = noted("get_time");
    let model = Scripted::new([
        "(return [(tool/get_time) (tool/get_time {}) (call \"get_time\") (call \"get_time\" {})])",
    ]);
    let step = run(&agent("When?").tool(tool).build().unwrap(), &with(&model));
    let step = step.unwrap_or_else(|step| panic!("{:?}", step.turns[0].result));
    assert_eq!(value(&step), json!([{}, {}, {}, {}]));
    assert_eq!(*seen.lock().unwrap(), vec![json!({}); 4]);
}

#[test]
fn s002_tools_receive_text_keys_with_underscores_at_any_depth() {
    // With and without a signature, also one with nested types.
    for signature in [None, Some("(user {profile {first_name :string, tags [{tag_id :int}]}}) -> :any")] {
        let (tool, seen) = noted("check");
        let tool = match signature {
            Some(signature) => tool.signature(signature),
            None => tool,
        };
        let model = Scripted::new([
            "(tool/check {:user {:profile {:first-name \"Alice\" :tags [{:tag-id 1} {\"tag-id\" 2}]}}})",
            "(tool/check :user {:profile {:first_name \"Alice\" :tags []}}) (return 1)",
        ]);
        run(&agent("Check").tool(tool).build().unwrap(), &with(&model)).unwrap();
        let tags = json!([{"tag_id": 1}, {"tag_id": 2}]);
        let seen = seen.lock().unwrap();
        assert_eq!(
            *seen,
            [
                json!({"user": {"profile": {"first_name": "Alice", "tags": tags}}}),
                json!({"user": {"profile": {"first_name": "Alice", "tags": []}}}),
            ],
            "{signature:?}"
        );
    }
    let (tool, seen) = noted("search");
    let model = Scripted::new(["(tool/search {:max-rows 1 :by {:user-name :ada}})
         (tool/search :max-rows 2 :by nil)
         (call \"search\" {:max-rows 3})
         (dorun (map tool/search [{:max-rows 4}]))
         (return 1)"]);
    run(&agent("Find").tool(tool).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [
            json!({"max_rows": 1, "by": {"user_name": "ada"}}),
            json!({"max_rows": 2, "by": null}),
            json!({"max_rows": 3}),
            json!({"max_rows": 4})
        ]
    );
}

/// Checks the nodes of the data, since JSON does not distinguish text from keywords.
#[test]
fn no_keyword_reaches_a_tool_as_a_key() {
    let keys: Arc<Mutex<Vec<ptc_bytecode::Node>>> = Arc::default();
    let note = keys.clone();
    let tool = Tool::new("check", move |args, _| {
        note.lock().unwrap().extend(args.datum().nodes().to_vec());
        Ok(1)
    });
    let model = Scripted::new(["(return (tool/check {:user-id {:is-active true}}))"]);
    run(&agent("Check").tool(tool).build().unwrap(), &with(&model)).unwrap();
    let text = |text: &str| ptc_bytecode::Node::Str(text.into());
    let keys = keys.lock().unwrap();
    assert!(keys.contains(&text("user_id")) && keys.contains(&text("is_active")), "{keys:?}");
    assert!(!keys.iter().any(|node| matches!(node, ptc_bytecode::Node::Keyword(_))), "{keys:?}");
}

#[test]
fn positional_arguments_are_refused_with_the_named_form() {
    for call in ["(tool/search \"budget\" 10)", "(tool/search \"budget\")", "(call \"search\" \"budget\" 10)"]
    {
        let (tool, seen) = noted("search");
        let tool = tool.signature("(query :string, limit :int?) -> :any");
        let model = Scripted::new([call, "(return 1)"]);
        let step = run(&agent("Find").tool(tool).build().unwrap(), &with(&model)).unwrap();
        let fail = failure(&step, 1);
        assert_eq!(fail["reason"], "validation_error", "{call}: {fail}");
        assert_eq!(fail["details"]["kind"], "invalid_tool_args", "{call}: {fail}");
        assert!(told(&model, 2).contains("{:"), "{call}: {}", told(&model, 2));
        assert!(seen.lock().unwrap().is_empty());
    }
}

#[test]
fn a_tool_that_is_not_there() {
    let (tool, seen) = noted("search");
    let model = Scripted::new(["(tool/search {:n 1}) (tool/serach {:n 2})", "(return 1)"]);
    let step = run(&agent("Find").tool(tool).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(failure(&step, 1)["reason"], "tool_not_found");
    assert!(told(&model, 2).contains("search"), "{}", told(&model, 2));
    // The call is refused before anything runs.
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn one_program_may_be_limited_to_so_many_calls() {
    let (tool, seen) = noted("search");
    let model =
        Scripted::new(["(doall (map #(tool/search {:n %}) (range 5)))", "(return (:reason data/fail))"]);
    let agent = agent("Find").tool(tool).max_tool_calls(Some(2)).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!("tool_call_limit_exceeded"));
    assert_eq!(seen.lock().unwrap().len(), 2);
}

#[test]
fn answers_are_kept_for_the_run_if_the_tool_says_so() {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let tool = Tool::new("load", move |_, _| match counted.fetch_add(1, Ordering::SeqCst) {
        0 => Err(ToolError::new("busy")),
        n => Ok(n),
    });
    let agent = agent("Load").tool(tool.cache(true)).build().unwrap();
    let model = Scripted::new([
        "(tool/load {:of \"tea\" :max-n 1.0})",
        "(tool/load {:max_n 1 :of :tea})",
        "(return [(tool/load {:of \"tea\" :max-n 1}) (tool/load {:of \"coffee\"})])",
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    // The failure was not cached, the answer was.
    assert_eq!(value(&step), json!([1, 2]));
    let cached: Vec<bool> =
        step.turns.iter().flat_map(|turn| &turn.tool_calls).map(|call| call.cached).collect();
    assert_eq!(cached, [false, false, true, false]);
    assert_eq!(step.tool_cache.len(), 2);
    let again = Scripted::new(["(return (tool/load {:of \"tea\" :max-n 1}))"]);
    assert_eq!(value(&run(&agent, &with(&again)).unwrap()), json!(3));
}

#[test]
fn calls_are_recorded() {
    let model = Scripted::new(["(tool/big {:n 1}) (return 1)"]);
    let agent = agent("Load").tool(Tool::new("big", |_, _| Ok("x".repeat(100_000)))).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    let call = &step.tool_calls[0];
    assert_eq!((call.name.as_str(), &call.args, call.layer.as_str()), ("big", &json!({"n": 1}), "ptc_lisp"));
    assert!(call.is_cut && call.result.to_string().len() <= 16 << 10, "{}", call.result.to_string().len());
}

#[test]
fn branches_call_tools_side_by_side() {
    let barrier = Arc::new(std::sync::Barrier::new(3));
    let tool = Tool::new("meet", move |args, _| {
        barrier.wait();
        Ok(args.json()?["n"].clone())
    });
    let model = Scripted::new(["(return (pmap #(tool/meet {:n %}) [1 2 3]))"]);
    let agent = agent("Meet").tool(tool).pmap_max_concurrency(Some(3)).build().unwrap();
    assert_eq!(value(&run(&agent, &with(&model)).unwrap()), json!([1, 2, 3]));
}

#[test]
fn lines_that_match() {
    use ptc_agent::definition::BuiltinTool;
    let model = Scripted::new(["(return [(tool/grep {:pattern \"TEA\\\\|milk\" :text data/text})
                  (tool/grep-n {:pattern \"milk\" :text data/text :context 1})
                  (count (tool/grep {:pattern \"\" :text data/text}))])"]);
    let agent = agent("Search").builtin_tools(vec![BuiltinTool::Grep]).build().unwrap();
    let text = "green tea\nsugar\nmilk";
    let step = run(&agent, &with(&model).context(&json!({"text": text})).unwrap()).unwrap();
    let around = json!([
        {"line": 2, "text": "sugar", "match": false},
        {"line": 3, "text": "milk", "match": true},
    ]);
    assert_eq!(value(&step), json!([["green tea", "milk"], around, 3]));
}
