//! Restoring sessions.

use crate::folder::{Server, files, runtime};
use ptc_mcp::Reason;
use ptc_mcp::tools::{session_forget, session_inspect, session_start};
use ptc_runtime::PreludeStore;
use serde_json::json;
use std::fs;

const MINUTE: u64 = 60_000;

#[test]
fn a_restart_loses_nothing_that_was_committed() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::open(dir.path());
    let id = server.begin(json!({"title": "sales"}));
    server.value(&id, "(def base 10) (defn add [x] (+ x base)) (def adder (let [k 5] (fn [x] (+ x k))))");
    server.value(&id, "(println \"said\") (def rows [{:a 1} {:b #{2 3}}]) (def count 3) (def when-made 1.5)");
    server.value(&id, "\"last\"");
    assert!(server.eval(&id, "(def base 0) (fail 1)").is_error());
    let before =
        (server.inspect(&id, "memory"), server.inspect(&id, "history"), server.inspect(&id, "prints"));
    drop(server);

    let server = Server::later(dir.path(), MINUTE);
    assert!(server.sessions.warnings().is_empty(), "{:?}", server.sessions.warnings());
    let after =
        (server.inspect(&id, "memory"), server.inspect(&id, "history"), server.inspect(&id, "prints"));
    assert_eq!(after, before);
    assert_eq!(server.list()["sessions"][0]["title"], "sales");
    assert_eq!(server.list()["sessions"][0]["turn"], 3);
    assert_eq!(
        server.value(&id, "[(add 1) (adder 1) (:b (second rows)) *1 *2 count]"),
        "[11 6 #{2 3} \"last\" #'when-made 3]"
    );
    // A function still follows the definitions it uses.
    assert_eq!(server.value(&id, "(def base 100) (add 1)"), "101");
    drop(server);
    assert_eq!(Server::later(dir.path(), MINUTE).value(&id, "(add 2)"), "102");
}

#[test]
fn loading_runs_nothing_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = PreludeStore::new(&runtime());
    let authoring =
        ptc_runtime::Prelude::load(&runtime(), ptc_preludes::prelude(), &Default::default()).unwrap();
    let open = || {
        Server::try_open(
            dir.path(),
            0,
            |settings| settings.sessions_allow_prelude_write = true,
            |builder| builder.store(&store).authoring(&authoring),
        )
        .unwrap()
    };
    let server = open();
    let id = server.begin(json!({"mode": "write_capable"}));
    let write = "(prelude/write {:id \"made\" :source \"(ns made) (def x 1)\" :metadata {}})";
    server.value(&id, &format!("(def written (get {write} \"status\")) (defn again [] {write})"));
    drop(server);
    let server = open();
    assert_eq!(server.value(&id, "written"), "\"ok\"");
    assert_eq!(store.history("made").unwrap().len(), 1);
    assert_eq!(server.value(&id, "(get (again) \"status\")"), "\"ok\"");
    assert_eq!(store.history("made").unwrap().len(), 2);
}

#[test]
fn names_that_look_like_ours_are_kept_too() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::open(dir.path());
    let id = server.begin(json!({}));
    server.value(&id, "(def ptc-session-history-0 7) (def ptc-session-history-- 8) 9");
    drop(server);
    let server = Server::open(dir.path());
    assert_eq!(server.value(&id, "[ptc-session-history-0 ptc-session-history-- *1]"), "[7 8 9]");
}

#[test]
fn forgetting_and_closing_are_for_good() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::open(dir.path());
    let (kept, closed) = (server.begin(json!({})), server.begin(json!({})));
    server.value(&kept, "(def a 1) (def b 2)");
    session_forget::answer(
        &server.sessions,
        &server.me,
        json!({"session_id": kept, "bindings": ["a"]}).as_object().unwrap().clone(),
    );
    server.close(&closed);
    drop(server);
    let server = Server::open(dir.path());
    assert_eq!(server.inspect(&kept, "overview")["stored_keys"], json!(["b"]));
    assert_eq!(server.list()["count"], 1);
    assert_eq!(files(dir.path(), "session").len(), 1);
}

#[test]
fn time_goes_on_while_nobody_serves() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::open(dir.path());
    let (short, long) = (server.begin(json!({"ttl_ms": 5 * MINUTE})), server.begin(json!({})));
    drop(server);
    let server = Server::later(dir.path(), 20 * MINUTE);
    assert_eq!(server.eval(&short, "1").reason, Some(Reason::SessionNotFound));
    // Downtime of the server does not count as idle time.
    assert_eq!(server.value(&long, "1"), "1");
    drop(server);
    let server = Server::later(dir.path(), 31 * MINUTE);
    assert_eq!(server.list()["count"], 0);
    assert!(files(dir.path(), "session").is_empty());
}

#[test]
fn limits_hold_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::open(dir.path());
    let id = server.begin(json!({}));
    server.begin(json!({}));
    server.value(&id, "(def a 1)");
    drop(server);
    let tight = |settings: &mut ptc_mcp::Settings| {
        (settings.max_sessions, settings.max_session_bindings) = (2, 1);
    };
    let server = Server::try_open(dir.path(), 0, tight, |builder| builder).unwrap();
    let full = session_start::answer(&server.sessions, &server.me, Default::default());
    assert_eq!(full.reason, Some(Reason::SessionLimitExceeded));
    assert_eq!(server.eval(&id, "(def b 1)").reason, Some(Reason::SessionLimitExceeded));
    assert_eq!(server.value(&id, "a"), "1");
}

#[test]
fn sessions_keep_to_their_preludes_and_owners() {
    let dir = tempfile::tempdir().unwrap();
    let store = PreludeStore::new(&runtime());
    store.write("shop", "(ns shop) (defn rate [] 19)", json!({})).unwrap();
    let open = |store: Option<&PreludeStore>| {
        Server::try_open(
            dir.path(),
            0,
            |_| {},
            |builder| match store {
                Some(store) => builder.store(store),
                None => builder,
            },
        )
    };
    let server = open(Some(&store)).unwrap();
    let id = server.begin(json!({"preludes": ["shop"]}));
    server.value(&id, "(defn gross [n] (+ n (shop/rate)))");
    store.write("shop", "(ns shop) (defn rate [] 7)", json!({})).unwrap();
    drop(server);
    let server = open(Some(&store)).unwrap();
    assert_eq!(server.value(&id, "[(gross 1) (shop/rate)]"), "[20 19]");
    let stranger = ptc_mcp::sessions::Owner::new("stranger");
    let asked = session_inspect::answer(
        &server.sessions,
        &stranger,
        json!({"session_id": id}).as_object().unwrap().clone(),
    );
    assert_eq!(asked.reason, Some(Reason::SessionNotFound));
    drop(server);
    // A session whose store is missing is set aside, and the server starts.
    let server = open(None).unwrap();
    assert_eq!(server.list()["count"], 0);
    assert_eq!(server.sessions.warnings().len(), 1);
    assert_eq!(files(dir.path(), "broken").len(), 1);
}

#[test]
fn a_broken_file_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::open(dir.path());
    let ids: Vec<String> = (0..6).map(|_| server.begin(json!({}))).collect();
    ids.iter().for_each(|id| drop(server.value(id, "(def n 1)")));
    drop(server);
    let all = files(dir.path(), "session");
    let whole = fs::read(&all[0]).unwrap();
    fs::write(&all[0], &whole[..whole.len() / 2]).unwrap();
    fs::write(&all[1], b"").unwrap();
    let mut flipped = fs::read(&all[2]).unwrap();
    let at = flipped.len() - 9;
    flipped[at] ^= 1;
    fs::write(&all[2], flipped).unwrap();
    fs::write(&all[3], [b"PTC session 2\n", &whole[14..]].concat()).unwrap();
    // A copy under another name.
    fs::write(&all[4], fs::read(&all[5]).unwrap()).unwrap();
    fs::write(dir.path().join(".new-left-over"), b"half").unwrap();
    let server = Server::open(dir.path());
    assert_eq!(server.list()["count"], 1);
    let warnings = server.sessions.warnings();
    assert_eq!(warnings.len(), 5, "{warnings:?}");
    assert!(warnings.iter().all(|warning| warning.contains("set aside")));
    assert!(!dir.path().join(".new-left-over").exists());
    assert_eq!(files(dir.path(), "broken").len(), 5);
    drop(server);
    assert!(Server::open(dir.path()).sessions.warnings().is_empty());
}

#[test]
fn a_folder_is_of_one_server() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::open(dir.path());
    let second = Server::try_open(dir.path(), 0, |_| {}, |builder| builder).err().unwrap();
    assert!(second.contains("another server"), "{second}");
    drop(server);
    let first = Server::open(dir.path()).me;
    assert_eq!(first, Server::open(dir.path()).me);
}

#[cfg(unix)]
#[test]
fn files_are_for_their_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("sessions");
    let server = Server::open(&root);
    server.begin(json!({}));
    assert_eq!(fs::metadata(&root).unwrap().permissions().mode() & 0o777, 0o700);
    let owner = root.join("owner");
    for file in files(&root, "session").iter().chain([&owner]) {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[cfg(unix)]
#[test]
fn what_cannot_be_written_is_not_committed() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("sessions");
    let server = Server::open(&inner);
    let id = server.begin(json!({}));
    server.value(&id, "(def n 1)");
    let away = dir.path().join("away");
    fs::rename(&inner, &away).unwrap();
    let payload = server.eval(&id, "(def n 2)");
    assert_eq!(payload.reason, Some(Reason::RuntimeError));
    assert!(payload.message.contains("could not be written"), "{}", payload.message);
    fs::rename(&away, &inner).unwrap();
    assert_eq!(server.value(&id, "n"), "1");
}

#[test]
fn a_session_that_cannot_be_written_tells_no_path() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("kept");
    let server = Server::open(&folder);
    let id = server.begin(json!({}));
    // Writing fails from now on, as with a full disk.
    fs::remove_dir_all(&folder).unwrap();
    let payload = server.eval(&id, "(def x 1)");
    assert!(payload.is_error() && payload.message.contains("could not be written"), "{}", payload.message);
    let place = dir.path().to_str().unwrap();
    assert!(!payload.message.contains(place) && !payload.message.contains(".new-"), "{}", payload.message);
}
