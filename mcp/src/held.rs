//! A program that waits for somebody's decision. While it does, it is bytes: no thread, no permit and no clock is kept for it.

use crate::reply::Payload;
use ptc_runtime::{CallId, Cancel};
use ptc_upstream::{Attachment, RunContext, Verdict, Wish};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What a run is told besides its program.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// What stops it.
    pub cancel: Cancel,
    /// The trace that the call belongs to (W3C `traceparent`); servers are told.
    pub traceparent: Option<String>,
    /// What the run has called, once it has begun.
    pub calls: Arc<OnceLock<Arc<RunContext>>>,
}

impl Around {
    /// A run that only this stops.
    pub fn of(cancel: &Cancel) -> Around {
        Around { cancel: cancel.clone(), ..Around::default() }
    }

    /// The run begins: the servers it calls are told what it is a part of, and whoever asks may see what it calls.
    pub fn note(&self, servers: &Attachment) {
        let context = servers.context();
        if let Some(traceparent) = &self.traceparent {
            context.set_traceparent(traceparent);
        }
        let _ = self.calls.set(context);
    }

    /// The same run with another way to stop it.
    #[must_use]
    pub fn stopped_by(&self, cancel: &Cancel) -> Around {
        Around { cancel: cancel.clone(), ..self.clone() }
    }
}

/// A suspended run, and the calls it waits for.
#[derive(Debug)]
pub struct Parked {
    /// The machine as bytes.
    pub(crate) snapshot: Vec<u8>,
    /// Which calls, and what they would do.
    pub(crate) wishes: Vec<(CallId, Wish)>,
    /// How much of its time is left.
    pub(crate) left: Duration,
}

/// How a program goes on once all is decided.
type GoOn = Box<dyn FnOnce(Parked, Vec<Verdict>, &Around) -> Went + Send>;

/// A program that is over, or waits for somebody's decision.
#[expect(clippy::large_enum_variant, reason = "there is one for each call, and it is moved once or twice")]
pub enum Went {
    /// It is over.
    Over(Payload),
    /// It waits.
    Held(Waiting),
}

/// A program that waits for somebody's decision. Dropped, it is given up.
pub struct Waiting {
    parked: Parked,
    go_on: GoOn,
}

impl Waiting {
    pub(crate) fn new(
        parked: Parked,
        go_on: impl FnOnce(Parked, Vec<Verdict>, &Around) -> Went + Send + 'static,
    ) -> Waiting {
        Waiting { parked, go_on: Box::new(go_on) }
    }

    /// What has to be decided, one by one.
    pub fn wishes(&self) -> impl ExactSizeIterator<Item = &Wish> {
        self.parked.wishes.iter().map(|(_, wish)| wish)
    }

    /// How many bytes it is.
    pub fn bytes(&self) -> usize {
        self.parked.snapshot.len()
    }

    /// How much of its time is left.
    pub fn left(&self) -> Duration {
        self.parked.left
    }

    /// Goes on with what was decided, in the order of the wishes, on this thread.
    pub fn go_on(self, verdicts: Vec<Verdict>, around: &Around) -> Went {
        (self.go_on)(self.parked, verdicts, around)
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("parked", &self.parked).finish_non_exhaustive()
    }
}

impl Went {
    /// To the end without asking anybody: what needs approval is denied.
    pub fn to_end(mut self, around: &Around) -> Payload {
        loop {
            match self {
                Went::Over(payload) => return payload,
                Went::Held(waiting) => {
                    let verdicts =
                        vec![Verdict::Denied(Verdict::UNAVAILABLE.to_string()); waiting.wishes().len()];
                    self = waiting.go_on(verdicts, around);
                }
            }
        }
    }
}
