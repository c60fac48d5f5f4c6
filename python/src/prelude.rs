//! Preludes: libraries for programs.

use crate::compute;
use crate::diagnostic;
use ptc::Engine;
use ptc::binding::When;
use ptc::runtime::{
    ArtifactHash, CompileOptions, Diagnostic, Inventory, LoadOptions, Prelude, Runtime, Signing, Stale,
    TrustedKeys,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A library that programs call like builtins: compiled from source, or loaded from a `.ptcp` file.
#[pyclass(frozen, module = "ptc", name = "Prelude")]
pub struct PyPrelude {
    pub prelude: Prelude,
}

fn runtime(py: Python<'_>) -> PyResult<Runtime> {
    let engine = Engine::new().map_err(|failure| diagnostic::error(py, &failure, When::Before))?;
    Ok(engine.runtime().clone())
}

#[pymethods]
impl PyPrelude {
    /// Compiles a prelude from its source, which may require the namespaces of the preludes in `uses`.
    #[staticmethod]
    #[pyo3(signature = (source, *, uses=Vec::new()))]
    fn compile(py: Python<'_>, source: &str, uses: Vec<Py<PyPrelude>>) -> PyResult<PyPrelude> {
        let uses: Vec<Prelude> = uses.iter().map(|prelude| prelude.get().prelude.clone()).collect();
        let runtime = runtime(py)?;
        let options = CompileOptions { uses: &uses, ..CompileOptions::default() };
        let compiled = compute::detached(py, || Prelude::compile_with(&runtime, source, &options))?;
        match compiled {
            Ok(prelude) => Ok(PyPrelude { prelude }),
            Err(error) => Err(diagnostic::problems(py, &error.diagnostics, source)),
        }
    }

    /// Loads a prelude from the bytes of a `.ptcp` file, which is fully verified. With `trusted`, public keys one per
    /// line, one of them must have made `signature`; `pin` is the hash of the only build to accept. A file built by
    /// another version is compiled again from the source inside it, unless `recompile` is false.
    #[staticmethod]
    #[pyo3(signature = (data, *, signature=None, trusted=None, pin=None, recompile=true))]
    fn from_bytes(
        py: Python<'_>,
        data: &[u8],
        signature: Option<&str>,
        trusted: Option<&str>,
        pin: Option<&str>,
        recompile: bool,
    ) -> PyResult<PyPrelude> {
        let fail = |problem: Diagnostic| diagnostic::problem(py, problem);
        let trusted = trusted.map(TrustedKeys::parse).transpose().map_err(fail)?;
        let pin = pin.map(ArtifactHash::parse).transpose().map_err(fail)?;
        let stale = if recompile { Stale::Recompile } else { Stale::default() };
        let options =
            LoadOptions { stale, trusted: trusted.as_ref(), signature, pin, ..LoadOptions::default() };
        let runtime = runtime(py)?;
        let prelude = compute::detached(py, || Prelude::load(&runtime, data, &options))?.map_err(fail)?;
        Ok(PyPrelude { prelude })
    }

    /// Loads a prelude from a `.ptcp` file as `from_bytes` does. With `trusted` and no `signature`, the signature is the
    /// file beside it with `.sig` added to its name.
    #[staticmethod]
    #[pyo3(signature = (path, *, signature=None, trusted=None, pin=None, recompile=true))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        signature: Option<String>,
        trusted: Option<&str>,
        pin: Option<&str>,
        recompile: bool,
    ) -> PyResult<PyPrelude> {
        let data = std::fs::read(&path)?;
        let beside = || {
            let mut name = path.clone().into_os_string();
            name.push(".sig");
            std::fs::read_to_string(name).ok()
        };
        let signature = signature.or_else(|| trusted.and_then(|_| beside()));
        PyPrelude::from_bytes(py, &data, signature.as_deref(), trusted, pin, recompile)
    }

    /// Returns the bytes of a `.ptcp` file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.prelude.to_bytes())
    }

    /// Signs the bytes of the file with a private key of 64 hexadecimal digits, and returns the signature as text.
    fn sign(&self, py: Python<'_>, key: &str) -> PyResult<String> {
        let fail = |problem: Diagnostic| diagnostic::problem(py, problem);
        let signing = Signing::from_hex(key).map_err(fail)?;
        signing.sign(&self.prelude.to_bytes()).map_err(fail)
    }

    /// Names of the namespaces it declares.
    #[getter]
    fn namespaces(&self) -> Vec<String> {
        self.prelude.namespaces().iter().map(|namespace| namespace.name.clone()).collect()
    }

    /// Names of what it exports, such as `crm/find`.
    #[getter]
    fn exports(&self) -> Vec<String> {
        self.prelude.exports().iter().map(|export| export.reference()).collect()
    }

    /// Hash of this build.
    #[getter]
    fn hash(&self) -> String {
        self.prelude.artifact_hash()
    }

    /// Hash of what programs see of it: names, parameters and types.
    #[getter]
    fn interface_hash(&self) -> String {
        self.prelude.interface_hash()
    }

    /// Part of a prompt that describes it to models; `None` if it exports nothing for them.
    #[getter]
    fn inventory(&self) -> Option<String> {
        self.prelude.inventory(Inventory::default())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.import("ptc._run")?.getattr("load_prelude")?, (self.to_bytes(py),)))
    }

    fn __repr__(&self) -> String {
        format!("<Prelude {}>", self.namespaces().join(" "))
    }
}

/// Returns the public key of a private key.
#[pyfunction]
pub fn public_key(py: Python<'_>, key: &str) -> PyResult<String> {
    let signing = Signing::from_hex(key).map_err(|problem| diagnostic::problem(py, problem))?;
    Ok(signing.public_key())
}
