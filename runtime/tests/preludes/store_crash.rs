//! A writing process is killed again and again. Afterwards every acknowledged version exists, and every listed version
//! is complete.
//!
//! `PTC_STORE_KILLS=1000 cargo test -p ptc-runtime --test preludes store_crash` kills more processes.

use super::common::*;
use super::store::Folder;
use ptc_runtime::{PreludeStore, StoreLimits, StoreRef};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Few versions are kept and the list is rewritten often, so that kills hit those moments too.
const LIMITS: StoreLimits = StoreLimits {
    max_source_bytes: 1_000_000,
    max_metadata_bytes: 8 << 10,
    max_versions: 20,
    max_ids: 10,
    max_total_bytes: 64 << 20,
    compile_timeout_ms: 5_000,
    compile_max_heap: 10_000_000,
    lock_timeout_ms: 60_000,
    max_log_slack_bytes: 6_000,
};

const CHILD: &str = "PTC_STORE_CHILD";

fn kills() -> u64 {
    std::env::var("PTC_STORE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(25)
}

/// Makes a source long enough to be written in several pieces, with a different length each time.
fn long_source(id: &str, n: u64) -> String {
    let padding = ";; padding\n".repeat((n * 37 % 900) as usize);
    format!("(ns {id})\n{padding}(def n {n})")
}

/// Body of the child process that is killed; does nothing in an ordinary test run.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let store = PreludeStore::open(&runtime(), folder, LIMITS).unwrap();
    let mut out = std::io::stdout();
    for n in u64::from(std::process::id()) * 1_000 + 7.. {
        let id = if n % 3 == 0 { "b" } else { "a" };
        let written = store.write(id, &long_source(id, n), json!({ "n": n })).unwrap();
        writeln!(out, "ack {id} {} {}", written.version, written.checksum).unwrap();
        if n % 25 == 0 {
            store.set_default(StoreRef::version(id, written.version), json!({ "n": n })).unwrap();
            writeln!(out, "select {id} {}", written.version).unwrap();
        }
        out.flush().unwrap();
    }
}

/// Versions acknowledged by the children.
#[derive(Default)]
struct Acknowledged {
    versions: BTreeMap<(String, u64), String>,
    selected: BTreeMap<String, Vec<u64>>,
}

impl Acknowledged {
    fn note(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["ack", id, version, checksum] => {
                let version = version.parse().unwrap();
                let before = self.versions.insert((id.to_string(), version), checksum.to_string());
                assert!(before.is_none_or(|before| before == checksum), "{id}@{version} was given twice");
            }
            ["select", id, version] => {
                self.selected.entry(id.to_string()).or_default().push(version.parse().unwrap());
            }
            // The harness prints too, and the last line may be cut off.
            _ => {}
        }
    }

    /// Compares with the store as a new process finds it. Returns the number of versions checked.
    fn check(&self, store: &PreludeStore) -> usize {
        let mut looked_at = 0;
        for row in store.list().unwrap() {
            let id = row.id.clone();
            let history = store.history(&id).unwrap();
            for past in &history {
                // Listed versions are never torn: reading checks the hash and compiles the source.
                let read =
                    store.read(StoreRef::version(&*id, past.version).checksum(&*past.checksum)).unwrap();
                let n = past.metadata["n"].as_u64().unwrap();
                assert_eq!(&*read.source, long_source(&id, n));
                if let Some(checksum) = self.versions.get(&(id.clone(), past.version)) {
                    assert_eq!(past.checksum, *checksum, "{id}@{}", past.version);
                }
                looked_at += 1;
            }
            // Acknowledged versions are never lost: each exists, or was pruned.
            let there: Vec<u64> = history.iter().map(|past| past.version).collect();
            let oldest = row.latest_version.saturating_sub(LIMITS.max_versions) + 1;
            for (_, version) in
                self.versions.keys().filter(|(name, version)| *name == id && *version >= oldest)
            {
                assert!(there.contains(version), "{id}@{version} is lost; there are {there:?}");
            }
            for version in self.selected.get(&id).into_iter().flatten() {
                assert!(
                    there.contains(version),
                    "{id}@{version} was selected and is lost; there are {there:?}"
                );
            }
            let newest = self.versions.keys().filter(|(name, _)| *name == id).map(|(_, v)| *v).max();
            assert!(newest.is_none_or(|newest| newest <= row.latest_version));
        }
        looked_at
    }
}

#[test]
fn killed_writers_lose_nothing() {
    let folder = Folder::new("kill");
    let mut acknowledged = Acknowledged::default();
    let mut looked_at = 0;
    for kill in 0..kills() {
        let mut children: Vec<_> = (0..=kill % 2)
            .map(|_| {
                Command::new(std::env::current_exe().unwrap())
                    .args([
                        "--exact",
                        "preludes::store_crash::child_that_writes_until_it_is_killed",
                        "--nocapture",
                    ])
                    .env(CHILD, &folder.0)
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        // Once a child has started, waits for a time that differs each time, to the microsecond.
        let mut lines = BufReader::new(children[0].stdout.take().unwrap()).lines();
        while let Some(Ok(line)) = lines.next() {
            acknowledged.note(&line);
            if line.starts_with("ack") {
                break;
            }
        }
        std::thread::sleep(Duration::from_micros(kill * 7_919 % 30_000));
        for child in &mut children {
            // SIGKILL, on systems with signals.
            child.kill().unwrap();
        }
        lines.map_while(Result::ok).for_each(|line| acknowledged.note(&line));
        for child in &mut children {
            if let Some(rest) = child.stdout.take() {
                BufReader::new(rest).lines().map_while(Result::ok).for_each(|line| acknowledged.note(&line));
            }
            child.wait().unwrap();
        }
        let store = PreludeStore::open(&runtime(), &folder.0, LIMITS).unwrap();
        looked_at += acknowledged.check(&store);
    }
    println!(
        "{} kills, {} versions acknowledged, {looked_at} read back",
        kills(),
        acknowledged.versions.len()
    );
    assert!(acknowledged.versions.len() as u64 >= kills());
}
