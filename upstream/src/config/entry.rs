//! One entry of `upstreams`.

use super::auth::{Emitter, Source, emitters, static_headers};
use super::error::ConfigError;
use super::fields::Fields;
use super::place::Surroundings;
use super::template::{Piece, pieces};
use super::transports::{TRANSPORTS, Transport, TransportRow};
use crate::approval::Approval;
use crate::policy::{Policy, Rate, ToolLimits};
use ptc_bytecode::Effects;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// A server as the file describes it, without secrets: those are read when it is started.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the server.
    pub name: String,
    /// Purpose of the server, from the file.
    pub description: Option<String>,
    /// Credentials sent to it, and the headers they are sent in.
    pub auth: Vec<Emitter>,
    pub(super) static_headers: Vec<(String, String)>,
    pub(super) env: Vec<(String, Vec<Piece>)>,
    transport_name: &'static str,
    /// Transport and its settings; the environment of a child process is filled in later.
    pub(super) transport: Transport,
    pub(super) raw_envelope: Option<bool>,
    pub(super) raw_tools: BTreeMap<String, bool>,
    pub(super) approval: Approval,
    pub(super) approval_tools: BTreeMap<String, Approval>,
    pub(super) trusts_annotations: bool,
    pub(super) effect: Option<Effects>,
    pub(super) effect_tools: BTreeMap<String, Effects>,
    pub(super) policy: Policy,
    /// False if the server is not used for now.
    pub is_enabled: bool,
}

impl Entry {
    /// Returns the transport's name in configuration files.
    pub fn transport(&self) -> &'static str {
        self.transport_name
    }

    /// Returns whether results of a tool carry the whole reply under `:raw`.
    pub fn has_raw_envelope(&self, tool: &str, default: bool) -> bool {
        self.raw_tools.get(tool).copied().or(self.raw_envelope).unwrap_or(default)
    }
}

/// Context for reading an entry.
pub(super) struct Reading<'r> {
    pub credentials: &'r BTreeMap<String, Source>,
    pub around: &'r Surroundings,
    /// Directory of the file.
    pub dir: &'r Path,
}

impl Reading<'_> {
    pub fn entry(&self, name: &str, value: &Value) -> Result<Entry, ConfigError> {
        let place = format!("upstream '{}'", name.chars().take(80).collect::<String>());
        if !is_name(name) {
            let message =
                "needs another name: a letter or digit, then letters, digits, `_`, `.` and `-`, at most 64";
            return Err(ConfigError::new(&place, "", message));
        }
        let fields = Fields::new(&place, "", value)?;
        let transport = TransportRow::named(&fields)?;
        fields.only(&transport.fields.concat(), |key| {
            let owner = TRANSPORTS.iter().find(|other| other.fields.concat().contains(&key))?;
            Some(format!("the transport {}", owner.name))
        })?;
        let auth = emitters(&fields, self.credentials)?;
        let static_headers = static_headers(&fields, &auth)?;
        let tools = exceptions(&fields)?;
        let mut entry = Entry {
            name: name.to_string(),
            description: fields.text("description")?.map(str::to_string),
            static_headers,
            env: Vec::new(),
            raw_envelope: fields.flag("raw_envelope")?,
            raw_tools: tools.raw,
            approval: approval(&fields)?.unwrap_or_default(),
            approval_tools: tools.approval,
            trusts_annotations: fields.flag("trust_annotations")?.unwrap_or(false),
            effect: effect(&fields)?,
            effect_tools: tools.effects,
            policy: Policy {
                allow: fields.get("allow").map(|_| fields.texts("allow")).transpose()?,
                deny: fields.texts("deny")?,
                limits: limits(&fields)?,
                tools: tools.limits,
            },
            is_enabled: fields.flag("enabled")?.unwrap_or(true),
            transport_name: transport.name,
            transport: (transport.read)(self, &fields, !auth.is_empty())?,
            auth,
        };
        for (key, value) in fields.text_map("env")? {
            let field = format!("env.{key}");
            if key.is_empty() || key.contains(['=', '\0']) {
                return Err(fields.error(&field, "is not a valid variable name"));
            }
            let pieces = pieces(value).map_err(|message| fields.error(&field, message))?;
            entry.env.push((key.to_string(), pieces));
        }
        Ok(entry)
    }
}

/// Settings of single tools that differ from their server's.
#[derive(Default)]
struct Exceptions {
    raw: BTreeMap<String, bool>,
    approval: BTreeMap<String, Approval>,
    effects: BTreeMap<String, Effects>,
    limits: BTreeMap<String, ToolLimits>,
}

fn exceptions(fields: &Fields<'_>) -> Result<Exceptions, ConfigError> {
    let mut found = Exceptions::default();
    for (tool, value) in fields.map("tools")?.into_iter().flatten() {
        let own = Fields::new(&fields.place, &format!("tools.{tool}."), value)?;
        own.only(&[LIMITS, &["raw_envelope", "approval", "effect"]].concat(), |_| None)?;
        let limits = limits(&own)?;
        if limits != ToolLimits::default() {
            found.limits.insert(tool.clone(), limits);
        }
        if let Some(flag) = own.flag("raw_envelope")? {
            found.raw.insert(tool.clone(), flag);
        }
        if let Some(approval) = approval(&own)? {
            found.approval.insert(tool.clone(), approval);
        }
        if let Some(effect) = effect(&own)? {
            found.effects.insert(tool.clone(), effect);
        }
    }
    Ok(found)
}

/// Fields with limits for calls, of a server or of a tool.
pub(super) const LIMITS: &[&str] = &["call_timeout_ms", "rate", "cache_ttl_ms"];

/// Longest time for which a result is kept, in milliseconds.
const MAX_TTL_MS: u64 = 24 * 3_600_000;

/// Longest time of a call, in milliseconds.
const MAX_CALL_MS: u64 = 3_600_000;

fn limits(fields: &Fields<'_>) -> Result<ToolLimits, ConfigError> {
    let millis = |key: &str, most: u64| -> Result<Option<Duration>, ConfigError> {
        let given = fields.get(key).map(|_| fields.number(key, 1, most)).transpose()?;
        Ok(given.map(Duration::from_millis))
    };
    let rate = match fields.text("rate")? {
        None => None,
        Some(text) => match Rate::parse(text) {
            Some(rate) => Some(rate),
            None => {
                return Err(fields
                    .error("rate", "must be a number of calls per time, such as 10/s, 60/min or 1000/h"));
            }
        },
    };
    Ok(ToolLimits {
        timeout: millis("call_timeout_ms", MAX_CALL_MS)?,
        rate,
        cache: millis("cache_ttl_ms", MAX_TTL_MS)?,
    })
}

fn approval(fields: &Fields<'_>) -> Result<Option<Approval>, ConfigError> {
    let Some(name) = fields.text("approval")? else { return Ok(None) };
    match Approval::from_name(name) {
        Some(approval) => Ok(Some(approval)),
        None => Err(fields.error("approval", "must be never, writes or always")),
    }
}

fn effect(fields: &Fields<'_>) -> Result<Option<Effects>, ConfigError> {
    match fields.text("effect")? {
        None => Ok(None),
        Some("read") => Ok(Some(Effects::Read)),
        Some("write") => Ok(Some(Effects::Write)),
        Some(_) => Err(fields.error("effect", "must be read or write")),
    }
}

/// Returns whether a name can be used before the `/` of a reference.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}
