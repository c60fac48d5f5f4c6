//! Limits by name.

use ptc::Limits;
use ptc_bytecode::LIMITS;
use std::collections::HashMap;

/// Reads limits by name; those that are not named have their defaults. That names and numbers are right is checked in
/// JavaScript.
pub fn limits(given: Option<HashMap<String, f64>>) -> napi::Result<Limits> {
    let mut limits = Limits::default();
    for (name, value) in given.into_iter().flatten() {
        limits.set(&name, value as u64);
    }
    limits.check().map_err(napi::Error::from_reason)?;
    Ok(limits)
}

/// Returns every limit with its default.
#[napi_derive::napi]
pub fn default_limits() -> HashMap<String, f64> {
    LIMITS.iter().map(|row| (row.name.to_string(), row.default as f64)).collect()
}
