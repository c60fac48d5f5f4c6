//! Visibility of preludes: §4.

use super::super::common::*;
use ptc_runtime::{Attach, ExportRecord, Grants, Keep, Visibility};

/// Exports and namespaces, with and without visibility metadata.
const LEVELS: &str = "(ns open) (defn plain \"Plain.\" [] 1) (defn quiet \"Quiet.\" {:visibility :discoverable} [] 2)
    (ns shy {:visibility :discoverable}) (defn bold \"Bold.\" {:visibility :prompt} [] 3) (defn meek \"Meek.\" [] 4)
    (def size 5)";

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
    // The export decides, then its namespace, then the default; constants follow their namespace.
    let inventory = compiled(LEVELS).inventory(Default::default()).unwrap();
    let shown =
        ["open/plain", "open/quiet", "shy/bold", "shy/meek", "shy/size"].map(|name| inventory.contains(name));
    assert_eq!(shown, [true, false, true, false, false], "{inventory}");
    // All of them can be found and called.
    for (name, doc) in
        [("open/plain", "Plain."), ("open/quiet", "Quiet."), ("shy/bold", "Bold."), ("shy/meek", "Meek.")]
    {
        let (namespace, symbol) = name.split_once('/').unwrap();
        let word = doc.trim_end_matches('.');
        for found in [
            format!("(contains? (ns-publics '{namespace}) \"{symbol}\")"),
            format!("(str/includes? (doc '{name}) \"{doc}\")"),
            format!("(some? (meta '{name}))"),
            format!("(boolean (some #(str/includes? % \"{symbol}\") (dir '{namespace})))"),
            format!("(str/includes? (first (apropos \"{word}\")) \"{name}\")"),
            format!("(pos? ({name}))"),
        ] {
            assert_eq!(value(LEVELS, &found), "true", "{found}");
        }
    }
}

#[test]
fn s4_visibility_can_only_be_narrowed() {
    let prelude = compiled(CRM);
    let narrow = |export: &ExportRecord| match &*export.symbol {
        "get-user" => Keep::Discoverable,
        "page-size" => Keep::Hide,
        _ => Keep::Keep,
    };
    let runtime = runtime().with_tools(stub()).attach(&prelude, &Attach::new().narrow(&narrow)).unwrap();
    let inventory = runtime.inventory(Default::default()).unwrap();
    assert!(!inventory.contains("crm/get-user (") && inventory.contains("crm/get-user! ("), "{inventory}");
    // Exports the prelude keeps out of prompts stay out, and helpers stay hidden.
    assert!(!inventory.contains("list-users") && !inventory.contains("normalize-id"), "{inventory}");
    let eval = |program: &str| runtime.eval(program, &Grants::new());
    assert!(eval("(crm/get-user 1)").is_ok());
    assert_eq!(
        eval("(sort (keys (ns-publics 'crm)))").unwrap().print().unwrap(),
        "[\"get-user\" \"get-user!\" \"list-users\"]"
    );
    // A hidden export is nowhere: not callable, not found, not in the trace.
    for program in ["crm/page-size", "(crm/page-size)", "(doc 'crm/page-size)", "(meta 'crm/page-size)"] {
        let failure = eval(program).expect_err(program);
        assert!(["invalid_form", "runtime_error"].contains(&failure.reason()), "{program}: {failure}");
    }
    for program in ["(dir 'crm)", "(apropos \"page size\")", "(meta 'crm)", "(doc 'crm)"] {
        let found = eval(program).unwrap().print().unwrap();
        assert!(!found.contains("page-size"), "{program}: {found}");
    }
    let prints = eval("(source 'crm/page-size)").unwrap().prints;
    assert_eq!(prints, ["no source available for crm/page-size"]);
    assert!(!inventory.contains("page-size"), "{inventory}");
    let trace = serde_json::to_string(&runtime.prelude_trace().unwrap()).unwrap();
    assert!(!trace.contains("page-size"), "{trace}");
}
