//! Engine: the library, tools, data and limits of programs.

use crate::Program;
use ptc_runtime::effects::Ledger;
use ptc_runtime::{
    Attach, Cancel, Failure, Grants, Limits, Outcome, Prelude, Run, Runtime, Session, ToolError, Tools,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

/// The library, tools, data and limits that programs run with. A method that changes something returns the changed
/// engine; clones are cheap and independent.
#[derive(Clone)]
pub struct Engine {
    runtime: Runtime,
    grants: Grants,
}

impl Engine {
    /// Makes an engine with the core library and the default limits, without tools and data.
    pub fn new() -> Result<Engine, Failure> {
        Ok(Runtime::with_core(ptc_preludes::core())?.into())
    }

    /// Adds a tool that programs call as `(tool/<name> {…})`. Its arguments can be of any type that deserialises from
    /// that map, and its result of any type that serialises.
    #[must_use]
    pub fn tool<A: DeserializeOwned, T: Serialize>(
        self,
        name: &str,
        tool: impl Fn(A) -> Result<T, ToolError> + Send + Sync + 'static,
    ) -> Engine {
        let tools = Tools::clone(self.runtime.tools()).with(name, move |args| tool(args.parse()?));
        self.tools(tools)
    }

    /// Adds an async tool. Waiting calls hold no thread, if the program was started by an async method.
    #[must_use]
    pub fn tool_async<A, T, F>(self, name: &str, tool: impl Fn(A) -> F + Send + Sync + 'static) -> Engine
    where
        A: DeserializeOwned,
        T: Serialize,
        F: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let tools = Tools::clone(self.runtime.tools()).with_async(name, move |args| {
            let answer = args.parse().map(&tool);
            async move { answer?.await }
        });
        self.tools(tools)
    }

    /// Adds a tool with declared arguments and result: a [`ToolDefinition`](crate::ToolDefinition), such as
    /// [`tool`](macro@crate::tool) makes from a function. A program that calls it with other arguments, or reads a
    /// field that no result has, is refused before it runs.
    #[cfg(feature = "macros")]
    #[must_use]
    pub fn with_tool(self, tool: crate::ToolDefinition) -> Engine {
        let tools = tool.grant(Tools::clone(self.runtime.tools()));
        self.tools(tools)
    }

    /// Replaces all tools: for tools that only preludes may call, that are observed, or whose results are shared data.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Engine {
        self.runtime = self.runtime.with_tools(tools);
        self
    }

    /// Grants programs anything that serialises as `data/<name>`. It is stored once, however many programs read it.
    pub fn data<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Result<Engine, Failure> {
        self.grants = self.grants.serde(name, value)?;
        Ok(self)
    }

    /// Replaces all granted data.
    #[must_use]
    pub fn grants(mut self, grants: Grants) -> Engine {
        self.grants = grants;
        self
    }

    /// Sets the limits of programs.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Engine {
        self.runtime = self.runtime.limits(limits);
        self
    }

    /// Sets a handle that ends running programs, and all later ones, once cancelled.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Engine {
        self.grants = self.grants.cancel(cancel);
        self
    }

    /// Writes every call that may change something to a ledger before it is sent, so that none is made twice: see
    /// [`Grants::recorded`](ptc_runtime::Grants::recorded). Each program needs a run name of its own.
    #[must_use]
    pub fn recorded(mut self, ledger: Arc<dyn Ledger>, run: &str) -> Engine {
        self.grants = self.grants.recorded(ledger, run);
        self
    }

    /// Attaches a library of your own: see [`Prelude::compile`]. It may call the tools the engine has at this
    /// point, and is added to those attached before.
    pub fn attach(mut self, prelude: &Prelude) -> Result<Engine, Failure> {
        self.runtime = self.runtime.attach(prelude, &Attach::new())?;
        Ok(self)
    }

    /// Compiles and runs a program, and returns its value as a Rust type.
    pub fn eval<T: DeserializeOwned>(&self, source: &str) -> Result<T, Failure> {
        self.run(source)?.get()
    }

    /// Compiles and runs a program without blocking the polling thread, and returns its value as a Rust type.
    pub async fn eval_async<T: DeserializeOwned>(&self, source: &str) -> Result<T, Failure> {
        self.runtime.eval_async(source, &self.grants).await?.get()
    }

    /// Compiles and runs a program. The outcome also has its printed output, its fuel, and its value in every form.
    pub fn run(&self, source: &str) -> Result<Outcome, Failure> {
        self.runtime.eval(source, &self.grants)
    }

    /// Compiles a program, to be run any number of times. It may only name the tools of the engine; without any, it
    /// may name any tool, for a host that [steps](Program::start) the run and supplies the results itself.
    pub fn compile(&self, source: &str) -> Result<Program, Failure> {
        Ok(Program::new(self, self.runtime.compile(source)?))
    }

    /// Starts a session: programs that see each other's definitions.
    pub fn session(&self) -> Session {
        self.runtime.session().with_grants(self.grants.clone())
    }

    /// Loads a run that [`Run::snapshot`] wrote, perhaps in another process, ready to continue. The engine must have
    /// the data and the preludes that the run was started with. Damaged or forged bytes are refused.
    pub fn load(&self, bytes: &[u8]) -> Result<Run, Failure> {
        self.runtime.load(bytes, &self.grants)
    }

    /// Returns the runtime that the engine uses, for everything that the engine does not offer.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the data that programs read.
    pub fn granted(&self) -> &Grants {
        &self.grants
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tools, limits) = (self.runtime.tools(), self.runtime.current_limits());
        f.debug_struct("Engine")
            .field("tools", tools)
            .field("grants", &self.grants)
            .field("limits", limits)
            .finish()
    }
}

impl From<Runtime> for Engine {
    fn from(runtime: Runtime) -> Engine {
        Engine { runtime, grants: Grants::new() }
    }
}
