//! The runtime: the library, the limits and the options every run starts from.

use crate::catalog::Catalog;
use crate::check::{self, Found, Known};
use crate::effects::{Ledger, Oversight, RunEffects};
use crate::natives;
use crate::prelude::{Attach, Attached, Policy, Prelude, Provenance, Surroundings, TrustedKeys, Upstream};
use crate::program::Program;
use crate::run::{Failure, Run};
use crate::saved::Envelope;
use crate::tools::Tools;
use crate::turn::TurnHost;
use crate::watch::{Cancel, CompileClock, StopWatch};
use ptc_bytecode::{Diagnostic, Limits, Subject, decode, verify};
use ptc_compiler::testing::TestPart;
use ptc_compiler::{CompileErrors, Compiled, DataRead, Meter, Options, Reads, Scope, compile_metered};
use ptc_vm::{Budget, Fault, Frozen, Library, Module, Vm, is_data_name, missing_data};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The shared basis of every run. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    library: Arc<Library>,
    settings: Settings,
}

#[derive(Clone)]
struct Settings {
    limits: Limits,
    tools: Arc<Tools>,
    /// True once tools were given. Until then, programs may name any tool, for a host that steps their runs to answer.
    has_tools: bool,
    optimize: bool,
    stress: bool,
    in_place: bool,
    fused: bool,
    strict_data: bool,
    trusted: Option<Arc<TrustedKeys>>,
    policy: Arc<Policy>,
    surroundings: Option<Arc<Surroundings>>,
}

/// A library and the artifact it was linked from.
struct Linked {
    bytes: Box<[u8]>,
    library: Arc<Library>,
}

/// The library linked last.
static LINKED: Mutex<Option<Linked>> = Mutex::new(None);

/// Links the library of an artifact. A process usually has one library and many runtimes, so a checked and linked
/// library is shared by all with the same bytes.
fn linked(core: &[u8]) -> Result<Arc<Library>, Diagnostic> {
    // No value in there can be half done, so a panic of another thread does not matter.
    let mut last = LINKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Linked { bytes, library }) = &*last
        && **bytes == *core
    {
        return Ok(library.clone());
    }
    let library =
        Library::new(natives::native, verify(decode(core)?)?).map_err(|fault| fault.to_diagnostic())?;
    let library = Arc::new(library);
    *last = Some(Linked { bytes: core.into(), library: library.clone() });
    Ok(library)
}

impl Runtime {
    /// Makes a runtime with the core library from its artifact, which is checked like any other.
    pub fn with_core(core: &[u8]) -> Result<Runtime, Diagnostic> {
        Ok(Runtime {
            library: linked(core)?,
            settings: Settings {
                limits: Limits::default(),
                tools: Arc::default(),
                has_tools: false,
                optimize: true,
                stress: false,
                in_place: true,
                fused: true,
                strict_data: true,
                trusted: None,
                policy: Arc::default(),
                surroundings: None,
            },
        })
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Runtime {
        self.settings.limits = limits;
        self
    }

    /// Returns the limits in force.
    pub fn current_limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// Sets the tools: programs may call them, and preludes are checked against them.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime, Tools};
    /// let tools = Tools::new().with("price", |_| Ok(3));
    /// let runtime = Runtime::with_core(ptc_preludes::core())?.with_tools(tools);
    /// assert_eq!(runtime.eval("(tool/price {:of \"tea\"})", &Grants::new())?.get::<i64>()?, 3);
    /// assert_eq!(runtime.compile("(tool/prize {})").err().unwrap().reason(), "unknown_tool");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Runtime {
        self.settings.tools = Arc::new(tools);
        self.settings.has_tools = true;
        self
    }

    /// Takes all tools away. Names of tools are then not checked when programs are compiled.
    ///
    /// ```
    /// use ptc_runtime::{Runtime, Tools};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?.with_tools(Tools::new());
    /// assert!(runtime.compile("(tool/find {})").is_err());
    /// assert!(runtime.without_tools().compile("(tool/find {})").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn without_tools(mut self) -> Runtime {
        self.settings.tools = Arc::new(Tools::new());
        self.settings.has_tools = false;
        self
    }

    /// Returns the tools that programs may call.
    pub fn tools(&self) -> &Arc<Tools> {
        &self.settings.tools
    }

    /// Turns every optimisation of the compiler on or off; results and fuel never differ.
    #[must_use]
    pub fn optimize(mut self, optimize: bool) -> Runtime {
        self.settings.optimize = optimize;
        self
    }

    /// Collects garbage at every safepoint: slow, but finds bugs that a normal run would hide.
    #[must_use]
    pub fn stress(mut self, stress: bool) -> Runtime {
        self.settings.stress = stress;
        self
    }

    /// Sets whether collections that nothing else refers to are changed in place; true by default. Values and
    /// fuel never differ.
    #[must_use]
    pub fn in_place(mut self, in_place: bool) -> Runtime {
        self.settings.in_place = in_place;
        self
    }

    /// Sets whether loops that walk each other's results run as one; true by default. Values and fuel never differ.
    #[must_use]
    pub fn fused(mut self, fused: bool) -> Runtime {
        self.settings.fused = fused;
        self
    }

    /// Sets whether programs that name data nobody granted are refused; true by default. With `false`,
    /// missing data is nil.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let grants = Grants::new().json("orders", "[1, 2]")?;
    /// let failure = runtime.eval("(count data/ordres)", &grants).unwrap_err();
    /// assert_eq!(failure.reason(), "unbound_var");
    /// assert_eq!(failure.diagnostic().hint.as_deref(), Some("did you mean `data/orders`?"));
    /// let lenient = runtime.strict_data(false);
    /// assert_eq!(lenient.eval("(count data/ordres)", &grants)?.print()?, "0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn strict_data(mut self, strict: bool) -> Runtime {
        self.settings.strict_data = strict;
        self
    }

    /// Requires preludes to be signed with one of these keys, or built into the host: sources, stored preludes and
    /// files without such a signature can be neither loaded nor attached from now on.
    ///
    /// ```
    /// use ptc_runtime::{Attach, LoadOptions, Prelude, Runtime, Signing, TrustedKeys};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let bytes = Prelude::compile(&runtime, "(ns a) (def x 1)")?.to_bytes();
    /// let key = Signing::from_hex(&"07".repeat(32))?;
    ///
    /// let runtime = runtime.trusted(TrustedKeys::parse(&key.public_key())?);
    /// let unsigned = Prelude::load(&runtime, &bytes, &LoadOptions::default());
    /// assert_eq!(unsigned.unwrap_err().code.reason(), "untrusted");
    /// let signature = key.sign(&bytes)?;
    /// let options = LoadOptions { signature: Some(&signature), ..LoadOptions::default() };
    /// let signed = Prelude::load(&runtime, &bytes, &options)?;
    /// assert!(runtime.attach(&signed, &Attach::new()).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn trusted(mut self, keys: TrustedKeys) -> Runtime {
        self.settings.trusted = Some(Arc::new(keys));
        self
    }

    /// Hides parts of the preludes attached from now on from programs. A policy set earlier stays in force as well as
    /// this one. Fails if a name in it cannot be that of an export.
    pub fn policy(mut self, policy: Policy) -> Result<Runtime, Diagnostic> {
        policy.check()?;
        self.settings.policy = Arc::new(self.settings.policy.and(&policy));
        Ok(self)
    }

    /// Returns the policy in force.
    pub fn current_policy(&self) -> &Policy {
        &self.settings.policy
    }

    /// Returns the keys that preludes must be signed with; None if they need no signature.
    pub fn trusted_keys(&self) -> Option<&TrustedKeys> {
        self.settings.trusted.as_deref()
    }

    /// Refuses a prelude without a trusted signature, if keys are configured.
    pub(crate) fn check_trust<'p>(
        &self,
        provenance: impl IntoIterator<Item = &'p Provenance>,
        named: impl FnOnce() -> String,
    ) -> Result<(), Diagnostic> {
        let Some(keys) = self.trusted_keys() else { return Ok(()) };
        keys.decide(provenance).map_err(|mut problem| {
            problem.message = format!("prelude attach failed: {}: {}", named(), problem.message);
            problem.about(Subject::Attachment)
        })
    }

    pub(crate) fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// Returns a runtime with a prelude attached to every program it compiles from now on, beside those already
    /// attached. First checks that the tools are those the prelude needs, before any program is compiled. Two
    /// preludes that declare the same namespace cannot be attached together.
    ///
    /// ```
    /// use ptc_runtime::{Attach, Prelude, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let prelude = Prelude::compile(&runtime, "(ns log) (defn all [] (tool/log_sessions {}))")?;
    /// let failure = runtime.attach(&prelude, &Attach::new()).err().unwrap();
    /// assert_eq!(failure.reason(), "prelude_attach_failed");
    /// assert!(failure.diagnostic().message.contains("requires granted tool `log_sessions`"));
    ///
    /// let crm = Prelude::compile(&runtime, "(ns crm) (def size 50)")?;
    /// let shop = Prelude::compile(&runtime, "(ns shop) (def rate 19)")?;
    /// let both = runtime.attach(&crm, &Attach::new())?.attach(&shop, &Attach::new())?;
    /// assert_eq!(both.eval("[crm/size shop/rate]", &Default::default())?.print()?, "[50 19]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attach(&self, prelude: &Prelude, attach: &Attach<'_>) -> Result<Runtime, Failure> {
        let refused = |problem| Failure::compile(vec![problem], "");
        let names = || prelude.namespaces().iter().map(|n| &*n.name).collect::<Vec<_>>().join(", ");
        self.check_trust(prelude.provenance(), names).map_err(refused)?;
        let surroundings = self.settings.surroundings.as_deref().cloned().unwrap_or_default();
        prelude.check_beside(self.preludes()).map_err(refused)?;
        let prelude = &prelude.beside(surroundings.attached.as_deref()).map_err(refused)?;
        // Servers that programs may call also count for the check of preludes.
        let attached = attach
            .check(prelude, self.tools(), surroundings.upstream.as_ref(), &self.settings.policy)
            .map_err(refused)?;
        let mut runtime = self.clone();
        runtime.settings.surroundings = Some(Arc::new(surroundings.with(attached)));
        Ok(runtime)
    }

    /// Sets the upstream servers that programs may query.
    #[must_use]
    pub fn with_upstream(mut self, upstream: Arc<dyn Upstream>) -> Runtime {
        let mut surroundings = self.settings.surroundings.as_deref().cloned().unwrap_or_default();
        surroundings.upstream = Some(upstream);
        self.settings.surroundings = Some(Arc::new(surroundings));
        self
    }

    fn attached(&self) -> Option<&Arc<Attached>> {
        self.settings.surroundings.as_ref()?.attached.as_ref()
    }

    /// Detaches all preludes.
    #[must_use]
    pub fn without_preludes(mut self) -> Runtime {
        if self.attached().is_some() {
            let surroundings = self.settings.surroundings.as_deref().cloned().unwrap_or_default();
            self.settings.surroundings = Some(Arc::new(Surroundings { attached: None, ..surroundings }));
        }
        self
    }

    /// Returns the attached preludes, in the order of their attachment.
    pub fn preludes(&self) -> impl Iterator<Item = &Prelude> {
        self.attached().into_iter().flat_map(|attached| attached.preludes())
    }

    /// Returns the attached prelude with an export of this name, such as `crm/get-user`.
    pub fn prelude_of(&self, reference: &str) -> Option<&Prelude> {
        self.attached()?.owner(reference)
    }

    /// Returns the exports of attached preludes that the policy lets through, in the order of attachment and of
    /// their sources.
    ///
    /// ```
    /// use ptc_runtime::{Attach, Policy, Prelude, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let runtime = runtime.policy(Policy { hide: vec!["crm/remove".into()], ..Policy::default() })?;
    /// let prelude = Prelude::compile(&runtime, "(ns crm) (defn find [id] id) (defn remove [id] id)")?;
    /// let runtime = runtime.attach(&prelude, &Attach::new())?;
    /// let names: Vec<String> = runtime.exports().map(|offered| offered.export.reference()).collect();
    /// assert_eq!(names, ["crm/find"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn exports(&self) -> impl Iterator<Item = crate::OfferedExport<'_>> {
        self.attached().into_iter().flat_map(|attached| attached.parts()).flat_map(|part| part.offered())
    }

    /// Returns the part of a prompt about the attached preludes; None if there is nothing to show.
    pub fn inventory(&self, how: crate::Inventory) -> Option<String> {
        self.attached()?.inventory(how)
    }

    /// Returns the effect of an export of an attached prelude, as docs, prompts and traces show it; None if there
    /// is no such export.
    ///
    /// ```
    /// use ptc_runtime::{Attach, Effects, Prelude, Runtime, Tools};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let prelude = Prelude::compile(&runtime, "(ns crm) (defn find [id] (tool/find {:id id}))")?;
    /// let tools = Tools::new().with("find", |_| Ok(1));
    /// let effect = |tools: &Tools| {
    ///     let attached = runtime.clone().with_tools(tools.clone()).attach(&prelude, &Attach::new()).unwrap();
    ///     attached.export_effect("crm/find").unwrap()
    /// };
    /// assert_eq!(effect(&tools), Effects::Unknown);
    /// assert_eq!(effect(&tools.effect("find", Effects::Read)), Effects::Read);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn export_effect(&self, reference: &str) -> Option<ptc_bytecode::Effects> {
        self.attached()?.effect(reference)
    }

    /// Returns the attached preludes as the trace of a run records them.
    pub fn prelude_trace(&self) -> Option<crate::PreludeTrace> {
        self.attached().map(|attached| attached.trace())
    }

    /// Returns everything programs can look up: the exports of attached preludes, which come first, and the language.
    ///
    /// ```
    /// use ptc_runtime::{Attach, Prelude, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let prelude = Prelude::compile(&runtime, "(ns crm) (defn find \"Finds one.\" [id] id)")?;
    /// let runtime = runtime.attach(&prelude, &Attach::new())?;
    /// assert_eq!(runtime.catalog().find("crm/find").unwrap().description, "Finds one.");
    /// assert!(runtime.catalog().find("map").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn catalog(&self) -> Catalog {
        let mut catalog = Catalog::language().clone();
        catalog.add(self.attached().into_iter().flat_map(|attached| attached.entries()).cloned());
        catalog
    }

    /// Compiles a program that may only name the tools of this runtime. Without any tools, their names are not
    /// checked until the program runs: a host may step it and supply the results by hand.
    pub fn compile(&self, source: &str) -> Result<Program, Failure> {
        match self.settings.has_tools {
            true => self.compile_in(source, &self.scope()),
            false => self.compile_in(source, &Scope::default()),
        }
    }

    /// Compiles a part of a test file: see [`TestPart`](ptc_compiler::testing::TestPart).
    pub fn compile_test(&self, source: &str, part: TestPart) -> Result<Program, Failure> {
        self.compile_in(source, &self.scope().with_test(part))
    }

    /// Returns the names of the tools, for compiling a program.
    pub(crate) fn scope(&self) -> Scope {
        Scope::default().with_tools(self.tools().names()).with_private_tools(self.tools().private_names())
    }

    /// Returns the scope that a program was compiled in.
    pub(crate) fn scope_of(&self, program: &Program) -> Scope {
        let scope = if self.settings.has_tools { self.scope() } else { Scope::default() };
        scope.with_interface(program.attached().map(|attached| attached.interface().clone()))
    }

    pub(crate) fn compile_in(&self, source: &str, scope: &Scope) -> Result<Program, Failure> {
        let attached = self.attached();
        let with_interface =
            attached.map(|attached| scope.clone().with_interface(Some(attached.interface().clone())));
        let scope = with_interface.as_ref().unwrap_or(scope);
        self.compile_as(source, scope).map_err(|failure| failure.with(attached))
    }

    fn compile_as(&self, source: &str, scope: &Scope) -> Result<Program, Failure> {
        let options = Options { optimize: self.settings.optimize, ..Options::default() };
        let limits = &self.settings.limits;
        let clock = CompileClock::new(limits.compile_ms);
        let stop = || clock.is_up();
        let meter = Meter::new(limits, &stop);
        let fail = |diagnostics| Failure::compile(diagnostics, source).after_compiling(meter.spent());
        let Compiled { artifact, data, reads, warnings } =
            compile_metered(source, scope, limits, options, &meter)
                .map_err(|CompileErrors { errors, warnings }| fail(errors).with_warnings(warnings))?;
        let verified = verify(artifact).map_err(|problem| fail(vec![problem]))?;
        let module = Module::link_watched(verified, &self.library, clock.clone())
            .map_err(|fault| fail(vec![fault.to_diagnostic()]))?;
        let program =
            Program::new(source, module, data, reads, self.settings.surroundings.clone(), meter.spent());
        Ok(program.with_warnings(warnings))
    }

    /// Makes a run of `program` with nothing granted, before its first step.
    pub fn start(&self, program: &Program) -> Result<Run, Failure> {
        self.start_with(program, &Grants::default())
    }

    /// Makes a run of `program` before its first step. A program that names data which is not granted is refused
    /// here, unless [`Runtime::strict_data`] is off.
    pub fn start_with(&self, program: &Program, grants: &Grants) -> Result<Run, Failure> {
        self.start_checked(program, grants, None)
    }

    /// Makes a run like [`Runtime::start_with`], for a program that knows definitions of a session.
    pub(crate) fn start_checked(
        &self,
        program: &Program,
        grants: &Grants,
        definitions: Option<&BTreeMap<String, Frozen>>,
    ) -> Result<Run, Failure> {
        self.check_data(program, grants.names())?;
        let upstream = self.settings.surroundings.as_deref().and_then(|around| around.upstream.as_deref());
        let known = Known { data: &grants.data, definitions, tools: self.tools(), upstream };
        let program = self.check_reads(program, &known)?;
        self.start_unchecked(&program, grants)
    }

    /// Refuses a program that certainly reads a wrong field; likely mistakes become warnings of the program.
    pub(crate) fn check_reads(&self, program: &Program, known: &Known<'_>) -> Result<Program, Failure> {
        let Found { errors, warnings } = check::check(program, known);
        if errors.is_empty() {
            return Ok(program.clone().warned(warnings));
        }
        let warnings = warnings.into_iter().chain(program.warnings().iter().cloned()).collect();
        let failure = Failure::compile(errors, program.source()).after_compiling(program.compile_fuel());
        Err(failure.with_warnings(warnings).with(program.attached()))
    }

    /// Refuses a program that names data besides `granted`: for hosts that check before there is anything to grant,
    /// as a batch does before its first record.
    pub fn check_data<'n>(
        &self,
        program: &Program,
        granted: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<(), Failure> {
        if !self.settings.strict_data {
            return Ok(());
        }
        let missing = |read: &&DataRead| !granted.clone().any(|known| is_data_name(known, &read.name));
        match program.data().iter().find(missing) {
            None => Ok(()),
            Some(read) => {
                let fault = missing_data(&read.name, granted).at(Some(read.span));
                Err(Failure::of(fault, None, program.clone()))
            }
        }
    }

    /// Makes a run like [`Runtime::start_with`], for a program whose data is complete only later.
    pub(crate) fn start_unchecked(&self, program: &Program, grants: &Grants) -> Result<Run, Failure> {
        let (mut vm, watch) = self.machine(program, grants)?;
        let fail = |fault: Fault| Failure::of(fault, None, program.clone());
        for (name, value) in &grants.data {
            vm.grant(name, value).map_err(fail)?;
        }
        let module = vm.attach_module(program.module().clone()).map_err(fail)?;
        if let Some(attached) = program.attached() {
            attached.bind(&mut vm);
        }
        vm.start(module).map_err(fail)?;
        vm.watch_fields(check::watched(program.reads()));
        let (program, tools) = (program.clone(), self.tools().clone());
        Ok(Run::new(vm, program, tools, watch).overseen(grants.effects.clone()))
    }

    /// Loads a run that [`Run::snapshot`] wrote, perhaps in another process, ready to continue. The bytes are not
    /// trusted: a damaged or forged snapshot is refused. `grants` must hold the same data, and the same preludes
    /// must be attached in the same order, as when it was written.
    pub fn load(&self, bytes: &[u8], grants: &Grants) -> Result<Run, Failure> {
        let (envelope, machine) =
            Envelope::open(bytes).map_err(|problem| Failure::compile(vec![problem], ""))?;
        let source = &*envelope.source;
        envelope.check(self.preludes()).map_err(|problem| Failure::compile(vec![problem], source))?;
        let warnings = envelope.warnings().map_err(|problem| Failure::compile(vec![problem], source))?;
        let preludes: Vec<Arc<Module>> = self.preludes().map(|prelude| prelude.module().clone()).collect();
        let watch = StopWatch::new(self.settings.limits.timeout_ms, grants.cancel.clone());
        let mut vm = Vm::load(
            machine,
            &self.library,
            &preludes,
            &self.settings.limits,
            Some(watch.clone()),
            &grants.firewalled_data(),
        )
        .map_err(|fault| Failure::compile(vec![fault.to_diagnostic()], source))?;
        vm.set_stress(self.settings.stress);
        vm.set_in_place(self.settings.in_place);
        vm.set_fused(self.settings.fused);
        vm.set_strict_data(self.settings.strict_data);
        vm.set_firewall(grants.firewall);
        let program = Program::new(
            source,
            vm.entry_module().clone(),
            Vec::new(),
            Reads::default(),
            self.settings.surroundings.clone(),
            0,
        )
        .with_warnings(warnings);
        self.place(&mut vm, &program, grants);
        let tools = self.tools().clone();
        let run = Run::new(Box::new(vm), program, tools, watch);
        let run = Run { ledger_run: envelope.ledger_run.map(Into::into), ..run };
        Ok(run.overseen(grants.effects.clone()))
    }

    /// Connects a machine to the services its natives use.
    fn place(&self, vm: &mut Vm, program: &Program, grants: &Grants) {
        vm.set_context(program.surroundings(grants.turn.as_ref()));
        if grants.turn.is_some()
            && let Some(attached) = program.attached().cloned()
        {
            vm.set_definitions(Arc::new(move |name| attached.meaning(name).cloned()));
        }
    }

    /// Makes an empty machine with this runtime's settings.
    pub(crate) fn machine(
        &self,
        program: &Program,
        grants: &Grants,
    ) -> Result<(Box<Vm>, Arc<StopWatch>), Failure> {
        let Settings { limits, stress, in_place, fused, strict_data, .. } = &self.settings;
        let watch = StopWatch::new(limits.timeout_ms, grants.cancel.clone());
        let budget = Budget::new(limits.fuel, Some(watch.clone()));
        let mut vm = Vm::new(self.library.clone(), limits, budget)
            .map_err(|fault| Failure::of(fault, None, program.clone()))?;
        vm.set_stress(*stress);
        vm.set_in_place(*in_place);
        vm.set_fused(*fused);
        vm.set_strict_data(*strict_data);
        vm.set_firewall(grants.firewall);
        self.place(&mut vm, program, grants);
        Ok((Box::new(vm), watch))
    }

    /// Compiles and runs `source` to its end, blocking.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let grants = Grants::new().json("orders", r#"[{"total": 3}, {"total": 4}]"#)?;
    /// let sum = runtime.eval("(reduce + (map :total data/orders))", &grants)?;
    /// assert_eq!(sum.get::<i64>()?, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn eval(&self, source: &str, grants: &Grants) -> Result<crate::Outcome, Failure> {
        let program = self.compile_in(source, &self.scope())?;
        self.start_with(&program, grants)?.finish()
    }

    /// Compiles and runs `source` to its end without blocking the polling thread.
    pub async fn eval_async(&self, source: &str, grants: &Grants) -> Result<crate::Outcome, Failure> {
        let program = self.compile_in(source, &self.scope())?;
        self.start_with(&program, grants)?.finish_async().await
    }
}

/// The grants of a run besides tools: data by name, and a way to cancel it.
#[derive(Clone, Default)]
pub struct Grants {
    pub(crate) data: Vec<(String, Frozen)>,
    pub(crate) cancel: Option<Cancel>,
    pub(crate) turn: Option<Arc<dyn TurnHost>>,
    pub(crate) firewall: bool,
    pub(crate) effects: Option<RunEffects>,
}

impl Grants {
    /// Makes empty grants.
    pub fn new() -> Grants {
        Grants::default()
    }

    /// Returns the names of the data.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.data.iter().map(|(name, _)| name.as_str())
    }

    /// Grants data that may be shared with other runs.
    #[must_use]
    pub fn frozen(mut self, name: &str, value: Frozen) -> Grants {
        self.data.retain(|(known, _)| known != name);
        self.data.push((name.to_string(), value));
        self
    }

    /// Grants JSON text.
    pub fn json(self, name: &str, text: &str) -> Result<Grants, Diagnostic> {
        let value = crate::json::freeze_json(text, Limits::default().granted_bytes)?;
        Ok(self.frozen(name, value))
    }

    /// Grants anything that serialises.
    pub fn serde<T: serde::Serialize + ?Sized>(
        self,
        name: &str,
        value: &T,
    ) -> Result<Grants, crate::BridgeError> {
        Ok(self.frozen(name, crate::bridge::freeze(value)?))
    }

    /// Returns the data as a run sees it, with the firewall applied.
    fn firewalled_data(&self) -> Vec<(String, Frozen)> {
        let data = self.data.iter();
        data.map(|(name, value)| {
            let value = if self.firewall { value.firewalled(Some(name)) } else { value.clone() };
            (name.clone(), value)
        })
        .collect()
    }

    /// Sets the handle that cancels the run.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Grants {
        self.cancel = Some(cancel.clone());
        self
    }

    /// Writes every call that may change something to a ledger before it is sent, and its outcome after, so that none is made
    /// twice: a run that is loaded again, or run again under the same name, gets the answers that the ledger has, and stops
    /// with `effect_diverged` where it makes other calls. `run` names the run there, so each program needs a name of its
    /// own; a run that was saved keeps the one it had. A tool without a declared effect counts as one that changes something:
    /// see [`Tools::effect`](crate::Tools::effect).
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime, Tools, effects::FileLedger};
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// # let folder = tempfile::tempdir()?;
    /// let ledger = Arc::new(FileLedger::open(folder.path().join("effects.ledger"))?);
    /// let payments = Arc::new(AtomicU64::new(0));
    /// let made = payments.clone();
    /// let tools = Tools::new().with("pay", move |_| Ok(made.fetch_add(1, Ordering::SeqCst) + 1));
    /// let runtime = Runtime::with_core(ptc_preludes::core())?.with_tools(tools);
    /// let grants = Grants::new().recorded(ledger, "invoice-7");
    /// for _ in 0..2 {
    ///     let outcome = runtime.eval("(str \"payment \" (tool/pay {:eur 5}))", &grants)?;
    ///     assert_eq!(outcome.print()?, "\"payment 1\"");
    /// }
    /// assert_eq!(payments.load(Ordering::SeqCst), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn recorded(mut self, ledger: Arc<dyn Ledger>, run: &str) -> Grants {
        let oversight = self.effects.take().map(|effects| effects.oversight).unwrap_or_default();
        self.overseen(oversight.record(ledger), run)
    }

    /// Returns a hash of all data, for plans: a plan is carried out with the data it was made with.
    ///
    /// ```
    /// use ptc_runtime::Grants;
    /// let hash = |text: &str| Grants::new().json("orders", text).unwrap().data_hash();
    /// assert!(hash("[1, 2]") == hash("[1,2]") && hash("[1, 2]") != hash("[1, 3]"));
    /// assert_eq!(Grants::new().data_hash(), None);
    /// ```
    pub fn data_hash(&self) -> Option<String> {
        let mut data: Vec<&(String, Frozen)> = self.data.iter().collect();
        data.sort_by(|a, b| a.0.cmp(&b.0));
        let parts: Vec<String> = data
            .into_iter()
            .map(|(name, value)| {
                // Data that has no such form is known by its size only; functions and the like are not granted.
                let nodes = value
                    .to_datum(usize::MAX)
                    .ok()
                    .and_then(|datum| serde_json::to_string(datum.nodes()).ok());
                format!("{}:{name}={}", name.len(), nodes.unwrap_or_else(|| value.bytes().to_string()))
            })
            .collect();
        (!parts.is_empty()).then(|| crate::effects::hash_of(parts.join("\n").as_bytes()))
    }

    /// Sets the oversight of calls that may change something: a ledger, a plan, approvals. `run` names the run there.
    #[must_use]
    pub fn overseen(mut self, oversight: Oversight, run: &str) -> Grants {
        self.effects = Some(RunEffects { oversight, run: run.into() });
        self
    }

    /// Sets the firewall: values under names that begin with `_`, and any values derived from them, do not appear in
    /// anything that a model could read. Prints and faults say `<Firewalled>` instead, and
    /// [`Outcome::datum`](crate::Outcome::datum) marks them; tools and the host get them in full. Counts and
    /// comparisons of such values are not hidden.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let grants = Grants::new().json("user", r#"{"name": "Ada", "_born": "1815-12-10"}"#)?.firewall(true);
    /// let outcome = runtime.eval("(let [year (subs (:_born data/user) 0 4)] (println year) year)", &grants)?;
    /// assert_eq!((outcome.prints[0].as_str(), outcome.print()?.as_str()), ("<Firewalled>", "\"1815\""));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn firewall(mut self, up: bool) -> Grants {
        self.firewall = up;
        self
    }

    /// Makes the run one turn of a mission, whose host keeps its journal and knows its budget: see [`TurnHost`].
    #[must_use]
    pub fn turn_host(mut self, host: Arc<dyn TurnHost>) -> Grants {
        self.turn = Some(host);
        self
    }
}

impl fmt::Debug for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grants")
            .field("data", &self.data)
            .field("cancel", &self.cancel)
            .field("is_turn", &self.turn.is_some())
            .field("firewall", &self.firewall)
            .finish()
    }
}
