//! Tools that ask a model.

use crate::kit::{agent, everything, failure, told, value, with};
use ptc_agent::tools::{LlmTool, Tool};
use ptc_agent::{Agent, run};
use ptc_model::{LlmRequest, Reply, Scripted};
use ptc_runtime::ToolError;
use serde_json::json;
use std::sync::Arc;

#[test]
fn tables_become_questions_and_agents() {
    let agent = Agent::from_json(&json!({
        "prompt": "Do it",
        "tools": {
            "classifier": {"prompt": "Is {{text}} positive?", "signature": "(text :string) -> {is_positive :bool}"},
            "researcher": {
                "prompt": "Research {{topic}}",
                "signature": "(topic :string) -> {summary :string, _refs [:map]}",
                "tools": {"judge": {"prompt": "Is {{it}} true?", "signature": "(it :string) -> :bool"}},
            },
        },
    }))
    .unwrap();
    let model = Scripted::new([
        Reply::from(
            "(def mood (tool/classifier {:text \"I like it\"})) (def found (tool/researcher {:topic \"tea\"}))",
        ),
        Reply::from_fn(|request: &LlmRequest| {
            assert_eq!((request.depth, request.prompt.as_str()), (1, "Is I like it positive?"));
            assert!(request.schema.is_some());
            Ok("{\"is_positive\": true}")
        }),
        Reply::from_fn(|request: &LlmRequest| {
            assert_eq!((request.depth, request.tool_names.as_slice()), (1, &["judge".to_string()][..]));
            Ok("(return {:summary (str (tool/judge {:it \"tea is green\"})) :_refs [{:page 20481024}]})")
        }),
        Reply::from_fn(|request: &LlmRequest| {
            assert_eq!((request.depth, request.prompt.as_str()), (2, "Is tea is green true?"));
            Ok("true")
        }),
        Reply::from("(return [mood (:summary found) (:_refs found)])"),
    ]);
    let step = run(&agent, &with(&model)).unwrap_or_else(|step| panic!("{:?}", step.fail));
    assert_eq!(value(&step), json!([{"is_positive": true}, "true", [{"page": 20481024}]]));
    assert_eq!((step.usage.turns, step.usage.tree.turns, step.child_steps.len()), (2, 5, 2));
    assert_eq!(step.child_steps[1].child_steps.len(), 1);
    assert!(!told(&model, 5).contains("20481024"));
}

#[test]
fn a_child_that_fails_is_an_error_its_parent_can_recover_from() {
    let child = agent("Find {{what}}").signature("(what :string) -> :int").name("finder").build().unwrap();
    let parent = agent("Do it").tool(Tool::agent("find", child)).build().unwrap();
    let model = Scripted::new([
        "(tool/find {:what \"gold\"})",
        "(fail {:reason :nothing_found :message \"no gold here\"})",
        "(return (if (= \"tool_error\" (:reason data/fail)) :recovered :odd))",
    ]);
    let step = run(&parent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!("recovered"));
    assert!(told(&model, 3).contains("nothing_found: no gold here"), "{}", told(&model, 3));
    let child = &step.child_steps[0];
    assert_eq!(
        (child.reason(), child.name.as_deref(), child.usage.turns),
        ("nothing_found", Some("finder"), 1)
    );
}

#[test]
fn children_have_their_own_memory_and_data() {
    let child = agent("Look").signature("(n :int) -> :any").build().unwrap();
    let parent = agent("Do it").tool(Tool::agent("look", child)).build().unwrap();
    let model = Scripted::new([
        "(def mine 1) (tool/look {:n 5})",
        "(do mine)",
        "(do data/secret)",
        "(def theirs 2) (return [(memory/get :mine) data/n])",
        "(return [*1 (memory/get :theirs)])",
    ]);
    let step = run(&parent, &with(&model).context(&json!({"secret": 7})).unwrap()).unwrap();
    assert_eq!(value(&step), json!([[null, 5], null]));
    let refused = told(&model, 4);
    assert!(refused.contains("`data/secret` was not granted; there is `data/fail`, `data/n`"), "{refused}");
}

#[test]
fn arguments_of_a_child_are_checked() {
    let child = agent("Look at {{n}}").signature("(n :int) -> :any").build().unwrap();
    let parent = agent("Do it").tool(Tool::agent("look", child)).build().unwrap();
    let model = Scripted::new(["(tool/look {})", "(return (:reason data/fail))"]);
    let step = run(&parent, &with(&model)).unwrap();
    assert_eq!((value(&step), step.child_steps.len()), (json!("validation_error"), 0));
}

#[test]
fn an_agent_that_calls_itself() {
    let agent = agent("Sum {{items}}")
        .signature("(items [:int]) -> :int")
        .tool(Tool::self_agent("sum_part").signature("(items [:int]) -> :int"))
        .build()
        .unwrap();
    let half = "(if (< (count data/items) 3) (return (reduce + data/items)) \
                (return (reduce + (map #(tool/sum_part {:items %}) (partition-all 2 data/items)))))";
    let model = Scripted::new([half; 3]);
    let step = run(&agent, &with(&model).context(&json!({"items": [1, 2, 3, 4]})).unwrap());
    let step = step.unwrap_or_else(|step| panic!("{:?} {:?}", step.fail, step.turns[0].result));
    assert_eq!((value(&step), step.usage.tree.turns), (json!(10), 3));
}

#[test]
fn tools_for_planning_can_be_read_about_and_not_called() {
    let agent = agent("Plan")
        .tool(Tool::new("save", |_, _| Ok(1)))
        .catalog_tool(Tool::described("book_flight", "(to :string) -> {id :int}").description("Books."))
        .build()
        .unwrap();
    let model = Scripted::new(["(tool/book_flight {:to \"Oslo\"})", "(return [{:tool \"book_flight\"}])"]);
    let step = run(&agent, &with(&model)).unwrap();
    let system = &model.requests()[0].system;
    assert!(
        system.contains("## Tools for planning (do not call)") && system.contains("book_flight(to :string)")
    );
    assert_eq!(model.requests()[0].tool_names, ["save"]);
    assert_eq!(failure(&step, 1)["reason"], "tool_not_found");
    assert!(told(&model, 2).contains("`book_flight` is a tool for planning"), "{}", told(&model, 2));
}

#[test]
fn a_question_goes_to_the_model_it_names() {
    let cheap = Scripted::new(["{\"urgent\": true}"]);
    let tool =
        LlmTool::new("Is {{subject}} urgent?", "(subject :string, tier :string) -> {urgent :bool}").unwrap();
    let agent = agent("Triage").tool(Tool::llm("evaluate", tool.llm("haiku"))).build().unwrap();
    let model = Scripted::new(["(return (tool/evaluate {:subject \"Server down!\" :tier \"gold\"}))"]);
    let step = run(&agent, &with(&model).llm_named("haiku", cheap.clone())).unwrap();
    assert_eq!(value(&step), json!({"urgent": true}));
    // Arguments without a placeholder reach the model too.
    assert!(cheap.requests()[0].prompt.contains("gold"), "{}", cheap.requests()[0].prompt);

    let model =
        Scripted::new(["(tool/evaluate {:subject \"x\" :tier \"y\"})", "(return (:message data/fail))"]);
    let step = run(&agent, &with(&model)).unwrap();
    assert!(value(&step).as_str().unwrap().contains("haiku"), "{}", value(&step));
}

#[test]
fn answers_that_do_not_fit_are_errors_of_the_tool() {
    for answer in ["{\"good\": \"perhaps\"}", "I cannot say.", ""] {
        let judge = LlmTool::new("Is it good?", "() -> {good :bool}").unwrap();
        let model = Scripted::new(["(tool/judge {})", answer, "(return (:reason data/fail))"]);
        let agent = agent("Judge").tool(Tool::llm("judge", judge)).build().unwrap();
        let step = run(&agent, &with(&model)).unwrap();
        assert_eq!(value(&step), json!("tool_error"), "{answer}");
    }
}

#[test]
fn arguments_may_be_refused_before_anybody_is_asked() {
    let check = |refuse: fn() -> Result<(), ToolError>| {
        let mut judge = LlmTool::new("Is {{it}} good?", "(it :string) -> {good :bool}").unwrap();
        judge.validator = Some(Arc::new(move |_| refuse()));
        let model = Scripted::new(["(tool/judge {:it \"tea\"})", "(return (:message data/fail))"]);
        let agent = agent("Judge").tool(Tool::llm("judge", judge)).build().unwrap();
        value(&run(&agent, &with(&model)).unwrap()).to_string()
    };
    assert!(check(|| Err(ToolError::new("too short"))).contains("too short"));
    assert!(check(|| panic!("odd")).contains("panicked"));
}

#[test]
fn programs_ask_what_they_like() {
    let agent = agent("Read").llm_query(true).build().unwrap();
    let model = Scripted::new([
        "(return [(tool/llm-query {:prompt \"Is {{text}} polite?\" :signature \"{polite :bool}\" :text \"hello\" :lang \"en\"})
                  (tool/llm-query {:prompt \"Say hi\"})])",
        "{\"polite\": true}",
        "hi",
    ]);
    let step = run(&agent, &with(&model)).unwrap_or_else(|step| panic!("{:?}", step.turns[0].result));
    assert_eq!(value(&step), json!([{"polite": true}, "hi"]));
    let asked = &model.requests()[1].prompt;
    assert!(asked.contains("Is hello polite?") && asked.contains("en"), "{asked}");
    // Two questions of one program share one turn.
    assert_eq!((step.usage.turns, step.usage.tree.turns, step.usage.tree.llm_requests), (1, 2, 3));

    let model = Scripted::new(["(tool/llm-query {:text \"x\"})", "(return (:message data/fail))"]);
    assert!(value(&run(&agent, &with(&model)).unwrap()).to_string().contains("`prompt` is missing"));
}

#[test]
fn an_answer_never_becomes_code() {
    let mut judge = LlmTool::new("Name it", "() -> :any").unwrap();
    judge.json_signature = Some(ptc_contract::Signature::parse("{name :string, n :int}").unwrap());
    judge.response_template = Some("{:label (str \"<\" {{name}} \">\") :twice (* 2 {{n}})}".to_string());
    let agent =
        agent("Name").tool(Tool::llm("label", judge)).tool(Tool::new("wipe", |_, _| Ok("wiped"))).build();
    let agent = agent.unwrap();
    for name in ["x", "\") (tool/wipe {}) (str \"", "{{n}} \\\" (fail 1)", "a\nb\u{2028}c\\"] {
        let model = Scripted::new([
            "(return (tool/label {}))".to_string(),
            json!({"name": name, "n": 4}).to_string(),
        ]);
        let step =
            run(&agent, &with(&model)).unwrap_or_else(|step| panic!("{name}: {:?}", step.turns[0].result));
        assert_eq!(value(&step), json!({"label": format!("<{name}>"), "twice": 8}), "{name}");
    }
    // The template itself has no tools.
    let mut judge = LlmTool::new("Name it", "() -> :any").unwrap();
    judge.json_signature = Some(ptc_contract::Signature::parse("{name :string}").unwrap());
    judge.response_template = Some("(tool/wipe {{name}})".to_string());
    let agent = agent.with(|builder| builder.tool(Tool::llm("label", judge.clone()))).unwrap();
    let model = Scripted::new(["(tool/label {})", "{\"name\": \"x\"}", "(return (:reason data/fail))"]);
    assert_eq!(value(&run(&agent, &with(&model)).unwrap()), json!("tool_error"));
}

#[test]
fn what_a_child_learns_its_parent_does_not_see() {
    let child = agent("Find").signature("() -> {n :int, _ids [:string]}").build().unwrap();
    let parent = agent("Do it").tool(Tool::agent("find", child)).build().unwrap();
    let model = Scripted::new([
        Reply::from("(tool/find {})"),
        Reply::from_fn(|_: &LlmRequest| Ok("(return {:n 1 :_ids [(str \"mail-\" (+ 400000 7))]})")),
        Reply::from("(println data/_ids (str data/_ids)) *1"),
        Reply::from("(return (:_ids *1))"),
    ]);
    let step = run(&parent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!(["mail-400007"]));
    assert!(!everything(&model).contains("mail-400007"));
    // The description of the tool names the firewalled field apart from the result.
    let system = &model.requests()[0].system;
    assert!(
        system.contains("find() -> {n :int}") && system.contains("firewalled: _ids [:string]"),
        "{system}"
    );
}

#[test]
fn what_programs_ask_can_be_made_into_data_too() {
    let agent = agent("Read").llm_query(true).build().unwrap();
    let model = Scripted::new([
        "(return (tool/llm-query {:prompt \"Name it\" :signature \"{name :string}\" :response_template \"[:named {{name}}]\"}))",
        "{\"name\": \"\\\") (fail 1) (str \\\"\"}",
    ]);
    let step = run(&agent, &with(&model)).unwrap_or_else(|step| panic!("{:?}", step.turns[0].result));
    assert_eq!(value(&step), json!(["named", "\") (fail 1) (str \""]));
}

#[test]
fn programs_choose_among_the_models_that_the_host_named() {
    use ptc_model::Registry;
    let ask = |name: &str| format!("(return (tool/llm-query {{:prompt \"Say hi\" :llm \"{name}\"}}))");
    let agent = agent("Read").llm_query(true).max_turns(2).build().unwrap();
    let named = |model: &Scripted| {
        let table = Registry::default().client("table", Scripted::new(["from the table"]));
        with(model).llm_named("run", Scripted::new(["from the run"])).models(table)
    };
    for (name, answer) in [("run", "from the run"), ("table", "from the table"), ("caller", "hi")] {
        let model = Scripted::new([ask(name), "hi".to_string()]);
        assert_eq!(value(&run(&agent, &named(&model)).unwrap()), json!(answer));
    }
    // Neither an address nor a provider: the host may have the provider's key for another purpose.
    for name in ["openai-compat:http://127.0.0.1:9/v1|x", "openai:gpt-5", "haiku", "nope"] {
        let model = Scripted::new([ask(name), "(return (:message data/fail))".to_string()]);
        let step = run(&agent, &named(&model)).unwrap();
        assert!(value(&step).as_str().unwrap().contains("that programs may ask"), "{name}: {}", value(&step));
        assert_eq!(model.requests().len(), 2);
    }
}
