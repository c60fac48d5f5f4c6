//! Rates of calls.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A maximum rate: so many calls in a time. All of them may come at once, if none came before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Number of calls.
    pub calls: u32,
    /// Time in which they may be made.
    pub per: Duration,
}

impl Rate {
    /// Parses a rate.
    ///
    /// ```
    /// use ptc_upstream::policy::Rate;
    /// use std::time::Duration;
    /// assert_eq!(Rate::parse("60/min"), Some(Rate { calls: 60, per: Duration::from_secs(60) }));
    /// assert_eq!(Rate::parse("0/s"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Rate> {
        let (calls, unit) = text.split_once('/')?;
        let seconds = match unit.trim() {
            "s" => 1,
            "min" => 60,
            "h" => 3600,
            "d" => 86_400,
            _ => return None,
        };
        let calls = calls.trim().parse().ok().filter(|calls| (1..=1_000_000).contains(calls))?;
        Some(Rate { calls, per: Duration::from_secs(seconds) })
    }

    /// Returns the text that [`Rate::parse`] reads.
    pub fn show(self) -> String {
        let unit = match self.per.as_secs() {
            1 => "s",
            60 => "min",
            3600 => "h",
            _ => "d",
        };
        format!("{}/{unit}", self.calls)
    }
}

/// When the next calls may be made, by tool; the empty name stands for the server.
#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<HashMap<String, Instant>>);

impl Rates {
    /// Reserves a call, which may be made after the returned time. The error is the rate that allows none within `most`,
    /// and the time after which it would; nothing is reserved then.
    pub fn reserve(
        &self,
        rates: &[(&str, Rate)],
        now: Instant,
        most: Duration,
    ) -> Result<Duration, (Rate, Duration)> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut longest = Duration::ZERO;
        let mut next = Vec::new();
        for (name, rate) in rates {
            // The time at which all calls so far would have been made one by one.
            let each = rate.per / rate.calls;
            let before = known.get(*name).copied().map_or(now, |before| before.max(now));
            let wait = (before + each).saturating_duration_since(now + rate.per);
            if wait > most {
                return Err((*rate, wait));
            }
            longest = longest.max(wait);
            next.push((*name, before + each));
        }
        known.extend(next.into_iter().map(|(name, at)| (name.to_string(), at)));
        Ok(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_come_at_once_and_then_at_their_rate() {
        let (rates, now) = (Rates::default(), Instant::now());
        let rate = Rate::parse("4/s").unwrap();
        assert_eq!(rate.show(), "4/s");
        let take =
            |at: Duration, most: u64| rates.reserve(&[("", rate)], now + at, Duration::from_millis(most));
        for _ in 0..4 {
            assert_eq!(take(Duration::ZERO, 0), Ok(Duration::ZERO));
        }
        assert_eq!(take(Duration::ZERO, 0), Err((rate, Duration::from_millis(250))));
        assert_eq!(take(Duration::ZERO, 300), Ok(Duration::from_millis(250)));
        assert_eq!(take(Duration::from_millis(500), 0), Ok(Duration::ZERO));
        assert_eq!(take(Duration::from_millis(500), 0), Err((rate, Duration::from_millis(250))));
        assert_eq!(take(Duration::from_secs(60), 0), Ok(Duration::ZERO));
    }

    #[test]
    fn a_call_refused_by_one_rate_counts_for_none() {
        let (rates, now) = (Rates::default(), Instant::now());
        let (wide, narrow) = (Rate::parse("2/s").unwrap(), Rate::parse("1/h").unwrap());
        let both = [("", wide), ("t", narrow)];
        assert_eq!(rates.reserve(&both, now, Duration::ZERO), Ok(Duration::ZERO));
        assert_eq!(rates.reserve(&both, now, Duration::ZERO).unwrap_err().0, narrow);
        assert_eq!(rates.reserve(&[("", wide)], now, Duration::ZERO), Ok(Duration::ZERO));
        for bad in ["", "5", "/s", "5/week", "-1/s", "1.5/s", "2000000/s"] {
            assert_eq!(Rate::parse(bad), None, "{bad}");
        }
    }
}
