//! The threads that connections live on.
//!
//! The SDK spawns tasks, and whoever polls a call may have no runtime of tokio, or one that ends before
//! the connection does. So there is one runtime for the process. Its threads never end, which children
//! rely on: the kernel ends them together with the *thread* that started them.

use crate::fault::{Fault, Reason};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

fn runtime() -> Result<&'static Runtime, Fault> {
    let made = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("ptc-upstream").enable_all();
        builder.build().map_err(|error| error.to_string())
    });
    made.as_ref().map_err(|error| {
        Fault::new(Reason::UpstreamUnavailable, format!("no thread can be started for connections: {error}"))
    })
}

/// Work nobody waits for. Where no thread can be started it is dropped, and with it what it holds.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = runtime() {
        runtime.spawn(work);
    }
}

/// Work that goes on also if nobody waits for it any more.
pub(crate) async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, Fault>> + Send + 'static,
) -> Result<T, Fault> {
    joined(runtime()?.spawn(work)).await
}

/// Work that is dropped together with the future returned here.
pub(crate) async fn scoped<T: Send + 'static>(
    work: impl Future<Output = Result<T, Fault>> + Send + 'static,
) -> Result<T, Fault> {
    let task = runtime()?.spawn(work);
    let _abort = AbortOnDrop(task.abort_handle());
    joined(task).await
}

async fn joined<T>(task: JoinHandle<Result<T, Fault>>) -> Result<T, Fault> {
    match AssertUnwindSafe(task).catch_unwind().await {
        Ok(Ok(done)) => done,
        _ => Err(Fault::new(
            Reason::UpstreamError,
            "internal error: the connection's task broke; please report it",
        )),
    }
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
