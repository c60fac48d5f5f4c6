//! Missions that a model works on.

use crate::ask::{Ask, AskFunction};
use crate::cancel::JsCancel;
use crate::packed::{Packed, pack};
use crate::reader;
use crate::servers::JsServers;
use crate::tools::ToolSpec;
use napi::bindgen_prelude::Either;
use napi_derive::napi;
use ptc::agent::definition::{AgentBuilder, AgentFile, BuildError};
use ptc::agent::mission::{MissionEvent, MissionEventKind, MissionStream, stream};
use ptc::agent::tools::{Body, Effect, LlmRef, Tool, ToolKind};
use ptc::agent::{Agent, RunOptions, Step};
use ptc::model::{Callback, ErrorKind, LlmError, LlmRequest, LlmResponse};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The definition of an agent.
#[napi(js_name = "AgentCore")]
pub struct JsAgent {
    agent: Agent,
    /// Calls tools and models.
    ask: Arc<OnceLock<Ask>>,
}

#[napi]
impl JsAgent {
    /// Reads an agent from a TOML or JSON file, and the files that it names, or from a JSON object.
    #[napi]
    pub fn make(
        path: Option<String>,
        json: Option<String>,
        tools: Vec<ToolSpec>,
        ask: AskFunction,
    ) -> napi::Result<JsAgent> {
        let builder = match (path, json) {
            (Some(path), _) => AgentFile::load(path).map_err(|error| wrong(&error))?.builder(),
            (None, json) => AgentBuilder::from_json(&parsed(json.as_deref().unwrap_or("{}"))?),
        };
        let own = Arc::new(OnceLock::from(Ask::new(ask)));
        let builder = tools
            .into_iter()
            .try_fold(builder, |builder, spec| napi::Result::Ok(builder.tool(tool(spec, &own)?)))?;
        Ok(JsAgent { agent: builder.build().map_err(|error| wrong(&error))?, ask: own })
    }

    /// Name of the agent, for traces.
    #[napi(getter)]
    pub fn name(&self) -> Option<String> {
        self.agent.name().map(str::to_string)
    }

    /// Mission of the agent.
    #[napi(getter)]
    pub fn prompt(&self) -> String {
        self.agent.prompt().to_string()
    }

    /// Signature of the agent.
    #[napi(getter)]
    pub fn signature(&self) -> String {
        self.agent.signature().to_string()
    }

    /// Remarks about the definition.
    #[napi(getter)]
    pub fn warnings(&self) -> Vec<String> {
        self.agent.warnings().to_vec()
    }

    /// Starts a mission that continues while its events are read. With `asks`, JavaScript is the model; `model` names
    /// one instead.
    #[napi]
    pub fn stream(
        &self,
        numbers: &[f64],
        text: String,
        model_function: Option<AskFunction>,
        model: Option<String>,
        servers: Option<&JsServers>,
        cancel: &JsCancel,
    ) -> napi::Result<JsMission> {
        let mut options = RunOptions { context: reader::datum(numbers, &text)?, ..RunOptions::new() };
        if let Some(function) = model_function {
            let ask = Ask::new(function);
            options =
                options.llm(LlmRef::client(Callback::waiting(move |request| reply(ask.clone(), request))));
        } else if let Some(name) = model {
            options = options.llm(LlmRef::from(name));
        }
        if let Some(servers) = servers {
            options = options.servers(servers.upstream().attach(None));
        }
        options = options.cancel(&cancel.cancel);
        let events = stream(self.agent.clone(), options);
        Ok(JsMission { events: Arc::new(Mutex::new(Some(events))), _ask: self.ask.clone() })
    }
}

fn wrong(error: &BuildError) -> napi::Error {
    napi::Error::from_reason(error.to_string())
}

fn parsed(text: &str) -> napi::Result<Value> {
    serde_json::from_str(text).map_err(|error| napi::Error::from_reason(error.to_string()))
}

/// Makes a tool of an agent.
fn tool(spec: ToolSpec, ask: &Arc<OnceLock<Ask>>) -> napi::Result<Tool> {
    let takes = spec.takes.as_deref().map(parsed).transpose()?;
    let answers = spec.answers.as_deref().map(parsed).transpose()?;
    let (name, ask) = (spec.name.clone(), ask.clone());
    let body = Body::waiting(move |args, _| {
        let (name, ask) = (name.clone(), ask.get().cloned());
        Box::pin(async move {
            match ask {
                Some(ask) => ask.tool(name, args.datum()).await,
                None => Err(ptc::ToolError::new("this tool has no function")),
            }
        })
    });
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

/// Asks the model of the caller, which is a function of JavaScript.
async fn reply(ask: Ask, request: LlmRequest) -> Result<LlmResponse, LlmError> {
    let unreadable = |error: String| LlmError::new(ErrorKind::BadReply, error);
    let text = serde_json::to_string(&request).map_err(|error| unreadable(error.to_string()))?;
    let answer = ask.model(text).await.map_err(|error| LlmError::new(ErrorKind::Exception, error))?;
    serde_json::from_str(&answer).map_err(|error| unreadable(format!("the reply cannot be read: {error}")))
}

/// A mission under way: a source of events.
#[napi(js_name = "Mission")]
pub struct JsMission {
    /// None while the next event is waited for, and after the end.
    events: Arc<Mutex<Option<MissionStream>>>,
    /// The functions of tools, as long as they may be called.
    _ask: Arc<OnceLock<Ask>>,
}

/// Something that happened in a mission.
#[napi(object, js_name = "EventParts")]
pub struct JsEvent {
    pub kind: String,
    /// The other fields, as JSON text.
    pub fields: String,
    pub depth: u32,
    pub agent: Option<String>,
    pub turn: Option<u32>,
}

/// The event that ends a mission.
#[napi(js_name = "StepCore")]
pub struct JsStep {
    step: Step,
    depth: u32,
    agent: Option<String>,
}

#[napi]
impl JsMission {
    /// Waits for the next event, the last of which is a step.
    #[napi]
    pub async fn next(&self) -> napi::Result<Option<Either<JsStep, JsEvent>>> {
        let events = self.events.clone();
        let taken = lock(&events).take();
        let Some(mut stream) = taken else { return Ok(None) };
        let event = stream.next().await;
        *lock(&events) = Some(stream);
        Ok(event.map(told))
    }

    /// Ends a mission whose events nobody reads any more.
    #[napi]
    pub fn close(&self) {
        drop(lock(&self.events).take());
    }
}

fn lock<T>(state: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn told(event: MissionEvent) -> Either<JsStep, JsEvent> {
    let (depth, agent, turn) = (event.depth, event.agent.map(|name| name.to_string()), event.turn);
    match parts(event.kind) {
        Ok((kind, fields)) => {
            let fields = Value::Object(fields).to_string();
            Either::B(JsEvent { kind: kind.to_string(), fields, depth, agent, turn })
        }
        Err(step) => Either::A(JsStep { step: *step, depth, agent }),
    }
}

/// Returns the name and the fields of an event, or the step that ends the mission.
fn parts(kind: MissionEventKind) -> Result<(&'static str, Map<String, Value>), Box<Step>> {
    let (name, fields) = match kind {
        MissionEventKind::TurnBegan(_) => ("turnBegan", json!({})),
        MissionEventKind::Text(text) => ("text", json!({ "text": text })),
        MissionEventKind::TextRestarted => ("textRestarted", json!({})),
        MissionEventKind::Program(source) => ("program", json!({ "program": source })),
        MissionEventKind::ToolCalled { name, args } => ("toolCalled", json!({ "name": name, "args": args })),
        MissionEventKind::ToolAnswered { name, answer, is_cached } => match answer {
            Ok(answer) => ("toolAnswered", json!({ "name": name, "answer": answer, "isCached": is_cached })),
            Err(error) => ("toolAnswered", json!({ "name": name, "error": error, "isCached": is_cached })),
        },
        MissionEventKind::Printed(lines) => ("printed", json!({ "lines": lines })),
        MissionEventKind::Warning(text) => ("warning", json!({ "text": text })),
        MissionEventKind::Feedback(text) => ("feedback", json!({ "text": text })),
        MissionEventKind::TurnEnded { is_success, result } => {
            ("turnEnded", json!({ "isSuccess": is_success, "result": result }))
        }
        MissionEventKind::Omitted(count) => ("omitted", json!({ "count": count })),
        MissionEventKind::Ended(step) => return Err(step.unwrap_or_else(|step| step)),
        _ => ("other", json!({})),
    };
    let Value::Object(fields) = fields else { return Ok((name, Map::new())) };
    Ok((name, fields))
}

#[napi]
impl JsStep {
    /// Number of agents above the one that the event concerns.
    #[napi(getter)]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Name of the agent.
    #[napi(getter)]
    pub fn agent(&self) -> Option<String> {
        self.agent.clone()
    }

    /// Value of the mission, if it has one.
    #[napi]
    pub fn value(&self) -> Option<Packed> {
        self.step.returned.as_ref().map(pack)
    }

    /// Reason and message of the failure, if it failed.
    #[napi(getter)]
    pub fn failure(&self) -> Option<Vec<String>> {
        let fail = self.step.fail.as_ref()?;
        Some(vec![fail.reason.clone(), fail.message.clone()])
    }

    /// The whole step as JSON text.
    #[napi]
    pub fn json(&self) -> napi::Result<String> {
        serde_json::to_string(&self.step).map_err(|error| napi::Error::from_reason(error.to_string()))
    }
}
