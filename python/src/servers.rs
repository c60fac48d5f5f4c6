//! MCP and OpenAPI servers as tools of programs.

use ptc::upstream::config::{Config, Surroundings};
use ptc::upstream::{Options, ProgramHost, Snapshot, Upstream};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;

/// Running MCP and OpenAPI servers that programs call with `(tool/call {…})`.
#[pyclass(frozen, module = "ptc", name = "Servers")]
pub struct PyServers {
    upstream: Upstream,
    /// Process that started them: their threads do not survive a fork.
    process: u32,
}

impl PyServers {
    /// Makes a host for programs that may call these servers.
    pub fn host(&self) -> PyResult<ProgramHost> {
        Ok(ProgramHost::new(Some(self.upstream()?.attach(None))))
    }

    /// Returns the servers, unless this process was forked from the one that started them.
    pub fn upstream(&self) -> PyResult<&Upstream> {
        if self.process == std::process::id() {
            return Ok(&self.upstream);
        }
        let message =
            "these servers were started before the process was forked; start others in this process";
        Err(PyRuntimeError::new_err(message))
    }
}

#[pymethods]
impl PyServers {
    /// Starts the servers of a configuration file or of its JSON text. With `freeze`, their tools are listed now, which
    /// keeps prompts the same; otherwise when they are first needed.
    #[staticmethod]
    #[pyo3(signature = (path=None, *, text=None, freeze=false))]
    fn start(
        py: Python<'_>,
        path: Option<PathBuf>,
        text: Option<String>,
        freeze: bool,
    ) -> PyResult<PyServers> {
        let start = || -> Result<Upstream, String> {
            // This process is a Python interpreter, and a server in Python is not ourselves.
            let mut around = Surroundings::current();
            around.executable = None;
            let config = match (&path, &text) {
                (Some(path), _) => Config::load(path, &around),
                (None, text) => {
                    let folder = std::env::current_dir().unwrap_or_default();
                    Config::parse(text.as_deref().unwrap_or("{}"), &folder, &around)
                }
            };
            let config = config.map_err(|error| error.to_string())?;
            let snapshot = if freeze { Snapshot::Frozen } else { Snapshot::default() };
            let options = Options { snapshot, ..Options::default() };
            Upstream::start(&config, &around, options).map_err(|error| error.to_string())
        };
        let upstream = py.detach(start).map_err(PyValueError::new_err)?;
        Ok(PyServers { upstream, process: std::process::id() })
    }

    /// Stops all servers.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let upstream = self.upstream()?;
        py.detach(|| upstream.stop());
        Ok(())
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.stop(py)
    }

    /// Names of the servers.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.upstream.catalogue().names().iter().map(ToString::to_string).collect()
    }

    /// Starts and lists all servers now; returns what went wrong, one text for each server that failed.
    fn load(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let upstream = self.upstream()?;
        Ok(py.detach(|| upstream.load(None)))
    }

    /// Returns the part of a prompt that describes the servers and their tools.
    fn describe(&self) -> String {
        self.upstream.render()
    }

    /// Remarks about the configuration.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.upstream.warnings()
    }

    fn __repr__(&self) -> String {
        format!("<Servers {}>", self.names().join(" "))
    }
}
