//! Approval of calls by a person.

use ptc_bytecode::Effects;
use ptc_runtime::effects::{MAX_SHOWN_BYTES, shown_json};
use serde::Deserialize;
use serde_json::{Value, json};

/// Rule for which calls of a server need a person's approval.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Approval {
    /// No call.
    #[default]
    Never,
    /// Calls of tools that do not declare themselves read-only.
    Writes,
    /// Every call.
    Always,
}

impl Approval {
    /// Parses the name that configuration files use.
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

    /// Returns whether a call with this effect needs approval.
    pub fn covers(self, effect: Effects) -> bool {
        match self {
            Approval::Never => false,
            Approval::Writes => effect.may_write(),
            Approval::Always => true,
        }
    }
}

/// A person's answer to a request for approval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The call is approved.
    Approved,
    /// The call must not be made; holds the message for the program.
    Denied(String),
}

impl Verdict {
    /// Message for a program whose call needs approval when nobody can be asked.
    pub const UNAVAILABLE: &str = "the call needs a person's approval, and nobody can be asked here";
}

/// A call waiting for approval, with what the person needs to know.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct ApprovalRequest {
    /// Name of the server.
    pub server: String,
    /// Name of the tool.
    pub tool: String,
    /// Arguments it would be called with, without secrets.
    pub args: Value,
    /// True if some arguments are firewalled. Clients of models must not see those, so they cannot be asked to approve.
    #[serde(default)]
    pub is_firewalled: bool,
}

impl ApprovalRequest {
    /// Maximum size of the arguments in a question, in bytes as shown.
    pub const MAX_SHOWN_BYTES: usize = MAX_SHOWN_BYTES;

    /// Returns all arguments as shown to a person: JSON, on one line if short. Invisible characters and
    /// characters that change the text direction are escaped.
    ///
    /// ```
    /// use ptc_upstream::ApprovalRequest;
    /// let args = serde_json::json!({"to": "evil\u{202e}moc.knab"});
    /// let request = ApprovalRequest { server: "bank".into(), tool: "pay".into(), args, is_firewalled: false };
    /// assert_eq!(request.shown_args(), r#"{"to":"evil\u202emoc.knab"}"#);
    /// ```
    pub fn shown_args(&self) -> String {
        shown_json(&self.args)
    }

    /// Explains why this call cannot be approved through a model's client, if so. With `<Firewalled>` in the
    /// question, a person would approve what they cannot see, and programs could hide anything that way.
    ///
    /// ```
    /// use ptc_upstream::ApprovalRequest;
    /// let args = serde_json::json!({"to": "ada@engine.uk"});
    /// let request = ApprovalRequest { server: "bank".into(), tool: "pay".into(), args, is_firewalled: true };
    /// assert!(request.unaskable_by_client().unwrap().contains("firewalled"));
    /// ```
    pub fn unaskable_by_client(&self) -> Option<&'static str> {
        self.is_firewalled.then_some(
            "the call needs a person's approval, and its arguments hold firewalled values, which cannot be shown in \
             the question; call the tool with values that are not firewalled",
        )
    }

    /// Explains why nobody can be asked about the call if it is too large to show.
    pub(crate) fn too_large(&self) -> Option<String> {
        let (bytes, most) = (self.shown_args().len(), ApprovalRequest::MAX_SHOWN_BYTES);
        (bytes > most).then(|| {
            format!(
                "the call is too large to be approved: its arguments take {bytes} bytes to show, at most \
                 {most} are allowed; split it into smaller calls"
            )
        })
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({"server": self.server, "tool": self.tool, "args": self.args, "is_firewalled": self.is_firewalled})
    }

    /// Reads the question of a held call; None if this crate did not write it.
    pub fn of(held: &ptc_runtime::Held) -> Option<ApprovalRequest> {
        ApprovalRequest::deserialize(&held.question).ok()
    }
}

/// Conditions under which a call is made.
pub(crate) struct Manner {
    /// True if tools not known to be read-only are refused.
    pub is_read_only: bool,
    pub consent: Consent,
}

/// State of the approval of a call.
pub(crate) enum Consent {
    /// Nobody can be asked.
    Unavailable,
    /// The call can be held until a person has been asked.
    Askable,
    /// A person has answered.
    Said(Verdict),
}
