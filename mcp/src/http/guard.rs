//! Throttles clients that send invalid tokens, by address.

use crate::settings::Settings;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of addresses remembered; beyond it, all that are not blocked are removed.
const MAX_PEERS: usize = 10_000;

/// Result of checking an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Free,
    /// Blocked for this long.
    Blocked(Duration),
}

pub struct Guard {
    is_on: bool,
    window: Duration,
    most: u64,
    block: Duration,
    peers: Mutex<HashMap<IpAddr, Peer>>,
}

struct Peer {
    since: Instant,
    failures: u64,
    blocked_until: Option<Instant>,
}

impl Guard {
    pub fn new(settings: &Settings) -> Guard {
        Guard {
            is_on: settings.http_auth_rate_limit,
            window: Duration::from_millis(settings.http_auth_rate_limit_window_ms),
            most: settings.http_auth_rate_limit_max_failures,
            block: Duration::from_millis(settings.http_auth_rate_limit_block_ms),
            peers: Mutex::default(),
        }
    }

    fn peers(&self) -> MutexGuard<'_, HashMap<IpAddr, Peer>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an invalid token, and returns whether the address is blocked. The attempt that reaches the limit
    /// is still answered like those before it.
    pub fn failed(&self, peer: IpAddr, now: Instant) -> Verdict {
        if !self.is_on {
            return Verdict::Free;
        }
        let mut peers = self.peers();
        if peers.len() >= MAX_PEERS {
            peers.retain(|_, peer| peer.blocked_until.is_some_and(|until| until > now));
            // The maximum number of addresses is blocked, so this one is not remembered.
            if peers.len() >= MAX_PEERS && !peers.contains_key(&peer) {
                return Verdict::Free;
            }
        }
        let entry = peers.entry(peer).or_insert(Peer { since: now, failures: 0, blocked_until: None });
        let left = entry.blocked_until.and_then(|until| until.checked_duration_since(now));
        if let Some(left) = left.filter(|left| !left.is_zero()) {
            return Verdict::Blocked(left);
        }
        if now.duration_since(entry.since) > self.window {
            (entry.since, entry.failures) = (now, 0);
        }
        entry.failures += 1;
        if entry.failures >= self.most {
            entry.blocked_until = Some(now + self.block);
            (entry.since, entry.failures) = (now, 0);
        }
        Verdict::Free
    }

    /// Removes addresses without a block and without recent failures.
    pub fn sweep(&self, now: Instant) {
        let window = self.window;
        self.peers().retain(|_, peer| {
            peer.blocked_until.is_some_and(|until| until > now) || now.duration_since(peer.since) <= window
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_within_the_window_block_for_a_while() {
        let guard = Guard::new(&Settings::default());
        let (peer, other, start) = (IpAddr::from([1, 2, 3, 4]), IpAddr::from([4, 3, 2, 1]), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        for second in 5..10 {
            assert_eq!(guard.failed(peer, at(second)), Verdict::Free);
        }
        assert_eq!(guard.failed(peer, at(9)), Verdict::Blocked(Duration::from_secs(60)));
        assert_eq!(guard.failed(other, at(9)), Verdict::Free);
        assert_eq!(guard.failed(peer, at(69)), Verdict::Free);
        // Four attempts a minute are not an attack.
        for second in (100..400).step_by(16) {
            assert_eq!(guard.failed(peer, at(second)), Verdict::Free);
        }
        guard.sweep(at(1000));
        assert!(guard.peers().is_empty());
    }
}
