//! Discovery of exports, attaching, and traces: §§6, 7 and 9.

use super::super::common::*;
use ptc_runtime::{
    Attach, Catalog, Datum, Entry, Grants, Known, LoadOptions, Lookup, Node, Origin, Prelude, Selection,
    SourceOrigin, Tools, Upstream,
};
use std::sync::Arc;

#[test]
fn s6_discovery_forms() {
    assert_eq!(value(CRM, "(filter #(= % \"crm\") (all-ns))"), "[\"crm\"]");
    assert_eq!(value(CRM, "(= (all-ns) (sort (distinct (all-ns))))"), "true");
    // A namespace is given as a quoted symbol or a text.
    for form in ["ns-name", "ns-publics", "dir", "doc", "meta"] {
        assert_eq!(value(CRM, &format!("(= ({form} 'crm) ({form} \"crm\"))")), "true", "{form}");
    }
    assert_eq!(value(CRM, "(ns-name 'crm)"), "\"crm\"");
    assert_eq!(
        value(CRM, "(ns-publics 'crm)"),
        "{\"get-user\" {:source \"prelude\" :name \"get-user\" :doc \"Return a CRM user by id.\" :arity 1 :arglists [\"[id]\"] \
         :visibility \"prompt\" :effect \"unknown\"} \
         \"get-user!\" {:source \"prelude\" :name \"get-user!\" :doc \"Return a CRM user, or abort the program.\" :arity 1 \
         :arglists [\"[id]\"] :visibility \"prompt\" :effect \"unknown\"} \
         \"list-users\" {:source \"prelude\" :name \"list-users\" :doc \"List CRM users.\" :arity 0 :arglists [\"[]\"] \
         :visibility \"discoverable\" :effect \"unknown\"} \
         \"page-size\" {:source \"prelude\" :name \"page-size\" :doc nil :arity 0 :arglists [] \
         :visibility \"prompt\" :effect \"pure\"}}"
    );
    assert_eq!(
        value(CRM, "(dir 'crm {:limit 2 :offset 1})"),
        "[\"(get-user! id) - Return a CRM user, or abort the program.\" \"(list-users) - List CRM users.\"]"
    );
    assert_eq!(
        value(CRM, "(doc 'crm/get-user)"),
        "\"crm/get-user\\nDescription: Return a CRM user by id.\\nKind: function\\nNamespace: crm\\nSignature: (get-user id)\\nEffect: unknown\""
    );
    assert_eq!(
        value(CRM, "(select-keys (meta 'crm/get-user) [:arity :effect :provider_ref :requires :visibility])"),
        "{:arity 1 :effect \"unknown\" :provider_ref \"upstream:crm/get_user\" :requires [\"upstream:crm/get_user\"] :visibility \"prompt\"}"
    );
    assert_eq!(
        value(CRM, "(first (apropos \"get user\"))"),
        "\"prelude: crm/get-user - Return a CRM user by id.\""
    );
}

/// A server named like the prelude's namespace, with a tool named like an export.
struct Namesake;

fn namesake() -> Entry {
    let mut entry = Entry::new(Origin::Upstream, "tool", "crm", "get-user", "Of the server.");
    entry.reference = "crm/get-user".into();
    entry.with_words("crm get-user user", "Of the server.")
}

impl Upstream for Namesake {
    fn operation(&self, _: &str, _: &str) -> Known {
        Known::NotLoaded
    }

    fn entries(&self, _: bool) -> Lookup<Vec<Entry>> {
        Lookup::Found(vec![namesake()])
    }

    fn dir(&self, _: &str) -> Lookup<Vec<Entry>> {
        Lookup::Found(vec![namesake()])
    }

    fn doc(&self, _: &str) -> Lookup<String> {
        Lookup::Found("Of the server.".into())
    }

    fn meta(&self, _: &str) -> Lookup<Datum> {
        Lookup::Found(Datum::scalar(Node::Str("Of the server.".into())))
    }
}

#[test]
fn s6_exact_references_are_of_the_prelude_first() {
    let source = "(ns crm \"Of the prelude.\") (defn get-user \"Of the prelude.\" [id] id) (defn user-map \"Of users.\" [] {})";
    let runtime = runtime().attach(&compiled(source), &Attach::new().upstream(Arc::new(Namesake))).unwrap();
    let run = |program: &str| runtime.eval(program, &Grants::new()).unwrap().print().unwrap();
    for program in
        ["(doc 'crm/get-user)", "(meta 'crm/get-user)", "(dir 'crm)", "(doc 'crm)", "(ns-publics 'crm)"]
    {
        let found = run(program);
        assert!(found.contains("Of the prelude.") && !found.contains("server"), "{program}: {found}");
    }
    // Names the prelude lacks belong to the server.
    assert_eq!(run("(doc 'crm/other)"), "\"Of the server.\"");
    // A search covers all three, the prelude first and the language last.
    let lines = run("(apropos \"user map\" {:limit 50})");
    let places =
        ["prelude: crm/user-map", "Of the server.", "local: "].map(|part| lines.find(part).expect(part));
    assert!(places.is_sorted(), "{lines}");
    assert!(Catalog::language().find("map").is_some());
}

#[test]
fn s6_source() {
    let outcome =
        eval(CRM, "[(source 'crm/get-user) (source crm/normalize-id) (source 'crm/nope)]", &stub()).unwrap();
    assert_eq!(outcome.print().unwrap(), "[nil nil nil]");
    assert!(
        outcome.prints[0].contains("(defn get-user\n  \"Return a CRM user by id.\""),
        "{}",
        outcome.prints[0]
    );
    assert!(outcome.prints[0].contains(";; uses (source crm/normalize-id)"), "{}", outcome.prints[0]);
    assert!(outcome.prints[1].contains("(defn- normalize-id"), "{}", outcome.prints[1]);
    assert_eq!(outcome.prints[2], "no source available for crm/nope");
    // Only preludes show their sources.
    let outcome =
        eval(CRM, "[(source 'map) (source \"clojure.string/trim\") (source 'ghost/x)]", &stub()).unwrap();
    assert_eq!(outcome.print().unwrap(), "[nil nil nil]");
    assert!(
        outcome.prints.iter().all(|line| line.starts_with("no source available for ")),
        "{:?}",
        outcome.prints
    );
    // Having read a helper, a program still cannot call it.
    assert_eq!(fault(CRM, "(source 'crm/normalize-id) (crm/normalize-id 1)").0, "invalid_form");
}

#[test]
fn s6_private_helpers_are_not_discovered() {
    for list in [
        "(ns-publics 'crm)",
        "(dir 'crm)",
        "(meta 'crm)",
        "(doc 'crm)",
        "(apropos \"normalize\")",
        "(apropos \"trim and tag a raw id\" {:limit 50})",
    ] {
        assert!(!value(CRM, list).contains("normalize-id"), "{list}");
    }
    for program in ["(doc 'crm/normalize-id)", "(meta 'crm/normalize-id)"] {
        assert_eq!(fault(CRM, program).0, "runtime_error", "{program}");
    }
}

#[test]
fn s7_direct_execution_takes_an_artifact_or_source() {
    let tools = stub();
    let from_source = runtime().with_tools(tools.clone()).attach(&compiled(CRM), &Attach::new()).unwrap();
    let loaded = Prelude::load(&runtime(), &compiled(CRM).to_bytes(), &LoadOptions::default()).unwrap();
    let from_file = runtime().with_tools(tools.clone()).attach(&loaded, &Attach::new()).unwrap();
    let source = [Selection::new("crm", CRM)];
    let by_text = runtime().with_tools(tools.clone()).attach_sources(&source, &Attach::new()).unwrap();
    for runtime in [from_source, from_file, by_text] {
        let found =
            runtime.eval("[crm/page-size (:args (:value (crm/get-user 1)))]", &Grants::new()).unwrap();
        assert_eq!(found.print().unwrap(), "[50 {\"id\" \"norm:1\"}]");
    }
    // A source is compiled first: its errors are reported instead of a run.
    let broken = [Selection::new("crm", "(ns crm) (defn f [x] (nope x))")];
    let failure = runtime().with_tools(tools).attach_sources(&broken, &Attach::new()).err().unwrap();
    assert_eq!(failure.reason(), "compile_error");
    assert!(failure.diagnostic().message.starts_with("prelude attach failed: crm/f references"), "{failure}");
}

#[test]
fn s7_without_a_runtime_upstream_requirements_are_skipped() {
    let prelude = compiled(CRM);
    // The host's stub takes the calls, whatever servers exist.
    assert_eq!(value(CRM, "(:ok (crm/get-user 1))"), "true");
    // The guard before execution still applies: the program names an export whose tool is missing.
    let attached = runtime().attach(&prelude, &Attach::new()).unwrap();
    let failure = attached.eval("(println \"no\") (crm/get-user 1)", &Grants::new()).unwrap_err();
    assert_eq!(failure.reason(), "unknown_tool");
    assert!(failure.prints.is_empty());
    // Tools of the host are checked with and without servers.
    let log = compiled("(ns log) (defn all [] (tool/log_sessions {}))");
    for attach in [Attach::new(), Attach::new().upstream(crm_server())] {
        let refused = runtime().with_tools(stub()).attach(&log, &attach).err().unwrap();
        assert_eq!(refused.reason(), "prelude_attach_failed");
        let granted = Tools::new().with("log_sessions", |_| Ok(1));
        let granted = runtime().with_tools(granted).attach(&log, &attach).unwrap();
        assert_eq!(granted.eval("(log/all)", &Grants::new()).unwrap().print().unwrap(), "1");
    }
}

#[test]
fn s9_traceability() {
    let outcome = eval(CRM, "1", &stub()).unwrap();
    let trace = outcome.prelude_trace().unwrap();
    let prelude = compiled(CRM);
    assert_eq!(trace.protected_namespaces, ["crm"]);
    assert_eq!(
        (&trace.source_hash, &trace.artifact_hash),
        (&prelude.source_hash(), &prelude.artifact_hash())
    );
    assert_eq!(trace.source_hash.len(), 64);
    assert!(trace.source_hash != trace.artifact_hash && trace.components.is_empty());
    let other = compiled(&CRM.replace("50", "51"));
    assert!(other.source_hash() != trace.source_hash && other.artifact_hash() != trace.artifact_hash);
    // The whole record of an export, and no more.
    let text = serde_json::to_string(&trace).unwrap();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        told["exports"][1],
        serde_json::json!({
            "ref": "crm/get-user", "namespace": "crm", "symbol": "get-user", "arity": 1, "params": ["id"],
            "visibility": "prompt", "effect": "unknown", "provider_ref": "upstream:crm/get_user",
            "requires": ["upstream:crm/get_user"],
        })
    );
    assert_eq!(told["exports"].as_array().unwrap().len(), 4);
    // No helper, no code.
    assert!(!text.contains("normalize") && !text.contains("norm:") && !text.contains("tool/call"), "{text}");
    assert_eq!(trace.brief()["namespaces"], serde_json::json!(["crm"]));
    // Failed runs have a trace, too, once the prelude is attached.
    assert!(eval(CRM, "(+ 1 nil)", &stub()).unwrap_err().prelude_trace().is_some());
    assert!(eval(CRM, "(nope)", &stub()).unwrap_err().prelude_trace().is_some());
    assert!(runtime().with_tools(stub()).eval("1", &Grants::new()).unwrap().prelude_trace().is_none());
}

#[test]
fn s9_components_of_several_sources() {
    let log = Selection::new("log", "(ns log) (def x 1)").version(3).origin(SourceOrigin::Memory(None));
    let paged =
        Selection::new("paged", "(ns paged) (def y 2)").origin(SourceOrigin::File("paged.clj".into()));
    let attached = runtime().attach_sources(&[log, paged], &Attach::new()).unwrap();
    let trace = attached.eval("1", &Grants::new()).unwrap().prelude_trace().unwrap();
    assert_eq!(trace.protected_namespaces, ["log", "paged"]);
    let hash = |source: &str| compiled(source).source_hash();
    let (log, paged) = (hash("(ns log) (def x 1)"), hash("(ns paged) (def y 2)"));
    assert_eq!(
        serde_json::to_value(&trace.components).unwrap(),
        serde_json::json!([
            {"id": "log", "version": 3, "checksum": log, "source_hash": log, "namespaces": ["log"], "origin": "memory"},
            {"id": "paged", "version": null, "checksum": paged, "source_hash": paged, "namespaces": ["paged"], "origin": "file:paged.clj"},
        ])
    );
    assert!(trace.source_hash != log && trace.source_hash != paged);
}
