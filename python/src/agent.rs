//! Missions that a model works on.

use crate::cancel::PyCancel;
use crate::servers::PyServers;
use crate::tools::{self, PyTable, PyTool, Table, ToolSpec};
use crate::{data, value};
use ptc::Cancel;
use ptc::agent::definition::{AgentBuilder, AgentFile, BuildError};
use ptc::agent::mission::{MissionEvent, MissionEventKind, stream};
use ptc::agent::tools::{Body, Effect, LlmRef, Tool, ToolKind};
use ptc::agent::{Agent, RunOptions, Step};
use ptc::model::{Callback, ErrorKind, LlmError, LlmRequest, LlmResponse};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, Weak};

/// The definition of an agent.
#[pyclass(frozen, module = "ptc._ptc", name = "AgentCore")]
pub struct PyAgent {
    agent: Agent,
    table: Py<PyTable>,
}

#[pymethods]
impl PyAgent {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.table)
    }

    /// Reads an agent from a TOML or JSON file, and the files that it names, or from a JSON object.
    #[staticmethod]
    #[pyo3(signature = (*, path=None, json=None, tools=Vec::new()))]
    fn make(
        py: Python<'_>,
        path: Option<PathBuf>,
        json: Option<&str>,
        tools: Vec<ToolSpec>,
    ) -> PyResult<PyAgent> {
        let builder = match (path, json) {
            (Some(path), _) => AgentFile::load(path).map_err(|error| wrong(&error))?.builder(),
            (None, json) => {
                let table: Value = serde_json::from_str(json.unwrap_or("{}"))
                    .map_err(|error| PyValueError::new_err(error.to_string()))?;
                AgentBuilder::from_json(&table)
            }
        };
        let table = tools::table(py, &tools)?;
        let with_tool = |builder: AgentBuilder, spec| PyResult::Ok(builder.tool(tool(spec, table.get())?));
        let builder = tools.into_iter().try_fold(builder, with_tool)?;
        Ok(PyAgent { agent: builder.build().map_err(|error| wrong(&error))?, table })
    }

    /// Name of the agent, for traces.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.agent.name()
    }

    /// Mission of the agent.
    #[getter]
    fn prompt(&self) -> &str {
        self.agent.prompt()
    }

    /// Signature of the agent.
    #[getter]
    fn signature(&self) -> String {
        self.agent.signature().to_string()
    }

    /// Remarks about the definition.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.agent.warnings().to_vec()
    }

    /// Starts a mission that continues while its events are read. `ask` answers requests of the mission, given and
    /// returned as JSON text; `model` names one instead.
    #[pyo3(signature = (context, *, ask=None, model=None, servers=None, cancel=None))]
    fn stream(
        &self,
        py: Python<'_>,
        context: &Bound<'_, PyDict>,
        ask: Option<Py<PyAny>>,
        model: Option<String>,
        servers: Option<&PyServers>,
        cancel: Option<&PyCancel>,
    ) -> PyResult<PyMission> {
        let mut options = RunOptions { context: data::datum(context, "data")?, ..RunOptions::new() };
        let mut models = PyTable::default();
        if let Some(call) = ask {
            models = Table::from([(MODEL.to_string(), PyTool { call, is_async: false })]).into();
            let model = models.weak();
            options = options.llm(LlmRef::client(Callback::blocking(move |request| reply(&model, request))));
        } else if let Some(name) = model {
            options = options.llm(LlmRef::from(name));
        }
        if let Some(servers) = servers {
            options = options.servers(servers.upstream()?.attach(None));
        }
        let cancel = cancel.map(|cancel| cancel.cancel.clone()).unwrap_or_default();
        options = options.cancel(&cancel);
        let events = stream(self.agent.clone(), options).blocking();
        let tables = [self.table.clone_ref(py), Py::new(py, models)?];
        Ok(PyMission { events: Mutex::new(Some(Box::new(events))), cancel, tables })
    }
}

fn wrong(error: &BuildError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Makes a tool of an agent from a Python callable, which is in `table`.
fn tool(spec: ToolSpec, table: &PyTable) -> PyResult<Tool> {
    let schema = |text: Option<String>| -> PyResult<Option<Value>> {
        text.map(|text| serde_json::from_str(&text).map_err(|error| PyValueError::new_err(error.to_string())))
            .transpose()
    };
    let (takes, answers) = (schema(spec.takes)?, schema(spec.answers)?);
    let (table, name) = (table.weak(), spec.name.clone());
    let body = Body::blocking(move |args, _| tools::call(&table, &name, args.datum()));
    let mut tool = Tool::of(spec.name, ToolKind::Plain(body));
    if let Some(takes) = takes {
        tool = tool.schemas(&takes, answers.as_ref());
    }
    if let Some(text) = spec.description {
        tool = tool.description(text);
    }
    match spec.effect.as_deref() {
        Some("read") => tool = tool.effect(Effect::Read),
        Some("write") => tool = tool.effect(Effect::Write),
        _ => {}
    }
    Ok(tool)
}

/// Name of the caller's model in its table.
const MODEL: &str = "model";

/// Asks the model of the caller, which is Python code.
fn reply(table: &Weak<Table>, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
    let unreadable = |error: String| LlmError::new(ErrorKind::BadReply, error);
    let text = serde_json::to_string(request).map_err(|error| unreadable(error.to_string()))?;
    let answer: String = Python::attach(|py| {
        let table = table.upgrade();
        let model = table.as_ref().and_then(|table| table.get(MODEL));
        let model = model.ok_or_else(|| PyRuntimeError::new_err("the mission is closed"))?;
        model.call.bind(py).call1((text,))?.extract()
    })
    .map_err(|error: PyErr| LlmError::new(ErrorKind::Exception, error.to_string()))?;
    serde_json::from_str(&answer).map_err(|error| unreadable(format!("the reply cannot be read: {error}")))
}

type Events = Box<dyn Iterator<Item = MissionEvent> + Send>;

/// A mission under way: an iterator of its events.
#[pyclass(frozen, module = "ptc._ptc", name = "Mission")]
pub struct PyMission {
    /// None while a thread waits for the next event.
    events: Mutex<Option<Events>>,
    cancel: Cancel,
    /// Tools of its agent, and its model.
    tables: [Py<PyTable>; 2],
}

impl Drop for PyMission {
    fn drop(&mut self) {
        let events = self.events.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // As in `close`: most missions were closed before.
        if events.is_some() {
            Python::attach(|py| py.detach(|| drop(events)));
        }
    }
}

#[pymethods]
impl PyMission {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.tables.iter().try_for_each(|table| visit.call(table))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// Waits for the next event: its kind, its fields, the depth, name and turn of its agent.
    #[allow(clippy::type_complexity)]
    fn __next__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(&'static str, Bound<'py, PyDict>, u32, Option<String>, Option<u32>)>> {
        let taken = self.events.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut events) = taken else {
            return Err(PyRuntimeError::new_err("another thread reads the events of this mission"));
        };
        let event = py.detach(|| events.next());
        *self.events.lock().unwrap_or_else(PoisonError::into_inner) = Some(events);
        py.check_signals()?;
        let Some(event) = event else { return Ok(None) };
        let (kind, fields) = parts(py, event.kind)?;
        Ok(Some((kind, fields, event.depth, event.agent.map(|name| name.to_string()), event.turn)))
    }

    /// Ends a mission whose events nobody reads any more.
    fn close(&self, py: Python<'_>) {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Dropping it waits for tools and models, which may be Python functions.
        py.detach(|| drop(events));
    }

    /// Ends the mission while a thread waits for its next event, and what else was given the same handle.
    fn cancel(&self) {
        self.cancel.cancel();
    }
}

/// Returns the name and the fields of an event.
fn parts(py: Python<'_>, kind: MissionEventKind) -> PyResult<(&'static str, Bound<'_, PyDict>)> {
    let fields = PyDict::new(py);
    let name = match kind {
        MissionEventKind::TurnBegan(_) => "turn_began",
        MissionEventKind::Text(text) => {
            fields.set_item("text", text)?;
            "text"
        }
        MissionEventKind::TextRestarted => "text_restarted",
        MissionEventKind::Program(source) => {
            fields.set_item("program", source)?;
            "program"
        }
        MissionEventKind::ToolCalled { name, args } => {
            fields.set_item("name", name)?;
            fields.set_item("args", json(py, &args)?)?;
            "tool_called"
        }
        MissionEventKind::ToolAnswered { name, answer, is_cached } => {
            fields.set_item("name", name)?;
            match answer {
                Ok(answer) => fields.set_item("answer", json(py, &answer)?)?,
                Err(error) => fields.set_item("error", error)?,
            }
            fields.set_item("is_cached", is_cached)?;
            "tool_answered"
        }
        MissionEventKind::Printed(lines) => {
            fields.set_item("lines", lines)?;
            "printed"
        }
        MissionEventKind::Warning(text) => {
            fields.set_item("text", text)?;
            "warning"
        }
        MissionEventKind::Feedback(text) => {
            fields.set_item("text", text)?;
            "feedback"
        }
        MissionEventKind::TurnEnded { is_success, result } => {
            fields.set_item("is_success", is_success)?;
            fields.set_item("result", result)?;
            "turn_ended"
        }
        MissionEventKind::Omitted(count) => {
            fields.set_item("count", count)?;
            "omitted"
        }
        MissionEventKind::Ended(step) => {
            let step = *step.unwrap_or_else(|step| step);
            fields.set_item("step", Py::new(py, PyStep { step })?)?;
            "ended"
        }
        _ => "other",
    };
    Ok((name, fields))
}

/// Makes Python objects of JSON.
fn json<'py>(py: Python<'py>, json: &Value) -> PyResult<Bound<'py, PyAny>> {
    let loads = py.import("json")?.getattr("loads")?;
    loads.call1((PyString::new(py, &json.to_string()),))
}

/// Result of a mission.
#[pyclass(frozen, module = "ptc._ptc", name = "StepCore")]
pub struct PyStep {
    step: Step,
}

#[pymethods]
impl PyStep {
    /// Value of the mission as plain Python; `None` if it failed.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.step.returned {
            Some(value) => value::python(py, value),
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// Reason and message of the failure; `None` if there is a value.
    #[getter]
    fn failure(&self) -> Option<(String, String)> {
        let fail = self.step.fail.as_ref()?;
        Some((fail.reason.clone(), fail.message.clone()))
    }

    /// The whole step as JSON text.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.step).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}
