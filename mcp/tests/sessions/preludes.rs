//! Stored preludes in sessions, and sessions that write them.

use crate::world::{World, runtime, text};
use ptc_mcp::Settings;
use ptc_runtime::{LoadOptions, Prelude, PreludeStore};
use serde_json::{Value, json};

fn store() -> PreludeStore {
    let store = PreludeStore::new(&runtime());
    let shop = "(ns shop \"Prices.\" {:visibility :prompt}) (defn gross [n] (* n 1.5)) (def rate 19)";
    store.write("shop", shop, json!({})).unwrap();
    store.write("shop", "(ns shop) (def rate 7)", json!({})).unwrap();
    store.write("quiet", "(ns quiet) (def x 1)", json!({})).unwrap();
    store
}

fn world(change: impl FnOnce(&mut Settings), store: &PreludeStore) -> World {
    let authoring = Prelude::load(&runtime(), ptc_preludes::prelude(), &LoadOptions::default()).unwrap();
    World::made(change, None, |builder| builder.store(store).authoring(&authoring))
}

fn started(world: &World, args: Value) -> (String, Value) {
    let started = world.start(args);
    assert_eq!(started["status"], "ok", "{started}");
    (text(&started["session_id"]), started)
}

#[test]
fn preludes_are_named_in_three_ways_and_stay_as_they_were() {
    let store = store();
    let world = world(|_| {}, &store);
    let checksum = store.read("shop@1").unwrap().checksum;
    let (current, _) = started(&world, json!({"preludes": ["shop", "quiet"]}));
    let (first, answer) = started(&world, json!({"preludes": ["shop@1"]}));
    let (checked, _) =
        started(&world, json!({"preludes": [{"id": "shop", "version": 1, "checksum": checksum}]}));
    store.write("shop", "(ns shop) (def rate 0)", json!({})).unwrap();
    assert_eq!(world.value(&current, "[shop/rate quiet/x]"), "[7 1]");
    assert_eq!(world.value(&first, "[shop/rate (shop/gross 2)]"), "[19 3.0]");
    assert_eq!(world.value(&checked, "shop/rate"), "19");
    assert_eq!(answer["prelude_refs"][0]["id"], "shop");
    assert_eq!(
        (&answer["prelude_refs"][0]["version"], &answer["prelude_refs"][0]["checksum"]),
        (&json!(1), &json!(checksum))
    );
    assert_eq!(
        answer["preludes"],
        json!([{"namespace": "shop", "doc": "Prices.", "discover": "(ns-publics 'shop)", "source": "(source shop/gross)"}])
    );
    assert!(!world.eval(&first, "(ns-publics 'shop)").is_error());
    let listed = world.list_preludes(json!({"session_id": first}));
    assert_eq!((&listed["session_id"], &listed["prelude_refs"]), (&json!(first), &answer["prelude_refs"]));
}

#[test]
fn the_store_is_listed_without_a_session() {
    let world = world(|_| {}, &store());
    let listed = world.list_preludes(json!({}));
    assert_eq!(listed["status"], "ok");
    let rows = listed["preludes"].as_array().unwrap();
    assert_eq!((&rows[0]["id"], &rows[1]["id"]), (&json!("quiet"), &json!("shop")));
    assert!(rows[1].get("source").is_none());
    assert_eq!(World::new().list_preludes(json!({}))["preludes"], json!([]));
}

#[test]
fn preludes_that_are_not_there_are_refused() {
    let world = world(|_| {}, &store());
    for wrong in [
        json!("nope"),
        json!("shop@9"),
        json!("a b"),
        json!(7),
        json!({"id": "shop"}),
        json!({"id": "shop", "version": 1, "checksum": "0".repeat(64)}),
    ] {
        let answer = world.start(json!({"preludes": [wrong]}));
        assert_eq!(answer["reason"], "session_args_error", "{answer}");
    }
    assert_eq!(world.list()["count"], 0);
}

#[test]
fn preludes_are_written_by_who_may() {
    let store = store();
    let world = world(|settings| settings.sessions_allow_prelude_write = true, &store);
    let (reader, _) = started(&world, json!({}));
    assert!(world.eval(&reader, "(prelude/list)").is_error());
    let (writer, _) = started(&world, json!({"mode": "write_capable", "preludes": ["quiet"]}));
    let write = "(prelude/write {:id \"made\" :source \"(ns made) (def x 41)\" :metadata {:reason \"why\" :token \"s3cret-77\"}})";
    let status = world.value(&writer, &format!("(get {write} \"status\")"));
    assert_eq!(status, "\"ok\"");
    assert_eq!(world.value(&writer, "(inc quiet/x)"), "2");
    let (next, _) = started(&world, json!({"preludes": ["made"]}));
    assert_eq!(world.value(&next, "(inc made/x)"), "42");
    // The record of the call names the tool but does not contain the source.
    let calls = world.view(&writer, "tool_calls")["tool_calls"].clone();
    assert_eq!((&calls[0]["tool"], &calls[0]["status"]), (&json!("prelude_store_write"), &json!("ok")));
    let told = calls.to_string();
    assert!(!told.contains("def x 41") && !told.contains("s3cret-77") && told.contains("why"), "{calls}");
    // Nor do the records of what is read, with all that was kept.
    assert_eq!(world.value(&writer, "(prelude/source \"made\")"), "\"(ns made) (def x 41)\"");
    assert_eq!(world.value(&writer, "(:metadata (prelude/read \"made\"))"), "{\"reason\" \"why\"}");
    let calls = world.view(&writer, "tool_calls")["tool_calls"].clone();
    let names: Vec<&str> =
        calls.as_array().unwrap().iter().map(|call| call["tool"].as_str().unwrap()).collect();
    assert_eq!(names, ["prelude_store_write", "prelude_store_read", "prelude_store_read"]);
    assert!(!calls.to_string().contains("def x 41"), "{calls}");
    let forgot = world.forget(json!({"session_id": writer, "clear": ["tool_calls"]}));
    assert_eq!(forgot["usage"]["tool_call_entries"], 0);
}
