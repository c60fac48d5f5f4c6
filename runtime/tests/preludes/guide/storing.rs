//! Several sources, and the store: §8. Its statements on the REPL are tested in `cli/tests/cli/repl.rs`.

use super::super::authoring::authoring;
use super::super::common::*;
use ptc_runtime::{
    Attach, Grants, LoadOptions, Prelude, PreludeStore, STORE_TOOLS, Selection, Session, SourceOrigin,
    StoreLimits, StoreRef, Tools,
};
use serde_json::json;

#[test]
fn s8_several_sources_without_a_store() {
    let log = Selection::new("log", "(ns log) (defn size [] 1)").origin(SourceOrigin::Memory(None));
    let paged =
        Selection::new("paged", "(ns paged) (defn size [] 2)").origin(SourceOrigin::File("paged.clj".into()));
    for (selections, ids) in
        [([log.clone(), paged.clone()], ["log", "paged"]), ([paged.clone(), log.clone()], ["paged", "log"])]
    {
        let prelude = Prelude::compose(&runtime(), &selections).unwrap();
        let order: Vec<&str> = prelude.components().iter().map(|component| &*component.id).collect();
        assert_eq!(order, ids);
        let exports: Vec<String> = prelude.exports().iter().map(|export| export.reference()).collect();
        assert_eq!(exports, ids.map(|id| format!("{id}/size")));
    }
    let prelude = Prelude::compose(&runtime(), &[log.clone(), paged]).unwrap();
    let origins: Vec<Option<&str>> = prelude.components().iter().map(|c| c.origin.as_deref()).collect();
    assert_eq!(origins, [Some("memory"), Some("file:paged.clj")]);
    // It is an ordinary artifact: attached directly, or from its file.
    let read = Prelude::load(&runtime(), &prelude.to_bytes(), &LoadOptions::default()).unwrap();
    for prelude in [prelude, read] {
        let attached = runtime().attach(&prelude, &Attach::new()).unwrap();
        let both = attached.eval("[(log/size) (paged/size)]", &Grants::new()).unwrap();
        assert_eq!(both.print().unwrap(), "[1 2]");
    }
    let twice = Selection::new("again", "(ns other) (def x 1) (ns log) (def y 2)");
    let error = Prelude::compose(&runtime(), &[log, twice]).unwrap_err();
    assert_eq!(error.reason(), "invalid_namespace");
    assert!(error.message().contains("both `log` and `again` declare it"), "{error}");
}

const PAGED_1: &str = "(ns paged) (defn inspect [] 1)";
const PAGED_2: &str = "(ns paged) (defn inspect [] 2)";

/// Makes a store with two versions of `paged`.
fn two_versions() -> PreludeStore {
    let store = PreludeStore::new(&runtime());
    store.write("paged", PAGED_1, json!({})).unwrap();
    store.write("paged", PAGED_2, json!({"reason": "second", "internal": "s3cret"})).unwrap();
    store
}

#[test]
fn s8_a_store_of_versions() {
    let store = PreludeStore::new(&runtime());
    let v1 = store.write("paged", PAGED_1, json!({})).unwrap();
    let v2 = store.write("paged", PAGED_2, json!({})).unwrap();
    assert_eq!((v1.version, v2.version), (1, 2));
    let candidate = store.read(StoreRef::version("paged", v2.version)).unwrap();
    assert_eq!(candidate.compiled.exports()[0].reference(), "paged/inspect");
    let attached = runtime().attach(&candidate.compiled, &Attach::new()).unwrap();
    assert_eq!(attached.eval("(paged/inspect)", &Grants::new()).unwrap().print().unwrap(), "2");
    assert_eq!(store.read("paged").unwrap().version, 2);
    assert_eq!(store.read("paged@1").unwrap().version, 1);
    let asserted = StoreRef::version("paged", 1).checksum(&*v1.checksum);
    assert_eq!(&*store.read(asserted).unwrap().source, PAGED_1);
    let other = StoreRef::version("paged", 1).checksum(&*v2.checksum);
    assert_eq!(store.read(other).unwrap_err().reason(), "checksum_mismatch");
    // Choosing a version deletes none.
    store.set_default("paged@1", json!({"reason": "verifier preferred v1"})).unwrap();
    assert_eq!(store.read("paged").unwrap().version, 1);
    assert_eq!(&*store.read("paged@2").unwrap().source, PAGED_2);
    let rows = store.list().unwrap();
    assert_eq!((rows.len(), rows[0].current_version, rows[0].latest_version), (1, 1, 2));
    let history: Vec<(u64, bool)> =
        store.history("paged").unwrap().iter().map(|row| (row.version, row.current)).collect();
    assert_eq!(history, [(1, true), (2, false)]);
    // A source that does not compile is no version, so the next one is the third.
    assert_eq!(store.write("paged", "(ns paged", json!({})).unwrap_err().reason(), "prelude_compile_error");
    assert_eq!(store.write("paged", PAGED_1, json!({})).unwrap().version, 3);
    assert_eq!(store.read("paged").unwrap().version, 3);
}

#[test]
fn s8_retention_and_explicit_defaults() {
    let limits = StoreLimits { max_versions: 1, ..StoreLimits::default() };
    let store = PreludeStore::with_limits(&runtime(), limits).unwrap();
    store.write("paged", PAGED_1, json!({})).unwrap();
    store.set_default("paged@1", json!({})).unwrap();
    for _ in 0..3 {
        store.write("paged", PAGED_2, json!({})).unwrap();
    }
    let kept: Vec<u64> = store.history("paged").unwrap().iter().map(|row| row.version).collect();
    assert_eq!(kept, [1, 4]);
    assert_eq!(store.read("paged").unwrap().version, 4);
    assert_eq!(store.read("paged@2").unwrap_err().reason(), "not_found");
}

/// Stored text shown to models and ledgers is bounded, with only the documented metadata.
#[test]
fn s8_stored_text_is_an_untrusted_prompt_surface() {
    let store = two_versions();
    let view = store.read("paged").unwrap().public_view();
    assert_eq!(view["metadata"], json!({"reason": "second"}));
    assert_eq!(view["source_truncated"], json!(false));
    let long = format!("{PAGED_1} ; {}", "x".repeat(100_000));
    store.write("paged", &long, json!({"reason": {"nested": "s3cret"}, "created_by": "model"})).unwrap();
    let view = store.read("paged").unwrap().public_view();
    assert_eq!((&view["source_truncated"], &view["source_bytes"]), (&json!(true), &json!(long.len())));
    assert!(view["source"].as_str().unwrap().len() <= 64 << 10);
    assert_eq!(view["metadata"], json!({"created_by": "model"}));
    let tools = store.grant(Tools::new()).unwrap();
    let metadata = json!({"reason": "r", "internal": "s3cret"});
    let args = json!({"id": "paged", "source": long, "metadata": metadata});
    let kept = tools.recorded("prelude_store_write", args);
    assert_eq!(kept["metadata"], json!({"reason": "r"}));
    assert_eq!(
        kept["source"],
        json!({"redacted": true, "bytes": long.len(), "sha256": compiled(&long).source_hash()})
    );
    // Programs see no more than that, through any tool.
    let runtime = runtime().with_tools(tools).attach(&authoring(), &Attach::new()).unwrap();
    let all = "(str (prelude/list) (prelude/history \"paged\") (prelude/read \"paged@2\") (prelude/read \"paged\"))";
    let hidden = format!("(str/includes? {all} \"s3cret\")");
    for (program, wanted) in [
        ("(:metadata (prelude/read \"paged@2\"))", "{\"reason\" \"second\"}"),
        ("(:source_truncated (prelude/read \"paged\"))", "true"),
        ("(count (:source (prelude/read \"paged\")))", "65536"),
        (&*hidden, "false"),
        ("(str/includes? (str (prelude/list) (prelude/history \"paged\")) \"(defn\")", "false"),
    ] {
        assert_eq!(runtime.eval(program, &Grants::new()).unwrap().print().unwrap(), wanted, "{program}");
    }
    // A cut text is not mistaken for the whole source.
    let cut = runtime.eval("(prelude/source \"paged\")", &Grants::new()).unwrap_err();
    assert!(cut.diagnostic().message.contains("source_truncated"), "{cut}");
    // Versions they write have only the documented metadata, with bounded texts.
    let write = "(prelude/write {:id \"n\" :source \"(ns n) (def x 1)\"
                                :metadata {:reason (apply str (repeat 5000 \"r\")) :internal \"s3cret\" :created-by {:a 1}}})";
    runtime.eval(write, &Grants::new()).unwrap();
    let metadata = store.read("n").unwrap().metadata;
    assert_eq!(metadata.keys().collect::<Vec<_>>(), ["reason"]);
    assert!(metadata["reason"].as_str().unwrap().len() < 1_100);
}

#[test]
fn s8_the_authoring_namespace() {
    let store = two_versions();
    let tools = store.grant(Tools::new()).unwrap();
    let runtime = runtime().with_tools(tools.clone()).attach(&authoring(), &Attach::new()).unwrap();
    let checksum = store.read("paged@2").unwrap().checksum;
    let verified =
        format!("(:status (prelude/set-default {{:id \"paged\" :version 2 :checksum \"{checksum}\"}}))");
    for (program, wanted) in [
        ("(map :id (prelude/list))", "[\"paged\"]"),
        ("(map :version (prelude/history \"paged\"))", "[1 2]"),
        ("(:version (prelude/read \"paged@2\"))", "2"),
        ("(prelude/source \"paged\")", "\"(ns paged) (defn inspect [] 2)\""),
        (
            "(:version (prelude/write {:id \"paged\" :source \"(ns paged) (def profile 1)\" :metadata {:reason \"add profile\"}}))",
            "3",
        ),
        (&*verified, "\"ok\""),
        (
            "(:status (prelude/set-default {:id \"paged\" :version 1 :metadata {:reason \"rollback\"}}))",
            "\"ok\"",
        ),
        (
            "(:reason (prelude/set-default {:id \"paged\" :version 1 :checksum \"...\"}))",
            "\"checksum_mismatch\"",
        ),
    ] {
        let found = runtime.eval(program, &Grants::new()).unwrap();
        assert_eq!(found.print().unwrap(), wanted, "{program}");
    }
    assert_eq!(store.read("paged").unwrap().version, 1);
    assert_eq!(store.read("paged@3").unwrap().metadata["reason"], "add profile");
    // Its tools are for the shipped prelude only.
    for name in STORE_TOOLS {
        let failure = runtime.eval(&format!("(tool/{name} {{}})"), &Grants::new()).unwrap_err();
        assert_eq!(failure.reason(), "private_tool_unauthorized", "{name}");
    }
}

#[test]
fn s8_read_only_sessions_see_nothing_of_it() {
    let mut session =
        Session::builder(&runtime()).store(&two_versions()).preludes(["paged"]).start().unwrap();
    let failure = session.eval("(prelude/list)").unwrap_err();
    assert!(failure.diagnostic().message.starts_with("unknown namespace prelude/"), "{failure}");
    for name in STORE_TOOLS {
        assert_eq!(session.eval(&format!("(tool/{name} {{}})")).unwrap_err().reason(), "unknown_tool");
    }
    assert_eq!(session.eval("(some #{\"prelude\"} (all-ns))").unwrap().print().unwrap(), "nil");
    let found = session.eval("(apropos \"prelude store\" {:limit 50})").unwrap().print().unwrap();
    assert!(!found.contains("prelude/") && !found.contains("prelude_store"), "{found}");
}

/// Whatever happens to the store, even to the version itself, a session keeps the preludes it started with.
#[test]
fn s8_sessions_freeze_store_refs() {
    let limits = StoreLimits { max_versions: 1, ..StoreLimits::default() };
    let store = PreludeStore::with_limits(&runtime(), limits).unwrap();
    store.write("paged", PAGED_1, json!({})).unwrap();
    let started = || Session::builder(&runtime()).store(&store).preludes(["paged"]).start().unwrap();
    let inspect = |session: &mut Session| session.eval("(paged/inspect)").unwrap().print().unwrap();
    let mut session = started();
    store.write("paged", PAGED_2, json!({})).unwrap();
    assert_eq!(store.read("paged@1").unwrap_err().reason(), "not_found");
    assert_eq!(inspect(&mut session), "1");
    assert_eq!(inspect(&mut started()), "2");
    assert_eq!((session.frozen()[0].version, inspect(&mut session)), (1, "1".to_string()));
}

/// Being stored grants a prelude nothing: no tool that its run lacks, and none reserved for preludes of the host.
#[test]
fn s0_stored_preludes_mint_no_authority() {
    let store = PreludeStore::new(&runtime());
    store.write("pay", "(ns pay) (defn now [] (tool/pay {}))", json!({"grants": ["pay"]})).unwrap();
    let start =
        |tools: Tools| Session::builder(&runtime().with_tools(tools)).store(&store).preludes(["pay"]).start();
    let pay = || Tools::new().with("pay", |_| Ok(1));
    for tools in [Tools::new(), pay().private("pay", |_| Ok(())), pay().private_to("pay", "pay")] {
        assert_eq!(start(tools).err().unwrap().reason(), "prelude_attach_failed");
    }
    assert_eq!(start(pay()).unwrap().eval("(pay/now)").unwrap().print().unwrap(), "1");
}
