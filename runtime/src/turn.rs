//! Services for a program that is one turn of a longer mission: `(task …)`, `(task-reset …)`, `(step-done …)` and
//! `(budget/remaining)`.

use ptc_bytecode::Datum;
use ptc_vm::{Branches, Frozen};

/// The journal and the budget of a mission, kept by the host that runs its turns. Its methods are called while the
/// program runs, on its thread, so they should be quick. Branches of `pmap` and `pcalls` have no journal, since
/// they finish in no fixed order; they do see the budget.
///
/// ```
/// use ptc_runtime::{Datum, Frozen, Grants, Node, Runtime, TurnHost};
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
///
/// #[derive(Default)]
/// struct Journal(Mutex<HashMap<String, Frozen>>);
/// impl TurnHost for Journal {
///     fn task(&self, id: &str) -> Option<Frozen> {
///         self.0.lock().unwrap().get(id).cloned()
///     }
///     fn task_done(&self, id: &str, value: Frozen) {
///         self.0.lock().unwrap().insert(id.to_string(), value);
///     }
///     fn task_reset(&self, id: &str) {
///         self.0.lock().unwrap().remove(id);
///     }
///     fn step_done(&self, _id: &str, _summary: &str) {}
///     fn budget(&self) -> Datum {
///         Datum::new(vec![Node::Keyword("turns".into()), Node::Int(3), Node::Map(1)]).unwrap()
///     }
/// }
///
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let grants = Grants::new().turn_host(Arc::new(Journal::default()));
/// let eval = |source: &str| runtime.eval(source, &grants);
/// assert_eq!(eval("(task \"load\" (+ 1 2))")?.print()?, "3");
/// assert_eq!(eval("(task \"load\" (+ 1 nil))")?.print()?, "3"); // done already, so not run
/// assert_eq!(eval("(:turns (budget/remaining))")?.print()?, "3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait TurnHost: Send + Sync {
    /// Returns the stored value of a task that is done.
    fn task(&self, id: &str) -> Option<Frozen>;

    /// Returns the tasks that are done. Their values may name tools that are no longer granted.
    fn done_tasks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Records that a task is done. Store its value at once: it counts even if the program fails later.
    fn task_done(&self, id: &str, value: Frozen);

    /// Records that a task is to be done again; nothing happens if it was not done.
    fn task_reset(&self, id: &str);

    /// Records that a step of a plan is done. The last summary for an id wins.
    fn step_done(&self, id: &str, summary: &str);

    /// Returns the value of `(budget/remaining)`.
    fn budget(&self) -> Datum;

    /// Reports that the program waits for branches of `pmap` or `pcalls` from here on. Nested branches are not
    /// reported.
    fn branches_start(&self, branches: &Branches) {
        let _ = branches;
    }

    /// Reports that the branches have ended: all of them, or as many as were started when one failed.
    fn branches_end(&self, branches: &Branches) {
        let _ = branches;
    }
}
