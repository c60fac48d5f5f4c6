//! Calls that a person has to agree to first.

use ptc_bytecode::Effects;
use serde::Deserialize;
use serde_json::{Value, json};

/// Which calls of a server need a person's approval.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Approval {
    /// None.
    #[default]
    Never,
    /// Those of tools that do not say that they only read.
    Writes,
    /// All.
    Always,
}

impl Approval {
    /// As the file says it.
    ///
    /// ```
    /// use ptc_upstream::Approval;
    /// assert_eq!(Approval::from_name("writes"), Some(Approval::Writes));
    /// assert_eq!(Approval::from_name("sometimes"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Approval> {
        match name {
            "never" => Some(Approval::Never),
            "writes" => Some(Approval::Writes),
            "always" => Some(Approval::Always),
            _ => None,
        }
    }

    /// Whether a call with this effect needs it.
    pub fn covers(self, effect: Effects) -> bool {
        match self {
            Approval::Never => false,
            Approval::Writes => effect.may_write(),
            Approval::Always => true,
        }
    }
}

/// What a person has said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The call may be made.
    Approved,
    /// It may not, and this is what the program is told.
    Denied(String),
}

impl Verdict {
    /// What a program is told whose call needs approval where nobody can be asked.
    pub const UNAVAILABLE: &str = "the call needs a person's approval, and nobody can be asked here";
}

/// A call that waits for a person: what they have to know.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Wish {
    /// The server.
    pub server: String,
    /// Its tool.
    pub tool: String,
    /// What it would be given, without secrets.
    pub args: Value,
}

impl Wish {
    pub(crate) fn to_json(&self) -> Value {
        json!({"server": self.server, "tool": self.tool, "args": self.args})
    }

    /// Reads what a held call asks; None if it is no wish of ours.
    pub fn of(held: &ptc_runtime::Held) -> Option<Wish> {
        Wish::deserialize(&held.question).ok()
    }
}

/// How a call is made.
pub(crate) struct Manner {
    /// Whether what the server answers is scrubbed, too: it goes to a model as it is.
    pub is_scrubbing: bool,
    /// Whether tools that are not known to only read are refused.
    pub is_read_only: bool,
    pub consent: Consent,
}

/// Where a call stands that needs approval.
pub(crate) enum Consent {
    /// Nobody can be asked.
    Unavailable,
    /// It can be put off until somebody was.
    Askable,
    /// Somebody was.
    Said(Verdict),
}
