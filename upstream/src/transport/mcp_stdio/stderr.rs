//! Standard error of a child, logged at `debug`: line by line, scrubbed, shortened and rate-limited.

use crate::executor;
use crate::redact::Redactor;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;

/// Maximum length of a line, in bytes.
const MAX_LINE: usize = 8 * 1024;
/// Maximum number of lines per [`PERIOD`]; further lines are only counted.
const BURST: u32 = 50;
/// Time over which lines are counted.
const PERIOD: Duration = Duration::from_secs(1);
/// Maximum length of the last line quoted in messages, in characters.
const MAX_QUOTE: usize = 200;

/// Last line a child has written, scrubbed.
#[derive(Clone, Default, Debug)]
pub(super) struct LastLine {
    text: Arc<Mutex<Option<String>>>,
    over: CancellationToken,
}

impl LastLine {
    /// Waits until there can be no further line.
    pub(super) async fn over(&self) {
        self.over.cancelled().await;
    }

    pub(super) fn get(&self) -> Option<String> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, line: &str) {
        let quote: String = line.chars().filter(|c| !c.is_control()).take(MAX_QUOTE).collect();
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = Some(quote);
    }
}

/// Reads standard error until it is closed.
pub(super) fn drain(
    name: String,
    errors: impl AsyncRead + Send + Unpin + 'static,
    redactor: Arc<Redactor>,
) -> LastLine {
    let last_line = LastLine::default();
    let mut log = Log {
        name,
        redactor,
        last_line: last_line.clone(),
        line: Vec::new(),
        cut: false,
        rate: Rate::default(),
    };
    executor::spawn(async move {
        let mut errors = errors;
        let mut chunk = vec![0; MAX_LINE];
        while let Ok(read) = errors.read(&mut chunk).await
            && read > 0
        {
            log.take(&chunk[..read]);
        }
        log.end_of_line();
        log.last_line.over.cancel();
    });
    last_line
}

struct Log {
    name: String,
    redactor: Arc<Redactor>,
    last_line: LastLine,
    line: Vec<u8>,
    cut: bool,
    rate: Rate,
}

impl Log {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => self.end_of_line(),
                _ if self.line.len() < MAX_LINE => self.line.push(*byte),
                _ => self.cut = true,
            }
        }
    }

    fn end_of_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let cut = std::mem::take(&mut self.cut);
        let text = String::from_utf8_lossy(&line);
        // Scrubbing would miss half a secret at the end of a cut line, so the last word is dropped.
        let whole = match cut {
            false => text.trim_end(),
            true => text.rfind(char::is_whitespace).map_or("", |end| &text[..end]),
        };
        if whole.trim().is_empty() {
            return;
        }
        let clean = self.redactor.scrub(whole);
        self.last_line.set(&clean);
        match self.rate.pass(Instant::now()) {
            Pass::No => {}
            Pass::Yes { left_out: 0 } => tracing::debug!(upstream = self.name, cut, "{clean}"),
            Pass::Yes { left_out } => tracing::debug!(upstream = self.name, cut, left_out, "{clean}"),
        }
    }
}

/// Number of lines logged recently.
#[derive(Default, Debug)]
struct Rate {
    since: Option<Instant>,
    passed: u32,
    left_out: u64,
}

#[derive(PartialEq, Eq, Debug)]
enum Pass {
    Yes { left_out: u64 },
    No,
}

impl Rate {
    fn pass(&mut self, now: Instant) -> Pass {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= PERIOD) {
            self.since = Some(now);
            self.passed = 0;
        }
        if self.passed >= BURST {
            self.left_out += 1;
            return Pass::No;
        }
        self.passed += 1;
        Pass::Yes { left_out: std::mem::take(&mut self.left_out) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_instead_of_logged() {
        let (mut rate, now) = (Rate::default(), Instant::now());
        for _ in 0..BURST {
            assert_eq!(rate.pass(now), Pass::Yes { left_out: 0 });
        }
        for _ in 0..7 {
            assert_eq!(rate.pass(now), Pass::No);
        }
        assert_eq!(rate.pass(now + PERIOD), Pass::Yes { left_out: 7 });
    }

    #[test]
    fn lines_are_scrubbed_and_short() {
        let redactor = Arc::new(Redactor::new());
        let secret = crate::credentials::Secret::new("canary-4711");
        redactor.register("token", &secret).expect("registered");
        let last_line = LastLine::default();
        let mut log = Log {
            name: "fs".to_string(),
            redactor,
            last_line: last_line.clone(),
            line: Vec::new(),
            cut: false,
            rate: Rate::default(),
        };
        log.take(b"token is canary-4711\r\n");
        assert_eq!(last_line.get().as_deref(), Some("token is [REDACTED]"));
        // The secret is at the place where the line is cut.
        log.take(format!("{}{} canary-4711\n", "x".repeat(10), "y ".repeat(MAX_LINE / 2 - 8)).as_bytes());
        assert!(!last_line.get().expect("a line").contains("canary"));
        log.take(&vec![b'z'; 10 * MAX_LINE]);
        assert!(log.line.len() <= MAX_LINE);
    }
}
