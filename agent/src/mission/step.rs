//! What a mission gives: the result, or why there is none, and how it came about.

use super::excerpt::described;
use ptc_bytecode::{Datum, Node};
use ptc_contract::keys::CacheKey;
use ptc_model::{Message, StopReason, Tokens};
use ptc_runtime::bridge::{datum_to_json, from_datum, json_to_datum};
use ptc_runtime::{BridgeError, Frozen, PreludeTrace};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// How much of a definition goes into the JSON form of a step.
const MEMORY_BYTES: usize = 16 << 20;

/// The result of a mission, or of what it delegated.
///
/// ```
/// use ptc_agent::{run, Agent, RunOptions};
/// use ptc_model::Scripted;
/// let agent = Agent::builder().prompt("Add").signature("{sum :int}").build()?;
/// let model = Scripted::new(["```clojure\n(return {:sum (+ 1 2)})\n```"]);
/// let step = run(&agent, &RunOptions::new().llm(ptc_agent::tools::LlmRef::client(model))).unwrap();
/// assert_eq!(step.json()?, serde_json::json!({"sum": 3}));
/// assert_eq!(step.usage.turns, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    /// The value, with its firewalled fields.
    #[serde(rename = "return", with = "as_json", skip_serializing_if = "Option::is_none")]
    pub returned: Option<Datum>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail: Option<Fail>,
    /// Definitions at the end.
    #[serde(with = "as_json_map", skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, Frozen>,
    /// The contract.
    pub signature: String,
    /// What it took.
    pub usage: Usage,
    /// The turns, unless the run was told not to keep them.
    #[serde(alias = "trace", skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// What its trace is called by.
    pub trace_id: String,
    /// The trace of the mission above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_trace_id: Option<String>,
    /// The agent's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Finished tasks, by id.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub journal: Map<String, Value>,
    /// Progress that was reported: id and text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<(String, String)>,
    /// A line for fields of the value; goes along when it is passed on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub field_descriptions: BTreeMap<String, String>,
    /// What the last program printed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prints: Vec<String>,
    /// What the last program called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CallRecord>,
    /// `pmap` and `pcalls` of the last program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pmap_calls: Vec<BranchRecord>,
    /// What the last program looked up of upstream servers, if the run had any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub catalog_ops: Vec<Value>,
    /// Answers of tools that are kept, for another run of the same mission.
    #[serde(skip)]
    pub tool_cache: BTreeMap<CacheKey, Frozen>,
    /// What was delegated, without its turns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub child_steps: Vec<Step>,
    /// The traces of what was delegated, where it is traced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub child_traces: Vec<String>,
    /// All messages, if the run was told to keep them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Message>>,
    /// The mission, filled in.
    pub prompt: String,
    /// The mission as it was written.
    pub original_prompt: String,
    /// Names of the tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What to record of the prelude.
    #[serde(skip)]
    pub prelude_trace: Option<Arc<PreludeTrace>>,
    /// What was coerced, cut or odd.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Step {
    /// A step that failed before anything was done.
    pub fn failed(fail: Fail) -> Step {
        Step { fail: Some(fail), ..Step::default() }
    }

    /// The same as the error of a mission.
    pub(crate) fn failing(fail: Fail) -> Box<Step> {
        Box::new(Step::failed(fail))
    }

    /// Whether there is a value.
    pub fn is_ok(&self) -> bool {
        self.fail.is_none()
    }

    /// The turns, by their older name.
    pub fn trace(&self) -> &[Turn] {
        &self.turns
    }

    /// The value as JSON; null if there is none.
    pub fn json(&self) -> Result<Value, BridgeError> {
        self.returned.as_ref().map_or(Ok(Value::Null), datum_to_json)
    }

    /// The value as a Rust type.
    ///
    /// ```
    /// use ptc_agent::Step;
    /// #[derive(serde::Deserialize)]
    /// struct Report { count: u32 }
    /// let step: Step = serde_json::from_str(r#"{"return": {"count": 3}}"#)?;
    /// assert_eq!(step.get::<Report>()?.count, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get<T: DeserializeOwned>(&self) -> Result<T, BridgeError> {
        from_datum(self.returned.as_ref().unwrap_or(&Datum::scalar(Node::Nil)))
    }

    /// Why there is no value; empty if there is one.
    pub fn reason(&self) -> &str {
        self.fail.as_ref().map_or("", |fail| &fail.reason)
    }

    /// As the steps of the mission above keep it.
    pub(crate) fn pruned(&self) -> Step {
        Step {
            turns: Vec::new(),
            messages: None,
            memory: BTreeMap::new(),
            prints: Vec::new(),
            ..self.clone()
        }
    }
}

/// Why a mission has no value.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Fail {
    /// A stable name, or the one a program chose.
    pub reason: String,
    /// What happened.
    pub message: String,
    /// What was being done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// More, for machines.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// Whether a program chose to fail, so that the reason is its own.
    #[serde(skip)]
    pub from_program: bool,
    /// The same without what is firewalled, if that differs.
    #[serde(skip)]
    pub(crate) public: Option<Box<Fail>>,
}

impl Fail {
    /// With this reason and message.
    pub fn new(reason: impl Into<String>, message: impl Into<String>) -> Fail {
        Fail { reason: reason.into(), message: message.into(), ..Fail::default() }
    }

    /// What models and traces are told of it: the same without what is firewalled.
    pub fn public(&self) -> &Fail {
        self.public.as_deref().unwrap_or(self)
    }

    /// The same with details.
    #[must_use]
    pub fn details(mut self, details: Value) -> Fail {
        self.details = details;
        self
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

/// A mission that failed, as an error of Rust.
#[derive(Clone)]
pub struct AgentError {
    /// The step; `fail` is set.
    pub step: Box<Step>,
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.step.fail {
            Some(fail) => fail.fmt(f),
            None => f.write_str("failed"),
        }
    }
}

impl fmt::Debug for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgentError({self})")
    }
}

impl std::error::Error for AgentError {}

/// Which kind of turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// One of several.
    #[default]
    Normal,
    /// The last one for work.
    MustReturn,
    /// One of those behind it.
    Retry,
}

impl TurnKind {
    /// As events and hosts spell it.
    pub fn name(self) -> &'static str {
        match self {
            TurnKind::Normal => "normal",
            TurnKind::MustReturn => "must_return",
            TurnKind::Retry => "retry",
        }
    }
}

/// One request to the model, and what was made of its reply.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Turn {
    /// From 1.
    pub number: u32,
    /// Which kind.
    #[serde(rename = "type")]
    pub kind: TurnKind,
    /// What the model said.
    pub raw_response: String,
    /// The program in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Its value, of a large one that did not end the mission the beginning; `{reason, message}` if the turn failed.
    #[serde(with = "as_json", skip_serializing_if = "Option::is_none")]
    pub result: Option<Datum>,
    /// What it printed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prints: Vec<String>,
    /// The same with what is firewalled, for traces that may show it.
    #[serde(skip)]
    pub(crate) clear_prints: Option<Vec<String>>,
    /// What it called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CallRecord>,
    /// The system message it was asked with.
    #[serde(with = "as_text", skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<Arc<str>>,
    /// What to record of the prelude.
    #[serde(skip)]
    pub prelude_trace: Option<Arc<PreludeTrace>>,
    /// Definitions after it.
    #[serde(with = "as_json_map", skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, Frozen>,
    /// Whether it did what it should.
    pub success: bool,
    /// Limits it ran into, by the reason a program or a mission has for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits_hit: Vec<String>,
    /// The messages it added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// Tokens of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Why the model stopped, where its provider tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// How long it took.
    pub duration_ms: u64,
}

/// One call of a tool.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRecord {
    /// Which tool.
    pub name: String,
    /// What it was given.
    pub args: Value,
    /// The hash that traces have of the arguments where something in them is firewalled: that of the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_args_hash: Option<String>,
    /// What it answered, up to 16 KiB.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// Whether `result` is only its beginning.
    #[serde(skip_serializing_if = "is_false")]
    pub is_cut: bool,
    /// Why it did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was called, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// How long it took.
    pub duration_ms: u64,
    /// Whether the answer was there already.
    pub cached: bool,
    /// `native` or `ptc_lisp`.
    pub layer: String,
    /// The export of a prelude that called it, or that is behind a tool which a model was offered by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The trace of the mission behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child_trace_id: Option<String>,
    /// What was coerced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What a call changes, as the tool says.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub effect: String,
}

/// One `pmap` or `pcalls`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BranchRecord {
    /// Which of the two.
    pub form: String,
    /// How many branches.
    pub count: u64,
    /// How many gave a value.
    pub success_count: u64,
    /// How many failed. The first failure ends the program, so the two need not add up.
    pub error_count: u64,
    /// The traces of what the branches delegated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub child_trace_ids: Vec<String>,
    /// How long it took.
    pub duration_ms: u64,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// What a mission took.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// How long.
    pub duration_ms: u64,
    /// Bytes of all definitions.
    pub memory_bytes: u64,
    /// Turns.
    pub turns: u32,
    /// Requests to the model, those that failed included.
    pub llm_requests: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Both.
    pub total_tokens: u64,
    /// Tokens the provider put aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
    /// Tokens the provider had put aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// About how long the system message is.
    pub system_prompt_tokens: u64,
    /// Whether a schema went with the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_used: Option<bool>,
    /// How long it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_bytes: Option<u64>,
    /// What was left out of the last request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Value>,
    /// Whether the value is that of an earlier turn.
    #[serde(skip_serializing_if = "is_false")]
    pub fallback_used: bool,
    /// This mission and everything below it.
    pub tree: TreeUsage,
}

/// What a mission and everything below it took.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TreeUsage {
    /// Turns.
    pub turns: u64,
    /// Requests to models.
    pub llm_requests: u64,
    /// Tokens read and written.
    pub total_tokens: u64,
    /// US dollars.
    pub cost_usd: f64,
}

mod as_text {
    use super::*;

    pub fn serialize<S: Serializer>(text: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
        text.as_deref().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Arc::from))
    }
}

/// Data in its JSON form; what has none becomes its printed form.
pub(crate) fn json_of(datum: &Datum) -> Value {
    use ptc_contract::data::{Shown, Tree, show};
    datum_to_json(datum).unwrap_or_else(|_| {
        datum_to_json(&ptc_contract::keys::normalize_keys(datum))
            .unwrap_or_else(|_| Value::String(show(Tree::new(datum).root(), Shown::default())))
    })
}

pub(crate) mod as_json {
    use super::*;

    pub fn serialize<S: Serializer>(value: &Option<Datum>, to: S) -> Result<S::Ok, S::Error> {
        value.as_ref().map(json_of).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Datum>, D::Error> {
        let value = Value::deserialize(from)?;
        json_to_datum(&value).map(Some).map_err(serde::de::Error::custom)
    }
}

/// For what comes back into a mission: firewalled values are marked in it.
pub(crate) mod as_marked_json {
    use super::*;
    use ptc_contract::firewall::{unwrap_marked, wrap_marked};

    pub fn serialize<S: Serializer>(value: &Option<Datum>, to: S) -> Result<S::Ok, S::Error> {
        value.as_ref().map(|value| json_of(&wrap_marked(value))).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Datum>, D::Error> {
        Ok(as_json::deserialize(from)?.map(|value| unwrap_marked(&value)))
    }
}

mod as_json_map {
    use super::*;

    pub fn serialize<S: Serializer>(values: &BTreeMap<String, Frozen>, to: S) -> Result<S::Ok, S::Error> {
        let json = |value: &Frozen| match value.to_datum(MEMORY_BYTES) {
            Ok(datum) => json_of(&datum),
            Err(_) => Value::String(format!("#<{}>", described(value))),
        };
        to.collect_map(values.iter().map(|(name, value)| (name, json(value))))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Frozen>, D::Error> {
        let values = BTreeMap::<String, Value>::deserialize(from)?;
        let frozen = |value: &Value| {
            let datum = json_to_datum(value).map_err(serde::de::Error::custom)?;
            Frozen::from_datum(&datum).map_err(serde::de::Error::custom)
        };
        values.iter().map(|(name, value)| Ok((name.clone(), frozen(value)?))).collect()
    }
}
