//! Tools with declarations: a name, types of arguments and result, and the Rust code that runs.

use ptc_runtime::{Effects, Shape, ToolAnswer, ToolArgs, ToolError, ToolFuture, ToolShape, Tools};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

/// A tool made of Rust code and types, for engines and agents alike:
/// [`Engine::with_tool`](crate::Engine::with_tool) takes one, and so does `Agent::builder().tool(…)` with the
/// feature `agent`. The attribute [`tool`](macro@crate::tool) makes one from a function.
///
/// ```
/// use ptc::{ToolDefinition, prelude::*};
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Item { of: String }
///
/// let price = ToolDefinition::new("price", |item: Item| Ok(if item.of == "tea" { 3 } else { 5 }));
/// let engine = Engine::new()?.with_tool(price);
/// assert_eq!(engine.eval::<i64>(r#"(tool/price {:of "tea"})"#)?, 3);
/// // The types are known before anything is called.
/// let failure = engine.run("(tool/price {:off 7})").unwrap_err();
/// assert!(failure.to_string().contains("it is called without `:of`, which it needs"), "{failure}");
/// # Ok::<(), Failure>(())
/// ```
#[derive(Clone)]
pub struct ToolDefinition {
    name: String,
    description: Option<String>,
    effect: Effects,
    takes: Arc<Value>,
    answers: Arc<Value>,
    body: Body,
}

type Blocking = dyn Fn(&ToolArgs) -> Result<ToolAnswer, ToolError> + Send + Sync;
type Waiting = dyn Fn(ToolArgs) -> ToolFuture + Send + Sync;

#[derive(Clone)]
enum Body {
    Blocking(Arc<Blocking>),
    Async(Arc<Waiting>),
}

impl ToolDefinition {
    /// Makes a tool from a function that blocks while it works.
    pub fn new<A, T>(
        name: impl Into<String>,
        tool: impl Fn(A) -> Result<T, ToolError> + Send + Sync + 'static,
    ) -> ToolDefinition
    where
        A: DeserializeOwned + JsonSchema,
        T: Serialize + JsonSchema,
    {
        let body = move |args: &ToolArgs| ToolAnswer::from_serialize(&tool(args.parse()?)?);
        ToolDefinition::of::<A, T>(name.into(), Body::Blocking(Arc::new(body)))
    }

    /// Makes a tool from an async function: a waiting call holds no thread.
    pub fn new_async<A, T, F>(
        name: impl Into<String>,
        tool: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> ToolDefinition
    where
        A: DeserializeOwned + JsonSchema,
        T: Serialize + JsonSchema,
        F: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let body = move |args: ToolArgs| -> ToolFuture {
            let answer = args.parse().map(&tool);
            Box::pin(async move { ToolAnswer::from_serialize(&answer?.await?) })
        };
        ToolDefinition::of::<A, T>(name.into(), Body::Async(Arc::new(body)))
    }

    fn of<A: JsonSchema, T: JsonSchema>(name: String, body: Body) -> ToolDefinition {
        let settings = SchemaSettings::draft2020_12();
        let answers = settings.clone().for_serialize().into_generator().into_root_schema_for::<T>();
        ToolDefinition {
            name,
            description: None,
            effect: Effects::Unknown,
            takes: Arc::new(settings.into_generator().into_root_schema_for::<A>().to_value()),
            answers: Arc::new(answers.to_value()),
            body,
        }
    }

    /// Sets the text that models read.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> ToolDefinition {
        self.description = Some(text.into());
        self
    }

    /// Sets the effect of a call; without it the effect is unknown, which counts as a write.
    #[must_use]
    pub fn effect(mut self, effect: Effects) -> ToolDefinition {
        self.effect = effect;
        self
    }

    /// Returns the name that programs call.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the JSON Schema of its arguments, with the descriptions of parameters.
    pub fn takes(&self) -> &Value {
        &self.takes
    }

    /// Returns the JSON Schema of its result.
    pub fn answers(&self) -> &Value {
        &self.answers
    }

    /// Adds the tool to a set of tools for programs: code, types and effect.
    #[must_use]
    pub fn grant(&self, tools: Tools) -> Tools {
        let tools = match self.body.clone() {
            Body::Blocking(body) => tools.with_answer(&self.name, move |args| body(&args)),
            Body::Async(body) => tools.with_async_answer(&self.name, move |args| body(args)),
        };
        let shape = ToolShape::new(Shape::of_json_schema(&self.takes), Shape::of_json_schema(&self.answers));
        tools.shaped(&self.name, shape).effect(&self.name, self.effect)
    }
}

impl fmt::Debug for ToolDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_async = matches!(self.body, Body::Async(_));
        f.debug_struct("ToolDefinition").field("name", &self.name).field("is_async", &is_async).finish()
    }
}

#[cfg(feature = "agent")]
impl From<ToolDefinition> for ptc_agent::tools::Tool {
    fn from(tool: ToolDefinition) -> ptc_agent::tools::Tool {
        use ptc_agent::tools::{Body as AgentBody, Effect, Tool, ToolKind};
        let body = match tool.body {
            Body::Blocking(body) => AgentBody::blocking(move |args, _| body(args)),
            Body::Async(body) => AgentBody::waiting(move |args, _| body(args)),
        };
        let made = Tool::of(tool.name, ToolKind::Plain(body)).schemas(&tool.takes, Some(&tool.answers));
        let made = made.effect(match tool.effect {
            Effects::Pure | Effects::Read => Effect::Read,
            Effects::Write => Effect::Write,
            Effects::Unknown => Effect::Unknown,
        });
        match tool.description {
            Some(text) => made.description(text),
            None => made,
        }
    }
}

/// Converts an error of a function into one of its tool. A [`ToolError`] keeps its hint.
pub fn tool_error<E: fmt::Display + 'static>(error: E) -> ToolError {
    let any: &dyn std::any::Any = &error;
    any.downcast_ref::<ToolError>().cloned().unwrap_or_else(|| ToolError::new(&error))
}
