//! The tools that run no program.

use super::asked::Asked;
use super::kept::{self, Kept};
use super::table::{self, Entry};
use super::{Answer, Described, Inner, Owner, Sessions};
use crate::cut;
use crate::moment::iso;
use crate::reason::Reason;
use crate::settings::Settings;
use ptc_agent::firewall::{FIREWALLED, is_firewalled};
use ptc_agent::lisp_eval::Preview;
use ptc_runtime::{Frozen, Session, Visibility};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The longest doc of a namespace in a reply, in bytes.
const MAX_DOC: usize = 1024;

impl Sessions {
    pub(super) fn started(&self, owner: &Owner, args: &Map<String, Value>) -> Result<Value, Answer> {
        let inner = &self.0;
        let asked = Asked::new(args, &["title", "ttl_ms", "mode", "preludes"]).map_err(Answer::args)?;
        let title = asked.short("title").map_err(Answer::args)?;
        let ttl_ms = asked.ttl_ms().map_err(Answer::args)?;
        let is_write_capable = asked.is_write_capable().map_err(Answer::args)?;
        let preludes = asked.preludes().map_err(Answer::args)?;
        inner.may_start(is_write_capable, preludes.is_some()).map_err(Answer::args)?;
        self.sweep();
        inner.table().room(owner, &inner.settings).map_err(full)?;
        let has_preludes = preludes.is_some();
        let (blank, granted) = inner.blank(is_write_capable, preludes).map_err(|failure| {
            let message = inner.scrubbed(&failure.diagnostic().message);
            Answer::args(message)
        })?;
        let most = inner.settings.session_ttl_ms;
        let ttl_ms = ttl_ms.unwrap_or(most).min(most);
        let entry = inner.entry(owner, blank, granted, ttl_ms).map_err(broken)?;
        let mut entry =
            Entry { title: title.map(ToString::to_string), is_write_capable, has_preludes, ..entry };
        let (described, kept, gate) = (Described::of(&entry), entry.kept.clone(), entry.gate.clone());
        let mut answer = json!({
            "status": "ok",
            "session_id": entry.id,
            "expires_at": iso(entry.expires),
            "limits": limits(&inner.settings),
        });
        if has_preludes {
            answer["prelude_refs"] = json!(entry.blank.frozen());
        }
        let shown = namespaces(&entry.blank);
        if !shown.is_empty() {
            answer["preludes"] = Value::Array(shown);
        }
        {
            let mut table = inner.table();
            table.room(owner, &inner.settings).map_err(full)?;
            entry.number = table.number();
            table.live.insert(table::key(&entry.id), entry);
        }
        // Nobody knows its id before it is written.
        let is_closed = gate.enter();
        let written = inner.persist(&described, &kept);
        drop(is_closed);
        if let Err(problem) = written {
            let doomed = inner.table().end(&table::key(&described.id), table::Why::Closed);
            inner.bury(doomed);
            return Err(broken(format!("the session could not be written: {problem}")));
        }
        Ok(answer)
    }

    pub(super) fn preludes_listed(&self, owner: &Owner, args: &Map<String, Value>) -> Result<Value, Answer> {
        let asked = Asked::new(args, &["session_id"]).map_err(Answer::args)?;
        if let Some(id) = asked.session_id_if_given().map_err(Answer::args)? {
            let refs = self.0.with(owner, id, |entry| entry.blank.frozen().to_vec())?;
            return Ok(json!({"status": "ok", "session_id": id, "prelude_refs": refs}));
        }
        let rows = match &self.0.store {
            Some(store) => store.list().map_err(|error| broken(error.to_string()))?,
            None => Vec::new(),
        };
        let rows: Vec<Value> = rows.iter().map(ptc_runtime::Listed::public_view).collect();
        Ok(json!({"status": "ok", "count": rows.len(), "preludes": rows}))
    }

    pub(super) fn inspected(&self, owner: &Owner, args: &Map<String, Value>) -> Result<Value, Answer> {
        let asked = Asked::new(args, &["session_id", "view"]).map_err(Answer::args)?;
        let (id, view) = (asked.session_id().map_err(Answer::args)?, asked.view());
        let (kept, about, attempts, mode, refs) = self.0.with(owner, id, |entry| {
            let mode = if entry.is_write_capable { "write_capable" } else { "read_only" };
            (entry.kept.clone(), entry.about(), entry.attempts, mode, entry.blank.frozen().to_vec())
        })?;
        let mut answer = json!({"status": "ok", "session_id": id, "view": view, "session": about});
        let mut put = |key: &str, value: Value| answer[key] = value;
        match view {
            "memory" => put("bindings", Value::Array(self.0.bindings(&kept))),
            "prints" => put("prints", json!(kept.prints)),
            "tool_calls" => {
                put("tool_calls", json!(kept.tool_calls));
                put("upstream_calls", json!(kept.upstream_calls));
            }
            "history" => put("history", Value::Array(self.0.history(&kept))),
            "limits" => {
                put("limits", limits(&self.0.settings));
                put("usage", Value::Object(kept.usage()));
            }
            _ => {
                put("attempts", json!(attempts));
                put("mode", json!(mode));
                put("stored_keys", json!(kept.stored_keys()));
                put("prelude_refs", json!(refs));
                put("usage", Value::Object(kept.usage()));
            }
        }
        Ok(answer)
    }

    pub(super) fn forgotten(&self, owner: &Owner, args: &Map<String, Value>) -> Result<Value, Answer> {
        let inner = &self.0;
        let asked = Asked::new(args, &["session_id", "bindings", "clear"]).map_err(Answer::args)?;
        let id = asked.session_id().map_err(Answer::args)?;
        let names = asked.bindings().map_err(Answer::args)?;
        let clear = asked.clear().map_err(Answer::args)?;
        // Whoever is at the file is waited for, and nobody else gets there until this is told.
        let gate = inner.with(owner, id, |entry| entry.gate.clone())?;
        let is_closed = gate.enter();
        let now = inner.now();
        let (described, before, next) = inner.still(owner, id, |entry| {
            if entry.running.is_some() {
                let message = "a program runs in the session; wait until it is done".to_string();
                return Err((Reason::SessionBusy, message));
            }
            let next = entry.kept.without(&entry.blank, &names, &clear, now);
            Ok((Described::of(entry), entry.kept.clone(), Arc::new(next)))
        })??;
        inner.persist(&described, &next).map_err(|problem| {
            broken(format!("nothing was forgotten: it could not be written: {problem}"))
        })?;
        let is_done = inner.still(owner, id, |entry| {
            // A program may have begun meanwhile; what it began with is what it commits to.
            if entry.running.is_some() || !Arc::ptr_eq(&entry.kept, &before) {
                return Err((Reason::SessionBusy, "a program runs in the session; try again".to_string()));
            }
            entry.kept = next.clone();
            Ok(())
        })?;
        if let Err(refusal) = is_done {
            inner.persist(&described, &before).map_err(broken)?;
            return Err(refusal.into());
        }
        drop(is_closed);
        let removed: Vec<&str> = before
            .session
            .defined()
            .filter(|name| names.iter().any(|asked| asked == name) || clear.contains(&"memory"))
            .collect();
        Ok(json!({
            "status": "ok",
            "session_id": id,
            "removed_bindings": removed,
            "cleared": clear,
            "stored_keys": next.stored_keys(),
            "usage": next.usage(),
        }))
    }

    pub(super) fn closed(&self, owner: &Owner, args: &Map<String, Value>) -> Result<Value, Answer> {
        let inner = &self.0;
        let asked = Asked::new(args, &["session_id", "reason"]).map_err(Answer::args)?;
        let id = asked.session_id().map_err(Answer::args)?;
        let reason = asked.short("reason").map_err(Answer::args)?.unwrap_or("closed by the client");
        inner.with(owner, id, |_| ())?;
        let doomed = inner.table().end(&table::key(id), table::Why::Closed);
        inner.bury(doomed);
        Ok(json!({"status": "ok", "session_id": id, "closed": true, "reason": reason}))
    }
}

impl Inner {
    /// Whether sessions of this kind may be started at all.
    fn may_start(&self, is_write_capable: bool, has_preludes: bool) -> Result<(), String> {
        if is_write_capable && !self.settings.sessions_allow_prelude_write {
            return Err("mode write_capable is not allowed here: the server was started without \
                        --sessions-allow-prelude-write"
                .to_string());
        }
        if is_write_capable && (self.store.is_none() || self.authoring.is_none()) {
            return Err("mode write_capable needs a store of preludes, and this server has none".to_string());
        }
        if has_preludes && self.store.is_none() {
            return Err("argument `preludes`: this server has no store of preludes; leave it out".to_string());
        }
        Ok(())
    }

    /// A text without secrets of servers.
    pub(super) fn scrubbed(&self, text: &str) -> String {
        match self.host.upstream() {
            Some(upstream) => upstream.redactor().scrub(text).into_owned(),
            None => text.to_string(),
        }
    }

    /// How a value begins, without secrets; a name that hides its value shows nothing.
    pub(super) fn shown(&self, name: Option<&str>, value: &Frozen) -> (String, bool) {
        if name.is_some_and(is_firewalled) {
            return (FIREWALLED.to_string(), false);
        }
        let mut redact = |text: &str| self.scrubbed(text);
        let mut preview = Preview::usual(&mut redact);
        preview.chars = usize::try_from(self.settings.max_session_preview_chars).unwrap_or(usize::MAX);
        kept::shown(value, &mut preview)
    }

    fn bindings(&self, kept: &Kept) -> Vec<Value> {
        let row = |(name, value): (&str, &Frozen)| {
            let (preview, truncated) = self.shown(Some(name), value);
            json!({
                "name": name, "bytes": kept::measured(value), "preview": preview,
                "truncated": truncated,
            })
        };
        kept.definitions().map(row).collect()
    }

    fn history(&self, kept: &Kept) -> Vec<Value> {
        let row = |(i, value): (usize, &Frozen)| {
            let (preview, truncated) = self.shown(None, value);
            json!({
                "entry": format!("*{}", i + 1), "bytes": kept::measured(value),
                "preview": preview, "truncated": truncated,
            })
        };
        kept.session.history().iter().enumerate().map(row).collect()
    }
}

fn full((message, detail): (String, Value)) -> Answer {
    Answer { reason: Reason::SessionLimitExceeded, message, detail: Some(detail) }
}

fn broken(message: impl Into<String>) -> Answer {
    Answer { reason: Reason::RuntimeError, message: message.into(), detail: None }
}

/// The limits of every session, by the names of the settings.
fn limits(settings: &Settings) -> Value {
    json!({
        "session_ttl_ms": settings.session_ttl_ms,
        "session_idle_timeout_ms": settings.session_idle_timeout_ms,
        "max_session_bindings": settings.max_session_bindings,
        "max_session_memory_bytes": settings.max_session_memory_bytes,
        "max_session_binding_bytes": settings.max_session_binding_bytes,
        "max_session_history_entry_bytes": settings.max_session_history_entry_bytes,
        "max_session_print_entries": settings.max_session_print_entries,
        "max_session_print_bytes": settings.max_session_print_bytes,
        "max_session_tool_call_entries": settings.max_session_tool_call_entries,
        "max_session_tool_call_bytes": settings.max_session_tool_call_bytes,
        "max_session_upstream_call_entries": settings.max_session_upstream_call_entries,
        "max_session_upstream_call_bytes": settings.max_session_upstream_call_bytes,
        "max_session_preview_chars": settings.max_session_preview_chars,
    })
}

/// Namespaces of attached preludes that prompts may show, and how to find out more.
fn namespaces(session: &Session) -> Vec<Value> {
    let Some(prelude) = session.runtime().prelude() else { return Vec::new() };
    let row = |namespace: &ptc_bytecode::NamespaceRecord| {
        let mut exports = prelude.exports().iter();
        let first = exports
            .find(|export| export.namespace == namespace.name && export.visibility == Visibility::Prompt)?;
        let name = &namespace.name;
        Some(json!({
            "namespace": name,
            "doc": cut::bytes(namespace.doc.as_deref().unwrap_or_default(), MAX_DOC).0,
            "discover": format!("(ns-publics '{name})"),
            "source": format!("(source {name}/{})", first.symbol),
        }))
    };
    prelude.namespaces().iter().filter_map(row).collect()
}
