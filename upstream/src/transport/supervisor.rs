//! Starts a server when needed, shares its connection among calls, notices when it is lost, and restarts the
//! server when that makes sense. The transport is the connector's business.

use super::inflow::Inflow;
use super::recovery::{Recovery, Verdict};
use super::session::{Era, Session};
use crate::client::{Client, Health, Introduction, Reply, Request, Tool};
use crate::executor;
use crate::fault::{Fault, Reason};
use crate::slots::Slots;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Factory of connections.
pub(crate) trait Connector: Send + Sync + 'static {
    /// Opens a new connection. `inflow` counts the server's unsolicited messages.
    fn connect(&self, era: Option<Era>, inflow: Arc<Inflow>) -> BoxFuture<'_, Result<Session, Fault>>;

    /// Waits until nothing is left of an abandoned attempt.
    fn gone(&self) -> BoxFuture<'_, ()> {
        futures_util::future::ready(()).boxed()
    }
}

/// Limits for a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) handshake_timeout: Duration,
    /// Time limit for a reply, in addition to the deadline of the call.
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) max_response_bytes: u64,
    pub(crate) max_concurrency: usize,
    /// True if a lost connection counts as a crash, with a delay before the restart.
    pub(crate) crashes: bool,
}

/// A server and its connection.
pub(crate) struct Supervisor(Arc<Inner>);

struct Inner {
    name: String,
    bounds: Bounds,
    connector: Box<dyn Connector>,
    slots: Slots,
    inflow: Arc<Inflow>,
    stopped: CancellationToken,
    state: Mutex<State>,
}

type Start = Shared<BoxFuture<'static, Result<Arc<Session>, Fault>>>;

struct State {
    phase: Phase,
    era: Option<Era>,
    recovery: Recovery,
    /// Names of the tools as last returned to callers.
    listed: Option<HashSet<String>>,
    /// Names from `listed` that were missing after the last start.
    gone: HashSet<String>,
    /// What was left out of the last list, and why.
    left_out: Vec<String>,
    introduction: Introduction,
}

enum Phase {
    Cold,
    Starting(Start),
    Ready { session: Arc<Session>, since: Instant },
    Resting { until: Instant, why: String },
    Failed { until: Instant, why: String },
    Stopped,
}

impl Supervisor {
    pub(crate) fn new(name: &str, bounds: Bounds, connector: impl Connector) -> Supervisor {
        let state = State {
            phase: Phase::Cold,
            era: None,
            recovery: Recovery::default(),
            listed: None,
            gone: HashSet::new(),
            left_out: Vec::new(),
            introduction: Introduction::default(),
        };
        Supervisor(Arc::new(Inner {
            name: name.to_string(),
            bounds,
            connector: Box::new(connector),
            slots: Slots::new(bounds.max_concurrency),
            inflow: Inflow::new(name),
            stopped: CancellationToken::new(),
            state: Mutex::new(state),
        }))
    }
}

impl Client for Supervisor {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        let inner = &self.0;
        async move {
            let session = inner.session().await?;
            let (tools, left_out) = inner.list(&session).await?;
            let mut state = inner.state();
            state.left_out = left_out;
            state.listed = Some(tools.iter().map(|tool| tool.name.clone()).collect());
            state.gone.clear();
            Ok(tools)
        }
        .boxed()
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Reply, Fault>> {
        self.0.call(request).boxed()
    }

    fn request_timeout(&self) -> Option<Duration> {
        self.0.bounds.request_timeout
    }

    fn slots(&self) -> Option<&Slots> {
        Some(&self.0.slots)
    }

    fn health(&self) -> Health {
        match &self.0.state().phase {
            Phase::Cold | Phase::Stopped => Health::Cold,
            Phase::Starting(_) => Health::Starting,
            Phase::Ready { .. } => Health::Ready,
            Phase::Resting { .. } => Health::Backoff,
            Phase::Failed { .. } => Health::Failed,
        }
    }

    fn generation(&self) -> u64 {
        self.0.inflow.changes()
    }

    fn warnings(&self) -> Vec<String> {
        self.0.state().left_out.clone()
    }

    fn introduction(&self) -> Introduction {
        self.0.state().introduction.clone()
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        let inner = self.0.clone();
        async move {
            let _ = executor::detached(async move {
                inner.stopped.cancel();
                let phase = std::mem::replace(&mut inner.state().phase, Phase::Stopped);
                let session = match phase {
                    Phase::Starting(start) => start.await.ok(),
                    Phase::Ready { session, .. } => Some(session),
                    _ => None,
                };
                if let Some(session) = session {
                    session.close().await;
                }
                inner.connector.gone().await;
                Ok(())
            })
            .await;
        }
        .boxed()
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // A session ends by itself when it is dropped.
        self.0.stopped.cancel();
        self.0.state().phase = Phase::Stopped;
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unavailable(&self, why: &str) -> Fault {
        Fault::new(Reason::UpstreamUnavailable, format!("upstream '{}' {why}", self.name))
    }

    async fn call(self: &Arc<Self>, request: Request) -> Result<Reply, Fault> {
        let session = self.session().await?;
        if self.state().gone.contains(&request.tool) {
            let why = format!(
                "upstream '{}' no longer has tool '{}' since it was restarted",
                self.name, request.tool
            );
            return Err(Fault::new(Reason::UpstreamError, why));
        }
        let max_bytes = request.max_bytes.min(self.bounds.max_response_bytes);
        session.call(request, max_bytes).await.map_err(|fault| self.named(fault))
    }

    /// Puts the server's name in front of a fault's message.
    fn named(&self, mut fault: Fault) -> Fault {
        fault.message = format!("upstream '{}': {}", self.name, fault.message);
        fault
    }

    async fn list(&self, session: &Session) -> Result<(Vec<Tool>, Vec<String>), Fault> {
        let list = session.tools(&self.name, self.bounds.max_response_bytes);
        match tokio::time::timeout(self.bounds.handshake_timeout, list).await {
            Ok(listed) => listed.map_err(|fault| self.named(fault)),
            Err(_) => {
                let millis = self.bounds.handshake_timeout.as_millis();
                let why = format!(
                    "upstream '{}' did not list its tools within {millis} ms (handshake_timeout_ms)",
                    self.name
                );
                Err(Fault::new(Reason::Timeout, why))
            }
        }
    }

    /// Returns the connection, opening it if needed.
    async fn session(self: &Arc<Self>) -> Result<Arc<Session>, Fault> {
        let start = {
            let mut state = self.state();
            if let Phase::Ready { session, .. } = &state.phase
                && session.is_dead()
            {
                let session = session.clone();
                self.lost(&mut state, &session);
            }
            match &state.phase {
                Phase::Ready { session, .. } => return Ok(session.clone()),
                Phase::Starting(start) => start.clone(),
                Phase::Failed { until, why } if Instant::now() < *until => {
                    let seconds = until.saturating_duration_since(Instant::now()).as_secs() + 1;
                    let why =
                        format!("has crashed too often and will not be started for {seconds} s ({why})");
                    return Err(self.unavailable(&why));
                }
                Phase::Stopped => return Err(self.unavailable("has been stopped")),
                Phase::Resting { until, why } if Instant::now() < *until => {
                    let millis = until.saturating_duration_since(Instant::now()).as_millis();
                    let why = format!("is in its recovery window for another {millis} ms ({why})");
                    return Err(self.unavailable(&why));
                }
                Phase::Cold | Phase::Resting { .. } | Phase::Failed { .. } => {
                    let start = executor::detached(self.clone().start()).boxed().shared();
                    state.phase = Phase::Starting(start.clone());
                    start
                }
            }
        };
        start.await
    }

    /// Starts the server; continues even if the call that needed it is abandoned.
    async fn start(self: Arc<Self>) -> Result<Arc<Session>, Fault> {
        let (era, listed) = {
            let state = self.state();
            (state.era, state.listed.clone())
        };
        let greet = async {
            let session = self.connector.connect(era, self.inflow.clone()).await?;
            // A restarted server may have other tools.
            let gone = match listed {
                None => HashSet::new(),
                Some(listed) => self.compare(&session, listed).await?,
            };
            Ok((Arc::new(session), gone))
        };
        let unavailable = |why: String| Err(Fault::new(Reason::UpstreamUnavailable, why));
        let greeted = tokio::select! {
            greeted = tokio::time::timeout(self.bounds.handshake_timeout, greet) => greeted.unwrap_or_else(|_| {
                let millis = self.bounds.handshake_timeout.as_millis();
                unavailable(format!("did not finish its handshake within {millis} ms (handshake_timeout_ms)"))
            }),
            () = self.stopped.cancelled() => unavailable("has been stopped".to_string()),
        };
        let mut state = self.state();
        let stopped = matches!(state.phase, Phase::Stopped);
        match greeted {
            Ok((session, gone)) => {
                state.era = Some(session.era);
                state.gone = gone;
                state.introduction = session.introduction();
                if stopped {
                    return Ok(session);
                }
                state.phase = Phase::Ready { session: session.clone(), since: Instant::now() };
                drop(state);
                tracing::debug!(upstream = self.name, era = ?session.era, "is ready");
                let (inner, life, watched) =
                    (Arc::downgrade(&self), session.life.clone(), Arc::downgrade(&session));
                executor::spawn(async move {
                    life.dead.cancelled().await;
                    if let (Some(inner), Some(session)) = (inner.upgrade(), watched.upgrade()) {
                        inner.lost(&mut inner.state(), &session);
                    }
                });
                Ok(session)
            }
            Err(fault) => {
                let fault = Fault { message: format!("upstream '{}' {}", self.name, fault.message), ..fault };
                tracing::debug!(upstream = self.name, "could not be started");
                state.era = None;
                if !stopped {
                    self.crashed(&mut state, None, "it could not be started");
                }
                Err(fault)
            }
        }
    }

    /// Returns the previously listed tools that are missing now.
    async fn compare(&self, session: &Session, listed: HashSet<String>) -> Result<HashSet<String>, Fault> {
        let (now, _) = session.tools(&self.name, self.bounds.max_response_bytes).await?;
        let now: HashSet<String> = now.into_iter().map(|tool| tool.name).collect();
        if now != listed {
            self.inflow.changed();
            let gone = listed.difference(&now).count();
            let new = now.difference(&listed).count();
            tracing::warn!(upstream = self.name, gone, new, "has different tools since its restart");
        }
        Ok(listed.difference(&now).cloned().collect())
    }

    /// Handles the loss of a connection.
    fn lost(&self, state: &mut State, session: &Arc<Session>) {
        let since = match &state.phase {
            Phase::Ready { session: ready, since } if Arc::ptr_eq(ready, session) => *since,
            _ => return,
        };
        let why = session.life.obituary.get().map_or("its connection has ended", String::as_str);
        tracing::warn!(upstream = self.name, "lost");
        self.crashed(state, Some(since.elapsed()), why);
    }

    fn crashed(&self, state: &mut State, worked: Option<Duration>, why: &str) {
        let why = why.to_string();
        state.phase = match self.bounds.crashes {
            false => Phase::Cold,
            true => match state.recovery.crashed(Instant::now(), worked, fastrand::f64()) {
                Verdict::RestUntil(until) => Phase::Resting { until, why },
                Verdict::LeaveUntil(until) => Phase::Failed { until, why },
            },
        };
    }
}
