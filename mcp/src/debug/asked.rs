//! The arguments of `lisp_debug`.

use super::record::Stored;
use crate::args::known;
use crate::cut;
use serde_json::{Map, Value};
use std::time::{Duration, SystemTime};

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
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

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct Asked {
    pub op: Op,
    since_seconds: Option<u64>,
    errors_only: bool,
    pub limit: usize,
    pub request_id: String,
}

impl Asked {
    pub fn op(args: &Map<String, Value>) -> Result<Op, String> {
        match args.get("op") {
            None | Some(Value::Null) => Err("argument `op` is required: stats, recent or get".to_string()),
            Some(op) => [Op::Stats, Op::Recent, Op::Get]
                .into_iter()
                .find(|known| op == known.name())
                .ok_or_else(|| format!("argument `op` must be stats, recent or get, got {}", shown(op))),
        }
    }

    pub fn read(args: &Map<String, Value>) -> Result<Asked, String> {
        let op = Asked::op(args)?;
        let names: &[&str] = match op {
            Op::Stats => &["op", "since_seconds", "errors_only"],
            Op::Recent => &["op", "since_seconds", "errors_only", "limit"],
            Op::Get => &["op", "request_id"],
        };
        known(args, names)?;
        let errors_only = match args.get("errors_only") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(only)) => *only,
            Some(other) => {
                return Err(format!("argument `errors_only` must be true or false, got {}", shown(other)));
            }
        };
        Ok(Asked {
            op,
            since_seconds: number(args, "since_seconds", 86_400)?,
            errors_only,
            limit: number(args, "limit", 200)?.unwrap_or(20) as usize,
            request_id: if op == Op::Get { request_id(args)? } else { String::new() },
        })
    }

    /// When the calls that are asked for begin.
    pub fn since(&self, now: SystemTime) -> Option<SystemTime> {
        self.since_seconds.map(|seconds| now - Duration::from_secs(seconds))
    }

    pub fn wants(&self, call: &Stored, now: SystemTime) -> bool {
        self.since(now).is_none_or(|since| call.at >= since) && !(self.errors_only && call.reason.is_none())
    }
}

fn number(args: &Map<String, Value>, name: &str, most: u64) -> Result<Option<u64>, String> {
    let Some(value) = args.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
    let fits = value.as_u64().filter(|n| (1..=most).contains(n));
    let wrong = || format!("argument `{name}` must be a whole number from 1 to {most}, got {}", shown(value));
    fits.map(Some).ok_or_else(wrong)
}

fn request_id(args: &Map<String, Value>) -> Result<String, String> {
    let id = match args.get("request_id") {
        None | Some(Value::Null) => return Err("argument `request_id` is required".to_string()),
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        Some(other) => return Err(format!("argument `request_id` must be a string, got {}", shown(other))),
    };
    match id.len() {
        0 => Err("argument `request_id` must be a non-empty string".to_string()),
        1..=256 => Ok(id),
        n => Err(format!(
            "argument `request_id` may have at most 256 bytes, got {n}: {:?}",
            cut::chars(&id, 80).0
        )),
    }
}

/// A value as an error shows it.
fn shown(value: &Value) -> String {
    cut::chars(&value.to_string(), 80).0.to_string()
}
