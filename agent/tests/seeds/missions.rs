//! Missions as the guides describe them.

use ptc_agent::mission::{run_many, run_or_err};
use ptc_agent::tools::{LlmRef, LlmTool, Tool};
use ptc_agent::{Agent, AgentBuilder, RunOptions, Step, run};
use ptc_model::LlmRetry;
use ptc_model::{LlmError, LlmRequest, LlmResponse, Model, Reply, Scripted, Tokens};
use ptc_runtime::ToolError;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn agent(prompt: &str) -> AgentBuilder {
    Agent::builder().prompt(prompt)
}

fn with(model: &Scripted) -> RunOptions {
    RunOptions::new().llm(LlmRef::client(model.clone()))
}

fn value(step: &Step) -> Value {
    step.json().unwrap()
}

/// Returns the last message of a request, numbered from 1.
fn told(model: &Scripted, request: usize) -> String {
    model.requests()[request - 1].messages.last().unwrap().content.clone()
}

/// Returns the failure of a turn.
fn failure(step: &Step, turn: usize) -> Value {
    ptc_runtime::bridge::datum_to_json(step.turns[turn - 1].result.as_ref().unwrap()).unwrap()
}

#[test]
fn s002_firewalled_fields_are_there_for_programs_and_hosts() {
    let agent =
        agent("Summarize").signature("{summary :string, count :int, _email_ids [:int]}").build().unwrap();
    let model = Scripted::new([
        "(do {:_email_ids data/_all})",
        "(return {:summary \"two\" :count (count data/_email_ids) :_email_ids data/_email_ids})",
    ]);
    let options = with(&model).context(&json!({"_all": [4711001, 4711002]})).unwrap();
    let step = run(&agent, &options).unwrap();
    assert_eq!(value(&step)["_email_ids"], json!([4711001, 4711002]));
    let asked = serde_json::to_string(&model.requests()).unwrap();
    assert!(!asked.contains("4711001") && asked.contains("<Firewalled>"), "{asked}");
}

#[test]
fn s002_a_parent_sees_only_the_public_part_of_a_result() {
    let child = agent("Read").signature("{summary :string, _raw_data [:map]}").build().unwrap();
    let parent = agent("Report").tool(Tool::agent("read", child)).build().unwrap();
    let model = Scripted::new([
        "(def found (tool/read)) found",
        "(return {:summary \"two mails\" :_raw_data [{:from \"ann-4711@example.org\"}]})",
        "(return {:rows (count (:_raw_data found)) :_raw (:_raw_data found)})",
    ]);
    let step = run(&parent, &with(&model)).unwrap();
    let requests = model.requests();
    assert!(requests[0].system.contains("read() -> {summary :string}\n"), "{}", requests[0].system);
    let seen = told(&model, 3);
    assert!(seen.contains("two mails") && seen.contains("<Firewalled>"), "{seen}");
    let of_parent = serde_json::to_string(&[&requests[0], &requests[2]]).unwrap();
    assert!(!of_parent.contains("ann-4711"), "{of_parent}");
    // Its programs and the host get everything.
    assert_eq!(value(&step)["rows"], 1);
    assert_eq!(value(&step)["_raw"], json!([{"from": "ann-4711@example.org"}]));
}

#[test]
fn s002_a_program_returns_hyphens_and_the_host_reads_underscores() {
    let agent = agent("Count")
        .signature("(user_id :int) -> {order_count :int, is_active :bool, by {first_name :string}}");
    let model = Scripted::new([
        "(return {:order-count \"5\" :is-active true :by {:first-name \"Ann\"}})",
        "(return {:order-count 5 :is-active (= 7 data/user-id) :by {:first-name \"Ann\"}})",
    ]);
    let options = with(&model).context(&json!({"user_id": 7})).unwrap();
    let step = run(&agent.build().unwrap(), &options).unwrap();
    assert_eq!(value(&step), json!({"order_count": 5, "is_active": true, "by": {"first_name": "Ann"}}));
    #[derive(serde::Deserialize, PartialEq, Debug)]
    struct Counted {
        order_count: u32,
        is_active: bool,
    }
    assert_eq!(step.get::<Counted>().unwrap(), Counted { order_count: 5, is_active: true });
    // Models read the spelling that they write: hyphens.
    assert!(
        model.requests()[0].system.contains("{order-count :int, is-active :bool, by {first-name :string}}")
    );
    assert!(told(&model, 2).contains("- order_count: expected int, got string"), "{}", told(&model, 2));
}

/// Inputs from the host and from callers are coerced with a warning; a mission whose inputs do not fit asks no model.
#[test]
fn s002_inputs_are_coerced_then_validated() {
    let add = || agent("Add to {{n}}").signature("(n :int, rows [{id :int}]) -> :int");
    let program = "(return (+ data/n (:id (first data/rows))))";
    let given = |context: Value, model: &Scripted| {
        run(&add().build().unwrap(), &with(model).context(&context).unwrap())
    };
    let step = given(json!({"n": "40", "rows": [{"id": "2"}]}), &Scripted::new([program])).unwrap();
    assert_eq!(value(&step), json!(42));
    let warnings = ["n: coerced string \"40\" to int", "rows[0].id: coerced string \"2\" to int"];
    assert_eq!(step.warnings, warnings);
    let model = Scripted::new([program]);
    let step = given(json!({"n": "4o", "rows": [{"id": []}]}), &model).unwrap_err();
    assert_eq!((step.reason(), model.left()), ("validation_error", 1));
    assert!(step.fail.unwrap().message.contains("n: expected int, got string \"4o\""));
    // Inputs of an agent that is called as a tool are coerced and checked alike.
    let model = Scripted::new([
        "(def sum (tool/add {:n \"40\" :rows [{:id \"2\"}]}))",
        program,
        "(tool/add {:n \"4o\" :rows []})",
        "(return [sum (:reason data/fail)])",
    ]);
    let parent = agent("Sum").tool(Tool::agent("add", add().build().unwrap())).build().unwrap();
    let step = run(&parent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!([42, "validation_error"]));
}

#[test]
fn s002_firewalled_values_never_appear_in_templates() {
    let context = json!({"_ids": [4711001], "user": {"_token": "tok-4711", "name": "Ann"}, "rows": [{"_key": "deep-4711"}]});
    let prompt = "Write to {{user.name}}: {{user._token}}, {{#rows}}{{_key}}{{/rows}}, {{user}}, {{_ids}}.";
    for (output, rest) in [
        (ptc_model::Output::PtcLisp, "data/user, <Firewalled>."),
        (ptc_model::Output::Text, "{\"_token\" <Firewalled> \"name\" \"Ann\"}, <Firewalled>."),
    ] {
        let model = Scripted::new(["(return 1)"]);
        let options = with(&model).context(&context).unwrap();
        run(&agent(prompt).output(output).build().unwrap(), &options).unwrap();
        let asked = serde_json::to_string(&model.requests()).unwrap();
        assert!(!asked.contains("4711"), "{asked}");
        let user = &model.requests()[0].messages[0].content;
        assert!(user.contains(&format!("Write to Ann: <Firewalled>, <Firewalled>, {rest}")), "{user}");
    }
}

#[test]
fn s001_a_return_that_does_not_fit_is_fed_back() {
    let agent = agent("Count").signature("{order_count :int, _ids [:int]}");
    let agent = agent.llm_retry(LlmRetry { max_attempts: 1, ..LlmRetry::default() }).build().unwrap();
    let model = Scripted::new([
        "(call \"return\" {:order-count \"many\" :_ids [4711001]})",
        "(call \"return\" 7)",
        "(call \"return\" {:order-count 2 :_ids [4711001]})",
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!({"order_count": 2, "_ids": [4711001]}));
    assert_eq!((step.usage.turns, step.usage.llm_requests), (3, 3), "no attempt of the model is used up");
    let told = [told(&model, 2), told(&model, 3)];
    for said in [
        "Expected: {order-count :int, _ids [:int]}",
        "- order_count: expected int, got string \"many\"",
        "Return a corrected value",
        "<Firewalled>",
    ] {
        assert!(told[0].contains(said), "{said}: {}", told[0]);
    }
    assert!(!told[0].contains("4711001") && told[1].contains("expected map, got int 7"), "{told:?}");
}

/// Feedback shows the public part of a result, its type, prints and definitions; programs read all of it.
#[test]
fn s001_results_in_feedback_are_public() {
    let model = Scripted::new([
        "(def _raw data/_all) (def n 1) (println \"saw\" (first data/_all)) {:count 2 :_email_ids data/_all :note (str \"id \" (first data/_all))}",
        "(return [data/count data/_email_ids (count _raw) n ctx/note])",
    ]);
    let options = with(&model).context(&json!({"_all": [4711001, 4711002]})).unwrap();
    let step = run(&agent("Sum").build().unwrap(), &options).unwrap();
    assert_eq!(value(&step), json!([2, [4711001, 4711002], 2, 1, "id 4711001"]));
    let told = told(&model, 2);
    for said in [
        "_email_ids [:int]",
        "count :int",
        "note :string",
        "saw <Firewalled>",
        "_raw = <Firewalled>",
        "Readable from now on:",
        "data/count",
        "data/_email_ids",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
    let asked = serde_json::to_string(&model.requests()).unwrap();
    assert!(!asked.contains("4711"), "{asked}");
}

#[test]
fn s001_required_optional_and_extra_fields_of_a_return() {
    use ptc_contract::signature::Validation::{Enabled, Strict};
    let ends = |mode, program: &str| {
        let agent = agent("Count").signature("() -> {:count :int :note :string?}").signature_validation(mode);
        let model = Scripted::new([program]);
        run(&agent.max_turns(1).build().unwrap(), &with(&model)).map_err(|step| step.reason().to_string())
    };
    for mode in [Enabled, Strict] {
        for fits in ["{:count 5}", "{:count 5 :note nil}", "{:count 5 :note \"x\"}"] {
            assert!(ends(mode, &format!("(return {fits})")).is_ok(), "{fits}");
        }
        for wrong in ["{:note \"x\"}", "{:count nil}", "{:count \"5\"}", "{:count 5 :note 7}"] {
            assert_eq!(ends(mode, &format!("(return {wrong})")).unwrap_err(), "validation_error", "{wrong}");
        }
    }
    let extra = "(return {:count 5 :extra \"bonus\"})";
    assert_eq!(value(&ends(Enabled, extra).unwrap()), json!({"count": 5, "extra": "bonus"}));
    assert_eq!(ends(Strict, extra).unwrap_err(), "validation_error");
}

#[test]
fn s001_calls_without_arguments_give_an_empty_map() {
    let tool = Tool::new("get_time", |args, _| args.json()).signature("() -> :any");
    let program = "(return [(call \"get_time\" {}) (call \"get_time\") (tool/get_time {}) (tool/get_time)])";
    let step = run(&agent("Time").tool(tool).build().unwrap(), &with(&Scripted::new([program]))).unwrap();
    assert_eq!(value(&step), json!([{}, {}, {}, {}]));
}

#[test]
fn s001_memory_is_one_store_of_a_mission() {
    let model = Scripted::new([
        "(memory/put :total 41)",
        "(def total (inc memory/total))",
        "(return [(memory/get :total) memory/total total (memory/get :none) memory/none])",
    ]);
    let step = run("Count", &with(&model)).unwrap();
    assert_eq!(value(&step), json!([42, 42, 42, null, null]));
}

/// Habits of models that an older version refused.
#[test]
fn s001_what_models_are_known_to_write() {
    let model = Scripted::new([
        "(+ 1 nil)",
        "(let [rows [{:total 1 :id 7} {:total 3 :id 8}]]
           (return [(str \"n\" 1) (conj [1] 2) (map :total (sort-by :total > rows)) (get-in {:result rows} [:result 0 :id])]))",
    ]);
    let step = run("Sort", &with(&model)).unwrap();
    assert_eq!(value(&step), json!(["n1", [1, 2], [3, 1], 7]));
    // The feedback on nil in arithmetic names it.
    assert!(told(&model, 2).contains("nil"), "{}", told(&model, 2));
}

#[test]
fn s002_a_quoted_number_reaches_the_tool_as_a_number() {
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let note = seen.clone();
    let check = Tool::new("check", move |args, _| {
        note.lock().unwrap().push(args.json()?);
        Ok(true)
    });
    let check = check.signature("(id :int, name :string, ratio :float?, on :bool?, size :float?) -> :bool");
    let model = Scripted::new([
        "(tool/check {:id \"42\" :name \"Alice\" :ratio \"2.5\" :on \"true\" :size 42})",
        "(tool/check {:id (str \"4\" \"x\") :name \"Alice\"})",
        "(return (:reason data/fail))",
    ]);
    let step = run(&agent("Check").tool(check).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [json!({"id": 42, "name": "Alice", "ratio": 2.5, "on": true, "size": 42.0})],
        "what does not fit is not called"
    );
    let warned = told(&model, 2);
    for warning in
        ["id: coerced string \"42\" to int", "ratio: coerced string \"2.5\" to float", "on: coerced"]
    {
        assert!(warned.contains(&format!("- {warning}")), "{warned}");
    }
    assert!(!warned.contains("size:"), "an integer is a float without a word: {warned}");
    let refused = told(&model, 3);
    assert!(refused.contains("- id: expected int, got string \"4x\""), "{refused}");
    assert_eq!(value(&step), json!("validation_error"));
}

#[test]
fn s002_modes_decide_what_becomes_of_a_return() {
    use ptc_contract::signature::Validation;
    let ends = |mode: Validation, program: &str| {
        let agent = agent("Count").signature("{count :int}").signature_validation(mode).max_turns(1);
        match run(&agent.build().unwrap(), &with(&Scripted::new([program]))) {
            Ok(step) => (value(&step), step.warnings.len()),
            Err(step) => (json!(step.reason()), 0),
        }
    };
    let (wrong, extra) = ("(return {:count \"x\"})", "(return {:count 1 :more 2})");
    let refused = (json!("validation_error"), 0);
    assert_eq!(ends(Validation::Enabled, wrong), refused);
    assert_eq!(ends(Validation::Enabled, extra), (json!({"count": 1, "more": 2}), 0));
    assert_eq!(ends(Validation::Strict, wrong), refused);
    assert_eq!(ends(Validation::Strict, extra), refused);
    assert_eq!(ends(Validation::WarnOnly, wrong), (json!({"count": "x"}), 1));
    assert_eq!(ends(Validation::Disabled, wrong), (json!({"count": "x"}), 0));
}

/// What is coerced in an input is refused in a return, and what fits comes back as it is.
#[test]
fn s002_output_validation_is_strict() {
    let ends = |ty: &str, program: &str| {
        let model = Scripted::new([format!("(return {program})")]);
        let ended = run(&agent("Count").signature(ty).max_turns(1).build().unwrap(), &with(&model));
        ended.map(|step| value(&step)).map_err(|step| step.reason().to_string())
    };
    for (ty, coercible, fits, wanted) in [
        (":int", "\"42\"", "42", json!(42)),
        (":float", "\"2.5\"", "2.5", json!(2.5)),
        (":bool", "\"true\"", "true", json!(true)),
        (
            "{count :int, items [:string]}",
            "{:count 5 :items [7]}",
            "{:count 5 :items [\"7\"]}",
            json!({"count": 5, "items": ["7"]}),
        ),
    ] {
        assert_eq!(ends(ty, coercible).unwrap_err(), "validation_error", "{ty}");
        assert_eq!(ends(ty, fits).unwrap(), wanted, "{ty}");
    }
}

#[test]
fn s001_a_missing_placeholder_ends_before_a_model_is_asked() {
    let model = Scripted::new(["(return 1)"]);
    let find = agent("Find {{topic}} for {{user.name}}").build().unwrap();
    let options = with(&model).context(&json!({"topic": "tea", "user": {}})).unwrap();
    let step = run(&find, &options).unwrap_err();
    assert_eq!((step.reason(), model.requests().len()), ("template_error", 0));
    assert!(step.fail.unwrap().message.contains("`{{user.name}}`"));
}

#[test]
fn s002_a_bad_return_is_fed_back_for_correction() {
    let agent = agent("Count").signature("() -> {count :int, items [:string]}").build().unwrap();
    let model = Scripted::new([
        "(return {:count \"5\" :items [\"a\" 7]})",
        "(return {:count 5 :items [\"a\" \"b\"]})",
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!({"count": 5, "items": ["a", "b"]}));
    let told = told(&model, 2);
    assert!(told.contains("- count: expected int, got string \"5\""), "{told}");
    assert!(told.contains("- items[1]: expected string, got int 7"), "{told}");
}

#[test]
fn s002_tools_are_called_with_names() {
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let note = seen.clone();
    let search = Tool::new("search", move |args, _| {
        note.lock().unwrap().push(args.json()?);
        Ok(json!([{"id": 1}]))
    });
    let search = search.signature("(query :string, limit :int) -> [{id :int}]");
    let count = Tool::new("get_count", |_, _| Ok(json!({"count": 3}))).signature("() -> {count :int}");
    let agent = agent("Find").tool(search).tool(count).build().unwrap();
    let model = Scripted::new([
        "(tool/search {:query \"budget\" :limit 10}) (tool/search :query \"budget\" :limit 10)",
        "(tool/search \"budget\" 10)",
        "(tool/search \"budget\")",
        "(return [(tool/get_count {}) (tool/get_count)])",
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!([{"count": 3}, {"count": 3}]));
    assert_eq!(*seen.lock().unwrap(), vec![json!({"query": "budget", "limit": 10}); 2]);
    for turn in [2, 3] {
        assert_eq!(failure(&step, turn)["reason"], "validation_error");
        let told = told(&model, turn + 1);
        assert!(told.contains("(tool/search {") || told.contains(":query"), "{told}");
    }
}

#[test]
fn s001_every_turn_is_a_step_and_its_result_the_context_of_the_next() {
    let model = Scripted::new([
        "```clojure\n(call \"get_expenses\")\n```",
        "```clojure\n{:total (reduce + (map :amount ctx/result))}\n```",
        "```clojure\n{:total (* 2 ctx/total) :_raw ctx/result}\n```",
        "```clojure\n(call \"return\" {:total ctx/total :rows (count ctx/_raw)})\n```",
    ]);
    let expenses = Tool::new("get_expenses", |_, _| Ok(json!([{"amount": 7011}, {"amount": 9}])));
    let step = run(&agent("Sum").tool(expenses).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(value(&step), json!({"total": 14040, "rows": 2}));
    assert_eq!((step.trace().len(), step.trace()[0].tool_calls.len()), (4, 1));
    // The history holds the public part of a result, with its type.
    assert!(told(&model, 3).contains(":total 7020"), "{}", told(&model, 3));
    assert!(told(&model, 4).contains("<Firewalled>"), "{}", told(&model, 4));
}

#[test]
fn s001_only_return_and_fail_end_a_mission() {
    let model = Scripted::new(["(do {:answer 42})", "The answer is 42.", "(return {:answer 42})"]);
    let step = run("Answer", &with(&model)).unwrap();
    assert_eq!((value(&step), step.usage.turns), (json!({"answer": 42}), 3));
    let model =
        Scripted::new(["(+ 1 1)", "(call \"fail\" {:reason :stuck :message \"no way\"})", "(return 1)"]);
    let step = run("Answer", &with(&model)).unwrap_err();
    assert_eq!((step.reason(), model.left()), ("stuck", 1));
}

#[test]
fn s001_a_call_of_a_planning_tool_is_not_found() {
    let agent = agent("Plan a trip")
        .catalog_tool(Tool::described("book_flight", "(to :string) -> {id :int}"))
        .build()
        .unwrap();
    let model = Scripted::new(["(call \"book_flight\" {:to \"Oslo\"})", "(return [\"book_flight\"])"]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(failure(&step, 1)["reason"], "tool_not_found");
    assert!(told(&model, 2).contains("planning"), "{}", told(&model, 2));
}

#[test]
fn s001_a_model_is_required() {
    let step = run("Count", &RunOptions::new()).unwrap_err();
    assert_eq!(step.reason(), "llm_required");
    // The model may come from the run or from the agent.
    let agent = agent("Count").llm(|_: &LlmRequest| Ok("(return 1)")).build().unwrap();
    assert_eq!(value(&run(&agent, &RunOptions::new()).unwrap()), json!(1));
}

#[test]
fn s001_a_step_as_context() {
    let find =
        agent("Find urgent emails").signature("() -> {count :int, _email_ids [:int]}").build().unwrap();
    let drafts = "(return [data/count (first data/_email_ids)])";
    let model = Scripted::new(["(return {:count 1 :_email_ids [4711001]})", drafts, drafts]);
    let first = run(&find, &with(&model)).unwrap();
    let chained = run("Draft replies", &with(&model).after(&first)).unwrap();
    assert_eq!(value(&chained), json!([1, 4711001]));
    let mut long = with(&model).context_signature(first.signature.as_str());
    long.context = first.returned.clone().unwrap();
    assert_eq!(value(&run("Draft replies", &long).unwrap()), value(&chained));
    let requests = model.requests();
    assert!(requests[1].system.contains("data/_email_ids  ; [:int]"), "{}", requests[1].system);
    assert_eq!(requests[1].system, requests[2].system);
}

#[test]
fn s001_agents_as_tools_give_values_or_errors() {
    let emails = agent("Find emails matching: {{query}}")
        .signature("(query :string) -> {count :int, _email_ids [:int]}")
        .build()
        .unwrap();
    let parent = agent("Answer").tool(Tool::agent("find_emails", emails)).build().unwrap();
    let model = Scripted::new([
        "(def found (tool/find_emails {:query \"urgent\"}))",
        "(return {:count 1 :_email_ids [4711001]})",
        "(tool/find_emails {:query \"lost\"})",
        "(call \"fail\" {:reason :no_mailbox :message \"it is gone\"})",
        "(return [(:_email_ids found) (:reason data/fail)])",
    ]);
    let step = run(&parent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!([[4711001], "tool_error"]));
    assert!(told(&model, 2).contains("Find emails matching: urgent"), "{}", told(&model, 2));
    assert!(told(&model, 5).contains("no_mailbox: it is gone"), "{}", told(&model, 5));
    assert_eq!(step.child_steps[1].reason(), "no_mailbox");
    assert!(!told(&model, 3).contains("4711001"));
    // The Rust error holds the step.
    let error = run_or_err("Fail", &with(&Scripted::new(["(fail {:reason :no_mailbox :message \"gone\"})"])))
        .unwrap_err();
    assert_eq!(error.step.reason(), "no_mailbox");
}

#[test]
fn s001_a_loop_begins_with_memory_and_its_own_system_prompt() {
    let model = Scripted::new([
        "(memory/put :total (+ memory/total 1)) {:seen data/limit}",
        "(return [(memory/get :total) total data/seen (:seen *1)])",
    ]);
    let options = with(&model).define("total", &41).unwrap().context(&json!({"limit": 9})).unwrap();
    let step =
        run("Count on", &RunOptions { system_prompt: Some("You count.".to_string()), ..options }).unwrap();
    // The first result is the context of the next turn, and not the end.
    assert_eq!((value(&step), step.usage.turns), (json!([42, 42, 9, 9]), 2));
    for request in model.requests() {
        assert_eq!(request.system, "You count.");
    }
    assert_eq!(step.memory["total"].to_datum(100).unwrap().nodes().len(), 1);
}

#[test]
fn s001_fail_with_reason_message_op_and_details() {
    let program = "(call \"fail\" {:reason :permission_denied :message \"not yours\" :op \"get_user\" :details {:id 7}})";
    let fail = run("Try", &with(&Scripted::new([program]))).unwrap_err().fail.unwrap();
    assert_eq!((fail.reason.as_str(), fail.message.as_str()), ("permission_denied", "not yours"));
    assert_eq!((fail.op.as_deref(), &fail.details), (Some("get_user"), &json!({"id": 7})));
    // Reason and message are required: without them the model is asked again.
    let partial =
        ["(call \"fail\" {:reason :permission_denied})", "(call \"fail\" {:message \"not yours\"})"];
    let model = Scripted::new([partial[0], partial[1], program]);
    let step = run("Try", &with(&model)).unwrap_err();
    assert_eq!((step.reason(), step.usage.turns), ("permission_denied", 3));
    assert!(told(&model, 2).contains("`fail` needs `:message`, a text"), "{}", told(&model, 2));
    assert!(told(&model, 3).contains("`fail` needs `:reason`"), "{}", told(&model, 3));
    // Operation and details may be left out.
    let program = "(fail {:reason :not_found :message \"none\"})";
    let fail = run("Try", &with(&Scripted::new([program]))).unwrap_err().fail.unwrap();
    assert_eq!((fail.reason.as_str(), fail.op.as_deref()), ("not_found", None));
}

#[test]
fn s001_questions_are_called_like_any_tool() {
    let haiku = Scripted::new(["{\"urgent\": true, \"reason\": \"Production issue\"}"]);
    let evaluate = LlmTool::new(
        "Is {{email.subject}} urgent for {{customer_tier}} customer?",
        "(email {subject :string}, customer_tier :string) -> {urgent :bool, reason :string}",
    );
    let agent = agent("Triage").tool(Tool::llm("evaluate", evaluate.unwrap().llm("haiku"))).build().unwrap();
    let model = Scripted::new([
        "(return (call \"evaluate\" {:email {:subject \"Server down!\"} :customer_tier \"gold\"}))",
    ]);
    let step = run(&agent, &with(&model).llm_named("haiku", haiku.clone())).unwrap();
    assert_eq!(value(&step), json!({"urgent": true, "reason": "Production issue"}));
    assert_eq!(haiku.requests()[0].prompt, "Is Server down! urgent for gold customer?");
    assert!(model.requests()[0].system.contains("evaluate(email {subject :string}, customer_tier :string)"));
}

#[test]
fn s001_positional_arguments_are_a_validation_error() {
    let tool = Tool::new("get_user", |args, _| args.json()).signature("(id :int) -> :any");
    let model = Scripted::new(["(call \"get_user\" 1 2)", "(return (call \"get_user\" {:id \"7\"}))"]);
    let step = run(&agent("Find").tool(tool).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(failure(&step, 1)["reason"], "validation_error");
    // Named arguments are coerced to the types of the signature.
    assert_eq!(value(&step), json!({"id": 7}));
}

#[test]
fn s001_memory_depth_and_turns_have_limits() {
    let model = Scripted::new([
        "(memory/put :big (loop [s \"x\"] (if (< (count s) 1100000) (recur (str s s)) s))) 1",
        "(return 1)",
    ]);
    assert_eq!(run("Keep", &with(&model)).unwrap_err().reason(), "memory_exceeded");

    let tower = |levels: u32| {
        let ground = agent("Go").build().unwrap();
        (0..levels).fold(ground, |below, _| agent("Go").tool(Tool::agent("below", below)).build().unwrap())
    };
    let go = |request: &LlmRequest| {
        Ok(match (request.turn, request.depth) {
            (1, 3) => "(return \"the ground\")",
            (1, _) => "(tool/below {})",
            _ => "(return (or *1 (:message data/fail)))",
        })
    };
    let step = run(&tower(3), &RunOptions::new().llm(LlmRef::from(go))).unwrap();
    assert_eq!((value(&step), step.usage.tree.turns), (json!("the ground"), 7));
    let go = |request: &LlmRequest| {
        Ok(if request.turn == 1 { "(tool/below {})" } else { "(return (or *1 (:message data/fail)))" })
    };
    let step = run(&tower(4), &RunOptions::new().llm(LlmRef::from(go))).unwrap();
    assert!(value(&step).as_str().unwrap().contains("max_depth_exceeded"), "{}", value(&step));

    let child = agent("Go").max_turns(30).build().unwrap();
    let parent = agent("Go").max_turns(30).tool(Tool::agent("child", child)).build().unwrap();
    let go = |request: &LlmRequest| Ok(if request.depth == 0 { "(tool/child {})" } else { "(+ 1 1)" });
    let step = run(&parent, &RunOptions::new().llm(LlmRef::from(go))).unwrap_err();
    assert_eq!((step.reason(), step.usage.tree.turns), ("turn_budget_exhausted", 20));
}

#[test]
fn s001_three_ways_for_tools_to_signal_errors() {
    let agent = agent("Find")
        .tool(Tool::new("raises", |_, _| Err::<(), _>(ToolError::new("User not found"))))
        .tool(Tool::new("panics", |_, _| -> Result<(), ToolError> { panic!("out of range") }))
        .tool(Tool::new("maps", |_, _| Ok(json!({"error": "not_found", "message": "User does not exist"}))))
        .tool(Tool::new("pairs", |_, _| Ok(json!(["error", "not_found"]))))
        .build()
        .unwrap();
    let model = Scripted::new([
        "(call \"raises\" {})",
        "(call \"panics\")",
        "(let [[status reason] (call \"pairs\")] (return [(:reason data/fail) (:error (call \"maps\")) status reason]))",
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!(["tool_error", "not_found", "error", "not_found"]));
    assert_eq!(failure(&step, 1)["details"]["class"], "eval_error");
    assert!(told(&model, 2).contains("User not found"), "{}", told(&model, 2));
    assert_eq!(failure(&step, 2)["reason"], "tool_error");
    assert!(told(&model, 3).contains("out of range"), "{}", told(&model, 3));
}

/// Replies to an agent that counts to two in its own turns.
fn counts(request: &LlmRequest) -> Result<&'static str, LlmError> {
    Ok(if request.turn == 1 { "(def mine data/n)" } else { "(return [mine data/n])" })
}

#[test]
fn s001_runs_are_isolated() {
    let agent = agent("Count {{n}}").build().unwrap();
    let missions = (0..12).map(|n| {
        let options = RunOptions::new().context(&json!({"n": n})).unwrap();
        (agent.clone(), options.llm(LlmRef::from(counts)))
    });
    for (n, step) in run_many(missions, 6).into_iter().enumerate() {
        let step = step.unwrap();
        assert_eq!((value(&step), step.usage.turns), (json!([n, n]), 2));
    }
}

#[test]
fn s001_several_missions_at_once() {
    let barrier = Arc::new(std::sync::Barrier::new(3));
    let missions = ["Jira", "Slack", "GitHub"].map(|name| {
        let barrier = barrier.clone();
        let wait = Tool::new("wait", move |_, _| {
            barrier.wait();
            Ok(name)
        });
        let agent = agent("Summarize").name(name).tool(wait).build().unwrap();
        (agent, RunOptions::new().llm(|_: &LlmRequest| Ok("(return (tool/wait {}))")))
    });
    let steps = run_many(missions, 3);
    let names: Vec<Value> = steps.iter().map(|step| value(step.as_ref().unwrap())).collect();
    assert_eq!(names, ["Jira", "Slack", "GitHub"]);
}

#[test]
fn s001_soft_failures_cost_turns_and_no_retries() {
    let model = Scripted::new([
        Reply::from("(+ 1"),
        Reply::from("(call \"broken\")"),
        Reply::from("(return \"x\")"),
        Reply::from(LlmError::from("busy").retry_after(std::time::Duration::ZERO)),
        Reply::from("(return 1)"),
    ]);
    let broken = Tool::new("broken", |_, _| Err::<(), _>(ToolError::new("no")));
    let agent = agent("Count").signature(":int").tool(broken);
    let agent = agent.llm_retry(LlmRetry { max_attempts: 2, ..LlmRetry::default() }).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!((step.usage.turns, step.usage.llm_requests), (4, 5));
}

#[test]
fn s001_chaining_onto_a_failure_fails_at_once() {
    let model = Scripted::new(["(call \"fail\" {:reason :not_found :message \"none\"})"]);
    let first = run("Find", &with(&model)).unwrap_err();
    let fail = run("Draft", &with(&model).after(&first)).unwrap_err().fail.unwrap();
    assert_eq!(fail.reason, "chained_failure");
    assert_eq!(fail.details["original_failure"]["reason"], "not_found");
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn s001_every_reason_of_the_table() {
    type Options = fn(AgentBuilder) -> AgentBuilder;
    let fails = Tool::new("fails", |_, _| Err::<(), _>(ToolError::new("no")));
    // A program's failure ends an agent of one turn.
    let of_programs: [(&str, &str); 6] = [
        ("parse_error", "(+ 1"),
        ("analysis_error", "(inc undefined-thing)"),
        ("eval_error", "(/ 1 0)"),
        ("timeout", "(loop [n 0] (recur (inc n)))"),
        ("memory_exceeded", "(count (mapv str (range 1000000)))"),
        ("tool_not_found", "(call \"nothing\")"),
    ];
    for (reason, program) in of_programs {
        let agent = agent("Try").max_turns(1).timeout(100).max_heap(Some(2_000_000)).build().unwrap();
        let step = run(&agent, &with(&Scripted::new([program]))).unwrap_err();
        assert_eq!(step.reason(), reason);
    }
    let of_missions: [(&str, &str, Options); 8] = [
        ("validation_error", "(return \"x\")", |agent| agent.signature(":int").max_turns(1)),
        ("reserved_tool_name", "", |agent| agent.tool(Tool::new("return", |_, _| Ok(1)))),
        ("max_turns_exceeded", "(+ 1 1)", |agent| agent.max_turns(2)),
        ("turn_budget_exhausted", "(+ 1 1)", |agent| agent.turn_budget(2)),
        ("llm_error", "", |agent| {
            agent
                .llm(LlmRef::from(|_: &LlmRequest| Err::<String, _>(LlmError::from("down"))))
                .llm_retry(LlmRetry { max_attempts: 1, ..LlmRetry::default() })
        }),
        ("model_not_found", "", |agent| agent.llm("no-such-model")),
        ("template_error", "", |agent| agent.prompt("Find {{what}}")),
        ("too_hot", "(call \"fail\" {:reason :too_hot :message \"ouch\"})", |agent| agent),
    ];
    for (reason, program, change) in of_missions {
        let model = move |_: &LlmRequest| Ok(program);
        let agent = match change(agent("Try").llm(LlmRef::from(model))).build() {
            Ok(agent) => agent,
            Err(error) => {
                assert_eq!(error.reason.name(), reason);
                continue;
            }
        };
        assert_eq!(run(&agent, &RunOptions::new()).unwrap_err().reason(), reason);
    }
    let hang = agent("Wait").mission_timeout(Some(30)).build().unwrap();
    assert_eq!(run(&hang, &with(&Scripted::new([Reply::Hang]))).unwrap_err().reason(), "mission_timeout");
    let model = Scripted::new(["(call \"fails\")", "(return (:reason data/fail))"]);
    let step = run(&agent("Try").tool(fails).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(value(&step), json!("tool_error"));
    // `max_depth_exceeded` and `chained_failure` have tests of their own above.
    // Programs cannot use any of these reasons.
    let of_the_system = of_programs.iter().map(|(reason, _)| *reason);
    let of_the_system = of_the_system.chain(of_missions.iter().map(|(reason, ..)| *reason).take(7));
    for reason in
        of_the_system.chain(["mission_timeout", "tool_error", "max_depth_exceeded", "chained_failure"])
    {
        let program = format!("(fail {{:reason :{reason} :message \"mine\"}})");
        let agent = agent("Try").max_turns(1).build().unwrap();
        let fail = run(&agent, &with(&Scripted::new([program]))).unwrap_err().fail.unwrap();
        assert_eq!((fail.reason.as_str(), fail.message.as_str()), ("failed", "mine"), "{reason}");
    }
}

#[test]
fn s001_a_mission_with_nested_agents_a_plan_and_memory() {
    let classify = LlmTool::new("Is {{text}} positive?", "(text :string) -> {is_positive :bool}").unwrap();
    let reader = agent("Read {{topic}}")
        .signature("(topic :string) -> {notes [:string]}")
        .tool(Tool::new("search", |args, _| {
            Ok(vec![format!("{} is good", args.json()?["q"].as_str().unwrap_or("?"))])
        }))
        .build()
        .unwrap();
    let agent = agent("Report on {{topic}}")
        .signature("(topic :string) -> {summary :string, positive :int}")
        .plan(ptc_agent::definition::PlanItem::list(["read", "judge"]))
        .tool(Tool::agent("reader", reader))
        .tool(Tool::llm("classify", classify))
        .build()
        .unwrap();
    let model = Scripted::new([
        "I start by reading.\n```clojure\n(def notes (:notes (tool/reader {:topic data/topic})))\n(step-done \"1\" (str (count notes) \" notes\"))\n```",
        "(return {:notes (tool/search {:q data/topic})})",
        "Now I judge.",
        "```clojure\n(def good (filter :is_positive (map #(tool/classify {:text %}) notes)))\n(step-done \"2\" \"judged\")\n```",
        "{\"is_positive\": true}",
        "```clojure\n(return {:summary (first notes) :positive (count good)})\n```",
    ]);
    let step = run(&agent, &with(&model).context(&json!({"topic": "tea"})).unwrap());
    let step = step.unwrap_or_else(|step| panic!("{:?} {:?}", step.fail, step.turns.last()));
    assert_eq!(value(&step), json!({"summary": "tea is good", "positive": 1}));
    assert_eq!((step.usage.turns, step.usage.tree.turns, step.summaries.len()), (4, 6, 2));
    assert!(told(&model, 3).contains("- [x] 1: read (1 notes)"), "{}", told(&model, 3));
    assert!(told(&model, 4).contains("No PTC-Lisp program found"), "{}", told(&model, 4));
}

#[test]
fn s001_cost_and_failures_in_a_row_end_missions() {
    let dear = |text: &str| {
        let tokens = Tokens { total_cost: Some(0.3), ..Tokens::new(10, 10) };
        Reply::from(LlmResponse { tokens: Some(tokens), ..LlmResponse::from(text) })
    };
    let model = Scripted::new([dear("(+ 1 1)"), dear("(return 1)")]);
    let step = run(&agent("Count").max_cost_usd(Some(0.5)).build().unwrap(), &with(&model)).unwrap_err();
    assert_eq!(step.reason(), "cost_budget_exceeded");

    let stuck = agent("Count").max_turns(10).max_consecutive_failures(Some(3)).build().unwrap();
    let model = Scripted::new(["(nope)", "(+ 1 1)", "(nope)", "(nope)", "(nope)", "(return 1)"]);
    let step = run(&stuck, &with(&model)).unwrap_err();
    assert_eq!((step.reason(), step.usage.turns), ("consecutive_failures", 5));
}

#[test]
fn s001_a_mission_goes_on_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let agent = agent("Work").llm_retry(LlmRetry { max_attempts: 1, ..LlmRetry::default() }).build().unwrap();
    let model =
        Scripted::new([Reply::from("(def a 1)"), "(def b (inc a))".into(), LlmError::from("gone").into()]);
    let options = RunOptions { checkpoint_dir: Some(dir.path().to_path_buf()), ..with(&model) };
    assert_eq!(run(&agent, &options).unwrap_err().reason(), "llm_error");
    let model = Scripted::new(["(return [a b])"]);
    let options = RunOptions { resume_from: Some(dir.path().join("checkpoint-2.json")), ..with(&model) };
    let step = run(&agent, &options).unwrap();
    assert_eq!((value(&step), step.usage.turns), (json!([1, 2]), 3));
    assert_eq!(model.name(), "scripted");
}
