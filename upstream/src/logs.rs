//! Filter for log events that must not be shown.

use tracing::{Level, Metadata};

/// Libraries whose developer logs contain arguments, replies and headers.
const TALKATIVE: &[&str] = &["rmcp", "reqwest", "hyper", "hyper_util", "h2", "rustls"];

/// Returns whether an event may be logged, at any level a host asks for. Libraries below this crate log for
/// their own developers what programs send and servers reply, unscrubbed. A host that logs must put this
/// function into its subscriber's filter.
pub fn may_log(event: &Metadata<'_>) -> bool {
    let root = event.target().split("::").next().unwrap_or_default();
    !TALKATIVE.contains(&root) || *event.level() <= Level::WARN
}
