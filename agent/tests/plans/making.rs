//! Plans that agents make, and agents that follow them.

use ptc_agent::definition::BuiltinTool;
use ptc_agent::plan::{Execution, MemoryPlans, Plan, PlanSink, PlanStep};
use ptc_agent::tools::{Effect, LlmRef, Tool, ToolBody, ToolCtx, ToolKind, ToolSet, create_plan, pick};
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
    // Another agent gets it as its plan.
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
        "step `a` needs the tool `serch`, which there is not; did you mean `search`?"
    );
    assert_eq!(
        fail(json!([step("a", "mail")])),
        "step `a` needs the tool `mail`, which there is not; there are: search, get_orders"
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
    // A changed copy knows its own tools.
    let changed =
        agent.with(|agent| agent.catalog_tool(Tool::described("mail", "() -> :bool"))).expect("an agent");
    assert!(call(tool, draft("mail")).is_err());
    call(changed.tools().get("create_plan").expect("the tool"), draft("mail"))
        .expect("a tool of the catalog");
    // From a file, without a sink: the plan is what the agent returns.
    let agent = planner().builtin_tools(vec![BuiltinTool::CreatePlan]).build().expect("an agent");
    assert!(call(agent.tools().get("create_plan").expect("the tool"), draft("search")).is_ok());
    // A tool of the host's own stands before it.
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
    // The first plan names a tool there is not; the second one is right.
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
        failure.diagnostic().message.contains("which there is not; "),
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

#[test]
fn s001_a_few_tools_are_picked_out_of_many() {
    let about = [
        ("get_expenses", "Expense reports of a quarter."),
        ("get_categories", "Categories of expenses, such as travel."),
        ("sum_by", "Sums a field of rows by another."),
        ("send_mail", "Sends a mail."),
        ("list_holidays", "Public holidays of a country."),
    ];
    let described = |(name, text): (&str, &str)| Tool::described(name, "() -> :any").description(text);
    let mut all: ToolSet = about.into_iter().map(described).collect();
    (0..100).for_each(|i| all.insert(described((&format!("device_{i}"), "Reads a thermometer."))));
    let names = |prompt: &str, limit| -> Vec<String> {
        pick(prompt, &all, limit).iter().map(|tool| tool.name.clone()).collect()
    };
    assert_eq!(names("Analyze travel expenses for Q3", 5), ["get_categories", "get_expenses"]);
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
