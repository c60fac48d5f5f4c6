//! The troubleshooting table: §11.

use super::super::common::*;
use ptc_runtime::{Attach, Grants, Tools};
use std::sync::Arc;

#[test]
fn s11_unknown_namespace() {
    let failure = runtime().eval("(crm/get-user 1)", &Grants::new()).unwrap_err();
    assert!(failure.diagnostic().message.starts_with("unknown namespace crm/"), "{failure}");
    // Once attached, it is there.
    assert_eq!(value(CRM, "(:ok (crm/get-user 1))"), "true");
}

#[test]
fn s11_attach_fails_for_a_missing_operation() {
    let server = Arc::new(Servers(vec![("crm", Some(vec![]))]));
    let failure =
        runtime().with_tools(stub()).attach(&compiled(CRM), &Attach::new().upstream(server)).err().unwrap();
    assert_eq!(failure.reason(), "prelude_attach_failed");
    let message = &failure.diagnostic().message;
    assert!(
        message.starts_with("prelude attach failed: ") && message.contains("upstream:crm/get_user"),
        "{message}"
    );
    // The two remedies: a server that has it, or no check.
    for attach in [Attach::new().upstream(crm_server()), Attach::new()] {
        assert!(runtime().with_tools(stub()).attach(&compiled(CRM), &attach).is_ok());
    }
}

#[test]
fn s11_attach_fails_for_a_missing_tool() {
    let log = compiled("(ns log) (defn all [] (tool/log_sessions {}))");
    let failure = runtime().attach(&log, &Attach::new()).err().unwrap();
    assert_eq!(failure.reason(), "prelude_attach_failed");
    let message = &failure.diagnostic().message;
    assert!(message.starts_with("prelude attach failed: log/all"), "{message}");
    assert!(message.contains("requires granted tool `log_sessions`"), "{message}");
    let granted = Tools::new().with("log_sessions", |_| Ok(1));
    assert!(runtime().with_tools(granted).attach(&log, &Attach::new()).is_ok());
}

#[test]
fn s11_protected_names() {
    for program in ["(def crm/get-user 1)", "(defn crm/get-user [id] :mine)", "(do (def crm/get-user 1))"] {
        let (_, message) = fault(CRM, program);
        assert!(message.contains("cannot redefine crm/get-user"), "{message}");
        assert!(
            message.contains("public export") && message.contains("crm is a protected namespace"),
            "{message}"
        );
    }
    for name in ["anything", "normalize-id"] {
        let (_, message) = fault(CRM, &format!("(defn crm/{name} [] 1)"));
        assert!(
            message.contains(&format!("cannot define crm/{name}: crm is a protected namespace")),
            "{message}"
        );
    }
    // The unqualified name is the program's own.
    assert_eq!(value(CRM, "(def get-user 1) [get-user (:ok (crm/get-user 1))]"), "[1 true]");
}

#[test]
fn s11_namespace_declared_more_than_once() {
    for again in ["(ns crm)", "(ns crm \"More.\")", "(ns other) (def b 2) (ns crm)"] {
        let (reason, message) = refused(&format!("(ns crm) (def a 1) {again}"));
        assert_eq!((reason, &*message), ("invalid_namespace", "namespace 'crm' is declared more than once"));
    }
}

#[test]
fn s11_bad_metadata() {
    for source in ["(ns crm) (defn f {:visibility :public} [] 1)", "(ns crm {:visibility :public}) (def f 1)"]
    {
        let (reason, message) = refused(source);
        assert_eq!(reason, "invalid_visibility");
        assert!(message.contains("invalid visibility :public"), "{message}");
    }
    let (reason, message) = refused("(ns crm) (defn f {:requires [3]} [] 1)");
    assert_eq!(reason, "invalid_requires");
    assert!(message.contains(":requires must be a list of strings"), "{message}");
    for again in ["(def f 2)", "(defn f [] 2)", "(defn- f [] 2)"] {
        let (reason, message) = refused(&format!("(ns crm) (def f 1) {again}"));
        assert_eq!(reason, "duplicate_ref", "{again}");
        assert!(message.starts_with("duplicate definition `crm/f`"), "{message}");
    }
}

#[test]
fn s11_constant_that_is_too_expensive() {
    for constant in ["(vec (range 10000000))", "(loop [] (recur))"] {
        let (reason, message) = refused(&format!("(ns crm) (def big {constant})"));
        assert_eq!(reason, "compile_error");
        assert!(message.contains("prelude evaluation exceeded sandbox limits"), "{message}");
    }
    assert_eq!(value("(ns crm) (def big (vec (range 1000)))", "(count crm/big)"), "1000");
}

#[test]
fn s11_discoverable_exports_are_not_in_the_prompt() {
    let inventory = compiled(CRM).inventory(Default::default()).unwrap();
    assert!(!inventory.contains("list-users"));
    assert_eq!(value(CRM, "(:visibility (get (ns-publics 'crm) \"list-users\"))"), "\"discoverable\"");
    assert!(
        compiled("(ns a {:visibility :discoverable}) (defn f [] 1)").inventory(Default::default()).is_none()
    );
}
