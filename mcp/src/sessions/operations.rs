//! Operations on sessions other than running programs.

use super::state::{self, Clearable, SessionState};
use super::table::{self, Entry, Refusal};
use super::{Inner, Owner, SessionHeader, Sessions};
use crate::cut;
use crate::moment::iso;
use crate::reason::Reason;
use crate::settings::Settings;
use ptc_agent::lisp_eval::Preview;
use ptc_contract::firewall::{FIREWALLED, is_firewalled};
use ptc_runtime::{Frozen, Prelude, Remembered, Session, StoreRef, Visibility};
use serde_json::{Value, json};
use std::sync::Arc;

/// Maximum size of a namespace's doc in a reply, in bytes.
const MAX_DOC: usize = 1024;

/// Options of a new session.
pub(crate) struct NewSession {
    pub title: Option<String>,
    /// Maximum lifetime, in milliseconds.
    pub ttl_ms: Option<u64>,
    pub is_write_capable: bool,
    pub preludes: Option<Vec<StoreRef>>,
}

/// Part of a session to inspect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionView {
    Overview,
    Memory,
    Prints,
    ToolCalls,
    History,
    Limits,
}

impl SessionView {
    pub const ALL: [SessionView; 6] = [
        SessionView::Overview,
        SessionView::Memory,
        SessionView::Prints,
        SessionView::ToolCalls,
        SessionView::History,
        SessionView::Limits,
    ];

    pub fn name(self) -> &'static str {
        match self {
            SessionView::Overview => "overview",
            SessionView::Memory => "memory",
            SessionView::Prints => "prints",
            SessionView::ToolCalls => "tool_calls",
            SessionView::History => "history",
            SessionView::Limits => "limits",
        }
    }
}

impl Sessions {
    /// Starts a session.
    pub(crate) fn start(&self, owner: &Owner, new: NewSession) -> Result<Value, Refusal> {
        let inner = &self.0;
        let NewSession { title, ttl_ms, is_write_capable, preludes } = new;
        inner.may_start(is_write_capable, preludes.is_some()).map_err(Refusal::args)?;
        self.sweep();
        inner.table().room(owner, &inner.settings)?;
        let has_preludes = preludes.is_some();
        let (blank, programs) = inner.blank(is_write_capable, preludes).map_err(|failure| {
            let message = inner.scrubbed(&failure.diagnostic().message);
            Refusal::args(message)
        })?;
        let most = inner.settings.session_ttl_ms;
        let ttl_ms = ttl_ms.unwrap_or(most).min(most);
        let entry = inner.entry(owner, blank, programs, ttl_ms).map_err(Refusal::broken)?;
        let mut entry = Entry { title, is_write_capable, has_preludes, ..entry };
        let (described, kept, gate) = (SessionHeader::of(&entry), entry.kept.clone(), entry.gate.clone());
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
            table.room(owner, &inner.settings)?;
            entry.number = table.number();
            table.live.insert(table::key(&entry.id), entry);
        }
        // Nobody else knows its id before it is written.
        let is_closed = gate.enter();
        let written = inner.persist(&described, &kept);
        drop(is_closed);
        if let Err(problem) = written {
            let doomed = inner.table().end(&table::key(&described.id), table::Why::Closed);
            inner.bury(doomed);
            return Err(Refusal::broken(format!("the session could not be written: {problem}")));
        }
        Ok(answer)
    }

    /// Lists all sessions of an owner, newest first. Listing does not count as use.
    pub(crate) fn list(&self, owner: &Owner) -> Value {
        let inner = &self.0;
        let mut table = inner.table();
        let doomed = table.sweep(inner.now(), &inner.settings);
        let mut own: Vec<&Entry> = table.live.values().filter(|entry| entry.owner == *owner).collect();
        own.sort_by_key(|entry| std::cmp::Reverse(entry.number));
        let rows: Vec<Value> = own.into_iter().map(|entry| Value::Object(entry.about())).collect();
        drop(table);
        inner.bury(doomed);
        json!({"status": "ok", "count": rows.len(), "sessions": rows})
    }

    /// Lists the preludes of a session, or all in the store.
    pub(crate) fn list_preludes(&self, owner: &Owner, id: Option<&str>) -> Result<Value, Refusal> {
        if let Some(id) = id {
            let refs = self.0.with(owner, id, |entry| entry.blank.frozen().to_vec())?;
            return Ok(json!({"status": "ok", "session_id": id, "prelude_refs": refs}));
        }
        let rows = match &self.0.store {
            Some(store) => store.list().map_err(|error| Refusal::broken(error.to_string()))?,
            None => Vec::new(),
        };
        let rows: Vec<Value> = rows.iter().map(ptc_runtime::Listed::public_view).collect();
        Ok(json!({"status": "ok", "count": rows.len(), "preludes": rows}))
    }

    /// Returns the last committed state, also while a program runs.
    pub(crate) fn inspect(&self, owner: &Owner, id: &str, view: SessionView) -> Result<Value, Refusal> {
        let (kept, about, attempts, mode, refs) = self.0.with(owner, id, |entry| {
            let mode = if entry.is_write_capable { "write_capable" } else { "read_only" };
            (entry.kept.clone(), entry.about(), entry.attempts, mode, entry.blank.frozen().to_vec())
        })?;
        let mut answer = json!({"status": "ok", "session_id": id, "view": view.name(), "session": about});
        let mut put = |key: &str, value: Value| answer[key] = value;
        match view {
            SessionView::Memory => put("bindings", Value::Array(self.0.bindings(&kept))),
            SessionView::Prints => put("prints", json!(kept.prints)),
            SessionView::ToolCalls => {
                put("tool_calls", json!(kept.tool_calls));
                put("upstream_calls", json!(kept.upstream_calls));
            }
            SessionView::History => put("history", Value::Array(self.0.history(&kept))),
            SessionView::Limits => {
                put("limits", limits(&self.0.settings));
                put("usage", Value::Object(kept.usage()));
            }
            SessionView::Overview => {
                put("attempts", json!(attempts));
                put("mode", json!(mode));
                put("stored_keys", json!(kept.stored_keys()));
                put("prelude_refs", json!(refs));
                put("usage", Value::Object(kept.usage()));
            }
        }
        Ok(answer)
    }

    /// Removes definitions, or everything of some kinds, from a session in which no program runs.
    pub(crate) fn forget(
        &self,
        owner: &Owner,
        id: &str,
        names: &[String],
        clear: &[Clearable],
    ) -> Result<Value, Refusal> {
        let inner = &self.0;
        // Waits for other writers of the file, and keeps them out until the end.
        let gate = inner.with(owner, id, |entry| entry.gate.clone())?;
        let is_closed = gate.enter();
        let now = inner.now();
        let (described, before, next) = inner.still(owner, id, |entry| {
            if entry.running.is_some() {
                let message = "a program is running in the session; wait until it is done";
                return Err(Refusal::new(Reason::SessionBusy, message));
            }
            let next = entry.kept.without(&entry.blank, names, clear, now);
            Ok((SessionHeader::of(entry), entry.kept.clone(), Arc::new(next)))
        })??;
        inner.persist(&described, &next).map_err(|problem| {
            Refusal::broken(format!("nothing was forgotten: the session could not be written: {problem}"))
        })?;
        let is_done = inner.still(owner, id, |entry| {
            // A program may have started meanwhile; its state builds on the one it started with.
            if entry.running.is_some() || !Arc::ptr_eq(&entry.kept, &before) {
                return Err(Refusal::new(
                    Reason::SessionBusy,
                    "a program is running in the session; try again",
                ));
            }
            entry.kept = next.clone();
            Ok(())
        })?;
        if let Err(refusal) = is_done {
            inner.persist(&described, &before).map_err(Refusal::broken)?;
            return Err(refusal);
        }
        drop(is_closed);
        let removed: Vec<&str> = before
            .session
            .defined()
            .filter(|name| names.iter().any(|asked| asked == name) || clear.contains(&Clearable::Memory))
            .collect();
        Ok(json!({
            "status": "ok",
            "session_id": id,
            "removed_bindings": removed,
            "cleared": clear.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
            "stored_keys": next.stored_keys(),
            "usage": next.usage(),
        }))
    }

    /// Ends a session, stopping its program without keeping anything of it.
    pub(crate) fn close(&self, owner: &Owner, id: &str, reason: Option<&str>) -> Result<Value, Refusal> {
        let inner = &self.0;
        inner.with(owner, id, |_| ())?;
        let doomed = inner.table().end(&table::key(id), table::Why::Closed);
        inner.bury(doomed);
        Ok(
            json!({"status": "ok", "session_id": id, "closed": true, "reason": reason.unwrap_or("closed by the client")}),
        )
    }
}

impl Inner {
    /// Checks whether sessions of this kind may be started at all.
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

    /// Returns a text without secrets of servers.
    pub(super) fn scrubbed(&self, text: &str) -> String {
        match self.host.upstream() {
            Some(upstream) => upstream.redactor().scrub(text).into_owned(),
            None => text.to_string(),
        }
    }

    /// Returns the beginning of a value, without secrets; values of firewalled names are hidden.
    pub(super) fn shown(&self, name: Option<&str>, value: &Frozen) -> (String, bool) {
        if name.is_some_and(is_firewalled) {
            return (FIREWALLED.to_string(), false);
        }
        let mut redact = |text: &str| self.scrubbed(text);
        let mut preview = Preview::usual(&mut redact);
        preview.chars = usize::try_from(self.settings.max_session_preview_chars).unwrap_or(usize::MAX);
        state::shown(value, &mut preview)
    }

    fn bindings(&self, kept: &SessionState) -> Vec<Value> {
        let row = |(name, value): (&str, &Frozen)| {
            let (preview, truncated) = self.shown(Some(name), value);
            json!({
                "name": name, "bytes": state::measured(value), "preview": preview,
                "truncated": truncated,
            })
        };
        kept.definitions().map(row).collect()
    }

    fn history(&self, kept: &SessionState) -> Vec<Value> {
        let row = |(i, result): (usize, &Remembered)| {
            let value = result.value()?;
            let (preview, truncated) = self.shown(None, value);
            Some(json!({
                "entry": format!("*{}", i + 1), "bytes": state::measured(value),
                "preview": preview, "truncated": truncated,
            }))
        };
        kept.session.history().iter().enumerate().filter_map(row).collect()
    }
}

/// Returns the limits of every session, by name of the setting.
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

/// Lists the namespaces of attached preludes that prompts may show, with a form to find out more.
fn namespaces(session: &Session) -> Vec<Value> {
    session.runtime().preludes().flat_map(namespaces_of).collect()
}

fn namespaces_of(prelude: &Prelude) -> Vec<Value> {
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
