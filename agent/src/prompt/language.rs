//! The host's own explanation of the language, and what it is made from.

use ptc_model::Message;
use ptc_runtime::Frozen;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a request is about to be made of.
pub struct PromptCtx<'m> {
    /// Which turn, from 1.
    pub turn: u32,
    /// The model; empty in a preview.
    pub model: &'m str,
    /// Definitions.
    pub memory: &'m BTreeMap<String, Frozen>,
    /// What was said so far.
    pub messages: &'m [Message],
}

/// Explains the language in place of the reference card. The system message then differs from turn to turn where
/// this does, and providers cannot reuse what they have read.
#[derive(Clone)]
pub struct LanguageFn(Arc<dyn Fn(&PromptCtx<'_>) -> String + Send + Sync>);

impl LanguageFn {
    /// What this says.
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
