//! Rules for restarting a crashed child. Pure: the time is an argument.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// First delay before a restart; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// Longest delay, before jitter is added.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Share of a delay that is random, so that children that crashed together do not restart together.
const JITTER: f64 = 0.2;
/// Number of crashes within [`WINDOW`] after which a child has failed.
const MAX_CRASHES: usize = 5;
/// Time over which crashes are counted.
const WINDOW: Duration = Duration::from_secs(60);
/// Time before a failed child is tried again, so that a host that runs for weeks recovers from a bad hour.
const FAILED: Duration = Duration::from_secs(5 * 60);
/// Working time after which the delays start over.
const GOOD_TIME: Duration = Duration::from_secs(60);

/// Crashes of one child.
#[derive(Default, Debug)]
pub(crate) struct Recovery {
    in_a_row: u32,
    recent: VecDeque<Instant>,
}

/// Decision after a crash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Restart the child, not before this time.
    RestUntil(Instant),
    /// The child has failed; do not restart it until this time.
    LeaveUntil(Instant),
}

impl Recovery {
    /// Records a crash now, after `worked` if the child ever worked. `chance` is between 0 and 1.
    pub(crate) fn crashed(&mut self, now: Instant, worked: Option<Duration>, chance: f64) -> Verdict {
        if worked.is_some_and(|time| time >= GOOD_TIME) {
            self.in_a_row = 0;
        }
        self.recent.retain(|crash| now.saturating_duration_since(*crash) < WINDOW);
        self.recent.push_back(now);
        if self.recent.len() >= MAX_CRASHES {
            return Verdict::LeaveUntil(now + FAILED);
        }
        let doubled = FIRST_WAIT.saturating_mul(1 << self.in_a_row.min(16));
        self.in_a_row += 1;
        let factor = 1.0 - JITTER + 2.0 * JITTER * chance.clamp(0.0, 1.0);
        Verdict::RestUntil(now + doubled.min(LONGEST_WAIT).mul_f64(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the delay after a crash, without jitter.
    fn wait(recovery: &mut Recovery, now: Instant, worked: Option<Duration>) -> Option<Duration> {
        match recovery.crashed(now, worked, 0.5) {
            Verdict::RestUntil(until) => Some(until - now),
            Verdict::LeaveUntil(until) => {
                assert_eq!(until - now, FAILED);
                None
            }
        }
    }

    #[test]
    fn waits_double_until_the_fifth_crash_in_a_minute() {
        let (mut recovery, now) = (Recovery::default(), Instant::now());
        for millis in [250, 500, 1000, 2000] {
            assert_eq!(wait(&mut recovery, now, None), Some(Duration::from_millis(millis)));
        }
        assert_eq!(wait(&mut recovery, now, None), None);
    }

    #[test]
    fn what_failed_is_tried_again_after_a_while() {
        let (mut recovery, now) = (Recovery::default(), Instant::now());
        while wait(&mut recovery, now, None).is_some() {}
        // Still broken: it is restarted after a longer delay than at first.
        assert_eq!(wait(&mut recovery, now + FAILED, None), Some(FIRST_WAIT * 16));
    }

    #[test]
    fn waits_are_at_most_half_a_minute() {
        let (mut recovery, mut now) = (Recovery::default(), Instant::now());
        let mut last = Duration::ZERO;
        for _ in 0..100 {
            now += Duration::from_secs(20);
            last = wait(&mut recovery, now, Some(Duration::from_secs(20)))
                .expect("three in a minute are no loop");
        }
        assert_eq!(last, LONGEST_WAIT);
    }

    #[test]
    fn a_minute_of_work_is_a_new_beginning() {
        let (mut recovery, now) = (Recovery::default(), Instant::now());
        wait(&mut recovery, now, None);
        wait(&mut recovery, now, None);
        let later = now + Duration::from_secs(70);
        assert_eq!(wait(&mut recovery, later, Some(GOOD_TIME)), Some(FIRST_WAIT));
    }

    #[test]
    fn a_fifth_of_a_wait_is_chance() {
        let now = Instant::now();
        for (chance, millis) in [(0.0, 200), (1.0, 300), (7.0, 300)] {
            let verdict = Recovery::default().crashed(now, None, chance);
            assert_eq!(verdict, Verdict::RestUntil(now + Duration::from_millis(millis)));
        }
    }
}
