//! A process that is killed while committing, again and again.

use crate::folder::Server;
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Variable that gives the child copy of this test its folder.
const FOLDER: &str = "PTC_TEST_KILLED_FOLDER";
const ROUNDS: usize = 200;
/// Number of definitions that are overwritten in turn.
const NAMES: u64 = 20;

/// The child process: commits one definition after another, and prints each number after its commit.
#[test]
fn child() {
    let Ok(dir) = std::env::var(FOLDER) else { return };
    let server = Server::open(Path::new(&dir));
    let id = server.list()["sessions"][0]["session_id"].as_str().expect("a session").to_string();
    let from: u64 = server.inspect(&id, "overview")["session"]["turn"].as_u64().unwrap();
    for n in from.. {
        let name = n % NAMES;
        server.value(
            &id,
            &format!("(def n{name} {n}) (def f{name} (let [k {n}] (fn [] (+ k (* 0 n{name})))))"),
        );
        println!("committed {n}");
        std::io::stdout().flush().unwrap();
    }
}

#[test]
fn no_commit_is_lost_or_halved_however_often_the_process_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let id = Server::open(dir.path()).begin(json!({}));
    let mut most = 0;
    for round in 0..ROUNDS {
        let told = killed(dir.path(), round);
        let server = Server::open(dir.path());
        assert!(server.sessions.warnings().is_empty(), "{:?}", server.sessions.warnings());
        // Turns are commits: at least as many as printed, at most one more.
        let turn = server.inspect(&id, "overview")["session"]["turn"].as_u64().unwrap();
        most = told.map_or(most, |told| told + 1);
        assert!(turn == most || turn == most + 1, "round {round}: {turn} turns, {most} told");
        most = turn;
        let names: Vec<u64> = (turn.saturating_sub(NAMES)..turn).collect();
        let program: Vec<String> = names.iter().map(|n| format!("n{0} (f{0})", n % NAMES)).collect();
        let expected: Vec<String> = names.iter().map(|n| format!("{n} {n}")).collect();
        // The value is too long for one reply, so its parts are requested.
        for (program, expected) in program.chunks(5).zip(expected.chunks(5)) {
            // Failing programs do not count as turns.
            let seen = server.eval(&id, &format!("(fail [{}])", program.join(" ")));
            assert_eq!(seen.message, format!("[{}]", expected.join(" ")), "round {round}");
        }
    }
    assert!(most > 20, "only {most} commits in {ROUNDS} rounds");
}

/// Runs a child until it has printed some commits, and a little longer; returns the last one printed.
fn killed(dir: &Path, round: usize) -> Option<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["killed::child", "--exact", "--nocapture"])
        .env(FOLDER, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = None;
    let read = |line: std::io::Result<String>| line.ok()?.split_once("committed ")?.1.trim().parse().ok();
    for _ in 0..round % 4 {
        last = lines.by_ref().find_map(read).or(last);
    }
    std::thread::sleep(Duration::from_micros((round as u64 * 7_919) % 6_000));
    child.kill().unwrap();
    // Lines printed before it died count, too.
    last = lines.filter_map(read).last().or(last);
    child.wait().unwrap();
    last
}
