//! Sessions: programs that run one after the other and see each other's definitions.
//!
//! Each program is a transaction. When it succeeds, its definitions are committed and its value becomes `*1`; when it
//! faults, the session is unchanged.

mod builder;

pub use builder::SessionBuilder;

use crate::function::Function;
use crate::host::{Grants, Runtime};
use crate::prelude::{Attach, FrozenRef, Prelude};
use crate::program::Program;
use crate::run::{Failure, Outcome, Run};
use crate::tools::Tools;
use ptc_bytecode::{Code, Diagnostic, used_export};
use ptc_vm::{Fault, Frozen, Remembered, Vm};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The memory of a session.
#[derive(Clone, Default)]
struct Memory {
    defs: BTreeMap<String, Frozen>,
    /// Results of the last turns, newest first.
    history: Vec<Remembered>,
}

/// Number of results that a session keeps: `*1`, `*2` and `*3`.
const HISTORY: usize = 3;

/// Programs that run one after the other and see each other's definitions.
///
/// ```
/// let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core())?;
/// let mut session = runtime.session();
/// session.eval("(defn twice [x] (* 2 x))")?;
/// assert_eq!(session.eval("(twice 21)")?.print()?, "42");
/// assert!(session.eval("(def twice 1) (+ 1 nil)").is_err());
/// assert_eq!(session.eval("(twice *1)")?.print()?, "84");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A clone is independent from then on; data that both remember is shared.
#[derive(Clone)]
pub struct Session {
    runtime: Runtime,
    memory: Memory,
    grants: Grants,
    /// Stored preludes it was started with; None if it was started without.
    frozen: Option<Vec<FrozenRef>>,
}

impl Runtime {
    /// Starts a session: programs that see each other's definitions.
    pub fn session(&self) -> Session {
        Session::new(self.clone())
    }
}

impl Session {
    pub(crate) fn new(runtime: Runtime) -> Session {
        Session { runtime, memory: Memory::default(), grants: Grants::new(), frozen: None }
    }

    /// Starts building a session with stored preludes, or one that may write them.
    pub fn builder(runtime: &Runtime) -> SessionBuilder {
        SessionBuilder::new(runtime)
    }

    /// Returns the stored preludes it was started with, at their versions then; empty if there are none.
    pub fn frozen(&self) -> &[FrozenRef] {
        self.frozen.as_deref().unwrap_or_default()
    }

    /// Grants data to all programs from now on.
    #[must_use]
    pub fn with_grants(mut self, grants: Grants) -> Session {
        self.grants = grants;
        self
    }

    /// Replaces the granted data and the handle for cancelling from now on.
    pub fn set_grants(&mut self, grants: Grants) {
        self.grants = grants;
    }

    /// Replaces the tools from now on.
    pub fn set_tools(&mut self, tools: Tools) {
        self.runtime = self.runtime.clone().with_tools(tools);
    }

    /// Switches to another runtime, with other limits, tools or preludes. Definitions stay; a function that calls a
    /// removed export faults when it gets there. Refused by a session that was started with stored preludes.
    ///
    /// ```
    /// let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core())?;
    /// let mut session = runtime.session();
    /// session.eval("(def n 20)")?;
    /// let limits = ptc_runtime::Limits { fuel: 5, ..*runtime.current_limits() };
    /// session.set_runtime(runtime.limits(limits))?;
    /// assert_eq!(session.eval("(reduce + (range n))").unwrap_err().reason(), "fuel_exceeded");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_runtime(&mut self, runtime: Runtime) -> Result<(), Failure> {
        self.may_change_prelude("")?;
        self.runtime = runtime;
        Ok(())
    }

    /// Refuses if it was started with stored preludes.
    fn may_change_prelude(&self, source: &str) -> Result<(), Failure> {
        let Some(frozen) = &self.frozen else { return Ok(()) };
        let names: Vec<String> = frozen.iter().map(|f| format!("{}@{}", f.id, f.version)).collect();
        let message = format!("this session keeps to the preludes it started with: {}", names.join(", "));
        let problem = Diagnostic::without_span(Code::InvalidConfig, message)
            .hint("start another session for another prelude");
        Err(Failure::compile(vec![problem], source))
    }

    /// Returns the runtime of its programs.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Runs one program to its end, blocking.
    pub fn eval(&mut self, source: &str) -> Result<Outcome, Failure> {
        let outcome = self.start(source)?.finish()?;
        self.commit_within_limits(&outcome, source)?;
        Ok(outcome)
    }

    /// Runs one program with this prelude in place of the session's own. Refused by a session that was started with
    /// stored preludes.
    ///
    /// ```
    /// use ptc_runtime::{Prelude, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let prelude = Prelude::compile(&runtime, "(ns a) (def x 1)")?;
    /// let mut session = runtime.session();
    /// assert_eq!(session.eval_with("(def y a/x)", &prelude)?.print()?, "#'y");
    /// assert_eq!(session.eval("y")?.print()?, "1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn eval_with(&mut self, source: &str, prelude: &Prelude) -> Result<Outcome, Failure> {
        self.may_change_prelude(source)?;
        let other = self.runtime.clone().without_preludes().attach(prelude, &Attach::new())?;
        let own = std::mem::replace(&mut self.runtime, other);
        let outcome = self.eval(source);
        self.runtime = own;
        outcome
    }

    /// Runs one program to its end without blocking the polling thread.
    pub async fn eval_async(&mut self, source: &str) -> Result<Outcome, Failure> {
        let outcome = self.start(source)?.finish_async().await?;
        self.commit_within_limits(&outcome, source)?;
        Ok(outcome)
    }

    /// Checks a program without running it.
    pub fn check(&self, source: &str) -> Result<(), Vec<Diagnostic>> {
        self.compile(source).map(|_| ()).map_err(|failure| failure.diagnostics)
    }

    /// Makes a run to be driven by hand; pass its outcome to [`Session::commit`].
    pub fn start(&self, source: &str) -> Result<Run, Failure> {
        let program = self.compile(source)?;
        let mut run = self.runtime.start_checked(&program, &self.grants, Some(&self.memory.defs))?;
        if let Some(vm) = &mut run.vm {
            vm.set_history(&self.memory.history);
            define_used(vm, &program, &self.memory.defs);
            if self.grants.turn.is_some() {
                // A function out of the journal may use definitions that this program does not name.
                let (defs, attached) = (self.memory.defs.clone(), program.attached().cloned());
                vm.set_definitions(Arc::new(move |name| {
                    let export = || attached.as_ref()?.meaning(name).cloned();
                    defs.get(name).filter(|_| used_export(name).is_none()).cloned().or_else(export)
                }));
            }
        }
        Ok(run)
    }

    /// Commits like [`Session::commit`], unless all definitions together would be larger than `limits.granted_bytes`;
    /// then the session is unchanged. `source` is the text of the run's program.
    pub fn commit_within_limits(&mut self, outcome: &Outcome, source: &str) -> Result<(), Failure> {
        let new: BTreeMap<String, Frozen> = outcome.definitions().into_iter().collect();
        let old = self.memory.defs.iter().filter(|(name, _)| !new.contains_key(*name));
        let kept = Frozen::bytes_of_all(new.values().chain(old.map(|(_, value)| value))) as u64;
        let limit = outcome.vm.limits().granted_bytes;
        if new.is_empty() || kept <= limit {
            self.memory.defs.extend(new);
            self.remember(outcome.freeze());
            return Ok(());
        }
        let message = format!("all definitions are {kept} bytes, more than limits.granted_bytes = {limit}");
        let fault = Fault::new(Code::MemoryExceeded, message)
            .hint("define less, or redefine a name, which frees its old value");
        let mut failure = Failure::compile(vec![fault.to_diagnostic()], source);
        failure = failure.with_warnings(outcome.warnings().to_vec());
        (failure.prints, failure.fuel) = (outcome.prints.clone(), outcome.fuel);
        Err(failure)
    }

    /// Makes the definitions of a finished run the session's own and its value `*1`, however large they are.
    pub fn commit(&mut self, outcome: &Outcome) {
        self.memory.defs.extend(outcome.definitions());
        self.remember(outcome.freeze());
    }

    /// Makes a value `*1`. If the value was too large to keep, reading it is an error that says so.
    ///
    /// ```
    /// use ptc_runtime::{Remembered, Runtime};
    /// let mut session = Runtime::with_core(ptc_preludes::core())?.session();
    /// session.eval("[1 2]")?;
    /// session.remember(Remembered::Gap("it was larger than anything".into()));
    /// let failure = session.eval("(count *1)").unwrap_err();
    /// assert_eq!(failure.diagnostic().message, "`*1` was not kept: it was larger than anything");
    /// assert_eq!(session.eval("(count *2)")?.print()?, "2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remember(&mut self, result: impl Into<Remembered>) {
        self.memory.history.insert(0, result.into());
        self.memory.history.truncate(HISTORY);
    }

    /// Sets other limits from now on.
    pub fn set_limits(&mut self, limits: ptc_bytecode::Limits) {
        self.runtime = self.runtime.clone().limits(limits);
    }

    /// Returns the tools programs may call.
    pub fn tools(&self) -> &Tools {
        self.runtime.tools()
    }

    /// Returns the results of `*1 *2 *3`, newest first, and older ones if more are kept.
    pub fn history(&self) -> &[Remembered] {
        &self.memory.history
    }

    /// Defines a name, as a program would.
    ///
    /// ```
    /// use ptc_runtime::{Datum, Frozen, Node};
    /// let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core())?;
    /// let mut session = runtime.session();
    /// session.define("n", Frozen::from_datum(&Datum::scalar(Node::Int(20)))?);
    /// assert_eq!(session.eval("(inc n)")?.print()?, "21");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn define(&mut self, name: impl Into<String>, value: Frozen) {
        self.memory.defs.insert(name.into(), value);
    }

    /// Returns the names defined so far, sorted.
    pub fn defined(&self) -> impl Iterator<Item = &str> {
        self.memory.defs.keys().map(String::as_str)
    }

    /// Returns a function of this session as it is now, to be called from Rust. `name` is that of a definition or of an
    /// export.
    ///
    /// ```
    /// let mut session = ptc_runtime::Runtime::with_core(ptc_preludes::core())?.session();
    /// session.eval("(defn area [width height] (* width height))")?;
    /// let mut area = session.function("area")?;
    /// assert_eq!(area.call::<i64>(&(3, 4))?, 12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn function(&self, name: &str) -> Result<Function, Failure> {
        let source = Function::source(name)?;
        let definitions = Arc::new(self.memory.defs.clone());
        Ok(Function::new(&self.runtime, &self.compile(&source)?, &self.grants, definitions))
    }

    /// Returns the value of a definition.
    pub fn definition(&self, name: &str) -> Option<&Frozen> {
        self.memory.defs.get(name)
    }

    fn compile(&self, source: &str) -> Result<Program, Failure> {
        let scope = self
            .runtime
            .scope()
            .with_defs(self.defined())
            .with_done_tasks(self.grants.turn.iter().flat_map(|host| host.done_tasks()));
        self.runtime.compile_in(source, &scope)
    }
}

/// Gives a machine the definitions that its program uses, and those that their functions use.
pub(crate) fn define_used(vm: &mut Vm, program: &Program, definitions: &BTreeMap<String, Frozen>) {
    // Functions of earlier programs need further definitions: repeat until all are there. A definition never replaces
    // an export that a prelude uses.
    let own = |name: &&str| used_export(name).is_none();
    let known = |name: &str| definitions.get_key_value(Some(name).filter(own)?);
    while let Some((name, value)) = { vm.undefined().find_map(known) } {
        vm.define(name, value);
    }
    if let Some(attached) = program.attached() {
        attached.bind(vm);
    }
}
