//! Agents with servers: preludes are checked before anything happens, and writes end a mission.

use super::fake::*;
use ptc_agent::mission::Guard;
use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, RunOptions};
use ptc_model::{LlmResponse, Output, Reply, Role, Scripted, ToolCall};
use ptc_runtime::{Prelude, Runtime};
use ptc_upstream::{Options, ProgramOptions, Snapshot};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Creates a server with a tool that reads, one that writes, and one with unknown effect.
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
    // The turn that ends the mission may write.
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

/// Servers not loaded yet are loaded when the prelude is attached: a step that cannot work is found before an
/// earlier one has changed anything.
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
    // The error names the unavailable server and the reason.
    let world = World::new(vec![("crm", crm.clone()), ("log", Fake::down().into())], Options::default());
    let failed = world.upstream.run(&world.runtime, program, &options);
    let told = failed.error().unwrap();
    assert!(told.contains("the tools of `log` cannot be listed: no such program"), "{told}");
    assert!(crm.asked.lock().unwrap().is_empty());
}

/// The model, the REPL and a program see identical effects.
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

/// An export's declared effect cannot turn a write into a read, but can turn a read into a write.
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
    // A read-only run refuses them before anything is sent.
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

/// Contradicting hints count as none, and a destructive tool writes.
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
fn the_prompt_tells_of_the_servers() {
    let world = world_of(&Arc::new(crm()), Snapshot::Frozen);
    let (_, model) = mission(&world, &agent(), &["(return 1)"]);
    let prompt = format!("{:?}", model.requests()[0]);
    assert!(prompt.contains("crm: The crm server. 3 tools.") && prompt.contains("get_user"), "{prompt}");
    assert!(prompt.contains("(tool/call {:server"), "how they are called: {prompt}");
}

#[test]
fn every_program_of_a_mission_has_a_budget_of_its_own_and_one_ledger_has_all_calls() {
    let limits =
        ptc_upstream::CallLimits { max_calls: 2, max_catalog_ops: 1, ..ptc_upstream::CallLimits::default() };
    let options = Options { snapshot: Snapshot::Frozen, limits, ..Options::default() };
    let world = World::new(vec![("crm", crm().into())], options);
    let program = "(vector (map :reason (map (fn [id] (tool/call 'crm/get_user {:id id})) (range 3))) \
                   (map some? (map (fn [_] (dir 'crm)) (range 2))))";
    let last = format!("(return {program})");
    let (run, _) = mission(&world, &agent(), &[program, program, &last]);
    let step = run.step.unwrap();
    assert_eq!(step.json().unwrap(), json!([[null, null, "cap_exhausted"], [true, false]]));
    assert_eq!(run.context.upstream_calls().as_array().unwrap().len(), 9);
    assert_eq!(step.catalog_ops.len(), 2, "{:?}", step.catalog_ops);
    // Turns of a model that calls tools by name have one lookup budget each.
    let world = World::new(
        vec![("crm", crm().into())],
        Options { snapshot: Snapshot::Frozen, limits, ..Options::default() },
    );
    let three = || {
        let get = |id| (id, "crm_get_user", json!({}));
        called(&[get("a"), get("b"), get("c")])
    };
    let model = Scripted::new([three(), three(), "done".into()]);
    let run =
        run_mission(&world.upstream, &in_words(false), &RunOptions::new().llm(LlmRef::client(model.clone())));
    assert!(run.step.is_ok());
    let answers = answers(&model);
    let refused = answers.iter().map(|(_, answer)| answer.to_string().contains("cap_exhausted"));
    assert_eq!(refused.filter(|refused| *refused).count(), 2, "{answers:?}");
    assert_eq!(answers.len(), 6);
}

/// A ledger with room for the first programs only would lose the write that must end the mission.
#[test]
fn a_write_of_a_late_program_ends_the_mission_too() {
    let limits = ptc_upstream::CallLimits { max_calls: 3, ..ptc_upstream::CallLimits::default() };
    let options = Options { snapshot: Snapshot::Frozen, limits, ..Options::default() };
    let world = World::new(vec![("crm", crm().into())], options);
    let reads = "(count (map (fn [id] (tool/call 'crm/get_user {:id id})) (range 20)))";
    let agent = agent().with(|builder| builder.max_turns(9)).unwrap();
    let (run, model) =
        mission(&world, &agent, &[reads, reads, reads, "(tool/call 'crm/pay {})", "(return 1)"]);
    assert_eq!((run.step.unwrap_err().reason(), model.left()), ("partial_side_effects", 1));
}

/// Creates an agent that answers in text; in combined mode it can also run programs.
fn in_words(is_combined: bool) -> Agent {
    let transport = is_combined.then_some(ptc_agent::definition::Transport::ToolCall);
    Agent::builder()
        .prompt("Work")
        .output(Output::Text)
        .ptc_transport(transport)
        .max_turns(4)
        .build()
        .unwrap()
}

fn called(calls: &[(&str, &str, serde_json::Value)]) -> Reply {
    let calls = calls.iter().map(|(id, name, args)| ToolCall::read(Some(id), *name, &args.to_string()));
    Reply::from(LlmResponse::calls(calls))
}

/// Returns the contents of the replies to calls, by id.
fn answers(model: &Scripted) -> Vec<(String, serde_json::Value)> {
    let last = model.requests().pop().unwrap().messages;
    let tools = last.into_iter().filter(|message| message.role == Role::Tool);
    let content = |text: &str| serde_json::from_str(text).unwrap();
    tools.map(|message| (message.tool_call_id.clone().unwrap(), content(&message.content))).collect()
}

#[test]
fn a_model_that_calls_tools_itself_is_offered_those_of_servers() {
    let described = json!({
        "type": "object", "required": ["id"],
        "properties": {"id": {"type": "integer", "description": "Number of the user."}, "not": {"not": {"type": "null"}}},
    });
    let mut get = tool("get-user", "Load one user.", described.clone());
    get.annotations = Some(json!({"readOnlyHint": true}));
    let fake = Arc::new(Fake::new(vec![get], |request| match request.args["id"].as_i64() {
        Some(1) => Ok(structured(json!({"name": "Ada", "_pin": "4711-4711"}))),
        _ => Ok(json!({"isError": true, "content": [{"type": "text", "text": "no such user"}]})),
    }));
    for (is_combined, snapshot) in
        [(false, Snapshot::Live), (false, Snapshot::Frozen), (true, Snapshot::Live), (true, Snapshot::Frozen)]
    {
        let world = world_of(&fake, snapshot);
        let model = Scripted::new([
            called(&[
                ("a", "crm_get_user", json!({"id": 1})),
                ("b", "crm_get_user", json!({"id": 2})),
                ("c", "crm_get_user", json!({"id": "x"})),
            ]),
            "Ada.".into(),
        ]);
        let run = run_mission(
            &world.upstream,
            &in_words(is_combined),
            &RunOptions::new().llm(LlmRef::client(model.clone())),
        );
        assert_eq!(run.step.unwrap().get::<String>().unwrap(), "Ada.");
        let tools = model.requests()[0].tools.clone();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let wanted: &[&str] = if is_combined { &["crm_get_user", "lisp_eval"] } else { &["crm_get_user"] };
        assert_eq!(names, wanted);
        assert_eq!((tools[0].description.as_str(), &tools[0].parameters), ("Load one user.", &described));
        let answers = answers(&model);
        assert_eq!(answers[0].1, json!({"name": "Ada", "_pin": "<Firewalled>"}));
        assert_eq!(answers[1].1["reason"], "tool_error");
        assert!(
            answers[1].1["message"].as_str().unwrap().contains("tool_error: no such user"),
            "{answers:?}"
        );
        assert!(answers[2].1["message"].as_str().unwrap().contains("rejected args"), "{answers:?}");
        assert_eq!(run.context.upstream_calls()[0]["tool"], "get-user");
    }
}

#[test]
fn programs_of_combined_mode_call_servers_too() {
    let world = world_of(&Arc::new(crm()), Snapshot::Live);
    let program =
        "(return [(:ok (tool/call {:server \"crm\" :tool \"get_user\" :args {:id 1}})) (count (dir 'crm))])";
    let model = Scripted::new([called(&[("a", "lisp_eval", json!({"program": program}))]), "done".into()]);
    let run =
        run_mission(&world.upstream, &in_words(true), &RunOptions::new().llm(LlmRef::client(model.clone())));
    assert!(run.step.is_ok());
    assert_eq!(answers(&model)[0].1["result"], "user=> [true 3]");
    let request = &model.requests()[0];
    assert!(
        request.system.contains("- (tool/call {") && request.system.contains("(apropos"),
        "{}",
        request.system
    );
    assert!(request.tools.iter().all(|tool| tool.name != "call"));
}

#[test]
fn a_model_that_wrote_by_name_may_go_on_and_a_program_that_broke_off_may_not() {
    for is_combined in [false, true] {
        let world = world_of(&Arc::new(crm()), Snapshot::Frozen);
        let model = Scripted::new([called(&[("a", "crm_pay", json!({"amount": 5}))]), "paid".into()]);
        let run = run_mission(
            &world.upstream,
            &in_words(is_combined),
            &RunOptions::new().llm(LlmRef::client(model)),
        );
        let step = run.step.unwrap();
        assert_eq!(
            (step.get::<String>().unwrap().as_str(), step.tool_calls[0].effect.as_str()),
            ("paid", "write")
        );
    }
    let world = world_of(&Arc::new(crm()), Snapshot::Frozen);
    let model = Scripted::new([
        called(&[("a", "lisp_eval", json!({"program": "(do (tool/call 'crm/pay {}) (+ 1 nil))"}))]),
        "paid".into(),
    ]);
    let run = run_mission(&world.upstream, &in_words(true), &RunOptions::new().llm(LlmRef::client(model)));
    assert_eq!(run.step.unwrap_err().reason(), "partial_side_effects");
}

/// Exports of a prelude also let a model that writes no programs reach servers. The prelude's requirements are
/// checked first, and an export that fails after a write counts as a write.
#[test]
fn exports_that_call_servers_are_tools_of_a_model() {
    let source = r#"(ns adm) (defn user "Loads one." [id] (:value (tool/call {:server "crm" :tool "get_user" :args {:id id}})))
        (defn pay {:effect :read} [id] (do (tool/call {:server "crm" :tool "pay" :args {:id id}}) (assert (not= id 13) "unlucky")))"#;
    for is_combined in [false, true] {
        let asked = |name: &str, id: u32| {
            let fake = Arc::new(crm());
            let world = world_of(&fake, Snapshot::Live);
            let model = Scripted::new([called(&[("a", name, json!({"id": id}))]), "done".into()]);
            let agent = in_words(is_combined).with(|builder| {
                let builder = builder.runtime_prelude(Some(prelude(source)));
                builder.expose_preludes(Some(ptc_agent::tools::Expose::Both))
            });
            let options = RunOptions::new().llm(LlmRef::client(model.clone()));
            (run_mission(&world.upstream, &agent.unwrap(), &options), model)
        };
        let (run, model) = asked("adm_user", 7);
        let step = run.step.unwrap();
        assert_eq!(answers(&model)[0].1, json!({"tool": "get_user", "args": {"id": 7}}));
        assert_eq!(run.context.upstream_calls().as_array().unwrap().len(), 1);
        assert_eq!(
            step.tool_calls.iter().filter(|call| call.origin.as_deref() == Some("adm/user")).count(),
            2
        );
        let tools = model.requests()[0].tools.clone();
        let of = |name: &str| tools.iter().find(|tool| tool.name == name).unwrap().description.clone();
        assert_eq!((&*of("adm_user"), &*of("adm_pay")), ("Loads one. [read]", "[read]"));
        assert!(tools.iter().any(|tool| tool.name == "crm_get_user"));
        let (run, _) = asked("adm_pay", 7);
        assert_eq!(run.step.unwrap().tool_calls[0].effect, "write", "whatever its author says");
        let (run, _) = asked("adm_pay", 13);
        assert_eq!(run.step.unwrap_err().reason(), "partial_side_effects");
    }
    let agent = in_words(false).with(|builder| builder.runtime_prelude(Some(prelude(MISSING)))).unwrap();
    let (run, model) = mission(&world_of(&Arc::new(crm()), Snapshot::Live), &agent, &["done"]);
    assert_eq!((run.step.unwrap_err().reason(), model.left()), ("prelude_attach_failed", 1));
}

#[test]
fn the_agents_own_tools_and_data_keep_their_names() {
    let world = world_of(&Arc::new(crm()), Snapshot::Frozen);
    let own = ptc_agent::tools::Tool::new("crm_pay", |_, _| Ok("own"));
    let agent = in_words(false).with(|builder| builder.tool(own.clone())).unwrap();
    let model = Scripted::new(["done"]);
    let options =
        RunOptions::new().llm(LlmRef::client(model.clone())).context(&json!({"crm_poke": 1})).unwrap();
    let run = run_mission(&world.upstream, &agent, &options);
    assert!(run.step.is_ok(), "{:?}", run.step.unwrap_err().fail);
    let names: Vec<String> = model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names, ["crm_get_user", "crm_pay", "crm_pay_2", "crm_poke_2"]);
}

#[test]
fn servers_that_are_down_and_tools_that_are_too_many_are_told() {
    let many = (0..200).map(|i| tool(&format!("t{i:03}"), "", json!({}))).collect();
    let world = World::new(
        vec![("many", Arc::new(Fake::new(many, |_| Ok(json!({}))))), ("gone", Arc::new(Fake::down()))],
        Options { snapshot: Snapshot::Live, ..Options::default() },
    );
    let model = Scripted::new(["done"]);
    let run =
        run_mission(&world.upstream, &in_words(false), &RunOptions::new().llm(LlmRef::client(model.clone())));
    let step = run.step.unwrap();
    assert_eq!(model.requests()[0].tools.len(), 128);
    assert!(step.warnings[0].contains("upstream 'gone' cannot be used"), "{:?}", step.warnings);
    assert!(
        step.warnings[1].starts_with("72 tools of servers are not offered by name"),
        "{:?}",
        step.warnings
    );
}

#[test]
fn strict_agents_may_have_servers() {
    let world = world_of(&Arc::new(crm()), Snapshot::Frozen);
    let strict = |agent: Agent| {
        agent
            .with(|builder| builder.signature_validation(ptc_contract::signature::Validation::Strict))
            .unwrap()
    };
    let (run, _) = mission(&world, &strict(agent()), &["(return (:ok (tool/call 'crm/get_user {:id 1})))"]);
    assert_eq!(run.step.unwrap().json().unwrap(), json!(true));
    let (run, _) = mission(&world, &strict(in_words(false)), &["done"]);
    assert!(run.step.is_ok());
}
