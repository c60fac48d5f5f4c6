//! Table of upstream options, which command flags, settings of the MCP server and their pages are made from.

use crate::catalogue::{RenderMode, Rendering, Snapshot};
use crate::context::CallLimits;
use std::time::Duration;

/// Policy for a start with unavailable servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BootPolicy {
    /// The start fails.
    #[default]
    Fail,
    /// The start continues without that server, which is tried again when needed.
    Degrade,
}

/// Options for running servers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Rule for listing tools: once at the start, or when needed.
    pub snapshot: Snapshot,
    /// Policy for servers that are unavailable at the start.
    pub boot_policy: BootPolicy,
    /// Time limit of the start.
    pub boot_deadline: Duration,
    /// Limits for programs.
    pub limits: CallLimits,
    /// Options for rendering the catalogue.
    pub rendering: Rendering,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            snapshot: Snapshot::default(),
            boot_policy: BootPolicy::default(),
            boot_deadline: Duration::from_secs(30),
            limits: CallLimits::default(),
            rendering: Rendering::default(),
        }
    }
}

/// One option, with its names and values.
#[derive(Clone, Copy, Debug)]
pub struct OptionRow {
    /// Name as a setting of the MCP server, with dashes.
    pub name: &'static str,
    /// Name as a flag of other commands, without the leading dashes.
    pub flag: &'static str,
    /// Type of its values.
    pub kind: OptionKind,
    /// Default value, as text.
    pub default: &'static str,
    /// Description in one sentence.
    pub doc: &'static str,
    /// True if it is also a setting of the MCP server.
    pub is_setting: bool,
    set: fn(&mut Options, u64),
    get: fn(&Options) -> u64,
}

/// Values of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionKind {
    /// A number above zero.
    Count,
    /// A time in milliseconds.
    Millis,
    /// A size in bytes.
    Bytes,
    /// One of these words, each with a description.
    Words(&'static [&'static str], &'static [&'static str]),
}

macro_rules! options {
    ($($doc:literal $name:literal $flag:literal $setting:ident $kind:expr, $default:literal,
       |$to:ident, $value:ident| $set:expr, |$from:ident| $get:expr;)*) => {
        /// Every option.
        pub const OPTIONS: &[OptionRow] = &[$(OptionRow {
            name: $name,
            flag: $flag,
            kind: $kind,
            default: $default,
            doc: $doc,
            is_setting: stringify!($setting).len() == "setting".len(),
            set: |$to, $value| $set,
            get: |$from| $get,
        },)*];
    };
}

use OptionKind::{Bytes, Count, Millis, Words};

options! {
    "When servers are started and their tools listed."
    "catalog-snapshot-mode" "catalog-snapshot-mode" flag
    Words(
        &["live", "frozen"],
        &["On first use.", "All of them at the start, which fails if one is unavailable."],
    ), "live",
    |to, value| to.snapshot = if value == 0 { Snapshot::Live } else { Snapshot::Frozen },
    |from| u64::from(from.snapshot == Snapshot::Frozen);

    "Time limit for one call of an upstream server, in milliseconds."
    "upstream-call-timeout-ms" "upstream-call-timeout-ms" setting Millis, "5000",
    |to, value| to.limits.call_timeout = Duration::from_millis(value),
    |from| u64::try_from(from.limits.call_timeout.as_millis()).unwrap_or(u64::MAX);

    "Time limit for a call that waits for a free slot of an upstream server, in milliseconds."
    "upstream-queue-timeout-ms" "upstream-queue-timeout-ms" setting Millis, "10000",
    |to, value| to.limits.queue_timeout = Duration::from_millis(value),
    |from| u64::try_from(from.limits.queue_timeout.as_millis()).unwrap_or(u64::MAX);

    "Maximum size of a reply of an upstream server, in bytes."
    "max-upstream-response-bytes" "max-upstream-response-bytes" setting Bytes, "2097152",
    |to, value| to.limits.max_response_bytes = value, |from| from.limits.max_response_bytes;

    "Maximum calls of upstream servers per program."
    "max-upstream-calls-per-program" "max-tool-calls" setting Count, "50",
    |to, value| to.limits.max_calls = value, |from| from.limits.max_calls;

    "Maximum catalogue lookups per program."
    "max-catalog-ops-per-program" "max-catalog-ops" setting Count, "25",
    |to, value| to.limits.max_catalog_ops = value, |from| from.limits.max_catalog_ops;

    "Maximum size of the result of one lookup, in bytes as JSON."
    "max-catalog-result-bytes" "max-catalog-result-bytes" setting Bytes, "262144",
    |to, value| to.limits.max_catalog_bytes = whole(value), |from| from.limits.max_catalog_bytes as u64;

    "What happens at the start if an upstream server is unavailable."
    "upstream-boot-policy" "upstream-boot-policy" setting
    Words(
        &["fail", "degrade"],
        &["Refuse to start.", "Start without it, and try it again when a program needs it."],
    ), "fail",
    |to, value| to.boot_policy = if value == 0 { BootPolicy::Fail } else { BootPolicy::Degrade },
    |from| u64::from(from.boot_policy == BootPolicy::Degrade);

    "Whether models see the tools of upstream servers, or only how to look them up."
    "catalog-mode" "catalog-mode" setting
    Words(
        &["auto", "inline", "lazy"],
        &["The tools, if there are few and all are known.", "The tools.", "Only the servers."],
    ), "auto",
    |to, value| to.rendering.mode = match value {
        0 => RenderMode::Auto,
        1 => RenderMode::Inline,
        _ => RenderMode::Lazy,
    },
    |from| match from.rendering.mode {
        RenderMode::Auto => 0,
        RenderMode::Inline => 1,
        RenderMode::Lazy => 2,
    };

    "Maximum length of a catalogue that `auto` shows whole, in characters."
    "catalog-inline-max-chars" "catalog-inline-max-chars" setting Count, "800",
    |to, value| to.rendering.inline_max_chars = whole(value), |from| from.rendering.inline_max_chars as u64;

    "Maximum tools that `auto` shows."
    "catalog-inline-max-tools" "catalog-inline-max-tools" setting Count, "8",
    |to, value| to.rendering.inline_max_tools = whole(value), |from| from.rendering.inline_max_tools as u64;
}

fn whole(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl OptionRow {
    /// Sets the option to a number.
    pub fn set_number(&self, options: &mut Options, number: u64) {
        (self.set)(options, number);
    }

    /// Sets the option to a word; false if the word is not one of its values.
    ///
    /// ```
    /// use ptc_upstream::{BootPolicy, OPTIONS, Options};
    /// let row = OPTIONS.iter().find(|row| row.name == "upstream-boot-policy").unwrap();
    /// let mut options = Options::default();
    /// assert!(row.set_word(&mut options, "degrade") && !row.set_word(&mut options, "hope"));
    /// assert_eq!((options.boot_policy, row.show(&options)), (BootPolicy::Degrade, "degrade".to_string()));
    /// ```
    pub fn set_word(&self, options: &mut Options, word: &str) -> bool {
        let Words(words, _) = self.kind else { return false };
        let at = words.iter().position(|known| *known == word);
        at.inspect(|at| (self.set)(options, *at as u64)).is_some()
    }

    /// Returns the value as text.
    pub fn show(&self, options: &Options) -> String {
        let value = (self.get)(options);
        match self.kind {
            Words(words, _) => {
                usize::try_from(value).map_or("", |at| words[at.min(words.len() - 1)]).to_string()
            }
            _ => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_of_the_table_are_those_of_the_options() {
        for row in OPTIONS {
            assert_eq!(row.show(&Options::default()), row.default, "{}", row.name);
            assert!(row.doc.ends_with('.'), "{}", row.name);
        }
    }
}
