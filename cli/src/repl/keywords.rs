//! Keywords that programs and values have shown, which completion offers.

use ptc_compiler::{PieceKind, pieces};
use ptc_runtime::Outcome;
use std::collections::BTreeSet;

/// Keywords kept.
const MAX_KEYWORDS: usize = 2_000;
/// Maximum part of a value that is searched for keywords.
const SEEN_BYTES: usize = 16 << 10;

/// Keywords of programs and values seen so far.
#[derive(Clone, Default)]
pub struct Keywords(BTreeSet<String>);

impl Keywords {
    pub fn see(&mut self, text: &str) {
        for piece in pieces(text).iter().filter(|piece| piece.kind == PieceKind::Keyword) {
            let word = piece.span.text(text);
            if self.0.len() < MAX_KEYWORDS && !self.0.contains(word) {
                self.0.insert(word.to_string());
            }
        }
    }

    /// Those at the beginning of a value.
    pub fn see_value(&mut self, outcome: &Outcome) {
        if let Ok((text, _)) = outcome.print_start(SEEN_BYTES) {
            self.see(&text);
        }
    }

    /// All of them, sorted.
    pub fn words(&self) -> &BTreeSet<String> {
        &self.0
    }
}
