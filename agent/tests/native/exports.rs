//! Exports of preludes, as tools of a model that calls tools itself.

use crate::{answers, calls, combined, eval, text, with};
use ptc_agent::definition::Transport;
use ptc_agent::mission::stop_after_writes;
use ptc_agent::prompt::preview_prompt;
use ptc_agent::tools::{Effect, Expose, Tool, Visibility};
use ptc_agent::trace::{Event, Tracer};
use ptc_agent::{Agent, AgentBuilder, RunOptions, run};
use ptc_bytecode::{Datum, Node};
use ptc_model::{Output, Reply, Scripted};
use ptc_runtime::{Policy, Prelude, Runtime};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn library(source: &str) -> Prelude {
    Prelude::compile(&Runtime::with_core(ptc_preludes::core()).unwrap(), source).unwrap()
}

const SHOP: &str =
    "(ns shop \"Prices.\") (defn- rate [] 1.19) (def vat 19) (defn ^{:visibility :discoverable} odd [] 1)
    (defn gross \"With tax.\" ([net] (* net (rate))) ([net times-n] (* net (rate) times-n)))
    (defn total \"Sum of nets.\" [& nets] (reduce + nets))";

fn shop(builder: AgentBuilder) -> AgentBuilder {
    builder.runtime_prelude(Some(library(SHOP)))
}

/// Returns the answers to these calls, made in one turn.
fn answered(agent: &Agent, asked: &[(&str, Value)]) -> Vec<Value> {
    let ids: Vec<String> = (0..asked.len()).map(|i| format!("c{i}")).collect();
    let made: Vec<(&str, &str, Value)> =
        asked.iter().zip(&ids).map(|((name, args), id)| (id.as_str(), *name, args.clone())).collect();
    let step = run(agent, &with(&Scripted::new([calls(&made), "done".into()]))).unwrap();
    answers(&step.messages.unwrap()).into_iter().map(|(_, answer)| answer).collect()
}

fn offered(builder: AgentBuilder) -> Vec<String> {
    let model = Scripted::new(["(return 1)"]);
    let _ = run(&builder.build().unwrap(), &with(&model));
    model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect()
}

#[test]
fn s000_exports_of_preludes_are_in_every_mode() {
    let words = shop(Agent::builder().prompt("Tax"));
    let model = Scripted::new(["(return (shop/gross 100))"]);
    let step = run(&words.clone().build().unwrap(), &with(&model)).unwrap();
    assert_eq!(step.json().unwrap(), json!(119.0));
    let by_call = words.clone().ptc_transport(Some(Transport::ToolCall));
    let program = || eval("a", "(return (shop/gross 100))");
    for builder in [by_call.clone(), shop(combined("Tax"))] {
        let step = run(&builder.build().unwrap(), &with(&Scripted::new([program(), "1".into()]))).unwrap();
        assert_eq!(answers(&step.messages.unwrap())[0].1["result"], "user=> 119.0");
    }
    let names = ["shop_gross", "shop_total"];
    let agent = shop(text("Tax")).build().unwrap();
    let asked =
        answered(&agent, &[("shop_gross", json!({"net": 100})), ("shop_total", json!({"nets": [1, 2]}))]);
    assert_eq!(asked, [json!(119.0), json!(3)]);
    // Offered by default in text, and in combined mode on request.
    assert_eq!(offered(shop(text("Tax"))), names);
    assert_eq!(offered(shop(text("Tax")).expose_preludes(Some(Expose::Both))), names);
    assert!(offered(shop(text("Tax")).expose_preludes(Some(Expose::PtcLisp))).is_empty());
    assert_eq!(offered(shop(combined("Tax"))), ["lisp_eval"]);
    let both = shop(combined("Tax")).expose_preludes(Some(Expose::Both));
    assert_eq!(offered(both.clone()), ["shop_gross", "shop_total", "lisp_eval"]);
    assert_eq!(answered(&both.build().unwrap(), &[("shop_total", json!({}))]), [json!(0)]);
    assert!(offered(words.clone()).is_empty());
    for builder in [words, by_call, shop(combined("Tax"))] {
        let error = builder.expose_preludes(Some(Expose::Native)).build().unwrap_err();
        assert!(error.message.contains("expose_preludes") && error.message.contains("`both`"), "{error}");
    }
}

#[test]
fn a_model_is_told_what_an_export_takes() {
    let model = Scripted::new(["done"]);
    let agent = shop(text("Tax")).build().unwrap();
    run(&agent, &with(&model)).unwrap();
    let tools = model.requests().remove(0).tools;
    assert_eq!(tools[0].description, "With tax.\nCalled as (gross net) or (gross net times-n).");
    let wanted = json!({"type": "object", "properties": {"net": {}, "times_n": {}}, "required": ["net"]});
    assert_eq!(tools[0].parameters, wanted);
    let rest =
        json!({"type": "object", "properties": {"nets": {"type": "array", "items": {}}}, "required": []});
    assert_eq!((tools[1].description.as_str(), &tools[1].parameters), ("Sum of nets.", &rest));
    let preview = preview_prompt(&agent, &Datum::scalar(Node::Map(0)));
    assert_eq!(preview.tool_schemas.len(), 2);
    assert_eq!(preview.tool_schemas[0]["function"]["description"], json!(tools[0].description));
    // Wrong arguments are refused with the expected ones, and nothing runs.
    let told = answered(
        &agent,
        &[
            ("shop_gross", json!({})),
            ("shop_gross", json!({"net": 1, "nett": 2})),
            ("shop_total", json!({"nets": 3})),
            ("shop_rate", json!({})),
            ("shop_gross", json!({"net": "x"})),
        ],
    );
    let reasons: Vec<&Value> = told.iter().map(|answer| &answer["reason"]).collect();
    assert_eq!(
        reasons,
        ["validation_error", "validation_error", "validation_error", "unknown_tool", "tool_error"]
    );
    let message = told[1]["message"].as_str().unwrap();
    assert!(
        message.contains("(gross net) or (gross net times-n)") && message.contains("net, nett"),
        "{message}"
    );
    assert!(told[4]["message"].as_str().unwrap().contains("number"), "{}", told[4]);
}

const CRM: &str = "(ns crm) (defn user \"Loads one.\" [id] (tool/get_user {:id id}))
    (defn drop-user {:effect :read} [id] (do (tool/drop {:id id}) (assert (not= id 13) \"unlucky\")))
    (defn pick [id] (tool/pick {:id id}))";

fn crm(seen: &Arc<Mutex<Vec<String>>>) -> AgentBuilder {
    let tool = |name: &'static str, effect| {
        let seen = seen.clone();
        Tool::new(name, move |args, _| {
            seen.lock().unwrap().push(format!("{name} {}", args.json()?["id"]));
            Ok(json!({"id": args.json()?["id"], "name": "Ada", "_pin": "4711-4711"}))
        })
        .effect(effect)
        .visibility(Visibility::Private)
    };
    let builder = text("Who?").runtime_prelude(Some(library(CRM))).tool(tool("get_user", Effect::Read));
    builder.tool(tool("drop", Effect::Write)).tool(tool("pick", Effect::Unknown))
}

#[test]
fn calls_of_exports_are_programs_like_any() {
    let seen = Arc::default();
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let note = events.clone();
    let tracer =
        Tracer::new().on("tool.call", move |event| note.lock().unwrap().push(event.clone())).unwrap();
    let model = Scripted::new([calls(&[("a", "crm_user", json!({"id": 7}))]), "Ada".into()]);
    let step = run(&crm(&seen).build().unwrap(), &with(&model).tracer(tracer)).unwrap();
    // The model is offered the export, but not the private tool behind it.
    let tools = model.requests()[0].tools.clone();
    let told: Vec<(&str, &str)> = tools.iter().map(|tool| (&*tool.name, &*tool.description)).collect();
    assert_eq!(
        told,
        [("crm_drop_user", "[read]"), ("crm_pick", "[unknown]"), ("crm_user", "Loads one. [read]")]
    );
    assert_eq!(*seen.lock().unwrap(), ["get_user 7"]);
    assert_eq!(
        answers(step.messages.as_ref().unwrap())[0].1,
        json!({"id": 7, "name": "Ada", "_pin": "<Firewalled>"})
    );
    let calls: Vec<_> = step.tool_calls.iter().collect();
    let record =
        |i: usize| (&*calls[i].name, &*calls[i].layer, calls[i].origin.as_deref(), &*calls[i].effect);
    assert_eq!(record(0), ("crm_user", "native", Some("crm/user"), "read"));
    assert_eq!(record(1), ("get_user", "ptc_lisp", Some("crm/user"), "read"));
    let events = events.lock().unwrap();
    let [inner, outer] = &events[..] else { panic!("{events:?}") };
    assert_eq!(
        (inner.tool_name.as_deref(), outer.tool_name.as_deref()),
        (Some("get_user"), Some("crm_user"))
    );
    assert_eq!(inner.parent, Some(outer.span), "the tool is called by the export");
    assert!(step.prelude_trace.is_some());
    let messages = serde_json::to_string(&step.messages).unwrap();
    assert!(!messages.contains("4711-4711"));
}

#[test]
fn guards_and_policies_see_the_effect_of_the_tools_behind_an_export() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let guarded = |id: u32, name: &str| {
        let model = Scripted::new([calls(&[("a", name, json!({"id": id}))]), "done".into()]);
        let options = RunOptions { continuation_guard: Some(stop_after_writes()), ..with(&model) };
        run(&crm(&seen).build().unwrap(), &options).map(|_| ()).map_err(|step| step.reason().to_string())
    };
    assert_eq!(guarded(1, "crm_drop_user").unwrap_err(), "partial_side_effects");
    assert_eq!(guarded(1, "crm_pick").unwrap_err(), "partial_side_effects");
    assert!(guarded(1, "crm_user").is_ok());
    let policy = |policy: Policy| offered(crm(&seen).policy(policy));
    assert_eq!(policy(Policy { hide_writes: true, ..Policy::default() }), ["crm_user"]);
    let hidden = Policy { hide: vec!["crm/user".into()], ..Policy::default() };
    assert_eq!(policy(hidden.clone()), ["crm_drop_user", "crm_pick"]);
    let found = Policy { discoverable: vec!["crm/*".into()], ..Policy::default() };
    assert!(policy(found).is_empty());
    // Hidden exports cannot be called either.
    let asked = answered(&crm(&seen).policy(hidden).build().unwrap(), &[("crm_user", json!({"id": 1}))]);
    assert_eq!(asked[0]["reason"], "unknown_tool");
}

#[test]
fn a_prelude_that_needs_more_than_the_agent_has_is_refused_before_a_model_is_asked() {
    let model = Scripted::new(["done"]);
    let agent = text("Who?").runtime_prelude(Some(library(CRM))).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap_err();
    assert_eq!((step.reason(), model.requests().len()), ("prelude_attach_failed", 0));
    // For a tool that is offered to the model alone, the error suggests a fix.
    let tool = |name: &str| Tool::new(name, |_, _| Ok(1));
    let builder = text("Who?").runtime_prelude(Some(library(CRM)));
    let agent = builder.tool(tool("get_user")).tool(tool("drop")).tool(tool("pick")).build().unwrap();
    let fail = run(&agent, &with(&model)).unwrap_err().fail.unwrap();
    assert!(fail.message.contains("`get_user` is offered to the model only (`expose: native`)"), "{fail}");
}

#[test]
fn limits_hold_for_exports_too() {
    let source = "(ns slow) (defn spin [] (loop [n 0] (recur (inc n)))) (defn stop [] (fail {:reason :no_stock :message \"none\"}))
        (defn early [] (do (return 7) 8)) (defn make [] (fn [x] x)) (defn many [n] (doseq [i (range n)] (tool/one {:i i})))
        (defn large [] (vec (range 200000))) (defn say [] (do (println \"hello\") 1)) (defn tenant [] data/tenant)";
    let one = Tool::new("one", |_, _| Ok(1)).visibility(Visibility::Private);
    let builder = text("Work").runtime_prelude(Some(library(source))).tool(one);
    let agent = builder.clone().timeout(200).max_tool_calls(Some(3)).build().unwrap();
    let asked = |asked: &[(&str, Value)]| answered(&agent, asked);
    // Programs have their own call limit, and every export counts once against the model's.
    let told = asked(&[
        ("slow_spin", json!({})),
        ("slow_many", json!({"n": 3})),
        ("slow_many", json!({"n": 4})),
        ("slow_early", json!({})),
    ]);
    let message = |i: usize| told[i]["message"].as_str().unwrap_or_default();
    assert!(message(0).starts_with("timeout: ") || message(0).starts_with("fuel_exceeded: "), "{}", told[0]);
    assert_eq!(told[1], Value::Null);
    assert!(message(2).starts_with("tool_call_limit_exceeded: "), "{}", told[2]);
    assert_eq!(told[3]["reason"], "tool_call_limit_exceeded");
    let told = asked(&[("slow_stop", json!({})), ("slow_early", json!({})), ("slow_make", json!({}))]);
    assert_eq!((&told[0]["reason"], &told[0]["message"]), (&json!("tool_error"), &json!("no_stock: none")));
    assert_eq!(told[1], json!(7), "`return` ends the program of the export, and no more");
    assert!(
        told[2]["message"].as_str().unwrap().contains("`slow/make` returned something that is not data"),
        "{}",
        told[2]
    );
    let told = asked(&[("slow_large", json!({}))]);
    assert_eq!((&told[0]["status"], &told[0]["truncated"]), (&json!("ok"), &json!(true)));
    // An export reads the data of the mission, and its prints are for the host.
    let reply: Reply = calls(&[("a", "slow_tenant", json!({})), ("b", "slow_say", json!({}))]);
    let options = with(&Scripted::new([reply, "done".into()])).context(&json!({"tenant": "acme"})).unwrap();
    let step = run(&builder.build().unwrap(), &options).unwrap();
    assert_eq!(step.turns[0].prints, ["hello"]);
    assert_eq!(answers(&step.messages.unwrap())[0].1, json!("acme"));
}

#[test]
fn clashes_of_names_are_resolved_in_order() {
    let own = Tool::new("shop_gross", |_, _| Ok("own"));
    let agent = shop(text("Tax")).tool(own).build().unwrap();
    let model = Scripted::new([
        calls(&[("a", "shop_gross", json!({})), ("b", "shop_gross_2", json!({"net": 100}))]),
        "done".into(),
    ]);
    let options = with(&model).context(&json!({"shop_total": 1})).unwrap();
    let step = run(&agent, &options).unwrap();
    let names: Vec<String> = model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names, ["shop_gross", "shop_gross_2", "shop_total_2"]);
    let answers = answers(&step.messages.unwrap());
    assert_eq!((&answers[0].1, &answers[1].1), (&json!("own"), &json!(119.0)));
    let many: String = (0..200).map(|i| format!(" (defn f{i:03} [] {i})")).collect();
    let many = text("Tax").runtime_prelude(Some(library(&format!("(ns many){many}"))));
    let model = Scripted::new(["done"]);
    let step = run(&many.build().unwrap(), &with(&model)).unwrap();
    assert_eq!(model.requests()[0].tools.len(), 128);
    assert!(step.warnings[0].starts_with("72 exports of preludes are not offered"), "{:?}", step.warnings);
}

#[test]
fn firewalled_arguments_stay_firewalled_in_exports() {
    let source =
        "(ns a) (defn show [user] (str (:_mail user))) (defn keep [_mail] {:seen _mail :text (str _mail)})";
    let agent = text("Work").runtime_prelude(Some(library(source))).build().unwrap();
    let told = answered(
        &agent,
        &[
            ("a_show", json!({"user": {"_mail": "ann@example.org"}})),
            ("a_keep", json!({"_mail": "bob@example.org"})),
        ],
    );
    let text = format!("{told:?}");
    assert!(!text.contains("ann@") && !text.contains("bob@") && text.contains("<Firewalled>"), "{text}");
}

#[test]
fn exports_of_a_library_are_inherited_like_the_library_and_questions_have_none() {
    use ptc_agent::tools::{LlmRef, LlmTool};
    let asked = Scripted::new(["\"42\"", "\"done\""]);
    let question =
        LlmTool::new("Double {{n}}", "(n :int) -> :string").unwrap().llm(LlmRef::client(asked.clone()));
    let child = text("Say {{n}}")
        .signature("(n :int) -> :string")
        .llm(LlmRef::client(asked.clone()))
        .build()
        .unwrap();
    let inputs = ptc_runtime::PreludeInput::source("shop.clj", SHOP);
    let parent = Agent::builder().prompt("All").prelude_inputs(vec![inputs]);
    let parent = parent.tool(Tool::llm("ask", question)).tool(Tool::agent("child", child));
    let model = Scripted::new(["(tool/ask {:n 1})", "(tool/child {:n 1})", "(return 1)"]);
    run(&parent.build().unwrap(), &with(&model)).unwrap();
    let offered: Vec<usize> = asked.requests().iter().map(|request| request.tools.len()).collect();
    assert_eq!(offered, [0, 2]);
    // An agent that calls itself has each export once.
    let own = shop(text("Work {{n}}")).signature("(n :int) -> :any").tool(Tool::self_agent("again"));
    let model = Scripted::new([
        calls(&[("a", "again", json!({"n": 2}))]),
        calls(&[("b", "shop_gross", json!({"net": 100}))]),
        "inner".into(),
        "outer".into(),
    ]);
    let options = with(&model).context(&json!({"n": 1})).unwrap();
    let step = run(&own.output(Output::Text).build().unwrap(), &options).unwrap();
    assert_eq!(step.get::<String>().unwrap(), "outer");
    for request in model.requests() {
        let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["again", "shop_gross", "shop_total"]);
    }
}
