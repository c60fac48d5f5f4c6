//! Compiled agents: programs that were found once and run without a model.

use crate::kit::{agent, value, with};
use ptc_agent::definition::TraceMode;
use ptc_agent::mission::{CompileOptions, CompiledAgent, compile};
use ptc_agent::tools::{LlmTool, Tool};
use ptc_agent::{Agent, RunOptions, Step, run};
use ptc_model::{LlmRequest, Reply, Scripted};
use serde_json::{Value, json};

fn found(agent: &Agent, model: &Scripted) -> Result<CompiledAgent, Box<Step>> {
    compile(agent, &CompileOptions { run: with(model), ..CompileOptions::default() })
}

fn on(data: Value) -> RunOptions {
    RunOptions::new().context(&data).unwrap()
}

#[test]
fn a_program_is_found_on_made_up_data() {
    let agent =
        agent("Total of {{rows}}").signature("(rows [{price :float, n :int}], label :string) -> :string");
    let agent = agent.max_turns(1).build().unwrap();
    let model = Scripted::new([Reply::from_fn(|request: &LlmRequest| {
        assert!(request.system.contains("example") && request.system.contains("3.14"), "{}", request.system);
        Ok("(str data/label \": \" (reduce + (map #(* (:price %) (:n %)) data/rows)))")
    })]);
    let compiled = found(&agent, &model).unwrap();
    assert!(!compiled.llm_required && compiled.metadata.warnings.is_empty());
    assert_eq!((compiled.metadata.turns, compiled.metadata.llm_model.as_str()), (1, "scripted"));
    let step = run(&compiled, &on(json!({"rows": [{"price": 2.5, "n": 4}], "label": "sum"}))).unwrap();
    assert_eq!((value(&step), step.usage.tree.llm_requests), (json!("sum: 10.0"), 0));
}

#[test]
fn a_program_that_ignores_its_data_is_warned_of() {
    let agent = agent("Double {{n}}").signature("(n :int) -> :int").max_turns(1).build().unwrap();
    let compiled = found(&agent, &Scripted::new(["(+ 80 4)"])).unwrap();
    assert_eq!(compiled.metadata.warnings.len(), 1);
}

#[test]
fn turns_of_the_run_need_not_be_kept() {
    let agent = agent("Double {{n}}").signature("(n :int) -> :int").max_turns(1).build().unwrap();
    let options = RunOptions { trace: TraceMode::Never, ..with(&Scripted::new(["(* 2 data/n)"])) };
    let compiled = compile(&agent, &CompileOptions { run: options, ..CompileOptions::default() }).unwrap();
    assert_eq!(compiled.source, "(* 2 data/n)");
}

#[test]
fn only_agents_of_one_turn_with_programs() {
    let model = Scripted::new(["1"]);
    let text = agent("x").output(ptc_model::Output::Text).max_turns(1).build().unwrap();
    for agent in [agent("x").build().unwrap(), text] {
        assert_eq!(found(&agent, &model).unwrap_err().reason(), "not_compilable");
    }
    assert!(model.requests().is_empty());
}

#[test]
fn what_it_gives_is_checked_like_any_return() {
    let agent = agent("Check {{n}}").signature("(n :int) -> {ok :bool}").max_turns(1).build().unwrap();
    let program = "(cond (> data/n 90) (fail {:reason :too_many :message \"no\"}) (> data/n 50) {:ok 1} :else (return {:ok true}))";
    let compiled = found(&agent, &Scripted::new([program])).unwrap();
    assert_eq!(value(&run(&compiled, &on(json!({"n": 1}))).unwrap()), json!({"ok": true}));
    assert_eq!(run(&compiled, &on(json!({"n": 99}))).unwrap_err().reason(), "too_many");
    assert_eq!(run(&compiled, &on(json!({"n": 60}))).unwrap_err().reason(), "validation_error");
    assert_eq!(run(&compiled, &on(json!({"n": "x"}))).unwrap_err().reason(), "validation_error");
}

#[test]
fn tools_are_bound_and_those_with_models_need_one() {
    let judge = LlmTool::new("Is {{n}} good?", "(n :int) -> :bool").unwrap();
    let asks =
        agent("Judge {{n}}").signature("(n :int) -> :bool").max_turns(1).tool(Tool::llm("judge", judge));
    let asks = asks.build().unwrap();
    let compiled = found(&asks, &Scripted::new(["(tool/judge {:n data/n})", "true"])).unwrap();
    assert!(compiled.llm_required && compiled.as_tool("judged").is_err());
    assert_eq!(run(&compiled, &on(json!({"n": 1}))).unwrap_err().reason(), "llm_required");
    let step = run(&compiled, &with(&Scripted::new(["false"])).context(&json!({"n": 1})).unwrap()).unwrap();
    assert_eq!((value(&step), step.usage.tree.llm_requests), (json!(false), 1));

    let plain = agent("Load {{n}}")
        .signature("(n :int) -> :int")
        .max_turns(1)
        .tool(
            Tool::new("load", |args, _| Ok(args.json()?["n"].as_i64().unwrap_or(0) + 1))
                .signature("(n :int) -> :int"),
        )
        .build()
        .unwrap();
    let compiled = found(&plain, &Scripted::new(["(nope)", "(tool/load {:n data/n})"])).unwrap();
    let parent = agent("Do it").tool(compiled.as_tool("next").unwrap()).build().unwrap();
    let model = Scripted::new(["(return (map #(tool/next {:n %}) [1 2]))"]);
    let step = run(&parent, &with(&model)).unwrap();
    assert_eq!((value(&step), step.usage.tree.llm_requests), (json!([2, 3]), 1));
}
