//! Private helpers of preludes, and the rights of their exports.

use super::runtime;
use ptc_runtime::{Attach, Grants, Outcome, Prelude, Tools};

const VAULT: &str = "(ns vault \"Opens doors.\")
    (defn- combination \"Known to few.\" [] 4711)
    (def hidden-factor 3)
    (defn opens? \"Whether a guess is right.\" [guess] (= guess (combination)))";

fn run(program: &str) -> Result<Outcome, ptc_runtime::Failure> {
    let prelude = Prelude::compile(&runtime(), VAULT).unwrap();
    let runtime = runtime().attach(&prelude, &Attach::new()).unwrap();
    runtime.eval(program, &Grants::new())
}

#[test]
fn a_private_helper_is_called_by_its_own_prelude_only() {
    assert_eq!(run("(vault/opens? 4711)").unwrap().print().unwrap(), "true");
    for road in [
        "(vault/combination)",
        "(apply vault/combination [])",
        "(map (fn [_] (vault/combination)) [1])",
        "(let [f vault/combination] (f))",
        "(#'vault/combination)",
        "((resolve 'vault/combination))",
        "((get (ns-publics 'vault) \"combination\"))",
        "(combination)",
        "(ns vault) (combination)",
        "(in-ns 'vault) (combination)",
        "(defn vault/opens? [_] (combination)) (vault/opens? 1)",
        "(require '[vault :as v]) (v/combination)",
        "(call \"vault/combination\" {})",
        "((keyword \"vault/combination\") 1)",
        "('vault/combination)",
    ] {
        let told = match run(road) {
            Ok(outcome) => outcome.print().unwrap(),
            Err(failure) => failure.to_string(),
        };
        assert!(!told.contains("4711"), "{road}: {told}");
    }
}

/// Checks that private helpers are in no list. Their source may be read by name, as far as exports need it.
#[test]
fn what_is_private_is_in_no_list() {
    for look in [
        "(doc \"vault/combination\")",
        "(dir \"vault\")",
        "(ns-publics 'vault)",
        "(apropos \"combination\")",
        "(apropos \"known to few\")",
        "(meta 'vault/combination)",
        "(all-ns)",
        "(doc \"vault\")",
        "(vault/combinatio)",
        "(pr-str vault/opens?)",
        "(str vault/opens?)",
        "(describe vault/opens?)",
    ] {
        let told = match run(look) {
            Ok(outcome) => outcome.print().unwrap() + &outcome.prints.join("\n"),
            Err(failure) => {
                failure.diagnostics.iter().map(|d| format!("{} {:?}", d.message, d.hint)).collect()
            }
        };
        assert!(!told.contains("4711") && !told.contains("Known to few"), "{look}: {told}");
        // The name may be echoed to code that wrote it, and appears nowhere else.
        if !look.contains("combination") {
            assert!(!told.contains("combination"), "{look}: {told}");
        }
    }
}

/// Checks that no tool name from a program gives an export more than its prelude declared.
#[test]
fn an_export_calls_what_its_prelude_says_and_the_run_was_granted() {
    let source = "(ns shop) (defn price \"Of one.\" [x] (tool/price {:of x})) (defn with [f x] (f x))";
    let prelude = Prelude::compile(&runtime(), source).unwrap();
    // Without the tool, attaching the prelude fails.
    assert!(runtime().attach(&prelude, &Attach::new()).is_err());
    let tools = Tools::new().with("price", |_| Ok(5)).private("price", |_| Ok(()));
    let attached = runtime().with_tools(tools.clone()).attach(&prelude, &Attach::new()).unwrap();
    let run = |program: &str| attached.eval(program, &Grants::new());
    assert_eq!(run("(shop/price :tea)").unwrap().print().unwrap(), "5");
    for road in [
        "(tool/price {:of 1})",
        "(shop/with tool/price {:of 1})",
        "(map tool/price [{}])",
        "(call \"price\" {})",
    ] {
        assert_eq!(run(road).expect_err(road).reason(), "private_tool_unauthorized", "{road}");
    }
}
