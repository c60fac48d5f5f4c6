//! Limits on how much of a value is shown in a prompt. Programs always see all of it.

use super::head;
use serde::{Deserialize, Serialize};

/// Limits of the option `prompt_limit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromptLimit {
    /// Items shown of each list or map.
    pub list: usize,
    /// Bytes shown of each string.
    pub string: usize,
    /// Maximum characters of the whole system message.
    pub max_chars: Option<usize>,
}

impl Default for PromptLimit {
    fn default() -> PromptLimit {
        PromptLimit { list: 5, string: 1000, max_chars: None }
    }
}

impl PromptLimit {
    /// Returns a string within the limit, or its beginning and a note on its length.
    ///
    /// ```
    /// use ptc_contract::data::PromptLimit;
    /// let limit = PromptLimit { string: 4, ..PromptLimit::default() };
    /// assert_eq!(limit.cut("four"), "four");
    /// assert_eq!(limit.cut("five!"), "five… [4 of 5 bytes shown]");
    /// ```
    pub fn cut(&self, text: &str) -> String {
        if text.len() <= self.string {
            return text.to_string();
        }
        let shown = head(text, self.string);
        format!("{shown}… [{} of {} bytes shown]", shown.len(), text.len())
    }
}
