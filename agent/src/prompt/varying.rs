//! System messages in which the host explains the language itself, anew for each turn.

use super::assemble::limited;
use crate::model::Message;
use ptc_runtime::Frozen;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// A system message with a gap.
#[derive(Clone, PartialEq, Debug)]
pub struct Varying {
    pub(super) before: String,
    pub(super) after: String,
    pub(super) explain: LanguageFn,
    /// How many characters the whole may have.
    pub(super) most: Option<usize>,
}

impl Varying {
    /// The system message of one turn; None if the host's function panicked.
    pub fn system(&self, ctx: &PromptCtx<'_>) -> Option<String> {
        let text = catch_unwind(AssertUnwindSafe(|| (self.explain.0)(ctx))).ok()?;
        let parts = [&self.before, &text, &self.after];
        let parts: Vec<&str> = parts.into_iter().map(|part| part.trim()).filter(|p| !p.is_empty()).collect();
        Some(limited(parts.join("\n\n"), self.most).0)
    }
}
