//! The threads that servers are called on: one executor for the process.
//!
//! The SDK spawns tasks, and whoever polls a call may have no runtime of tokio, or one that ends before the connection
//! does. The threads here never end, which children rely on: the kernel ends them together with the *thread* that
//! started them.

use crate::client::{Client, Health, Reply, Request, Tool};
use crate::fault::{Fault, Reason};
use crate::seats::Seats;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime, RuntimeFlavor};
use tokio::task::JoinHandle;

/// Bytes that take about a millisecond to read.
const HEAVY: usize = 64 << 10;

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

/// Lets this thread make what belongs to an executor.
pub(crate) fn enter() -> Result<EnterGuard<'static>, Fault> {
    Ok(runtime()?.enter())
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
    runtime()?.spawn(work).await.unwrap_or_else(|_| Err(broken()))
}

/// Work that begins now, and is given up together with what is returned here.
pub(crate) fn begin<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<Task<T>, Fault> {
    Ok(Task(runtime()?.spawn(work)))
}

/// Waits for work. Any thread may wait, one of another executor too: the work is done elsewhere.
pub(crate) fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, Fault> {
    let (done, wait) = std::sync::mpsc::sync_channel(1);
    runtime()?.spawn(async move { done.send(work.await) });
    wait.recv().map_err(|_| broken())
}

/// Work of so many bytes that does not wait for anything. The threads are few and all servers share them, so they are
/// not kept by what one server has sent.
pub(crate) fn heavy<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let is_ours =
        Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    match bytes > HEAVY && is_ours {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}

/// Work under way.
pub(crate) struct Task<T>(JoinHandle<T>);

impl<T> Future for Task<T> {
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, Fault>> {
        self.0.poll_unpin(context).map(|done| done.map_err(|_| broken()))
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A bug of a client is nobody else's problem.
fn broken() -> Fault {
    Fault::new(Reason::UpstreamError, "the client of this server has a bug and gave up")
}

/// One call, until its deadline or the time limit of the server is over. The only place where a call is raced against time.
/// Its clock starts when it is sent: before that it may wait for a place, which has a limit of its own. To be polled on
/// the executor.
pub(crate) async fn call(client: &dyn Client, name: &str, mut request: Request) -> Result<Reply, Fault> {
    let _seat = match client.seats() {
        Some(seats) => Some(seats.take(name, request.queue_timeout, request.deadline).await?),
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
            let why = format!("upstream '{name}' gave no answer within {waited} ms");
            Err(Fault::new(Reason::Timeout, why))
        }
    }
}

/// A client for whoever is not on the executor: any thread and any other executor may use it.
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

    fn seats(&self) -> Option<&Seats> {
        self.client.seats()
    }

    fn health(&self) -> Health {
        self.client.health()
    }

    fn generation(&self) -> u64 {
        self.client.generation()
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.client.stop()
    }
}
