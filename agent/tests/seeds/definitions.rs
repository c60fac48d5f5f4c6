//! Agents and their tools: options, defaults, and refusals of the builder.

use ptc_agent::definition::{OPTIONS, Transport};
use ptc_agent::tools::{
    Effect, Expose, LlmRef, LlmTool, NativePreview, Tool, ToolBody, ToolCtx, ToolKind, Visibility,
};
use ptc_agent::{Agent, AgentBuilder, BuildError, RunOptions, run};
use ptc_contract::signature::Validation;
use ptc_model::{Output, Scripted};
use ptc_runtime::{ToolAnswer, ToolArgs, ToolError};
use serde_json::{Value, json};

pub fn tool(name: &str) -> Tool {
    Tool::new(name, |_, _| Ok(1))
}

fn refused(builder: AgentBuilder) -> (String, String) {
    let error = builder.build().unwrap_err();
    (error.reason.name().to_string(), error.message)
}

fn reason(builder: AgentBuilder) -> String {
    refused(builder).0
}

fn from_json(json: Value) -> Result<Agent, BuildError> {
    Agent::from_json(&json)
}

/// Returns what a mission of one program returns.
fn returned(agent: AgentBuilder, program: &str) -> Value {
    let options = RunOptions::new().llm(LlmRef::client(Scripted::new([program])));
    let step = run(&agent.build().unwrap(), &options);
    step.unwrap_or_else(|step| panic!("{program}: {:?}", step.fail)).json().unwrap()
}

#[test]
fn s001_defaults() {
    let agent = Agent::builder().prompt("List all products").build().unwrap();
    let options = agent.options();
    assert_eq!(agent.signature().to_string(), "() -> :any");
    assert_eq!((options.max_turns, options.timeout, options.mission_timeout), (5, 5000, Some(60_000)));
    assert_eq!((options.turn_budget, options.max_depth, options.memory_limit), (20, 3, Some(1_048_576)));
    assert_eq!((options.prompt_limit.list, options.prompt_limit.string), (5, 1000));
    assert_eq!(serde_json::to_value(&options.llm_retry).unwrap()["max_attempts"], json!(3));
    assert_eq!(serde_json::to_value(&options.llm_retry).unwrap()["backoff"], json!("exponential"));
    assert_eq!(options.llm_retry.retryable_errors, None, "all errors are tried again");
    assert_eq!(options.signature_validation, Validation::Enabled);
    assert!(options.tools.is_empty() && options.tool_catalog.is_empty());
    assert_eq!((options.context_signature.is_none(), options.llm.is_none()), (true, true));
    for (name, default) in [
        ("output", "Output::PtcLisp"),
        ("ptc_transport", "None"),
        ("ptc_reference", "\"compact\".to_string()"),
        ("retry_turns", "0"),
        ("max_heap", "None"),
        ("memory_strategy", "MemoryStrategy::Strict"),
        ("llm_opts", "Map::new()"),
        ("system_prompt", "None"),
        ("float_precision", "2"),
        ("max_tool_calls", "None"),
        ("pmap_timeout", "5000"),
        ("llm_query", "false"),
        ("builtin_tools", "Vec::new()"),
        ("thinking", "false"),
        ("completion_mode", "CompletionMode::Implicit"),
        ("compaction", "None"),
        ("plan", "Vec::new()"),
        ("journaling", "false"),
        ("multiple_blocks", "MultipleBlocks::Do"),
        ("template_style", "TemplateStyle::Value"),
        ("on_missing_template", "OnMissing::Error"),
        ("context_placement", "ContextPlacement::System"),
        ("on_exhausted", "OnExhausted::Fail"),
        ("max_consecutive_failures", "None"),
        ("max_cost_usd", "None"),
    ] {
        let row = OPTIONS.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(row.default, default, "{name}");
    }
    // A mission without options follows the defaults: for turns, and for retries of its model.
    let turns = ptc_model::Scripted::new(["(+ 1 1)"; 9]);
    let step = ptc_agent::run("Count", &ptc_agent::RunOptions::new().llm(LlmRef::client(turns.clone())));
    assert_eq!((step.unwrap_err().reason(), turns.requests().len()), ("max_turns_exceeded", 5));
    let busy =
        || ptc_model::Reply::from(ptc_model::LlmError::from("busy").retry_after(std::time::Duration::ZERO));
    let model = ptc_model::Scripted::new([busy(), busy(), busy(), "(return 1)".into()]);
    let step = ptc_agent::run("Count", &ptc_agent::RunOptions::new().llm(LlmRef::client(model.clone())));
    assert_eq!((step.unwrap_err().reason(), model.left()), ("llm_error", 1));
}

#[test]
fn every_option_has_a_builder_method_and_a_name_in_files() {
    // The methods are generated from the same table, so naming them all suffices.
    let known: Vec<&str> = OPTIONS.iter().map(|row| row.name).collect();
    for name in
        ["prompt", "signature", "tools", "llm", "mission_timeout", "prompt_limit", "max_cost_usd", "plan"]
    {
        assert!(known.contains(&name), "{name}");
    }
    for row in OPTIONS {
        assert!(row.doc.ends_with('.') && !row.doc.is_empty(), "{}", row.name);
        let agent = from_json(json!({"prompt": "x", row.name: {"no such thing": [1]}}));
        if row.name != "llm_opts" {
            let error = agent.expect_err(row.name).to_string();
            assert!(!error.contains("there is no option"), "{error}");
        }
    }
}

#[test]
fn a_file_says_the_same_as_the_builder() {
    let text = r#"
        prompt = "Report on {{topic}}"
        signature = "(topic :string) -> {summary :string, _refs [:map]}"
        name = "reporter"
        llm = "haiku"
        max_turns = 7
        mission_timeout = "none"
        signature_validation = "warn_only"
        multiple_blocks = "reject"
        max_cost_usd = 0.5
        compaction = true
        plan = ["look", ["sum-up", "sum up"]]
        builtin_tools = ["grep"]

        [prompt_limit]
        list = 3

        [llm_retry]
        backoff = "linear"
        retryable_errors = ["rate_limit", "timeout"]

        [tools.classify]
        prompt = "Is {{text}} positive?"
        signature = "(text :string) -> {is_positive :bool}"
        timeout = 2000
        validation = "strict"

        [tool_catalog.send]
        signature = "(to :string) -> :bool"
        description = "Sends a mail."
    "#;
    let agent = Agent::from_toml(text).unwrap();
    let options = agent.options();
    assert_eq!((options.max_turns, options.mission_timeout, options.prompt_limit.list), (7, None, 3));
    assert_eq!((options.prompt_limit.string, options.max_cost_usd), (1000, Some(0.5)));
    assert_eq!(options.llm, Some(LlmRef::Name("haiku".to_string())));
    assert_eq!(options.plan.iter().map(|item| &*item.id).collect::<Vec<_>>(), ["1", "sum-up"]);
    let classify = agent.tools().get("classify").unwrap();
    assert!(matches!(classify.kind, ToolKind::Llm(_)));
    assert_eq!((classify.timeout, classify.validation), (Some(2000), Some(Validation::Strict)));
    assert!(options.tool_catalog.get("send").is_some());
}

#[test]
fn unknown_and_malformed_options_are_refused_with_a_hint() {
    let message = |json| from_json(json).unwrap_err().to_string();
    assert_eq!(
        message(json!({"prompt": "x", "tool": {}})),
        "invalid_option: there is no option `tool`; did you mean `tools`?"
    );
    assert!(
        message(json!({"prompt": "x", "max_turns": "five"}))
            .starts_with("invalid_option: `max_turns` cannot be read")
    );
    assert!(message(json!({"prompt": "x", "progress_fn": 1})).contains("takes code"));
    assert!(message(json!({"prompt": "x", "prompt_limit": {"lists": 5}})).contains("unknown field `lists`"));
    assert_eq!(message(json!({"prompt": 5})), "missing_prompt: `prompt` must be a text");
    assert!(message(json!([])).starts_with("missing_prompt"));
    assert!(message(json!({"prompt": "x", "compaction": {}})).contains("empty table"));
    assert!(
        message(json!({"prompt": "x", "compaction": {"strategy": "fold"}}))
            .contains("only `trim` is supported")
    );
    assert!(Agent::from_toml("prompt = ").unwrap_err().to_string().contains("not valid TOML"));
    assert!(Agent::from_toml(&format!("plan = {}", "[".repeat(200_000))).is_err());
    assert!(Agent::from_toml(&format!("plan{} = 1", ".a".repeat(200_000))).is_err());
}

#[test]
fn checks_come_in_a_fixed_order() {
    let everything = Agent::builder()
        .prompt("{{nope}}")
        .signature("(a :int) -> :wrong")
        .max_turns(0)
        .tool(tool("fail"))
        .tool(tool("x").signature(":bad"))
        .output(Output::Text)
        .ptc_transport(Some(Transport::Content))
        .tool(Tool::self_agent("again"));
    let reasons: Vec<&str> = everything.problems().iter().map(|error| error.reason.name()).collect();
    assert_eq!(
        reasons,
        ["invalid_option", "reserved_tool_name", "invalid_signature", "invalid_signature", "invalid_option"]
    );
    assert_eq!(reason(everything), "invalid_option");
    assert_eq!(reason(Agent::builder().tool(tool("return"))), "missing_prompt");
    assert_eq!(reason(Agent::builder().prompt("  ")), "missing_prompt");
}

#[test]
fn numbers_have_their_ranges() {
    for (name, value) in [
        ("max_turns", json!(0)),
        ("timeout", json!(0)),
        ("mission_timeout", json!(0)),
        ("turn_budget", json!(0)),
        ("max_tool_calls", json!(0)),
        ("max_cost_usd", json!(-1.0)),
        ("prompt_limit", json!({"list": 0})),
        ("llm_retry", json!({"max_attempts": 0})),
        ("max_consecutive_failures", json!(0)),
        ("retry_turns", json!(-1)),
        ("name", json!("")),
        ("plan", json!(["a", ["1", "b"]])),
        ("plan", json!([""])),
    ] {
        let error = from_json(json!({"prompt": "x", name: value})).expect_err(name);
        assert_eq!(error.reason.name(), "invalid_option", "{error}");
        assert!(error.message.contains(name), "{error}");
    }
    let warned = Agent::builder().prompt("x").max_turns(30).build().unwrap();
    assert!(warned.warnings()[0].contains("`turn_budget` ends the mission after 20"));
}

#[test]
fn s001_reserved_tool_names() {
    for name in ["return", "fail", "lisp_eval"] {
        let (reason, message) = refused(Agent::builder().prompt("x").tool(tool(name)));
        assert_eq!(reason, "reserved_tool_name");
        assert!(message.contains(&format!("`{name}`")), "{message}");
    }
    assert!(Agent::builder().prompt("x").tool(tool("returns")).build().is_ok());
    // A mission without an agent of its own refuses such a tool too, before it asks a model.
    let model = Scripted::new(["(return 1)"]);
    let options = RunOptions::new().llm(LlmRef::client(model.clone()));
    let step = run("Count", &options.changing(|agent| agent.tool(tool("fail")))).unwrap_err();
    assert_eq!((step.reason(), model.left()), ("reserved_tool_name", 1));
}

/// Every way of giving a prompt a contract checks the placeholders before anything runs.
#[test]
fn s002_placeholders_match_signature_inputs() {
    let good = "Find emails for {{user.name}} about {{topic}}";
    let signature = "(user {name :string}, topic :string) -> {count :int}";
    let builders = |prompt: &str| {
        let entry = json!({"prompt": prompt, "signature": signature});
        [
            Agent::builder().prompt(prompt).signature(signature).build().map(drop),
            from_json(entry.clone()).map(drop),
            from_json(json!({"prompt": "x", "tools": {"find": entry}})).map(drop),
            LlmTool::new(prompt, signature).map(drop),
        ]
    };
    assert!(builders(good).iter().all(Result::is_ok), "{:?}", builders(good));
    for (prompt, said) in [
        ("Find {{user.nam}}", "`user` has no field `nam`; did you mean `name`?"),
        ("Find {{topics}}", "did you mean `topic`?"),
        ("Find {{topic.x}}", "is `:string`, which has no field"),
        ("Find {{123}}", "begin with a letter"),
        ("Find {{}}", "has no name"),
    ] {
        for refused in builders(prompt) {
            let error = refused.expect_err(prompt);
            assert_eq!(error.reason.name(), "template_error", "{prompt}");
            assert!(error.message.contains(said), "{prompt}: {error}");
        }
    }
}

#[test]
fn s001_validates_prompt_placeholders_match_signature_inputs() {
    let agent = |prompt: &str, signature: &str| Agent::builder().prompt(prompt).signature(signature).build();
    assert!(agent("Find {{user.name}}", "(user {name :string}) -> :any").is_ok());
    let error = agent("Find {{usr}}", "(user :string) -> :any").unwrap_err();
    assert_eq!(error.reason.name(), "template_error");
    assert!(error.message.contains("did you mean `user`?"), "{error}");
    // A contract without parameters is still a contract.
    let error = agent("Find {{usr.name}}", "{count :int}").unwrap_err();
    assert_eq!(error.reason.name(), "template_error");
    assert!(
        error.message.ends_with("the signature has no parameters; write `(usr :any) -> {count :int}`"),
        "{error}"
    );
    // Without a contract, the data is checked when the run starts.
    assert!(agent("Find {{usr}}", ":any").is_ok());
    let typed = Agent::builder().prompt("Find {{usr.name}}").signature("{count :int}");
    assert!(typed.clone().context_signature("{usr {name :string}}").build().is_ok());
    assert!(typed.context_signature("{user {name :string}}").build().is_err());
    assert_eq!(agent("{{", ":any").unwrap_err().reason.name(), "template_error");
}

#[test]
fn text_agents_use_every_parameter() {
    let agent = |transport: Option<Transport>| {
        Agent::builder()
            .prompt("Rate {{a}}")
            .signature("(a :string, b :int) -> :string")
            .output(Output::Text)
            .ptc_transport(transport)
    };
    let (reason, message) = refused(agent(None));
    assert_eq!(reason, "template_error");
    assert!(message.contains("`b` is not used"), "{message}");
    assert!(agent(Some(Transport::ToolCall)).build().is_ok());
}

#[test]
fn output_and_transport_go_together() {
    let text = || Agent::builder().prompt("x").output(Output::Text);
    let (reason, message) = refused(text().ptc_transport(Some(Transport::Content)));
    assert_eq!(reason, "invalid_option");
    assert!(message.contains("`tool_call`"), "{message}");
    assert!(text().ptc_transport(Some(Transport::ToolCall)).build().is_ok());
    assert!(refused(Agent::builder().prompt("x").ptc_reference("full")).1.contains("can only be `compact`"));
    assert!(
        from_json(json!({"prompt": "x", "ptc_reference": false})).unwrap_err().message.contains("compact")
    );
    assert!(refused(text().compaction(Some(Default::default()))).1.contains("compaction"));
}

#[test]
fn s001_tools_from_functions_and_shorthand() {
    let plain = tool("plain");
    assert_eq!(plain.signature_text(), "(...) -> :any");
    let described = tool("sig").signature("(query :string, limit :int) -> [{:id :int :title :string}]");
    assert_eq!(described.signature_text(), "(query :string, limit :int) -> [{id :int, title :string}]");
    let bad = Agent::builder().prompt("x").tool(tool("t").signature("(a :list) -> :any"));
    let (reason, message) = refused(bad);
    assert_eq!(reason, "invalid_signature");
    assert!(message.contains("the tool `t`") && message.contains("[:type]"), "{message}");
    // Closures, functions and agents are called alike.
    fn twice(args: &ToolArgs, _: &ToolCtx) -> Result<i64, ToolError> {
        Ok(args.json()?["n"].as_i64().unwrap_or_default() * 2)
    }
    let child = Agent::builder().prompt("Double {{n}}").signature("(n :int) -> :int");
    let child = child.llm(|_: &ptc_model::LlmRequest| Ok("(return (* 2 data/n))")).build().unwrap();
    let agent = Agent::builder()
        .prompt("x")
        .tool(tool("plain"))
        .tool(Tool::new("twice", twice).signature("(n :int) -> :int"))
        .tool(Tool::agent("double", child));
    let program = "(return [(tool/plain) (tool/twice {:n 21}) (tool/double {:n 21})])";
    assert_eq!(returned(agent, program), json!([1, 42, 42]));
}

#[test]
fn s001_type_information_from_rust_functions() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Args {
        id: i64,
    }
    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct User {
        name: String,
        email: Option<String>,
    }
    let get_user = Tool::typed("get_user", |args: Args, _| match args.id {
        1 => Ok(User { name: "Ann".to_string(), email: None }),
        _ => Err(ToolError::new("no such user")),
    });
    assert_eq!(get_user.signature_text(), "(id :int) -> {name :string, email :string?}");
    let model =
        Scripted::new(["(tool/get_user {:id (str \"o\" \"ne\")})", "(return (tool/get_user {:id \"1\"}))"]);
    let agent = Agent::builder().prompt("x").tool(get_user).build().unwrap();
    let step = run(&agent, &RunOptions::new().llm(LlmRef::client(model.clone()))).unwrap();
    assert_eq!(step.json().unwrap(), json!({"name": "Ann", "email": null}));
    let requests = model.requests();
    assert!(requests[0].system.contains("get_user(id :int) -> {name :string, email :string?}\n"));
    let told = &requests[1].messages.last().unwrap().content;
    assert!(told.contains("id: expected int, got string \"one\""), "{told}");
}

/// A tool whose types no signature can express is refused with the reason, unless it has an explicit signature.
#[test]
fn s002_types_that_need_an_explicit_signature() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Tree {
        children: Vec<Tree>,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Id {
        id: i64,
    }
    #[derive(serde::Serialize, schemars::JsonSchema)]
    enum Answer {
        Found(i64),
        Missing(String),
    }
    fn of(count: usize) -> Answer {
        if count > 0 { Answer::Found(count as i64) } else { Answer::Missing("empty".to_string()) }
    }
    let recursive = || Tool::typed("count", |tree: Tree, _| Ok(tree.children.len()));
    let pair = || Tool::typed("count", |id: Id, _| Ok((id.id, "x".to_string())));
    let choice = || Tool::typed("count", |tree: Tree, _| Ok(of(tree.children.len())));
    for (tool, said) in [(recursive(), "contains itself"), (pair(), "cannot be expressed"), (choice(), "")] {
        let (reason, message) = refused(Agent::builder().prompt("x").tool(tool));
        assert_eq!(reason, "invalid_signature", "{message}");
        assert!(message.contains("the tool `count`") && message.contains(said), "{message}");
    }
    let agent = |tool: Tool| Agent::builder().prompt("x").tool(tool.signature("(children [:map]) -> :any"));
    let program = "(return (tool/count {:children [{:children []}]}))";
    assert_eq!(returned(agent(recursive()), program), json!(1));
    assert_eq!(returned(agent(choice()), program), json!({"Found": 1}));
}

#[test]
fn s001_a_judgment_tool_and_its_schema() {
    let tool = LlmTool::new(
        "Is {{email.subject}} urgent for {{customer_tier}} customer?",
        "(email {subject :string}, customer_tier :string) -> {urgent :bool, reason :string}",
    );
    let tool = Tool::llm("evaluate", tool.unwrap());
    assert_eq!(
        format!("{}{}", tool.name, tool.signature_text()),
        "evaluate(email {subject :string}, customer_tier :string) -> {urgent :bool, reason :string}"
    );
    let ToolKind::Llm(llm) = &tool.kind else { panic!() };
    assert_eq!(llm.llm, LlmRef::Caller, "the caller's model if nothing is said");
    // Sections go over lists, and the model may be another one.
    let batch = LlmTool::new(
        "Classify urgency for each: {{#items}}[{{subject}}]{{/items}}",
        "(items [{subject :string}]) -> [{id :int, urgency :string}]",
    );
    let batch = Tool::llm("classify", batch.unwrap().llm("haiku").description("Sorts mails."));
    let (haiku, model) = (
        Scripted::new(["[{\"id\": 1, \"urgency\": \"high\"}]"]),
        Scripted::new(["(return (tool/classify {:items [{:subject \"Fire\"} {:subject \"Tea\"}]}))"]),
    );
    let options = RunOptions::new().llm(LlmRef::client(model.clone())).llm_named("haiku", haiku.clone());
    let step = run(&Agent::builder().prompt("x").tool(batch).build().unwrap(), &options).unwrap();
    assert_eq!(step.json().unwrap(), json!([{"id": 1, "urgency": "high"}]));
    assert_eq!(haiku.requests()[0].prompt, "Classify urgency for each: [Fire][Tea]");
    let schema = "classify(items [{subject :string}]) -> [{id :int, urgency :string}]\n  Sorts mails.";
    assert!(model.requests()[0].system.contains(schema), "{}", model.requests()[0].system);
    let wrong = LlmTool::new("{{text}}", "(txt :string) -> :bool").unwrap_err();
    assert_eq!(wrong.reason.name(), "template_error");
}

#[test]
fn s001_maps_are_promoted_to_judgment_and_agent_tools() {
    let agent = from_json(json!({
        "prompt": "x",
        "tools": {
            "classifier": {"prompt": "Is {{text}} positive?", "signature": "(text :string) -> {is_positive :bool}"},
            "researcher": {
                "prompt": "Conduct research on {{topic}}",
                "signature": "(topic :string) -> {summary :string, _refs [:map]}",
                "llm": "high_res",
                "tools": {"search": {"prompt": "Search {{q}}", "signature": "(q :string) -> [:string]"}}
            },
            "profile-agent": {
                "prompt": "Analyze profile for {{user.name}} (ID: {{user.id}})",
                "signature": "(user {name :string, id :int}) -> {summary :string}"
            }
        }
    }))
    .unwrap();
    let kind = |name: &str| agent.tools().get(name).unwrap().kind.clone();
    assert!(matches!(kind("classifier"), ToolKind::Llm(_)));
    let ToolKind::Agent(researcher) = kind("researcher") else { panic!() };
    assert_eq!(researcher.tools().len(), 1);
    assert_eq!(
        agent.tools().get("researcher").unwrap().signature_text(),
        "(topic :string) -> {summary :string}"
    );
    assert!(matches!(kind("profile-agent"), ToolKind::Llm(_)));
    assert_eq!(agent.tools().get("classifier").unwrap().summary().unwrap(), "Is {{text}} positive?");
    // A judgment is one question; an agent has turns and tools of its own. Both know nested keys.
    let model = Scripted::new([
        "(def who (tool/profile-agent {:user {:name \"Ann\" :id 7}}))",
        "{\"summary\": \"likes tea\"}",
        "(def found (tool/researcher {:topic \"tea\"}))",
        "(return [(:summary who) (:summary found) (:is_positive (tool/classifier {:text \"good\"}))])",
        "{\"is_positive\": true}",
    ]);
    let high_res = Scripted::new([
        "(def hits (tool/search {:q data/topic}))",
        "[\"green\"]",
        "(return {:summary (first hits) :_refs []})",
    ]);
    let options =
        RunOptions::new().llm(LlmRef::client(model.clone())).llm_named("high_res", high_res.clone());
    let step = run(&agent, &options).unwrap_or_else(|step| panic!("{:?}", step.fail));
    assert_eq!(step.json().unwrap(), json!(["likes tea", "green", true]));
    assert_eq!(model.requests()[1].prompt, "Analyze profile for Ann (ID: 7)");
    assert_eq!(high_res.requests()[1].prompt, "Search tea", "its questions ask its own model");
}

/// What a parent's model reads of an agent, in a prompt and in a provider's schema, comes from the agent's signature.
#[test]
fn s001_an_agents_signature_is_its_schema() {
    let emails = || {
        let agent = Agent::builder().prompt("Find emails matching: {{query}}").description("Finds emails.");
        let signature = "(query :string, limit :int?) -> {count :int, _email_ids [:int]}";
        Tool::agent("find_emails", agent.signature(signature).build().unwrap())
    };
    let first = |agent: AgentBuilder| {
        let model = Scripted::new(["(return 1)"]);
        let options = RunOptions::new().llm(LlmRef::client(model.clone()));
        run(&agent.tool(emails()).build().unwrap(), &options).unwrap();
        model.requests().remove(0)
    };
    let system = first(Agent::builder().prompt("x")).system;
    let schema = "find_emails(query :string, limit :int?) -> {count :int}\n  firewalled: _email_ids [:int]\n  Finds emails.";
    assert!(system.contains(schema), "{system}");
    let offered = first(Agent::builder().prompt("x").output(Output::Text)).tools.remove(0);
    assert_eq!((offered.name.as_str(), offered.description.as_str()), ("find_emails", "Finds emails."));
    assert_eq!(
        (&offered.parameters["properties"]["query"]["type"], &offered.parameters["required"]),
        (&json!("string"), &json!(["query"]))
    );
}

#[test]
fn tool_entries_of_files_are_checked() {
    let message =
        |entry: Value| from_json(json!({"prompt": "x", "tools": {"t": entry}})).unwrap_err().to_string();
    assert!(
        message(json!({"prompt": "{{a}}", "signature": "(b :int) -> :any"})).starts_with("template_error")
    );
    assert!(message(json!({"prompt": "a"})).contains("needs a signature"));
    assert!(message(json!({"signature": "() -> :any"})).contains("has no implementation"));
    assert!(
        message(json!({"prompt": "a", "signature": ":any", "expose": "all"}))
            .contains("unknown variant `all`")
    );
    assert!(
        message(json!({"prompt": "a", "signature": ":list"})).starts_with("invalid_signature: the tool `t`")
    );
    assert!(message(json!("other")).starts_with("invalid_tool"));
    assert!(message(json!("self")).contains("needs a `signature` with parameters"));
    let recursive =
        json!({"prompt": "Sum {{rows}}", "signature": "(rows [:int]) -> :int", "tools": {"t": "self"}});
    assert!(from_json(recursive).is_ok());
}

#[test]
fn s001_an_agent_as_a_tool() {
    let child =
        |prompt: &str, signature: &str| Agent::builder().prompt(prompt).signature(signature).build().unwrap();
    let find = child("Find emails matching: {{query}}", "(query :string) -> {count :int, _email_ids [:int]}");
    let parent = Agent::builder().prompt("x").tool(Tool::agent("email_tool", find)).build().unwrap();
    let tool = parent.tools().get("email_tool").unwrap();
    assert_eq!(tool.signature_text(), "(query :string) -> {count :int}");
    assert_eq!(tool.signature.as_ref().unwrap().firewalled(), ["_email_ids [:int]"]);
    // A context could fill this placeholder, but a caller cannot.
    let open = child("Find {{what}}", ":any");
    assert_eq!(reason(Agent::builder().prompt("x").tool(Tool::agent("t", open))), "template_error");
}

#[test]
fn exposure_previews_and_names_of_tools() {
    let build = |tool: Tool| Agent::builder().prompt("x").tool(tool).build();
    let preview = tool("t").native_result(NativePreview::Rows { limit: 3 });
    assert!(build(preview.clone()).unwrap_err().message.contains("`expose: both` and `cache: true`"));
    assert!(build(preview.clone().expose(Expose::Both).cache(true)).is_ok());
    assert!(
        build(tool("t").native_result(NativePreview::Rows { limit: 0 }).expose(Expose::Both).cache(true))
            .is_err()
    );
    assert!(build(tool("t").visibility(Visibility::Private).expose(Expose::Both)).is_err());
    assert!(
        build(tool("t").timeout(0)).is_err() && build(tool("bad name")).is_err() && build(tool("")).is_err()
    );
    assert_eq!(tool("t").effect(Effect::Read).effect, Effect::Read);
    let same = Agent::builder().prompt("x").tool(tool("a-b")).tool(tool("a_b")).build().unwrap_err();
    assert!(same.message.contains("same name for providers"), "{same}");
    // Without the option, the output decides.
    assert_eq!(tool("t").effective_expose(true), Expose::Native);
    assert_eq!(tool("t").effective_expose(false), Expose::PtcLisp);
}

#[test]
fn s001_tools_and_the_catalog_are_apart() {
    let agent = Agent::builder()
        .prompt("x")
        .tool(tool("run"))
        .catalog_tool(Tool::described("deploy", "(to :string) -> :bool"))
        .build()
        .unwrap();
    assert!(agent.tools().get("deploy").is_none());
    assert!(agent.options().tool_catalog.get("deploy").is_some());
    let model = ptc_model::Scripted::new(["(return [(tool/run {}) \"deploy\"])"]);
    let step =
        ptc_agent::run(&agent, &ptc_agent::RunOptions::new().llm(LlmRef::client(model.clone()))).unwrap();
    assert_eq!(step.json().unwrap(), json!([1, "deploy"]));
    let system = &model.requests()[0].system;
    let (callable, planning) = system.split_once("## Tools for planning (do not call)").unwrap();
    assert!(callable.contains("run(...)") && !callable.contains("deploy("), "{system}");
    assert!(planning.contains("deploy(to :string) -> :bool"), "{system}");
}

#[test]
fn s001_per_tool_validation() {
    let agent = Agent::builder()
        .prompt("x")
        .tool(tool("strict_api").signature("(a :int) -> :any").validation(Validation::Strict))
        .tool(tool("lenient_tool").signature("(a :int) -> :any").validation(Validation::WarnOnly))
        .tool(tool("unchecked").skip_validation())
        .build()
        .unwrap();
    let mode = |name: &str| agent.tools().get(name).unwrap().validation;
    assert_eq!(mode("strict_api"), Some(Validation::Strict));
    assert_eq!(mode("lenient_tool"), Some(Validation::WarnOnly));
    assert_eq!(mode("unchecked"), Some(Validation::Disabled));
    // The tool's mode also applies to calls, whatever the agent's own mode is.
    for own in [Validation::Disabled, Validation::Enabled] {
        let model = ptc_model::Scripted::new([
            "(tool/strict_api {:a 1 :more 2})",
            "(return [(:reason data/fail) (tool/strict_api {:a 1}) (tool/lenient_tool {:a [7]}) (tool/unchecked {:b 9})])",
        ]);
        let options = ptc_agent::RunOptions::new().llm(LlmRef::client(model));
        let agent = agent.with(|agent| agent.signature_validation(own)).unwrap();
        let step = ptc_agent::run(&agent, &options).unwrap_or_else(|step| panic!("{:?}", step.fail));
        assert_eq!(step.json().unwrap(), json!(["validation_error", 1, 1, 1]));
        assert!(
            step.warnings.iter().any(|warning| warning.contains("a: expected int")),
            "{:?}",
            step.warnings
        );
    }
    // Each call is checked in the mode of its tool.
    let gives_args = |name: &str| Tool::new(name, |args, _| args.json()).signature("(a :int) -> {a :int}");
    let agent = Agent::builder()
        .prompt("x")
        .tool(gives_args("strict_api").validation(Validation::Strict))
        .tool(gives_args("lenient_tool").validation(Validation::WarnOnly))
        .tool(gives_args("unchecked").skip_validation())
        .tool(gives_args("usual"));
    let model = ptc_model::Scripted::new([
        "(tool/strict_api {:a 1 :b 2})",
        "(tool/usual {:a [1]})",
        "(return [(:reason data/fail) (tool/usual {:a \"1\" :b 2}) (tool/lenient_tool {:a [1]}) (tool/unchecked {:a [1]})])",
    ]);
    let options = ptc_agent::RunOptions::new().llm(LlmRef::client(model));
    let step = ptc_agent::run(&agent.build().unwrap(), &options).unwrap();
    let failed = |turn: usize| {
        step.turns[turn].tool_calls.is_empty() || step.turns[turn].tool_calls[0].error.is_some()
    };
    assert!(failed(0) && failed(1) && !step.turns[0].success && !step.turns[1].success);
    assert_eq!(step.json().unwrap(), json!(["validation_error", {"a": 1, "b": 2}, {"a": [1]}, {"a": [1]}]));
}

#[test]
fn s001_a_signature_may_be_malli_data() {
    let agent = from_json(
        json!({"prompt": "x", "signature": [":=>", [":cat"], [":map", [":status", [":enum", "a", "b"]]]]}),
    )
    .unwrap();
    assert_eq!(agent.signature().to_string(), "() -> {status :enum[a b]}");
    let model = Scripted::new(["(return {:status \"c\"})", "(return {:status \"b\"})"]);
    let step = run(&agent, &RunOptions::new().llm(LlmRef::client(model.clone()))).unwrap();
    assert_eq!(step.json().unwrap(), json!({"status": "b"}));
    let told = model.requests()[1].messages.last().unwrap().content.clone();
    assert!(told.contains("status: expected one of a b, got string \"c\""), "{told}");
    assert_eq!(
        from_json(json!({"prompt": "x", "signature": [":oops"]})).unwrap_err().reason.name(),
        "invalid_signature"
    );
    assert_eq!(
        from_json(json!({"prompt": "x", "signature": 5})).unwrap_err().reason.name(),
        "invalid_signature"
    );
}

#[test]
fn s001_agents_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Agent>();
    shared::<ptc_contract::Signature>();
    shared::<Tool>();
    // One agent, one tool and one signature, shared by concurrent missions.
    let meet = std::sync::Arc::new(std::sync::Barrier::new(4));
    let waits = Tool::new("meet", move |args, _| {
        meet.wait();
        Ok(args.json()?["n"].clone())
    });
    let agent =
        Agent::builder().prompt("x").signature("(n :int) -> :int").tool(waits.signature("(n :int) -> :int"));
    let agent =
        agent.llm(|_: &ptc_model::LlmRequest| Ok("(return (tool/meet {:n data/n}))")).build().unwrap();
    std::thread::scope(|threads| {
        let missions = [0, 1, 2, 3].map(|n| {
            let options = ptc_agent::RunOptions::new().context(&json!({"n": n})).unwrap();
            let agent = &agent;
            threads.spawn(move || ptc_agent::run(agent, &options).unwrap().get::<i64>().unwrap())
        });
        let values: Vec<i64> = missions.into_iter().map(|mission| mission.join().unwrap()).collect();
        assert_eq!(values, [0, 1, 2, 3]);
    });
}

#[test]
fn s001_a_dry_run_tells_everything_that_is_wrong() {
    let model = Scripted::new(["(return 1)"]);
    let agent = Agent::builder()
        .prompt("Find {{topic}} for {{user.name}}")
        .signature("(topic :string, user {name :string}, limit :int) -> :any")
        .tool(tool("topic"))
        .llm(LlmRef::client(model.clone()))
        .build()
        .unwrap();
    let with = |json: Value| RunOptions::new().context(&json).unwrap();
    let told = |options: &RunOptions| -> Vec<String> {
        agent.validate(options).iter().map(|error| format!("{error}")).collect()
    };
    assert_eq!(
        told(&with(json!({"topic": 5, "user": {}}))),
        [
            "name_conflict: `topic` is both a tool and a key of the context; rename one of them",
            "template_error: the context has no value for `{{user.name}}`",
            "validation_error: topic: expected string, got int 5",
            "validation_error: user.name: expected string, got nil",
        ]
    );
    let good = with(json!({"topic": "tea", "user": {"name": "Ann"}, "limit": "5"}));
    let quiet = agent.with(|b| b.tools(ptc_agent::tools::ToolSet::default())).unwrap();
    let prepared = quiet.prepare(&good).unwrap();
    assert_eq!(prepared.warnings, [r#"limit: coerced string "5" to int"#]);
    assert_eq!(ptc_runtime::bridge::datum_to_json(&prepared.context).unwrap()["limit"], json!(5));
    // Changes of the run are checked like the agent, and do not modify it.
    let changed = good.clone().changing(|b| b.max_turns(0));
    assert_eq!(quiet.validate(&changed)[0].reason.name(), "invalid_option");
    assert_eq!(quiet.options().max_turns, 5);
    assert_eq!(quiet.validate(&with(json!([1])))[0].reason.name(), "validation_error");
    // Signatures and names of tools, too, all at once.
    let wrong = good.clone().changing(|agent| {
        agent.signature("(topic :strng) -> :any").tool(tool("return")).tool(tool("t").signature(":list"))
    });
    let reasons: Vec<&str> = quiet.validate(&wrong).iter().map(|error| error.reason.name()).collect();
    assert_eq!(reasons, ["reserved_tool_name", "invalid_signature", "invalid_signature"]);
    let typed = good.context_signature("{topic :strng}");
    assert_eq!(quiet.validate(&typed)[0].reason.name(), "invalid_signature");
    // Nothing ran: no model was asked.
    assert_eq!(model.left(), 1);
}

#[test]
fn s001_strict_needs_signatures_and_all_keys() {
    let agent = |strict: Validation| {
        Agent::builder().prompt("x").signature("(a :int, b :int?) -> :any").signature_validation(strict)
    };
    let empty = RunOptions::new();
    assert!(agent(Validation::Enabled).build().unwrap().validate(&empty).is_empty());
    let strict = agent(Validation::Strict).build().unwrap();
    assert_eq!(strict.validate(&empty)[0].to_string(), "validation_error: a: expected int, got nil");
    assert!(strict.validate(&RunOptions::new().context(&json!({"a": 1, "more": 2})).unwrap()).is_empty());
    let bare = agent(Validation::Strict).tool(tool("t")).build().unwrap();
    assert!(bare.validate(&empty)[0].message.contains("the tool `t` has no signature"));
    // A mission fails in the same way, before a model is asked; with what was missing, it runs.
    let model = Scripted::new(["(return data/a)"]);
    let given = || RunOptions::new().llm(LlmRef::client(model.clone())).context(&json!({"a": 1})).unwrap();
    let of_run =
        |agent: &Agent, options: RunOptions| run(agent, &options).map_err(|step| step.reason().to_string());
    let keyless = RunOptions::new().llm(LlmRef::client(model.clone()));
    assert_eq!(of_run(&strict, keyless).unwrap_err(), "validation_error");
    assert_eq!(of_run(&bare, given()).unwrap_err(), "validation_error");
    assert_eq!(model.left(), 1);
    let typed = agent(Validation::Strict).tool(tool("t").signature("() -> :int")).build().unwrap();
    assert_eq!(of_run(&typed, given()).unwrap().json().unwrap(), json!(1));
}

#[test]
fn stored_libraries_are_fixed_when_the_agent_is_built() {
    use ptc_runtime::{PreludeStore, Runtime};
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let store = PreludeStore::new(&runtime);
    store.write("crm", "(ns crm \"First.\") (defn find \"Finds one.\" [id] id)", json!({})).unwrap();
    let agent = Agent::builder()
        .prompt("x")
        .prelude_store(Some(store.clone()))
        .preludes(vec!["crm".to_string()])
        .build()
        .unwrap();
    store.write("crm", "(ns crm \"Second.\") (defn find \"Finds one.\" [id] id)", json!({})).unwrap();
    assert_eq!(agent.options().preludes, ["crm@1"]);
    let same = agent.with(|b| b.max_turns(2)).unwrap();
    assert_eq!(same.preludes()[0].components()[0].version, Some(1));
    let system = ptc_agent::prompt::preview_prompt(&same, &crate::data(json!({}))).system;
    assert!(system.contains("crm - First."), "{system}");
    let bad = Agent::builder().prompt("x").preludes(vec!["crm".to_string()]).build().unwrap_err();
    assert!(bad.message.contains("needs `prelude_store`"), "{bad}");
    let bad = Agent::builder()
        .prompt("x")
        .prelude_store(Some(store))
        .preludes(vec!["nope".to_string()])
        .build()
        .unwrap_err();
    assert_eq!(bad.reason.name(), "invalid_option");
}

#[test]
fn grep_comes_along() {
    let agent = from_json(json!({"prompt": "x", "builtin_tools": ["grep"]})).unwrap();
    let call = |name: &str, args: Value| -> Result<Value, ToolError> {
        let ToolKind::Plain(body) = &agent.tools().get(name).unwrap().kind else { panic!() };
        let ToolBody::Blocking(call) = body.get() else { panic!() };
        match call(&ToolArgs::new(crate::data(args)), &ToolCtx::new())? {
            ToolAnswer::Datum(datum) => Ok(ptc_runtime::bridge::datum_to_json(&datum).unwrap()),
            ToolAnswer::Frozen(_) => panic!(),
        }
    };
    let text = "one\nTwo\nthree\nfour\n";
    assert_eq!(call("grep", json!({"pattern": "^t", "text": text})).unwrap(), json!(["Two", "three"]));
    assert_eq!(call("grep", json!({"pattern": "one\\|four", "text": text})).unwrap(), json!(["one", "four"]));
    assert_eq!(call("grep", json!({"pattern": "", "text": "a\nb"})).unwrap(), json!(["a", "b"]));
    assert_eq!(
        call("grep-n", json!({"pattern": "three", "text": text, "context": 1})).unwrap(),
        json!([{"line": 2, "text": "Two", "match": false}, {"line": 3, "text": "three", "match": true},
            {"line": 4, "text": "four", "match": false}])
    );
    assert!(
        call("grep", json!({"pattern": "(", "text": "a"})).unwrap_err().to_string().contains("not a pattern")
    );
    let own = Agent::builder()
        .prompt("x")
        .tool(tool("grep"))
        .builtin_tools(vec![Default::default()])
        .build()
        .unwrap();
    assert_eq!(own.tools().get("grep").unwrap().signature_text(), "(...) -> :any");
    assert_eq!(own.tools().native_named("grep_n").unwrap().name, "grep-n");
}
