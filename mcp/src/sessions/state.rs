//! Committed state of a session, and its limits.

use crate::settings::Settings;
use ptc_agent::lisp_eval::Preview;
use ptc_agent::memory;
use ptc_bytecode::{Datum, Node};
use ptc_runtime::{Frozen, Remembered, Session};
use ptc_upstream::json_bytes;
use serde_json::{Map, Value, json};
use std::time::SystemTime;

/// Size at which measuring stops, in bytes: shared parts count wherever they are used, which could go on forever.
const MEASURED: u64 = 32 << 20;

/// A committed state. It is immutable: programs create a new one.
#[derive(Clone)]
pub(super) struct SessionState {
    /// Definitions and results, with the session's tools and preludes, without data.
    pub session: Session,
    /// Number of committed programs.
    pub turn: u64,
    /// Time of the commit.
    pub updated: SystemTime,
    /// Printed lines, oldest first.
    pub prints: Vec<String>,
    /// Calls of tools other than servers, oldest first.
    pub tool_calls: Vec<Value>,
    /// Calls of servers, oldest first.
    pub upstream_calls: Vec<Value>,
    /// Size of all definitions, in bytes.
    pub memory_bytes: u64,
}

/// A kind of contents that can be cleared as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clearable {
    Memory,
    History,
    Prints,
    ToolCalls,
    UpstreamCalls,
}

impl Clearable {
    pub const ALL: [Clearable; 5] = [
        Clearable::Memory,
        Clearable::History,
        Clearable::Prints,
        Clearable::ToolCalls,
        Clearable::UpstreamCalls,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Clearable::Memory => "memory",
            Clearable::History => "history",
            Clearable::Prints => "prints",
            Clearable::ToolCalls => "tool_calls",
            Clearable::UpstreamCalls => "upstream_calls",
        }
    }
}

/// Results that one program adds.
pub(super) struct TurnResults {
    pub definitions: Vec<(String, Frozen)>,
    pub value: Frozen,
    pub prints: Vec<String>,
    pub tool_calls: Vec<Value>,
    pub upstream_calls: Vec<Value>,
}

/// A limit that a program would exceed.
#[derive(Debug)]
pub(super) struct Breach {
    /// Contents that there are too many of.
    pub field: &'static str,
    /// Name of the setting.
    pub limit: &'static str,
    pub actual: u64,
    pub max: u64,
    /// Name of the definition that is too large.
    pub name: Option<String>,
}

impl Breach {
    pub fn message(&self) -> String {
        let Breach { field, limit, actual, max, name } = self;
        let what = match name {
            Some(name) => format!("the definition `{name}` has {actual} bytes"),
            None if *field == "bindings" => format!("the session would have {actual} definitions"),
            None => format!("the session would have {actual} bytes of {field}"),
        };
        format!(
            "{what}, more than {max} ({limit}); nothing was kept, define less or call lisp_session_forget"
        )
    }

    pub fn detail(&self) -> Value {
        let mut detail = json!({
            "field": self.field, "limit": self.limit, "actual": self.actual, "max": self.max,
        });
        if let Some(name) = &self.name {
            detail["name"] = json!(name);
        }
        detail
    }
}

impl SessionState {
    pub fn new(session: Session, now: SystemTime) -> SessionState {
        let mut kept = SessionState {
            session,
            turn: 0,
            updated: now,
            prints: Vec::new(),
            tool_calls: Vec::new(),
            upstream_calls: Vec::new(),
            memory_bytes: 0,
        };
        kept.measure();
        kept
    }

    pub fn definitions(&self) -> impl Iterator<Item = (&str, &Frozen)> {
        self.session.defined().filter_map(|name| Some((name, self.session.definition(name)?)))
    }

    pub fn stored_keys(&self) -> Vec<String> {
        self.session.defined().map(ToString::to_string).collect()
    }

    pub fn binding_count(&self) -> u64 {
        self.session.defined().count() as u64
    }

    pub fn measure(&mut self) {
        self.memory_bytes = memory::total(self.definitions(), MEASURED);
    }

    /// Returns the state after a program, with notices about results too large to keep; or the first limit that
    /// would be exceeded.
    pub fn and(
        &self,
        added: TurnResults,
        settings: &Settings,
        preview: &mut Preview<'_>,
        now: SystemTime,
    ) -> Result<(SessionState, Vec<Value>), Breach> {
        let mut next = self.clone();
        for (name, value) in added.definitions {
            next.session.define(name, value);
        }
        let (value, notices) = remembered(added.value, settings.max_session_history_entry_bytes, preview);
        next.session.remember(value);
        next.prints.extend(added.prints);
        next.tool_calls.extend(added.tool_calls);
        next.upstream_calls.extend(added.upstream_calls);
        next.trim(settings);
        next.measure();
        next.turn += 1;
        next.updated = now;
        match next.breach(settings) {
            Some(breach) => Err(breach),
            None => Ok((next, notices)),
        }
    }

    /// Removes the oldest entries beyond the limits.
    fn trim(&mut self, settings: &Settings) {
        trim(
            &mut self.prints,
            settings.max_session_print_entries,
            settings.max_session_print_bytes,
            |line| line.len() as u64,
        );
        trim(
            &mut self.tool_calls,
            settings.max_session_tool_call_entries,
            settings.max_session_tool_call_bytes,
            json_bytes,
        );
        trim(
            &mut self.upstream_calls,
            settings.max_session_upstream_call_entries,
            settings.max_session_upstream_call_bytes,
            json_bytes,
        );
    }

    /// Returns the first limit that is exceeded.
    fn breach(&self, settings: &Settings) -> Option<Breach> {
        let over = |field, limit, actual, max| {
            (actual > max).then_some(Breach { field, limit, actual, max, name: None })
        };
        let binding = || {
            let max = settings.max_session_binding_bytes;
            self.definitions().find_map(|(name, value)| {
                let breach = over("binding", "max_session_binding_bytes", measured(value), max)?;
                Some(Breach { name: Some(name.to_string()), ..breach })
            })
        };
        let usage = self.usage();
        let used = |key: &str| usage[key].as_u64().unwrap_or_default();
        over("bindings", "max_session_bindings", self.binding_count(), settings.max_session_bindings)
            .or_else(|| {
                let max = settings.max_session_memory_bytes;
                over("memory", "max_session_memory_bytes", self.memory_bytes, max)
            })
            .or_else(binding)
            .or_else(|| {
                let max = settings.max_session_history_entry_bytes.max(MARKER_BYTES).saturating_mul(3);
                over("history", "max_session_history_entry_bytes", used("history_bytes"), max)
            })
            .or_else(|| {
                let max = settings.max_session_print_bytes;
                over("prints", "max_session_print_bytes", used("print_bytes"), max)
            })
            .or_else(|| {
                let max = settings.max_session_tool_call_bytes;
                over("tool_calls", "max_session_tool_call_bytes", used("tool_call_bytes"), max)
            })
            .or_else(|| {
                let max = settings.max_session_upstream_call_bytes;
                over("upstream_calls", "max_session_upstream_call_bytes", used("upstream_call_bytes"), max)
            })
    }

    /// Returns the sizes and counts of all contents.
    pub fn usage(&self) -> Map<String, Value> {
        let history: u64 = self.session.history().iter().filter_map(Remembered::value).map(measured).sum();
        let prints: u64 = self.prints.iter().map(|line| line.len() as u64).sum();
        let bytes = |calls: &[Value]| calls.iter().map(json_bytes).sum::<u64>();
        let usage = json!({
            "binding_count": self.binding_count(),
            "memory_bytes": self.memory_bytes,
            "history_entries": self.session.history().len(),
            "history_bytes": history,
            "print_entries": self.prints.len(),
            "print_bytes": prints,
            "tool_call_entries": self.tool_calls.len(),
            "tool_call_bytes": bytes(&self.tool_calls),
            "upstream_call_entries": self.upstream_calls.len(),
            "upstream_call_bytes": bytes(&self.upstream_calls),
        });
        match usage {
            Value::Object(usage) => usage,
            _ => Map::new(),
        }
    }

    /// Returns the state without some definitions, or without anything of these kinds. `blank` is the freshly
    /// started session.
    pub fn without(
        &self,
        blank: &Session,
        names: &[String],
        clear: &[Clearable],
        now: SystemTime,
    ) -> SessionState {
        let mut session = blank.clone();
        if !clear.contains(&Clearable::Memory) {
            for (name, value) in self.definitions().filter(|(name, _)| !names.iter().any(|n| n == name)) {
                session.define(name, value.clone());
            }
        }
        if !clear.contains(&Clearable::History) {
            // Oldest first: each becomes `*1` in turn.
            self.session.history().iter().rev().for_each(|value| session.remember(value.clone()));
        }
        let mut next = SessionState { session, updated: now, ..self.clone() };
        for kind in clear {
            match *kind {
                Clearable::Prints => next.prints.clear(),
                Clearable::ToolCalls => next.tool_calls.clear(),
                Clearable::UpstreamCalls => next.upstream_calls.clear(),
                Clearable::Memory | Clearable::History => {}
            }
        }
        next.measure();
        next
    }
}

/// Maximum size of a note that replaces a value, even if the limit for values is smaller, in bytes.
const MARKER_BYTES: u64 = 4096;

/// Returns the value to keep, and a notice if that is only a note.
fn remembered(value: Frozen, most: u64, preview: &mut Preview<'_>) -> (Frozen, Vec<Value>) {
    let bytes = measured(&value);
    if bytes <= most {
        return (value, Vec::new());
    }
    // The note fits where the value did not.
    preview.chars = preview.chars.min(512).min(usize::try_from(most / 8).unwrap_or(usize::MAX));
    let shown = shown(&value, preview).0;
    let text = |text: &str| Node::Str(text.into());
    let int = |n: u64| Node::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let nodes = vec![
        text("lisp_session_preview"),
        Node::Bool(true),
        text("bytes"),
        int(bytes),
        text("max_bytes"),
        int(most),
        text("preview"),
        text(&shown),
        Node::Map(4),
    ];
    let notice = json!({
        "entry": "*1", "bytes": bytes, "max": most, "limit": "max_session_history_entry_bytes",
        "message": format!(
            "the result has {bytes} bytes, more than {most}: *1 is a map that tells its size and how it begins; \
             use (def name …) to keep a part of it"
        ),
    });
    let note = Datum::new(nodes).and_then(|datum| Frozen::from_datum(&datum).ok());
    (note.unwrap_or(value), vec![notice])
}

/// Returns the size of a value, in bytes.
pub(super) fn measured(value: &Frozen) -> u64 {
    memory::size(value, MEASURED)
}

/// Returns the beginning of a value, and whether nothing is missing except parts that are never shown.
pub(super) fn shown(value: &Frozen, preview: &mut Preview<'_>) -> (String, bool) {
    match value.to_datum(4 << 20) {
        Ok(datum) => preview.show(&datum),
        Err(_) => (format!("#<{} bytes>", value.bytes()), true),
    }
}

fn trim<T>(entries: &mut Vec<T>, most: u64, most_bytes: u64, size: impl Fn(&T) -> u64) {
    let mut bytes: u64 = entries.iter().map(&size).sum();
    let mut from = 0;
    while from < entries.len() && ((entries.len() - from) as u64 > most || bytes > most_bytes) {
        bytes -= size(&entries[from]);
        from += 1;
    }
    entries.drain(..from);
}
