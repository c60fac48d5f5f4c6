//! Sessions: programs that see each other's definitions.

use crate::compute;
use crate::diagnostic;
use crate::frozen::PyGrants;
use crate::outcome::PyOutcome;
use crate::value;
use ptc::binding::{When, call_of};
use ptc::runtime::{Run, Runtime};
use ptc::{Cancel, Failure, Grants, Session};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The memory of a session.
#[pyclass(frozen, module = "ptc._ptc", name = "SessionCore")]
pub struct PySession {
    state: Mutex<(Session, Grants)>,
}

impl PySession {
    pub fn new(session: Session, grants: Grants) -> PySession {
        PySession { state: Mutex::new((session, grants)) }
    }

    /// Locks the session. Nothing that waits, and no Python code, is done under the lock.
    fn state(&self) -> MutexGuard<'_, (Session, Grants)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a copy whose programs run in another runtime.
    pub fn with_runtime(&self, py: Python<'_>, runtime: Runtime) -> PyResult<PySession> {
        let (mut session, grants) = self.state().clone();
        session.set_runtime(runtime).map_err(|failure| diagnostic::error(py, &failure, When::Before))?;
        Ok(PySession::new(session, grants))
    }

    /// Makes a run of a program, or of a call of a function with these arguments as `data/arguments`.
    pub fn start(
        &self,
        py: Python<'_>,
        source: &str,
        cancel: &Cancel,
        call: Option<&Grants>,
    ) -> PyResult<Run> {
        let (mut session, grants) = self.state().clone();
        let (source, grants) = match call {
            None => (source.to_string(), grants),
            Some(arguments) => {
                (call_of(source).map_err(|failure| diagnostic::problem(py, failure))?, arguments.clone())
            }
        };
        session.set_grants(grants.cancel(cancel));
        let run = compute::detached(py, || session.start(&source))?;
        run.map_err(|failure| diagnostic::error(py, &failure, When::Before))
    }
}

#[pymethods]
impl PySession {
    /// Makes the definitions of a finished run those of the session.
    fn commit(&self, py: Python<'_>, outcome: &PyOutcome, source: &str) -> PyResult<()> {
        let committed: Result<(), Failure> =
            py.detach(|| self.state().0.commit_within_limits(&outcome.outcome, source));
        committed.map_err(|failure| diagnostic::error(py, &failure, When::Running))
    }

    /// Grants other data from now on.
    fn grant(&self, grants: &PyGrants) {
        self.state().1 = grants.grants.clone();
    }

    /// Returns an independent copy.
    fn copy(&self) -> PySession {
        let (session, grants) = self.state().clone();
        PySession::new(session, grants)
    }

    /// Names defined so far, sorted.
    fn defined(&self) -> Vec<String> {
        self.state().0.defined().map(str::to_string).collect()
    }

    /// Returns the value of a definition; `None` if there is none, else a tuple of it.
    fn definition<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<(Bound<'py, PyAny>,)>> {
        let found = self.state().0.definition(name).cloned();
        let Some(found) = found else { return Ok(None) };
        let datum =
            found.to_datum(usize::MAX).map_err(|fault| diagnostic::problem(py, fault.to_diagnostic()))?;
        Ok(Some((value::python(py, &datum)?,)))
    }
}
