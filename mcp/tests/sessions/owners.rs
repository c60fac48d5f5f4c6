//! Sessions reveal nothing to other owners.

use crate::world::{World, object};
use ptc_mcp::sessions::Owner;
use ptc_mcp::tools::{
    session_close, session_eval, session_forget, session_inspect, session_list, session_list_preludes,
};
use ptc_mcp::{Payload, Profile};
use ptc_runtime::Cancel;
use serde_json::{Value, json};

/// Calls every tool that takes a session id, as this owner.
fn asked(world: &World, owner: &Owner, id: &str) -> Vec<Payload> {
    let args = |more: Value| {
        let mut args = object(more);
        args.insert("session_id".to_string(), json!(id));
        args
    };
    let sessions = &world.sessions;
    vec![
        session_inspect::answer(sessions, owner, args(json!({}))),
        session_inspect::answer(sessions, owner, args(json!({"view": "memory"}))),
        session_forget::answer(sessions, owner, args(json!({"clear": ["memory"]}))),
        session_close::answer(sessions, owner, args(json!({}))),
        session_list_preludes::answer(sessions, owner, args(json!({}))),
        match session_eval::reserve(sessions, owner, args(json!({"program": "n"}))) {
            Ok(reserved) => reserved.eval(&Cancel::new()),
            Err(refused) => *refused,
        },
    ]
}

#[test]
fn the_session_of_another_owner_is_like_none() {
    let world = World::new();
    let (other, nobody) = (Owner::new("other"), "ptcs_AAAAAAAAAAAAAAAAAAAAAAAA");
    let (live, over) = (world.begin(), world.begin());
    world.value(&live, "(def n 42)");
    world.close(json!({"session_id": over}));
    let never = asked(&world, &other, nobody);
    for id in [&live, &over] {
        for (found, never) in asked(&world, &other, id).iter().zip(&never) {
            for profile in Profile::ALL {
                let (found, never) = (found.reply(profile).to_json(), never.reply(profile).to_json());
                assert_eq!(found.to_string().len(), never.to_string().len());
                assert_eq!(found, never);
            }
        }
    }
    assert_eq!(session_list::answer(&world.sessions, &other, object(json!({}))).answer.unwrap()["count"], 0);
    // The session is untouched.
    assert_eq!(world.value(&live, "n"), "42");
    assert_eq!(world.list()["sessions"][0]["turn"], 2);
}

#[test]
fn asking_for_the_session_of_another_owner_does_not_keep_it_alive() {
    let world = World::new();
    let id = world.begin();
    for _ in 0..3 {
        world.pass(5 * 60_000);
        asked(&world, &Owner::new("other"), &id);
    }
    assert_eq!(world.inspect(json!({"session_id": id}))["reason"], "session_closed");
}

#[test]
fn what_a_client_says_of_owners_counts_for_nothing() {
    let world = World::new();
    let id = world.begin();
    let other = Owner::new("other");
    let args = object(json!({"session_id": id, "owner": format!("{:?}", world.me)}));
    assert_eq!(
        session_inspect::answer(&world.sessions, &other, args).answer.unwrap()["reason"],
        "session_not_found"
    );
    let args = json!({"session_id": id, "owner": "root", "program": "1"});
    assert_eq!(world.eval_args(args).result.as_deref(), Some("user=> 1"));
    assert_eq!(world.start(json!({"owner": "root"}))["status"], "ok");
}

#[test]
fn every_process_has_another_local_owner() {
    assert_ne!(World::new().me, World::new().me);
}
