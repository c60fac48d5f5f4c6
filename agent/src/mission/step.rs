//! Results of missions: the value or the failure, and the record of the run.

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

/// Maximum bytes of a definition in the JSON form of a step.
const MEMORY_BYTES: usize = 16 << 20;

/// Result of a mission, including delegated ones.
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
    /// Value, with its firewalled fields.
    #[serde(rename = "return", with = "as_json", skip_serializing_if = "Option::is_none")]
    pub returned: Option<Datum>,
    /// Failure, if there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail: Option<Fail>,
    /// Definitions at the end.
    #[serde(with = "as_json_map", skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, Frozen>,
    /// Contract of the agent.
    pub signature: String,
    /// Usage: time, turns, tokens, cost.
    pub usage: Usage,
    /// Turns, unless the run was told not to keep them.
    #[serde(alias = "trace", skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// Id of the trace.
    pub trace_id: String,
    /// Id of the trace of the parent mission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_trace_id: Option<String>,
    /// Name of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Finished tasks, by id.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub journal: Map<String, Value>,
    /// Progress reported by programs: id and text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<(String, String)>,
    /// Descriptions of the value's fields, passed on with it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub field_descriptions: BTreeMap<String, String>,
    /// Texts printed by the last program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prints: Vec<String>,
    /// Tool calls of the last program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CallRecord>,
    /// Records of `pmap` and `pcalls` in the last program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pmap_calls: Vec<BranchRecord>,
    /// Lookups of upstream servers by the last program, if the run had any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub catalog_ops: Vec<Value>,
    /// Cached tool results, for another run of the same mission.
    #[serde(skip)]
    pub tool_cache: BTreeMap<CacheKey, Frozen>,
    /// Steps of delegated missions, without their turns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub child_steps: Vec<Step>,
    /// Traces of delegated missions, if they are traced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub child_traces: Vec<String>,
    /// All messages, if the run was told to keep them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Message>>,
    /// Mission, with its placeholders filled.
    pub prompt: String,
    /// Source text of the mission.
    pub original_prompt: String,
    /// Names of the tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Prelude information for records.
    #[serde(skip)]
    pub prelude_trace: Option<Arc<PreludeTrace>>,
    /// Warnings: coercions, cuts and other remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Step {
    /// Returns a step that failed before it began.
    pub fn failed(fail: Fail) -> Step {
        Step { fail: Some(fail), ..Step::default() }
    }

    /// Returns a failed step as the error of a mission.
    pub(crate) fn failing(fail: Fail) -> Box<Step> {
        Box::new(Step::failed(fail))
    }

    /// Returns whether there is a value.
    pub fn is_ok(&self) -> bool {
        self.fail.is_none()
    }

    /// Returns the turns, by their older name.
    pub fn trace(&self) -> &[Turn] {
        &self.turns
    }

    /// Returns the value as JSON; null if there is none.
    pub fn json(&self) -> Result<Value, BridgeError> {
        self.returned.as_ref().map_or(Ok(Value::Null), datum_to_json)
    }

    /// Returns the value as a Rust type.
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

    /// Returns the reason of the failure; empty if there is a value.
    pub fn reason(&self) -> &str {
        self.fail.as_ref().map_or("", |fail| &fail.reason)
    }

    /// Returns the step as the mission above keeps it.
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

/// Failure of a mission.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Fail {
    /// Stable name of the reason, or the one that a program chose.
    pub reason: String,
    /// Description of the failure.
    pub message: String,
    /// Operation that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Details for machines.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// Flag: a program chose to fail, so the reason is its own.
    #[serde(skip)]
    pub from_program: bool,
    /// Failure without its firewalled parts, if that differs.
    #[serde(skip)]
    pub(crate) public: Option<Box<Fail>>,
}

impl Fail {
    /// Returns a failure with this reason and message.
    pub fn new(reason: impl Into<String>, message: impl Into<String>) -> Fail {
        Fail { reason: reason.into(), message: message.into(), ..Fail::default() }
    }

    /// Returns the failure for models and traces: without its firewalled parts.
    pub fn public(&self) -> &Fail {
        self.public.as_deref().unwrap_or(self)
    }

    /// Adds details.
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

/// Failed mission, as a Rust error.
#[derive(Clone)]
pub struct AgentError {
    /// Step of the mission, with `fail` set.
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

/// The kind of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// Work turn before the last one.
    #[default]
    Normal,
    /// Last work turn.
    MustReturn,
    /// A turn after the work turns.
    Retry,
}

impl TurnKind {
    /// Returns the name used in events and by hosts.
    pub fn name(self) -> &'static str {
        match self {
            TurnKind::Normal => "normal",
            TurnKind::MustReturn => "must_return",
            TurnKind::Retry => "retry",
        }
    }
}

/// Record of one request to the model and the handling of its reply.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Turn {
    /// Number of the turn, from 1.
    pub number: u32,
    /// Kind of the turn.
    #[serde(rename = "type")]
    pub kind: TurnKind,
    /// Text of the reply.
    pub raw_response: String,
    /// Program in the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Value of the program, cut if it is large and did not end the mission; `{reason, message}` if the turn failed.
    #[serde(with = "as_json", skip_serializing_if = "Option::is_none")]
    pub result: Option<Datum>,
    /// Texts printed by the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prints: Vec<String>,
    /// Printed texts including firewalled parts, for traces that may show them.
    #[serde(skip)]
    pub(crate) clear_prints: Option<Vec<String>>,
    /// Tool calls of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CallRecord>,
    /// System message of the request.
    #[serde(with = "as_text", skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<Arc<str>>,
    /// Prelude information for records.
    #[serde(skip)]
    pub prelude_trace: Option<Arc<PreludeTrace>>,
    /// Definitions after the turn.
    #[serde(with = "as_json_map", skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, Frozen>,
    /// Flag: the turn succeeded.
    pub success: bool,
    /// Limits that the turn ran into, named by the reasons of programs and missions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits_hit: Vec<String>,
    /// Messages that the turn added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// Tokens of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Reason why the model stopped, if its provider reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// Duration in milliseconds.
    pub duration_ms: u64,
}

/// Record of one tool call.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRecord {
    /// Name of the tool.
    pub name: String,
    /// Operation of an upstream server, as `server/tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Arguments of the call.
    pub args: Value,
    /// Hash of the arguments for traces, without firewalled parts; None if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_args_hash: Option<String>,
    /// Result of the tool, up to 16 KiB.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// Flag: `result` is only the beginning of the tool's result.
    #[serde(skip_serializing_if = "is_false")]
    pub is_cut: bool,
    /// Error, if there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Time of the call, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Flag: the result came from the cache.
    pub cached: bool,
    /// Layer of the caller: `native` or `ptc_lisp`.
    pub layer: String,
    /// Prelude export that made the call, or that a tool offered by name stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Trace of the mission that the call started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child_trace_id: Option<String>,
    /// Coercions and values that do not fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Effect of a call, as the tool states it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub effect: String,
    /// Flag: the ledger holds the call, or a person approved it.
    #[serde(skip_serializing_if = "is_false")]
    pub is_covered: bool,
}

/// Record of one `pmap` or `pcalls`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BranchRecord {
    /// Name of the form: `pmap` or `pcalls`.
    pub form: String,
    /// Number of branches.
    pub count: u64,
    /// Number of branches that returned a value.
    pub success_count: u64,
    /// Number of branches that failed. The first failure ends the program, so the two need not add up.
    pub error_count: u64,
    /// Traces of missions that the branches delegated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub child_trace_ids: Vec<String>,
    /// Duration in milliseconds.
    pub duration_ms: u64,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Usage of a mission.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Bytes of all definitions.
    pub memory_bytes: u64,
    /// Number of turns.
    pub turns: u32,
    /// Requests to the model, including failed ones.
    pub llm_requests: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read and written.
    pub total_tokens: u64,
    /// Tokens written to the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
    /// Tokens read from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Cost in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Estimated tokens of the system message.
    pub system_prompt_tokens: u64,
    /// Flag: requests carried a schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_used: Option<bool>,
    /// Bytes of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_bytes: Option<u64>,
    /// Compaction of the last request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Value>,
    /// Flag: the value is that of an earlier turn.
    #[serde(skip_serializing_if = "is_false")]
    pub fallback_used: bool,
    /// Usage of this mission and everything it delegates.
    pub tree: TreeUsage,
}

/// Usage of a mission and everything it delegates.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TreeUsage {
    /// Number of turns.
    pub turns: u64,
    /// Requests to models.
    pub llm_requests: u64,
    /// Tokens read and written.
    pub total_tokens: u64,
    /// Cost in US dollars.
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

/// Converts data to JSON, or to its printed form if it has no JSON form.
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

/// Serialisation of data that a mission reads back: firewalled values are marked.
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
