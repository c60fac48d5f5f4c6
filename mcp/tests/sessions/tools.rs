//! Tools of sessions, one by one.

use crate::world::{World, text};
use ptc_mcp::tools::session_list;
use serde_json::json;

fn wrong(answer: &serde_json::Value) -> String {
    assert_eq!((&answer["status"], &answer["reason"]), (&json!("error"), &json!("session_args_error")));
    text(&answer["message"])
}

#[test]
fn start_gives_an_id_an_end_and_the_limits() {
    let world = World::new();
    let started = world.start(json!({"title": "sales", "ttl_ms": 5_000}));
    let id = text(&started["session_id"]);
    assert_eq!(started["status"], "ok");
    // 18 random bytes.
    assert!(id.starts_with("ptcs_") && id.len() == 5 + 24, "{id}");
    assert!(id[5..].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'), "{id}");
    assert_eq!(started["expires_at"], "2027-01-15T08:00:05.000Z");
    assert_eq!(started["limits"]["max_session_bindings"], 200);
    assert!(started.get("prelude_refs").is_none() && started.get("preludes").is_none());
    assert_ne!(id, world.begin());
}

#[test]
fn start_clamps_the_time_to_live() {
    let world = World::with(|settings| settings.session_ttl_ms = 60_000);
    assert_eq!(world.start(json!({"ttl_ms": 600_000}))["expires_at"], "2027-01-15T08:01:00.000Z");
    assert_eq!(world.start(json!({}))["expires_at"], "2027-01-15T08:01:00.000Z");
}

#[test]
fn start_refuses_what_it_does_not_know() {
    let world = World::new();
    assert!(wrong(&world.start(json!({"titel": "x"}))).contains("did you mean `title`?"));
    assert!(wrong(&world.start(json!({"title": 7}))).contains("must be a string, got a number"));
    assert!(wrong(&world.start(json!({"ttl_ms": 0}))).contains("above 0"));
    assert!(wrong(&world.start(json!({"ttl_ms": "1"}))).contains("above 0"));
    assert!(wrong(&world.start(json!({"mode": "admin"}))).contains("read_only or write_capable"));
    assert!(wrong(&world.start(json!({"preludes": "crm"}))).contains("must be an array"));
    assert!(wrong(&world.start(json!({"preludes": ["crm"]}))).contains("no store"));
    assert!(wrong(&world.start(json!({"mode": "write_capable"}))).contains("--sessions-allow-prelude-write"));
    assert_eq!(world.list()["count"], 0);
}

#[test]
fn list_shows_the_newest_first() {
    let world = World::new();
    let (first, second) = (world.start(json!({"title": "one"})), world.begin());
    world.value(&second, "(def n 1)");
    let listed = world.list();
    assert_eq!(listed["count"], 2);
    let rows = listed["sessions"].as_array().unwrap();
    assert_eq!(rows[0]["session_id"], second.as_str());
    assert_eq!(rows[1]["session_id"], first["session_id"]);
    assert_eq!((&rows[0]["turn"], &rows[0]["binding_count"]), (&json!(1), &json!(1)));
    assert_eq!((&rows[1]["title"], &rows[1]["eval_status"]), (&json!("one"), &json!("idle")));
    for key in ["created_at", "updated_at", "expires_at", "memory_bytes"] {
        assert!(!rows[0][key].is_null(), "{key}");
    }
    let args = json!({"session_id": second});
    let told = session_list::answer(&world.sessions, &world.me, args.as_object().unwrap().clone());
    assert!(told.message.contains("takes no arguments"));
}

#[test]
fn inspect_has_six_views() {
    let world = World::new();
    let id = world.begin();
    world.value(&id, "(println \"hello\") (def n 7) (def rows [1 2])");
    world.value(&id, "(* n 6)");
    let overview = world.inspect(json!({"session_id": id}));
    assert_eq!((&overview["view"], &overview["stored_keys"]), (&json!("overview"), &json!(["n", "rows"])));
    assert_eq!((&overview["session"]["turn"], &overview["attempts"]), (&json!(2), &json!(2)));
    assert_eq!(world.view(&id, "nonsense"), overview);
    let memory = world.view(&id, "memory");
    assert_eq!(memory["bindings"][1]["name"], "rows");
    assert_eq!(memory["bindings"][1]["preview"], "[1 2]");
    assert_eq!(world.view(&id, "prints")["prints"], json!(["hello"]));
    let history = world.view(&id, "history");
    assert_eq!(
        (&history["history"][0]["entry"], &history["history"][0]["preview"]),
        (&json!("*1"), &json!("42"))
    );
    let limits = world.view(&id, "limits");
    assert_eq!(
        (&limits["limits"]["max_session_bindings"], &limits["usage"]["binding_count"]),
        (&json!(200), &json!(2))
    );
    let calls = world.view(&id, "tool_calls");
    assert_eq!((&calls["tool_calls"], &calls["upstream_calls"]), (&json!([]), &json!([])));
    for view in [overview, memory, history, limits, calls] {
        assert_eq!((&view["status"], &view["session_id"]), (&json!("ok"), &json!(id)));
        assert_eq!(view["session"]["session_id"], json!(id));
    }
    assert!(wrong(&world.inspect(json!({}))).contains("`session_id` is required"));
    assert!(wrong(&world.inspect(json!({"session_id": 7}))).contains("must be a string"));
}

#[test]
fn forget_takes_names_and_kinds() {
    let world = World::new();
    let id = world.begin();
    world.value(&id, "(println 1) (def a 1) (def b 2) (defn twice [x] (* 2 x))");
    let forgot = world.forget(json!({"session_id": id, "bindings": ["a", "zz"], "clear": ["prints"]}));
    assert_eq!(forgot["removed_bindings"], json!(["a"]));
    assert_eq!((&forgot["cleared"], &forgot["stored_keys"]), (&json!(["prints"]), &json!(["b", "twice"])));
    assert_eq!(
        (&forgot["usage"]["binding_count"], &forgot["usage"]["print_entries"]),
        (&json!(2), &json!(0))
    );
    assert!(world.eval(&id, "a").message.contains("`a`"));
    assert_eq!(world.value(&id, "(twice b)"), "4");
    let forgot = world.forget(json!({"session_id": id, "clear": ["memory", "history"]}));
    assert_eq!((&forgot["removed_bindings"], &forgot["stored_keys"]), (&json!(["b", "twice"]), &json!([])));
    assert_eq!(world.value(&id, "[*1 *2]"), "[nil nil]");
    let nothing = world.forget(json!({"session_id": id}));
    assert_eq!((&nothing["removed_bindings"], &nothing["cleared"]), (&json!([]), &json!([])));
}

#[test]
fn forget_refuses_what_it_does_not_know() {
    let world = World::new();
    let id = world.begin();
    assert!(wrong(&world.forget(json!({"session_id": id, "clear": ["all"]}))).contains("upstream_calls"));
    assert!(wrong(&world.forget(json!({"session_id": id, "bindings": "a"}))).contains("array of strings"));
    assert!(wrong(&world.forget(json!({"session_id": id, "bindings": [1]}))).contains("array of strings"));
    assert!(wrong(&world.forget(json!({"session_id": id, "names": []}))).contains("unknown argument"));
}

#[test]
fn close_says_why() {
    let world = World::new();
    let (one, two) = (world.begin(), world.begin());
    let closed = world.close(json!({"session_id": one, "reason": "done"}));
    assert_eq!((&closed["closed"], &closed["reason"]), (&json!(true), &json!("done")));
    assert_eq!(world.close(json!({"session_id": two}))["reason"], "closed by the client");
    assert_eq!(world.close(json!({"session_id": two}))["reason"], "session_closed");
    assert!(wrong(&world.close(json!({"session_id": two, "why": 1}))).contains("unknown argument"));
}
