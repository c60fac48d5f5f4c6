//! The store in memory and on disk, with one set of tests for both.

use super::common::*;
use ptc_runtime::{PreludeStore, SourceOrigin, StoreLimits, StoreRef};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A temporary folder that is removed after the test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ptc-store-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }

    pub fn open(&self, limits: StoreLimits) -> PreludeStore {
        PreludeStore::open(&runtime(), &self.0, limits).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a test with a store of each kind.
fn both(name: &str, limits: StoreLimits, test: impl Fn(&PreludeStore)) {
    test(&PreludeStore::with_limits(&runtime(), limits).unwrap());
    let folder = Folder::new(name);
    test(&folder.open(limits));
}

pub fn source(id: &str, n: u64) -> String {
    format!("(ns {id}) (def n {n}) (defn twice [] (* 2 n))")
}

fn reason<T: std::fmt::Debug>(result: Result<T, ptc_runtime::StoreError>) -> &'static str {
    result.unwrap_err().reason()
}

#[test]
fn writing_gives_ever_higher_numbers() {
    both("numbers", StoreLimits::default(), |store| {
        let v1 = store.write("paged", &source("paged", 1), json!({"reason": "first"})).unwrap();
        assert_eq!((v1.version, &*v1.id), (1, "paged"));
        assert_eq!(v1.namespaces, ["paged"]);
        assert_eq!(v1.exports, ["paged/n", "paged/twice"]);
        assert_eq!(v1.metadata["reason"], "first");
        assert_eq!(v1.checksum, compiled(&source("paged", 1)).source_hash());
        let v2 = store.write("paged", &source("paged", 2), json!({})).unwrap();
        // Writing the same source again makes another version.
        let v3 = store.write("paged", &source("paged", 2), Value::Null).unwrap();
        assert_eq!((v2.version, v3.version), (2, 3));
        assert_eq!(v2.checksum, v3.checksum);
    });
}

#[test]
fn reading_by_id_number_and_checksum() {
    both("reading", StoreLimits::default(), |store| {
        let v1 = store.write("a", &source("a", 1), json!({"x": [1]})).unwrap();
        let v2 = store.write("a", &source("a", 2), json!({})).unwrap();
        assert_eq!(store.read("a").unwrap().version, 2);
        let read = store.read("a@1").unwrap();
        assert_eq!((read.version, read.current, read.latest), (1, false, false));
        assert_eq!(&*read.source, source("a", 1));
        assert_eq!(read.metadata["x"], json!([1]));
        assert_eq!(read.compiled.export("a/n").unwrap().symbol, "n");
        let meant = StoreRef::version("a", 1).checksum(&v1.checksum);
        assert_eq!(store.read(&meant).unwrap().version, 1);
        let wrong = store.read(StoreRef::version("a", 1).checksum(&v2.checksum)).unwrap_err();
        assert_eq!(wrong.reason(), "checksum_mismatch");
        assert_eq!(
            (&wrong.details["expected"], &wrong.details["actual"]),
            (&json!(v2.checksum), &json!(v1.checksum))
        );
        // A checksum of the current version, without its number.
        let current = StoreRef { version: None, ..StoreRef::version("a", 1) }.checksum(&v2.checksum);
        assert_eq!(store.read(current).unwrap().version, 2);
        for (reference, why) in [
            ("b", "not_found"),
            ("a@3", "not_found"),
            ("a@0", "invalid_ref"),
            ("a@01", "invalid_ref"),
            ("a@", "invalid_ref"),
            ("a@x", "invalid_ref"),
            ("a@+1", "invalid_ref"),
            ("a@99999999999999999999", "invalid_ref"),
            ("", "invalid_ref"),
            ("a/b", "invalid_ref"),
            ("../a", "invalid_ref"),
        ] {
            assert_eq!(reason(store.read(reference)), why, "{reference}");
        }
    });
}

#[test]
fn a_stored_prelude_runs() {
    both("runs", StoreLimits::default(), |store| {
        store.write("a", &source("a", 21), json!({})).unwrap();
        let tools = ptc_runtime::Tools::new();
        let prelude = store.read("a").unwrap().compiled;
        let runtime =
            runtime().with_tools(tools.clone()).attach(&prelude, &ptc_runtime::Attach::new()).unwrap();
        let found = runtime.eval("(a/twice)", &ptc_runtime::Grants::new()).unwrap();
        assert_eq!(found.print().unwrap(), "42");
    });
}

#[test]
fn the_default_is_apart_from_the_newest() {
    both("default", StoreLimits::default(), |store| {
        for n in 1..=3 {
            store.write("a", &source("a", n), json!({"n": n})).unwrap();
        }
        let selected = store.set_default("a@1", json!({"reason": "verified"})).unwrap();
        assert_eq!((selected.version, &selected.metadata["reason"]), (1, &json!("verified")));
        assert_eq!(store.read("a").unwrap().version, 1);
        let row = &store.list().unwrap()[0];
        assert_eq!((row.current_version, row.latest_version, row.versions_count), (1, 3, 3));
        assert_eq!(row.default_metadata.as_ref().unwrap()["reason"], "verified");
        assert_eq!(row.metadata["n"], 1);
        let history = store.history("a").unwrap();
        let marks: Vec<_> = history.iter().map(|row| (row.version, row.current, row.latest)).collect();
        assert_eq!(marks, [(1, true, false), (2, false, false), (3, false, true)]);
        // A later write moves it back to the newest.
        store.write("a", &source("a", 4), json!({})).unwrap();
        assert_eq!(store.read("a").unwrap().version, 4);
    });
}

#[test]
fn set_default_wants_a_version_that_is_there() {
    both("select", StoreLimits::default(), |store| {
        let v1 = store.write("a", &source("a", 1), json!({})).unwrap();
        assert_eq!(reason(store.set_default("a", json!({}))), "invalid_ref");
        assert_eq!(reason(store.set_default("a@2", json!({}))), "not_found");
        assert_eq!(reason(store.set_default("b@1", json!({}))), "not_found");
        assert_eq!(reason(store.set_default("a@1", json!(1))), "invalid_metadata");
        let wrong = StoreRef::version("a", 1).checksum("00");
        assert_eq!(reason(store.set_default(wrong, json!({}))), "checksum_mismatch");
        let right = StoreRef::version("a", 1).checksum(&v1.checksum);
        assert_eq!(store.set_default(right, json!({})).unwrap().checksum, v1.checksum);
    });
}

#[test]
fn old_versions_go_and_selected_ones_stay() {
    let limits = StoreLimits { max_versions: 2, ..StoreLimits::default() };
    both("retention", limits, |store| {
        for n in 1..=2 {
            store.write("a", &source("a", n), json!({})).unwrap();
        }
        store.set_default("a@1", json!({})).unwrap();
        for n in 3..=6 {
            store.write("a", &source("a", n), json!({})).unwrap();
        }
        let numbers = |store: &PreludeStore| -> Vec<u64> {
            store.history("a").unwrap().iter().map(|row| row.version).collect()
        };
        assert_eq!(numbers(store), [1, 5, 6]);
        assert_eq!(reason(store.read("a@3")), "not_found");
        assert_eq!(&*store.read("a@1").unwrap().source, source("a", 1));
        // Numbers are never reused.
        assert_eq!(store.write("a", &source("a", 3), json!({})).unwrap().version, 7);
        assert_eq!(numbers(store), [1, 6, 7]);
    });
}

#[test]
fn a_source_shared_by_versions_stays_with_the_last() {
    let limits = StoreLimits { max_versions: 2, ..StoreLimits::default() };
    both("shared", limits, |store| {
        for n in [1, 2, 1, 2, 1] {
            store.write("a", &source("a", n), json!({})).unwrap();
            assert_eq!(&*store.read("a").unwrap().source, source("a", n));
        }
        assert_eq!(&*store.read("a@4").unwrap().source, source("a", 2));
    });
}

#[test]
fn the_list_is_sorted_and_has_no_source() {
    both("list", StoreLimits::default(), |store| {
        assert!(store.list().unwrap().is_empty());
        let origin = Some(SourceOrigin::File("b.clj".into()));
        store.write_from("b", &source("b", 1), json!({}), origin).unwrap();
        store.write("a", &source("a", 1), json!({})).unwrap();
        let rows = store.list().unwrap();
        let ids: Vec<&str> = rows.iter().map(|row| &*row.id).collect();
        assert_eq!(ids, ["a", "b"]);
        assert_eq!(rows[1].origin.as_deref(), Some("file:b.clj"));
        assert!(rows[0].created_at.ends_with('Z') && rows[0].updated_at >= rows[0].created_at);
        assert!(!serde_json::to_string(&rows).unwrap().contains("(ns "));
        assert_eq!(reason(store.history("c")), "not_found");
        assert_eq!(reason(store.history("a@1")), "invalid_ref");
    });
}

#[test]
fn ids_are_checked() {
    both("ids", StoreLimits::default(), |store| {
        for id in ["", "1a", "a@1", "a/b", "ä", "a b", "-a", "a..b", &"a".repeat(200)] {
            assert_eq!(reason(store.write(id, "(ns a)", json!({}))), "invalid_argument", "{id}");
        }
        for id in [
            "tool",
            "data",
            "budget",
            "ptc.core",
            "mcp",
            "prelude",
            "log",
            "user",
            "clojure.string",
            "str",
            "Math",
        ] {
            let result = store.write(id, &source(id, 1), json!({}));
            assert_eq!(reason(result), "prelude_namespace_violation", "{id}");
        }
        assert!(store.write("acme.crm-2_x", &source("acme.crm-2_x", 1), json!({})).is_ok());
    });
}

#[test]
fn a_source_declares_its_id_and_nothing_else() {
    both("namespaces", StoreLimits::default(), |store| {
        let error = store.write("a", &source("b", 1), json!({})).unwrap_err();
        assert_eq!(error.reason(), "prelude_namespace_violation");
        assert_eq!(error.details["actual"], json!(["b"]));
        let two = "(ns a) (def x 1) (ns b) (def y 1)";
        assert_eq!(reason(store.write("a", two, json!({}))), "prelude_namespace_violation");
        assert!(store.list().unwrap().is_empty());
    });
}

#[test]
fn what_does_not_compile_is_not_stored() {
    both("compile", StoreLimits::default(), |store| {
        let error = store.write("a", "(ns a)\n(defn f [] (nope))", json!({})).unwrap_err();
        assert_eq!(error.reason(), "prelude_compile_error");
        assert_eq!(
            (&error.details["compile_reason"], &error.details["ref"]),
            (&json!("compile_error"), &json!("a/f"))
        );
        assert_eq!(error.details["namespace"], "a");
        assert!(error.message.contains("line 2: ") && error.message.contains("nope"), "{error}");
        assert_eq!(reason(store.write("a", "(ns a", json!({}))), "prelude_compile_error");
        assert_eq!(reason(store.write("a", "", json!({}))), "prelude_compile_error");
        assert!(store.list().unwrap().is_empty());
    });
}

#[test]
fn a_version_based_on_an_older_one_is_refused() {
    both("base", StoreLimits::default(), |store| {
        let based_on = |checksum: &str| json!({"parent_checksum": checksum});
        assert_eq!(reason(store.write("a", &source("a", 1), based_on("00"))), "stale_base");
        let v1 = store.write("a", &source("a", 1), json!({})).unwrap();
        let v2 = store.write("a", &source("a", 2), based_on(&v1.checksum)).unwrap();
        let error = store.write("a", &source("a", 3), based_on(&v1.checksum)).unwrap_err();
        assert_eq!(error.reason(), "stale_base");
        assert_eq!(
            (&error.details["expected"], &error.details["actual"]),
            (&json!(v1.checksum), &json!(v2.checksum))
        );
        // The base is compared with the version that a bare id reads.
        store.set_default("a@1", json!({})).unwrap();
        assert_eq!(store.write("a", &source("a", 3), based_on(&v1.checksum)).unwrap().version, 3);
        let number = json!({"parent_checksum": 1});
        assert_eq!(reason(store.write("a", &source("a", 4), number)), "invalid_metadata");
    });
}

#[test]
fn limits_hold() {
    let limits = StoreLimits {
        max_source_bytes: 200,
        max_metadata_bytes: 40,
        max_ids: 2,
        max_total_bytes: 300,
        ..StoreLimits::default()
    };
    both("limits", limits, |store| {
        let long = format!("{} ;{}", source("a", 1), "x".repeat(200));
        let error = store.write("a", &long, json!({})).unwrap_err();
        assert_eq!((error.reason(), &error.details["limit_bytes"]), ("source_too_large", &json!(200)));
        let error = store.write("a", &source("a", 1), json!({"reason": "x".repeat(40)})).unwrap_err();
        assert_eq!(error.reason(), "metadata_too_large");
        assert_eq!(reason(store.write("a", &source("a", 1), json!("text"))), "invalid_metadata");
        for id in ["a", "b"] {
            store.write(id, &source(id, 1), json!({})).unwrap();
        }
        let error = store.write("c", &source("c", 1), json!({})).unwrap_err();
        assert_eq!((error.reason(), &error.details["limit"]), ("id_limit_exceeded", &json!(2)));
        let filled = format!("{};{}", source("a", 2), "x".repeat(150));
        store.write("a", &filled, json!({})).unwrap();
        let before = store.list().unwrap();
        let error = store.write("a", &filled, json!({})).unwrap_err();
        assert_eq!(error.reason(), "store_bytes_exceeded");
        assert_eq!(store.list().unwrap(), before);
    });
}

#[test]
fn every_limit_is_positive() {
    let zero: [fn(&mut StoreLimits); 9] = [
        |l| l.max_source_bytes = 0,
        |l| l.max_metadata_bytes = 0,
        |l| l.max_versions = 0,
        |l| l.max_ids = 0,
        |l| l.max_total_bytes = 0,
        |l| l.compile_timeout_ms = 0,
        |l| l.compile_max_heap = 0,
        |l| l.lock_timeout_ms = 0,
        |l| l.max_log_slack_bytes = 0,
    ];
    for make_zero in zero {
        let mut limits = StoreLimits::default();
        make_zero(&mut limits);
        assert_eq!(reason(PreludeStore::with_limits(&runtime(), limits)), "invalid_config");
        let folder = Folder::new("zero");
        assert_eq!(reason(PreludeStore::open(&runtime(), &folder.0, limits)), "invalid_config");
        assert!(!folder.0.exists());
    }
}

#[test]
fn compiling_is_bounded() {
    let limits = StoreLimits { compile_max_heap: 200_000, ..StoreLimits::default() };
    both("heap", limits, |store| {
        let error = store.write("a", "(ns a) (def big (mapv str (range 100000)))", json!({})).unwrap_err();
        assert_eq!(error.reason(), "compile_memory_exceeded");
        assert_eq!(error.details["compile_reason"], "compile_error");
    });
    let store = PreludeStore::new(&runtime());
    let forever = "(ns a) (def big (loop [i 0] (recur (inc i))))";
    let error = store.write("a", forever, json!({})).unwrap_err();
    assert!(["compile_timeout", "prelude_compile_error"].contains(&error.reason()), "{error}");
}

#[test]
fn a_stored_prelude_grants_nothing() {
    both("authority", StoreLimits::default(), |store| {
        store.write("a", "(ns a) (defn f [] (tool/secret {}))", json!({})).unwrap();
        let prelude = store.read("a").unwrap().compiled;
        let tools = ptc_runtime::Tools::new();
        let failure =
            runtime().with_tools(tools.clone()).attach(&prelude, &ptc_runtime::Attach::new()).err().unwrap();
        assert_eq!(failure.reason(), "prelude_attach_failed");
    });
}

#[test]
fn public_views_are_bounded_and_filtered() {
    both("views", StoreLimits::default(), |store| {
        let long = format!("(ns a) ;{}", "ä".repeat(40_000));
        let metadata =
            json!({"reason": "why", "secret": "s3cret", "created_by": {"nested": 1}, "parent_version": 3});
        store.write("a", &long, metadata).unwrap();
        let view = store.read("a").unwrap().public_view();
        assert_eq!((&view["source_truncated"], &view["source_bytes"]), (&json!(true), &json!(long.len())));
        assert!(view["source"].as_str().unwrap().len() <= 64 << 10);
        assert_eq!(view["metadata"], json!({"reason": "why", "parent_version": 3}));
        for text in [
            view.to_string(),
            store.list().unwrap()[0].public_view().to_string(),
            store.history("a").unwrap()[0].public_view().to_string(),
        ] {
            assert!(!text.contains("s3cret") && !text.contains("nested"), "{text}");
        }
    });
}
