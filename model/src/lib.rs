//! Language models: requests, replies, and clients of providers.
//!
//! A [`Model`] is anything that turns a request into a reply. Closures are models ([`Callback`]); [`Scripted`] and
//! [`Replay`] are models for tests; [`HttpModel`] calls providers. [`Retry`] retries failed calls of any model, and a
//! [`Registry`] finds models by name.
//!
//! A call ends when its future is dropped, and at the latest at the deadline of its request. Turns and the meaning of
//! replies are left to agents.
//!
//! ```
//! use ptc_model::{LlmRequest, Model, Scripted};
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let model = Scripted::new(["(+ 1 2)"]);
//! let reply = model.call(&LlmRequest::new("You answer with programs.", "Add")).await?;
//! assert_eq!(reply.text(), "(+ 1 2)");
//! # Ok::<(), ptc_model::LlmError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod callback;
mod cassette;
mod config;
mod diff;
mod error;
#[cfg(feature = "http")]
mod http;
mod opaque;
mod part;
mod providers;
mod registry;
mod request;
mod response;
mod retry;
mod scripted;
mod stream;

pub use callback::Callback;
pub use cassette::{CassetteError, Recorder, Replay};
pub use config::{ConfigError, ModelConfig, RegistryConfig};
pub use error::{CLASSES, ErrorKind, LlmError};
#[cfg(feature = "http")]
pub use http::{Api, HttpModel, HttpOptions};
pub use opaque::OpaquePart;
pub use part::Part;
pub use registry::{ModelEntry, ModelRegistry, OneModel, Registry};
pub use request::{LlmRequest, Message, Output, Role, ToolCall, ToolSpec};
pub use response::{LlmResponse, Prices, StopReason, Tokens};
pub use retry::{Backoff, LlmRetry, Retry};
pub use scripted::{Reply, ReplyFn, Scripted};
pub use stream::{Chunk, ChunkSink};

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A pending reply.
pub type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<LlmResponse, LlmError>> + Send + 'a>>;

/// A model: anything that answers requests.
///
/// ```
/// use ptc_model::{Caps, LlmRequest, LlmResponse, Model, ModelFuture};
/// struct Parrot;
/// impl Model for Parrot {
///     fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
///         Box::pin(async { Ok(LlmResponse::from(request.prompt.as_str())) })
///     }
/// }
/// assert!(!Parrot.supports().tools);
/// ```
pub trait Model: Send + Sync {
    /// Requests a reply. Pieces of its text go to `request.stream` as they arrive, if the model can stream; for other
    /// models [`Retry`] sends the text whole.
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a>;

    /// Returns the inner model, if this one only adds something to another one.
    fn wrapped(&self) -> Option<&dyn Model> {
        None
    }

    /// Returns the model's capabilities besides text.
    fn supports(&self) -> Caps {
        self.wrapped().map_or_else(Caps::default, Model::supports)
    }

    /// Returns the model's name, for traces.
    fn name(&self) -> String {
        self.wrapped().map_or_else(|| "callback".to_string(), Model::name)
    }

    /// Returns the source of a reply's cost, which a budget in dollars needs.
    fn pricing(&self) -> Pricing {
        self.wrapped().map_or(Pricing::Reported, Model::pricing)
    }
}

/// Source of the cost of a model's replies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pricing {
    /// Every reply reports its cost in [`Tokens::total_cost`].
    Reported,
    /// Replies are free unless they report a cost: recorded replies, and those of tests.
    Free,
    /// Unknown cost: the provider does not report it, and no prices are configured.
    Unknown,
}

/// Capabilities of a model besides text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Caps {
    /// Flag: the model calls tools itself.
    pub tools: bool,
    /// Flag: the model keeps to a schema.
    pub schema: bool,
    /// Flag: the model replies in pieces.
    pub stream: bool,
    /// Flag: the model caches system messages.
    pub cache: bool,
}

impl Caps {
    /// All capabilities.
    pub const ALL: Caps = Caps { tools: true, schema: true, stream: true, cache: true };
}

/// A shared model of any kind. Two clients are equal if they share the same model.
#[derive(Clone)]
pub struct Client(Arc<dyn Model>);

impl Client {
    /// Wraps a model.
    pub fn new(model: impl Model + 'static) -> Client {
        Client(Arc::new(model))
    }
}

impl Model for Client {
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
        self.0.call(request)
    }

    fn wrapped(&self) -> Option<&dyn Model> {
        Some(&*self.0)
    }
}

impl PartialEq for Client {
    fn eq(&self, other: &Client) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Client {}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.name())
    }
}
