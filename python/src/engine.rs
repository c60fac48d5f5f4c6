//! Engines: the tools, limits and preludes that programs run with.

use crate::cancel::PyCancel;
use crate::compute;
use crate::diagnostic::{self, PyDiagnostic};
use crate::frozen::PyGrants;
use crate::limits::limits;
use crate::prelude::PyPrelude;
use crate::run::PyRun;
use crate::servers::PyServers;
use crate::session::PySession;
use crate::tools::{self, PyTable, ToolSpec};
use ptc::binding::{self, When};
use ptc::runtime::{Attach, Inventory, Program, Run, Runtime, TrustedKeys};
use ptc::upstream::ProgramHost;
use ptc::{Cancel, Engine, Failure};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;
use std::time::Duration;

/// The tools, limits and preludes that programs run with.
#[pyclass(frozen, module = "ptc._ptc", name = "Engine")]
pub struct PyEngine {
    pub runtime: Runtime,
    pub table: Py<PyTable>,
    host: Option<Arc<ProgramHost>>,
}

#[pymethods]
impl PyEngine {
    /// Makes an engine. Without `tools`, programs may name any tool, for a host that steps their runs.
    #[new]
    #[pyo3(signature = (tools=None, limits=None, preludes=Vec::new(), trusted=None, servers=None))]
    fn new(
        py: Python<'_>,
        tools: Option<Vec<ToolSpec>>,
        limits: Option<&Bound<'_, PyDict>>,
        preludes: Vec<Py<PyPrelude>>,
        trusted: Option<&str>,
        servers: Option<Py<PyServers>>,
    ) -> PyResult<PyEngine> {
        let engine = Engine::new().map_err(|failure| diagnostic::error(py, &failure, When::Before))?;
        let mut runtime = engine.runtime().clone().limits(self::limits(limits)?);
        if let Some(keys) = trusted {
            let keys = TrustedKeys::parse(keys).map_err(|problem| diagnostic::problem(py, problem))?;
            runtime = runtime.trusted(keys);
        }
        let table = tools::table(py, tools.as_deref().unwrap_or_default())?;
        if let Some(specs) = tools {
            runtime = runtime.with_tools(tools::tools(specs, table.get())?);
        }
        let host = servers.map(|servers| servers.get().host()).transpose()?;
        if let Some(host) = &host {
            runtime = host.runtime(runtime);
        }
        for prelude in preludes {
            let attached = runtime.attach(&prelude.get().prelude, &Attach::new());
            runtime = attached.map_err(|failure| diagnostic::error(py, &failure, When::Before))?;
        }
        Ok(PyEngine { runtime, table, host: host.map(Arc::new) })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.table)
    }

    /// Compiles a program.
    fn compile(&self, py: Python<'_>, source: &str) -> PyResult<PyCode> {
        let program = compute::detached(py, || self.runtime.compile(source))?;
        let program = program.map_err(|failure| diagnostic::error(py, &failure, When::Before))?;
        Ok(PyCode { program })
    }

    /// Makes a run of a program before its first step.
    fn start(
        &self,
        py: Python<'_>,
        code: &PyCode,
        grants: &PyGrants,
        cancel: Option<&PyCancel>,
    ) -> PyResult<PyRun> {
        let cancel = cancel.map(|cancel| cancel.cancel.clone()).unwrap_or_default();
        let grants = grants.grants.clone().cancel(&cancel);
        let run = py.detach(|| self.runtime.start_with(&code.program, &grants));
        let run = run.map_err(|failure| diagnostic::error(py, &failure, When::Before))?;
        Ok(self.run(py, run, cancel))
    }

    /// Loads a run from bytes.
    fn load(
        &self,
        py: Python<'_>,
        bytes: &[u8],
        grants: &PyGrants,
        cancel: Option<&PyCancel>,
    ) -> PyResult<PyRun> {
        let cancel = cancel.map(|cancel| cancel.cancel.clone()).unwrap_or_default();
        let grants = grants.grants.clone().cancel(&cancel);
        let run = py.detach(|| self.runtime.load(bytes, &grants));
        let run = run.map_err(|failure| diagnostic::error(py, &failure, When::Before))?;
        Ok(self.run(py, run, cancel))
    }

    /// Checks a program as far as that is possible without running it.
    fn check<'py>(&self, py: Python<'py>, source: &str, grants: &PyGrants) -> PyResult<Bound<'py, PyList>> {
        let check = || {
            let program = self.runtime.compile(source)?;
            let run = self.runtime.start_with(&program, &grants.grants)?;
            Ok(run.program().warnings().to_vec())
        };
        match py.detach(check) {
            Ok(warnings) => PyDiagnostic::list(py, &warnings, source),
            Err(failure) => {
                let failure: Failure = failure;
                let all: Vec<_> = failure.diagnostics.iter().chain(failure.warnings()).cloned().collect();
                PyDiagnostic::list(py, &all, source)
            }
        }
    }

    /// Starts a session.
    fn session(&self, grants: &PyGrants) -> PySession {
        PySession::new(self.runtime.session().with_grants(grants.grants.clone()), grants.grants.clone())
    }

    /// Starts a session with the definitions of another one.
    fn session_of(&self, py: Python<'_>, other: &PySession) -> PyResult<PySession> {
        other.with_runtime(py, self.runtime.clone())
    }

    /// Makes a run of a session's program.
    fn start_in(
        &self,
        py: Python<'_>,
        session: &PySession,
        source: &str,
        cancel: Option<&PyCancel>,
    ) -> PyResult<PyRun> {
        let cancel = cancel.map(|cancel| cancel.cancel.clone()).unwrap_or_default();
        let run = session.start(py, source, &cancel, None)?;
        Ok(self.run(py, run, cancel))
    }

    /// Makes a run that calls a function of a session.
    fn start_call(
        &self,
        py: Python<'_>,
        session: &PySession,
        name: &str,
        arguments: &PyGrants,
        cancel: Option<&PyCancel>,
    ) -> PyResult<PyRun> {
        let cancel = cancel.map(|cancel| cancel.cancel.clone()).unwrap_or_default();
        let run = session.start(py, name, &cancel, Some(&arguments.grants))?;
        Ok(self.run(py, run, cancel))
    }

    /// Returns the part of a prompt about the attached preludes.
    #[getter]
    fn inventory(&self) -> Option<String> {
        self.runtime.inventory(Inventory::default())
    }

    /// Returns lines for a prompt that describe the tools.
    fn tool_lines(&self) -> Vec<String> {
        binding::tool_lines(self.runtime.tools())
    }
}

impl PyEngine {
    fn run(&self, py: Python<'_>, run: Run, cancel: Cancel) -> PyRun {
        if let Some(host) = &self.host {
            // Every run has a call budget of its own.
            host.begin(Duration::from_millis(self.runtime.current_limits().timeout_ms.max(10_000)));
        }
        let keep = self.host.clone().map(|host| host as Arc<dyn std::any::Any + Send + Sync>);
        PyRun::new(run, self.runtime.tools(), self.table.clone_ref(py), cancel, keep)
    }
}

/// A compiled program.
#[pyclass(frozen, module = "ptc._ptc", name = "Code")]
pub struct PyCode {
    pub program: Program,
}

#[pymethods]
impl PyCode {
    /// Text of the program.
    #[getter]
    fn source(&self) -> &str {
        self.program.source()
    }

    /// Warnings about its text.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyDiagnostic::list(py, self.program.warnings(), self.program.source())
    }
}
