//! Names and types of Python that are looked up once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// An interned Python string.
macro_rules! python {
    ($py:expr, $name:literal) => {
        pyo3::intern!($py, $name)
    };
}
pub(crate) use python;

/// Types of the standard library. Each is imported when the first object appears that could be of it, since
/// importing this package should cost next to nothing.
pub struct PyNames {
    datetime: PyOnceLock<Py<PyType>>,
    date: PyOnceLock<Py<PyType>>,
    timedelta: PyOnceLock<Py<PyType>>,
    decimal: PyOnceLock<Py<PyType>>,
    r#enum: PyOnceLock<Py<PyType>>,
    uuid: PyOnceLock<Py<PyType>>,
    epoch: PyOnceLock<Py<PyAny>>,
}

static NAMES: PyNames = PyNames {
    datetime: PyOnceLock::new(),
    date: PyOnceLock::new(),
    timedelta: PyOnceLock::new(),
    decimal: PyOnceLock::new(),
    r#enum: PyOnceLock::new(),
    uuid: PyOnceLock::new(),
    epoch: PyOnceLock::new(),
};

macro_rules! types {
    ($($field:ident: $module:literal $name:literal;)*) => {
        $(
            #[doc = concat!("Returns the type `", $module, ".", $name, "`.")]
            pub fn $field<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
                self.$field.import(py, $module, $name)
            }
        )*
    };
}

impl PyNames {
    /// Returns the names of this process.
    pub fn get(_: Python<'_>) -> PyResult<&'static PyNames> {
        Ok(&NAMES)
    }

    types! {
        datetime: "datetime" "datetime";
        date: "datetime" "date";
        timedelta: "datetime" "timedelta";
        decimal: "decimal" "Decimal";
        r#enum: "enum" "Enum";
        uuid: "uuid" "UUID";
    }

    /// Returns 1970-01-01T00:00Z as a `datetime`.
    pub fn epoch<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let make = || {
            let utc = py.import("datetime")?.getattr("timezone")?.getattr("utc")?;
            let epoch = self.datetime(py)?.call_method1("fromtimestamp", (0, utc))?;
            PyResult::Ok(epoch.unbind())
        };
        Ok(self.epoch.get_or_try_init(py, make)?.bind(py))
    }
}

/// True if a type comes from numpy.
pub fn is_numpy(kind: &Bound<'_, PyType>) -> PyResult<bool> {
    let module = kind.module()?;
    let module = module.to_str()?;
    Ok(module == "numpy" || module.starts_with("numpy."))
}
