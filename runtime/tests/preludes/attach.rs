//! Checks that a run is granted everything a prelude needs.

use super::common::*;
use ptc_runtime::{Attach, Effects, Grants, Prelude, Tools};
use std::sync::Arc;

const TWO: &str = r#"(ns a) (defn first-one [] (tool/call {:server "s" :tool "one"}))
    (defn other [] (tool/fetch {})) (defn last-one [] (tool/call {:server "t" :tool "two"}))"#;

fn servers(list: Vec<Server>) -> Arc<Servers> {
    Arc::new(Servers(list))
}

fn tools() -> Tools {
    stub().with("fetch", |_| Ok(1))
}

fn problem(prelude: &Prelude, tools: Tools, attach: &Attach<'_>) -> String {
    let failure = runtime().with_tools(tools).attach(prelude, attach).err().expect("it must not fit");
    assert_eq!(failure.reason(), "prelude_attach_failed");
    failure.diagnostic().message.clone()
}

#[test]
fn the_first_miss_in_source_order_is_told() {
    let prelude = compiled(TWO);
    let message = problem(&prelude, Tools::new(), &Attach::new().upstream(servers(vec![])));
    assert!(message.contains("a/first-one requires upstream:s/one"), "{message}");
    assert!(message.contains("server `s` is not configured for this run"), "{message}");
    let s = servers(vec![("s", Some(vec![("one", Effects::Read)]))]);
    let message = problem(&prelude, Tools::new(), &Attach::new().upstream(s.clone()));
    assert!(message.contains("a/other requires granted tool `fetch`"), "{message}");
    let message = problem(&prelude, tools(), &Attach::new().upstream(s));
    assert!(message.contains("a/last-one requires upstream:t/two"), "{message}");
    let both = servers(vec![("s", Some(vec![])), ("t", None)]);
    let message = problem(&prelude, tools(), &Attach::new().upstream(both));
    assert!(message.contains("tool `one` is not present on server `s`"), "{message}");
}

#[test]
fn servers_that_are_not_loaded_are_noted_or_refused() {
    let prelude = compiled(TWO);
    let cold = servers(vec![("s", None), ("t", Some(vec![("two", Effects::Read)]))]);
    let attached =
        runtime().with_tools(tools()).attach(&prelude, &Attach::new().upstream(cold.clone())).unwrap();
    assert_eq!(attached.prelude_trace().unwrap().unverified, ["upstream:s/one"]);
    let message = problem(&prelude, tools(), &Attach::new().upstream(cold).strict(true));
    assert!(message.contains("upstream:s/one"), "{message}");
}

#[test]
fn effects_are_told_as_the_servers_know_them() {
    let prelude = compiled(CRM);
    let attached =
        runtime().with_tools(stub()).attach(&prelude, &Attach::new().upstream(crm_server())).unwrap();
    let effect = |name: &str| {
        let program = format!("(:effect (meta '{name}))");
        attached.eval(&program, &Grants::new()).unwrap().print().unwrap()
    };
    assert_eq!(effect("crm/get-user"), "\"read\"");
    // The source declares nothing, but the server says that it writes.
    assert_eq!(effect("crm/list-users"), "\"write\"");
    let trace = attached.prelude_trace().unwrap();
    assert_eq!(trace.exports.iter().find(|e| e.symbol == "list-users").unwrap().effect, "write");
}

#[test]
fn calls_to_anything_can_be_denied() {
    let any = compiled("(ns a) (defn f [s] (tool/call {:server s :tool \"t\"}))");
    assert!(runtime().with_tools(stub()).attach(&any, &Attach::new()).is_ok());
    let message = problem(&any, stub(), &Attach::new().deny_dynamic(true));
    assert!(message.contains("a/f"), "{message}");
    let declared =
        compiled("(ns a) (defn f {:requires [\"upstream:s/t\"]} [s] (tool/call {:server s :tool \"t\"}))");
    // Declaring operations does not restrict the calls.
    assert!(runtime().with_tools(stub()).attach(&declared, &Attach::new()).is_ok());
    let message = problem(&declared, stub(), &Attach::new().deny_dynamic(true));
    assert!(message.contains("a/f may call any upstream operation"), "{message}");
    let fixed = compiled("(ns a) (defn f [x] (tool/call {:server \"s\" :tool \"t\" :args {:x x}}))");
    assert!(runtime().with_tools(stub()).attach(&fixed, &Attach::new().deny_dynamic(true)).is_ok());
}

#[test]
fn the_tools_of_every_export_a_program_names_are_there_before_it_starts() {
    let prelude = compiled(TWO);
    let attached = runtime().with_tools(tools()).attach(&prelude, &Attach::new()).unwrap();
    // Other grants than at the time of attaching: the guard still checks.
    let fewer = Tools::new().with("fetch", |_| Ok(1));
    let failure = attached
        .clone()
        .with_tools(fewer.clone())
        .eval("(println 1) (map a/first-one [])", &Grants::new())
        .unwrap_err();
    assert_eq!(failure.reason(), "unknown_tool");
    assert!(failure.diagnostic().message.contains("a/first-one"), "{failure}");
    assert!(failure.prints.is_empty());
    assert!(attached.clone().with_tools(fewer.clone()).eval("(a/other)", &Grants::new()).is_ok());
}

#[test]
fn attaching_twice_adds() {
    let (a, b) = (compiled("(ns a) (def x 1)"), compiled("(ns b) (def x 2)"));
    let tools = Tools::new();
    let runtime = runtime()
        .with_tools(tools.clone())
        .attach(&a, &Attach::new())
        .unwrap()
        .with_tools(tools.clone())
        .attach(&b, &Attach::new())
        .unwrap();
    assert_eq!(runtime.eval("[a/x b/x]", &Grants::new()).unwrap().print().unwrap(), "[1 2]");
}
