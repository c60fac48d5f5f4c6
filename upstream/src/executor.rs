//! One executor for the process: the threads on which servers are called.
//!
//! The SDK spawns tasks, and the poller of a call may have no tokio runtime, or one that ends before the
//! connection does. These threads never end, which child processes rely on: the kernel kills them together with
//! the *thread* that started them.

use crate::client::{Client, Health, Introduction, LateSchema, Reply, Request, Tool};
use crate::fault::{Fault, Reason};
use crate::slots::Slots;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime, RuntimeFlavor};
use tokio::task::JoinHandle;

/// Number of bytes that take about a millisecond to read.
const HEAVY: usize = 64 << 10;

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

fn runtime() -> Result<&'static Runtime, Fault> {
    let made = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("ptc-upstream").enable_all();
        builder.build().map_err(|error| error.to_string())
    });
    made.as_ref().map_err(|error| {
        Fault::new(Reason::UpstreamUnavailable, format!("cannot start a thread for connections: {error}"))
    })
}

/// Enters the executor, so that this thread can create objects that belong to it.
pub(crate) fn enter() -> Result<EnterGuard<'static>, Fault> {
    Ok(runtime()?.enter())
}

/// Spawns work that nobody waits for. If no thread can be started, the work is dropped.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = runtime() {
        runtime.spawn(work);
    }
}

/// Runs work that continues even if the caller stops waiting.
pub(crate) async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, Fault>> + Send + 'static,
) -> Result<T, Fault> {
    runtime()?.spawn(work).await.unwrap_or_else(|_| Err(broken()))
}

/// Starts work now; dropping the returned task cancels it.
pub(crate) fn begin<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<Task<T>, Fault> {
    Ok(Task { work: runtime()?.spawn(work), goes_on: None })
}

/// Blocks until work is done. Any thread may wait, including one of another executor: the work runs elsewhere.
pub(crate) fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, Fault> {
    let (done, wait) = std::sync::mpsc::sync_channel(1);
    runtime()?.spawn(async move { done.send(work.await) });
    wait.recv().map_err(|_| broken())
}

/// Runs CPU work on `bytes` bytes. All servers share few threads, so large work of one server must not occupy them.
pub(crate) fn heavy<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let is_ours =
        Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    match bytes > HEAVY && is_ours {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}

/// Decides whether dropped work goes on.
type GoesOn = Box<dyn FnOnce() -> bool + Send>;

/// Work in progress. Dropping it cancels the work.
pub(crate) struct Task<T> {
    work: JoinHandle<T>,
    goes_on: Option<GoesOn>,
}

impl<T> Task<T> {
    /// Asks, when the task is dropped, whether its work goes on.
    pub fn keeping(mut self, goes_on: impl FnOnce() -> bool + Send + 'static) -> Task<T> {
        self.goes_on = Some(Box::new(goes_on));
        self
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, Fault>> {
        self.work.poll_unpin(context).map(|done| done.map_err(|_| broken()))
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if !self.goes_on.take().is_some_and(|goes_on| goes_on()) {
            self.work.abort();
        }
    }
}

/// Builds the fault for a client that panicked: its bug must not affect others.
fn broken() -> Fault {
    Fault::new(Reason::UpstreamError, "the connection to this server failed with an internal error")
}

/// Makes one call, up to its deadline or the server's time limit. The only place where a call races against
/// time. The clock starts when the call is sent: waiting for a free slot has a separate limit. Must be polled
/// on the executor.
pub(crate) async fn call(client: &dyn Client, name: &str, mut request: Request) -> Result<Reply, Fault> {
    let _seat = match client.slots() {
        Some(slots) => {
            let taken = slots.take(name, request.queue_timeout, request.deadline).await;
            Some(taken.map_err(|fault| Fault { is_unsent: true, ..fault })?)
        }
        None => None,
    };
    let began = Instant::now();
    let limit = client.request_timeout().map_or(request.timeout, |limit| limit.min(request.timeout));
    let deadline = request.deadline.min(began + limit);
    request.deadline = deadline;
    let reply = AssertUnwindSafe(async { client.call(request).await }).catch_unwind();
    match tokio::time::timeout_at(deadline.into(), reply).await {
        Ok(reply) => reply.unwrap_or_else(|_| Err(broken())),
        Err(_) => {
            let waited = deadline.saturating_duration_since(began).as_micros().div_ceil(1000);
            let why = format!("upstream '{name}' did not answer within {waited} ms");
            Err(Fault::new(Reason::Timeout, why))
        }
    }
}

/// A client for callers outside the executor: any thread and any other executor may use it.
pub(crate) struct Standalone {
    pub name: String,
    pub client: Arc<dyn Client>,
}

impl Client for Standalone {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        let client = self.client.clone();
        async move { begin(async move { client.tools().await })?.await? }.boxed()
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Reply, Fault>> {
        let (client, name) = (self.client.clone(), self.name.clone());
        async move { begin(async move { call(&*client, &name, request).await })?.await? }.boxed()
    }

    fn request_timeout(&self) -> Option<Duration> {
        self.client.request_timeout()
    }

    fn slots(&self) -> Option<&Slots> {
        self.client.slots()
    }

    fn health(&self) -> Health {
        self.client.health()
    }

    fn generation(&self) -> u64 {
        self.client.generation()
    }

    fn output_schema(&self, tool: &str) -> Option<LateSchema> {
        self.client.output_schema(tool)
    }

    fn warnings(&self) -> Vec<String> {
        self.client.warnings()
    }

    fn introduction(&self) -> Introduction {
        self.client.introduction()
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.client.stop()
    }
}
