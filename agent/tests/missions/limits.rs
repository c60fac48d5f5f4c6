//! Limits of a mission and everything below it.

use crate::kit::{agent, failure, told, value, with};
use ptc_agent::definition::MemoryStrategy;
use ptc_agent::tools::{LlmRef, LlmTool, Tool};
use ptc_agent::{Agent, RunOptions, run, run_async};
use ptc_contract::servers::{ServerCall, ServerListing, ServerTool, ServerTools, Servers};
use ptc_model::{LlmRequest, Reply, Scripted};
use ptc_runtime::Cancel;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Returns a parent with an agent and a question below it.
fn family(budget: u32) -> Agent {
    let child = agent("Find").max_turns(5).build().unwrap();
    let judge = LlmTool::new("Is it good?", "() -> {good :bool}").unwrap();
    agent("Do it")
        .turn_budget(budget)
        .tool(Tool::agent("child", child))
        .tool(Tool::llm("judge", judge))
        .build()
        .unwrap()
}

#[test]
fn parent_child_and_questions_share_one_budget() {
    let model = Scripted::new([
        "(vector (tool/child {}) (tool/judge {}))", // the parent's first
        "(return 7)",                               // the child's
        "{\"good\": true}",                         // the question
        "(+ 1 1)",                                  // the parent's second
        "(return :never)",
    ]);
    let step = run(&family(4), &with(&model)).unwrap_err();
    assert_eq!(step.reason(), "turn_budget_exhausted");
    assert_eq!((step.usage.turns, step.usage.tree.turns, step.usage.tree.llm_requests), (2, 4, 4));
    assert_eq!((step.usage.llm_requests, model.left(), step.child_steps.len()), (2, 1, 2));
    assert_eq!(step.child_steps[0].usage.turns, 1);
}

#[test]
fn a_child_that_uses_up_the_budget_fails_and_then_its_parent() {
    let model = Scripted::new(["(tool/child {})", "(+ 1 1)", "(return :never)"]);
    let step = run(&family(2), &with(&model)).unwrap_err();
    assert_eq!(step.reason(), "turn_budget_exhausted");
    assert_eq!(step.child_steps[0].reason(), "turn_budget_exhausted");
    assert_eq!(failure(&step, 1)["reason"], "tool_error");
    assert_eq!((step.usage.tree.turns, model.left()), (2, 1));
}

#[test]
fn a_child_may_have_less() {
    let child = agent("Find").turn_budget(1).build().unwrap();
    let parent = agent("Do it").tool(Tool::agent("child", child)).build().unwrap();
    let model = Scripted::new(["(tool/child {})", "(+ 1 1)", "(return (:reason data/fail))"]);
    let step = run(&parent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!("tool_error"));
    assert_eq!(step.child_steps[0].reason(), "turn_budget_exhausted");
}

/// Returns a tower of agents, each the tool of the one above.
fn tower(levels: u32) -> Agent {
    let mut top = agent("Go").build().unwrap();
    for _ in 1..levels {
        top = agent("Go").tool(Tool::agent("below", top)).build().unwrap();
    }
    top
}

/// Replies as an agent that descends as deep as it can, and returns what it found there.
fn deeper(request: &LlmRequest) -> Result<String, ptc_model::LlmError> {
    Ok(match (request.turn, request.tool_names.is_empty()) {
        (1, false) => "(tool/below {})".to_string(),
        (1, true) => format!("(return {})", request.depth),
        _ => "(return (or *1 data/fail))".to_string(),
    })
}

#[test]
fn three_levels_below_the_root_are_allowed_and_four_are_not() {
    let options = RunOptions::new().llm(LlmRef::from(deeper));
    assert_eq!(value(&run(&tower(4), &options).unwrap()), json!(3));

    let step = run(&tower(5), &options).unwrap();
    assert_eq!(value(&step)["reason"], "tool_error");
    assert!(value(&step)["message"].as_str().unwrap().contains("max_depth_exceeded"), "{}", value(&step));
    let mut refused = &step;
    while let Some(below) = refused.child_steps.first() {
        refused = below;
    }
    assert_eq!((refused.reason(), refused.usage.turns), ("max_depth_exceeded", 0));
    assert_eq!(run(&tower(2), &options.changing(|agent| agent.max_depth(0))).unwrap().child_steps.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_holds_during_a_request() {
    let model = Scripted::new([Reply::Hang]);
    let step = run_async(&agent("Wait").build().unwrap(), &with(&model)).await.unwrap_err();
    assert_eq!((step.reason(), step.usage.llm_requests), ("mission_timeout", 1));
}

#[test]
fn the_deadline_holds_for_those_who_block() {
    let model = Scripted::new([Reply::Hang]);
    let step = run(&agent("Wait").mission_timeout(Some(30)).build().unwrap(), &with(&model)).unwrap_err();
    assert_eq!(step.reason(), "mission_timeout");
}

#[test]
fn the_deadline_holds_for_children() {
    let child = agent("Wait").mission_timeout(None).build().unwrap();
    let parent = agent("Do it").mission_timeout(Some(800)).tool(Tool::agent("child", child)).build().unwrap();
    let model = Scripted::new([Reply::from("(tool/child {})"), Reply::Hang]);
    let step = run(&parent, &with(&model)).unwrap_err();
    assert_eq!((step.reason(), model.requests().len()), ("mission_timeout", 2));
}

#[test]
fn a_child_may_have_less_time_and_the_parent_goes_on() {
    let child = agent("Wait").mission_timeout(Some(30)).build().unwrap();
    let parent = agent("Do it").tool(Tool::agent("child", child)).build().unwrap();
    let model = Scripted::new([Reply::from("(tool/child {})"), Reply::Hang, "(return 1)".into()]);
    let step = run(&parent, &with(&model)).unwrap();
    assert_eq!(step.child_steps[0].reason(), "mission_timeout");
    assert!(told(&model, 3).contains("mission_timeout"), "{}", told(&model, 3));
}

#[test]
fn a_tool_that_blocks_ends_its_program_and_not_the_mission() {
    let model = Scripted::new(["(tool/sleep {})", "(return (:reason data/fail))"]);
    let agent = agent("Wait")
        .timeout(40)
        .tool(Tool::new("sleep", |_, _| {
            std::thread::sleep(Duration::from_millis(400));
            Ok(1)
        }))
        .build()
        .unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!((value(&step), step.turns[0].tool_calls.len()), (json!("timeout"), 1));
}

#[test]
fn a_tool_may_have_a_time_of_its_own() {
    let slow = Tool::new_async("slow", |_, _| std::future::pending::<Result<(), ptc_runtime::ToolError>>());
    let agent = agent("Wait").tool(slow.timeout(20)).build().unwrap();
    let model = Scripted::new(["(tool/slow {})", "(return (:message data/fail))"]);
    let step = run(&agent, &with(&model)).unwrap();
    assert!(value(&step).as_str().unwrap().contains("no result within 20 ms"), "{}", value(&step));
}

#[test]
fn a_program_that_never_ends_is_stopped() {
    let model = Scripted::new(["(loop [n 0] (recur (inc n)))", "(return (:reason data/fail))"]);
    let step = run(&agent("Spin").timeout(50).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(value(&step), json!("timeout"));
}

#[test]
fn the_deadline_holds_during_a_program() {
    let model = Scripted::new(["(loop [n 0] (recur (inc n)))"]);
    let agent = agent("Spin").timeout(600_000).mission_timeout(Some(50)).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap_err();
    // The runtime's own step limit may fire first; either way nothing goes on.
    assert!(["mission_timeout", "llm_error"].contains(&step.reason()), "{:?}", step.fail);
}

#[test]
fn a_host_cancels() {
    let cancel = Cancel::new();
    cancel.cancel();
    let model = Scripted::new(["(return 1)"]);
    let step = run(&agent("Count").build().unwrap(), &with(&model).cancel(&cancel)).unwrap_err();
    assert_eq!((step.reason(), model.requests().len()), ("cancelled", 0));

    let cancel = Cancel::new();
    let by_tool = cancel.clone();
    let stop = Tool::new_async("stop", move |_, _| {
        by_tool.cancel();
        std::future::pending::<Result<(), ptc_runtime::ToolError>>()
    });
    let model = Scripted::new(["(tool/stop {})", "(return 1)"]);
    let step = run(&agent("Stop").tool(stop).build().unwrap(), &with(&model).cancel(&cancel)).unwrap_err();
    assert_eq!((step.reason(), model.left()), ("cancelled", 1));
}

const LARGE: &str = "(def small 1) (def large (apply str (repeat 5000 \"x\"))) (count large)";

#[test]
fn definitions_that_grow_too_large_end_the_mission() {
    let model = Scripted::new([LARGE, "(return 1)"]);
    let agent = agent("Keep").memory_limit(Some(4000)).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap_err();
    let fail = step.fail.unwrap();
    assert_eq!((fail.reason.as_str(), &fail.details["kind"]), ("memory_exceeded", &json!("memory_map")));
}

#[test]
fn or_are_undone_and_the_model_is_told() {
    let model = Scripted::new(["(def kept 1)", LARGE, "(return [kept *1])"]);
    let agent =
        agent("Keep").memory_limit(Some(4000)).memory_strategy(MemoryStrategy::Rollback).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    // `*1` has its value from before the undone turn.
    assert_eq!(value(&step)[0], json!(1));
    assert_ne!(value(&step)[1], json!(5000));
    assert_eq!(step.memory.keys().collect::<Vec<_>>(), ["kept"]);
    assert!(told(&model, 3).contains("this turn's changes were undone"), "{}", told(&model, 3));
    assert_eq!(failure(&step, 2)["reason"], "memory_exceeded");
}

#[test]
fn a_large_result_is_not_worth_the_mission() {
    let large = "(do {:rows (mapv (fn [n] (str \"row-\" n)) (range 2000)) :n 1})";
    let model = Scripted::new(["(do {:kept 7})", large, "(return [data/kept data/n])", "(return data/kept)"]);
    let agent = agent("Keep").memory_limit(Some(4000)).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!(7));
    let after = told(&model, 4);
    assert!(after.contains("`data/n` was not granted") && after.contains("`data/kept`"), "{after}");
    let told = told(&model, 3);
    assert!(told.contains("nothing of it is readable as data/…") && !told.contains("data/rows"), "{told}");
    assert!(step.turns[1].success && step.usage.memory_bytes <= 4000);
}

#[test]
fn definitions_of_a_bad_return_count_as_well() {
    let model = Scripted::new([
        "(def large (apply str (repeat 5000 \"x\"))) (return \"no\")".to_string(),
        "(return 1)".to_string(),
    ]);
    let agent = agent("Keep").signature(":int").memory_limit(Some(4000)).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert!(step.memory.is_empty() && told(&model, 2).contains("undone"), "{}", told(&model, 2));
}

#[test]
fn memory_of_one_program_is_bounded() {
    let model = Scripted::new([
        "(count (mapv str (range 1000000)))",
        "(return [(:reason data/fail) (:kind (:details data/fail))])",
    ]);
    let agent = agent("Grow").max_heap(Some(2_000_000)).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!(["memory_exceeded", "heap"]));
}

#[test]
fn what_one_program_is_given_is_bounded() {
    let large = || Tool::new("large", |_, _| Ok(vec!["x".repeat(1000); 1000]));
    let model = Scripted::new(["(count (tool/large {}))", "(return (:reason data/fail))"]);
    let bounded = agent("Read").max_granted(Some(500_000)).tool(large()).build().unwrap();
    let step = run(&bounded, &with(&model)).unwrap();
    assert_eq!(value(&step), json!("memory_exceeded"));
    assert!(told(&model, 2).contains("granted"), "{}", told(&model, 2));
    let model = Scripted::new(["(return (count (tool/large {})))"]);
    let step = run(&agent("Read").tool(large()).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(value(&step), json!(1000));
}

/// Program whose value is small in memory, but endless when written out.
const SHARED: &str = "(loop [i 0 v [1]] (if (< i 60) (recur (inc i) [v v]) v))";

#[test]
fn values_that_would_never_end_as_data_are_no_harm() {
    let model = Scripted::new([
        SHARED.to_string(),
        format!("(return {SHARED})"),
        "(return (:reason data/fail))".to_string(),
    ]);
    let step = run(&agent("Share").build().unwrap(), &with(&model)).unwrap();
    assert_eq!(value(&step), json!("eval_error"));
    assert!(told(&model, 2).contains("(limits.result_fuel)"), "{}", told(&model, 2));

    let model = Scripted::new([format!("(def v {SHARED}) 1"), "(return 1)".to_string()]);
    let step = run(&agent("Share").build().unwrap(), &with(&model)).unwrap_err();
    assert_eq!(step.reason(), "memory_exceeded");
    let step = run(
        &agent("Share").memory_strategy(MemoryStrategy::Rollback).build().unwrap(),
        &with(&Scripted::new([format!("(def v {SHARED}) 1"), "(return 1)".to_string()])),
    );
    assert_eq!(value(&step.unwrap()), json!(1));
}

#[test]
fn a_model_below_may_take_longer_than_a_program() {
    let slow = |request: &LlmRequest| {
        if request.depth == 1 {
            std::thread::sleep(Duration::from_millis(150));
        }
        Ok(if request.depth == 0 { "(return (tool/child {}))" } else { "(return 7)" })
    };
    let child = agent("Think").build().unwrap();
    let parent = agent("Ask").timeout(40).tool(Tool::agent("child", child)).build().unwrap();
    let step = run(&parent, &RunOptions::new().llm(LlmRef::from(slow))).unwrap();
    assert_eq!((value(&step), step.usage.turns), (json!(7), 1));
}

#[test]
fn what_was_called_is_known_even_if_the_mission_ends_in_the_middle() {
    let pay = Tool::new("pay", |_, _| Ok(1));
    let hang = Tool::new_async("hang", |_, _| std::future::pending::<Result<(), ptc_runtime::ToolError>>());
    let agent = agent("Pay").timeout(60_000).mission_timeout(Some(400)).tool(pay).tool(hang).build().unwrap();
    let model = Scripted::new(["(tool/pay {:n 1}) (tool/hang {:n 2})"]);
    let step = run(&agent, &with(&model)).unwrap_err();
    assert_eq!(step.reason(), "mission_timeout");
    let calls: Vec<(&str, bool)> =
        step.tool_calls.iter().map(|c| (c.name.as_str(), c.error.is_some())).collect();
    assert_eq!(calls, [("pay", false), ("hang", true)]);
    assert_eq!((&step.tool_calls[1].args, &step.turns[0].tool_calls), (&json!({"n": 2}), &step.tool_calls));
}

#[test]
fn records_of_many_calls_stay_small() {
    let model = Scripted::new(["(doseq [i (range 1500)] (tool/big {:i i})) (return 1)"]);
    let big = Tool::new_async("big", |_, _| async { Ok("x".repeat(10_000)) });
    let step = run(&agent("Load").timeout(60_000).tool(big).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(step.tool_calls.len(), 1500);
    let bytes: usize = step.tool_calls.iter().map(|call| call.result.to_string().len()).sum();
    assert!(bytes < 9 << 20, "{bytes}");
    assert!(step.tool_calls[1499].is_cut && step.tool_calls[1499].name == "big");
}

#[test]
fn results_of_turns_stay_small() {
    let model = Scripted::new(["(mapv inc (range 200000))", "(return (count data/result))"]);
    let agent = agent("Load").memory_limit(None).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    let kept = step.turns[0].result.as_ref().unwrap().nodes().len();
    assert!(kept > 1000 && kept < 200_000, "{kept}");
}

/// Runs a mission that judges this many items, with a limit of its own on questions.
fn judging(
    items: usize,
    most: u32,
    program: &str,
) -> (Result<ptc_agent::Step, Box<ptc_agent::Step>>, Scripted) {
    let judge = LlmTool::new("Is {{n}} even?", "(n :int) -> {even :bool}").unwrap();
    let agent =
        agent("Judge").tool(Tool::llm("judge", judge)).max_questions(most).turn_budget(4).build().unwrap();
    let mut replies = vec![Reply::from(program)];
    replies.extend((0..items).map(|_| Reply::from("{\"even\": true}")));
    replies.extend([Reply::from("(return *1)"), "(return 0)".into()]);
    let model = Scripted::new(replies);
    (run(&agent, &with(&model)), model)
}

#[test]
fn judging_a_list_takes_one_turn_of_the_budget() {
    for each in ["map", "pmap"] {
        let program = format!("(count ({each} (fn [n] (tool/judge {{:n n}})) (range 60)))");
        let (step, _) = judging(60, 1_000, &program);
        let step = step.unwrap_or_else(|step| panic!("{:?}", step.fail));
        assert_eq!(value(&step), json!(60));
        // Two turns of the mission and one for all questions; every question's cost counts.
        assert_eq!((step.usage.tree.turns, step.usage.tree.llm_requests), (3, 62));
    }
}

#[test]
fn judging_a_list_has_a_limit_of_its_own() {
    let (step, model) = judging(5, 5, "(count (mapv (fn [n] (tool/judge {:n n})) (range 60)))");
    let step = step.unwrap();
    assert_eq!(failure(&step, 1)["reason"], "tool_call_limit_exceeded");
    let told = told(&model, 7);
    assert!(told.contains("has asked the 5 questions of this turn (`max_questions`)"), "{told}");
    assert_eq!(step.usage.tree.llm_requests, 7, "none was asked past the limit");
}

#[test]
fn questions_without_a_turn_left_are_not_asked() {
    let judge = LlmTool::new("Is {{n}} even?", "(n :int) -> {even :bool}").unwrap();
    let agent = agent("Judge").tool(Tool::llm("judge", judge)).turn_budget(1).build().unwrap();
    let model = Scripted::new(["(pmap (fn [n] (tool/judge {:n n})) (range 9))", "(return 1)"]);
    let step = run(&agent, &with(&model)).unwrap_err();
    assert_eq!((step.reason(), step.usage.tree.llm_requests), ("turn_budget_exhausted", 1));
}

#[test]
fn a_result_that_was_not_kept_says_so_when_it_is_read() {
    let large = "(do (mapv (fn [n] (str \"row-\" n)) (range 2000)))";
    // An earlier result of the same name must not be taken for the newer one.
    let model = Scripted::new(["(do [1 2 3])", large, "(return (count data/result))", "(return :told)"]);
    let agent = agent("Keep").memory_limit(Some(4000)).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!("told"));
    let told = told(&model, 4);
    assert!(
        told.contains("`data/result` was not kept: with that result") && told.contains("`memory_limit`"),
        "{told}"
    );
}

#[test]
fn a_parameter_is_not_read_in_place_of_a_result_that_was_not_kept() {
    let large = "(do {:rows (mapv (fn [n] (str \"row-\" n)) (range 2000))})";
    let model = Scripted::new([large, "(return (count data/rows))", "(return :told)"]);
    let agent = agent("Keep").signature("(rows [:any]?) -> :any").memory_limit(Some(4000)).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!("told"));
    assert!(told(&model, 3).contains("`data/rows` was not kept"), "{}", told(&model, 3));
}

#[test]
fn a_large_answer_that_is_defined_is_told_by_what_it_is() {
    let rows: Vec<serde_json::Value> = (0..9_000).map(|id| json!({"id": id, "level": "error"})).collect();
    let load = Tool::answering("load", &json!(rows)).unwrap().cache(true);
    let model = Scripted::new(["(def rows (tool/load {}))", "(return (count rows))"]);
    let agent = agent("Count").tool(load).memory_limit(None).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!(9_000));
    let told = told(&model, 2);
    assert!(told.contains("rows = #<list of 9000 items, ") && told.contains("the first {\"id\" 0"), "{told}");
    assert!(!told.contains(" 0 bytes"), "{told}");
}

/// Servers that take this long to list their only tool.
struct Slow(Duration);

impl ptc_runtime::Upstream for Slow {
    fn operation(&self, _: &str, _: &str) -> ptc_runtime::Known {
        ptc_runtime::Known::NoServer
    }
}

impl Servers for Slow {
    fn description(&self) -> String {
        String::new()
    }

    fn discovery(&self) -> Arc<dyn ptc_runtime::Upstream> {
        Arc::new(Slow(self.0))
    }

    fn call(&self, _: ptc_runtime::ToolArgs) -> ServerCall {
        Box::pin(async { Err(ptc_runtime::ToolError::new("nobody is there")) })
    }

    fn tools(&self) -> ServerListing {
        let wait = self.0;
        Box::pin(async move {
            tokio::time::sleep(wait).await;
            let tool = ServerTool {
                server: "crm".to_string(),
                name: "find".to_string(),
                description: "Finds one.".to_string(),
                input_schema: json!({"type": "object"}),
                effect: ptc_bytecode::Effects::Read,
            };
            ServerTools { tools: vec![tool], problems: Vec::new() }
        })
    }

    fn call_tool(&self, _: &str, _: &str, args: ptc_runtime::ToolArgs) -> ServerCall {
        self.call(args)
    }

    fn writes_since(&self, seen: usize) -> (usize, Vec<serde_json::Value>) {
        (seen, Vec::new())
    }

    fn next_program(&self) {}

    fn finish(&self) -> Vec<serde_json::Value> {
        Vec::new()
    }
}

/// Checks that listing tools counts against the time of the mission, and may take half of it.
#[tokio::test(start_paused = true)]
async fn the_time_of_a_mission_begins_before_servers_list_their_tools() {
    for (listing, limit, ends_after, offered) in
        [(20, Some(50), 50, 1), (40, Some(50), 50, 0), (40, None, 40, 1), (90, None, 60, 0)]
    {
        let start = tokio::time::Instant::now();
        let hangs = limit.is_some();
        let model = Scripted::new([if hangs { Reply::Hang } else { "done".into() }]);
        let agent =
            agent("Find").output(ptc_model::Output::Text).mission_timeout(limit.map(|s: u64| s * 1000));
        let options = with(&model).servers(Slow(Duration::from_secs(listing)));
        let ended = run_async(&agent.build().unwrap(), &options).await;
        let step = ended.unwrap_or_else(|step| *step);
        assert_eq!(step.reason(), if hangs { "mission_timeout" } else { "" }, "{listing} of {limit:?}");
        assert_eq!(start.elapsed().as_secs(), ends_after, "{listing} of {limit:?}");
        assert_eq!(model.requests()[0].tools.len(), offered, "{listing} of {limit:?}");
        let is_told =
            step.warnings.iter().any(|warning| warning.contains("did not list their tools in time"));
        assert_eq!(is_told, offered == 0, "{:?}", step.warnings);
    }
}
