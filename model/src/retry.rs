//! Retries of failed model calls.

use crate::callback::caught;
use crate::{Chunk, ChunkSink, ErrorKind, LlmError, LlmRequest, LlmResponse, Model, ModelFuture};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Maximum random addition to a waiting time, as a fraction.
const JITTER: f64 = 0.2;

/// Maximum waiting time granted to a provider that asks for one. A mission need not have a deadline, and one that waits
/// for a day looks like one that hangs.
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

/// The option `llm_retry`: rules for retrying a failed model call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmRetry {
    /// Attempts, including the first.
    pub max_attempts: u32,
    /// Growth of waiting times.
    pub backoff: Backoff,
    /// First waiting time, in milliseconds.
    pub base_delay: u64,
    /// Longest waiting time, in milliseconds.
    pub max_delay: u64,
    /// Classes of errors that are retried; if unset, all errors that a retry could help.
    pub retryable_errors: Option<Vec<String>>,
}

impl Default for LlmRetry {
    fn default() -> LlmRetry {
        LlmRetry {
            max_attempts: 3,
            backoff: Backoff::Exponential,
            base_delay: 1000,
            max_delay: 30_000,
            retryable_errors: None,
        }
    }
}

/// Growth of the waiting times between attempts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// Waiting times double.
    #[default]
    Exponential,
    /// Waiting times grow by the same amount.
    Linear,
    /// Waiting times stay the same.
    Constant,
}

/// A model with retries, by the rules of the option `llm_retry`. A reply that has begun to stream is only retried if
/// the stream can be restarted. If a wait would end after the deadline of the request, the last failure is returned at
/// once. A reply that did not arrive in pieces is sent to the stream in one piece.
///
/// ```
/// use ptc_model::LlmRetry;
/// use ptc_model::{ErrorKind, LlmError, LlmRequest, Model, Reply, Retry, Scripted};
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let busy = LlmError::new(ErrorKind::RateLimit, "busy").retry_after(std::time::Duration::ZERO);
/// let model = Retry::new(Scripted::new([Reply::from(busy), "(+ 1 2)".into()]), LlmRetry::default());
/// let reply = model.call(&LlmRequest::new("system", "Add")).await?;
/// assert_eq!((reply.text(), reply.retries), ("(+ 1 2)", 1));
/// # Ok::<(), LlmError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Retry<M> {
    model: M,
    rule: LlmRetry,
}

impl<M: Model> Retry<M> {
    /// Wraps a model with these rules.
    pub fn new(model: M, rule: LlmRetry) -> Retry<M> {
        Retry { model, rule }
    }

    fn picks(&self, error: &LlmError) -> bool {
        let named = |classes: &Vec<String>| classes.iter().any(|class| class == error.class());
        error.may_pass() && self.rule.retryable_errors.as_ref().is_none_or(named)
    }

    async fn ask(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let call = caught(async { self.model.call(request).await });
        match request.deadline {
            None => call.await,
            Some(deadline) => tokio::time::timeout_at(deadline.into(), call).await.unwrap_or_else(|_| {
                Err(LlmError::new(
                    ErrorKind::Timeout,
                    "the model did not answer before the mission's deadline",
                ))
            }),
        }
    }
}

impl LlmRetry {
    /// Returns the wait after the nth failure, without the random addition.
    fn delay(&self, failures: u32) -> Duration {
        let times = match self.backoff {
            Backoff::Exponential => 1_u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX),
            Backoff::Linear => u64::from(failures),
            Backoff::Constant => 1,
        };
        Duration::from_millis(self.base_delay.saturating_mul(times).min(self.max_delay))
    }
}

/// Shows the reply of a model that cannot stream: text in one piece, calls not at all.
fn whole(sink: &ChunkSink, response: &LlmResponse) {
    if response.tool_calls.is_empty() {
        sink.send(Chunk::Delta(response.text().to_string()));
        sink.send(Chunk::Done(response.tokens));
    }
}

/// Returns the time on the clock of the waits, which tests control.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

impl<M: Model> Model for Retry<M> {
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
        Box::pin(async move {
            let pieces = || request.stream.as_ref().map_or(0, ChunkSink::tried);
            let mut before = pieces();
            let mut retries = 0;
            loop {
                let mut error = match self.ask(request).await {
                    Ok(mut response) => {
                        response.retries += retries;
                        if let Some(sink) = request.stream.as_ref().filter(|_| pieces() == before) {
                            whole(sink, &response);
                        }
                        return Ok(response);
                    }
                    Err(error) => error,
                };
                error.retries += retries;
                let last = retries + 1 >= self.rule.max_attempts;
                let shown = request.stream.as_ref().filter(|_| pieces() > before);
                let is_final = shown.is_some_and(|sink| !sink.may_restart());
                if last || !self.picks(&error) || is_final || request.cancel.is_cancelled() {
                    return Err(error);
                }
                retries += 1;
                let wait = error.retry_after.unwrap_or_else(|| {
                    let delay = self.rule.delay(retries);
                    delay.mul_f64(1.0 + JITTER * fastrand::f64())
                });
                let is_too_late =
                    |deadline| now().checked_add(wait).is_none_or(|end: Instant| end >= deadline);
                let is_too_long = error.retry_after.is_some_and(|asked| asked > LONGEST_WAIT);
                if is_too_long || request.deadline.is_some_and(is_too_late) {
                    return Err(error);
                }
                tokio::time::sleep(wait).await;
                if let Some(sink) = shown {
                    sink.send(Chunk::Restart);
                    before = pieces();
                }
            }
        })
    }

    fn wrapped(&self) -> Option<&dyn Model> {
        Some(&self.model)
    }
}
