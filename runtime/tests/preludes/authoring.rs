//! The namespace `prelude/`, with which programs write preludes: one test per row of its table.

use super::common::*;
use ptc_runtime::{
    Attach, Failure, Grants, LoadOptions, Outcome, Prelude, PreludeStore, Runtime, STORE_TOOLS, Session,
    Step, Tools,
};
use serde_json::{Value, json};

/// Returns the shipped prelude.
pub fn authoring() -> Prelude {
    let options = LoadOptions { vouched: true, ..LoadOptions::default() };
    Prelude::load(&runtime(), ptc_preludes::prelude(), &options).unwrap()
}

/// Makes a store with two versions of `shop`.
fn filled() -> PreludeStore {
    let store = PreludeStore::new(&runtime());
    for n in [19, 7] {
        let metadata = json!({"reason": format!("rate {n}"), "secret": "s3cret"});
        store.write("shop", &format!("(ns shop) (def rate {n})"), metadata).unwrap();
    }
    store
}

fn attached_to(store: &PreludeStore) -> (Runtime, Tools) {
    let tools = store.grant(Tools::new()).unwrap();
    (runtime().with_tools(tools.clone()).attach(&authoring(), &Attach::new()).unwrap(), tools)
}

fn run(store: &PreludeStore, program: &str) -> Result<Outcome, Failure> {
    let (runtime, _) = attached_to(store);
    runtime.eval(program, &Grants::new())
}

fn answer(store: &PreludeStore, program: &str) -> Value {
    let outcome = run(store, program).unwrap_or_else(|failure| panic!("{program}\n{failure}"));
    serde_json::from_str(&outcome.json().unwrap()).unwrap()
}

#[test]
fn list_gives_rows_without_sources() {
    let store = filled();
    let rows = answer(&store, "(prelude/list)");
    assert_eq!(rows[0]["id"], "shop");
    assert_eq!((&rows[0]["current_version"], &rows[0]["latest_version"]), (&json!(2), &json!(2)));
    assert_eq!(rows[0]["metadata"], json!({"reason": "rate 7"}));
    assert!(rows[0].get("source").is_none());
    // Keys are strings, and keywords find them.
    let keys = run(&store, "(map keys (prelude/list))").unwrap().print().unwrap();
    assert!(!keys.contains(':'), "{keys}");
    assert_eq!(answer(&store, "(map :versions_count (prelude/list))"), json!([2]));
}

#[test]
fn history_gives_the_versions() {
    let store = filled();
    assert_eq!(answer(&store, "(map :version (prelude/history \"shop\"))"), json!([1, 2]));
    assert_eq!(answer(&store, "(map :current (prelude/history \"shop\"))"), json!([false, true]));
    let refused = answer(&store, "(prelude/history \"nope\")");
    assert_eq!((&refused["status"], &refused["reason"]), (&json!("error"), &json!("not_found")));
}

#[test]
fn read_gives_a_bounded_view() {
    let store = filled();
    let view = answer(&store, "(prelude/read \"shop@1\")");
    assert_eq!((&view["status"], &view["source"]), (&json!("ok"), &json!("(ns shop) (def rate 19)")));
    assert_eq!((&view["source_bytes"], &view["source_truncated"]), (&json!(23), &json!(false)));
    assert!(!view.to_string().contains("s3cret"));
    let checksum = view["checksum"].as_str().unwrap();
    let exact = format!("(:version (prelude/read {{:id \"shop\" :version 1 :checksum \"{checksum}\"}}))");
    assert_eq!(answer(&store, &exact), json!(1));
    let wrong = answer(&store, "(prelude/read {:id \"shop\" :version 1 :checksum \"00\"})");
    assert_eq!((&wrong["reason"], &wrong["actual"]), (&json!("checksum_mismatch"), &json!(checksum)));
    assert_eq!(answer(&store, "(:reason (prelude/read \"shop@x\"))"), json!("invalid_ref"));
    let long = format!("(ns long) ;{}", "x".repeat(70_000));
    store.write("long", &long, json!({})).unwrap();
    let view = answer(&store, "(prelude/read \"long\")");
    assert_eq!((&view["source_truncated"], &view["source_bytes"]), (&json!(true), &json!(long.len())));
    assert_eq!(view["source"].as_str().unwrap().len(), 64 << 10);
}

#[test]
fn source_gives_all_of_it_or_fails() {
    let store = filled();
    assert_eq!(answer(&store, "(prelude/source \"shop\")"), json!("(ns shop) (def rate 7)"));
    let failure = run(&store, "(prelude/source \"shop@9\")").unwrap_err();
    assert_eq!(failure.reason(), "fail");
    assert!(failure.to_string().contains("not_found"), "{failure}");
    store.write("long", &format!("(ns long) ;{}", "x".repeat(70_000)), json!({})).unwrap();
    let failure = run(&store, "(prelude/source \"long\")").unwrap_err();
    assert!(failure.to_string().contains("source_truncated"), "{failure}");
}

#[test]
fn write_stores_a_version_or_says_why_not() {
    let store = filled();
    let written = answer(
        &store,
        r#"(prelude/write {:id "paged" :source "(ns paged) (def size 5)"
                           :metadata {:reason "add size" :created_by {:name "x"} :other 1 :parent-version 3}})"#,
    );
    assert_eq!((&written["status"], &written["version"]), (&json!("ok"), &json!(1)));
    assert_eq!(written["exports"], json!(["paged/size"]));
    // Only public names with plain values are kept.
    assert_eq!(
        store.read("paged").unwrap().metadata,
        *json!({"reason": "add size", "parent_version": 3}).as_object().unwrap()
    );
    let refused = answer(&store, r#"(prelude/write {:id "paged" :source "(ns paged) (def x (nope))"})"#);
    assert_eq!((&refused["status"], &refused["reason"]), (&json!("error"), &json!("prelude_compile_error")));
    assert!(refused["message"].as_str().unwrap().contains("nope"));
    let stale = r#"(prelude/write {:id "shop" :source "(ns shop)" :metadata {:parent_checksum "00"}})"#;
    assert_eq!(answer(&store, stale)["reason"], "stale_base");
    let taken = r#"(:reason (prelude/write {:id "prelude" :source "(ns prelude)"}))"#;
    assert_eq!(answer(&store, taken), json!("prelude_namespace_violation"));
    let long = format!(r#"(prelude/write {{:id "a" :source "(ns a) (defn f [] ({}))"}})"#, "x".repeat(3_000));
    let message = answer(&store, &long)["message"].as_str().unwrap().to_string();
    assert!(message.len() <= 1_024, "{} bytes", message.len());
}

#[test]
fn set_default_chooses_a_version() {
    let store = filled();
    let checksum = store.read("shop@1").unwrap().checksum;
    let chosen = answer(
        &store,
        &format!(
            r#"(prelude/set-default {{:id "shop" :version 1 :checksum "{checksum}" :metadata {{:reason "rollback"}}}})"#
        ),
    );
    assert_eq!((&chosen["status"], &chosen["version"]), (&json!("ok"), &json!(1)));
    assert_eq!(store.read("shop").unwrap().version, 1);
    assert_eq!(store.list().unwrap()[0].default_metadata.as_ref().unwrap()["reason"], "rollback");
    let wrong = answer(&store, r#"(prelude/set-default {:id "shop" :version 2 :checksum "00"})"#);
    assert_eq!(wrong["reason"], "checksum_mismatch");
    assert_eq!(
        answer(&store, r#"(:reason (prelude/set-default {:id "shop" :version 9}))"#),
        json!("not_found")
    );
}

#[test]
fn arguments_of_the_wrong_shape_are_a_fault() {
    let store = filled();
    for program in [
        "(prelude/history 1)",
        "(prelude/read nil)",
        "(prelude/read {:version 1})",
        "(prelude/write {:id \"a\"})",
        "(prelude/write {:id \"a\" :source 1})",
        "(prelude/write {:id \"a\" :source \"(ns a)\" :metadata 1})",
        "(prelude/write {:id \"a\" :source \"(ns a)\" :meta {}})",
        "(prelude/set-default {:id \"shop\"})",
        "(prelude/set-default {:id \"shop\" :version -1})",
        "(prelude/set-default {:id \"shop\" :version \"1\"})",
    ] {
        let failure = run(&store, program).expect_err(program);
        assert_eq!(failure.reason(), "private_tool_args_error", "{program}: {failure}");
    }
    assert_eq!(run(&store, "(prelude/write 1)").unwrap_err().reason(), "invalid_tool_args");
}

#[test]
fn the_exports_say_what_they_do() {
    let effects: Vec<(String, &str)> =
        authoring().exports().iter().map(|export| (export.symbol.clone(), export.effect.name())).collect();
    let wanted = [
        ("list", "read"),
        ("history", "read"),
        ("read", "read"),
        ("source", "read"),
        ("write", "write"),
        ("set-default", "write"),
    ];
    assert_eq!(effects.iter().map(|(name, effect)| (&**name, *effect)).collect::<Vec<_>>(), wanted);
    assert_eq!(authoring().export("prelude/source").unwrap().tool_refs, ["prelude_store_read"]);
}

#[test]
fn programs_cannot_reach_the_tools_themselves() {
    let store = filled();
    for name in STORE_TOOLS {
        let failure = run(&store, &format!("(println 1) (tool/{name} {{}})")).unwrap_err();
        assert_eq!(failure.reason(), "private_tool_unauthorized", "{failure}");
        assert!(failure.prints.is_empty());
    }
    assert_eq!(
        run(&store, "(filter #(str/includes? % \"prelude_store\") (apropos \"store\"))")
            .unwrap()
            .print()
            .unwrap(),
        "[]"
    );
}

#[test]
fn without_the_grant_there_is_no_namespace() {
    let failure = runtime().attach(&authoring(), &Attach::new()).err().unwrap();
    assert_eq!(failure.reason(), "prelude_attach_failed");
    let mut session = Session::builder(&runtime()).store(&filled()).preludes(["shop"]).start().unwrap();
    let failure = session.eval("(prelude/list)").unwrap_err();
    assert!(failure.diagnostic().message.starts_with("unknown namespace prelude/"), "{failure}");
}

#[test]
fn the_names_of_the_tools_are_reserved() {
    for name in STORE_TOOLS {
        let own = Tools::new().with(name, |_| Ok(1));
        let error = filled().grant(own.clone()).unwrap_err();
        assert_eq!(error.reason(), "invalid_tool");
        assert!(error.message.contains(name), "{error}");
        let started =
            Session::builder(&runtime().with_tools(own)).store(&filled()).write_capable(&authoring()).start();
        assert_eq!(started.err().unwrap().reason(), "invalid_tool");
    }
}

#[test]
fn ledgers_keep_no_source() {
    let store = filled();
    let (runtime, tools) = attached_to(&store);
    let source = "(ns shop) (def rate 3)";
    let program = format!(
        r#"(prelude/write {{:id "shop" :source "{source}" :metadata {{:reason "r" :secret "s3cret"}}}})"#
    );
    let program = runtime.compile(&program).unwrap();
    let mut run = runtime.start(&program).unwrap();
    let Step::NeedsTools(calls) = run.step() else { panic!("a call") };
    assert_eq!(calls[0].origin.as_deref(), Some("prelude/write"));
    let args = ptc_runtime::bridge::datum_to_json(&calls[0].args).unwrap();
    let kept = tools.recorded(&calls[0].name, args);
    assert_eq!(
        kept["source"],
        json!({"redacted": true, "bytes": source.len(), "sha256": compiled(source).source_hash()})
    );
    assert_eq!(kept["metadata"], json!({"reason": "r"}));
    let view = store.read("shop").unwrap().public_view();
    assert_eq!(tools.recorded("prelude_store_read", view)["source"]["bytes"], 22);
}

#[test]
fn sessions_that_may_write() {
    let store = filled();
    let runtime = runtime().with_tools(Tools::new().with("price", |_| Ok(100)));
    let mut session = Session::builder(&runtime)
        .store(&store)
        .preludes(["shop@1"])
        .write_capable(&authoring())
        .start()
        .unwrap();
    // Both preludes are there, and the host's own tools too.
    let total = session.eval("(+ (tool/price {}) shop/rate)").unwrap();
    assert_eq!(total.print().unwrap(), "119");
    let program = r#"(def new (str/replace (prelude/source "shop") "7" "8"))
        (:version (prelude/write {:id "shop" :source new :metadata {:reason "up"}}))"#;
    assert_eq!(session.eval(program).unwrap().print().unwrap(), "3");
    // The session keeps the version it started with.
    assert_eq!(session.eval("shop/rate").unwrap().print().unwrap(), "19");
    assert_eq!(store.read("shop").unwrap().version, 3);
    assert!(session.eval("(source prelude/write)").unwrap().prints[0].contains("(defn write"));
}
