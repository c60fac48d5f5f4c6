//! Times in replies and files.

use std::time::{Duration, SystemTime};

/// Returns the milliseconds since 1970.
pub(crate) fn to_ms(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

pub(crate) fn from_ms(ms: u64) -> SystemTime {
    // Far in the future, and still valid on every platform.
    SystemTime::UNIX_EPOCH + Duration::from_millis(ms.min(1 << 47))
}

/// Formats a time as ISO 8601, in UTC.
pub(crate) fn iso(time: SystemTime) -> String {
    let ms = i64::try_from(to_ms(time)).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}
