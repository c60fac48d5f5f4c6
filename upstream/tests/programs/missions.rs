//! Agents with servers: preludes are checked before anything happens, writes end a mission.

use super::fake::*;
use ptc_agent::mission::Guard;
use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, RunOptions};
use ptc_model::Scripted;
use ptc_runtime::{Prelude, Runtime};
use ptc_upstream::{Options, ProgramOptions, Snapshot};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A server that reads, writes, and does who knows what.
fn crm() -> Fake {
    let hinted = |name: &str, hint: Option<bool>| {
        let mut tool = tool(name, "", json!({}));
        tool.annotations = hint.map(|hint| json!({"readOnlyHint": hint}));
        tool
    };
    let tools = vec![hinted("get_user", Some(true)), hinted("pay", Some(false)), hinted("poke", None)];
    Fake::new(tools, |request| Ok(structured(json!({"tool": request.tool, "args": request.args}))))
}

fn world_of(fake: &Arc<Fake>, snapshot: Snapshot) -> World {
    World::new(vec![("crm", fake.clone())], Options { snapshot, ..Options::default() })
}

fn mission(world: &World, agent: &Agent, replies: &[&str]) -> (MissionRun, Scripted) {
    let model = Scripted::new(replies.to_vec());
    let run = run_mission(&world.upstream, agent, &RunOptions::new().llm(LlmRef::client(model.clone())));
    (run, model)
}

fn agent() -> Agent {
    Agent::builder().prompt("Work").max_turns(4).build().unwrap()
}

#[test]
fn reading_goes_on_and_writing_ends_the_mission() {
    let world = world_of(&Arc::new(crm()), Snapshot::Frozen);
    let (run, _) = mission(
        &world,
        &agent(),
        &["(tool/call 'crm/get_user {:id 1})", "(return (:ok (tool/call 'crm/get_user {:id 2})))"],
    );
    assert_eq!(run.step.unwrap().json().unwrap(), json!(true));
    for (tool, effect) in [("pay", "write"), ("poke", "unknown")] {
        let replies = [&*format!("(tool/call 'crm/{tool} {{:amount 500}})"), "(return 1)"];
        let (run, model) = mission(&world, &agent(), &replies);
        let step = run.step.unwrap_err();
        assert_eq!((step.reason(), model.left()), ("partial_side_effects", 1));
        let details = step.fail.unwrap().details;
        assert_eq!(details, json!({"matched_calls": [{"server": "crm", "tool": tool, "effect": effect}]}));
    }
    // A turn that ends the mission may write.
    let (run, _) = mission(&world, &agent(), &["(return (:ok (tool/call 'crm/pay {})))"]);
    assert!(run.step.is_ok());
    assert_eq!(run.context.upstream_calls()[0]["tool"], "pay");
}

#[test]
fn a_step_tells_what_its_last_program_looked_up() {
    let world = world_of(&Arc::new(crm()), Snapshot::Frozen);
    let (run, _) =
        mission(&world, &agent(), &["(dir 'crm)", "(do (doc 'crm/pay) (return (dir 'crm {:limit 1})))"]);
    let step = run.step.unwrap();
    assert_eq!(
        step.catalog_ops,
        [
            json!({"op": "doc", "ref": "crm/pay", "status": "ok"}),
            json!({"op": "dir", "ref": "crm", "status": "ok"})
        ]
    );
    let (run, _) = mission(&world, &agent(), &["(fail (doc 'crm/nope))"; 4]);
    assert_eq!(run.step.unwrap_err().catalog_ops.len(), 1);
}

#[test]
fn a_write_that_was_refused_before_it_was_sent_stops_nothing() {
    let world = world_of(&Arc::new(crm()), Snapshot::Frozen);
    let (run, _) = mission(&world, &agent(), &["(tool/call 'crm/pay {:f inc})", "(return 1)"]);
    assert_eq!(run.step.unwrap().json().unwrap(), json!(1));
}

#[test]
fn the_guard_of_the_host_replaces_ours() {
    let world = world_of(&Arc::new(crm()), Snapshot::Frozen);
    let model = Scripted::new(["(tool/call 'crm/pay {})", "(return 1)"]);
    let options =
        RunOptions { continuation_guard: Some(Arc::new(|_, _| Guard::Continue)), ..RunOptions::new() };
    let run = run_mission(&world.upstream, &agent(), &options.llm(LlmRef::client(model)));
    assert!(run.step.is_ok());
}

fn prelude(source: &str) -> Prelude {
    Prelude::compile(&Runtime::with_core(ptc_preludes::core()).unwrap(), source).unwrap()
}

const READS: &str =
    r#"(ns people) (defn user [id] (tool/call {:server "crm" :tool "get_user" :args {:id id}}))"#;
const MISSING: &str =
    r#"(ns people) (defn user [id] (tool/call {:server "crm" :tool "nope" :args {:id id}}))"#;

#[test]
fn a_prelude_whose_operation_is_missing_stops_before_anything_happens() {
    let fake = Arc::new(crm());
    let world = world_of(&fake, Snapshot::Frozen);
    let run = |source: &str| {
        let options = ProgramOptions { prelude: Some(prelude(source)), ..ProgramOptions::default() };
        world.upstream.run(&world.runtime, "(do (tool/call 'crm/pay {}) (people/user 1))", &options)
    };
    let failed = run(MISSING);
    assert_eq!(failed.outcome.err().unwrap().reason(), "prelude_attach_failed");
    assert!(fake.asked.lock().unwrap().is_empty());
    assert_eq!(
        run(READS).result().unwrap(),
        r#"{:ok true :value {"args" {"id" 1} "tool" "get_user"} :value_kind :json}"#
    );

    let sent = fake.asked.lock().unwrap().len();
    let agent = Agent::builder().prompt("Work").runtime_prelude(Some(prelude(MISSING))).build().unwrap();
    let (run, model) = mission(&world, &agent, &["(tool/call 'crm/pay {})"]);
    assert_eq!((run.step.unwrap_err().reason(), model.left()), ("prelude_attach_failed", 1));
    assert_eq!(fake.asked.lock().unwrap().len(), sent);
}

/// Servers that nobody has asked yet are asked when the prelude is attached: a step that cannot work is found before
/// an earlier one has changed anything.
#[test]
fn a_missing_operation_is_found_before_a_write_in_live_mode_too() {
    let two_steps = r#"(ns adm)
        (defn delete-user [id] (tool/call {:server "crm" :tool "pay" :args {:id id}}))
        (defn log-it [id] (tool/call {:server "log" :tool "append" :args {:id id}}))"#;
    let (crm, unused) = (Arc::new(crm()), Arc::new(Fake::new(vec![], |_| Ok(json!({})))));
    let log = Arc::new(Fake::new(vec![tool("add", "", json!({}))], |_| Ok(json!({}))));
    let servers = vec![("crm", crm.clone()), ("log", log.clone()), ("unused", unused.clone())];
    let world = World::new(servers, Options { snapshot: Snapshot::Live, ..Options::default() });
    let options = ProgramOptions { prelude: Some(prelude(two_steps)), ..ProgramOptions::default() };
    let program = "(do (adm/delete-user 7) (adm/log-it 7))";
    let failed = world.upstream.run(&world.runtime, program, &options);
    let told = failed.error().unwrap();
    assert!(told.contains("adm/log-it requires upstream:log/append"), "{told}");
    assert_eq!(failed.outcome.err().unwrap().reason(), "prelude_attach_failed");
    let agent = Agent::builder().prompt("Work").runtime_prelude(Some(prelude(two_steps))).build().unwrap();
    let (run, model) = mission(&world, &agent, &[program]);
    assert_eq!((run.step.unwrap_err().reason(), model.left()), ("prelude_attach_failed", 1));
    assert!(crm.asked.lock().unwrap().is_empty(), "nothing was deleted");
    assert_eq!(unused.listed.load(Ordering::SeqCst), 0, "nobody needs it");
    // A server that does not answer is told by name and reason.
    let world = World::new(vec![("crm", crm.clone()), ("log", Fake::down().into())], Options::default());
    let failed = world.upstream.run(&world.runtime, program, &options);
    let told = failed.error().unwrap();
    assert!(told.contains("the tools of `log` cannot be listed: no such program"), "{told}");
    assert!(crm.asked.lock().unwrap().is_empty());
}

/// The model, the REPL and a program are told the same effects.
#[test]
fn the_prompt_has_the_inventory_of_the_runtime() {
    let source = r#"(ns adm) (defn get-user [id] (tool/call {:server "crm" :tool "get_user" :args {:id id}}))
        (defn pay [id] (tool/call {:server "crm" :tool "pay" :args {:id id}}))
        (defn poke [id] (tool/call {:server "crm" :tool "poke" :args {:id id}})) (defn pure [x] x)"#;
    for snapshot in [Snapshot::Live, Snapshot::Frozen] {
        let world = world_of(&Arc::new(crm()), snapshot);
        let agent = Agent::builder().prompt("Work").runtime_prelude(Some(prelude(source))).build().unwrap();
        let (_, model) = mission(&world, &agent, &["(return 1)"]);
        let attachment = world.upstream.attach(None);
        let tools = attachment.grant(Default::default());
        let attach = ptc_runtime::Attach::new().upstream(attachment.discovery());
        let runtime = world.runtime.clone().with_tools(tools).attach(&prelude(source), &attach).unwrap();
        let inventory = runtime.inventory(Default::default()).unwrap();
        let system = model.requests()[0].system.clone();
        assert!(system.contains(inventory.trim_end()), "{system}\n\n{inventory}");
        for line in ["get-user id) [read]", "pay id) [write]", "poke id) [unknown]", "pure x) [pure]"] {
            assert!(inventory.contains(line), "{line}: {inventory}");
        }
    }
}

/// What an export says of itself cannot make a write pass for a read, and can make a read count as a write.
#[test]
fn guards_look_at_the_tool_that_is_called_and_at_what_is_stated_beyond() {
    let source = r#"(ns adm) (defn purge {:effect :read} [] (tool/call {:server "crm" :tool "pay"}))
        (defn poke {:effect :read} [] (tool/call {:server "crm" :tool "poke"}))
        (defn careful {:effect :write} [] (tool/call {:server "crm" :tool "get_user"}))
        (defn get-user {:effect :read} [] (tool/call {:server "crm" :tool "get_user"}))
        (defn plain [] (tool/call {:server "crm" :tool "get_user"}))"#;
    let world = world_of(&Arc::new(crm()), Snapshot::Live);
    let builder = Agent::builder().prompt("Work").max_turns(4).runtime_prelude(Some(prelude(source)));
    let agent = builder.build().unwrap();
    for (call, effect) in [("purge", "write"), ("poke", "unknown"), ("careful", "write")] {
        let (run, model) = mission(&world, &agent, &[&*format!("(adm/{call})"), "(return 1)"]);
        let step = run.step.unwrap_err();
        assert_eq!((step.reason(), model.left()), ("partial_side_effects", 1), "{call}");
        assert_eq!(step.fail.unwrap().details["matched_calls"][0]["effect"], effect, "{call}");
    }
    for call in ["get-user", "plain"] {
        let (run, _) = mission(&world, &agent, &[&*format!("(adm/{call})"), "(return 1)"]);
        assert!(run.step.is_ok(), "{call}");
    }
    // A run that may only read refuses them before anything is sent.
    let servers = world.upstream.attach(None).read_only();
    let tools = servers.grant(Default::default());
    let runtime = world.runtime.clone().with_upstream(servers.discovery());
    let runtime = runtime.with_tools(tools).attach(&prelude(source), &ptc_runtime::Attach::new()).unwrap();
    let eval = |program: &str| runtime.eval(program, &Default::default());
    for program in ["(adm/purge)", "(adm/poke)", "(adm/careful)"] {
        let failure = eval(program).unwrap_err();
        assert!(failure.to_string().contains("this run may only read"), "{program}: {failure}");
    }
    assert!(eval("(adm/plain)").is_ok());
}

/// Hints that contradict each other say nothing, and a destructive tool writes.
#[test]
fn effects_of_tools_by_their_hints() {
    let hinted = |name: &str, hints| {
        let mut tool = tool(name, "", json!({}));
        tool.annotations = Some(hints);
        tool
    };
    let fake = Fake::new(
        vec![
            hinted("both", json!({"readOnlyHint": true, "destructiveHint": true})),
            hinted("reads", json!({"readOnlyHint": true, "destructiveHint": false})),
            hinted("destroys", json!({"destructiveHint": true})),
            hinted("adds", json!({"destructiveHint": false})),
        ],
        |_| Ok(json!({})),
    );
    let world = world_of(&Arc::new(fake), Snapshot::Frozen);
    let server = world.upstream.catalogue().server("crm").unwrap().listing().unwrap();
    let effect = |name: &str| server.tools[name].effect().name();
    assert_eq!(
        [effect("both"), effect("reads"), effect("destroys"), effect("adds")],
        ["unknown", "read", "write", "unknown"]
    );
}

#[test]
fn an_operation_that_goes_away_ends_the_mission_before_the_next_turn() {
    let fake = Arc::new(crm());
    let world = world_of(&fake, Snapshot::Live);
    world.upstream.load(None);
    let agent =
        Agent::builder().prompt("Work").max_turns(4).runtime_prelude(Some(prelude(READS))).build().unwrap();
    *fake.tools.lock().unwrap() = Ok(vec![tool("other", "", json!({}))]);
    fake.changes.store(1, Ordering::SeqCst);
    let (run, model) = mission(&world, &agent, &["(count (dir 'crm))", "(return 1)"]);
    assert_eq!((run.step.unwrap_err().reason(), model.left()), ("prelude_attach_failed", 1));
}

#[test]
fn the_prompt_tells_of_the_servers_and_one_budget_serves_all_turns() {
    let limits = ptc_upstream::CallLimits { max_calls: 2, ..Default::default() };
    let options = Options { snapshot: Snapshot::Frozen, limits, ..Options::default() };
    let world = World::new(vec![("crm", crm().into())], options);
    let get = "(:reason (tool/call 'crm/get_user {}))";
    let (run, model) = mission(&world, &agent(), &[get, get, &format!("(return {get})")]);
    assert_eq!(run.step.unwrap().json().unwrap(), json!("cap_exhausted"));
    let prompt = format!("{:?}", model.requests()[0]);
    assert!(prompt.contains("crm: The crm server. 3 tools.") && prompt.contains("get_user"), "{prompt}");
}
