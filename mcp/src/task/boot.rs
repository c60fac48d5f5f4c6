//! Conditions for offering tasks, and the configuration file of the agent.

use crate::settings::{MAX_FILE, Settings};
use ptc_runtime::files::read_text_at_most;
use serde_json::{Map, Value};
use std::path::Path;

/// Maximum size of the text before or after the system message, in bytes.
const MAX_PROMPT: usize = 4_096;

/// Allowed keys of the file.
const KEYS: &[&str] = &["max_turns", "retry_turns", "system_prompt"];
const PROMPT_KEYS: &[&str] = &["prefix", "suffix"];

/// Agent keys that only the server may set.
const RESERVED: &[&str] =
    &["tools", "signature", "output", "ptc_transport", "completion_mode", "trace_context"];

/// Decision on offering tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Tasks are not enabled.
    No,
    /// Tasks are enabled, but there are no servers to call.
    WithoutServers,
    /// Tasks are offered.
    Yes,
}

impl Wanted {
    /// Decides whether to offer tasks. The error is for the process that starts the server.
    ///
    /// ```
    /// use ptc_mcp::{Settings, task::Wanted};
    /// let settings = Settings { agentic: true, ..Settings::default() };
    /// assert_eq!(Wanted::by(&settings, false), Ok(Wanted::WithoutServers));
    /// assert!(Wanted::by(&settings, true).unwrap_err().contains("--agentic-allow-writes"));
    /// ```
    pub fn by(settings: &Settings, has_upstreams: bool) -> Result<Wanted, String> {
        match (settings.agentic, has_upstreams) {
            (false, _) => Ok(Wanted::No),
            (true, false) => Ok(Wanted::WithoutServers),
            (true, true) if settings.aggregator_read_only || settings.agentic_allow_writes => Ok(Wanted::Yes),
            (true, true) => {
                Err("--agentic needs --aggregator-read-only, which refuses tools that may write, or \
                                 --agentic-allow-writes"
                    .to_string())
            }
        }
    }
}

/// Options of the agent from flags and the file. Flags take precedence.
#[derive(Debug)]
pub(super) struct SubagentConfig {
    pub max_turns: u32,
    pub retry_turns: u32,
    pub prefix: Option<String>,
    pub suffix: Option<String>,
}

impl SubagentConfig {
    pub fn of(settings: &Settings) -> Result<SubagentConfig, String> {
        let file = match &settings.agentic_subagent_config {
            Some(path) => {
                let text = read_text_at_most(Path::new(path), MAX_FILE)
                    .map_err(|error| told(path, &error.to_string()))?;
                let parsed = serde_json::from_str::<Value>(&text).map_err(|error| error.to_string());
                parsed.and_then(|value| File::read(&value)).map_err(|error| told(path, &error))?
            }
            None => File::default(),
        };
        let turns = |flag: Option<u64>, file: Option<u64>, usual: u32| {
            flag.or(file).map_or(usual, |turns| u32::try_from(turns).unwrap_or(u32::MAX))
        };
        Ok(SubagentConfig {
            max_turns: turns(settings.agentic_max_turns, file.max_turns, 1),
            retry_turns: turns(settings.agentic_retry_turns, file.retry_turns, 0),
            prefix: file.prefix,
            suffix: file.suffix,
        })
    }
}

fn told(path: &str, error: &str) -> String {
    format!("--agentic-subagent-config: {path}: {error}")
}

#[derive(Default)]
struct File {
    max_turns: Option<u64>,
    retry_turns: Option<u64>,
    prefix: Option<String>,
    suffix: Option<String>,
}

impl File {
    fn read(value: &Value) -> Result<File, String> {
        let table = value.as_object().ok_or("it must be a JSON object")?;
        allowed(table, KEYS, "")?;
        let number = |key: &str, least: u64, what: &str| match table.get(key) {
            None => Ok(None),
            Some(value) => match value.as_u64().filter(|number| *number >= least) {
                Some(number) => Ok(Some(number)),
                None => Err(format!("`{key}` must be {what}, got {}", shown(value))),
            },
        };
        let empty = Map::new();
        let prompt = match table.get("system_prompt") {
            None => &empty,
            Some(Value::Object(prompt)) => prompt,
            Some(other) => return Err(format!("`system_prompt` must be an object, got {}", shown(other))),
        };
        allowed(prompt, PROMPT_KEYS, "system_prompt.")?;
        let text = |key: &str| match prompt.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.len() <= MAX_PROMPT => Ok(Some(text.clone())),
            Some(Value::String(text)) => Err(format!(
                "`system_prompt.{key}` may have at most {MAX_PROMPT} bytes, and has {}",
                text.len()
            )),
            Some(other) => Err(format!("`system_prompt.{key}` must be a text, got {}", shown(other))),
        };
        Ok(File {
            max_turns: number("max_turns", 1, "a whole number above zero")?,
            retry_turns: number("retry_turns", 0, "a whole number")?,
            prefix: text("prefix")?,
            suffix: text("suffix")?,
        })
    }
}

fn allowed(table: &Map<String, Value>, keys: &[&str], place: &str) -> Result<(), String> {
    let Some(key) = table.keys().find(|key| !keys.contains(&key.as_str())) else { return Ok(()) };
    let is_reserved = place.is_empty() && (RESERVED.contains(&key.as_str()) || key.starts_with('_'));
    let why = if is_reserved { "is set by the server" } else { "is unknown" };
    let key = crate::cut::chars(key, 80).0;
    let keys: Vec<String> = keys.iter().map(|key| format!("{place}{key}")).collect();
    Err(format!("`{place}{key}` {why}; allowed are {}", keys.join(", ")))
}

fn shown(value: &Value) -> String {
    crate::cut::chars(&value.to_string(), 80).0.to_string()
}
