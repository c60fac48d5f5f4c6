//! Servers that run as child processes and speak MCP over their pipes, one message per line.
//!
//! Guarantees: a child is started without a shell, in its own process group, with a clean environment. It is
//! stopped by closing its input, then by SIGTERM to its group, then by SIGKILL; if it exits by itself, the rest
//! of its group is killed too. There are no zombies, because every child is waited for. If this process dies
//! without stopping the child (killed by `-9`, for example), the kernel closes the child's input, and on Linux
//! also kills it. Processes started by such a child notice only through their own pipes.
//!
//! A crashed child is restarted by the first call after a delay of 250 ms, which doubles with each crash up to
//! 30 s and is back at 250 ms after a minute of work. After five crashes in a minute it is not restarted for
//! some minutes. Until a restart, calls fail at once and say that the server is in its recovery window.
//!
//! ```
//! use ptc_upstream::config::StdioSettings;
//! use ptc_upstream::{Health, redact::Redactor, transport::mcp_stdio};
//! use std::{sync::Arc, time::Duration};
//! let settings = StdioSettings {
//!     command: "/usr/bin/mcp-server-time".into(),
//!     args: Vec::new(),
//!     env: Vec::new(),
//!     cd: None,
//!     inherit_env: false,
//!     handshake_timeout: Duration::from_secs(10),
//!     max_response_bytes: 2 << 20,
//!     max_concurrency: 8,
//! };
//! let time = mcp_stdio::connect("time", settings, Arc::new(Redactor::new()));
//! assert_eq!(time.health(), Health::Cold); // nothing is started before it is needed
//! ```

mod child;
mod lines;
mod stderr;
mod wire;

use super::inflow::Inflow;
use super::session::{Era, Life, Session};
use super::supervisor::{Bounds, Connector, Supervisor};
use crate::client::Client;
use crate::config::StdioSettings;
use crate::executor::Standalone;
use crate::fault::{Fault, Reason};
use crate::redact::Redactor;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Creates a client that starts the server on first use, for any thread and executor.
pub fn connect(name: &str, settings: StdioSettings, redactor: Arc<Redactor>) -> Arc<dyn Client> {
    Arc::new(Standalone { name: name.to_string(), client: client(name, settings, redactor) })
}

/// Creates a client for callers on the executor.
pub(crate) fn client(name: &str, settings: StdioSettings, redactor: Arc<Redactor>) -> Arc<dyn Client> {
    let bounds = Bounds {
        handshake_timeout: settings.handshake_timeout,
        request_timeout: None,
        max_response_bytes: settings.max_response_bytes,
        max_concurrency: settings.max_concurrency,
        crashes: true,
    };
    let stdio = Stdio { name: name.to_string(), settings, redactor, last: Mutex::default() };
    Arc::new(Supervisor::new(name, bounds, stdio))
}

struct Stdio {
    name: String,
    settings: StdioSettings,
    redactor: Arc<Redactor>,
    /// Cancelled when the child that was started last is gone.
    last: Mutex<Option<CancellationToken>>,
}

impl Connector for Stdio {
    fn connect(&self, era: Option<Era>, inflow: Arc<Inflow>) -> BoxFuture<'_, Result<Session, Fault>> {
        async move {
            match self.attempt(era, inflow.clone()).await {
                Ok(session) => Ok(session),
                // Some older servers exit on a request before `initialize`. Others are just broken; a new child
                // shows which.
                Err((_, Failed::Greeting)) if era.is_none() => {
                    self.attempt(Some(Era::Legacy), inflow).await.map_err(|(fault, _)| fault)
                }
                Err((fault, _)) => Err(fault),
            }
        }
        .boxed()
    }

    fn gone(&self) -> BoxFuture<'_, ()> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        async move {
            if let Some(last) = last {
                last.cancelled().await;
            }
        }
        .boxed()
    }
}

enum Failed {
    Spawning,
    Greeting,
    /// Both handshakes failed.
    Twice,
}

impl Stdio {
    async fn attempt(&self, era: Option<Era>, inflow: Arc<Inflow>) -> Result<Session, (Fault, Failed)> {
        let life = Life::default();
        // If the handshake is abandoned, so is the child.
        let guard = life.stop.clone().drop_guard();
        let unavailable = |why: String| Fault::new(Reason::UpstreamUnavailable, why);
        let pipes = child::start(&self.name, &self.settings, self.redactor.clone(), &life)
            .map_err(|why| (unavailable(format!("could not be started: {why}")), Failed::Spawning))?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(life.ended.clone());
        let wire = wire::Wire::new(pipes, &self.name, &self.settings, inflow);
        let opened = Session::open(wire, era, life.clone()).await;
        match opened {
            Ok(session) => {
                guard.disarm();
                Ok(session)
            }
            Err(error) => {
                if !error.lost {
                    let failed = if error.both { Failed::Twice } else { Failed::Greeting };
                    return Err((unavailable(error.why), failed));
                }
                let _ = tokio::time::timeout(3 * child::LAST_WORDS, life.dead.cancelled()).await;
                let why = life.obituary.get().map(|obituary| format!("could not be started: {obituary}"));
                Err((unavailable(why.unwrap_or(error.why)), Failed::Greeting))
            }
        }
    }
}
