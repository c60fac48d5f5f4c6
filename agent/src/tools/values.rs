//! Values of tool options, and host code behind tools.

use ptc_bytecode::Datum;
use ptc_model::{Callback, Client, LlmError, LlmRequest, LlmResponse, Model};
use ptc_runtime::{Cancel, ToolAnswer, ToolArgs, ToolError, ToolFuture};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Layer that a call came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// A model, through its provider.
    Native,
    /// A program.
    PtcLisp,
}

/// Information on a call, besides its arguments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolCtx {
    /// Number of agents above the calling agent.
    pub depth: u32,
    /// Time after which a result is useless.
    pub deadline: Option<Instant>,
    /// Signal that fires when the mission is cancelled.
    pub cancel: Cancel,
    /// Layer that the call came from.
    pub layer: Layer,
}

impl ToolCtx {
    /// Returns the context of a call from a program at depth 0, without a deadline.
    pub fn new() -> ToolCtx {
        ToolCtx { depth: 0, deadline: None, cancel: Cancel::new(), layer: Layer::PtcLisp }
    }
}

impl Default for ToolCtx {
    fn default() -> ToolCtx {
        ToolCtx::new()
    }
}

type Blocking = dyn Fn(&ToolArgs, &ToolCtx) -> Result<ToolAnswer, ToolError> + Send + Sync;
type Waiting = dyn Fn(ToolArgs, ToolCtx) -> ToolFuture + Send + Sync;

/// Code of the host behind a tool.
#[derive(Clone)]
pub struct Body(ToolBody);

/// Blocking or async code of a [`Body`].
#[derive(Clone)]
pub enum ToolBody {
    /// Code that blocks while it works.
    Blocking(Arc<Blocking>),
    /// Code that returns a future.
    Async(Arc<Waiting>),
}

impl Body {
    /// Wraps a closure that blocks.
    pub fn blocking(
        body: impl Fn(&ToolArgs, &ToolCtx) -> Result<ToolAnswer, ToolError> + Send + Sync + 'static,
    ) -> Body {
        Body(ToolBody::Blocking(Arc::new(body)))
    }

    /// Wraps a closure that returns a future.
    pub fn waiting(body: impl Fn(ToolArgs, ToolCtx) -> ToolFuture + Send + Sync + 'static) -> Body {
        Body(ToolBody::Async(Arc::new(body)))
    }

    /// Returns the code.
    pub fn get(&self) -> &ToolBody {
        &self.0
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body(…)")
    }
}

/// Reference to a model. Files give a name; code may also give a model or a closure.
///
/// ```
/// use ptc_model::{LlmRequest, Scripted};
/// use ptc_agent::tools::LlmRef;
/// assert_eq!(LlmRef::from("haiku"), LlmRef::Name("haiku".to_string()));
/// assert!(matches!(LlmRef::client(Scripted::new(["(+ 1 2)"])), LlmRef::Client(_)));
/// let closure = |request: &LlmRequest| Ok(request.prompt.to_uppercase());
/// assert!(matches!(LlmRef::from(closure), LlmRef::Client(_)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum LlmRef {
    /// Model of the calling agent.
    #[default]
    Caller,
    /// Name in the registry, or `provider:model`.
    Name(String),
    /// A given model.
    Client(Client),
}

impl LlmRef {
    /// Refers to a given model.
    pub fn client(model: impl Model + 'static) -> LlmRef {
        LlmRef::Client(Client::new(model))
    }
}

impl From<Client> for LlmRef {
    fn from(client: Client) -> LlmRef {
        LlmRef::Client(client)
    }
}

/// Refers to a closure, which may block.
impl<F, T> From<F> for LlmRef
where
    F: Fn(&LlmRequest) -> Result<T, LlmError> + Send + Sync + 'static,
    T: Into<LlmResponse>,
{
    fn from(call: F) -> LlmRef {
        LlmRef::client(Callback::blocking(call))
    }
}

impl From<String> for LlmRef {
    fn from(name: String) -> LlmRef {
        if name == "caller" { LlmRef::Caller } else { LlmRef::Name(name) }
    }
}

impl From<&str> for LlmRef {
    fn from(name: &str) -> LlmRef {
        LlmRef::from(name.to_string())
    }
}

impl From<LlmRef> for String {
    fn from(llm: LlmRef) -> String {
        match llm {
            LlmRef::Caller => "caller".to_string(),
            LlmRef::Name(name) => name,
            LlmRef::Client(client) => client.name(),
        }
    }
}

/// Function that checks the arguments of a question before it is asked; the error says why it is not.
pub type Validator = Arc<dyn Fn(&ToolArgs) -> Result<(), ToolError> + Send + Sync>;

/// Layers that may call a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expose {
    /// Models, through their provider.
    Native,
    /// Programs.
    PtcLisp,
    /// Models and programs.
    Both,
}

impl Expose {
    /// Returns whether models are offered the tool.
    pub fn is_native(self) -> bool {
        matches!(self, Expose::Native | Expose::Both)
    }

    /// Returns whether programs may call the tool.
    pub fn is_in_programs(self) -> bool {
        matches!(self, Expose::PtcLisp | Expose::Both)
    }
}

/// Function that makes the preview of a result.
pub type PreviewFn = Arc<dyn Fn(&Datum) -> Result<serde_json::Value, serde_json::Error> + Send + Sync>;

/// Preview of results that a model requested itself, while programs have the whole.
#[derive(Clone)]
pub enum NativePreview {
    /// Counts, keys and types; no values.
    Metadata,
    /// First rows.
    Rows {
        /// Number of rows.
        limit: usize,
    },
    /// Result of this function.
    Custom(PreviewFn),
}

impl NativePreview {
    /// Makes previews with this function of the whole result, which returns anything that serialises as a map. It does
    /// not get the arguments or the tool; a closure may capture them.
    ///
    /// ```
    /// use ptc_agent::tools::{Expose, NativePreview, Tool};
    /// let top = NativePreview::custom(|rows| serde_json::json!({"size": rows.nodes().len()}));
    /// let tool = Tool::new("rows", |_, _| Ok(vec![1, 2])).expose(Expose::Both).cache(true).native_result(top);
    /// ```
    pub fn custom<T: Serialize>(make: impl Fn(&Datum) -> T + Send + Sync + 'static) -> NativePreview {
        NativePreview::Custom(Arc::new(move |full| serde_json::to_value(make(full))))
    }
}

impl fmt::Debug for NativePreview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NativePreview::Metadata => f.write_str("Metadata"),
            NativePreview::Rows { limit } => write!(f, "Rows({limit})"),
            NativePreview::Custom(_) => f.write_str("Custom(…)"),
        }
    }
}

/// Visibility of a tool to programs and models.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Programs and models know of the tool.
    #[default]
    Public,
    /// Only exports of preludes that name the tool may call it.
    Private,
}

/// Effect of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads only.
    Read,
    /// Changes something outside.
    Write,
    /// Unknown, because the tool does not state it.
    #[default]
    Unknown,
}

impl From<Effect> for ptc_bytecode::Effects {
    fn from(effect: Effect) -> ptc_bytecode::Effects {
        match effect {
            Effect::Read => ptc_bytecode::Effects::Read,
            Effect::Write => ptc_bytecode::Effects::Write,
            Effect::Unknown => ptc_bytecode::Effects::Unknown,
        }
    }
}

impl Effect {
    /// Returns the name used in records.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Unknown => "unknown",
        }
    }
}
