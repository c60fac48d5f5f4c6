//! Log of turns: every program of a session, as lines in one file per process.

use super::table::logged_id;
use crate::moment;
use crate::reason::Reason;
use crate::reply::Payload;
use crate::settings::Settings;
use ptc_agent::trace::{AgentLabel, JsonLines, Kind, Scope, Tracer};
use ptc_runtime::{FrozenRef, files};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Log file written in the background. Its failures affect nothing else.
pub(super) struct TurnLog {
    scope: Scope,
    lines: JsonLines,
    hides_ids: bool,
    /// Maximum length of a logged result, in characters.
    preview_chars: usize,
}

/// A finished program.
pub(super) struct TurnRecord<'e> {
    pub session_id: &'e str,
    pub attempt: u64,
    /// Source of the program, without secrets.
    pub program: &'e str,
    pub payload: &'e Payload,
    pub calls: Vec<Value>,
    pub preludes: &'e [FrozenRef],
    pub took: Duration,
}

impl TurnLog {
    /// Opens the log of this process, if the settings ask for one.
    pub fn open(settings: &Settings, now: SystemTime) -> Result<Option<TurnLog>, String> {
        let Some(dir) = &settings.turn_log_dir else { return Ok(None) };
        let wrong = |error: std::io::Error| format!("--turn-log-dir {dir}: {error}");
        files::make_private_folder(Path::new(dir)).map_err(wrong)?;
        let began = moment::iso(now).replace(':', "-");
        let file = Path::new(dir).join(format!("turns-{began}-{}.jsonl", std::process::id()));
        let lines = JsonLines::create(file).map_err(wrong)?;
        let scope = Tracer::new().with(lines.clone()).mission(AgentLabel::new(None, "session"), None);
        let preview_chars = usize::try_from(settings.max_session_preview_chars).unwrap_or(usize::MAX);
        Ok(Some(TurnLog { scope, lines, hides_ids: settings.http, preview_chars }))
    }

    pub fn write(&self, ended: &TurnRecord<'_>) {
        let payload = ended.payload;
        let session = payload.session.as_deref();
        self.scope.emit(Kind::Turn, |event| {
            let turn = session.and_then(|session| session.about.get("turn")?.as_u64());
            event.turn = turn.and_then(|turn| u32::try_from(turn).ok());
            event.duration = Some(ended.took);
            event.status = Some(if payload.is_error() { "error" } else { "ok" }.to_string());
            event.put("driver", "session");
            let id = if self.hides_ids { logged_id(ended.session_id) } else { ended.session_id.to_string() };
            event.put("session_id", id);
            event.put("attempt", ended.attempt);
            event.put("committed", !payload.is_error());
            event.put("program", ended.program);
            let preview = |text: &String| ptc_contract::data::cut(text, self.preview_chars);
            event.put("result_preview", json!(payload.result.as_ref().map(preview)));
            event.put("prints", json!(payload.prints));
            let (keys, values) =
                session.map(|session| (session.changed_keys.clone(), session.changed.clone())).unwrap_or_default();
            event.put("memory_diff", json!({"changed_keys": keys, "values": values}));
            event.put("tool_calls", ended.calls.clone());
            event.put("limits_hit", json!(limit(payload).into_iter().collect::<Vec<Value>>()));
            event.put("preludes", json!(ended.preludes));
            let fail = payload.reason.map(|reason| {
                json!({"reason": reason.name(), "message": payload.message, "detail_reason": payload.detail_reason})
            });
            event.put("fail", json!(fail));
        });
    }

    /// Waits until everything is written; later turns are dropped.
    pub fn finish(&self) {
        self.lines.finish();
    }
}

/// Returns the limit that ended a program.
fn limit(payload: &Payload) -> Option<Value> {
    match payload.reason? {
        Reason::SessionLimitExceeded => Some(payload.detail.as_ref()?["limit"].clone()),
        reason @ (Reason::Timeout | Reason::MemoryLimit) => {
            Some(json!(payload.detail_reason.unwrap_or(reason.name())))
        }
        _ => None,
    }
}
