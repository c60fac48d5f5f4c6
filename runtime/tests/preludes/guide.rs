//! One test for each section of the authoring guide that needs neither an agent nor a server, and one
//! for each row of its troubleshooting table. `docs/preludes/coverage.md` lists them.

use super::authoring::authoring;
use super::common::*;
use ptc_runtime::{
    Attach, Grants, LoadOptions, Prelude, PreludeStore, STORE_TOOLS, Selection, Session, SourceOrigin,
    StoreLimits, StoreRef, Tools, Visibility,
};
use serde_json::json;

#[test]
fn s1_quick_start() {
    let prelude = compiled(
        r#"(ns crm "CRM helpers." {:visibility :prompt})
           (defn get-user "Return a CRM user by id." [id]
             (tool/call {:server "crm" :tool "get_user" :args {:id id}}))"#,
    );
    let runtime = runtime().with_tools(stub()).attach(&prelude, &Attach::new()).unwrap();
    let grants = Grants::new().json("user-id", "\"u_1\"").unwrap();
    let found = runtime.eval("(get-in (crm/get-user data/user-id) [:value :args :id])", &grants);
    assert_eq!(found.unwrap().print().unwrap(), "\"u_1\"");
    let seen =
        runtime.eval("[(keys (ns-publics 'crm)) (str/includes? (doc 'crm/get-user) \"by id\")]", &grants);
    assert_eq!(seen.unwrap().print().unwrap(), "[[\"get-user\"] true]");
}

#[test]
fn s1_compile_once_attach_anywhere() {
    let prelude = compiled(CRM);
    let tools = stub();
    let direct = runtime().with_tools(tools.clone()).attach(&prelude, &Attach::new()).unwrap();
    assert_eq!(direct.eval("crm/page-size", &Grants::new()).unwrap().print().unwrap(), "50");
    let mut session = runtime().with_tools(tools.clone()).attach(&prelude, &Attach::new()).unwrap().session();
    session.eval("(defn size [] crm/page-size)").unwrap();
    assert_eq!(session.eval("(size)").unwrap().print().unwrap(), "50");
}

#[test]
fn s2_anatomy() {
    let prelude = compiled(CRM);
    assert_eq!(prelude.namespaces()[0].doc.as_deref(), Some("CRM helpers."));
    let names: Vec<String> = prelude.exports().iter().map(|export| export.reference()).collect();
    assert_eq!(names, ["crm/page-size", "crm/get-user", "crm/get-user!", "crm/list-users"]);
    assert_eq!(prelude.exports()[0].kind(), "constant");
    assert_eq!(value(CRM, "[crm/page-size (crm/page-size)]"), "[50 50]");
    assert_eq!(value(CRM, "(get-in (crm/get-user 7) [:value :args :id])"), "\"norm:7\"");
    let (reason, message) = fault(CRM, "(crm/normalize-id 7)");
    assert_eq!(reason, "invalid_form");
    assert!(message.contains("crm/normalize-id"), "{message}");
}

#[test]
fn s2_several_namespaces_in_one_file() {
    let source = "(ns a) (defn- f [] 1) (defn g [] (f)) (ns b) (defn- f [] 2) (defn g [] (f))";
    assert_eq!(value(source, "[(a/g) (b/g)]"), "[1 2]");
}

#[test]
fn s2_reserved_namespaces() {
    for name in ["tool", "data", "budget", "ptc.core"] {
        let (reason, message) = refused(&format!("(ns {name})"));
        assert_eq!(reason, "reserved_namespace");
        assert!(message.contains(&format!("cannot declare reserved namespace `{name}`")), "{message}");
    }
}

#[test]
fn s3_exports_are_recoverable_by_default() {
    let program = r#"(def res (crm/get-user "u_123"))
                     (if (res :ok) (return {:user (res :value)}) (return {:error (res :reason)}))"#;
    let found = eval(CRM, program, &failing()).unwrap();
    assert_eq!(found.print().unwrap(), "{:error \"not_found\"}");
}

#[test]
fn s3_helpers_that_abort() {
    let failure = eval(CRM, "(crm/get-user! 1) (println \"not reached\")", &failing()).unwrap_err();
    assert_eq!(failure.reason(), "fail");
    assert!(failure.diagnostic().message.contains("not_found"), "{failure}");
    assert!(failure.prints.is_empty());
}

#[test]
fn s3_siblings_by_bare_name_only() {
    let (reason, message) = refused("(ns crm) (defn f [] 1) (defn g [] (crm/f))");
    assert_eq!(reason, "qualified_self_reference");
    assert!(message.contains("crm/f"), "{message}");
}

#[test]
fn s4_visibility() {
    let prelude = compiled(CRM);
    let visibility = |name: &str| prelude.export(name).unwrap().visibility;
    assert_eq!(visibility("crm/get-user"), Visibility::Prompt);
    assert_eq!(visibility("crm/list-users"), Visibility::Discoverable);
    let inventory = prelude.inventory(Default::default()).unwrap();
    assert!(
        inventory.contains("crm/get-user (get-user id) [unknown] - Return a CRM user by id."),
        "{inventory}"
    );
    assert!(!inventory.contains("list-users") && !inventory.contains("normalize-id"), "{inventory}");
    assert_eq!(value(CRM, "(contains? (ns-publics 'crm) \"list-users\")"), "true");
    assert_eq!(
        export("(ns a {:visibility :discoverable}) (defn f [] 1)", "a/f").visibility,
        Visibility::Discoverable
    );
    assert_eq!(export("(ns a) (defn f [] 1)", "a/f").visibility, Visibility::Prompt);
}

#[test]
fn s4_visibility_can_only_be_narrowed() {
    let prelude = compiled(CRM);
    let tools = stub();
    let narrow = |export: &ptc_runtime::ExportRecord| match &*export.symbol {
        "get-user" => ptc_runtime::Keep::Discoverable,
        "page-size" => ptc_runtime::Keep::Hide,
        _ => ptc_runtime::Keep::Keep,
    };
    let runtime =
        runtime().with_tools(tools.clone()).attach(&prelude, &Attach::new().narrow(&narrow)).unwrap();
    let inventory = runtime.inventory(Default::default()).unwrap();
    assert!(!inventory.contains("crm/get-user (") && !inventory.contains("list-users"), "{inventory}");
    let failure = runtime.eval("crm/page-size", &Grants::new()).unwrap_err();
    assert_eq!(failure.reason(), "invalid_form");
    assert!(runtime.eval("(crm/get-user 1)", &Grants::new()).is_ok());
}

#[test]
fn s5_requires_are_inferred() {
    let get = export(CRM, "crm/get-user");
    assert_eq!(get.provider_ref.as_deref(), Some("upstream:crm/get_user"));
    assert_eq!(get.requires, ["upstream:crm/get_user"]);
    assert_eq!(export("(ns a) (defn f [] (tool/log_sessions {}))", "a/f").requires, ["tool:log_sessions"]);
}

#[test]
fn s5_requires_through_a_private_helper() {
    let source = r#"(ns crm) (defn- raw [id] (tool/call {:server "crm" :tool "get_user" :args {:id id}}))
                    (defn find [id] (raw id)) (defn other [] 1)"#;
    assert_eq!(export(source, "crm/find").requires, ["upstream:crm/get_user"]);
    assert!(export(source, "crm/other").requires.is_empty());
}

#[test]
fn s5_dynamic_calls_require_nothing() {
    let source = "(ns crm) (defn call [server tool] (tool/call {:server server :tool tool :args {}}))";
    let call = export(source, "crm/call");
    assert!(call.requires.is_empty() && call.dynamic && call.provider_ref.is_none());
    assert_eq!(call.tool_refs, ["call"]);
}

#[test]
fn s5_explicit_metadata() {
    let source = r#"(ns crm) (defn search "Search users."
        {:provider-ref "upstream:crm/find" :effect :read :requires ["upstream:crm/more"]}
        [query] (tool/call {:server "crm" :tool "search" :args {:q query}}))
        (defn purge {:effect :write} [] (tool/call {:server "crm" :tool "purge"}))"#;
    let search = export(source, "crm/search");
    assert_eq!(search.requires, ["upstream:crm/more", "upstream:crm/search"]);
    // It takes the place of the operation that was found, which stays required.
    assert_eq!(search.provider_ref.as_deref(), Some("upstream:crm/find"));
    assert_eq!(search.effect.name(), "read");
    assert_eq!(export(source, "crm/purge").effect.name(), "write");
}

#[test]
fn s5_malformed_requires_fail_compilation() {
    let (reason, message) = refused("(ns crm) (defn f {:requires [:a \"tool:b\" 3]} [] 1)");
    assert_eq!(reason, "invalid_requires");
    assert!(
        message.contains(":requires must be a list of strings") && message.contains(":a, 3"),
        "{message}"
    );
    assert_eq!(refused("(ns crm) (defn f {:requires \"tool:b\"} [] 1)").0, "invalid_requires");
}

#[test]
fn s5_unrecognized_ids_fail_at_attach() {
    for id in ["x:y", "tool:", "upstream:crm", "upstream:/x", "crm"] {
        let prelude = compiled(&format!("(ns crm) (defn f {{:requires [{id:?}]}} [] 1)"));
        let failure = runtime().with_tools(stub()).attach(&prelude, &Attach::new()).err().unwrap();
        assert_eq!(failure.reason(), "prelude_attach_failed", "{id}");
    }
}

#[test]
fn s5_attach_is_checked_before_any_user_code() {
    let prelude = compiled(CRM);
    let other = std::sync::Arc::new(Servers(vec![("erp", Some(vec![]))]));
    let failure =
        runtime().with_tools(stub()).attach(&prelude, &Attach::new().upstream(other)).err().unwrap();
    assert_eq!(failure.reason(), "prelude_attach_failed");
    let message = &failure.diagnostic().message;
    assert!(
        message.starts_with("prelude attach failed: crm/get-user requires upstream:crm/get_user"),
        "{message}"
    );
    assert!(message.contains("not configured for this run"), "{message}");
    assert!(failure.prelude_trace().is_none());
    assert!(runtime().with_tools(stub()).attach(&prelude, &Attach::new().upstream(crm_server())).is_ok());
}

#[test]
fn s5_credentials_never_appear_in_the_artifact() {
    let secret = "s3cr3t-4711";
    let tools = Tools::new().with("call", move |_| Ok(json!({"ok": secret.len()})));
    let attached = runtime().with_tools(tools).attach(&compiled(CRM), &Attach::new()).unwrap();
    let outcome = attached.eval("(:ok (crm/get-user 1))", &Grants::new()).unwrap();
    let told = serde_json::to_string(&outcome.prelude_trace().unwrap()).unwrap();
    let shown = attached.inventory(Default::default()).unwrap() + &told;
    let bytes = attached.preludes().next().unwrap().to_bytes();
    assert!(!shown.contains(secret) && !bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
    // There is nowhere to put one: a manifest lists ids, a trace lists the manifest.
    let trace = eval(CRM, "1", &stub()).unwrap().prelude_trace().unwrap();
    let keys = serde_json::to_value(&trace).unwrap();
    let keys: Vec<&String> = keys.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "source_hash",
            "artifact_hash",
            "interface_hash",
            "protected_namespaces",
            "host_policy_hash",
            "exports",
            "components",
            "unverified"
        ]
        .iter()
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
    );
}

#[test]
fn s6_discovery_forms() {
    assert_eq!(value(CRM, "(filter #(= % \"crm\") (all-ns))"), "[\"crm\"]");
    assert_eq!(value(CRM, "[(ns-name 'crm) (ns-name \"crm\") (ns-name crm)]"), "[\"crm\" \"crm\" \"crm\"]");
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
}

#[test]
fn s6_private_helpers_are_not_discovered() {
    assert_eq!(value(CRM, "(contains? (ns-publics 'crm) \"normalize-id\")"), "false");
    assert_eq!(value(CRM, "(filter #(str/includes? % \"normalize\") (apropos \"normalize\"))"), "[]");
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
    let by_text = runtime().with_tools(tools).attach_sources(&source, &Attach::new()).unwrap();
    for runtime in [from_source, from_file, by_text] {
        assert_eq!(runtime.eval("crm/page-size", &Grants::new()).unwrap().print().unwrap(), "50");
    }
}

#[test]
fn s7_without_a_runtime_upstream_requirements_are_skipped() {
    let prelude = compiled(CRM);
    assert!(runtime().attach(&prelude, &Attach::new()).is_ok());
    // The guard before execution still applies: the program names an export whose tool is missing.
    let attached = runtime().attach(&prelude, &Attach::new()).unwrap();
    let failure = attached.eval("(println \"no\") (crm/get-user 1)", &Grants::new()).unwrap_err();
    assert_eq!(failure.reason(), "unknown_tool");
    assert!(failure.prints.is_empty());
    let log = compiled("(ns log) (defn all [] (tool/log_sessions {}))");
    assert!(runtime().attach(&log, &Attach::new()).is_err());
}

#[test]
fn s8_several_sources_without_a_store() {
    let log = Selection::new("log", "(ns log) (defn size [] 1)").origin(SourceOrigin::Memory(None));
    let paged =
        Selection::new("paged", "(ns paged) (defn size [] 2)").origin(SourceOrigin::File("paged.clj".into()));
    let prelude = Prelude::compose(&runtime(), &[log, paged]).unwrap();
    let origins: Vec<Option<&str>> = prelude.components().iter().map(|c| c.origin.as_deref()).collect();
    assert_eq!(origins, [Some("memory"), Some("file:paged.clj")]);
    let attached = runtime().attach(&prelude, &Attach::new()).unwrap();
    let both = attached.eval("[(log/size) (paged/size)]", &Grants::new()).unwrap();
    assert_eq!(both.print().unwrap(), "[1 2]");
}

const PAGED_1: &str = "(ns paged) (defn inspect [] 1)";
const PAGED_2: &str = "(ns paged) (defn inspect [] 2)";

/// A store with two versions of `paged`.
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
    assert_eq!(store.read("paged").unwrap().version, 2);
    assert_eq!(store.read("paged@1").unwrap().version, 1);
    let asserted = StoreRef::version("paged", 1).checksum(&*v1.checksum);
    assert_eq!(&*store.read(asserted).unwrap().source, PAGED_1);
    store.set_default("paged@1", json!({"reason": "verifier preferred v1"})).unwrap();
    assert_eq!(store.read("paged").unwrap().version, 1);
    let rows = store.list().unwrap();
    assert_eq!((rows.len(), rows[0].current_version, rows[0].latest_version), (1, 1, 2));
    assert_eq!(store.history("paged").unwrap().len(), 2);
    assert_eq!(store.write("paged", "(ns paged", json!({})).unwrap_err().reason(), "prelude_compile_error");
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
}

#[test]
fn s8_stored_text_is_an_untrusted_prompt_surface() {
    let store = two_versions();
    let view = store.read("paged").unwrap().public_view();
    assert_eq!(view["metadata"], json!({"reason": "second"}));
    assert_eq!(view["source_truncated"], json!(false));
    let tools = store.grant(Tools::new()).unwrap();
    let args = json!({"id": "paged", "source": PAGED_1, "metadata": {"reason": "r", "internal": "s3cret"}});
    let kept = tools.recorded("prelude_store_write", args).to_string();
    assert!(!kept.contains("(ns paged)") && !kept.contains("s3cret"), "{kept}");
}

#[test]
fn s8_the_authoring_namespace() {
    let store = two_versions();
    let tools = store.grant(Tools::new()).unwrap();
    let runtime = runtime().with_tools(tools.clone()).attach(&authoring(), &Attach::new()).unwrap();
    for (program, wanted) in [
        ("(map :id (prelude/list))", "[\"paged\"]"),
        ("(map :version (prelude/history \"paged\"))", "[1 2]"),
        ("(:version (prelude/read \"paged@2\"))", "2"),
        ("(prelude/source \"paged\")", "\"(ns paged) (defn inspect [] 2)\""),
        (
            "(:version (prelude/write {:id \"paged\" :source \"(ns paged) (def profile 1)\" :metadata {:reason \"add profile\"}}))",
            "3",
        ),
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
}

#[test]
fn s8_sessions_freeze_store_refs() {
    let store = two_versions();
    let mut session = Session::builder(&runtime()).store(&store).preludes(["paged"]).start().unwrap();
    store.set_default("paged@1", json!({})).unwrap();
    assert_eq!(session.eval("(paged/inspect)").unwrap().print().unwrap(), "2");
}

#[test]
fn s9_traceability() {
    let outcome = eval(CRM, "1", &stub()).unwrap();
    let trace = outcome.prelude_trace().unwrap();
    assert_eq!(trace.protected_namespaces, ["crm"]);
    assert_eq!(trace.source_hash.len(), 64);
    assert_ne!(trace.source_hash, trace.artifact_hash);
    let get = trace.exports.iter().find(|export| export.reference == "crm/get-user").unwrap();
    assert_eq!((get.params.as_slice(), get.effect), (&["id".to_string()][..], "unknown"));
    let text = serde_json::to_string(&trace).unwrap();
    assert!(!text.contains("normalize"), "{text}");
    assert_eq!(trace.brief()["namespaces"], serde_json::json!(["crm"]));
    // Also of runs that fail once the prelude is attached.
    assert!(eval(CRM, "(+ 1 nil)", &stub()).unwrap_err().prelude_trace().is_some());
    assert!(eval(CRM, "(nope)", &stub()).unwrap_err().prelude_trace().is_some());
    assert!(runtime().with_tools(stub()).eval("1", &Grants::new()).unwrap().prelude_trace().is_none());
}

#[test]
fn s11_unknown_namespace() {
    let failure = runtime().eval("(crm/get-user 1)", &Grants::new()).unwrap_err();
    assert!(failure.diagnostic().message.starts_with("unknown namespace crm/"), "{failure}");
}

#[test]
fn s11_attach_fails_for_a_missing_operation() {
    let server = std::sync::Arc::new(Servers(vec![("crm", Some(vec![]))]));
    let failure =
        runtime().with_tools(stub()).attach(&compiled(CRM), &Attach::new().upstream(server)).err().unwrap();
    let message = &failure.diagnostic().message;
    assert!(
        message.starts_with("prelude attach failed: ") && message.contains("upstream:crm/get_user"),
        "{message}"
    );
}

#[test]
fn s11_attach_fails_for_a_missing_tool() {
    let log = compiled("(ns log) (defn all [] (tool/log_sessions {}))");
    let failure = runtime().attach(&log, &Attach::new()).err().unwrap();
    let message = &failure.diagnostic().message;
    assert!(message.starts_with("prelude attach failed: log/all"), "{message}");
    assert!(message.contains("requires granted tool `log_sessions`"), "{message}");
}

#[test]
fn s11_protected_names() {
    let (_, message) = fault(CRM, "(def crm/get-user 1)");
    assert!(message.contains("cannot redefine crm/get-user"), "{message}");
    assert!(
        message.contains("public export") && message.contains("crm is a protected namespace"),
        "{message}"
    );
    let (_, message) = fault(CRM, "(defn crm/anything [] 1)");
    assert!(message.contains("cannot define crm/anything: crm is a protected namespace"), "{message}");
}

#[test]
fn s11_namespace_declared_more_than_once() {
    let (reason, message) = refused("(ns crm) (def a 1) (ns crm)");
    assert_eq!((reason, &*message), ("invalid_namespace", "namespace 'crm' is declared more than once"));
}

#[test]
fn s11_bad_metadata() {
    let (reason, message) = refused("(ns crm) (defn f {:visibility :public} [] 1)");
    assert_eq!(reason, "invalid_visibility");
    assert!(message.contains("invalid visibility :public"), "{message}");
    let (reason, message) = refused("(ns crm) (def f 1) (defn- f [] 1)");
    assert_eq!(reason, "duplicate_ref");
    assert!(message.contains("duplicate definition `crm/f`") && message.contains("ref"), "{message}");
}

#[test]
fn s11_constant_that_is_too_expensive() {
    let (reason, message) = refused("(ns crm) (def big (vec (range 10000000)))");
    assert_eq!(reason, "compile_error");
    assert!(message.contains("prelude evaluation exceeded sandbox limits"), "{message}");
}

#[test]
fn s11_discoverable_exports_are_not_in_the_prompt() {
    let inventory = compiled(CRM).inventory(Default::default()).unwrap();
    assert!(!inventory.contains("list-users"));
    assert!(
        compiled("(ns a {:visibility :discoverable}) (defn f [] 1)").inventory(Default::default()).is_none()
    );
}
