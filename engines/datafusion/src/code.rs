//! The code of functions: preludes attached to a runtime, and the programs that call them.

use crate::reference::Reference;
use crate::refused::Refused;
use datafusion::error::{DataFusionError, Result};
use ptc_bytecode::Effect;
use ptc_runtime::{Attach, Evaluator, ExportRecord, Frozen, Grants, Prelude, Program, Runtime, Tools};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Name of the record of a row.
pub(crate) const ROW: &str = "row";
/// Names of what aggregates read.
pub(crate) const ROWS: &str = "rows";
pub(crate) const STATE: &str = "state";
pub(crate) const OTHER: &str = "other";

/// Preludes that are ready to run, with the limits of their runtime. Every thread of every query shares them.
pub struct Code {
    runtime: Runtime,
    /// Compiled programs by their text: a query calls few.
    programs: Mutex<HashMap<String, Program>>,
    /// Initial states of aggregates, by namespace.
    initial: Mutex<HashMap<String, Frozen>>,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespaces = self.runtime.preludes().flat_map(|prelude| prelude.namespaces());
        f.debug_list().entries(namespaces.map(|namespace| &namespace.name)).finish()
    }
}

impl Code {
    /// Attaches preludes, each after those it uses. Refused if one of their exports reaches a tool, or data that queries do
    /// not have.
    pub fn link(runtime: &Runtime, preludes: &[Prelude]) -> Result<Code, Refused> {
        for export in preludes.iter().flat_map(|prelude| prelude.exports()) {
            check_pure(export)?;
        }
        let runtime = runtime.clone().with_tools(Tools::new());
        let runtime = preludes.iter().try_fold(runtime, |runtime, prelude| {
            runtime.attach(prelude, &Attach::new()).map_err(|failure| failure.diagnostic().clone())
        })?;
        // What they reach through each other is only known now.
        for export in runtime.preludes().flat_map(|prelude| prelude.exports()) {
            check_pure(export)?;
        }
        Ok(Code { runtime, programs: Mutex::default(), initial: Mutex::default() })
    }

    /// Returns the runtime with the preludes.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the program that calls a function with the members of a record.
    pub(crate) fn call(&self, target: &str, names: &[String]) -> Result<Program> {
        self.program(format!("({target}{})", members(names, &format!("data/{ROW}"))))
    }

    /// Returns the program that folds records into a state.
    pub(crate) fn fold(&self, namespace: &str, names: &[String]) -> Result<Program> {
        let step = format!("({namespace}/step state{})", members(names, "row"));
        self.program(format!("(reduce (fn [state row] {step}) data/{STATE} data/{ROWS})"))
    }

    /// Returns the program that combines two states.
    pub(crate) fn combine(&self, namespace: &str) -> Result<Program> {
        self.program(format!("({namespace}/combine data/{STATE} data/{OTHER})"))
    }

    /// Returns the program that makes a value of a state.
    pub(crate) fn finish(&self, namespace: &str) -> Result<Program> {
        let finish = format!("{namespace}/finish");
        let has_finish = self.runtime.prelude_of(&finish).is_some();
        self.program(match has_finish {
            true => format!("({finish} data/{STATE})"),
            false => format!("data/{STATE}"),
        })
    }

    /// Returns the initial state of an aggregate.
    pub(crate) fn initial(&self, namespace: &str) -> Result<Frozen> {
        if let Some(known) = locked(&self.initial).get(namespace) {
            return Ok(known.clone());
        }
        let program = self.program(format!("{namespace}/init"))?;
        let initial = Evaluator::new(&self.runtime, &program).again().map_err(failed)?.freeze();
        Ok(locked(&self.initial).entry(namespace.to_string()).or_insert(initial).clone())
    }

    /// Runs a program once.
    pub(crate) fn once(
        &self,
        program: &Program,
        grants: Grants,
    ) -> Result<ptc_runtime::Outcome, ptc_runtime::Failure> {
        self.runtime.start_with(program, &grants)?.finish()
    }

    fn program(&self, text: String) -> Result<Program> {
        if let Some(known) = locked(&self.programs).get(&text) {
            return Ok(known.clone());
        }
        let program = self.runtime.compile(&text).map_err(failed)?;
        Ok(locked(&self.programs).entry(text).or_insert(program).clone())
    }
}

fn failed(failure: ptc_runtime::Failure) -> DataFusionError {
    let diagnostic = failure.diagnostic();
    DataFusionError::Execution(format!("{}: {}", diagnostic.code.reason(), diagnostic.message))
}

/// No value in there can be half done, so a panic of another thread does not matter.
fn locked<T>(lock: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn members(names: &[String], record: &str) -> String {
    names.iter().map(|name| format!(" (get {record} {name:?})")).collect()
}

/// Refuses an export that is not a function of its arguments alone.
fn check_pure(export: &ExportRecord) -> Result<(), Refused> {
    let name = export.reference();
    if let Some(tool) = export.tool_refs.first() {
        let message = format!("`{name}` calls the tool `{tool}`, but functions of queries reach no tools");
        return Err(Refused::new(message).hint("pass it what it needs as an argument, such as a column"));
    }
    if let Some(needed) = export.requires.first() {
        let message = format!("`{name}` needs the grant `{needed}`, but functions of queries reach no tools");
        return Err(Refused::new(message).hint("pass it what it needs as an argument, such as a column"));
    }
    if export.dynamic {
        let message = format!(
            "`{name}` chooses operations of servers when it runs, but functions of queries reach no tools"
        );
        return Err(Refused::new(message).hint("pass it what it needs as an argument, such as a column"));
    }
    if let Some(key) = export.data_keys.first() {
        let message =
            format!("`{name}` reads `data/{key}`, but functions of queries only have their arguments");
        return Err(Refused::new(message).hint(format!("make `{key}` a parameter")));
    }
    Ok(())
}

/// True if code of a prelude reads the clock, or other things that its arguments do not determine.
pub(crate) fn is_volatile(prelude: &Prelude) -> bool {
    prelude.artifact().imports.iter().any(|name| {
        let builtin = ptc_bytecode::lookup(name);
        let row = builtin.as_ref().and_then(|builtin| builtin.row());
        row.is_some_and(|row| matches!(row.effect, Effect::Clock | Effect::Journal | Effect::Host))
    })
}

/// Where artifacts come from, by their hashes: anything may have written them there.
pub trait Library: fmt::Debug + Send + Sync {
    /// Returns the code of a reference, or a message that says why it may not run here.
    fn find(&self, reference: &Reference) -> Result<Arc<Code>, String>;
}

/// The code of one function: present, or found when it first runs.
#[derive(Clone, Debug)]
pub enum Body {
    /// Present.
    Ready(Arc<Code>),
    /// Found in a library.
    Elsewhere(Arc<dyn Library>, Arc<OnceLock<Arc<Code>>>),
    /// Not to be run in this process, such as a scheduler that only plans.
    Absent,
}

impl Body {
    /// Makes the body of a function whose code is found in a library when it first runs.
    pub fn of_library(library: Arc<dyn Library>) -> Body {
        Body::Elsewhere(library, Arc::default())
    }

    pub(crate) fn code(&self, reference: &Reference) -> Result<Arc<Code>> {
        let refused = |why: String| DataFusionError::Execution(format!("`{}`: {why}", reference.name));
        match self {
            Body::Ready(code) => Ok(code.clone()),
            Body::Elsewhere(library, found) => match found.get() {
                Some(code) => Ok(code.clone()),
                None => {
                    let code = library.find(reference).map_err(refused)?;
                    Ok(found.get_or_init(|| code).clone())
                }
            },
            Body::Absent => Err(refused("its code is not in this process".to_string())),
        }
    }
}
