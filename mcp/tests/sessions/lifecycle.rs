//! Ends of sessions, and requests for ended ones.

use crate::world::{World, debug, object, refused, slim, text};
use ptc_mcp::Reason;
use ptc_mcp::tools::{session_eval, session_inspect, session_start};
use ptc_runtime::Cancel;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::SystemTime;

const MINUTE: u64 = 60_000;
/// Program that runs until it is stopped.
const ENDLESS: &str = "(loop [i 0] (recur (inc i)))";

#[test]
fn a_life_has_an_end_however_busy_it_is() {
    let world = World::new();
    let id = world.begin();
    for _ in 0..5 {
        world.pass(5 * MINUTE);
        world.value(&id, "1");
    }
    world.pass(5 * MINUTE);
    assert!(refused(&world.eval(&id, "1"), Reason::SessionClosed).contains("its time was up"));
    assert_eq!(world.list()["count"], 0);
}

#[test]
fn rest_ends_a_session_and_every_call_but_list_is_no_rest() {
    let world = World::new();
    let id = world.begin();
    for _ in 0..2 {
        world.pass(10 * MINUTE);
        world.inspect(json!({"session_id": id}));
    }
    world.pass(10 * MINUTE - 1);
    world.list();
    assert_eq!(world.list()["count"], 1);
    let other = world.begin();
    world.pass(14 * MINUTE);
    world.list();
    world.pass(MINUTE);
    assert!(refused(&world.eval(&other, "1"), Reason::SessionClosed).contains("idle for too long"));
}

#[test]
fn rest_is_not_counted_while_a_program_runs() {
    let world = World::with(|settings| settings.session_idle_timeout_ms = 1_000);
    let id = world.begin();
    let reserved = session_eval::reserve(
        &world.sessions,
        &world.me,
        object(json!({"session_id": id, "program": "(+ 1 2)"})),
    )
    .ok()
    .unwrap();
    world.pass(MINUTE);
    world.sessions.sweep();
    assert_eq!(world.list()["sessions"][0]["eval_status"], "running");
    assert_eq!(reserved.eval(&Cancel::new()).result.as_deref(), Some("user=> 3"));
    world.pass(999);
    assert_eq!(world.value(&id, "*1"), "3");
}

#[test]
fn time_stops_a_program_that_runs() {
    let world = World::with(|settings| settings.program_timeout_ms = Some(60_000));
    let id = world.begin();
    let args = object(json!({"session_id": id, "program": ENDLESS}));
    let reserved = session_eval::reserve(&world.sessions, &world.me, args).ok().unwrap();
    let running = thread::spawn(move || reserved.eval(&Cancel::new()));
    wait_until_it_runs(&world, &id);
    world.pass(60 * MINUTE);
    world.sessions.sweep();
    let payload = running.join().unwrap();
    assert!(refused(&payload, Reason::SessionClosed).contains("its time was up"));
}

#[test]
fn close_stops_a_program_and_keeps_nothing_of_it() {
    let world = World::with(|settings| settings.program_timeout_ms = Some(60_000));
    let id = world.begin();
    let args = object(json!({"session_id": id, "program": format!("(def a 1) {ENDLESS}")}));
    let reserved = session_eval::reserve(&world.sessions, &world.me, args).ok().unwrap();
    let running = thread::spawn(move || reserved.eval(&Cancel::new()));
    wait_until_it_runs(&world, &id);
    assert_eq!(world.close(json!({"session_id": id}))["closed"], true);
    assert!(refused(&running.join().unwrap(), Reason::SessionClosed).contains("it was closed"));
}

#[test]
fn close_before_a_reserved_program_runs() {
    let world = World::new();
    let id = world.begin();
    let args = object(json!({"session_id": id, "program": "1"}));
    let reserved = session_eval::reserve(&world.sessions, &world.me, args).ok().unwrap();
    world.close(json!({"session_id": id}));
    refused(&reserved.eval(&Cancel::new()), Reason::SessionClosed);
}

/// Waits until a program runs: an attempt is counted when it begins.
fn wait_until_it_runs(world: &World, id: &str) {
    while world.inspect(json!({"session_id": id}))["attempts"] == 0 {
        thread::yield_now();
    }
}

#[test]
fn one_program_at_a_time() {
    let world = World::new();
    let id = world.begin();
    world.value(&id, "(def n 1)");
    let args = object(json!({"session_id": id, "program": "(def n 2)"}));
    let reserved = session_eval::reserve(&world.sessions, &world.me, args).ok().unwrap();
    let second = world.eval(&id, "1");
    assert!(refused(&second, Reason::SessionBusy).contains("wait"));
    assert!(slim(&second).starts_with("session_busy: "));
    // The last committed state can be inspected, but not changed.
    assert_eq!(world.view(&id, "memory")["bindings"][0]["preview"], "1");
    assert_eq!(world.list()["sessions"][0]["eval_status"], "running");
    assert_eq!(world.forget(json!({"session_id": id, "clear": ["memory"]}))["reason"], "session_busy");
    assert!(!reserved.eval(&Cancel::new()).is_error());
    assert_eq!(world.value(&id, "n"), "2");
}

#[test]
fn a_dropped_reservation_lets_go() {
    let world = World::new();
    let id = world.begin();
    let args = object(json!({"session_id": id, "program": "1"}));
    drop(session_eval::reserve(&world.sessions, &world.me, args).ok().unwrap());
    assert_eq!(world.value(&id, "2"), "2");
    assert_eq!(world.inspect(json!({"session_id": id}))["attempts"], 1);
}

#[test]
fn ids_that_never_were_differ_from_those_that_were() {
    let world = World::new();
    let id = world.begin();
    world.close(json!({"session_id": id}));
    for answer in [world.inspect(json!({"session_id": id})), world.forget(json!({"session_id": id}))] {
        assert_eq!(answer["reason"], "session_closed");
    }
    let answer = world.inspect(json!({"session_id": "ptcs_AAAAAAAAAAAAAAAAAAAAAAAA"}));
    assert_eq!(answer["reason"], "session_not_found");
    refused(&world.eval("ptcs_AAAAAAAAAAAAAAAAAAAAAAAA", "1"), Reason::SessionNotFound);
}

#[test]
fn of_those_that_were_the_newest_1024_are_remembered() {
    let world = World::new();
    let ids: Vec<String> = (0..1_025)
        .map(|_| {
            let id = world.begin();
            world.close(json!({"session_id": id}));
            id
        })
        .collect();
    assert_eq!(world.inspect(json!({"session_id": ids[0]}))["reason"], "session_not_found");
    assert_eq!(world.inspect(json!({"session_id": ids[1]}))["reason"], "session_closed");
    assert_eq!(world.inspect(json!({"session_id": ids[1_024]}))["reason"], "session_closed");
}

#[test]
fn the_server_is_full_before_the_owner_is() {
    let world = World::with(|settings| (settings.max_sessions, settings.max_sessions_per_owner) = (3, 2));
    let first = world.begin();
    world.begin();
    let full = world.start(json!({}));
    assert_eq!(full["reason"], "session_limit_exceeded");
    assert_eq!(full["detail"]["limit"], "max_sessions_per_owner");
    assert_eq!((&full["detail"]["actual"], &full["detail"]["max"]), (&json!(2), &json!(2)));
    let other = ptc_mcp::sessions::Owner::new("other");
    assert!(!session_start::answer(&world.sessions, &other, object(json!({}))).is_error());
    let full = world.start(json!({}));
    assert_eq!(full["detail"]["limit"], "max_sessions");
    assert!(text(&full["message"]).contains("max_sessions"));
    world.close(json!({"session_id": first}));
    world.begin();
}

#[test]
fn what_is_over_takes_no_room() {
    let world = World::with(|settings| settings.max_sessions = 1);
    world.begin();
    world.pass(60 * MINUTE);
    world.begin();
}

#[test]
fn all_sessions_of_an_owner_end_together() {
    let world = World::new();
    let (mine, other) = (world.begin(), ptc_mcp::sessions::Owner::new("other"));
    let theirs =
        session_start::answer(&world.sessions, &other, object(json!({}))).answer.unwrap()["session_id"]
            .clone();
    world.sessions.close_owner(&other);
    let answer = session_inspect::answer(&world.sessions, &other, object(json!({"session_id": theirs})));
    refused(&answer, Reason::SessionClosed);
    assert_eq!(world.value(&mine, "1"), "1");
    world.sessions.close_all();
    refused(&world.eval(&mine, "1"), Reason::SessionClosed);
}

#[test]
fn a_program_is_cancelled_while_it_computes() {
    let world = World::with(|settings| settings.program_timeout_ms = Some(600_000));
    let id = world.begin();
    let args = object(json!({"session_id": id, "program": ENDLESS}));
    let reserved = session_eval::reserve(&world.sessions, &world.me, args).ok().unwrap();
    let cancel = Cancel::new();
    let given = cancel.clone();
    let running = thread::spawn(move || reserved.eval(&given));
    wait_until_it_runs(&world, &id);
    cancel.cancel();
    refused(&running.join().unwrap(), Reason::Cancelled);
    assert_eq!(world.value(&id, "1"), "1");
}

#[test]
fn a_cancelled_program_leaves_the_session_as_it_was() {
    let world = World::new();
    let id = world.begin();
    world.value(&id, "(def n 1)");
    let args = object(json!({"session_id": id, "program": format!("(def n 2) {ENDLESS}")}));
    let reserved = session_eval::reserve(&world.sessions, &world.me, args).ok().unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    let payload = reserved.eval(&cancel);
    refused(&payload, Reason::Cancelled);
    assert_eq!(debug(&payload)["session"]["turn"], 1);
    assert_eq!(world.value(&id, "n"), "1");
}

#[test]
fn a_server_that_fails_in_the_middle_keeps_the_session() {
    // The clock is read when a program begins, and again when it is committed.
    let left = Arc::new(AtomicUsize::new(0));
    let armed = left.clone();
    let clock = move || {
        assert!(
            armed.load(Ordering::SeqCst) != 1 || armed.fetch_sub(1, Ordering::SeqCst) != 1,
            "a broken clock"
        );
        let _ = armed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        SystemTime::UNIX_EPOCH
    };
    let world = World::made(|_| {}, None, |builder| builder.clock(Arc::new(clock)));
    let id = world.begin();
    world.value(&id, "(def n 1)");
    let args = object(json!({"session_id": id, "program": "(def n 2)"}));
    let reserved = session_eval::reserve(&world.sessions, &world.me, args).ok().unwrap();
    left.store(2, Ordering::SeqCst);
    let payload = reserved.eval(&Cancel::new());
    assert!(refused(&payload, Reason::RuntimeError).contains("nothing of it was kept"));
    assert_eq!(debug(&payload)["session"]["turn"], 1);
    assert_eq!(world.value(&id, "n"), "1");
}

#[test]
fn many_threads_do_not_wait_for_each_other_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().display().to_string();
    let world = World::with(|settings| {
        settings.max_sessions_per_owner = 64;
        settings.session_dir = Some(dir);
    });
    let ids: Vec<String> = (0..4).map(|_| world.begin()).collect();
    thread::scope(|scope| {
        for worker in 0..6 {
            let (world, ids) = (&world, &ids);
            scope.spawn(move || {
                for round in 0..15 {
                    let id = &ids[(worker + round) % ids.len()];
                    let payload = world.eval(id, &format!("(def n{worker} {round})"));
                    let is_expected =
                        matches!(payload.reason, None | Some(Reason::SessionBusy | Reason::SessionClosed));
                    assert!(is_expected, "{}", payload.message);
                    world.list();
                    world.inspect(json!({"session_id": id, "view": "memory"}));
                    world.forget(json!({"session_id": id, "bindings": [format!("n{worker}")]}));
                    world.sessions.sweep();
                    if round == 10 && worker == 0 {
                        world.close(json!({"session_id": ids[0]}));
                    }
                }
            });
        }
    });
    assert_eq!(world.list()["count"], 3);
    for row in world.list()["sessions"].as_array().unwrap() {
        assert_eq!(row["eval_status"], "idle");
    }
    let kept = std::fs::read_dir(folder.path()).unwrap().filter_map(|file| Some(file.ok()?.path()));
    assert_eq!(kept.filter(|path| path.extension().is_some_and(|ending| ending == "session")).count(), 3);
}
