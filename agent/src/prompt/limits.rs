//! Options on what prompts show, and where.

use serde::{Deserialize, Serialize};

/// Place of the log of finished tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissionLogIn {
    /// The messages, so that the system message stays the same.
    #[default]
    UserMessage,
    /// The system message, which then changes as tasks are finished.
    SystemPrompt,
}

/// The option `format_options`: limits on shown results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FormatOptions {
    /// Items shown of a list in feedback, if other than `prompt_limit.list`.
    pub feedback_limit: Option<usize>,
    /// Characters of one block of feedback.
    pub feedback_max_chars: usize,
    /// Characters of one definition.
    pub preview_max_chars: usize,
    /// Characters of one print.
    pub max_print_length: usize,
    /// Items of a list in the host's text of a result.
    pub result_limit: usize,
    /// Characters of the host's text of a result.
    pub result_max_chars: usize,
    /// Maximum bytes of a value kept whole as `*1 *2 *3`.
    pub history_max_bytes: usize,
    /// Place of the log of finished tasks.
    pub mission_log_in: MissionLogIn,
    /// Flag: turns are only reported when few are left.
    pub minimal_turn_info: bool,
}

impl Default for FormatOptions {
    fn default() -> FormatOptions {
        FormatOptions {
            feedback_limit: None,
            feedback_max_chars: 2000,
            preview_max_chars: 250,
            max_print_length: 2000,
            result_limit: 50,
            result_max_chars: 500,
            history_max_bytes: 65_536,
            mission_log_in: MissionLogIn::UserMessage,
            minimal_turn_info: false,
        }
    }
}
