//! System messages in which the host explains the language for each turn separately.

use super::language::{LanguageFn, PromptCtx};
use ptc_contract::data::cut;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A system message with a gap for the explanation.
#[derive(Clone, PartialEq, Debug)]
pub struct Varying {
    pub(super) before: String,
    pub(super) after: String,
    pub(super) explain: LanguageFn,
    /// Maximum characters of the whole message.
    pub(super) most: Option<usize>,
}

impl Varying {
    /// Returns the system message of one turn; None if the host's function panicked.
    pub fn system(&self, ctx: &PromptCtx<'_>) -> Option<String> {
        let text = catch_unwind(AssertUnwindSafe(|| self.explain.explain(ctx))).ok()?;
        let parts = [&self.before, &text, &self.after];
        let parts: Vec<&str> = parts.into_iter().map(|part| part.trim()).filter(|p| !p.is_empty()).collect();
        Some(limited(parts.join("\n\n"), self.most).0)
    }
}

/// Cuts the system message to its limit, with a warning if it was longer.
pub(super) fn limited(system: String, most: Option<usize>) -> (String, Option<String>) {
    let Some(most) = most.filter(|most| system.chars().count() > *most) else { return (system, None) };
    let told = format!("the system message was cut at {most} characters (prompt_limit.max_chars)");
    let end = format!("\n[the instructions end here: prompt_limit.max_chars is {most}]");
    (cut(&system, most) + &end, Some(told))
}
