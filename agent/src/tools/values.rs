//! Values of the options of tools, and the code of the host behind them.

use ptc_bytecode::Datum;
use ptc_model::{Callback, Client, LlmError, LlmRequest, LlmResponse, Model};
use ptc_runtime::{Cancel, ToolAnswer, ToolArgs, ToolError, ToolFuture};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Which of the two ways a call came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// From a model, through its provider.
    Native,
    /// From a program.
    PtcLisp,
}

/// What a tool learns about the call besides its arguments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolCtx {
    /// How many agents are above the one that calls.
    pub depth: u32,
    /// When an answer is of no use any more.
    pub deadline: Option<Instant>,
    /// Fires when the mission is cancelled.
    pub cancel: Cancel,
    /// Which way the call came in.
    pub layer: Layer,
}

impl ToolCtx {
    /// Of a call from a program at depth 0, without a deadline.
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

/// Code of the host.
#[derive(Clone)]
pub struct Body(ToolBody);

/// How the code of a [`Body`] is called.
#[derive(Clone)]
pub enum ToolBody {
    /// Blocks while it works.
    Blocking(Arc<Blocking>),
    /// Gives a future.
    Async(Arc<Waiting>),
}

impl Body {
    /// From a closure that blocks.
    pub fn blocking(
        body: impl Fn(&ToolArgs, &ToolCtx) -> Result<ToolAnswer, ToolError> + Send + Sync + 'static,
    ) -> Body {
        Body(ToolBody::Blocking(Arc::new(body)))
    }

    /// From a closure that gives a future.
    pub fn waiting(body: impl Fn(ToolArgs, ToolCtx) -> ToolFuture + Send + Sync + 'static) -> Body {
        Body(ToolBody::Async(Arc::new(body)))
    }

    /// The code.
    pub fn get(&self) -> &ToolBody {
        &self.0
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body(…)")
    }
}

/// Which model answers. Files name one; in code, a model or a closure will do.
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
    /// The one of the agent that calls.
    #[default]
    Caller,
    /// A name in the registry, or `provider:model`.
    Name(String),
    /// This one.
    Client(Client),
}

impl LlmRef {
    /// This model.
    pub fn client(model: impl Model + 'static) -> LlmRef {
        LlmRef::Client(Client::new(model))
    }
}

impl From<Client> for LlmRef {
    fn from(client: Client) -> LlmRef {
        LlmRef::Client(client)
    }
}

/// A closure that may block.
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

/// Looks at the arguments of a question before it is asked; the error says why not.
pub type Validator = Arc<dyn Fn(&ToolArgs) -> Result<(), ToolError> + Send + Sync>;

/// Who may call a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expose {
    /// Models, through their provider.
    Native,
    /// Programs.
    PtcLisp,
    /// Both.
    Both,
}

impl Expose {
    /// Whether models are offered the tool.
    pub fn is_native(self) -> bool {
        matches!(self, Expose::Native | Expose::Both)
    }

    /// Whether programs may call it.
    pub fn is_in_programs(self) -> bool {
        matches!(self, Expose::PtcLisp | Expose::Both)
    }
}

/// Makes what a model sees of a result.
pub type PreviewFn = Arc<dyn Fn(&Datum) -> Result<serde_json::Value, serde_json::Error> + Send + Sync>;

/// What a model sees of a result it asked for itself, while programs have all of it.
#[derive(Clone)]
pub enum NativePreview {
    /// Counts, keys and types; no values.
    Metadata,
    /// The first rows.
    Rows {
        /// How many.
        limit: usize,
    },
    /// What this makes of the result.
    Custom(PreviewFn),
}

impl NativePreview {
    /// What this function makes of the whole result: anything that serialises as a map. What it is called with and for
    /// which tool it does not know; a closure may.
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

/// Whether programs and models know of a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// They do.
    #[default]
    Public,
    /// Only exports of preludes that name it may call it.
    Private,
}

/// What a call changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    Read,
    /// Something outside.
    Write,
    /// Nobody said.
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
    /// As records spell it.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Unknown => "unknown",
        }
    }
}
