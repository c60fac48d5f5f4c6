//! What of our logs may be shown.

use tracing::{Level, Metadata};

/// Crates below us, whose lines for developers hold arguments, answers and headers.
const TALKATIVE: &[&str] = &["rmcp", "reqwest", "hyper", "hyper_util", "h2", "rustls"];

/// Whether an event may be logged, at whatever level a host asks for. What the libraries below this crate write for
/// their own developers is not for operators: it holds what programs send and what servers answer, unscrubbed. A host that
/// logs puts this into the filter of its subscriber.
pub fn may_log(event: &Metadata<'_>) -> bool {
    let root = event.target().split("::").next().unwrap_or_default();
    !TALKATIVE.contains(&root) || *event.level() <= Level::WARN
}
