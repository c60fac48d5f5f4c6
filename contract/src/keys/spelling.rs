//! Spellings of one key: `-` in programs, `_` in hosts and JSON.

use std::borrow::Cow;

/// Returns a key as hosts spell it: `-` becomes `_`.
///
/// ```
/// assert_eq!(ptc_contract::keys::normalize_key("order-count"), "order_count");
/// ```
pub fn normalize_key(key: &str) -> Cow<'_, str> {
    if key.contains('-') { Cow::Owned(key.replace('-', "_")) } else { Cow::Borrowed(key) }
}

/// Returns a key as programs spell it: `_` becomes `-`, except a leading one, which marks a firewalled field.
///
/// ```
/// assert_eq!(ptc_contract::keys::kebab_key("_email_ids"), "_email-ids");
/// ```
pub fn kebab_key(key: &str) -> String {
    match key.strip_prefix('_') {
        Some(rest) => format!("_{}", rest.replace('_', "-")),
        None => key.replace('_', "-"),
    }
}

/// Returns whether two spellings name the same field.
pub fn same(a: &str, b: &str) -> bool {
    let plain = |b: u8| if b == b'-' { b'_' } else { b };
    a.len() == b.len() && a.bytes().map(plain).eq(b.bytes().map(plain))
}
