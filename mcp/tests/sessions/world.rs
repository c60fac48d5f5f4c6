//! Sessions with a clock that the test controls.

use ptc_mcp::sessions::{Owner, SessionsBuilder};
use ptc_mcp::tools::{
    session_close, session_eval, session_forget, session_inspect, session_list, session_list_preludes,
    session_start,
};
use ptc_mcp::{Host, Payload, Profile, Reason, Sessions, Settings};
use ptc_runtime::{Cancel, Runtime};
use ptc_upstream::Upstream;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

pub struct World {
    pub sessions: Sessions,
    pub me: Owner,
    now: Arc<Mutex<SystemTime>>,
}

pub fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).unwrap()
}

impl World {
    pub fn new() -> World {
        World::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Settings)) -> World {
        World::made(change, None, |builder| builder)
    }

    pub fn made(
        change: impl FnOnce(&mut Settings),
        upstream: Option<Upstream>,
        build: impl FnOnce(SessionsBuilder) -> SessionsBuilder,
    ) -> World {
        let mut settings = Settings { sessions: true, ..Settings::default() };
        change(&mut settings);
        let now = Arc::new(Mutex::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)));
        let clock = now.clone();
        let host = Host::new(&runtime(), &settings, upstream);
        let builder = Sessions::builder(&host, &settings).clock(Arc::new(move || *clock.lock().unwrap()));
        let sessions = build(builder).open().unwrap();
        World { me: sessions.local_owner(), sessions, now }
    }

    pub fn pass(&self, ms: u64) {
        *self.now.lock().unwrap() += Duration::from_millis(ms);
    }

    pub fn start(&self, args: Value) -> Value {
        whole(&session_start::answer(&self.sessions, &self.me, object(args)))
    }

    /// Starts a session and returns its id.
    pub fn begin(&self) -> String {
        let started = self.start(json!({}));
        assert_eq!(started["status"], "ok", "{started}");
        text(&started["session_id"])
    }

    pub fn eval(&self, id: &str, program: &str) -> Payload {
        self.eval_args(json!({"session_id": id, "program": program}))
    }

    pub fn eval_args(&self, args: Value) -> Payload {
        match session_eval::reserve(&self.sessions, &self.me, object(args)) {
            Ok(reserved) => reserved.eval(&Cancel::new()),
            Err(refused) => *refused,
        }
    }

    /// Returns the value of a program, which must succeed.
    pub fn value(&self, id: &str, program: &str) -> String {
        let payload = self.eval(id, program);
        assert_eq!(payload.reason, None, "{program}: {}", payload.message);
        payload.result.unwrap_or_default().trim_start_matches("user=> ").to_string()
    }

    pub fn list(&self) -> Value {
        whole(&session_list::answer(&self.sessions, &self.me, Map::new()))
    }

    pub fn list_preludes(&self, args: Value) -> Value {
        whole(&session_list_preludes::answer(&self.sessions, &self.me, object(args)))
    }

    pub fn inspect(&self, args: Value) -> Value {
        whole(&session_inspect::answer(&self.sessions, &self.me, object(args)))
    }

    pub fn view(&self, id: &str, view: &str) -> Value {
        self.inspect(json!({"session_id": id, "view": view}))
    }

    pub fn forget(&self, args: Value) -> Value {
        whole(&session_forget::answer(&self.sessions, &self.me, object(args)))
    }

    pub fn close(&self, args: Value) -> Value {
        whole(&session_close::answer(&self.sessions, &self.me, object(args)))
    }
}

pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

/// Returns the answer of a tool that runs no program; asserts that it is identical in every profile.
pub fn whole(payload: &Payload) -> Value {
    let replies = Profile::ALL.map(|profile| payload.reply(profile));
    for reply in &replies {
        assert_eq!(reply, &replies[0]);
        let structured = Value::Object(reply.structured.clone().expect("an object"));
        assert_eq!(serde_json::from_str::<Value>(&reply.text).unwrap(), structured);
        assert_eq!(reply.is_error, structured["status"] == "error");
    }
    Value::Object(replies[0].structured.clone().unwrap())
}

/// Returns a payload as the debug profile shows it.
pub fn debug(payload: &Payload) -> Value {
    Value::Object(payload.reply(Profile::Debug).structured.unwrap())
}

pub fn structured(payload: &Payload) -> Value {
    Value::Object(payload.reply(Profile::Structured).structured.unwrap())
}

pub fn slim(payload: &Payload) -> String {
    let reply = payload.reply(Profile::Slim);
    assert_eq!(reply.structured, None);
    reply.text
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_string()
}

pub fn refused(payload: &Payload, reason: Reason) -> String {
    assert_eq!(payload.reason, Some(reason), "{}", payload.message);
    payload.message.clone()
}

/// Returns the lines of all files in a folder.
pub fn logged(folder: &std::path::Path) -> Vec<Value> {
    let files =
        std::fs::read_dir(folder).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    files
        .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>())
        .collect()
}
