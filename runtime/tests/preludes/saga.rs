//! The shipped prelude `saga`.

use super::common::*;
use ptc_runtime::effects::{FileLedger, Filter, Ledger, State, Verdict};
use ptc_runtime::{Attach, Grants, LoadOptions, Prelude, Runtime, ToolError, Tools};
use std::sync::{Arc, Mutex};

/// A world of bookings, which knows what was done to it.
#[derive(Clone, Default)]
struct World {
    done: Arc<Mutex<Vec<String>>>,
    /// Calls that fail, and calls whose answers are lost.
    broken: Arc<Mutex<Vec<&'static str>>>,
    lost: Arc<Mutex<Vec<&'static str>>>,
}

impl World {
    fn runtime(&self) -> Runtime {
        let mut tools = Tools::new();
        for name in ["book", "cancel", "order", "recall", "charge", "refund"] {
            let world = self.clone();
            tools = tools.with(name, move |args| {
                if world.broken.lock().unwrap().contains(&name) {
                    return Err(ToolError::new("out of order"));
                }
                let id = args.json()?["id"].clone();
                world.done.lock().unwrap().push(if id.is_null() {
                    name.to_string()
                } else {
                    format!("{name} {id}")
                });
                match world.lost.lock().unwrap().contains(&name) {
                    true => Err(ToolError::unanswered("no answer")),
                    false => Ok(serde_json::json!({"id": 7})),
                }
            });
        }
        let saga = Prelude::load(&runtime(), ptc_preludes::saga(), &LoadOptions::default()).unwrap();
        runtime().with_tools(tools).attach(&saga, &Attach::new()).unwrap()
    }

    fn done(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }
}

const TRIP: &str = r#"
[(saga/step "room" (fn [_] (tool/book {})) (fn [room] (tool/cancel {:id (:id room)})))
 (saga/step "taxi" (fn [[room]] (tool/order {:id (:id room)})) (fn [taxi] (tool/recall {:id (:id taxi)})))
 (saga/step "card" (fn [_] (tool/charge {})) (fn [_] (tool/refund {})))]
"#;

fn attempt(runtime: &Runtime, grants: &Grants) -> String {
    let program = format!(
        "(let [ended (saga/attempt {TRIP})] [(:ok ended) (:reason ended) (:step ended) (:undone ended) (map :step (:not-undone ended))])"
    );
    runtime.eval(&program, grants).unwrap_or_else(|failure| panic!("{failure}")).print().unwrap()
}

#[test]
fn steps_get_the_results_of_those_before_them() {
    let world = World::default();
    let outcome = world.runtime().eval(&format!("(map :id (saga/run {TRIP}))"), &Grants::new()).unwrap();
    assert_eq!(outcome.print().unwrap(), "[7 7 7]");
    assert_eq!(world.done(), ["book", "order 7", "charge"]);
}

#[test]
fn what_was_done_before_a_failure_is_undone_in_reverse() {
    let world = World::default();
    world.broken.lock().unwrap().push("charge");
    let ended = attempt(&world.runtime(), &Grants::new());
    assert_eq!(ended, r#"[false "step_failed" "card" ["taxi" "room"] []]"#);
    assert_eq!(world.done(), ["book", "order 7", "recall 7", "cancel 7"]);
    // The first step has nothing before it.
    let world = World::default();
    world.broken.lock().unwrap().push("book");
    assert_eq!(attempt(&world.runtime(), &Grants::new()), r#"[false "step_failed" "room" [] []]"#);
    assert_eq!(world.done(), [""; 0]);
}

#[test]
fn a_step_that_cannot_be_undone_does_not_keep_the_others_from_it() {
    let world = World::default();
    world.broken.lock().unwrap().extend(["charge", "recall"]);
    let ended = attempt(&world.runtime(), &Grants::new());
    assert_eq!(ended, r#"[false "step_failed" "card" ["room"] ["taxi"]]"#);
    assert_eq!(world.done(), ["book", "order 7", "cancel 7"]);
}

#[test]
fn a_failure_that_is_a_value_is_a_failure() {
    let program = r#"
(defn noted [log name] (saga/step name (fn [_] (swap! log conj name)) (fn [_] (swap! log conj (str "un-" name)))))
(let [log (atom [])
      ended (saga/attempt [(noted log "a") (saga/step (fn [_] {:ok false :reason :refused}) nil)])]
  [(:error ended) (:step ended) @log])"#;
    let outcome = World::default()
        .runtime()
        .eval(program, &Grants::new())
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(outcome.print().unwrap(), r#"[":refused" 1 ["a" "un-a"]]"#);
}

#[test]
fn run_fails_with_what_attempt_says() {
    let world = World::default();
    world.broken.lock().unwrap().push("charge");
    let failure = world.runtime().eval(&format!("(saga/run {TRIP})"), &Grants::new()).unwrap_err();
    let value = ptc_runtime::bridge::datum_to_json(&failure.value.clone().unwrap()).unwrap();
    assert_eq!(
        (failure.reason(), &value["reason"], &value["step"]),
        ("fail", &"step_failed".into(), &"card".into())
    );
    let failure = world.runtime().eval("(saga/run [1])", &Grants::new()).unwrap_err();
    assert!(failure.to_string().contains("saga/step"), "{failure}");
}

#[test]
fn with_a_ledger_a_saga_is_finished_by_running_it_again() {
    let (world, folder) = (World::default(), tempfile::TempDir::new().unwrap());
    let ledger = || Arc::new(FileLedger::open(folder.path().join("effects.ledger")).unwrap());
    let grants = || Grants::new().recorded(ledger(), "trip");
    let runtime = world.runtime();
    // Nobody knows whether the card was charged: nothing is undone, now or when it is run again.
    world.lost.lock().unwrap().push("charge");
    for _ in 0..2 {
        assert_eq!(attempt(&runtime, &grants()), r#"[false "outcome_unknown" "card" [] []]"#);
    }
    assert_eq!(world.done(), ["book", "order 7", "charge"]);
    // It was not, and is refused now: the saga goes back, and its undoing is not repeated either.
    let open =
        pollster::block_on(ledger().list(Filter { states: vec![State::Unknown], ..Filter::default() }))
            .unwrap();
    pollster::block_on(ledger().settle(&open[0].intent.id, Verdict::NotDone)).unwrap();
    world.lost.lock().unwrap().clear();
    world.broken.lock().unwrap().push("charge");
    for _ in 0..3 {
        assert_eq!(attempt(&runtime, &grants()), r#"[false "step_failed" "card" ["taxi" "room"] []]"#);
    }
    assert_eq!(world.done(), ["book", "order 7", "charge", "recall 7", "cancel 7"]);
}
