//! Plans that agents make, and agents that follow them.

use ptc_agent::definition::BuiltinTool;
use ptc_agent::plan::{Execution, MemoryPlans, Plan, PlanSink, PlanStep};
use ptc_agent::tools::{
    Effect, LlmRef, Tool, ToolBody, ToolCtx, ToolDiscovery, ToolKind, ToolSet, create_plan, pick,
};
use ptc_agent::{Agent, AgentBuilder, RunOptions, run};
use ptc_model::Scripted;
use ptc_runtime::{ToolAnswer, ToolArgs, ToolError};
use serde_json::{Value, json};
use std::sync::Arc;

fn call(tool: &Tool, args: Value) -> Result<Value, String> {
    let ToolKind::Plain(body) = &tool.kind else { panic!("no code") };
    let ToolBody::Blocking(body) = body.get() else { panic!("not blocking") };
    let args = ToolArgs::new(ptc_runtime::bridge::json_to_datum(&args).expect("data"));
    match body(&args, &ToolCtx::new()) {
        Ok(ToolAnswer::Datum(datum)) => Ok(ptc_runtime::bridge::datum_to_json(&datum).expect("JSON")),
        Ok(ToolAnswer::Frozen(_)) => panic!("shared data"),
        Err(error) => Err(error.to_string()),
    }
}

fn planner() -> AgentBuilder {
    Agent::builder()
        .prompt("Plan how to {{what}}")
        .signature("(what :string) -> {title :string, steps [:map]}")
        .catalog_tool(Tool::described("search", "(query :string) -> [:string]"))
        .catalog_tool(Tool::described("get_orders", "() -> [:map]"))
}

#[test]
fn a_plan_is_checked_kept_and_given_back() {
    let plans = MemoryPlans::default();
    let tool = create_plan(plans.clone(), ["search"]);
    let draft = json!({"title": "Report", "steps": [
        {"id": "find", "text": "Find the orders", "tool": "search"},
        {"id": "sum", "text": "Sum them"},
    ]});
    assert_eq!(call(&tool, draft.clone()).expect("kept"), draft);
    let plan = plans.last().expect("a plan");
    assert_eq!(
        plan,
        Plan::new(
            "Report",
            [PlanStep::new("find", "Find the orders").tool("search"), PlanStep::new("sum", "Sum them"),]
        )
    );
    assert!(tool.check().is_ok());
    assert_eq!(tool.effect, Effect::Write);
    // Another agent gets the steps as its plan.
    let agent = Agent::builder().prompt("Follow it").plan(plan.items()).build().expect("an agent");
    assert_eq!(agent.options().plan[0].id, "find");
}

#[test]
fn a_plan_that_cannot_be_followed_is_refused_with_a_fix() {
    let plans = MemoryPlans::default();
    let tool = create_plan(plans.clone(), ["search", "get_orders"]);
    let fail = |steps: Value| call(&tool, json!({"title": "Report", "steps": steps})).unwrap_err();
    let step = |id: &str, tool: &str| json!({"id": id, "text": "x", "tool": tool});
    assert_eq!(
        fail(json!([step("a", "serch")])),
        "step `a` needs the tool `serch`, which does not exist; did you mean `search`?"
    );
    assert_eq!(
        fail(json!([step("a", "mail")])),
        "step `a` needs the tool `mail`, which does not exist; there are: search, get_orders"
    );
    assert_eq!(
        fail(json!([step("a", "search"), step("a", "search")])),
        "step 2 has the id `a` of an earlier step; ids are unique"
    );
    assert!(fail(json!([])).starts_with("the plan has no steps; give it `:steps"));
    assert!(fail(json!([{"id": "a", "text": " "}])).contains("needs a text"));
    assert!(call(&tool, json!({"title": "", "steps": [step("a", "search")]})).unwrap_err().contains("title"));
    assert!(call(&tool, json!({"title": "x"})).is_err());
    assert!(plans.all().is_empty());
    let bare = create_plan(plans, [""; 0]);
    let error = call(&bare, json!({"title": "x", "steps": [step("a", "search")]})).unwrap_err();
    assert!(error.ends_with("there are none, so leave `:tool` out"), "{error}");
}

#[test]
fn s001_plan_generation_via_create_plan_tool() {
    let plans = MemoryPlans::default();
    let agent =
        planner().builtin_tools(vec![BuiltinTool::CreatePlan]).plan_sink(Some(Arc::new(plans.clone())));
    let agent = agent.build().expect("an agent");
    let tool = agent.tools().get("create_plan").expect("the tool");
    let draft = |tool: &str| json!({"title": "Report", "steps": [{"id": "a", "text": "x", "tool": tool}]});
    call(tool, draft("get_orders")).expect("a tool of the catalog");
    assert_eq!(plans.last().expect("a plan").steps[0].tools, ["get_orders"]);
    assert!(call(tool, draft("create_plan")).is_err(), "a plan is not made of planning");
    // Called by a program, its main use.
    let model = Scripted::new([
        r#"(return (tool/create_plan {:title "Orders" :steps [{:id "load" :text "Load them" :tool "get_orders"} {:id "sum" :text "Sum them"}]}))"#,
    ]);
    let options = RunOptions::new().context(&json!({"what": "sum the orders"})).expect("data");
    let step = run(&agent, &options.llm(LlmRef::client(model.clone()))).expect("a plan");
    assert_eq!(step.json().expect("JSON")["steps"][1], json!({"id": "sum", "text": "Sum them"}));
    let ids: Vec<String> = plans.last().expect("a plan").items().into_iter().map(|item| item.id).collect();
    assert_eq!(ids, ["load", "sum"]);
    assert!(model.requests()[0].system.contains("create_plan(title :string, steps ["));
    // A changed copy of the agent knows its own tools.
    let changed =
        agent.with(|agent| agent.catalog_tool(Tool::described("mail", "() -> :bool"))).expect("an agent");
    assert!(call(tool, draft("mail")).is_err());
    call(changed.tools().get("create_plan").expect("the tool"), draft("mail"))
        .expect("a tool of the catalog");
    // From a file, without a sink: the plan is the agent's result.
    let agent = planner().builtin_tools(vec![BuiltinTool::CreatePlan]).build().expect("an agent");
    assert!(call(agent.tools().get("create_plan").expect("the tool"), draft("search")).is_ok());
    // A tool of the host wins over the built-in one.
    let own =
        planner().tool(Tool::new("create_plan", |_, _| Ok(7))).builtin_tools(vec![BuiltinTool::CreatePlan]);
    let own = own.build().expect("an agent").with(|agent| agent.max_turns(9)).expect("an agent");
    assert_eq!(call(own.tools().get("create_plan").expect("the tool"), json!({})), Ok(json!(7)));
}

#[test]
fn one_agent_plans_and_another_follows() {
    let plans = MemoryPlans::default();
    let agent =
        planner().builtin_tools(vec![BuiltinTool::CreatePlan]).plan_sink(Some(Arc::new(plans.clone())));
    // The first plan names an unknown tool; the second one is valid.
    let model = Scripted::new([
        "```clojure\n(return (tool/create_plan {:title \"Orders\" :steps [{:id \"load\" :text \"Load\" :tool \"orders\"}]}))\n```",
        "```clojure\n(return (tool/create_plan {:title \"Orders\" :steps [{:id \"load\" :text \"Load\" :tool \"get_orders\"} {:id \"sum\" :text \"Sum\"}]}))\n```",
    ]);
    let options = RunOptions::new().context(&json!({"what": "sum the orders"})).expect("data");
    let step = run(&agent.build().expect("an agent"), &options.llm(LlmRef::client(model))).expect("a plan");
    assert_eq!((step.turns.len(), step.json().expect("JSON")["title"].as_str()), (2, Some("Orders")));
    let mut plan = plans.last().expect("a plan");
    assert_eq!(plans.all().len(), 1, "what was refused is not kept");

    let worker = Agent::builder().name("worker").prompt("Follow the plan").plan(plan.items());
    let worker = worker.tool(Tool::new("get_orders", |_, _| Ok([3, 4])).signature("() -> [:int]"));
    let model = Scripted::new([
        "```clojure\n(def rows (tool/get_orders)) (step-done \"load\" (str (count rows) \" rows\"))\n```",
        "```clojure\n(step-done \"sum\" \"lost\") (+ 1 nil)\n```",
        "```clojure\n(return (reduce + rows))\n```",
    ]);
    let step = run(&worker.build().expect("an agent"), &RunOptions::new().llm(LlmRef::client(model)))
        .expect("a sum");
    plan.record(Execution::of(&step, "2031-04-02T08:00:01Z"));
    assert_eq!(plan.step("load").expect("a step").result.as_deref(), Some("2 rows"));
    assert_eq!(plan.remaining().map(|step| step.id.as_str()).collect::<Vec<_>>(), ["sum"]);
    let execution = &plan.history[0];
    assert_eq!((execution.agent.as_deref(), execution.turns, execution.steps.len()), (Some("worker"), 3, 1));
}

#[test]
fn programs_make_plans() {
    let plans = MemoryPlans::default();
    let tool = create_plan(plans.clone(), ["get_orders"]);
    let tools = ptc_runtime::Tools::new().with_answer("create_plan", move |args| {
        let ToolKind::Plain(body) = &tool.kind else { panic!("no code") };
        let ToolBody::Blocking(body) = body.get() else { panic!("not blocking") };
        body(&args, &ToolCtx::new())
    });
    let runtime =
        ptc_runtime::Runtime::with_core(ptc_preludes::core()).expect("the core library").with_tools(tools);
    let program = r#"(return (tool/create_plan {:title "Orders" :steps [{:id "load" :text "Load" :tool "get_orders"} {:id "sum" :text "Sum"}]}))"#;
    let outcome = runtime.eval(program, &ptc_runtime::Grants::new()).expect("a plan");
    assert_eq!(outcome.get::<Value>().expect("JSON")["steps"][0]["tool"], "get_orders");
    assert_eq!(plans.last().expect("a plan").items().len(), 2);
    let program = r#"(tool/create_plan {:title "Orders" :steps [{:id "load" :text "Load" :tool "orders"}]})"#;
    let failure = runtime.eval(program, &ptc_runtime::Grants::new()).expect_err("refused");
    assert!(
        failure.diagnostic().message.contains("which does not exist; "),
        "{}",
        failure.diagnostic().message
    );
}

#[test]
fn a_sink_may_refuse() {
    struct Full;
    impl PlanSink for Full {
        fn keep(&self, _: &Plan) -> Result<(), ToolError> {
            Err(ToolError::new("no more plans today"))
        }
    }
    let tool = create_plan(Full, [""; 0]);
    let error = call(&tool, json!({"title": "x", "steps": [{"id": "a", "text": "x"}]})).unwrap_err();
    assert_eq!(error, "no more plans today");
    let plans = MemoryPlans::default();
    for i in 0..150 {
        plans.keep(&Plan::new(i.to_string(), [])).expect("kept");
    }
    assert_eq!((plans.all().len(), plans.all()[0].title.as_str()), (100, "50"));
}

/// Returns more than a hundred tools of a company.
fn company() -> ToolSet {
    let expenses = Tool::new("get_expenses", |_, _| {
        Ok(
            json!([{"category": "t1", "amount": 120}, {"category": "m1", "amount": 9}, {"category": "t1", "amount": 80}]),
        )
    });
    let categories = Tool::new("get_categories", |_, _| {
        Ok(json!([{"id": "t1", "name": "travel"}, {"id": "m1", "name": "meals"}]))
    });
    let sum_by = Tool::new("sum_by", |args, _| {
        let args = args.json()?;
        let rows = args["rows"].as_array().cloned().unwrap_or_default();
        Ok(rows.iter().filter_map(|row| row["amount"].as_i64()).sum::<i64>())
    });
    let device = |i| Tool::new(format!("device_{i}"), |_, _| Ok(20)).description("Reads a thermometer.");
    [
        expenses
            .signature("(quarter :string) -> [{category :string, amount :int}]")
            .description("Expense reports of a quarter."),
        categories
            .signature("() -> [{id :string, name :string}]")
            .description("Ids and names of all kinds of costs."),
        sum_by.signature("(rows [:map], field :string) -> :int").description("Adds up a field of rows."),
        Tool::new("send_mail", |_, _| Ok(true))
            .signature("(to :string, text :string) -> :bool")
            .description("Sends a mail."),
        Tool::new("list_holidays", |_, _| Ok(["May 1"]))
            .signature("(country :string) -> [:string]")
            .description("Public holidays of a country."),
    ]
    .into_iter()
    .chain((0..100).map(device))
    .collect()
}

#[test]
fn s001_a_discovery_agent_finds_and_uses_a_few_tools_of_many() {
    let all = company();
    // One agent searches for words that the mission lacks; another then gets only the tools found.
    let model = Scripted::new([
        "(map :name (concat (tool/search_tools {:query \"names of categories\"}) (tool/search_tools {:query \"sum amounts\"})))",
        "(return (tool/choose_tools {:names [\"get_expenses\" \"get_category\" \"sum_by\"]}))",
        "(return (tool/choose_tools {:names [\"get_expenses\" \"get_categories\" \"sum_by\"]}))",
        "(let [id (:id (first (filter #(= (:name %) \"travel\") (tool/get_categories))))] \
           (return (tool/sum_by {:rows (filterv #(= (:category %) id) (tool/get_expenses {:quarter \"Q3\"})) :field \"amount\"})))",
    ]);
    let run = RunOptions::new().llm(LlmRef::client(model.clone()));
    let step = ToolDiscovery::new(all.clone()).run("Analyze travel expenses for Q3", &run).expect("a sum");
    assert_eq!(step.get::<i64>().expect("a number"), 200);
    assert_eq!(step.tools, ["get_categories", "get_expenses", "sum_by"]);
    let requests = model.requests();
    let said = |request: usize| {
        format!(
            "{}{}",
            requests[request].system,
            requests[request].messages.last().expect("a message").content
        )
    };
    assert!(said(0).contains("Mission: Analyze travel expenses for Q3"), "{}", said(0));
    assert!(
        said(0).contains("get_expenses(quarter :string)"),
        "what has words of the mission is there at once"
    );
    assert!(!said(0).contains("sum_by(") && !said(0).contains("device_7"), "{}", said(0));
    assert!(said(1).contains("\"get_categories\"") && said(1).contains("\"sum_by\""), "{}", said(1));
    assert!(
        said(2).contains("there is no tool `get_category`; did you mean `get_categories`?"),
        "{}",
        said(2)
    );
    for name in ["get_expenses(", "get_categories(", "sum_by("] {
        assert!(requests[3].system.contains(name), "{name}");
    }
    for name in ["device_7", "send_mail", "search_tools"] {
        assert!(!requests[3].system.contains(name), "{name}");
    }
    // The cost of finding tools counts.
    assert_eq!((step.usage.turns, step.usage.tree.turns, step.child_steps.len()), (1, 4, 1));
}

#[test]
fn the_search_below_finds_tools_for_questions() {
    let all = company();
    let first = |question: &str| pick(question, &all, 1).iter().map(|tool| tool.name.clone()).next();
    for (question, tool) in [
        ("Which categories are there?", "get_categories"),
        ("What is each category called?", "get_categories"),
        ("Sums of rows", "sum_by"),
        ("How do I sum something up by field?", "sum_by"),
        ("What did we spend? Show me last quarter's expenses.", "get_expenses"),
        ("Is tomorrow a holiday in any country?", "list_holidays"),
        ("mail it to Ann", "send_mail"),
    ] {
        assert_eq!(first(question).as_deref(), Some(tool), "{question}");
    }
}

#[test]
fn a_mission_gets_tools_even_if_nobody_finds_them() {
    let all = company();
    let go = |replies: &[&str]| {
        let model = Scripted::new(replies.iter().copied());
        let run = RunOptions::new().llm(LlmRef::client(model));
        ToolDiscovery::new(all.clone())
            .limit(2)
            .run("Analyze travel expenses for Q3", &run)
            .expect("a result")
    };
    let program = "(return (count (tool/get_expenses {:quarter \"Q3\"})))";
    let step = go(&["(fail {:reason :lost :message \"no idea\"})", program]);
    assert_eq!(step.get::<i64>().expect("a number"), 3);
    assert!(step.warnings[0].contains("picked by their words: lost: no idea"), "{:?}", step.warnings);
    let step = go(&["(return [\"make_it_so\"])", program]);
    assert!(step.warnings[0].contains("it named none that exists"), "{:?}", step.warnings);
    assert!(step.tools.contains(&"get_expenses".to_string()), "{:?}", step.tools);
    // Few tools need no agent.
    let model = Scripted::new(["(return 1)"]);
    let run = RunOptions::new().llm(LlmRef::client(model.clone()));
    ToolDiscovery::new(all.clone())
        .limit(200)
        .run("Count {{n}}", &run.context(&json!({"n": 1})).expect("data"))
        .expect("one");
    assert_eq!(model.requests().len(), 1);
    // Another model may find the tools.
    let finder = Scripted::new([
        "(return (tool/choose_tools {:names [\"send_mail\" \"sum_by\" \"device_1\"]}))",
        "(return [])",
    ]);
    let model = Scripted::new(["(return 1)"]);
    let run = RunOptions::new().llm(LlmRef::client(model.clone()));
    let step =
        ToolDiscovery::new(all).limit(2).llm(LlmRef::client(finder.clone())).run("Wait", &run).expect("one");
    assert!(step.tools.is_empty() && model.requests().len() == 1);
    let told = &finder.requests()[1].messages.last().expect("a message").content.clone();
    assert!(told.contains("3 tools were chosen, and at most 2 can be"), "{told}");
}

#[test]
fn words_pick_a_few_tools_out_of_many() {
    let mut all = company();
    let names = |prompt: &str, limit| -> Vec<String> {
        pick(prompt, &all, limit).iter().map(|tool| tool.name.clone()).collect()
    };
    assert_eq!(names("Analyze travel expenses for Q3", 1), ["get_expenses"]);
    assert_eq!(names("Send the sums by MAIL, please", 2), ["send_mail", "sum_by"]);
    assert_eq!(names("for the and with", 5), [""; 0]);
    assert_eq!(names("read every thermometer", 7).len(), 7);
    assert_eq!(names("anything", 200).len(), 105, "few enough already");
    assert_eq!(names(&"word ".repeat(1_000_000), 3), [""; 0]);
    let hidden = Tool::described("store", "() -> :any").visibility(ptc_agent::tools::Visibility::Private);
    all.insert(hidden);
    assert!(pick("travel", &all, 1).get("store").is_some());
}
