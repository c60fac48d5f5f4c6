//! The state a REPL works in: a session, what it was given, and what it remembers of what was typed.

use super::interrupt::Interrupt;
use crate::args::{AttachArgs, ModelArgs, ReplArgs};
use crate::input::Data;
use crate::preludes;
use crate::problem::Problem;
use crate::report::{Errors, Spent, Warnings};
use crate::setup::{plain_runtime, reach, stubbed, stubs, with_these};
use crate::upstreams;
use ptc_bytecode::{Code, Diagnostic, Limits, Subject};
use ptc_compiler::{Definition, outline};
use ptc_runtime::{Catalog, Failure, Frozen, Grants, Outcome, Runtime, Session, Tools};
use ptc_upstream::ProgramHost;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Programs `:turns` can list.
const MAX_TURNS: usize = 1_000;

/// Options that a runtime is made from: flags, with the changes of commands since.
#[derive(Clone, Debug)]
pub struct WorldOptions {
    /// Its files, those of keys too, are read again with every change.
    pub attach: AttachArgs,
    pub limits: Limits,
    /// Preludes for what programs may reach: a store, a log.
    reach: Vec<PathBuf>,
    /// Runs programs, with servers that they may call.
    host: Arc<ProgramHost>,
    strict_data: bool,
    optimize: bool,
    stress: bool,
}

impl WorldOptions {
    fn runtime(&self, tools: Tools) -> Result<Runtime, Problem> {
        let AttachArgs { preludes, trusted, .. } = &self.attach;
        let runtime = preludes::guarded(plain_runtime(self.limits)?, trusted, &self.attach.policy())?;
        let runtime = self.host.runtime(runtime.with_tools(tools));
        let files = with_these(preludes, &self.reach);
        let runtime = preludes::attach(runtime, &files).map_err(with_stub)?;
        Ok(runtime.optimize(self.optimize).stress(self.stress).strict_data(self.strict_data))
    }
}

/// Which model agents ask.
pub struct Model {
    pub args: ModelArgs,
    pub replay: Option<PathBuf>,
}

/// A definition as it was typed.
#[derive(Clone, Debug)]
pub struct TypedDefinition {
    pub text: String,
    pub doc: Option<String>,
    pub signatures: Vec<String>,
}

/// A program that was run.
#[derive(Clone, Debug)]
pub struct Turn {
    pub source: String,
    pub ok: bool,
    pub fuel: u64,
    pub elapsed: Duration,
}

/// Outcome of a program.
pub struct TimedRun {
    pub result: Result<Outcome, ProgramErrors>,
    pub elapsed: Duration,
}

/// Why a program has no value.
pub struct ProgramErrors {
    /// In a box, since every result may be an error.
    pub errors: Box<Errors>,
    pub prints: Vec<String>,
    pub spent: Spent,
    pub warnings: Warnings,
}

impl ProgramErrors {
    fn of(failure: Failure, source: &str) -> ProgramErrors {
        let (prints, spent) = (failure.prints.clone(), Spent::before(&failure));
        let warnings = Warnings::new(failure.warnings(), source);
        let mut errors = Box::new(Errors::of(failure, source));
        for diagnostic in &mut errors.diagnostics {
            match diagnostic.code {
                Code::Cancelled => {
                    diagnostic.message = "stopped by Ctrl-C; nothing of it was kept".to_string();
                }
                Code::UnknownTool => {
                    let named = diagnostic.message.split_once("`tool/").map(|(_, rest)| rest);
                    if let Some(tool) = named.and_then(|rest| rest.split('`').next()) {
                        diagnostic.hint = Some(stub_hint(tool));
                    }
                }
                _ => {}
            }
        }
        ProgramErrors { errors, prints, spent, warnings }
    }
}

/// A session and what belongs to it.
pub struct World {
    given: WorldOptions,
    session: Session,
    grants: Grants,
    /// Tools of a store and of a log.
    base: Tools,
    /// Tools that always give the same answer.
    stubs: Vec<(String, Frozen)>,
    /// Granted data, for agents. Each name stands once.
    granted: Vec<(String, Frozen)>,
    /// Which model agents ask.
    model: Model,
    interrupt: Interrupt,
    catalog: Catalog,
    typed: BTreeMap<String, TypedDefinition>,
    turns: Vec<Turn>,
}

impl World {
    pub fn new(args: &ReplArgs, interrupt: Interrupt) -> Result<World, Problem> {
        let settings = &args.settings;
        let (base, reach) = reach(&plain_runtime(settings.limits.0)?, &args.write)?;
        // What a prompt shows is not looked through afterwards, so answers come without secrets.
        let servers = upstreams::start(&args.upstream)?.map(|upstream| upstream.attach(None));
        let limits = settings.limits.0;
        let limits = if servers.is_some() { upstreams::widened(limits) } else { limits };
        let host = Arc::new(ProgramHost::new(servers));
        let base = host.tools(base);
        let given = WorldOptions {
            attach: settings.attach.clone(),
            limits,
            reach,
            host,
            strict_data: !settings.lenient_data,
            optimize: !settings.no_optimize,
            stress: settings.stress_gc,
        };
        let stubs = stubs(&settings.stubs, &given.limits)?;
        let mut grants = Grants::new();
        let mut granted = Vec::new();
        for data in &settings.data {
            let value = data.load(&given.limits, "data")?;
            grants = grants.frozen(&data.name, value.clone());
            granted.retain(|(name, _)| *name != data.name);
            granted.push((data.name.clone(), value));
        }
        let model = Model {
            args: ModelArgs { llm: args.model.llm.clone(), models: args.model.models.clone() },
            replay: args.replay.clone(),
        };
        let runtime = given.runtime(stubbed(&base, &stubs))?;
        let session = runtime.session();
        let (catalog, typed, turns) = (runtime.catalog(), BTreeMap::new(), Vec::new());
        Ok(World { given, session, grants, base, stubs, granted, model, interrupt, catalog, typed, turns })
    }

    /// Runs a program as a turn of the session.
    pub fn run(&mut self, source: &str) -> TimedRun {
        let started = Instant::now();
        self.next();
        let (session, grants) = (&mut self.session, &self.grants);
        let result = self.interrupt.during(|cancel| {
            session.set_grants(grants.clone().cancel(cancel));
            guarded(source, || session.eval(source))
        });
        let elapsed = started.elapsed();
        let fuel = match &result {
            Ok(outcome) => outcome.fuel,
            Err(wrong) => wrong.spent.fuel,
        };
        if result.is_ok() {
            self.remember(source);
        }
        if self.turns.len() == MAX_TURNS {
            self.turns.remove(0);
        }
        self.turns.push(Turn { source: source.trim().to_string(), ok: result.is_ok(), fuel, elapsed });
        TimedRun { result, elapsed }
    }

    /// Runs a program and forgets that it ran.
    pub fn peek(&mut self, source: &str) -> Result<Outcome, ProgramErrors> {
        self.next();
        let (session, grants) = (&mut self.session, &self.grants);
        self.interrupt.during(|cancel| {
            session.set_grants(grants.clone().cancel(cancel));
            guarded(source, || session.start(source)?.finish())
        })
    }

    /// Each program has its own budget of calls.
    fn next(&self) {
        self.given.host.begin(Duration::from_millis(self.given.limits.timeout_ms));
    }

    /// A program, compiled as if it were to run next.
    pub fn compile(&self, source: &str) -> Result<ptc_runtime::Program, ProgramErrors> {
        guarded(source, || self.session.start(source).map(|run| run.program().clone()))
    }

    fn remember(&mut self, source: &str) {
        for Definition { name, span, doc, signatures, .. } in outline(source, &self.given.limits) {
            let text = span.text(source).to_string();
            self.typed.insert(name, TypedDefinition { text, doc, signatures });
        }
    }

    /// Forgets all definitions and results.
    pub fn reset(&mut self) {
        self.session = self.session.runtime().session();
        self.typed.clear();
        self.turns.clear();
    }

    pub fn given(&self) -> &WorldOptions {
        &self.given
    }

    /// Continues with other preludes or limits, which are read again; nothing changes if they are wrong.
    pub fn change(&mut self, change: impl FnOnce(&mut WorldOptions)) -> Result<(), Problem> {
        let mut given = self.given.clone();
        change(&mut given);
        given.limits.check().map_err(|why| Problem::new(Code::InvalidConfig, why))?;
        let runtime = given.runtime(stubbed(&self.base, &self.stubs))?;
        let catalog = runtime.catalog();
        let refused = |failure: Failure| Problem(Box::new(failure.diagnostic().clone()));
        self.session.set_runtime(runtime).map_err(refused)?;
        self.catalog = catalog;
        self.given = given;
        Ok(())
    }

    /// Grants data.
    pub fn grant(&mut self, data: &Data) -> Result<(), Problem> {
        let value = data.load(&self.given.limits, "data")?;
        self.grants = std::mem::take(&mut self.grants).frozen(&data.name, value.clone());
        self.granted.retain(|(name, _)| *name != data.name);
        self.granted.push((data.name.clone(), value));
        Ok(())
    }

    /// Grants a tool that always gives the same answer.
    pub fn stub(&mut self, data: &Data) -> Result<(), Problem> {
        let answer = data.load(&self.given.limits, "tool")?;
        self.stubs.retain(|(name, _)| *name != data.name);
        self.stubs.push((data.name.clone(), answer));
        self.session.set_tools(stubbed(&self.base, &self.stubs));
        Ok(())
    }

    /// Granted data, with its values.
    pub fn granted(&self) -> &[(String, Frozen)] {
        &self.granted
    }

    /// Tools that always give the same answer.
    pub fn stubs(&self) -> &[(String, Frozen)] {
        &self.stubs
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// The value becomes `*1`.
    pub fn keep(&mut self, value: Frozen) {
        self.session.remember(value);
    }

    pub fn runtime(&self) -> &Runtime {
        self.session.runtime()
    }

    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The names the session has defined, sorted.
    pub fn defined(&self) -> impl Iterator<Item = &str> {
        self.session.defined()
    }

    /// The value of a name of the session.
    pub fn definition(&self, name: &str) -> Option<&Frozen> {
        self.session.definition(name)
    }

    /// The definition of a name of the session as it was typed, if that was at the top level of a program.
    pub fn typed(&self, name: &str) -> Option<&TypedDefinition> {
        self.typed.get(name)
    }

    /// The names of granted data, sorted.
    pub fn data(&self) -> Vec<String> {
        let mut names: Vec<String> = self.granted.iter().map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }

    /// The names of granted tools.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.stubs.iter().map(|(name, _)| name.as_str())
    }

    /// The names of servers that programs may call, if there are any.
    pub fn servers(&self) -> Option<Vec<&str>> {
        self.given.host.servers().map(|servers| servers.upstream().catalogue().names())
    }

    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }
}

/// A prelude that lacks a tool, with what can be done about it here.
fn with_stub(mut problem: Problem) -> Problem {
    // What grants the tools of a log is told already.
    if let Some(Subject::Tool(tool)) = problem.0.subject.as_deref()
        && !tool.starts_with("log_")
    {
        problem.0.hint = Some(stub_hint(tool));
    }
    problem
}

fn stub_hint(tool: &str) -> String {
    format!("grant a stub that always returns the same result: --stub {tool}=JSON, or :tools {tool}=JSON")
}

/// A bug of ours in one program is no reason to lose the session, which is only changed by success.
fn guarded<T>(source: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, ProgramErrors> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|failure| ProgramErrors::of(failure, source)),
        Err(_) => {
            let diagnostic = Diagnostic::without_span(Code::Internal, "the run panicked; please report this");
            Err(ProgramErrors {
                errors: Box::new(Errors::one(diagnostic, source)),
                prints: Vec::new(),
                spent: Spent::default(),
                warnings: Warnings::default(),
            })
        }
    }
}
