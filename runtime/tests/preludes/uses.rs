//! Preludes that use preludes: the names they may use, their reach through each other, and refusals.

use super::common::*;
use ptc_bytecode::{Op, PreludeFile, decode_prelude, encode_prelude, used_as};
use ptc_runtime::{
    Attach, CompileOptions, Datum, Effects, ExportRecord, Frozen, Grants, Inventory, Keep, LoadOptions, Node,
    Prelude, PreludeError, Runtime, Selection, Step, Tools,
};

const CUSTOMERS: &str = "(ns crm \"Customers.\") (def size 50)
    (defn- raw [id] (tool/call {:server \"crm\" :tool \"get\" :args {:id id}}))
    (defn find \"One customer.\" [id] (:value (raw id)))
    (defn remove [id] (tool/remove {:id id}))
    (defn tag [id] (str \"c\" id))";
const BILLING: &str = "(ns billing \"Invoices.\" (:require [crm :as c] [clojure.string :as s]))
    (defn due \"What one owes.\" [id] (s/upper-case (str (:args (c/find id)) \"/\" crm/size)))
    (defn close [id] (c/remove id))
    (defn label [id] (c/tag id))";

fn using(source: &str, uses: &[Prelude]) -> Result<Prelude, PreludeError> {
    Prelude::compile_with(&runtime(), source, &CompileOptions { uses, ..CompileOptions::default() })
}

fn crm() -> Prelude {
    compiled(CUSTOMERS).with_origin("crm.ptcp")
}

fn billing() -> Prelude {
    using(BILLING, &[crm()]).unwrap_or_else(|error| panic!("{error}")).with_origin("billing.ptcp")
}

fn again(prelude: &Prelude) -> Prelude {
    let origin = prelude.origin().unwrap_or("x").to_string();
    Prelude::load(&runtime(), &prelude.to_bytes(), &LoadOptions::default()).unwrap().with_origin(origin)
}

fn granted() -> Runtime {
    runtime().with_tools(stub().with("remove", |_| Ok(true)))
}

fn both() -> Runtime {
    granted()
        .attach(&again(&crm()), &Attach::new())
        .unwrap()
        .attach(&again(&billing()), &Attach::new())
        .unwrap()
}

fn print(runtime: &Runtime, program: &str) -> String {
    let outcome = runtime.eval(program, &Grants::new());
    outcome.unwrap_or_else(|failure| panic!("{program}\n{failure}")).print().unwrap()
}

fn refusal(runtime: &Runtime, prelude: &Prelude) -> (&'static str, String) {
    let failure = runtime.attach(prelude, &Attach::new()).err().expect("it is refused");
    (failure.reason(), failure.diagnostic().message.clone())
}

#[test]
fn a_prelude_calls_exports_of_another_by_alias_and_in_full() {
    let runtime = both();
    assert_eq!(print(&runtime, "(billing/due 7)"), "\"{\\\"ID\\\" 7}/50\"");
    assert_eq!(print(&runtime, "[(billing/label 3) (map billing/label [1 2])]"), "[\"c3\" [\"c1\" \"c2\"]]");
    // Exports used as values survive branches, saved runs and sessions.
    assert_eq!(print(&runtime, "(pmap billing/label [1 2])"), "[\"c1\" \"c2\"]");
    let mut session = runtime.session();
    session.eval("(def f billing/label)").unwrap();
    assert_eq!(session.eval("(f 9)").unwrap().print().unwrap(), "\"c9\"");
}

#[test]
fn a_saved_run_goes_on_in_the_middle_of_both() {
    let runtime = both();
    let program = runtime.compile("(billing/due 7)").unwrap();
    let mut run = runtime.start(&program).unwrap();
    let Step::NeedsTools(calls) = run.step() else { panic!("it waits") };
    assert_eq!(calls[0].origin.as_deref(), Some("crm/find"));
    let bytes = run.snapshot().unwrap();
    let mut run = both().load(&bytes, &Grants::new()).unwrap();
    let Step::NeedsTools(calls) = run.step() else { panic!("it still waits") };
    run.resume(&calls[0].id, &serde_json::json!({"value": {"args": "x"}})).unwrap();
    assert_eq!(run.finish().unwrap().print().unwrap(), "\"X/50\"");
}

#[test]
fn files_tell_what_they_use_and_come_out_the_same() {
    let prelude = billing();
    let used = prelude.uses();
    assert_eq!(used.len(), 1);
    assert_eq!(used[0].namespace, "crm");
    assert_eq!(used[0].interface_hash, crm().manifest().hash_of_namespace("crm"));
    assert_eq!(used[0].artifact_hash, crm().manifest().artifact_hash());
    assert_eq!(prelude.used_by("billing/due").collect::<Vec<_>>(), ["crm/find", "crm/size"]);
    let loaded = again(&prelude);
    assert_eq!((loaded.uses(), loaded.to_bytes()), (used, prelude.to_bytes()));
    let rebuilt = loaded.rebuilt(&runtime(), &[crm()]).unwrap().unwrap();
    assert_eq!(rebuilt.to_bytes(), prelude.to_bytes());
    assert!(loaded.rebuilt(&runtime(), &[]).unwrap().is_err());
    // With another build of the used prelude, it is another artifact with the same code.
    let other = using(BILLING, &[compiled(&CUSTOMERS.replace("\"c\"", "\"customer \""))]).unwrap();
    assert_ne!(other.artifact_hash(), prelude.artifact_hash());
    assert_eq!(other.manifest().code_hash, prelude.manifest().code_hash);
}

#[test]
fn one_that_is_missing_is_named_with_who_needs_it() {
    let (reason, message) = refusal(&granted(), &billing());
    assert_eq!(reason, "prelude_attach_failed");
    assert!(
        message.contains("`billing.ptcp` uses the namespace `crm`, which no attached prelude declares"),
        "{message}"
    );
}

#[test]
fn another_interface_is_refused_and_another_body_is_not() {
    let attach = |source: &str| {
        granted().attach(&compiled(source).with_origin("new/crm.ptcp"), &Attach::new()).unwrap()
    };
    let short = |prelude: &Prelude| {
        let hash = prelude.manifest().hash_of_namespace("crm");
        ptc_bytecode::hex(&hash)[..12].to_string()
    };
    // One export removed, with other parameters, with another effect, or one added.
    let changed = [
        CUSTOMERS.replace("(defn tag [id]", "(defn- tag [id]"),
        CUSTOMERS.replace("(defn tag [id]", "(defn tag [id more]"),
        CUSTOMERS.replace("(defn tag [id]", "(defn tag {:effect :write} [id]"),
        CUSTOMERS.replace("(defn tag", "(def tag2 1) (defn tag"),
    ];
    for (i, source) in changed.iter().enumerate() {
        let (reason, message) = refusal(&attach(source), &billing());
        assert_eq!(reason, "interface_changed", "{message}");
        for part in ["`billing.ptcp`", "`new/crm.ptcp`", &short(&crm()), &short(&compiled(source))] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert_eq!(message.contains("it lacks crm/tag"), i == 0, "{message}");
    }
    // Docs, order and bodies are not part of the interface.
    for source in [CUSTOMERS.replace("One customer.", "Finds one."), CUSTOMERS.replace("\"c\"", "\"d\"")] {
        assert!(attach(&source).attach(&billing(), &Attach::new()).is_ok());
    }
}

#[test]
fn what_is_reached_through_another_counts() {
    let runtime = both();
    let export = |name: &str| runtime.prelude_of(name).unwrap().export(name).unwrap().clone();
    assert_eq!(export("billing/due").requires, ["upstream:crm/get"]);
    assert_eq!(export("billing/close").requires, ["tool:remove"]);
    assert_eq!(runtime.export_effect("billing/label"), Some(Effects::Pure));
    assert_eq!(runtime.export_effect("billing/close"), Some(Effects::Unknown));
    let trace = runtime.prelude_trace().unwrap();
    let told = trace.exports.iter().find(|export| export.reference == "billing/close").unwrap();
    assert_eq!((told.effect, &told.requires[..]), ("unknown", &["tool:remove".to_string()][..]));
    let inventory = runtime.inventory(Inventory::default()).unwrap();
    assert!(inventory.contains("billing/due (due id) [unknown] - What one owes."), "{inventory}");
    assert!(inventory.contains("billing/label (label id) [pure]"), "{inventory}");
    assert_eq!(print(&runtime, "(:requires (meta 'billing/close))"), "[\"tool:remove\"]");

    // Known effects of tools are passed on, and decide.
    let tools =
        stub().effect("call", Effects::Read).with("remove", |_| Ok(true)).effect("remove", Effects::Write);
    let known = super::common::runtime().with_tools(tools).attach(&crm(), &Attach::new()).unwrap();
    let hiding = known.attach(&billing(), &Attach::new().hide_writes(true)).unwrap();
    assert_eq!(hiding.export_effect("billing/close"), None);
    assert_eq!(
        known.attach(&billing(), &Attach::new()).unwrap().export_effect("billing/close"),
        Some(Effects::Write)
    );
    // A call that could go anywhere counts as well.
    let any = compiled("(ns any) (defn go [s t] (tool/call {:server s :tool t}))");
    let via =
        using("(ns via (:require [any])) (defn go [] (any/go \"a\" \"b\"))", std::slice::from_ref(&any))
            .unwrap();
    let runtime = granted().attach(&any, &Attach::new()).unwrap();
    let failure = runtime.attach(&via, &Attach::new().deny_dynamic(true)).err().unwrap();
    assert!(failure.diagnostic().message.contains("via/go may call any upstream operation"), "{failure}");
}

#[test]
fn an_author_cannot_call_pure_what_reaches_a_tool_elsewhere() {
    let source = "(ns b (:require [crm])) (defn f {:effect :pure} [id] (crm/remove id))";
    let error = using(source, &[crm()]).unwrap_err();
    assert_eq!(error.reason(), "invalid_metadata");
    assert!(error.message().contains("b/f says :effect :pure, but it calls crm/remove"), "{error}");
}

#[test]
fn a_private_tool_stays_with_its_prelude() {
    let tools = Tools::new().with("secret", |_| Ok("42")).private_to("secret", "vault");
    let vault = compiled("(ns vault) (defn told [] (tool/secret {}))");
    let runtime = runtime().with_tools(tools).attach(&vault, &Attach::new()).unwrap();
    // Through the export that has the authority, and in no other way.
    let through =
        using("(ns up (:require [vault])) (defn told [] (vault/told))", std::slice::from_ref(&vault))
            .unwrap();
    let attached = runtime.attach(&through, &Attach::new()).unwrap();
    assert_eq!(print(&attached, "(up/told)"), "\"42\"");
    let thief = "(ns up (:require [vault])) (defn told [] (vault/told) (tool/secret {}))";
    let (_, message) = refusal(&runtime, &using(thief, std::slice::from_ref(&vault)).unwrap());
    assert!(
        message.contains("up/told requires granted tool `secret`, which is reserved for other preludes"),
        "{message}"
    );
}

#[test]
fn a_function_that_is_handed_to_another_prelude_acts_for_its_own() {
    let paged = Prelude::load(&runtime(), ptc_preludes::paged(), &LoadOptions::default()).unwrap();
    let source = "(ns orders (:require [paged :as p]))
        (defn all [] (p/collect (fn [cursor] (tool/page {:cursor cursor}))))
        (defn made [] (fn [cursor] (tool/page {:cursor cursor})))";
    let orders = using(source, std::slice::from_ref(&paged)).unwrap();
    let page = |_: ptc_runtime::ToolArgs| Ok(serde_json::json!({"items": [1, 2], "next": null}));
    let tools = Tools::new().with("page", page).private_to("page", "orders");
    let runtime = runtime().with_tools(tools).attach(&paged, &Attach::new()).unwrap();
    let runtime = runtime.attach(&orders, &Attach::new()).unwrap();
    assert_eq!(print(&runtime, "(orders/all)"), "[1 2]");
    // A program does not act on its behalf.
    for program in ["((orders/made) nil)", "(paged/collect (orders/made))"] {
        assert!(runtime.eval(program, &Grants::new()).is_err(), "{program}");
    }
}

#[test]
fn a_host_may_hide_what_another_prelude_builds_on() {
    let hide = |_: &ExportRecord| Keep::Hide;
    let runtime = granted().attach(&crm(), &Attach::new().narrow(&hide)).unwrap();
    let runtime = runtime.attach(&billing(), &Attach::new()).unwrap();
    assert_eq!(print(&runtime, "(billing/label 1)"), "\"c1\"");
    assert!(runtime.eval("(crm/tag 1)", &Grants::new()).is_err());
}

#[test]
fn nothing_a_session_defines_takes_the_place_of_what_is_used() {
    let runtime = both();
    let mut session = runtime.session();
    let one = Datum::scalar(Node::Int(1));
    session.define(used_as("crm/tag"), Frozen::from_datum(&one).unwrap());
    assert_eq!(session.eval("(billing/label 1)").unwrap().print().unwrap(), "\"c1\"");
}

#[test]
fn namespaces_of_one_source_and_of_a_bundle_use_each_other() {
    let source = "(ns b (:require [a])) (defn two [] (inc (a/one))) (ns a) (def n 1) (defn one [] n)";
    assert_eq!(value(source, "(b/two)"), "2");
    assert!(compiled(source).uses().is_empty());
    let parts = [Selection::new("billing", BILLING), Selection::new("crm", CUSTOMERS)];
    let bundle = Prelude::compose(&runtime(), &parts).unwrap();
    assert_eq!(bundle.components()[0].id, "billing");
    assert!(bundle.uses().is_empty());
    let runtime = granted().attach(&again(&bundle), &Attach::new()).unwrap();
    assert_eq!(print(&runtime, "(billing/label 3)"), "\"c3\"");
    assert_eq!(
        runtime.prelude_of("billing/close").unwrap().export("billing/close").unwrap().requires,
        ["tool:remove"]
    );
    assert_eq!(
        bundle.rebuilt(&super::common::runtime(), &[]).unwrap().unwrap().to_bytes(),
        bundle.to_bytes()
    );
}

#[test]
fn three_deep_and_what_lies_between_need_not_be_named() {
    let base = compiled("(ns base) (defn get [id] (tool/get {:id id}))");
    let crm = using("(ns crm (:require [base])) (defn find [id] (base/get id))", std::slice::from_ref(&base))
        .unwrap();
    let top = using("(ns top (:require [crm])) (defn show [id] (crm/find id))", std::slice::from_ref(&crm))
        .unwrap();
    let tools = Tools::new().with("get", |_| Ok(5)).effect("get", Effects::Read);
    let attach = |runtime: Runtime, prelude: &Prelude| runtime.attach(prelude, &Attach::new());
    let sorted = Prelude::in_order(vec![top, crm, base]).unwrap();
    let runtime = sorted.iter().try_fold(runtime().with_tools(tools), attach).unwrap();
    assert_eq!(print(&runtime, "(top/show 1)"), "5");
    assert_eq!(runtime.export_effect("top/show"), Some(Effects::Read));
    assert_eq!(runtime.prelude_of("top/show").unwrap().export("top/show").unwrap().requires, ["tool:get"]);
}

#[test]
fn sources_that_name_what_is_not_there_are_refused() {
    let error = |source: &str| {
        let error = using(source, &[crm()]).expect_err(source);
        (error.reason(), error.message().to_string())
    };
    for (source, reason, part) in [
        ("(ns b (:require [crn])) (def x 1)", "invalid_namespace", "`b` requires the namespace `crn`"),
        (
            "(ns b (:require [crm :as c])) (defn f [] (c/nope))",
            "compile_error",
            "`crm/nope` is not an export of `crm`",
        ),
        (
            "(ns b (:require [crm :as c])) (defn f [] (c/tag))",
            "compile_error",
            "`crm/tag` expects 1 argument(s), got 0",
        ),
        ("(ns b) (defn f [] (crm/tag 1))", "compile_error", "crm/tag"),
        ("(ns b (:require [crm])) (defn f [] (crm/raw 1))", "compile_error", "`crm/raw` is not an export"),
        ("(ns b (:require [crm :only x])) (def x 1)", "invalid_namespace", "only `:as` and `:refer`"),
        (
            "(ns b (:require [crm])) (def x (crm/tag 1))",
            "impure_constant",
            "the constant b/x uses another namespace",
        ),
        ("(ns a (:require [b])) (ns b (:require [a]))", "invalid_namespace", "in a circle: a, b"),
        ("(ns a (:require [a]))", "invalid_namespace", "in a circle: a"),
        ("(ns a) (defn f [] 1) (ns b) (defn g [] (a/f))", "compile_error", "which `b` does not require"),
    ] {
        let (found, message) = error(source);
        assert_eq!(found, reason, "{source}: {message}");
        assert!(message.contains(part), "{source}: {message}");
    }
    let hint = using("(ns b (:require [crn]))", &[crm()]).unwrap_err().diagnostic().hint.clone();
    assert!(hint.unwrap().contains("-p crn.clj"));
    let refer = "(ns b (:require [crm :refer [tag]])) (defn f [id] (tag id)) (defn g [] (map tag [1]))";
    assert!(using(refer, &[crm()]).is_ok());
}

#[test]
fn a_circle_of_sources_names_them() {
    let parts = [
        Selection::new("a.clj", "(ns a (:require [b])) (defn f [] (b/f))"),
        Selection::new("b.clj", "(ns b (:require [a])) (defn f [] (a/f))"),
    ];
    let error = Prelude::compose(&runtime(), &parts).unwrap_err();
    assert!(error.message().contains("in a circle: `a.clj` → `b.clj` → `a.clj`"), "{error}");
}

/// Makes a file with one false claim and hashes that fit its content.
fn forged(lie: impl FnOnce(&mut PreludeFile)) -> Result<Prelude, ptc_runtime::Diagnostic> {
    let mut file = decode_prelude(&billing().to_bytes()).unwrap();
    lie(&mut file);
    Prelude::load(&runtime(), &encode_prelude(&file.sealed()), &LoadOptions::default())
}

#[test]
fn files_that_lie_about_what_they_use_are_refused() {
    let refused = |lie: fn(&mut PreludeFile)| {
        let problem = forged(lie).expect_err("it is refused");
        (problem.code.reason(), problem.message)
    };
    let bad = |lie: fn(&mut PreludeFile), part: &str| {
        let (reason, message) = refused(lie);
        assert_eq!(reason, "bad_export", "{message}");
        assert!(message.contains(part), "{message}");
    };
    bad(|file| file.manifest.uses.clear(), "other namespaces than its code uses");
    bad(|file| file.manifest.uses[0].namespace = "other".into(), "other namespaces than its code uses");
    bad(
        |file| {
            let more = file.manifest.uses[0].clone();
            file.manifest.uses.push(more);
        },
        "other namespaces than its code uses",
    );
    bad(|file| file.artifact.defs[0] = "crm/find".into(), "which is not an export of a prelude");
    bad(|file| file.artifact.defs[0] = used_as("tool/find").into(), "which is not an export of a prelude");
    bad(|file| file.artifact.defs[0] = used_as("billing/none").into(), "which it does not export");
    bad(|file| file.artifact.defs[1] = file.artifact.defs[0].clone(), "twice");
    bad(
        |file| {
            let ops = file.artifact.blocks.iter_mut().flat_map(|block| &mut block.ops);
            for op in ops {
                if let Op::GetDef { dst, def } = *op {
                    *op = Op::HasDef { dst, def };
                }
            }
        },
        "something else",
    );
}

#[test]
fn a_forged_file_gains_nothing_where_it_is_attached() {
    let runtime = granted().attach(&crm(), &Attach::new()).unwrap();
    // An export that the real prelude lacks, under its real interface.
    let lie = |file: &mut PreludeFile| {
        let at = file.artifact.defs.iter().position(|name| **name == *used_as("crm/tag")).unwrap();
        file.artifact.defs[at] = used_as("crm/raw").into();
    };
    let (reason, message) = refusal(&runtime, &forged(lie).unwrap());
    assert_eq!(reason, "prelude_attach_failed");
    assert!(message.contains("`crm/raw`, which no attached prelude exports"), "{message}");
    // Exports that claim to be pure.
    let lie = |file: &mut PreludeFile| {
        file.manifest.exports.iter_mut().for_each(|export| export.effect = Effects::Pure);
    };
    let (reason, message) = refusal(&runtime, &forged(lie).unwrap());
    assert_eq!(reason, "authority_mismatch");
    assert!(message.contains("says that it is pure, but it reaches tools through crm/"), "{message}");
    // The interface hash of another prelude than it was compiled for.
    let lie = |file: &mut PreludeFile| file.manifest.uses[0].interface_hash = [7; 32];
    assert_eq!(refusal(&runtime, &forged(lie).unwrap()).0, "interface_changed");
    // Two preludes that use each other can never be attached.
    let a = using("(ns a (:require [b])) (defn f [] (b/f))", &[compiled("(ns b) (defn f [] 1)")]).unwrap();
    let b = using("(ns b (:require [a])) (defn f [] (a/f))", &[compiled("(ns a) (defn f [] 1)")]).unwrap();
    assert_eq!(refusal(&granted(), &a).0, "prelude_attach_failed");
    assert_eq!(refusal(&granted(), &b).0, "prelude_attach_failed");
    let circle = Prelude::in_order(vec![a.with_origin("a.ptcp"), b.with_origin("b.ptcp")]).unwrap_err();
    assert!(circle.message.contains("in a circle: `a.ptcp` → `b.ptcp` → `a.ptcp`"), "{circle}");
}
