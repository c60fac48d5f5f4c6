//! Log of turns.

use crate::world::{World, logged};
use ptc_mcp::Settings;
use serde_json::{Value, json};

fn lines(world: &World, folder: &std::path::Path) -> Vec<Value> {
    world.sessions.close_all();
    logged(folder).into_iter().filter(|line| line["event"] == "turn").collect()
}

fn world(folder: &std::path::Path, change: impl FnOnce(&mut Settings)) -> World {
    let dir = folder.display().to_string();
    World::with(|settings| {
        settings.turn_log_dir = Some(dir);
        change(settings);
    })
}

#[test]
fn every_program_that_was_taken_is_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path(), |settings| settings.max_session_bindings = 1);
    let id = world.begin();
    world.value(&id, "(println \"hi\") (def n 7) (* n 6)");
    assert!(world.eval(&id, "(fail {:no :rows})").is_error());
    assert!(world.eval(&id, "(def m 1)").is_error());
    assert!(world.eval(&id, " ").is_error());
    let lines = lines(&world, folder.path());
    assert_eq!(lines.len(), 3, "{lines:?}");
    let line = &lines[0];
    assert_eq!(
        (&line["schema_version"], &line["driver"], &line["session_id"]),
        (&json!(2), &json!("session"), &json!(id))
    );
    assert_eq!((&line["turn"], &line["attempt"], &line["committed"]), (&json!(1), &json!(1), &json!(true)));
    assert_eq!((&line["status"], line["duration_ms"].is_number()), (&json!("ok"), true));
    let data = &line["data"];
    assert_eq!(
        (&data["program"], &data["result_preview"]),
        (&json!("(println \"hi\") (def n 7) (* n 6)"), &json!("user=> 42"))
    );
    assert_eq!((&data["prints"], &data["memory_diff"]["changed_keys"]), (&json!(["hi"]), &json!(["n"])));
    assert_eq!(data["memory_diff"]["values"], json!({"n": "7"}));
    let line = &lines[1];
    assert_eq!((&line["turn"], &line["attempt"], &line["committed"]), (&json!(1), &json!(2), &json!(false)));
    assert_eq!((&line["status"], &line["data"]["fail"]["reason"]), (&json!("error"), &json!("fail")));
    assert_eq!(lines[2]["data"]["limits_hit"], json!(["max_session_bindings"]));
}

#[test]
fn ids_are_hidden_where_others_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path(), |settings| settings.http = true);
    let id = world.begin();
    world.value(&id, "1");
    let lines = lines(&world, folder.path());
    assert_eq!(lines[0]["session_id"], json!(ptc_mcp::sessions::logged_id(&id)));
    assert!(!lines[0].to_string().contains(&id));
}

#[cfg(unix)]
#[test]
fn logs_are_for_their_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("of/turns");
    let first = world(&made, |_| {});
    first.value(&first.begin(), "1");
    assert_eq!(lines(&first, &made).len(), 1);
    assert_eq!((mode(&made), mode(&folder.path().join("of"))), (0o700, 0o700));
    // The mode of an existing folder is not changed.
    let shared = folder.path().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o755)).unwrap();
    let second = world(&shared, |_| {});
    second.value(&second.begin(), "1");
    assert_eq!((lines(&second, &shared).len(), mode(&shared)), (1, 0o755));
    for log in [made, shared] {
        let files: Vec<_> = std::fs::read_dir(log).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty() && files.iter().all(|file| mode(file) == 0o600), "{files:?}");
    }
}
