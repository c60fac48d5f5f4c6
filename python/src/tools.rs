//! Tools: Python callables that programs call, by name.

use crate::frozen::PyFrozen;
use crate::names::python;
use crate::{data, value};
use ptc::runtime::{Datum, Effects, Fault, PendingCall, Refusal, ToolAnswer};
use ptc::{Shape, ToolError, ToolShape, Tools};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// One tool, as the Python half describes it.
#[derive(FromPyObject)]
pub struct ToolSpec {
    pub name: String,
    pub call: Py<PyAny>,
    pub is_async: bool,
    /// JSON Schema of the arguments, as text.
    pub takes: Option<String>,
    /// JSON Schema of the result, as text.
    pub answers: Option<String>,
    pub effect: Option<String>,
    /// Description for models.
    pub description: Option<String>,
    /// True if only preludes may call it.
    is_private: bool,
}

/// A Python callable behind a tool.
pub struct PyTool {
    pub call: Py<PyAny>,
    pub is_async: bool,
}

/// Callables by the name of their tool.
pub type Table = HashMap<String, PyTool>;

/// Owner of callables. The garbage collector of Python looks into it and into nothing else of this crate that holds
/// callables, so all others refer to it: a tool may be a method of the object that has the program.
#[pyclass(frozen, module = "ptc._ptc", name = "Callables")]
#[derive(Default)]
pub struct PyTable {
    table: Mutex<Arc<Table>>,
}

impl PyTable {
    /// Returns the callables, to be called and then forgotten.
    pub fn table(&self) -> Arc<Table> {
        self.locked().clone()
    }

    /// Returns a reference that does not keep the callables.
    pub fn weak(&self) -> Weak<Table> {
        Arc::downgrade(&self.locked())
    }

    fn locked(&self) -> MutexGuard<'_, Arc<Table>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Table> for PyTable {
    fn from(table: Table) -> PyTable {
        PyTable { table: Mutex::new(Arc::new(table)) }
    }
}

#[pymethods]
impl PyTable {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What is not visited is kept.
        let Ok(table) = self.table.try_lock() else { return Ok(()) };
        table.values().try_for_each(|tool| visit.call(&tool.call))
    }

    fn __clear__(&self) {
        // Python code may run when the callables go, so they go after the lock.
        let table = std::mem::take(&mut *self.locked());
        drop(table);
    }
}

/// Result of a call of Python code.
pub enum Answered {
    Value(ToolAnswer),
    /// The tool raised an exception, which a program may catch.
    Failed(ToolError, PyErr),
    /// The call may not be made.
    Refused(Fault),
    /// An exception that is no error, such as `KeyboardInterrupt`: the run ends with it.
    Interrupted(PyErr),
}

/// Makes the owner of the callables of these tools.
pub fn table(py: Python<'_>, specs: &[ToolSpec]) -> PyResult<Py<PyTable>> {
    let entry = |spec: &ToolSpec| {
        (spec.name.clone(), PyTool { call: spec.call.clone_ref(py), is_async: spec.is_async })
    };
    Py::new(py, PyTable::from(specs.iter().map(entry).collect::<Table>()))
}

/// Makes the tools of an engine, whose callables are in `table`.
pub fn tools(specs: Vec<ToolSpec>, table: &PyTable) -> PyResult<Tools> {
    let mut tools = Tools::new();
    for spec in specs {
        let (table, name) = (table.weak(), spec.name.clone());
        // Batches call a tool from threads of their own.
        tools = tools.with_answer(&spec.name, move |args| call(&table, &name, args.datum()));
        let takes = spec.takes.map_or(Ok(Shape::Anything), |schema| shape(&spec.name, &schema))?;
        let answers = spec.answers.map_or(Ok(Shape::Anything), |schema| shape(&spec.name, &schema))?;
        if takes != Shape::Anything || answers != Shape::Anything {
            tools = tools.shaped(&spec.name, ToolShape::new(takes, answers));
        }
        if let Some(effect) = &spec.effect {
            tools = tools.effect(&spec.name, self::effect(effect)?);
        }
        if spec.is_private {
            tools = tools.private(&spec.name, |_| Ok(()));
        }
    }
    Ok(tools)
}

fn shape(name: &str, schema: &str) -> PyResult<Shape> {
    let schema: serde_json::Value = serde_json::from_str(schema)
        .map_err(|error| PyValueError::new_err(format!("the schema of tool `{name}` is no JSON: {error}")))?;
    Ok(Shape::of_json_schema(&schema))
}

fn effect(name: &str) -> PyResult<Effects> {
    match name {
        "read" => Ok(Effects::Read),
        "write" => Ok(Effects::Write),
        other => Err(PyValueError::new_err(format!("an effect is \"read\" or \"write\", not {other:?}"))),
    }
}

/// Calls a tool from a thread of a batch or a mission.
pub fn call(table: &Weak<Table>, name: &str, args: &Datum) -> Result<ToolAnswer, ToolError> {
    Python::attach(|py| {
        let table = table.upgrade();
        let tool = table.as_ref().and_then(|table| table.get(name));
        let tool = tool.ok_or_else(|| ToolError::new("the Python object that had it is gone"))?;
        match invoke(py, &tool.call, tool.is_async, args) {
            Answered::Value(answer) => Ok(answer),
            Answered::Failed(error, _) => Err(error),
            Answered::Refused(fault) => Err(ToolError::new(&fault.parts().message)),
            Answered::Interrupted(error) => Err(ToolError::new(error)),
        }
    })
}

/// Calls a tool as the driver of a run.
pub fn answer(py: Python<'_>, tools: &Tools, tool: &PyTool, call: &PendingCall) -> Answered {
    if let Err(fault) = tools.authorize(call) {
        return Answered::Refused(fault);
    }
    let answered = invoke(py, &tool.call, tool.is_async, tools.args(call).datum());
    if let Answered::Value(answer) = &answered {
        tools.learn(&call.name, answer);
    }
    answered
}

/// Calls a Python callable with the arguments of a tool; a coroutine is run to its end.
pub fn invoke(py: Python<'_>, callable: &Py<PyAny>, is_async: bool, args: &Datum) -> Answered {
    let result = arguments(py, args).and_then(|args| {
        if !is_async {
            return callable.bind(py).call((), Some(&args));
        }
        static BLOCKING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let blocking = BLOCKING.import(py, "ptc._tools", "call_blocking")?;
        blocking.call1((callable.bind(py), args))
    });
    answered(py, result)
}

/// Makes the keyword arguments of a call.
pub fn arguments<'py>(py: Python<'py>, args: &Datum) -> PyResult<Bound<'py, PyDict>> {
    Ok(value::python(py, args)?.cast_into::<PyDict>()?)
}

/// Makes the answer of a call from what its Python code returned or raised.
pub fn answered(py: Python<'_>, result: PyResult<Bound<'_, PyAny>>) -> Answered {
    let answer = result.and_then(|result| match result.cast::<PyFrozen>() {
        Ok(frozen) => Ok(ToolAnswer::Frozen(frozen.get().frozen.clone())),
        Err(_) => data::datum(&result, "the result").map(ToolAnswer::Datum),
    });
    match answer {
        Ok(answer) => Answered::Value(answer),
        Err(error) if error.is_instance_of::<PyException>(py) => {
            let told = tool_error(py, &error).unwrap_or_else(ToolError::new);
            Answered::Failed(told, error)
        }
        Err(error) => Answered::Interrupted(error),
    }
}

/// Makes the error that a program sees: the text of a `ptc.ToolError`, and the type and text of other exceptions.
pub fn tool_error(py: Python<'_>, error: &PyErr) -> PyResult<ToolError> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let exception = error.value(py);
    let text = exception.str()?.to_string();
    if !exception.is_instance(CLASS.import(py, "ptc._errors", "ToolError")?)? {
        let kind = error.get_type(py).name()?.to_string();
        return Ok(ToolError::new(if text.is_empty() { kind } else { format!("{kind}: {text}") }));
    }
    let is_mistake: bool = exception.getattr(python!(py, "is_mistake"))?.is_truthy()?;
    let told = if is_mistake { ToolError::raise(text) } else { ToolError::new(text) };
    let hint: Option<String> = exception.getattr(python!(py, "hint"))?.extract()?;
    Ok(match hint {
        Some(hint) => told.hint(hint),
        None => told,
    })
}

/// Makes a call that no Python code answers, such as one to a server.
pub fn dispatch(py: Python<'_>, tools: &Tools, call: PendingCall) -> Result<ToolAnswer, Refusal> {
    use ptc::runtime::Dispatch;
    py.detach(|| pollster::block_on(tools.call(call)).1)
}
