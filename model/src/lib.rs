//! Language models: what they are asked, what they answer, and clients for the ones there are.
//!
//! A [`Model`] is anything that turns a request into a reply. Closures are models ([`Callback`]);
//! [`Scripted`] and [`Replay`] are models for tests; [`HttpModel`] speaks to providers. [`Retry`] asks any
//! model again when it fails, and a [`Registry`] finds models by name.
//!
//! A call ends when its future is dropped, and never outlives the deadline of its request. Nothing here takes turns or
//! knows what a reply means: that is an agent's part.
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

/// A reply that is on its way.
pub type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<LlmResponse, LlmError>> + Send + 'a>>;

/// Anything that answers requests.
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
    /// Asks. Pieces of the reply's text go to `request.stream` as they arrive, if it can; [`Retry`] sends what did not
    /// come in pieces.
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a>;

    /// The model that this one asks, if it only adds something to another one.
    fn wrapped(&self) -> Option<&dyn Model> {
        None
    }

    /// What it can do besides text.
    fn supports(&self) -> Caps {
        self.wrapped().map_or_else(Caps::default, Model::supports)
    }

    /// Its name, for traces.
    fn name(&self) -> String {
        self.wrapped().map_or_else(|| "callback".to_string(), Model::name)
    }

    /// Where the cost of a reply comes from. A budget in dollars needs to know.
    fn pricing(&self) -> Pricing {
        self.wrapped().map_or(Pricing::Reported, Model::pricing)
    }
}

/// Where the cost of a model's replies comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pricing {
    /// Every reply says what it cost in [`Tokens::total_cost`].
    Reported,
    /// Replies cost nothing unless they say so: recorded ones, and those of tests.
    Free,
    /// Nobody knows: the provider does not say, and no prices are configured.
    Unknown,
}

/// What a model can do besides text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Caps {
    /// Calls tools itself.
    pub tools: bool,
    /// Keeps to a schema.
    pub schema: bool,
    /// Answers piece by piece.
    pub stream: bool,
    /// Keeps system messages at hand.
    pub cache: bool,
}

impl Caps {
    /// Everything.
    pub const ALL: Caps = Caps { tools: true, schema: true, stream: true, cache: true };
}

/// A model of any kind, shared. Two are equal if they are the same one.
#[derive(Clone)]
pub struct Client(Arc<dyn Model>);

impl Client {
    /// This model.
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
