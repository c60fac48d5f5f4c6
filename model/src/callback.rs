//! Closures as models.

use crate::{Caps, ErrorKind, LlmError, LlmRequest, LlmResponse, Model, ModelFuture};
use futures_util::FutureExt;
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Answer = Result<LlmResponse, LlmError>;

/// A model that is a closure.
///
/// ```
/// use ptc_model::{Callback, LlmRequest, Model};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let echo = Callback::blocking(|request: &LlmRequest| Ok(request.messages[0].content.clone()));
/// let later = Callback::waiting(|request| async move { Ok(request.system) });
/// let request = LlmRequest::new("system", "mission");
/// assert_eq!(echo.call(&request).await?.text(), "mission");
/// assert_eq!(later.call(&request).await?.text(), "system");
/// # Ok::<(), ptc_model::LlmError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Callback(Kind);

#[derive(Clone)]
enum Kind {
    Blocking(Arc<dyn Fn(&LlmRequest) -> Answer + Send + Sync>),
    Waiting(Arc<dyn Fn(LlmRequest) -> ModelFuture<'static> + Send + Sync>),
}

impl Callback {
    /// Makes a model from a closure that blocks. The closure runs on a thread for blocking work, so that callers can
    /// give up at their deadline; an abandoned call ends when the closure returns.
    pub fn blocking<T: Into<LlmResponse>>(
        call: impl Fn(&LlmRequest) -> Result<T, LlmError> + Send + Sync + 'static,
    ) -> Callback {
        Callback(Kind::Blocking(Arc::new(move |request| call(request).map(Into::into))))
    }

    /// Makes a model from an async closure.
    pub fn waiting<T, F>(call: impl Fn(LlmRequest) -> F + Send + Sync + 'static) -> Callback
    where
        T: Into<LlmResponse>,
        F: Future<Output = Result<T, LlmError>> + Send + 'static,
    {
        Callback(Kind::Waiting(Arc::new(move |request| {
            let answer = call(request);
            Box::pin(async move { answer.await.map(Into::into) })
        })))
    }
}

impl Model for Callback {
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
        Box::pin(async move {
            match &self.0 {
                Kind::Waiting(call) => caught(async { call(request.clone()).await }).await,
                Kind::Blocking(call) => match tokio::runtime::Handle::try_current() {
                    Ok(runtime) => {
                        let (call, request) = (Arc::clone(call), request.clone());
                        match runtime.spawn_blocking(move || call(&request)).await {
                            Ok(answer) => answer,
                            Err(error) if error.is_panic() => Err(panicked(error.into_panic().as_ref())),
                            Err(_) => {
                                Err(LlmError::from("the host shut down during the request to the model"))
                            }
                        }
                    }
                    Err(_) => catch_unwind(AssertUnwindSafe(|| call(request)))
                        .unwrap_or_else(|panic| Err(panicked(panic.as_ref()))),
                },
            }
        })
    }

    fn supports(&self) -> Caps {
        Caps::ALL
    }
}

/// Awaits a call, turning a panic into an error.
pub(super) async fn caught(call: impl Future<Output = Answer> + Send) -> Answer {
    AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|panic| Err(panicked(panic.as_ref())))
}

fn panicked(panic: &(dyn Any + Send)) -> LlmError {
    let said = ptc_runtime::panic_text(panic);
    LlmError::new(ErrorKind::Exception, format!("the model callback panicked: {said}"))
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback(…)")
    }
}
