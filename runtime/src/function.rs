//! Functions of programs, called from Rust with arguments of Rust.

use crate::evaluator::Evaluator;
use crate::host::{Grants, Runtime};
use crate::program::Program;
use crate::run::{Failure, Outcome};
use ptc_bytecode::{Code, Diagnostic};
use ptc_vm::Frozen;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of the data that arguments arrive as.
const ARGUMENTS: &str = "arguments";

/// A function of a program or a session, to be called from Rust any number of times. Each call is a separate run: it
/// starts with a full budget, and cannot see earlier calls. A function serves one thread; make one for
/// each.
///
/// ```
/// use ptc_runtime::{Grants, Runtime};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let program = runtime.compile("(def rate 1.25) (defn price [net {:keys [discount]}] (- (* rate net) discount))")?;
/// let mut price = runtime.function(&program, &Grants::new(), "price")?;
/// let options = std::collections::HashMap::from([("discount", 5)]);
/// assert_eq!(price.call::<f64>(&(100, &options))?, 120.0);
/// assert_eq!(price.call::<f64>(&(100,)).unwrap_err().reason(), "arity_mismatch");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Function {
    evaluator: Evaluator,
}

impl Runtime {
    /// Runs a program with these grants, and returns one of the functions it defines. Calls have the same grants.
    pub fn function(&self, program: &Program, grants: &Grants, name: &str) -> Result<Function, Failure> {
        let mut session = self.session().with_grants(grants.clone());
        session.commit(&self.start_with(program, grants)?.finish()?);
        session.function(name)
    }
}

impl Function {
    pub(crate) fn new(
        runtime: &Runtime,
        call: &Program,
        grants: &Grants,
        definitions: Arc<BTreeMap<String, Frozen>>,
    ) -> Function {
        let evaluator = Evaluator::new(runtime, call).grants(grants.clone()).definitions(definitions);
        Function { evaluator }
    }

    /// Returns the text of the program that makes the call.
    pub(crate) fn source(name: &str) -> Result<String, Failure> {
        let is_part = |c: char| c.is_alphanumeric() || "-_*+!?<>=/.&'%$".contains(c);
        match name.chars().all(is_part) && name.starts_with(|c: char| !c.is_numeric()) {
            true => Ok(format!("(apply {name} data/{ARGUMENTS})")),
            false => {
                let message = format!("`{}` is not the name of a function", name.escape_debug());
                Err(Failure::compile(vec![Diagnostic::without_span(Code::InvalidConfig, message)], ""))
            }
        }
    }

    /// Calls the function with a tuple of arguments, and returns its value as a Rust type.
    pub fn call<T: DeserializeOwned>(&mut self, arguments: &impl Arguments) -> Result<T, Failure> {
        self.outcome(arguments)?.get()
    }

    /// Calls the function as [`Function::call`] does, without blocking the polling thread.
    pub async fn call_async<T: DeserializeOwned>(
        &mut self,
        arguments: &impl Arguments,
    ) -> Result<T, Failure> {
        let run = self.evaluator.prepare_serde(ARGUMENTS, arguments)?;
        self.evaluator.finish_async(run).await?.get()
    }

    /// Calls the function, and returns everything about the call: its prints, fuel and value.
    pub fn outcome(&mut self, arguments: &impl Arguments) -> Result<&Outcome, Failure> {
        let run = self.evaluator.prepare_serde(ARGUMENTS, arguments)?;
        self.evaluator.finish(run)
    }

    /// Calls the function with frozen values, which are not copied.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime, bridge};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(defn total [rows] (reduce + rows))")?;
    /// let mut total = runtime.function(&program, &Grants::new(), "total")?;
    /// let rows = bridge::freeze(&[1, 2, 3])?;
    /// assert_eq!(total.call_frozen(&[&rows])?.get::<i64>()?, 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call_frozen(&mut self, arguments: &[&Frozen]) -> Result<&Outcome, Failure> {
        let run = self.evaluator.prepare_all_frozen(ARGUMENTS, arguments)?;
        self.evaluator.finish(run)
    }
}

/// Arguments of a [`Function`]: a tuple of up to eight values that serialise.
pub trait Arguments: Serialize {}

/// Implements [`Arguments`] for a tuple of these types and for every shorter one.
macro_rules! tuples {
    () => {
        impl Arguments for () {}
    };
    ($first:ident $($rest:ident)*) => {
        impl<$first: Serialize, $($rest: Serialize),*> Arguments for ($first, $($rest,)*) {}
        tuples!($($rest)*);
    };
}

tuples!(A B C D E F G H);
