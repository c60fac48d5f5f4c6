//! The native half of the Python package: programs, data and runs as Python objects.
//!
//! What Python does better is in Python, in `lib/ptc`: event loops, signatures of functions, adapters.
#![deny(unsafe_code)]

mod agent;
mod batch;
mod batch_result;
mod cancel;
mod command;
mod compute;
mod data;
mod diagnostic;
mod engine;
mod frozen;
mod limits;
mod names;
mod outcome;
mod plain;
mod prelude;
mod run;
mod servers;
mod session;
mod tools;
mod value;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use std::sync::OnceLock;

/// The native half of the package `ptc`.
#[pymodule]
mod _ptc {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::card;
    #[pymodule_export]
    use crate::agent::{PyAgent, PyMission, PyStep};
    #[pymodule_export]
    use crate::batch::{PyRows, run_batch};
    #[pymodule_export]
    use crate::batch_result::PyBatchResult;
    #[pymodule_export]
    use crate::cancel::PyCancel;
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::compute::after_fork;
    #[pymodule_export]
    use crate::diagnostic::{PyDiagnostic, PyFrame};
    #[pymodule_export]
    use crate::engine::{PyCode, PyEngine};
    #[pymodule_export]
    use crate::frozen::{PyFrozen, PyGrants, freeze};
    #[pymodule_export]
    use crate::limits::default_limits;
    #[pymodule_export]
    use crate::outcome::PyOutcome;
    #[pymodule_export]
    use crate::prelude::{PyPrelude, public_key};
    #[pymodule_export]
    use crate::run::{PyCall, PyDispatched, PyRun};
    #[pymodule_export]
    use crate::servers::PyServers;
    #[pymodule_export]
    use crate::session::PySession;
    #[pymodule_export]
    use crate::tools::PyTable;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::refuse_others(module)
    }

    /// Version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)] // Python's name for it.
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Refuses a second interpreter of the process: objects of one must not reach another, and caches of this module would
/// take them there.
fn refuse_others(module: &Bound<'_, PyModule>) -> PyResult<()> {
    static OWNER: OnceLock<usize> = OnceLock::new();
    let own = module.py().import("builtins")?.as_ptr() as usize;
    match *OWNER.get_or_init(|| own) == own {
        true => Ok(()),
        false => Err(PyImportError::new_err("ptc cannot be used in several interpreters of one process")),
    }
}

/// Returns the reference card of the language, for prompts.
#[pyfunction]
fn card() -> &'static str {
    ptc::agent::prompt::reference_card()
}
