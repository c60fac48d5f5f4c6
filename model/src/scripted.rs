//! A model with scripted replies, for tests.

use crate::stream::Chunk;
use crate::{Caps, ErrorKind, LlmError, LlmRequest, LlmResponse, Model, ModelFuture, Pricing};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Function that makes a reply from the request.
pub type ReplyFn = Arc<dyn Fn(&LlmRequest) -> Result<LlmResponse, LlmError> + Send + Sync>;

/// Scripted reply to one request.
#[derive(Clone)]
#[non_exhaustive]
pub enum Reply {
    /// This reply.
    Response(LlmResponse),
    /// This error.
    Error(LlmError),
    /// Result of this function.
    From(ReplyFn),
    /// Pieces of text that together form the reply.
    Pieces(Vec<String>),
    /// No reply: the call ends with its deadline.
    Hang,
}

impl Reply {
    /// Returns a reply computed from the request.
    pub fn from_fn<T: Into<LlmResponse>>(
        reply: impl Fn(&LlmRequest) -> Result<T, LlmError> + Send + Sync + 'static,
    ) -> Reply {
        Reply::From(Arc::new(move |request| reply(request).map(Into::into)))
    }

    /// Returns a reply in pieces of text.
    pub fn pieces<T: Into<String>>(pieces: impl IntoIterator<Item = T>) -> Reply {
        Reply::Pieces(pieces.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<LlmResponse>> From<T> for Reply {
    fn from(response: T) -> Reply {
        Reply::Response(response.into())
    }
}

impl From<LlmError> for Reply {
    fn from(error: LlmError) -> Reply {
        Reply::Error(error)
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Response(response) => f.debug_tuple("Response").field(response).finish(),
            Reply::Error(error) => f.debug_tuple("Error").field(error).finish(),
            Reply::From(_) => f.write_str("From(…)"),
            Reply::Pieces(pieces) => f.debug_tuple("Pieces").field(pieces).finish(),
            Reply::Hang => f.write_str("Hang"),
        }
    }
}

/// A model that gives scripted replies in order and records its requests. Clones share both.
///
/// ```
/// use ptc_model::{LlmError, LlmRequest, Model, Reply, Scripted};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let model = Scripted::new([Reply::from("(+ 1 2)"), LlmError::from("down").into()]);
/// let request = LlmRequest::new("system", "Add");
/// assert_eq!(model.call(&request).await?.text(), "(+ 1 2)");
/// assert_eq!(model.call(&request).await.unwrap_err().message, "down");
/// let error = model.call(&request).await.unwrap_err();
/// assert_eq!(error.message, "the script has 2 replies, but this is request 3");
/// assert_eq!(model.requests()[0].prompt, "Add");
/// # Ok::<(), LlmError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A request beyond the script is a final error, which is not retried:
///
/// ```
/// use ptc_model::{LlmRequest, LlmRetry, Model, Retry, Scripted};
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let script = Scripted::new(["one"]);
/// let model = Retry::new(script.clone(), LlmRetry::default());
/// let request = LlmRequest::new("system", "Add");
/// assert!(model.call(&request).await.is_ok());
/// let error = model.call(&request).await.unwrap_err();
/// assert_eq!((error.cause.as_deref(), script.requests().len()), (Some("script_ended"), 2));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Default, Debug)]
pub struct Scripted(Arc<Mutex<Script>>);

#[derive(Default, Debug)]
struct Script {
    replies: VecDeque<Reply>,
    given: usize,
    asked: Vec<LlmRequest>,
}

impl Scripted {
    /// Returns a model with these replies.
    pub fn new<T: Into<Reply>>(replies: impl IntoIterator<Item = T>) -> Scripted {
        let replies = replies.into_iter().map(Into::into).collect();
        Scripted(Arc::new(Mutex::new(Script { replies, ..Script::default() })))
    }

    /// Appends a reply to the script.
    pub fn push(&self, reply: impl Into<Reply>) {
        self.script().replies.push_back(reply.into());
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<LlmRequest> {
        self.script().asked.clone()
    }

    /// Returns the number of replies left.
    pub fn left(&self) -> usize {
        self.script().replies.len()
    }

    /// Locks the script. Recovering from poison is fine: the lock is never held while a closure of the script runs.
    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, request: &LlmRequest) -> Result<Reply, LlmError> {
        let mut script = self.script();
        script.asked.push(request.clone());
        let n = script.asked.len();
        let reply = script.replies.pop_front().ok_or_else(|| {
            let message = format!("the script has {} replies, but this is request {n}", script.given);
            // Asking again does not make a script longer.
            LlmError::new(ErrorKind::Unsupported, message).cause("script_ended")
        })?;
        script.given += 1;
        Ok(reply)
    }
}

impl Model for Scripted {
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
        Box::pin(async move {
            match self.next(request)? {
                Reply::Response(response) => Ok(response),
                Reply::Error(error) => Err(error),
                Reply::From(reply) => reply(request),
                Reply::Pieces(pieces) => {
                    let response = LlmResponse::from(pieces.concat());
                    if let Some(sink) = &request.stream {
                        pieces.into_iter().for_each(|piece| sink.send(Chunk::Delta(piece)));
                        sink.send(Chunk::Done(None));
                    }
                    Ok(response)
                }
                Reply::Hang => std::future::pending().await,
            }
        })
    }

    fn supports(&self) -> Caps {
        Caps::ALL
    }

    fn name(&self) -> String {
        "scripted".to_string()
    }

    fn pricing(&self) -> Pricing {
        Pricing::Free
    }
}
