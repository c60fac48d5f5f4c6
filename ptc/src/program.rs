//! A compiled program.

use crate::Engine;
use ptc_runtime::{Batch, Cancel, Diagnostic, Evaluator, Failure, Function, Limits, Run};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

/// A compiled program and the engine it runs in. It can be called any number of times, from any thread.
///
/// ```
/// use ptc::prelude::*;
///
/// #[derive(serde::Serialize)]
/// struct Line<'a> { item: &'a str, price: i64, amount: i64 }
///
/// let program = Engine::new()?.compile(r#"{:item data/item :total (* data/price data/amount)}"#)?;
/// let total: std::collections::HashMap<String, serde_json::Value> =
///     program.call(&Line { item: "tea", price: 3, amount: 4 })?;
/// assert_eq!(total["total"], 12);
/// # Ok::<(), Failure>(())
/// ```
#[derive(Clone)]
pub struct Program {
    engine: Engine,
    program: ptc_runtime::Program,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Program").field(self.program.source()).finish()
    }
}

impl Program {
    pub(crate) fn new(engine: &Engine, program: ptc_runtime::Program) -> Program {
        Program { engine: engine.clone(), program }
    }

    /// Runs the program on anything that serialises, and returns its value as a Rust type. The members of a struct
    /// or map are `data/<member>`, and the whole of any input is `data/row`; `&()` is no input.
    pub fn call<T: DeserializeOwned>(&self, input: &(impl Serialize + ?Sized)) -> Result<T, Failure> {
        self.evaluator().call(input)
    }

    /// Runs the program as [`Program::call`] does, without blocking the polling thread.
    pub async fn call_async<T: DeserializeOwned>(
        &self,
        input: &(impl Serialize + ?Sized),
    ) -> Result<T, Failure> {
        self.evaluator().call_async(input).await
    }

    /// Makes a run before its first step. [`Run::finish`] takes it to its end; [`Run::step`] and [`Run::resume`] are
    /// for hosts that supply the results of its calls themselves, and [`Run::snapshot`] for hosts that do so later.
    pub fn start(&self, input: &(impl Serialize + ?Sized)) -> Result<Run, Failure> {
        self.evaluator().start(input)
    }

    /// Runs the program once and returns one of the functions that it defines, to be called from Rust.
    ///
    /// ```
    /// let program = ptc::Engine::new()?.compile("(defn area [width height] (* width height))")?;
    /// let mut area = program.function("area")?;
    /// assert_eq!(area.call::<i64>(&(3, 4))?, 12);
    /// # Ok::<(), ptc::Failure>(())
    /// ```
    pub fn function(&self, name: &str) -> Result<Function, Failure> {
        self.engine.runtime().function(&self.program, self.engine.granted(), name)
    }

    /// Makes an evaluator that calls the program for one record after the other, several times as fast as single calls.
    pub fn evaluator(&self) -> Evaluator {
        Evaluator::new(self.engine.runtime(), &self.program).grants(self.engine.granted().clone())
    }

    /// Makes a batch that runs the program over many records, on all cores. A record is `data/row`.
    pub fn batch(&self) -> Batch {
        Batch::new(self.engine.runtime(), &self.program).grants(self.engine.granted().clone())
    }

    /// Returns the warnings about the program's text, in order. [`Outcome::warnings`](crate::Outcome::warnings)
    /// includes them.
    ///
    /// ```
    /// let program = ptc::Engine::new()?.compile("(+ 1 2))")?;
    /// assert_eq!(program.call::<i64>(&())?, 3);
    /// assert_eq!(program.warnings()[0].message, "this `)` closes nothing, so it was skipped");
    /// # Ok::<(), ptc::Failure>(())
    /// ```
    pub fn warnings(&self) -> &[Diagnostic] {
        self.program.warnings()
    }

    /// Sets the limits of calls.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Program {
        self.engine = self.engine.limits(limits);
        self
    }

    /// Sets a handle that ends running calls, and all later ones, once cancelled.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Program {
        self.engine = self.engine.cancel(cancel);
        self
    }
}
