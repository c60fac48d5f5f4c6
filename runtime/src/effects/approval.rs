//! Approval by a person: which calls are asked about, what the person sees, and what they may answer. One mechanism for
//! hosts, commands, agents and the MCP server.

use ptc_bytecode::text::is_hidden;
use ptc_effects::EffectId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum size of the arguments in a question, in bytes as shown.
pub const MAX_SHOWN_BYTES: usize = 16 << 10;

/// Maximum number of earlier calls that a person is shown.
const MAX_EARLIER: usize = 200;

/// Maximum length of the arguments of an earlier call, in characters.
const EARLIER_ARGS: usize = 200;

/// A call that a person is asked about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Id of the call.
    pub id: EffectId,
    /// Name of the tool; `server.tool` for a tool of a server.
    pub tool: String,
    /// Arguments, without secrets and firewalled values.
    pub args: Value,
    /// Effect of the tool: `read`, `write` or `unknown`.
    pub effect: String,
    /// Line of the program that makes the call, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Text of that line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Arguments that the person may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub editable: Vec<String>,
    /// True if some arguments are firewalled, so that they are not shown.
    #[serde(default)]
    pub is_firewalled: bool,
}

impl Question {
    /// Returns all arguments as a person is shown them: JSON, on one line if short. Invisible characters, and characters that
    /// change the direction of text, are escaped.
    pub fn shown_args(&self) -> String {
        shown(&self.args)
    }

    /// Explains why nobody can be asked about the call, if so: a person cannot agree to what they cannot see.
    pub fn unaskable(&self) -> Option<String> {
        if self.is_firewalled {
            return Some(
                "the call needs a person's approval, and its arguments hold firewalled values, which cannot be shown in \
                 the question; call the tool with values that are not firewalled"
                    .to_string(),
            );
        }
        let bytes = self.shown_args().len();
        (bytes > MAX_SHOWN_BYTES).then(|| {
            format!(
                "the call is too large to be approved: its arguments take {bytes} bytes to show, at most \
                 {MAX_SHOWN_BYTES} are allowed; split it into smaller calls"
            )
        })
    }

    /// Reads the question of a held call; None if it is another kind of question.
    pub fn of(held: &Value) -> Option<Question> {
        Question::deserialize(held).ok()
    }
}

/// Maximum length of arguments shown on one line, in bytes.
const SHORT_LINE: usize = 120;

/// Returns JSON as a person is shown it.
pub fn shown(args: &Value) -> String {
    let line = escaped(&args.to_string());
    if line.len() <= SHORT_LINE {
        return line;
    }
    // A value in memory can always be written; line breaks within strings are already escaped.
    serde_json::to_string_pretty(args).map_or(line, |lines| escaped(&lines))
}

/// Escapes all invisible characters of a JSON text.
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

/// Decision of a policy about a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The call is made.
    Allow,
    /// A person is asked, who may change these arguments.
    Ask {
        /// Names of arguments.
        editable: Vec<String>,
    },
    /// The call is not made; holds the reason, for the program.
    Deny(String),
}

/// A policy about calls that may change something.
pub trait Policy: Send + Sync + fmt::Debug {
    /// Decides about a call of a tool with these arguments. Firewalled ones are in clear.
    fn decide(&self, tool: &str, args: &Value) -> Decision;
}

/// A person's answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// The call is made.
    Once,
    /// The call is made, and so is every equal call of this run.
    Equal,
    /// The call is made with these arguments instead.
    Edited(Map<String, Value>),
    /// The call is not made; holds the reason, for the program.
    Denied(String),
}

/// A call of the run that was made, or refused, before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Earlier {
    /// Name of the tool.
    pub tool: String,
    /// Beginning of its arguments.
    pub args: String,
    /// What became of it: `done`, `failed`, `denied` or `unknown`.
    pub outcome: &'static str,
}

/// Answers to questions, in their order.
pub type Answers<'a> = Pin<Box<dyn Future<Output = Vec<Answer>> + Send + 'a>>;

/// Somebody who can be asked.
pub trait Approver: Send + Sync {
    /// Asks about calls that a run waits for: several if branches of the run wait at the same time. A question without an
    /// answer counts as denied.
    fn ask<'a>(&'a self, questions: &'a [Question], earlier: &'a [Earlier]) -> Answers<'a>;
}

/// Approval of the calls of a run, or of the runs of a mission.
#[derive(Clone)]
pub struct Approvals(Arc<Inner>);

struct Inner {
    policy: Arc<dyn Policy>,
    approver: Option<Arc<dyn Approver>>,
    /// True if the host asks: held calls are given to it.
    is_holding: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answers: HashMap<EffectId, Answer>,
    /// Tools and hashes of arguments that are allowed for the rest of the run.
    equal: HashSet<(String, String)>,
    earlier: Vec<Earlier>,
}

/// What is to be done with a call.
#[derive(Debug)]
pub(crate) enum Consent {
    /// Make it.
    Given,
    /// Hold it until this question is answered.
    Asked(Box<Question>),
    /// Do not make it.
    Refused(String),
}

impl Approvals {
    /// Text for a program whose call needs approval when nobody can be asked.
    pub const UNAVAILABLE: &str = "the call needs a person's approval, and nobody can be asked here";

    /// Makes approvals by a policy, without anybody who could be asked: what the policy does not allow is denied.
    pub fn new(policy: Arc<dyn Policy>) -> Approvals {
        Approvals(Arc::new(Inner { policy, approver: None, is_holding: false, state: Mutex::default() }))
    }

    /// Asks this person. The drivers of runs wait for the answer.
    #[must_use]
    pub fn by(self, approver: Arc<dyn Approver>) -> Approvals {
        let policy = self.0.policy.clone();
        Approvals(Arc::new(Inner {
            policy,
            approver: Some(approver),
            is_holding: true,
            state: Mutex::default(),
        }))
    }

    /// Gives calls to the host that a person is to be asked about: [`until_held`](crate::until_held) returns them, and
    /// [`Approvals::answer`] takes the answers.
    #[must_use]
    pub fn held(self) -> Approvals {
        let policy = self.0.policy.clone();
        Approvals(Arc::new(Inner { policy, approver: None, is_holding: true, state: Mutex::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn approver(&self) -> Option<Arc<dyn Approver>> {
        self.0.approver.clone()
    }

    /// Returns what the runs with these approvals did so far.
    pub fn earlier(&self) -> Vec<Earlier> {
        self.state().earlier.clone()
    }

    /// Takes a person's answer to a question. An answer that the question does not permit denies the call: arguments were
    /// changed that may not be, or the policy denies the changed call.
    pub fn answer(&self, question: &Question, answer: Answer) {
        let answer = match (&answer, question.unaskable()) {
            // Such a call was never asked about, whatever the answer says.
            (Answer::Once | Answer::Equal | Answer::Edited(_), Some(why)) => Answer::Denied(why),
            (Answer::Edited(args), None) => match self.edited(question, args) {
                Ok(()) => answer,
                Err(why) => Answer::Denied(why),
            },
            _ => answer,
        };
        self.state().answers.insert(question.id.clone(), answer);
    }

    fn edited(&self, question: &Question, args: &Map<String, Value>) -> Result<(), String> {
        let empty = Map::new();
        let before = question.args.as_object().unwrap_or(&empty);
        let changed = args.keys().chain(before.keys()).find(|name| {
            args.get(*name) != before.get(*name) && !question.editable.iter().any(|known| known == *name)
        });
        if let Some(name) = changed {
            return Err(format!("the argument `{name}` was changed, which the policy does not allow"));
        }
        match self.0.policy.decide(&question.tool, &Value::Object(args.clone())) {
            Decision::Deny(why) => Err(why),
            Decision::Allow | Decision::Ask { .. } => Ok(()),
        }
    }

    /// True if a person approved the call itself.
    pub(crate) fn is_approved(&self, id: &EffectId) -> bool {
        matches!(self.state().answers.get(id), Some(Answer::Once | Answer::Equal | Answer::Edited(_)))
    }

    /// True if a person has answered the question about a call.
    pub(crate) fn is_answered(&self, id: &EffectId) -> bool {
        self.state().answers.contains_key(id)
    }

    /// Returns the arguments that a person set for a call.
    pub(crate) fn edited_args(&self, id: &EffectId) -> Option<Map<String, Value>> {
        match self.state().answers.get(id) {
            Some(Answer::Edited(args)) => Some(args.clone()),
            _ => None,
        }
    }

    /// Decides about a call: `args` are all of its arguments, and `hash` stands for them. `must_ask` is set if the host asks
    /// about the call whatever the policy says.
    pub(crate) fn consent(&self, question: Question, args: &Value, hash: &str, must_ask: bool) -> Consent {
        let call = (question.tool.clone(), hash.to_string());
        let decided = {
            let mut state = self.state();
            match state.answers.get(&question.id).cloned() {
                None if state.equal.contains(&call) => Some(Consent::Given),
                None => None,
                Some(Answer::Denied(why)) => Some(Consent::Refused(why)),
                Some(answer) => {
                    if answer == Answer::Equal {
                        state.equal.insert(call);
                    }
                    Some(Consent::Given)
                }
            }
        };
        if let Some(decided) = decided {
            return decided;
        }
        let editable = match self.0.policy.decide(&question.tool, args) {
            Decision::Deny(why) => return Consent::Refused(why),
            Decision::Allow if !must_ask => return Consent::Given,
            Decision::Allow => Vec::new(),
            Decision::Ask { editable } => editable,
        };
        let question = Question { editable, ..question };
        match question.unaskable() {
            Some(why) => Consent::Refused(why),
            None if self.0.is_holding => Consent::Asked(Box::new(question)),
            None => Consent::Refused(Approvals::UNAVAILABLE.to_string()),
        }
    }

    /// Notes what became of a call.
    pub(crate) fn note(&self, tool: &str, args: &Value, outcome: &'static str) {
        let mut state = self.state();
        if state.earlier.len() < MAX_EARLIER {
            let line = escaped(&args.to_string());
            let args = match line.char_indices().nth(EARLIER_ARGS) {
                Some((at, _)) => format!("{}…", &line[..at]),
                None => line,
            };
            state.earlier.push(Earlier { tool: tool.to_string(), args, outcome });
        }
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals").field("policy", &self.0.policy).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug)]
    struct Ask;

    impl Policy for Ask {
        fn decide(&self, tool: &str, args: &Value) -> Decision {
            match tool {
                "deny" => Decision::Deny("never".to_string()),
                _ if args["eur"].as_i64().is_some_and(|eur| eur > 100) => {
                    Decision::Deny("too much".to_string())
                }
                _ => Decision::Ask { editable: vec!["eur".to_string()] },
            }
        }
    }

    fn question(tool: &str, key: &str, args: Value) -> Question {
        Question {
            id: EffectId::new("r", key),
            tool: tool.to_string(),
            args,
            effect: "write".to_string(),
            line: None,
            code: None,
            editable: Vec::new(),
            is_firewalled: false,
        }
    }

    #[test]
    fn answers_are_held_against_the_question() {
        let approvals = Approvals::new(Arc::new(Ask)).held();
        let ask = |key: &str, args: Value| match approvals.consent(
            question("pay", key, args.clone()),
            &args,
            "h",
            false,
        ) {
            Consent::Asked(question) => *question,
            other => panic!("{other:?}"),
        };
        let args = json!({"eur": 5, "to": "ada"});
        let asked = ask("1", args.clone());
        assert_eq!(asked.editable, ["eur"]);
        let again = |key: &str| approvals.consent(question("pay", key, args.clone()), &args, "h", false);
        let edit = |eur: i64, to: &str| {
            let map = json!({"eur": eur, "to": to}).as_object().cloned().unwrap_or_default();
            approvals.answer(&asked, Answer::Edited(map));
            again("1")
        };
        assert!(matches!(edit(4, "ada"), Consent::Given));
        assert!(matches!(edit(4, "eve"), Consent::Refused(why) if why.contains("`to`")));
        assert!(matches!(edit(101, "ada"), Consent::Refused(why) if why == "too much"));
        approvals.answer(&ask("2", args.clone()), Answer::Equal);
        assert!(matches!(again("2"), Consent::Given));
        assert!(matches!(again("3"), Consent::Given), "an equal call");
        let other = approvals.consent(question("pay", "4", args.clone()), &args, "other", false);
        assert!(matches!(other, Consent::Asked(_)), "other arguments");
    }

    #[test]
    fn nobody_agrees_to_what_they_cannot_see() {
        let approvals = Approvals::new(Arc::new(Ask)).held();
        let hidden = Question { is_firewalled: true, ..question("pay", "1", json!({})) };
        assert!(matches!(approvals.consent(hidden.clone(), &json!({}), "h", false), Consent::Refused(_)));
        approvals.answer(&hidden, Answer::Once);
        assert!(matches!(approvals.consent(hidden, &json!({}), "h", false), Consent::Refused(_)));
        let large = json!({"pad": " ".repeat(MAX_SHOWN_BYTES), "to": "eve"});
        let large = approvals.consent(question("pay", "2", large.clone()), &large, "h", false);
        assert!(matches!(large, Consent::Refused(why) if why.contains("too large")));
        assert_eq!(shown(&json!({"to": "evil\u{202e}moc.knab"})), r#"{"to":"evil\u202emoc.knab"}"#);
        let alone =
            Approvals::new(Arc::new(Ask)).consent(question("pay", "1", json!({})), &json!({}), "h", false);
        assert!(matches!(alone, Consent::Refused(why) if why == Approvals::UNAVAILABLE));
    }
}
