//! Engines: the tools, limits and preludes that programs run with.

use crate::ask::{Ask, AskFunction};
use crate::cancel::JsCancel;
use crate::diagnostic::{JsDiagnostic, Told, before};
use crate::frozen::JsGrants;
use crate::limits::limits;
use crate::prelude::JsPrelude;
use crate::run::JsRun;
use crate::servers::JsServers;
use crate::session::JsSession;
use crate::tools::{Table, ToolSpec};
use napi::bindgen_prelude::{AsyncTask, Buffer, ClassInstance, Either};
use napi::{Env, Task};
use napi_derive::napi;
use ptc::runtime::{Attach, Inventory, Program, Run, Runtime, TrustedKeys};
use ptc::upstream::ProgramHost;
use ptc::{Cancel, Engine, Failure, Grants, binding};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The tools, limits and preludes that programs run with.
#[napi(js_name = "Engine")]
pub struct JsEngine {
    pub(crate) runtime: Runtime,
    table: Arc<Table>,
    host: Option<Arc<ProgramHost>>,
}

/// What an engine is made of, besides preludes and servers.
#[napi(object)]
pub struct EngineSpec {
    /// Without tools, programs may name any, for a host that steps their runs.
    pub tools: Option<Vec<ToolSpec>>,
    pub limits: Option<HashMap<String, f64>>,
    pub trusted: Option<String>,
}

#[napi]
impl JsEngine {
    /// Makes an engine.
    #[napi]
    pub fn make(
        spec: EngineSpec,
        preludes: Vec<ClassInstance<'_, JsPrelude>>,
        servers: Option<&JsServers>,
    ) -> napi::Result<Told<JsEngine>> {
        let limits = limits(spec.limits)?;
        let has_tools = spec.tools.is_some();
        let table = Table::new(spec.tools.unwrap_or_default())?;
        let host = servers.map(JsServers::host);
        let made = || -> Result<JsEngine, Failure> {
            let mut runtime = Engine::new()?.runtime().clone().limits(limits);
            if let Some(keys) = &spec.trusted {
                runtime = runtime.trusted(TrustedKeys::parse(keys)?);
            }
            if has_tools {
                runtime = runtime.with_tools(table.tools.clone());
            }
            if let Some(host) = &host {
                runtime = host.runtime(runtime);
            }
            for prelude in &preludes {
                runtime = runtime.attach(&prelude.prelude, &Attach::new())?;
            }
            Ok(JsEngine { runtime, table: Arc::new(table), host: host.map(Arc::new) })
        };
        Ok(before(made()))
    }

    /// Compiles a program.
    #[napi]
    pub fn compile(&self, source: String) -> Told<JsCode> {
        before(self.runtime.compile(&source).map(|program| JsCode { program }))
    }

    /// Compiles a program on another thread.
    #[napi]
    pub fn compile_later(&self, source: String) -> AsyncTask<Compile> {
        AsyncTask::new(Compile { runtime: self.runtime.clone(), source })
    }

    /// Makes a run of a program before its first step.
    #[napi]
    pub fn start(&self, code: &JsCode, grants: &JsGrants, cancel: &JsCancel) -> Told<JsRun> {
        let run = self.runtime.start_with(&code.program, &cancelled(grants, cancel));
        before(run.map(|run| self.run(run, &cancel.cancel)))
    }

    /// Loads a run from bytes.
    #[napi]
    pub fn load(&self, bytes: Buffer, grants: &JsGrants, cancel: &JsCancel) -> Told<JsRun> {
        let run = self.runtime.load(&bytes, &cancelled(grants, cancel));
        before(run.map(|run| self.run(run, &cancel.cancel)))
    }

    /// Checks a program as far as that is possible without running it.
    #[napi]
    pub fn check(&self, source: String, grants: &JsGrants) -> Vec<JsDiagnostic> {
        let check = || -> Result<_, Failure> {
            let program = self.runtime.compile(&source)?;
            let run = self.runtime.start_with(&program, &grants.grants)?;
            Ok(run.program().warnings().to_vec())
        };
        match check() {
            Ok(warnings) => JsDiagnostic::list(&warnings, &source),
            Err(failure) => {
                let all: Vec<_> = failure.diagnostics.iter().chain(failure.warnings()).cloned().collect();
                JsDiagnostic::list(&all, &source)
            }
        }
    }

    /// Starts a session.
    #[napi]
    pub fn session(&self, grants: &JsGrants) -> JsSession {
        let session = self.runtime.session().with_grants(grants.grants.clone());
        JsSession::new(session, grants.grants.clone())
    }

    /// Starts a session with the definitions of another one.
    #[napi]
    pub fn session_of(&self, other: &JsSession) -> Told<JsSession> {
        before(other.with_runtime(self.runtime.clone()))
    }

    /// Makes a run of a session's program.
    #[napi]
    pub fn start_in(&self, session: &JsSession, source: String, cancel: &JsCancel) -> Told<JsRun> {
        let run = session.start(&source, &cancel.cancel);
        before(run.map(|run| self.run(run, &cancel.cancel)))
    }

    /// Makes a run that calls a function of a session.
    #[napi]
    pub fn start_call(
        &self,
        session: &JsSession,
        name: String,
        arguments: &JsGrants,
        cancel: &JsCancel,
    ) -> Told<JsRun> {
        let run = session.call(&name, arguments.grants.clone(), &cancel.cancel);
        before(run.map(|run| self.run(run, &cancel.cancel)))
    }

    /// Sets the function that calls tools for other threads.
    #[napi]
    pub fn serve(&self, ask: AskFunction) {
        // The first one serves all.
        let _ = self.table.ask.set(Ask::new(ask));
    }

    /// Part of a prompt about the attached preludes.
    #[napi(getter)]
    pub fn inventory(&self) -> Option<String> {
        self.runtime.inventory(Inventory::default())
    }

    /// Returns lines for a prompt that describe the tools.
    #[napi]
    pub fn tool_lines(&self) -> Vec<String> {
        binding::tool_lines(self.runtime.tools())
    }
}

impl JsEngine {
    fn run(&self, run: Run, cancel: &Cancel) -> JsRun {
        if let Some(host) = &self.host {
            // Every run has a call budget of its own.
            host.begin(Duration::from_millis(self.runtime.current_limits().timeout_ms.max(10_000)));
        }
        JsRun::new(run, self.runtime.tools(), &self.table, cancel, self.host.clone())
    }
}

fn cancelled(grants: &JsGrants, cancel: &JsCancel) -> Grants {
    grants.grants.clone().cancel(&cancel.cancel)
}

/// A compiled program.
#[napi(js_name = "Code")]
pub struct JsCode {
    pub(crate) program: Program,
}

#[napi]
impl JsCode {
    /// Warnings about its text.
    #[napi]
    pub fn warnings(&self) -> Vec<JsDiagnostic> {
        JsDiagnostic::list(self.program.warnings(), self.program.source())
    }
}

/// Compiles on a thread of the pool.
pub struct Compile {
    runtime: Runtime,
    source: String,
}

impl Task for Compile {
    type Output = Result<Program, Failure>;
    type JsValue = Either<JsCode, crate::diagnostic::JsFailure>;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        Ok(self.runtime.compile(&self.source))
    }

    fn resolve(&mut self, _: Env, output: Self::Output) -> napi::Result<Self::JsValue> {
        Ok(before(output.map(|program| JsCode { program })))
    }
}
