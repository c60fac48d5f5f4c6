//! Features of a store on disk: other processes, damage, leftovers.

use super::common::*;
use super::store::{Folder, source};
use ptc_runtime::{PreludeStore, StoreError, StoreLimits, StoreRef};
use serde_json::json;
use std::fs;

fn reopen(folder: &Folder) -> Result<PreludeStore, StoreError> {
    PreludeStore::open(&runtime(), &folder.0, StoreLimits::default())
}

fn list_file(folder: &Folder) -> std::path::PathBuf {
    folder.0.join("refs.jsonl")
}

fn objects(folder: &Folder) -> Vec<String> {
    let names = fs::read_dir(folder.0.join("objects")).unwrap();
    let mut names: Vec<String> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Makes a store with three versions of `a`.
fn filled(name: &str) -> Folder {
    let folder = Folder::new(name);
    let store = folder.open(StoreLimits::default());
    for n in 1..=3 {
        store.write("a", &source("a", n), json!({"n": n})).unwrap();
    }
    folder
}

#[test]
fn what_was_stored_is_there_the_next_time() {
    let folder = filled("again");
    let store = reopen(&folder).unwrap();
    store.set_default("a@2", json!({"reason": "x"})).unwrap();
    let again = reopen(&folder).unwrap();
    assert_eq!(again.list().unwrap(), store.list().unwrap());
    assert_eq!(again.history("a").unwrap(), store.history("a").unwrap());
    assert_eq!(&*again.read("a").unwrap().source, source("a", 2));
}

#[test]
fn sources_are_found_by_their_hash() {
    let folder = filled("hash");
    let checksum = compiled(&source("a", 1)).source_hash();
    let stored = fs::read_to_string(folder.0.join(format!("objects/{checksum}.clj"))).unwrap();
    assert_eq!(stored, source("a", 1));
    let artifact = fs::read(folder.0.join(format!("objects/{checksum}.ptcp"))).unwrap();
    assert_eq!(artifact, compiled(&source("a", 1)).to_bytes());
    assert_eq!(objects(&folder).len(), 6);
    // The same source again takes no more room.
    reopen(&folder).unwrap().write("a", &source("a", 1), json!({})).unwrap();
    assert_eq!(objects(&folder).len(), 6);
}

#[test]
fn two_stores_see_each_other() {
    let folder = Folder::new("two");
    let (one, two) = (folder.open(StoreLimits::default()), folder.open(StoreLimits::default()));
    assert_eq!(one.write("a", &source("a", 1), json!({})).unwrap().version, 1);
    assert_eq!(two.write("a", &source("a", 2), json!({})).unwrap().version, 2);
    assert_eq!(one.read("a").unwrap().version, 2);
    one.set_default("a@1", json!({})).unwrap();
    assert_eq!(two.read("a").unwrap().version, 1);
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let folder = Folder::new("threads");
    let limits = StoreLimits { max_log_slack_bytes: 2_000, ..StoreLimits::default() };
    folder.open(limits);
    let mut written: Vec<(u64, String)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let store = folder.open(limits);
                scope.spawn(move || {
                    let write = |n: u64| {
                        let written = store.write("a", &source("a", thread * 1_000 + n), json!({})).unwrap();
                        let read = store.read(StoreRef::version("a", written.version)).unwrap();
                        assert_eq!(read.checksum, written.checksum);
                        (written.version, written.checksum)
                    };
                    (0..15).map(write).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    written.sort();
    let numbers: Vec<u64> = written.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=60).collect::<Vec<_>>());
    let history = reopen(&folder).unwrap().history("a").unwrap();
    let stored: Vec<_> = history.into_iter().map(|row| (row.version, row.checksum)).collect();
    assert_eq!(stored, written);
}

#[test]
fn only_one_of_two_based_on_the_same_version_wins() {
    let folder = Folder::new("race");
    let base = folder.open(StoreLimits::default()).write("a", &source("a", 0), json!({})).unwrap();
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=4)
            .map(|n| {
                let store = folder.open(StoreLimits::default());
                let metadata = json!({"parent_checksum": base.checksum});
                scope.spawn(move || store.write("a", &source("a", n), metadata))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let won = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(won, 1);
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(error.reason(), "stale_base");
    }
}

#[test]
fn a_line_that_was_cut_off_never_was() {
    let folder = filled("cut");
    let whole = fs::read(list_file(&folder)).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    for end in [last, last + 1, last + 50, whole.len() - 1] {
        fs::write(list_file(&folder), &whole[..end]).unwrap();
        let store = reopen(&folder).unwrap();
        assert_eq!(store.read("a").unwrap().version, 2, "{end}");
        // The number was never acknowledged, so it is free.
        assert_eq!(store.write("a", &source("a", 7), json!({})).unwrap().version, 3);
        assert_eq!(&*reopen(&folder).unwrap().read("a").unwrap().source, source("a", 7));
    }
}

#[test]
fn a_line_that_was_changed_is_told() {
    let folder = filled("changed");
    let whole = fs::read(list_file(&folder)).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut bent = whole.clone();
        bent[at] ^= 4;
        fs::write(list_file(&folder), &bent).unwrap();
        // Except for the last newline, without which the last line does not count.
        match reopen(&folder) {
            Err(error) => {
                assert!(["store_corrupt", "unsupported_format"].contains(&error.reason()), "{error}")
            }
            Ok(store) => assert!(at == whole.len() - 1 && store.read("a").unwrap().version == 2, "{at}"),
        }
    }
    // A line removed from the middle.
    let mut lines: Vec<&[u8]> = whole.split_inclusive(|b| *b == b'\n').collect();
    lines.remove(2);
    fs::write(list_file(&folder), lines.concat()).unwrap();
    let error = reopen(&folder).err().unwrap();
    assert_eq!((error.reason(), &error.details["line"]), ("store_corrupt", &json!(3)));
}

#[test]
fn a_damaged_source_is_told_and_written_anew() {
    let folder = filled("source");
    let checksum = compiled(&source("a", 3)).source_hash();
    let path = folder.0.join(format!("objects/{checksum}.clj"));
    for damage in [&b""[..], b"(ns a)", source("a", 9).as_bytes(), &[0xff; 40]] {
        fs::write(&path, damage).unwrap();
        let error = reopen(&folder).unwrap().read("a").unwrap_err();
        assert_eq!(error.reason(), "store_corrupt", "{error}");
        assert!(error.message.contains(&checksum), "{error}");
        // The other versions are intact.
        assert!(reopen(&folder).unwrap().read("a@2").is_ok());
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(reopen(&folder).unwrap().read("a").unwrap_err().reason(), "store_corrupt");
    let store = reopen(&folder).unwrap();
    store.write("a", &source("a", 3), json!({})).unwrap();
    assert_eq!(&*store.read("a@3").unwrap().source, source("a", 3));
}

#[test]
fn compiled_files_are_not_believed() {
    let folder = filled("compiled");
    let checksum = compiled(&source("a", 3)).source_hash();
    let path = folder.0.join(format!("objects/{checksum}.ptcp"));
    // The last one is a sound file of other code.
    let other = compiled(&source("a", 9)).to_bytes();
    for damage in [&b""[..], b"nonsense", &other] {
        fs::write(&path, damage).unwrap();
        let read = reopen(&folder).unwrap().read("a").unwrap();
        assert_eq!(read.compiled.source_hash(), checksum);
    }
    fs::remove_file(&path).unwrap();
    let store = reopen(&folder).unwrap();
    assert_eq!(store.read("a").unwrap().compiled.source_hash(), checksum);
    // It is repaired when the source is stored again.
    store.write("a", &source("a", 3), json!({})).unwrap();
    assert_eq!(fs::read(&path).unwrap(), compiled(&source("a", 3)).to_bytes());
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_waited_for() {
    let folder = filled("pipe");
    let checksum = compiled(&source("a", 3)).source_hash();
    let pipe = |path: &std::path::Path| {
        let _ = fs::remove_file(path);
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    let object = folder.0.join(format!("objects/{checksum}.clj"));
    pipe(&object);
    pipe(&folder.0.join(format!("objects/.new-{checksum}.clj")));
    reopen(&folder).unwrap().write("a", &source("a", 3), json!({})).unwrap();
    assert_eq!(&*reopen(&folder).unwrap().read("a@3").unwrap().source, source("a", 3));
    for path in [object, list_file(&folder)] {
        pipe(&path);
        let read = reopen(&folder).and_then(|store| store.read("a"));
        assert!(["store_corrupt", "store_unavailable"].contains(&read.unwrap_err().reason()));
    }
}

#[test]
fn a_lost_list_is_not_begun_anew() {
    let folder = filled("lost");
    fs::remove_file(list_file(&folder)).unwrap();
    let error = reopen(&folder).err().unwrap();
    assert_eq!(error.reason(), "store_corrupt");
    assert_eq!(objects(&folder).len(), 6);
}

#[test]
fn leftovers_are_swept_away() {
    let folder = filled("sweep");
    let orphan = "0".repeat(64);
    for name in [format!("objects/{orphan}.clj"), "objects/.new-x".into(), ".new-refs.jsonl".into()] {
        fs::write(folder.0.join(name), "x").unwrap();
    }
    fs::write(folder.0.join("objects/README"), "not ours").unwrap();
    let store = reopen(&folder).unwrap();
    store.write("a", &source("a", 4), json!({})).unwrap();
    let names = objects(&folder);
    assert!(names.contains(&"README".to_string()) && names.len() == 9, "{names:?}");
    assert!(!folder.0.join(".new-refs.jsonl").exists());
}

#[test]
fn pruned_sources_are_deleted_and_the_list_stays_short() {
    let folder = Folder::new("short");
    let limits = StoreLimits { max_versions: 3, max_log_slack_bytes: 3_000, ..StoreLimits::default() };
    let (store, other) = (folder.open(limits), folder.open(limits));
    for n in 1..=60 {
        store.write("a", &source("a", n), json!({})).unwrap();
        // A process that knew the list before it was rewritten reads it anew.
        assert_eq!(other.read("a").unwrap().version, n);
    }
    assert_eq!(objects(&folder).len(), 6);
    assert!(fs::metadata(list_file(&folder)).unwrap().len() < 12_000);
    assert_eq!(reopen(&folder).unwrap().history("a").unwrap(), store.history("a").unwrap());
    assert_eq!(store.write("a", &source("a", 1), json!({})).unwrap().version, 61);
}

#[test]
fn other_limits_read_the_same() {
    let folder = filled("others");
    let small = folder.open(StoreLimits { max_versions: 1, ..StoreLimits::default() });
    assert_eq!(small.history("a").unwrap().len(), 3);
    small.write("a", &source("a", 4), json!({})).unwrap();
    assert_eq!(reopen(&folder).unwrap().history("a").unwrap().len(), 1);
    let tiny = folder.open(StoreLimits { max_source_bytes: 10, ..StoreLimits::default() });
    assert_eq!(tiny.read("a").unwrap_err().reason(), "source_too_large");
}

#[test]
fn a_store_that_is_held_too_long_is_busy() {
    let folder = filled("busy");
    let lock = fs::File::open(folder.0.join("lock")).unwrap();
    lock.lock().unwrap();
    let limits = StoreLimits { lock_timeout_ms: 30, ..StoreLimits::default() };
    let error = PreludeStore::open(&runtime(), &folder.0, limits).err().unwrap();
    assert_eq!(error.reason(), "store_busy");
    lock.unlock().unwrap();
    assert!(PreludeStore::open(&runtime(), &folder.0, limits).is_ok());
}

#[test]
fn a_folder_that_cannot_be_one_is_told() {
    let folder = Folder::new("no-folder");
    fs::write(&folder.0, "a file").unwrap();
    assert_eq!(reopen(&folder).err().unwrap().reason(), "store_unavailable");
    fs::remove_file(&folder.0).unwrap();
}

/// The same operations in memory and on disk, with the folder reopened now and then, give equal results.
#[test]
fn memory_and_disk_agree() {
    let folder = Folder::new("agree");
    let limits = StoreLimits {
        max_versions: 3,
        max_ids: 3,
        max_total_bytes: 600,
        max_log_slack_bytes: 2_000,
        ..StoreLimits::default()
    };
    let memory = PreludeStore::with_limits(&runtime(), limits).unwrap();
    let mut disk = folder.open(limits);
    let mut dice = 7_u64;
    let mut roll = |below: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % below
    };
    // Times differ; everything else must be equal.
    let shown = |store: &PreludeStore| {
        let timeless = |text: String| {
            let cut = |part: &str| part.split_once('"').map_or(String::new(), |(_, rest)| rest.to_string());
            text.split("_at\":\"").map(cut).collect::<Vec<_>>().join("_at")
        };
        let list = store.list().unwrap();
        let histories = list.iter().map(|row| store.history(&row.id).unwrap()).collect::<Vec<_>>();
        timeless(json!([list, histories]).to_string())
    };
    let mut stored = 0;
    for _ in 0..150 {
        let id = ["a", "b", "c", "d"][roll(4) as usize];
        let number = roll(6) + 1;
        let results = match roll(4) {
            0 => [&memory, &disk].map(|store| {
                let selected = store.set_default(StoreRef::version(id, number), json!({"n": number}));
                selected.map(|selected| selected.checksum).map_err(|error| error.to_string())
            }),
            1 => [&memory, &disk].map(|store| {
                let read = store.read(StoreRef::version(id, number));
                read.map(|read| read.source.to_string()).map_err(|error| error.to_string())
            }),
            _ => [&memory, &disk].map(|store| {
                let written = store.write(id, &source(id, number), json!({"n": number}));
                written.map(|written| written.version.to_string()).map_err(|error| error.to_string())
            }),
        };
        assert_eq!(results[0], results[1]);
        stored += usize::from(results[0].is_ok());
        if roll(5) == 0 {
            disk = folder.open(limits);
        }
        assert_eq!(shown(&memory), shown(&disk));
    }
    assert!(stored > 40, "{stored}");
}

#[test]
fn a_lost_folder_of_sources_is_made_anew() {
    let folder = filled("folder");
    fs::remove_dir_all(folder.0.join("objects")).unwrap();
    let store = reopen(&folder).unwrap();
    assert_eq!(store.read("a").unwrap_err().reason(), "store_corrupt");
    store.write("a", &source("a", 8), json!({})).unwrap();
    assert_eq!(store.read("a").unwrap().version, 4);
}

/// Forged lists with every hash recomputed are read or refused, and every operation on one that was read returns.
#[test]
fn forged_lists_are_read_or_refused() {
    let folder = filled("forged");
    reopen(&folder).unwrap().set_default("a@1", json!({"reason": "x"})).unwrap();
    let sha = |text: String| {
        use sha2::{Digest, Sha256};
        ptc_bytecode::hex(&Sha256::digest(text.as_bytes()).into())
    };
    let whole = fs::read_to_string(list_file(&folder)).unwrap();
    let start = "{\"sum\":\"\",\"entry\":".len() + 64;
    let bodies: Vec<&str> = whole.lines().map(|line| &line[start..line.len() - 1]).collect();
    let changes = [
        ("\"version\":1,", "\"version\":0,"),
        ("\"version\":1,", "\"version\":18446744073709551615,"),
        ("\"version\":1,", "\"version\":-1,"),
        ("\"version\":3,", "\"version\":2,"),
        ("\"id\":\"a\"", "\"id\":\"../../a\""),
        ("\"id\":\"a\"", "\"id\":\"\""),
        ("\"id\":\"a\"", "\"id\":7"),
        ("\"bytes\":", "\"bytes\":9"),
        ("\"bytes\":4", "\"bytes\":0"),
        ("\"pruned\":[]", "\"pruned\":[1]"),
        ("\"pruned\":[]", "\"pruned\":[1,1,9]"),
        ("\"checksum\":\"", "\"checksum\":\"/"),
        ("\"op\":\"write\"", "\"op\":\"kept\""),
        ("\"op\":\"select\"", "\"op\":\"other\""),
        ("\"metadata\":{", "\"metadata\":{\"deep\":[[[[[[[[[[]]]]]]]]]],"),
        ("\"metadata\":{", "\"more\":1,\"metadata\":{"),
        ("\"created_at\":\"2", "\"created_at\":\"\\u0000"),
        ("\"generation\":1", "\"generation\":18446744073709551615"),
        ("\"version\":1,\"generation\"", "\"version\":2,\"generation\""),
    ];
    let mut refused = 0;
    for (which, (from, to)) in (0..bodies.len()).flat_map(|line| changes.map(|change| (line, change))) {
        let mut text = String::new();
        let mut sum = String::new();
        for (line, body) in bodies.iter().enumerate() {
            let body = if line == which { body.replacen(from, to, 1) } else { body.to_string() };
            sum = sha(sum + &body);
            text.push_str(&format!("{{\"sum\":\"{sum}\",\"entry\":{body}}}\n"));
        }
        fs::write(list_file(&folder), text).unwrap();
        let known = ["store_corrupt", "unsupported_format", "not_found", "source_too_large", "stale_base"];
        let check = |error: StoreError| assert!(known.contains(&error.reason()), "{which} {to}: {error}");
        match reopen(&folder) {
            Err(error) => {
                refused += 1;
                check(error);
            }
            Ok(store) => {
                for row in store.list().unwrap() {
                    for past in store.history(&row.id).map_err(check).into_iter().flatten() {
                        let _ = store.read(StoreRef::version(&*row.id, past.version)).map_err(check);
                    }
                }
                let _ = store.write("a", &source("a", 3), json!({})).map_err(check);
            }
        }
    }
    assert!(refused > 20, "{refused}");
}
