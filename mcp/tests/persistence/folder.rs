//! A server whose sessions are in a folder.

use ptc_mcp::sessions::{Owner, SessionsBuilder};
use ptc_mcp::tools::{session_close, session_eval, session_inspect, session_list, session_start};
use ptc_mcp::{Host, Payload, Sessions, Settings};
use ptc_runtime::{Cancel, Runtime};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub struct Server {
    pub sessions: Sessions,
    pub me: Owner,
}

pub fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).unwrap()
}

impl Server {
    pub fn open(dir: &Path) -> Server {
        Server::later(dir, 0)
    }

    /// Opens a server this many milliseconds after the first.
    pub fn later(dir: &Path, ms: u64) -> Server {
        Server::try_open(dir, ms, |_| {}, |builder| builder).unwrap()
    }

    pub fn try_open(
        dir: &Path,
        ms: u64,
        change: impl FnOnce(&mut Settings),
        build: impl FnOnce(SessionsBuilder) -> SessionsBuilder,
    ) -> Result<Server, String> {
        let mut settings =
            Settings { sessions: true, session_dir: Some(dir.display().to_string()), ..Settings::default() };
        change(&mut settings);
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000) + Duration::from_millis(ms);
        let host = Host::new(&runtime(), &settings, None);
        let builder = Sessions::builder(&host, &settings).clock(Arc::new(move || now));
        let sessions = build(builder).open()?;
        Ok(Server { me: sessions.local_owner(), sessions })
    }

    pub fn begin(&self, args: Value) -> String {
        let started = session_start::answer(&self.sessions, &self.me, args.as_object().unwrap().clone())
            .answer
            .unwrap();
        started["session_id"].as_str().unwrap_or_else(|| panic!("{started:?}")).to_string()
    }

    pub fn eval(&self, id: &str, program: &str) -> Payload {
        let args = json!({"session_id": id, "program": program});
        match session_eval::reserve(&self.sessions, &self.me, args.as_object().unwrap().clone()) {
            Ok(reserved) => reserved.eval(&Cancel::new()),
            Err(refused) => *refused,
        }
    }

    pub fn value(&self, id: &str, program: &str) -> String {
        let payload = self.eval(id, program);
        assert_eq!(payload.reason, None, "{program}: {}", payload.message);
        payload.result.unwrap_or_default().trim_start_matches("user=> ").to_string()
    }

    pub fn inspect(&self, id: &str, view: &str) -> Value {
        let args = json!({"session_id": id, "view": view});
        Value::Object(
            session_inspect::answer(&self.sessions, &self.me, args.as_object().unwrap().clone())
                .answer
                .unwrap(),
        )
    }

    pub fn list(&self) -> Value {
        Value::Object(session_list::answer(&self.sessions, &self.me, Map::new()).answer.unwrap())
    }

    pub fn close(&self, id: &str) {
        let args = json!({"session_id": id});
        assert!(
            !session_close::answer(&self.sessions, &self.me, args.as_object().unwrap().clone()).is_error()
        );
    }
}

/// Returns the files of a folder with this extension.
pub fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}
