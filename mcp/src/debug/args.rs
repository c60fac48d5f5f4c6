//! Arguments of `lisp_debug`.

use super::record::StoredCall;
use crate::args::{Argument, arguments, given, refuse_unknown, shown};
use crate::cut;
use crate::settings::Settings;
use serde_json::{Map, Value, json};
use std::time::{Duration, SystemTime};

/// Operation of the tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Stats,
    Recent,
    Get,
}

impl Op {
    pub fn name(self) -> &'static str {
        match self {
            Op::Stats => "stats",
            Op::Recent => "recent",
            Op::Get => "get",
        }
    }
}

arguments! {
    /// Arguments of `lisp_debug`.
    pub(crate) struct DebugArgs {
        op: Op;
        errors_only: Flag;
        since_seconds: UpTo<86_400>;
        limit: UpTo<200>;
        request_id: RequestId;
    }
}

impl DebugArgs {
    /// Reads the operation of a call, ignoring problems of other arguments.
    pub fn op(args: &Map<String, Value>) -> Result<Op, String> {
        Op::read("op", args.get("op").cloned(), &Settings::default())
    }

    /// Reads the arguments that the operation takes.
    pub fn of_op(args: &Map<String, Value>, settings: &Settings) -> Result<DebugArgs, String> {
        let op = DebugArgs::op(args)?;
        let names: &[&str] = match op {
            Op::Stats => &["op", "since_seconds", "errors_only"],
            Op::Recent => &["op", "since_seconds", "errors_only", "limit"],
            Op::Get => &["op", "request_id"],
        };
        refuse_unknown(args, names)?;
        let args = DebugArgs::read(args.clone(), settings)?;
        match op == Op::Get && args.request_id.is_none() {
            true => Err("argument `request_id` is required".to_string()),
            false => Ok(args),
        }
    }

    /// Returns the time from which calls are wanted; None if from the beginning.
    pub fn since(&self, now: SystemTime) -> Option<SystemTime> {
        self.since_seconds.map(|seconds| now - Duration::from_secs(seconds))
    }

    pub fn wants(&self, call: &StoredCall, now: SystemTime) -> bool {
        self.since(now).is_none_or(|since| call.at >= since) && !(self.errors_only && call.reason.is_none())
    }
}

impl Argument for Op {
    type Value = Op;
    const IS_REQUIRED: bool = true;

    fn schema() -> Value {
        json!({"type": "string", "enum": ["stats", "recent", "get"]})
    }

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<Op, String> {
        let Some(sent) = given(sent) else {
            return Err(format!("argument `{name}` is required: stats, recent or get"));
        };
        [Op::Stats, Op::Recent, Op::Get]
            .into_iter()
            .find(|known| sent == known.name())
            .ok_or_else(|| format!("argument `{name}` must be stats, recent or get, got {}", shown(&sent)))
    }
}

/// Kind of argument: a boolean, false if not sent.
pub(crate) struct Flag;

impl Argument for Flag {
    type Value = bool;

    fn schema() -> Value {
        json!({"type": "boolean"})
    }

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<bool, String> {
        match given(sent) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(format!("argument `{name}` must be true or false, got {}", shown(&other))),
        }
    }
}

/// Kind of argument: a number from 1 to `MOST`.
pub(crate) struct UpTo<const MOST: u64>;

impl<const MOST: u64> Argument for UpTo<MOST> {
    type Value = Option<u64>;

    fn schema() -> Value {
        json!({"type": "integer", "minimum": 1, "maximum": MOST})
    }

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<Option<u64>, String> {
        let Some(sent) = given(sent) else { return Ok(None) };
        let wrong =
            || format!("argument `{name}` must be a whole number from 1 to {MOST}, got {}", shown(&sent));
        sent.as_u64().filter(|n| (1..=MOST).contains(n)).map(Some).ok_or_else(wrong)
    }
}

/// Kind of argument: the id of a request, a string or a number.
pub(crate) struct RequestId;

impl Argument for RequestId {
    type Value = Option<String>;

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<Option<String>, String> {
        let id = match given(sent) {
            None => return Ok(None),
            Some(Value::String(id)) => id,
            Some(Value::Number(id)) => id.to_string(),
            Some(other) => {
                return Err(format!("argument `{name}` must be a string, got {}", shown(&other)));
            }
        };
        match id.len() {
            0 => Err(format!("argument `{name}` must be a non-empty string")),
            1..=256 => Ok(Some(id)),
            n => Err(format!(
                "argument `{name}` may have at most 256 bytes, got {n}: {:?}",
                cut::chars(&id, 80).0
            )),
        }
    }
}
