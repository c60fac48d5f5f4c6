//! Size of values.

use serde::Serialize;
use std::io::{Result, Write};

/// Returns the size of a value as compact JSON in bytes, without writing it; `u64::MAX` if it cannot be written.
///
/// ```
/// assert_eq!(ptc_upstream::json_bytes(&serde_json::json!({"a": [1, "ä"]})), 14);
/// ```
pub fn json_bytes<T: Serialize + ?Sized>(value: &T) -> u64 {
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => u64::MAX,
    }
}

struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
