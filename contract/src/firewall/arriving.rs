//! Texts that arrive in pieces, where a value may be split between two pieces.

use super::{SHORTEST, Secrets};
use aho_corasick::Input;
use std::ops::Bound;

impl Secrets {
    /// Returns how many bytes of an unfinished text are settled. The rest may be the beginning of a value, so only the
    /// settled part can be shown, after [`Secrets::redact`].
    ///
    /// ```
    /// use ptc_contract::firewall::Secrets;
    /// use ptc_runtime::bridge::json_to_datum;
    /// let mut secrets = Secrets::default();
    /// secrets.learn(&json_to_datum(&serde_json::json!({"_token": "tok-84711"}))?);
    /// assert_eq!(secrets.settled("charged to"), "charged ".len());
    /// assert_eq!(secrets.settled("charged tok-847"), "charged ".len());
    /// assert_eq!(secrets.settled("charged tok-847 and"), "charged tok-847 and".len());
    /// # Ok::<(), ptc_runtime::BridgeError>(())
    /// ```
    pub fn settled(&mut self, text: &str) -> usize {
        if self.is_empty() {
            return text.len();
        }
        self.find_heads();
        // Without `heads`, `redact` shows nothing of any text.
        let Some(heads) = &self.heads else { return text.len() };
        // Quotes at the end are found once: a text may be full of beginnings with many quotes after each.
        let unquoted = text.trim_end_matches('"').len();
        let without_quotes = |start: usize| &text[start..unquoted.max(start)];
        let mut look = 0;
        while let Some(found) = heads.find(Input::new(text).range(look..)) {
            let start = found.start();
            let rest = &text[start..];
            // A quote may stand between the beginning of a value and the `…` that cuts it.
            if self.may_grow(rest) || self.may_grow(without_quotes(start)) {
                return start;
            }
            let whole = self.whole(rest).or(rest.chars().next().map(char::len_utf8));
            look = start + whole.unwrap_or(1);
        }
        // The tail has fewer characters than `heads` needs.
        let tail = text[look..].char_indices().rev().take(SHORTEST).map(|(at, _)| look + at);
        let open = tail.filter(|at| {
            let rest = without_quotes(*at);
            !rest.is_empty() && self.may_grow(rest)
        });
        open.last().unwrap_or(text.len())
    }

    /// Returns whether some longer value begins with `seen`.
    fn may_grow(&self, seen: &str) -> bool {
        let next = self.texts.range::<str, _>((Bound::Excluded(seen), Bound::Unbounded)).next();
        next.is_some_and(|text| text.starts_with(seen))
    }
}
