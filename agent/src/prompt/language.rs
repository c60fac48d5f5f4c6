//! Explanations of the language by the host.

use ptc_model::Message;
use ptc_runtime::Frozen;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Context of a request that is about to be made.
pub struct PromptCtx<'m> {
    /// Number of the turn, from 1.
    pub turn: u32,
    /// Name of the model; empty in a preview.
    pub model: &'m str,
    /// Definitions of the mission.
    pub memory: &'m BTreeMap<String, Frozen>,
    /// Messages so far.
    pub messages: &'m [Message],
}

/// Function that explains the language in place of the reference card. If its text differs between turns, so does the
/// system message, and providers cannot use their caches.
#[derive(Clone)]
pub struct LanguageFn(Arc<dyn Fn(&PromptCtx<'_>) -> String + Send + Sync>);

impl LanguageFn {
    /// Wraps a function.
    pub fn new(explain: impl Fn(&PromptCtx<'_>) -> String + Send + Sync + 'static) -> LanguageFn {
        LanguageFn(Arc::new(explain))
    }

    pub(super) fn explain(&self, ctx: &PromptCtx<'_>) -> String {
        (self.0)(ctx)
    }
}

impl fmt::Debug for LanguageFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LanguageFn")
    }
}

impl PartialEq for LanguageFn {
    fn eq(&self, other: &LanguageFn) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for LanguageFn {}
