//! `ptc store`, `-p store:…`, `-p ptc:…` and `--prelude-write`.

use crate::{Ran, file, ptc, ptc_with};
use serde_json::json;
use std::path::PathBuf;

/// An empty folder for a store, and a source that declares `shop`.
fn setting(name: &str) -> (String, String) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stores").join(name);
    let _ = std::fs::remove_dir_all(&path);
    (path.display().to_string(), file(&format!("store-{name}/shop.clj"), "(ns shop)\n(def rate 19)\n"))
}

fn store(words: &[&str]) -> Ran {
    ptc(&[&["store"], words].concat())
}

#[test]
fn versions_are_written_listed_read_and_chosen() {
    let (at, shop) = setting("all");
    let ran = store(&["write", &at, &shop, "--reason", "first"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("shop@1 stored  "), "{ran:?}");
    assert!(store(&["write", &at, &shop]).out.starts_with("shop@1 unchanged  "));
    std::fs::write(&shop, "(ns shop)\n(def rate 7)\n").unwrap();
    assert!(store(&["write", &at, &shop, "--reason", "second"]).out.starts_with("shop@2 stored  "));
    store(&["read", &at, "shop"]).expect(0, "(ns shop)\n(def rate 7)\n");
    store(&["read", &at, "shop@1"]).expect(0, "(ns shop)\n(def rate 19)\n");
    let json = store(&["read", &at, "shop@1", "--json"]).json();
    assert_eq!((&json["version"], &json["origin"]), (&json!(1), &json!("file:shop.clj")));
    let checksum = json["checksum"].as_str().unwrap();
    assert_eq!(store(&["read", &at, "shop@1", "--checksum", checksum]).code, 0);
    assert_eq!(store(&["read", &at, "shop@2", "--checksum", checksum]).code, 1);
    let ran = store(&["set-default", &at, "shop@1", "--reason", "better"]);
    assert!(ran.out.starts_with("shop@1 is current  "), "{ran:?}");
    let rows = store(&["list", &at, "--json"]).json();
    assert_eq!(rows["preludes"][0]["default_metadata"], json!({"reason": "better"}));
    assert!(store(&["list", &at]).out.starts_with("shop@1, latest 2, 2 kept, 1 exports  "));
    let history = store(&["history", &at, "shop"]);
    let lines: Vec<&str> = history.out.lines().collect();
    assert!(lines[0].starts_with("shop@1 current  ") && lines[0].ends_with("  first"), "{history:?}");
    store(&["check", &at]).expect(0, "1 prelude, 2 versions, all intact\n");
}

#[test]
fn what_is_refused_has_a_code() {
    let (at, shop) = setting("refused");
    let none = store(&["list", &at]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("there is no store in"), "{none:?}");
    let bad = file("store-refused/bad.clj", "(ns bad)\n(defn f [] (nope))\n");
    assert_eq!(store(&["write", &at, &bad]).code, 1);
    assert!(!PathBuf::from(&at).exists(), "no folder is made for nothing");
    store(&["write", &at, &shop]);
    let ran = store(&["write", &at, &shop, &bad]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("bad.clj: line 2: bad/f references undefined variable(s): nope"), "{ran:?}");
    let two = file("store-refused/two.clj", "(ns a) (def x 1) (ns b) (def y 1)");
    assert_eq!(store(&["write", &at, &two]).code, 1);
    let stale = store(&["write", &at, &shop, "--parent", "00"]);
    assert_eq!(stale.code, 0, "what is stored already stays: {stale:?}");
    std::fs::write(&shop, "(ns shop)\n(def rate 1)\n").unwrap();
    let stale = store(&["write", &at, &shop, "--parent", "00", "--json"]);
    assert_eq!((stale.code, &stale.json()["error"]["kind"]), (1, &json!("stale_base")));
    for (words, code) in [
        (["read", &at, "nope"], 1),
        (["read", &at, "shop@9"], 1),
        (["read", &at, "shop@x"], 2),
        (["set-default", &at, "shop"], 2),
        (["history", &at, "nope"], 1),
        (["write", &at, "no-such-file.clj"], 2),
    ] {
        let ran = store(&words);
        assert_eq!(ran.code, code, "{words:?} {ran:?}");
        assert!(!ran.err.is_empty(), "{words:?}");
    }
    let list = PathBuf::from(&at).join("refs.jsonl");
    let damaged = std::fs::read_to_string(&list).unwrap().replace("\"bytes\"", "\"bites\"");
    std::fs::write(&list, damaged).unwrap();
    let ran = store(&["check", &at]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("line 2 of refs.jsonl is damaged"), "{ran:?}");
}

#[test]
fn a_folder_of_sources_is_stored_whole_or_not_at_all() {
    let (at, shop) = setting("folder");
    let folder = PathBuf::from(&shop).parent().unwrap().display().to_string();
    let tax = file("store-folder/tax.clj", "(ns tax) (def x 1)");
    let ran = store(&["write", &at, &folder, "--json"]);
    let ids: Vec<_> = ran.json()["written"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, ["shop", "tax"]);
    std::fs::write(&shop, "(ns shop) (def rate 3)").unwrap();
    std::fs::write(&tax, "(ns shop) (def x 1)").unwrap();
    let ran = store(&["write", &at, &folder]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("declares the namespace shop too"), "{ran:?}");
    assert!(store(&["list", &at]).out.contains("shop@1, 1 kept"));
}

#[test]
fn stored_and_shipped_preludes_are_attached() {
    let (at, shop) = setting("attach");
    store(&["write", &at, &shop]);
    let stored = format!("store:{at}#shop");
    ptc(&["eval", "-p", &stored, "-e", "shop/rate"]).expect(0, "19\n");
    let program = "(paged/collect (fn [_] {:items [shop/rate]}))";
    ptc(&["eval", "-p", &stored, "-p", "ptc:paged", "-e", program]).expect(0, "[19]\n");
    let own = file("store-attach/own.clj", "(ns own) (def x 1)");
    ptc(&["eval", "-p", &own, "-p", "ptc:paged", "-e", "(+ own/x (paged/count (fn [_] [1 2])))"])
        .expect(0, "3\n");
    let shown = ptc(&["eval", "-p", "ptc:paged", "-e", "(source paged/collect)"]);
    assert!(shown.out.contains("(defn collect"), "{shown:?}");
    for (name, wanted) in [
        (format!("store:{at}"), "does not say which prelude"),
        (format!("store:{at}#nope"), "the store has no prelude `nope`"),
        (format!("store:{at}#shop@9"), "no version 9"),
        ("store:nowhere#shop".to_string(), "there is no store in nowhere"),
        ("ptc:page".to_string(), "available: ptc:log, ptc:paged, ptc:prelude, ptc:saga"),
        ("ptc:prelude".to_string(), "requires granted tool `prelude_store_list`"),
    ] {
        let ran = ptc(&["eval", "-p", &name, "-e", "1"]);
        assert_eq!(ran.code, 2, "{name}: {ran:?}");
        assert!(ran.err.contains(wanted), "{name}: {ran:?}");
    }
}

#[test]
fn programs_write_where_they_may() {
    let (at, _) = setting("write");
    let write = r#"(:version (prelude/write {:id "shop" :source "(ns shop) (def rate 5)"}))"#;
    ptc(&["eval", "--prelude-write", &at, "-e", write]).expect(0, "1\n");
    let program = file("store-write/main.clj", "[shop/rate (count (prelude/list))]");
    let stored = format!("store:{at}#shop");
    ptc(&["run", "--prelude-write", &at, "-p", &stored, &program]).expect(0, "[5 1]\n");
    let line = br#"{"id":1,"program":"(prelude/source \"shop\")"}"#;
    let answers = ptc_with(&["eval", "--jsonl", "--prelude-write", &at], line).json_lines();
    assert_eq!(answers[0]["json"], json!("(ns shop) (def rate 5)"));
    let ran = ptc(&["eval", "-e", "(prelude/list)"]);
    assert!(ran.err.contains("unknown namespace prelude/"), "{ran:?}");
}
