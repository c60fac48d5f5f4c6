//! Requirements of exports, and the checks when a prelude is attached: §5.

use super::super::common::*;
use ptc_runtime::{Attach, Effects, Failure, Grants, Prelude, Tools};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Attaches a source to a run with this server and its tools.
fn beside(source: &str, server: &'static str, tools: &[&'static str]) -> Result<(), Failure> {
    let tools = tools.iter().map(|tool| (*tool, Effects::Read)).collect();
    let server = Arc::new(Servers(vec![(server, Some(tools))]));
    runtime().with_tools(stub()).attach(&compiled(source), &Attach::new().upstream(server)).map(drop)
}

/// Returns the message of an attachment that must fail.
fn missing(attached: Result<(), Failure>) -> String {
    let failure = attached.expect_err("something is missing");
    assert_eq!(failure.reason(), "prelude_attach_failed");
    failure.diagnostic().message.clone()
}

#[test]
fn s5_requires_are_inferred() {
    let get = export(CRM, "crm/get-user");
    assert_eq!(get.provider_ref.as_deref(), Some("upstream:crm/get_user"));
    // `tool:call` is never among them: the operation is more precise.
    assert_eq!(get.requires, ["upstream:crm/get_user"]);
    let typed = "(ns a) (defn f [] (tool/log_sessions {}))";
    assert_eq!(export(typed, "a/f").requires, ["tool:log_sessions"]);
    // One export's requirements are not another's.
    assert!(export(CRM, "crm/page-size").requires.is_empty());
    // Both kinds are validated.
    assert!(beside(CRM, "crm", &["get_user", "list_users"]).is_ok());
    assert!(
        missing(beside(CRM, "crm", &["get_user"]))
            .contains("crm/list-users requires upstream:crm/list_users")
    );
    let granted =
        |tools: Tools| runtime().with_tools(tools).attach(&compiled(typed), &Attach::new()).map(drop);
    assert!(missing(granted(stub())).contains("a/f requires granted tool `log_sessions`"));
    assert!(granted(Tools::new().with("log_sessions", |_| Ok(1))).is_ok());
}

#[test]
fn s5_requires_through_a_private_helper() {
    let source = r#"(ns crm) (defn- raw [id] (tool/call {:server "crm" :tool "get_user" :args {:id id}}))
                    (defn- deep [id] (raw id)) (defn find [id] (map #(deep %) [id])) (defn other [] 1)"#;
    assert_eq!(export(source, "crm/find").requires, ["upstream:crm/get_user"]);
    assert!(export(source, "crm/other").requires.is_empty());
    let message = missing(beside(source, "crm", &["list_users"]));
    assert!(
        message.starts_with("prelude attach failed: crm/find requires upstream:crm/get_user"),
        "{message}"
    );
    assert!(beside(source, "crm", &["get_user"]).is_ok());
}

#[test]
fn s5_dynamic_calls_require_nothing() {
    let source = |meta: &str| {
        format!(
            "(ns crm) (defn call {meta} [server tool] (tool/call {{:server server :tool tool :args {{}}}}))"
        )
    };
    let call = export(&source(""), "crm/call");
    assert!(call.requires.is_empty() && call.dynamic && call.provider_ref.is_none());
    assert_eq!(call.tool_refs, ["call"]);
    // Nothing can be checked unless the author declares requirements.
    assert!(beside(&source(""), "erp", &[]).is_ok());
    let declared = source(r#"{:requires ["upstream:crm/search"]}"#);
    assert!(missing(beside(&declared, "erp", &[])).contains("crm/call requires upstream:crm/search"));
    assert!(beside(&declared, "crm", &["search"]).is_ok());
}

#[test]
fn s5_explicit_metadata() {
    let source = r#"(ns crm) (defn search "Search users."
        {:provider-ref "upstream:crm/find" :effect :read :requires ["upstream:crm/more"]}
        [query] (tool/call {:server "crm" :tool "search" :args {:q query}}))
        (defn purge {:effect :write} [] (tool/call {:server "crm" :tool "search"}))
        (defn bare {:requires []} [] (tool/call {:server "crm" :tool "search"}))"#;
    let search = export(source, "crm/search");
    assert_eq!(search.requires, ["upstream:crm/more", "upstream:crm/search"]);
    // It replaces the derived operation, which stays required.
    assert_eq!(search.provider_ref.as_deref(), Some("upstream:crm/find"));
    assert_eq!(search.effect.name(), "read");
    assert_eq!(export(source, "crm/purge").effect.name(), "write");
    assert_eq!(export(source, "crm/bare").requires, ["upstream:crm/search"]);
    // Declared requirements are checked like derived ones; a provider-ref alone is no requirement.
    assert!(missing(beside(source, "crm", &["search"])).contains("crm/search requires upstream:crm/more"));
    assert!(missing(beside(source, "crm", &["more"])).contains("requires upstream:crm/search"));
    assert!(beside(source, "crm", &["more", "search"]).is_ok());
    // Programs see it under the host's key names.
    assert_eq!(
        value(source, "(select-keys (meta 'crm/search) [:provider_ref :effect :requires])"),
        "{:provider_ref \"upstream:crm/find\" :effect \"read\" :requires [\"upstream:crm/more\" \"upstream:crm/search\"]}"
    );
}

#[test]
fn s5_malformed_requires_fail_compilation() {
    let (reason, message) = refused("(ns crm) (defn f {:requires [:a \"tool:b\" 3]} [] 1)");
    assert_eq!(reason, "invalid_requires");
    assert!(
        message.contains(":requires must be a list of strings") && message.contains(":a, 3"),
        "{message}"
    );
    for requires in ["\"tool:b\"", "{}", "nil", ":tool"] {
        let (reason, _) = refused(&format!("(ns crm) (defn f {{:requires {requires}}} [] 1)"));
        assert_eq!(reason, "invalid_requires", "{requires}");
    }
}

#[test]
fn s5_unrecognized_ids_fail_at_attach() {
    for id in ["x:y", "tool:", "upstream:crm", "upstream:/x", "upstream:crm/", "crm", ""] {
        let prelude = compiled(&format!("(ns crm) (defn f {{:requires [{id:?}]}} [] 1)"));
        for attach in [Attach::new(), Attach::new().upstream(crm_server())] {
            let failure = runtime().with_tools(stub()).attach(&prelude, &attach).err().unwrap();
            assert_eq!(failure.reason(), "prelude_attach_failed", "{id}");
            assert!(failure.diagnostic().message.contains(&format!("crm/f requires `{id}`")), "{failure}");
        }
    }
}

/// No part of a program is read before the prelude fits: no tool is called, and even a program that cannot be
/// parsed gets the error of the prelude.
#[test]
fn s5_attach_is_checked_before_any_user_code() {
    let prelude = compiled(CRM);
    let calls = Arc::new(AtomicU32::new(0));
    let count = calls.clone();
    let tools = stub().with("note", move |_| Ok(count.fetch_add(1, Ordering::SeqCst)));
    let erp = Arc::new(Servers(vec![("erp", Some(vec![]))]));
    let run = |servers: Arc<Servers>, program: &str| {
        let mut session = runtime().with_tools(tools.clone()).with_upstream(servers).session();
        let ended = session.eval_with(program, &prelude);
        assert_eq!(session.defined().count(), 0);
        ended
    };
    for program in
        ["(tool/note {}) (println 1) (crm/get-user 1)", "(tool/note {})", "(tool/note {}", "(nope)"]
    {
        let failure = run(erp.clone(), program).unwrap_err();
        assert_eq!(failure.reason(), "prelude_attach_failed", "{program}: {failure}");
        let message = &failure.diagnostic().message;
        assert!(
            message.starts_with("prelude attach failed: crm/get-user requires upstream:crm/get_user"),
            "{message}"
        );
        assert!(message.contains("not configured for this run"), "{message}");
        assert!(failure.prelude_trace().is_none() && failure.prints.is_empty());
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    assert!(run(crm_server(), "(tool/note {})").is_ok());
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// The host has a credential and its tool uses it, but no output or record of the run contains it.
#[test]
fn s5_credentials_never_appear_in_the_artifact() {
    let secret = "s3cr3t-4711";
    let used = Arc::new(AtomicU32::new(0));
    let count = used.clone();
    let tools = Tools::new().with("call", move |args| {
        let header = format!("Bearer {secret}");
        assert!(header.len() > 7 && args.json()?.is_object());
        count.fetch_add(1, Ordering::SeqCst);
        Ok(json!({"ok": true, "value": 1}))
    });
    let attached = runtime().with_tools(tools).attach(&compiled(CRM), &Attach::new()).unwrap();
    let outcome = attached.eval("(println (crm/get-user 1)) (:ok (crm/get-user 1))", &Grants::new()).unwrap();
    assert_eq!(used.load(Ordering::SeqCst), 2);
    let told = serde_json::to_string(&outcome.prelude_trace().unwrap()).unwrap();
    let shown = attached.inventory(Default::default()).unwrap() + &told + &outcome.prints.concat();
    let bytes = attached.preludes().next().map(Prelude::to_bytes).unwrap();
    assert!(!shown.contains(secret) && !bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
    // There is no place for one: a manifest lists ids, a trace lists the manifest.
    let trace = eval(CRM, "1", &stub()).unwrap().prelude_trace().unwrap();
    let keys = serde_json::to_value(&trace).unwrap();
    let mut keys: Vec<&str> = keys.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "artifact_hash",
            "components",
            "exports",
            "host_policy_hash",
            "interface_hash",
            "protected_namespaces",
            "source_hash",
            "unverified"
        ]
    );
}
