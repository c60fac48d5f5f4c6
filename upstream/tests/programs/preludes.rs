//! Preludes with wrappers of servers: their results, and when their requirements are checked.

use super::fake::*;
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{Agent, AgentBuilder, RunOptions};
use ptc_model::Scripted;
use ptc_runtime::{Prelude, PreludeInput, Runtime};
use ptc_upstream::{Fault, Options, ProgramOptions, Reason, Snapshot};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const PEOPLE: &str =
    r#"(ns people) (defn user [id] (tool/call {:server "crm" :tool "get_user" :args {:id id}}))"#;

/// Creates a server that knows user 1, fails at 2, and returns a tool error for others.
fn crm() -> Arc<Fake> {
    let mut get = tool("get_user", "", json!({}));
    get.annotations = Some(json!({"readOnlyHint": true}));
    Arc::new(Fake::new(vec![get], |request| match request.args["id"].as_i64() {
        Some(1) => Ok(structured(json!({"name": "Ada"}))),
        Some(2) => Err(Fault::new(Reason::UpstreamError, "-32602: broken")),
        _ => Ok(json!({"isError": true, "content": [{"type": "text", "text": "no such user"}]})),
    }))
}

fn world_of(crm: &Arc<Fake>, snapshot: Snapshot) -> World {
    World::new(vec![("crm", crm.clone())], Options { snapshot, ..Options::default() })
}

fn prelude(source: &str) -> Prelude {
    Prelude::compile(&Runtime::with_core(ptc_preludes::core()).unwrap(), source).unwrap()
}

fn agent() -> AgentBuilder {
    Agent::builder().prompt("Work").max_turns(4)
}

fn mission(world: &World, agent: AgentBuilder, replies: &[&str]) -> (MissionRun, Scripted) {
    let model = Scripted::new(replies.to_vec());
    let options = RunOptions::new().llm(LlmRef::client(model.clone()));
    (run_mission(&world.upstream, &agent.build().unwrap(), &options), model)
}

/// A wrapper returns the map of a direct call, whatever the server does, and the program continues.
#[test]
fn a_wrapper_gives_what_the_call_gives() {
    let world = world_of(&crm(), Snapshot::Live);
    let options = ProgramOptions { prelude: Some(prelude(PEOPLE)), ..ProgramOptions::default() };
    let run = |program: &str| {
        let run = world.upstream.run(&world.runtime, program, &options);
        run.result().unwrap_or_else(|| panic!("{program}: {}", run.error().unwrap()))
    };
    for (id, ok) in [(1, "true"), (2, "false"), (3, "false")] {
        let direct = format!("(tool/call {{:server \"crm\" :tool \"get_user\" :args {{:id {id}}}}})");
        assert_eq!(run(&format!("(= (people/user {id}) {direct})")), "true", "{id}");
        assert_eq!(run(&format!("(:ok (people/user {id}))")), ok);
    }
    let branch = "(let [res (people/user 2)] (if (:ok res) (:value res) [:failed (:reason res)]))";
    assert_eq!(run(branch), "[:failed :upstream_error]");
    // The requirements of the wrapper are checked first, so no operation is called.
    let calls = crm();
    let world = world_of(&calls, Snapshot::Live);
    let missing =
        prelude(r#"(ns people) (defn user [id] (tool/call {:server "crm" :tool "users" :args {:id id}}))"#);
    let options = ProgramOptions { prelude: Some(missing), ..ProgramOptions::default() };
    let run = world.upstream.run(&world.runtime, "(tool/call 'crm/get_user {:id 1})", &options);
    assert!(run.error().unwrap().contains("people/user requires upstream:crm/users"), "{:?}", run.error());
    assert_eq!(run.outcome.err().unwrap().reason(), "prelude_attach_failed");
    assert!(calls.asked.lock().unwrap().is_empty());
}

/// A child mission has no servers and is not checked against any: requirements on servers are skipped, and
/// cannot be called. Requirements on tools are still checked.
#[test]
fn a_child_agent_is_blind_for_the_servers_of_its_parent() {
    let crm = crm();
    let world = world_of(&crm, Snapshot::Frozen);
    let parent = |source: &str| {
        let child = Agent::builder().prompt("Look").max_turns(1).runtime_prelude(Some(prelude(source)));
        agent().tool(Tool::agent("look", child.build().unwrap()))
    };
    // No server has this operation, so the parent does not start.
    let missing = r#"(ns people) (def size 9) (defn user [id] (tool/call {:server "erp" :tool "user"}))"#;
    let (refused, _) = mission(&world, agent().runtime_prelude(Some(prelude(missing))), &["(return 1)"]);
    assert_eq!(refused.step.unwrap_err().reason(), "prelude_attach_failed");
    let (ran, _) = mission(&world, parent(missing), &["(return (tool/look {}))", "(return people/size)"]);
    assert_eq!(ran.step.unwrap().json().unwrap(), json!(9));
    for call in ["(people/user 1)", "(tool/call 'crm/get_user {:id 1})"] {
        let replies = ["(tool/look {})", &format!("(return {call})"), "(return data/fail)"];
        let (ran, _) = mission(&world, parent(PEOPLE), &replies);
        let told = ran.step.unwrap().json().unwrap().to_string();
        assert!(told.contains("tool/call"), "{call}: {told}");
    }
    assert!(crm.asked.lock().unwrap().is_empty());
    let tooled = "(ns people) (defn user [id] (tool/get_user {:id id}))";
    let (ran, model) = mission(&world, parent(tooled), &["(tool/look {})", "(return data/fail)"]);
    let told = ran.step.unwrap().json().unwrap().to_string();
    assert!(told.contains("prelude_attach_failed") && told.contains("get_user"), "{told}");
    assert_eq!(model.left(), 0, "the child's model was not asked");
}

/// A prelude given by the run is checked before every turn, as the agent's own is.
#[test]
fn an_operation_that_goes_away_ends_a_mission_whose_prelude_came_with_the_run() {
    let crm = crm();
    let world = world_of(&crm, Snapshot::Live);
    world.upstream.load(None);
    *crm.tools.lock().unwrap() = Ok(vec![tool("other", "", json!({}))]);
    crm.changes.store(1, Ordering::SeqCst);
    let model = Scripted::new(["(count (dir 'crm))", "(return 1)"]);
    let options = RunOptions::new().llm(LlmRef::client(model.clone()));
    let options = options.changing(|agent| agent.runtime_prelude(Some(prelude(PEOPLE))));
    let run = run_mission(&world.upstream, &agent().build().unwrap(), &options);
    assert_eq!((run.step.unwrap_err().reason(), model.left()), ("prelude_attach_failed", 1));
}

/// Children have no servers, so inherited exports that need one are missing from their prompts and cannot be called.
#[test]
fn a_child_agent_inherits_no_wrappers_of_servers() {
    let world = world_of(&crm(), Snapshot::Frozen);
    let child = Agent::builder().prompt("Look").max_turns(1).build().unwrap();
    let inputs =
        [PEOPLE, "(ns sums) (defn twice [x] (* 2 x))"].map(|source| PreludeInput::ready("", prelude(source)));
    let parent = agent().prelude_inputs(inputs.to_vec()).tool(Tool::agent("look", child));
    let replies =
        ["(return (tool/look {}))", "(return [(sums/twice 4) (count (filter #{\"people\"} (all-ns)))])"];
    let (ran, model) = mission(&world, parent, &replies);
    assert_eq!(ran.step.unwrap().json().unwrap(), json!([8, 0]));
    let told = |n: usize, name: &str| model.requests()[n].system.contains(name);
    assert!(told(0, "people/user") && told(0, "sums/twice"));
    assert!(told(1, "sums/twice") && !told(1, "people/user"), "{}", model.requests()[1].system);
}
