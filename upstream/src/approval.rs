//! Calls that a person has to agree to first.

use ptc_bytecode::Effects;
use ptc_bytecode::text::is_hidden;
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
    /// Whether some of it is firewalled: clients of models must not see that, so they cannot ask about the call.
    #[serde(default)]
    pub is_firewalled: bool,
}

impl Wish {
    /// Most bytes of arguments, as they are shown, that a person can be asked about.
    pub const MAX_SHOWN_BYTES: usize = 16 << 10;

    /// All of the arguments as a person is to see them: JSON, on a line if it is short, and characters that are not to
    /// be seen, or that turn the direction of others, written as escapes.
    ///
    /// ```
    /// use ptc_upstream::Wish;
    /// let args = serde_json::json!({"to": "evil\u{202e}moc.knab"});
    /// let wish = Wish { server: "bank".into(), tool: "pay".into(), args, is_firewalled: false };
    /// assert_eq!(wish.shown_args(), r#"{"to":"evil\u202emoc.knab"}"#);
    /// ```
    pub fn shown_args(&self) -> String {
        shown(&self.args)
    }

    /// Why nobody can be asked about it through a client of a model, if that is so. A question with `<Firewalled>` in
    /// it would have a person agree to what they cannot see, and programs can hide anything in that way.
    ///
    /// ```
    /// use ptc_upstream::Wish;
    /// let args = serde_json::json!({"to": "ada@engine.uk"});
    /// let wish = Wish { server: "bank".into(), tool: "pay".into(), args, is_firewalled: true };
    /// assert!(wish.unaskable_by_client().unwrap().contains("firewalled"));
    /// ```
    pub fn unaskable_by_client(&self) -> Option<&'static str> {
        self.is_firewalled.then_some(
            "the call needs a person's approval, and its arguments hold firewalled values, which cannot be shown in \
             the question; call the tool with values that are not firewalled",
        )
    }

    /// Why nobody can be asked about it, if it is too large to be shown.
    pub(crate) fn too_large(&self) -> Option<String> {
        let (bytes, most) = (self.shown_args().len(), Wish::MAX_SHOWN_BYTES);
        (bytes > most).then(|| {
            format!(
                "the call is too large to be approved: its arguments take {bytes} bytes to show, and {most} are \
                 allowed; split it into smaller calls"
            )
        })
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({"server": self.server, "tool": self.tool, "args": self.args, "is_firewalled": self.is_firewalled})
    }

    /// Reads what a held call asks; None if it is no wish of ours.
    pub fn of(held: &ptc_runtime::Held) -> Option<Wish> {
        Wish::deserialize(&held.question).ok()
    }
}

/// Longest arguments that are shown on one line, in bytes.
const SHORT_LINE: usize = 120;

fn shown(args: &Value) -> String {
    let line = escaped(&args.to_string());
    if line.len() <= SHORT_LINE {
        return line;
    }
    // A value in memory can always be written; line breaks within texts are escapes already.
    serde_json::to_string_pretty(args).map_or(line, |lines| escaped(&lines))
}

/// JSON in which every character can be seen.
fn escaped(json: &str) -> String {
    let mut units = [0; 2];
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        match is_hidden(c) && c != '\n' {
            false => shown.push(c),
            true => {
                for unit in c.encode_utf16(&mut units) {
                    shown.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    shown
}

/// How a call is made.
pub(crate) struct Manner {
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
