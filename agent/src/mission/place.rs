//! Where in a tree of missions one stands: what it shares with those above and below.

use super::budget::Budget;
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

/// Runs a mission below another, which is how agents that are tools work.
pub(crate) type RunBelow = for<'a> fn(
    &'a Agent,
    &'a RunOptions,
    &'a Place,
) -> Pin<Box<dyn Future<Output = Result<Step, Box<Step>>> + Send + 'a>>;

/// What a mission hands down to what it delegates.
#[derive(Clone)]
pub(crate) struct Place {
    /// How many missions are above.
    pub depth: u32,
    /// How many there may be; the root says.
    pub max_depth: u32,
    pub budget: Arc<Budget>,
    /// When everything must be over.
    pub deadline: Option<Instant>,
    pub cancel: Cancel,
    /// When programs compute, if the host has a say in it.
    pub schedule: Option<Arc<dyn Schedule>>,
    /// What no request and no trace may show, of the whole tree.
    pub secrets: SharedSecrets,
    /// Whether traces may show that all the same; only if every mission above says so, too.
    pub shows_secrets: bool,
    /// The model that `caller` means.
    pub client: Option<Client>,
    pub max_heap: Option<u64>,
    pub max_granted: Option<u64>,
    /// The keys that libraries must be signed with; the outermost mission that names any decides for all below.
    pub trusted: Option<TrustedKeys>,
    /// Its libraries, which missions below have too unless they have their own.
    pub preludes: Arc<[Prelude]>,
    /// What programs see of libraries: the rules of all missions above, and its own.
    pub policy: Policy,
    pub scope: Scope,
    /// Given by who starts missions, since those who call tools cannot know it.
    pub run_below: RunBelow,
}

/// Why work was given up.
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
    /// Whether it is over.
    pub fn check(&self) -> Result<(), StopCause> {
        if self.cancel.is_cancelled() {
            return Err(StopCause::Cancelled);
        }
        match self.deadline {
            Some(deadline) if now() >= deadline => Err(StopCause::Deadline),
            _ => Ok(()),
        }
    }

    /// What `work` gives, unless the deadline passes or the mission is cancelled first: then it is dropped.
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

    /// When something that may take so long must be over.
    pub fn deadline_in(&self, limit: Option<u64>) -> Option<Instant> {
        self.deadline_since(now(), limit)
    }

    /// When something that has begun and may take so long must be over.
    pub fn deadline_since(&self, start: Instant, limit: Option<u64>) -> Option<Instant> {
        let own = limit.and_then(|ms| start.checked_add(Duration::from_millis(ms)));
        match (own, self.deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        }
    }

    /// What must not be shown. It stays whole if somebody panics while holding it.
    pub fn secrets(&self) -> MutexGuard<'_, Secrets> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clock that deadlines go by; tests turn it.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
