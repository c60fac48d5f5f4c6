//! Preludes of agents, and guards.

use crate::kit::{agent, failure, value, with};
use ptc_agent::mission::{CompileOptions, compile, stop_after_writes};
use ptc_agent::tools::{Effect, Tool, Visibility};
use ptc_agent::{RunOptions, Step, run};
use ptc_model::Scripted;
use ptc_runtime::{LoadOptions, Prelude, PreludeStore, Runtime, Signing, TrustedKeys};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).unwrap()
}

fn library(source: &str) -> Prelude {
    Prelude::compile(&runtime(), source).unwrap()
}

/// Prelude that needs no tools.
const SHOP: &str =
    "(ns shop \"Prices.\") (defn- rate [] 1.19) (defn gross \"With tax.\" [net] (* net (rate)))";

/// Prelude that needs one tool.
const CRM: &str = "(ns crm \"Customers.\") (defn user \"Loads one.\" [id] (tool/get_user {:id id}))";

#[test]
fn s1_the_same_artifact_serves_an_agent() {
    let shop = library(SHOP);
    let model = Scripted::new(["(def g (shop/gross 100))", "(return g)"]);
    let step =
        run(&agent("Tax").runtime_prelude(Some(shop.clone())).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(value(&step), json!(119.0));
    assert!(model.requests()[0].system.contains("shop/gross"), "{}", model.requests()[0].system);
    let is_that_of = |step: &Step| {
        step.prelude_trace.as_ref().expect("a trace").artifact_hash == library(SHOP).artifact_hash()
    };
    assert!(is_that_of(&step));

    let one =
        agent("Tax {{net}}").signature("(net :float) -> :float").max_turns(1).runtime_prelude(Some(shop));
    let one = one.build().unwrap();
    let model = Scripted::new(["(shop/gross data/net)", "(shop/gross data/net)"]);
    let step = run(&one, &with(&model).context(&json!({"net": 10.0})).unwrap()).unwrap();
    assert_eq!(value(&step), json!(11.9));

    let compiled = compile(&one, &CompileOptions { run: with(&model), ..CompileOptions::default() }).unwrap();
    let step = run(&compiled, &RunOptions::new().context(&json!({"net": 200.0})).unwrap()).unwrap();
    assert_eq!(value(&step), json!(238.0));
    assert!(is_that_of(&step));
}

#[test]
fn s4_the_inventory_stands_in_an_agents_prompt() {
    let system = |builder: ptc_agent::AgentBuilder| {
        let model = Scripted::new(["(return 1)"]);
        run(&builder.build().unwrap(), &with(&model)).unwrap();
        model.requests()[0].system.clone()
    };
    let told = system(agent("Tax").runtime_prelude(Some(library(SHOP))));
    assert!(told.contains("shop/gross") && told.contains("With tax."), "{told}");
    assert!(!told.contains("shop/rate") && !told.contains("(rate"), "helpers are not told: {told}");
    let quiet = SHOP.replace("(defn gross", "(defn hint {:visibility :discoverable} [] 1) (defn gross");
    assert_eq!(system(agent("Tax").runtime_prelude(Some(library(&quiet)))), told);
    // Without the inventory, the prompt equals that of an agent without a prelude.
    let inventory = library(SHOP).inventory(Default::default()).unwrap();
    let (before, after) = told.split_once(inventory.trim_end()).expect("the inventory as it is");
    let before = before.trim_end().strip_suffix("## Library").expect("a section of its own");
    let lines =
        |text: &str| text.lines().filter(|line| !line.is_empty()).map(String::from).collect::<Vec<_>>();
    assert_eq!(lines(&format!("{before}\n{after}")), lines(&system(agent("Tax"))));
}

#[test]
fn a_library_that_calls_tools() {
    let user = Tool::new("get_user", |args, _| Ok(json!({"id": args.json()?["id"], "name": "Ada"})));
    let agent = agent("Who?").runtime_prelude(Some(library(CRM))).tool(user.visibility(Visibility::Private));
    let agent = agent.build().unwrap();
    let model = Scripted::new(["(tool/get_user {:id 1})", "(return (:name (crm/user 7)))"]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!("Ada"));
    // Only the library can call a private tool.
    assert!(!step.turns[0].success, "{}", failure(&step, 1));
    assert!(!model.requests()[0].system.contains("get_user"));
    assert_eq!(step.tool_calls[0].origin.as_deref(), Some("crm/user"));
}

#[test]
fn the_prompt_tells_effects_as_the_tools_of_the_agent_have_them() {
    let source =
        "(ns adm) (defn look [] (tool/look {})) (defn pay [] (tool/pay {})) (defn poke [] (tool/poke {}))
        (defn pure [x] x)";
    let tool = |name: &str, effect| Tool::new(name, |_, _| Ok(1)).effect(effect);
    let builder = agent("Work").runtime_prelude(Some(library(source)));
    let builder = builder.tool(tool("look", Effect::Read)).tool(tool("pay", Effect::Write));
    let agent = builder.tool(tool("poke", Effect::Unknown)).build().unwrap();
    let model =
        Scripted::new(["(return (map #(:effect (meta %)) ['adm/look 'adm/pay 'adm/poke 'adm/pure]))"]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!(["read", "write", "unknown", "pure"]));
    let system = model.requests()[0].system.clone();
    for line in ["(look) [read]", "(pay) [write]", "(poke) [unknown]", "(pure x) [pure]"] {
        assert!(system.contains(line), "{line}: {system}");
    }
}

#[test]
fn a_guard_looks_at_the_tool_and_at_what_is_stated_beyond() {
    let source = "(ns adm) (defn pay {:effect :read} [] (tool/pay {})) (defn careful {:effect :write} [] (tool/look {}))
        (defn look [] (tool/look {}))";
    let tool = |name: &str, effect| Tool::new(name, |_, _| Ok(1)).effect(effect);
    let builder = agent("Work").runtime_prelude(Some(library(source)));
    let agent = builder.tool(tool("look", Effect::Read)).tool(tool("pay", Effect::Write)).build().unwrap();
    let ended = |program: &str| {
        let model = Scripted::new([program, "(return 1)"]);
        let options = RunOptions { continuation_guard: Some(stop_after_writes()), ..with(&model) };
        run(&agent, &options).map(|_| ()).map_err(|step| step.reason().to_string())
    };
    assert_eq!(ended("(adm/pay)").unwrap_err(), "partial_side_effects");
    assert_eq!(ended("(adm/careful)").unwrap_err(), "partial_side_effects");
    assert!(ended("(adm/look)").is_ok());
}

#[test]
fn a_private_tool_of_an_agent_is_not_for_stored_libraries() {
    let store = PreludeStore::new(&runtime());
    store.write("crm", CRM, json!({})).unwrap();
    let tool = || Tool::new("get_user", |_, _| Ok(json!({"name": "Ada"})));
    let stored = |tool: Tool| {
        let builder = agent("Who?").prelude_store(Some(store.clone())).preludes(vec!["crm".to_string()]);
        let model = Scripted::new(["(return (:name (crm/user 7)))"]);
        run(&builder.tool(tool).build().unwrap(), &with(&model)).map(|step| value(&step))
    };
    assert_eq!(stored(tool()).unwrap(), json!("Ada"));
    for private in [tool().visibility(Visibility::Private), tool().private_to("crm")] {
        assert_eq!(stored(private).unwrap_err().reason(), "prelude_attach_failed");
    }
    // The host's own library may call it if the tool names that library.
    let own = |source: &str| {
        let agent = agent("Who?").runtime_prelude(Some(library(source))).tool(tool().private_to("crm"));
        run(&agent.build().unwrap(), &with(&Scripted::new(["(return (:name (crm/user 7)))"])))
    };
    assert_eq!(value(&own(CRM).unwrap()), json!("Ada"));
    let other = own("(ns other) (defn user [id] (tool/get_user {:id id}))").unwrap_err();
    assert_eq!(other.reason(), "prelude_attach_failed");
}

#[test]
fn s5_a_failed_attach_is_a_hard_stop_for_an_agent() {
    let by_call = Some(ptc_agent::definition::Transport::ToolCall);
    let text = agent("Who?").output(ptc_model::Output::Text);
    let combined = text.clone().ptc_transport(by_call);
    let loops = agent("Who?").max_turns(5);
    for builder in [agent("Who?").max_turns(1), loops.clone(), loops.ptc_transport(by_call), text, combined] {
        let model = Scripted::new(["(return 1)", "(return 2)"]);
        let agent = builder.runtime_prelude(Some(library(CRM))).build().unwrap();
        let step = run(&agent, &with(&model)).unwrap_err();
        assert_eq!((step.reason(), model.requests().len()), ("prelude_attach_failed", 0));
        assert!(step.fail.unwrap().message.contains("get_user"));
        assert!(step.turns.is_empty(), "no turn is tried again");
    }
    // A compiled agent fails when it is compiled, or else when it runs without the tool.
    let user = Tool::new("get_user", |args, _| args.json());
    let one = agent("Who?").max_turns(1).runtime_prelude(Some(library(CRM)));
    let model = Scripted::new(["(return 1)"]);
    let options = || CompileOptions { run: with(&model), ..CompileOptions::default() };
    let problem = compile(&one.clone().build().unwrap(), &options()).unwrap_err();
    assert!(format!("{problem:?}").contains("prelude_attach_failed"), "{problem:?}");
    assert_eq!(model.left(), 1);
    assert!(compile(&one.tool(user).build().unwrap(), &options()).is_ok());
}

#[test]
fn s5_a_child_agent_has_nothing_of_its_parent() {
    let child = agent("Look").build().unwrap();
    let parent =
        agent("Tax").runtime_prelude(Some(library(SHOP))).tool(Tool::agent("look", child)).build().unwrap();
    let model =
        Scripted::new(["(tool/look {})", "(shop/gross 1)", "(return (:reason data/fail))", "(return *1)"]);
    assert_eq!(value(&run(&parent, &with(&model)).unwrap()), json!("analysis_error"));
}

/// Checks that every way of running an agent has its prelude, and none has another one.
#[test]
fn s7_an_agents_prelude_field() {
    let (program, compiles) = ("(return (shop/gross 100))", CompileOptions::default);
    for (builder, replies) in [
        (
            agent("Tax"),
            vec!["(def twice (* 2 (shop/gross 50)))", "(return (/ (+ twice (shop/gross 100)) 2))"],
        ),
        (agent("Tax").max_turns(1), vec![program]),
    ] {
        let model = Scripted::new(replies);
        let given = builder.clone().runtime_prelude(Some(library(SHOP))).build().unwrap();
        assert_eq!(value(&run(&given, &with(&model)).unwrap()), json!(119.0));
        let model = Scripted::new([program; 6]);
        let without = run(&builder.build().unwrap(), &with(&model)).unwrap_err();
        assert!(
            failure(&without, 1).to_string().contains("unknown namespace shop/"),
            "{}",
            failure(&without, 1)
        );
    }
    let one = agent("Tax").max_turns(1).runtime_prelude(Some(library(SHOP))).build().unwrap();
    let model = Scripted::new([program]);
    let compiled = compile(&one, &CompileOptions { run: with(&model), ..compiles() }).unwrap();
    assert_eq!(value(&run(&compiled, &RunOptions::new()).unwrap()), json!(119.0));
    let without = agent("Tax").max_turns(1).build().unwrap();
    let model = Scripted::new([program; 6]);
    let problem = compile(&without, &CompileOptions { run: with(&model), ..compiles() }).unwrap_err();
    assert!(format!("{problem:?}").contains("unknown namespace shop/"), "{problem:?}");
}

#[test]
fn stored_libraries_are_those_of_the_moment_the_agent_was_built() {
    let store = PreludeStore::new(&runtime());
    store.write("shop", "(ns shop) (def rate 19)", json!({})).unwrap();
    let agent =
        agent("Tax").prelude_store(Some(store.clone())).preludes(vec!["shop".to_string()]).build().unwrap();
    store.write("shop", "(ns shop) (def rate 7)", json!({})).unwrap();
    let rate = |options: RunOptions| value(&run(&agent, &options).unwrap());
    let model = || Scripted::new(["(return shop/rate)"]);
    assert_eq!(rate(with(&model())), json!(19));
    assert_eq!(rate(with(&model()).changing(|b| b.preludes(vec!["shop@2".to_string()]))), json!(7));
    assert_eq!(rate(with(&model())), json!(19));
}

#[test]
fn a_guard_stops_after_a_write() {
    let writes = Arc::new(AtomicU32::new(0));
    let count = writes.clone();
    let agent = agent("Pay")
        .tool(Tool::new("look", |_, _| Ok(1)).effect(Effect::Read))
        .tool(Tool::new("pay", move |_, _| Ok(count.fetch_add(1, Ordering::SeqCst))).effect(Effect::Write))
        .build()
        .unwrap();
    let guarded =
        |model: &Scripted| RunOptions { continuation_guard: Some(stop_after_writes()), ..with(model) };
    let model = Scripted::new(["(tool/look {})", "(tool/pay {:card \"4711\"}) (+ 1 nil)", "(tool/pay {})"]);
    let step = run(&agent, &guarded(&model)).unwrap_err();
    let fail = step.fail.unwrap();
    assert_eq!(
        (fail.reason.as_str(), model.left(), writes.load(Ordering::SeqCst)),
        ("partial_side_effects", 1, 1)
    );
    assert_eq!(fail.details["matched_calls"], json!([{"server": null, "tool": "pay", "effect": "write"}]));
    // A turn that ends the mission is not partial.
    let model = Scripted::new(["(tool/pay {}) (return :paid)"]);
    assert_eq!(value(&run(&agent, &guarded(&model)).unwrap()), json!("paid"));
}

#[test]
fn a_guard_is_told_what_its_turn_called_and_no_more() {
    use ptc_agent::mission::{Guard, GuardFn};
    let seen: Arc<std::sync::Mutex<Vec<usize>>> = Arc::default();
    let note = seen.clone();
    let guard: GuardFn = Arc::new(move |turn, standing| {
        assert_eq!(turn.tool_calls, standing.tool_calls);
        note.lock().unwrap().push(standing.tool_calls.len());
        Guard::Continue
    });
    let agent = agent("Pay").tool(Tool::new("pay", |_, _| Ok(1))).build().unwrap();
    let model = Scripted::new(["(tool/pay {}) (tool/pay {})", "Let me think.", "(return 1)"]);
    run(&agent, &RunOptions { continuation_guard: Some(guard), ..with(&model) }).unwrap();
    assert_eq!(*seen.lock().unwrap(), [2, 0]);
}

/// Returns a library as loaded from a file, signed with this key.
fn signed(source: &str, key: &Signing) -> Prelude {
    let bytes = library(source).to_bytes();
    let signature = key.sign(&bytes).unwrap();
    let options = LoadOptions { signature: Some(&signature), ..LoadOptions::default() };
    Prelude::load(&runtime(), &bytes, &options).unwrap()
}

#[test]
fn where_keys_are_trusted_only_their_libraries_run() {
    let (ours, theirs) =
        (Signing::from_hex(&"11".repeat(32)).unwrap(), Signing::from_hex(&"22".repeat(32)).unwrap());
    let keys = TrustedKeys::parse(&ours.public_key()).unwrap();
    let tax = |prelude: Prelude| agent("Tax").runtime_prelude(Some(prelude));
    let trusting = |prelude: Prelude| tax(prelude).trusted(keys.clone());
    let model = || Scripted::new(["(return (shop/gross 100))"]);
    let step = run(&trusting(signed(SHOP, &ours)).build().unwrap(), &with(&model())).unwrap();
    assert_eq!(value(&step), json!(119.0));
    for (prelude, why) in [
        (library(SHOP), "sources are not signed"),
        (signed(SHOP, &theirs), "signed by a key that is not trusted"),
    ] {
        let error = trusting(prelude.clone()).build().expect_err("it is not trusted");
        assert!(error.message.contains("`runtime_prelude`") && error.message.contains(why), "{error}");
        // The trusted keys of the agent above apply to all below, even if they set others.
        let below = tax(prelude).trusted(TrustedKeys::parse(&theirs.public_key()).unwrap());
        let Ok(child) = below.build() else { continue };
        let parent = agent("All").trusted(keys.clone()).tool(Tool::agent("tax", child)).build().unwrap();
        let model = Scripted::new(["(tool/tax {})", "(return data/fail)"]);
        let step = run(&parent, &with(&model)).unwrap();
        assert!(value(&step).to_string().contains("not trusted"), "{}", value(&step));
    }
    let store = PreludeStore::new(&runtime());
    store.write("shop", "(ns shop) (def rate 19)", json!({})).unwrap();
    let stored = agent("Tax").prelude_store(Some(store)).preludes(vec!["shop".to_string()]).trusted(keys);
    let error = stored.build().expect_err("nobody signs what is stored");
    assert!(error.message.contains("`preludes` is not trusted"), "{error}");
}

#[test]
fn combined_mode_tells_of_preludes_and_its_programs_call_them() {
    use ptc_agent::definition::Transport;
    use ptc_model::{LlmResponse, Output, Reply, ToolCall};
    let words = || agent("Tax").output(Output::Text).runtime_prelude(Some(library(SHOP)));
    let combined = words().ptc_transport(Some(Transport::ToolCall)).build().unwrap();
    let program = json!({"program": "(return (shop/gross 100))"}).to_string();
    let call = LlmResponse::calls([ToolCall::read(Some("a"), "lisp_eval", &program)]);
    let model = Scripted::new([Reply::from(call), "119".into()]);
    run(&combined, &with(&model)).unwrap();
    let requests = model.requests();
    assert!(
        requests[0].system.contains("## Library") && requests[0].system.contains("gross"),
        "{}",
        requests[0].system
    );
    assert!(requests[1].messages.last().unwrap().content.contains("user=> 119.0"));
    // If neither programs nor the model can call the exports, the prompt must not mention them.
    let text = words().build().unwrap();
    let idle = words().expose_preludes(Some(ptc_agent::tools::Expose::PtcLisp)).build().unwrap();
    assert!(idle.warnings()[0].contains("nothing calls the preludes"), "{:?}", idle.warnings());
    assert!(combined.warnings().is_empty() && text.warnings().is_empty());
}
