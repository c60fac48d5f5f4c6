//! Missions for callers that block.

use super::step::{Fail, Step};
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime};
use tokio::task::JoinHandle;

/// Runtime for blocking callers: one per process, so that connections outlive a mission.
static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

fn runtime() -> Result<&'static Runtime, Box<Step>> {
    let runtime = RUNTIME.get_or_init(|| {
        let builder =
            Builder::new_multi_thread().worker_threads(2).thread_name("ptc-agent").enable_all().build();
        builder.map_err(|error| error.to_string())
    });
    runtime.as_ref().map_err(|error| broken(format!("cannot start a runtime: {error}")))
}

fn broken(message: String) -> Box<Step> {
    Step::failing(Fail::new("internal_error", message))
}

/// Runs work of a mission on threads of its own, so as not to hold up the caller. Dropping the future ends it.
pub(super) async fn apart<T: Send + 'static>(
    work: impl Future<Output = Result<T, Box<Step>>> + Send + 'static,
) -> Result<T, Box<Step>> {
    let task = AbortOnDrop(runtime()?.spawn(work));
    task.await
}

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Future for AbortOnDrop<Result<T, Box<Step>>> {
    type Output = Result<T, Box<Step>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = Pin::new(&mut self.0).poll(context);
        ended.map(|ended| {
            ended.unwrap_or_else(|error| Err(broken(format!("the mission was interrupted: {error}"))))
        })
    }
}

/// Enters the runtime of the process, if the caller is outside of any runtime, until the guard is dropped.
pub(super) fn entered() -> Result<Option<EnterGuard<'static>>, Box<Step>> {
    match Handle::try_current() {
        Ok(_) => Ok(None),
        Err(_) => Ok(Some(runtime()?.enter())),
    }
}

/// Blocks on work of a mission, also inside a runtime.
pub(super) fn block_on<F>(work: F) -> Result<F::Output, Box<Step>>
where
    F: Future + Send,
    F::Output: Send,
{
    let runtime = runtime()?;
    if Handle::try_current().is_err() {
        return Ok(runtime.block_on(work));
    }
    // A thread inside a runtime must not block on another runtime; a new thread may.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| runtime.block_on(work));
        match waiting.join() {
            Ok(done) => Ok(done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
