//! A mission's events, emitted without a mission.

use ptc_agent::trace::{AgentLabel, Kind, Scope, Tracer};
use ptc_model::Tokens;
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Temporary folder of one test, deleted when the test ends.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ptc-traces-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Emits two turns: the first calls an agent below, which fails; the second returns.
pub fn mission(tracer: &Tracer) {
    let run = tracer.mission(AgentLabel::new(Some("triage"), "c0ffee12"), None);
    run.config(|| json!({"max_turns": 5, "tools": ["search", "helper"]}).as_object().cloned().unwrap());
    run.emit(Kind::RunStart, |event| {
        event.model = Some("m1".into());
        event.put("prompt", "Find the late orders");
    });
    turn(&run, 1, "(tool/helper {:q \"late\"})", |turn| {
        let tool = turn.child();
        tool.emit(Kind::ToolStart, |event| event.tool_name = Some("helper".into()));
        let below = tool.mission(AgentLabel::new(Some("helper"), "00000002"), None);
        below.emit(Kind::RunStart, |event| event.put("prompt", "late"));
        let child = below.trace_id().to_string();
        self::turn(&below, 1, "(fail :nothing)", |_| ());
        below.emit(Kind::RunStop, |event| event.status = Some("error".into()));
        tool.emit(Kind::ToolException, |event| {
            event.tool_name = Some("helper".into());
            event.put("error", "nothing");
            event.put("child_trace_id", child);
        });
        call(&tool, "helper", false, "error");
    });
    turn(&run, 2, "(return (tool/search {:q \"late\"}))", |turn| {
        let tool = turn.child();
        tool.emit(Kind::ToolStart, |event| event.tool_name = Some("search".into()));
        tool.emit(Kind::ToolStop, |event| event.tool_name = Some("search".into()));
        call(&tool, "search", false, "ok");
        call(&turn.child(), "search", true, "ok");
    });
    run.emit(Kind::RunStop, |event| {
        event.status = Some("ok".into());
        event.put("return", json!([7]));
    });
}

fn turn(run: &Scope, number: u32, program: &str, body: impl FnOnce(&Scope)) {
    let turn = run.child();
    turn.emit(Kind::TurnStart, |event| event.turn = Some(number));
    let llm = turn.child();
    llm.emit(Kind::LlmStart, |event| {
        event.model = Some("m1".into());
        event.put("messages", json!([{"role": "user", "content": "go on"}]));
    });
    llm.emit(Kind::LlmStop, |event| {
        event.turn = Some(number);
        event.model = Some("m1".into());
        event.tokens = Some(Tokens { total_cost: Some(0.25), ..Tokens::new(100, 10) });
        event.put("response", json!({"content": program}));
    });
    body(&turn);
    turn.emit(Kind::TurnStop, |event| {
        event.turn = Some(number);
        event.tokens = Some(Tokens::new(100, 10));
        event.put("success", number == 2);
        event.put("program", program);
    });
    turn.emit(Kind::Turn, |event| {
        event.turn = Some(number);
        event.status = Some(if number == 2 { "ok" } else { "error" }.into());
        for (key, value) in [
            ("driver", json!("sub_agent")),
            ("program", json!(program)),
            ("result_preview", json!("[7]")),
            ("prints", json!(["looked"])),
            ("tool_calls", json!([{"tool": "search", "outcome": "ok", "duration_ms": 3}])),
        ] {
            event.put(key, value);
        }
    });
}

fn call(scope: &Scope, tool: &str, cached: bool, status: &str) {
    scope.emit(Kind::ToolCall, |event| {
        event.tool_name = Some(tool.into());
        event.status = Some(status.into());
        event.put("exposure_layer", "ptc_lisp");
        event.put("cached", cached);
    });
}
