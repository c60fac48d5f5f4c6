//! The prelude `log` over recorded turns.

use crate::sample::mission;
use ptc_agent::trace::{Analyzer, LOG_TOOLS, TurnLog, start_memory_sink};
use ptc_runtime::{Attach, Grants, LoadOptions, Prelude, Runtime, Tools};

fn run(program: &str) -> Result<String, String> {
    let (tracer, memory) = start_memory_sink();
    let tracer = tracer.deterministic();
    (0..40).for_each(|_| mission(&tracer));
    let tools = TurnLog::new(&Analyzer::of(memory.events())).grant(Tools::new()).unwrap();
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let prelude = Prelude::load(&runtime, ptc_preludes::log(), &LoadOptions::default()).unwrap();
    let runtime = runtime.with_tools(tools).attach(&prelude, &Attach::new()).unwrap();
    let outcome = runtime.eval(program, &Grants::new());
    outcome.map(|outcome| outcome.print().unwrap()).map_err(|failure| failure.to_string())
}

fn value(program: &str) -> String {
    run(program).unwrap_or_else(|failure| panic!("{program}\n{failure}"))
}

#[test]
fn pages_have_a_shape() {
    let page =
        "(let [page (log/turns)] [(count (:items page)) (:next_cursor page) (:has_more page) (:limit page)])";
    assert_eq!(value(page), "[20 \"20\" true 20]");
    assert_eq!(value("(:turn (first (:items (log/turns {:cursor \"119\" :limit 5}))))"), "2");
    assert_eq!(value("(:has_more (log/turns {:cursor \"119\"}))"), "false");
    assert_eq!(value("(:items (log/turns {:cursor 500}))"), "[]");
}

#[test]
fn all_of_them() {
    assert_eq!(value("(count (log/turns-all))"), "120");
    assert_eq!(value("(count (log/sessions-all))"), "80");
    assert_eq!(value("(count (log/sessions-all {:agent \"helper\" :limit 7}))"), "40");
    assert_eq!(
        value("(frequencies (map :program (log/programs-all {:agent \"helper\"})))"),
        "{\"(fail :nothing)\" 40}"
    );
    assert_eq!(value("(count (log/tool-calls-all {:tool \"search\"}))"), "120");
    assert_eq!(value("(:outcome (first (:items (log/tool-calls))))"), "\"ok\"");
}

#[test]
fn queries_narrow() {
    assert_eq!(value("(count (log/turns-all {:failed true}))"), "80");
    assert_eq!(value("(count (log/turns-all {:failed false :contains \"return\"}))"), "40");
    assert_eq!(value("(count (log/turns-all {:contains \"never said\"}))"), "0");
    assert_eq!(
        value(
            "(let [id (:session_id (first (:items (log/sessions))))] (count (log/turns-all {:session id})))"
        ),
        "1"
    );
}

#[test]
fn what_is_wrong_is_told() {
    for (program, wanted) in [
        ("(log/turns {:limit 0})", "`limit` must be from 1 to 100, but it is 0"),
        ("(log/turns {:cursor \"x\"})", "`cursor` must be the `next_cursor` of a page"),
        ("(log/turns {:sesion \"x\"})", "unknown field `sesion`"),
    ] {
        let failure = run(program).unwrap_err();
        assert!(failure.contains(wanted), "{program}: {failure}");
    }
    let taken = Tools::new().with(LOG_TOOLS[1], |_| Ok(1));
    let log = TurnLog::new(&Analyzer::default());
    assert!(log.grant(taken).err().unwrap().contains("`log_turns` is granted already"));
}
