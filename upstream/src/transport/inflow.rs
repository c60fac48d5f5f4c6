//! Unsolicited messages of a server: counted, coalesced and, if there are too many, read more slowly.
//!
//! All servers share two threads, so no server may decide how much work they do. Replies to calls are bounded
//! by the limits of the calls. Everything else draws on a budget of the server, which outlives its connections;
//! once it is spent, reading from the server pauses, longer each time. TCP and pipes then make it wait.

use crate::executor;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Length of one budget window.
const WINDOW: Duration = Duration::from_secs(1);
/// Maximum number of unsolicited messages per window. Chatty servers send some hundreds of log lines per call.
const MAX_MESSAGES: u64 = 5_000;
/// Maximum number of bytes per window that belong to no call.
const MAX_BYTES: u64 = 8 << 20;
/// Maximum number per window of server requests that are answered and notifications passed to the SDK: each
/// costs a task, and each request also a reply.
const MAX_QUESTIONS: u64 = 64;
/// First and longest pause in reading after the budget is spent.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// First and longest interval between two noted changes of the list of tools.
const CHANGE_WAIT: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));

/// Budget and change counter of one server's unsolicited messages.
#[derive(Debug)]
pub(crate) struct Inflow {
    server: String,
    changes: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    budget: Budget,
    news: News,
}

impl Inflow {
    pub(crate) fn new(server: &str) -> Arc<Inflow> {
        let state = State { budget: Budget::new(Instant::now()), news: News::default() };
        Arc::new(Inflow { server: server.to_string(), changes: AtomicU64::new(0), state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes messages and bytes from the budget. If it is spent, returns how long to pause reading.
    pub(crate) fn spend(&self, messages: usize, bytes: u64) -> Option<Duration> {
        let (pause, is_first) = self.state().budget.spend(Instant::now(), messages as u64, bytes)?;
        if is_first {
            tracing::warn!(
                upstream = self.server,
                "sends too many messages without being asked, and is now read more slowly"
            );
        }
        Some(pause)
    }

    /// Takes messages and bytes from the budget and waits until more may be read.
    pub(crate) async fn pace(&self, messages: usize, bytes: u64) {
        if let Some(pause) = self.spend(messages, bytes) {
            tokio::time::sleep(pause).await;
        }
    }

    /// Returns whether to answer a server's request, or pass a notification on.
    pub(crate) fn admits(&self) -> bool {
        self.state().budget.take_question(Instant::now())
    }

    /// Handles the server's message that its tools have changed. Many such messages in a short time count as
    /// one change, noted with a delay: listing the tools then returns their latest state.
    pub(crate) fn tools_changed(self: &Arc<Self>) {
        let wait = match self.state().news.heard(Instant::now()) {
            Noted::Already => return,
            Noted::Now => return self.changed(),
            Noted::After(wait) => wait,
        };
        let inflow = self.clone();
        executor::spawn(async move {
            tokio::time::sleep(wait).await;
            inflow.state().news.told(Instant::now());
            inflow.changed();
        });
    }

    /// Counts a change that this client has found itself.
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of changes of the tools.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }
}

/// Budget for a server's unsolicited messages.
#[derive(Debug)]
struct Budget {
    window_end: Instant,
    messages: u64,
    bytes: u64,
    questions: u64,
    /// Time until which reading is paused.
    paused_until: Instant,
    next_pause: Duration,
    is_overspent: bool,
}

impl Budget {
    fn new(now: Instant) -> Budget {
        Budget {
            window_end: now + WINDOW,
            messages: 0,
            bytes: 0,
            questions: 0,
            paused_until: now,
            next_pause: PAUSE.0,
            is_overspent: false,
        }
    }

    fn roll_over(&mut self, now: Instant) {
        if now < self.window_end {
            return;
        }
        if !self.is_overspent {
            self.next_pause = PAUSE.0;
        }
        let (paused_until, next_pause) = (self.paused_until, self.next_pause);
        *self = Budget { paused_until, next_pause, ..Budget::new(now) };
    }

    /// Counts messages and bytes. If the budget is spent, returns the pause, and whether it is the first in a while.
    fn spend(&mut self, now: Instant, messages: u64, bytes: u64) -> Option<(Duration, bool)> {
        self.roll_over(now);
        self.messages = self.messages.saturating_add(messages);
        self.bytes = self.bytes.saturating_add(bytes);
        if now < self.paused_until {
            return Some((self.paused_until - now, false));
        }
        if self.messages <= MAX_MESSAGES && self.bytes <= MAX_BYTES {
            return None;
        }
        let pause = self.next_pause;
        self.next_pause = (pause * 2).min(PAUSE.1);
        self.is_overspent = true;
        self.paused_until = now + pause;
        // The next window begins when reading resumes.
        self.window_end = self.paused_until;
        Some((pause, pause == PAUSE.0))
    }

    fn take_question(&mut self, now: Instant) -> bool {
        self.roll_over(now);
        let is_admitted = self.questions < MAX_QUESTIONS;
        self.questions += u64::from(is_admitted);
        is_admitted
    }
}

/// Throttle for changes of the list of tools.
#[derive(Default, Debug)]
struct News {
    /// Time of the last noted change, and the interval before the next one.
    last: Option<(Instant, Duration)>,
    /// True if a change is waiting to be noted.
    is_due: bool,
}

enum Noted {
    Now,
    After(Duration),
    Already,
}

impl News {
    fn heard(&mut self, now: Instant) -> Noted {
        if self.is_due {
            return Noted::Already;
        }
        match self.last {
            Some((last, wait)) if now < last + wait => {
                self.is_due = true;
                Noted::After(last + wait - now)
            }
            _ => {
                self.told(now);
                Noted::Now
            }
        }
    }

    fn told(&mut self, now: Instant) {
        self.is_due = false;
        let wait = match self.last {
            // The interval is reset after a quiet period twice as long.
            Some((last, wait)) if now < last + wait * 2 => (wait * 2).min(CHANGE_WAIT.1),
            _ => CHANGE_WAIT.0,
        };
        self.last = Some((now, wait));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_read_ever_more_slowly_and_a_calm_server_is_forgiven() {
        let start = Instant::now();
        let mut budget = Budget::new(start);
        let (mut now, mut pauses) = (start, Vec::new());
        for _ in 0..10 {
            assert!(budget.spend(now, MAX_MESSAGES, 0).is_none());
            let (pause, _) = budget.spend(now, 1, 0).expect("the budget is spent");
            assert!(budget.spend(now, 1, 0).is_some(), "another stream of the server waits, too");
            pauses.push(pause.as_millis());
            now += pause;
        }
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);
        assert!(budget.spend(now, 10, 10).is_none());
        assert!(budget.spend(now + WINDOW, 0, MAX_BYTES).is_none());
        assert_eq!(budget.spend(now + WINDOW, 0, 1), Some((PAUSE.0, true)));
    }

    #[test]
    fn questions_are_answered_up_to_a_number() {
        let start = Instant::now();
        let mut budget = Budget::new(start);
        let admitted = |budget: &mut Budget, at| (0..70_000).filter(|_| budget.take_question(at)).count();
        assert_eq!(admitted(&mut budget, start), 64);
        assert_eq!(admitted(&mut budget, start + WINDOW), 64);
    }

    #[test]
    fn endless_news_are_noted_ever_more_rarely() {
        let start = Instant::now();
        let mut news = News::default();
        let (mut noted, mut due) = (0, None);
        // One message per millisecond for ten minutes.
        for millis in 0..600_000 {
            let now = start + Duration::from_millis(millis);
            if due.is_some_and(|at| at <= now) {
                news.told(now);
                due = None;
                noted += 1;
            }
            match news.heard(now) {
                Noted::Now => noted += 1,
                Noted::After(wait) => due = Some(now + wait),
                Noted::Already => {}
            }
        }
        assert!((20..40).contains(&noted), "{noted}");
        assert!(due.is_some(), "the last of them is not lost");
        let later = start + Duration::from_secs(6_000);
        news.is_due = false;
        assert!(matches!(news.heard(later), Noted::Now));
    }
}
