//! Place of a mission in its tree: everything it shares with its parent and child missions.

use super::budget::Budget;
use super::effects::MissionEffects;
use super::step::{Fail, Step};
use crate::Agent;
use crate::definition::RunOptions;
use crate::trace::Scope;
use ptc_contract::firewall::{Secrets, SharedSecrets};
use ptc_model::Client;
use ptc_runtime::{Cancel, Policy, Prelude, Schedule, TrustedKeys};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Function that runs a child mission, for agents that are tools.
pub(crate) type RunBelow = for<'a> fn(
    &'a Agent,
    &'a RunOptions,
    &'a Place,
) -> Pin<Box<dyn Future<Output = Result<Step, Box<Step>>> + Send + 'a>>;

/// Everything that a mission hands down to delegated ones.
#[derive(Clone)]
pub(crate) struct Place {
    /// Number of missions above this one.
    pub depth: u32,
    /// Maximum depth, set by the root.
    pub max_depth: u32,
    pub budget: Arc<Budget>,
    /// Deadline of the whole mission.
    pub deadline: Option<Instant>,
    pub cancel: Cancel,
    /// Schedule for running programs, if the host has one.
    pub schedule: Option<Arc<dyn Schedule>>,
    /// Ledger for calls that may change something.
    pub effects: Option<MissionEffects>,
    /// Secrets of the whole tree, which no request and no trace may show.
    pub secrets: SharedSecrets,
    /// Flag: traces may show secrets; only if every mission above allows it, too.
    pub shows_secrets: bool,
    /// Model that `caller` means.
    pub client: Option<Client>,
    pub max_heap: Option<u64>,
    pub max_granted: Option<u64>,
    /// Keys that preludes must be signed with; the outermost mission that names any decides for all others.
    pub trusted: Option<TrustedKeys>,
    /// Preludes, inherited by child missions that have none of their own.
    pub preludes: Arc<[Prelude]>,
    /// Visibility of preludes to programs: the rules of all missions above, and its own.
    pub policy: Policy,
    pub scope: Scope,
    /// Runner of child missions, set by the code that starts missions, since tool code cannot depend on it.
    pub run_below: RunBelow,
}

/// The reason why work was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StopCause {
    Deadline,
    Cancelled,
}

impl StopCause {
    pub fn fail(self) -> Fail {
        match self {
            StopCause::Deadline => {
                Fail::new("mission_timeout", "the mission took longer than `mission_timeout` allows")
            }
            StopCause::Cancelled => Fail::new("cancelled", "the host cancelled the mission"),
        }
    }
}

impl From<StopCause> for Fail {
    fn from(stopped: StopCause) -> Fail {
        stopped.fail()
    }
}

impl Place {
    /// Returns an error if the mission is cancelled or its deadline has passed.
    pub fn check(&self) -> Result<(), StopCause> {
        if self.cancel.is_cancelled() {
            return Err(StopCause::Cancelled);
        }
        match self.deadline {
            Some(deadline) if now() >= deadline => Err(StopCause::Deadline),
            _ => Ok(()),
        }
    }

    /// Runs `work`, and drops it if the deadline passes or the mission is cancelled first.
    pub async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, StopCause> {
        self.check()?;
        let over = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = self.cancel.cancelled() => Err(StopCause::Cancelled),
            () = over => Err(StopCause::Deadline),
        }
    }

    /// Returns the deadline of work with this time limit, in milliseconds.
    pub fn deadline_in(&self, limit: Option<u64>) -> Option<Instant> {
        self.deadline_since(now(), limit)
    }

    /// Returns the deadline of work that began at `start` with this time limit, in milliseconds.
    pub fn deadline_since(&self, start: Instant, limit: Option<u64>) -> Option<Instant> {
        let own = limit.and_then(|ms| start.checked_add(Duration::from_millis(ms)));
        match (own, self.deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        }
    }

    /// Locks the secrets. Recovering from poison is safe: they stay whole if a holder panics.
    pub fn secrets(&self) -> MutexGuard<'_, Secrets> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the time on the clock of deadlines, which tests control.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
