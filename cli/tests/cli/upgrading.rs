//! Files of this version, as they are in the repository, can be read. `docs/upgrading.md` says what is promised of older ones.
//!
//! `PTC_BLESS=1 cargo test -p ptc-cli --test cli upgrading` writes the files of this version anew. Those of a version that was
//! released are never written again: a folder stays for each.

use crate::agent::cassette;
use crate::{file, ptc};
use ptc::{Engine, Step};
use ptc_agent::{Agent, RunOptions};
use std::path::{Path, PathBuf};

/// Version whose files are written.
const VERSION: &str = env!("CARGO_PKG_VERSION");

const AGENT: &str = "prompt = \"Add up\"\nmax_turns = 4\nllm_retry = { max_attempts = 1 }\n";
const REPLIES: [&str; 2] = ["(defn twice [x] (* 2 x))", "(return (twice 21))"];
const PAYS: &str = "(mapv (fn [eur] (tool/pay {:eur eur})) [5 12])";
const WAITS: &str = "(let [n 40] (+ n (tool/ask {:for 2})))";

fn versions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/upgrading")
}

/// Copies the files of a version to where tests may write.
fn copied(version: &str) -> PathBuf {
    let to = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("upgrading").join(version);
    let _ = std::fs::remove_dir_all(&to);
    copy(&versions().join(version), &to);
    to
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder of files") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).expect("a copy")),
        }
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// The agent of the checkpoint, and a cassette with the first replies of its model.
fn agent(replies: usize) -> (String, String) {
    let path = file("upgrading/add.toml", AGENT);
    let agent = Agent::from_file(&path).expect("an agent");
    let whole = cassette("upgrading/add.jsonl", &agent, RunOptions::new(), &REPLIES);
    let lines = std::fs::read_to_string(whole).expect("a cassette");
    // The first line says what it is.
    let lines: Vec<&str> = lines.lines().take(replies + 1).collect();
    (path, file(&format!("upgrading/add-{replies}.jsonl"), lines.join("\n")))
}

/// Writes the files of this version.
fn write(to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).expect("a folder");
    let at = |name: &str| text(&to.join(name));
    let source = file("upgrading/crm.clj", "(ns crm)\n(defn page [n] (* n 50))\n");
    let built = ptc(&["build", &source, "-o", &text(to)]);
    assert_eq!(built.code, 0, "{built:?}");
    let stored = ptc(&["store", "write", &at("store"), &source, "--reason", "first"]);
    assert_eq!(stored.code, 0, "{stored:?}");
    let pays = [
        "eval",
        "--effects",
        &at("effects.ledger"),
        "--run-name",
        "bills",
        "--stub",
        "pay=\"paid\"",
        "-e",
        PAYS,
    ];
    ptc(&pays).expect(0, "[\"paid\" \"paid\"]\n");
    let mut run =
        Engine::new().expect("an engine").compile(WAITS).expect("a program").start(&()).expect("a run");
    let Step::NeedsTools(_) = run.step() else { panic!("it waits") };
    std::fs::write(to.join("run.snapshot"), run.snapshot().expect("bytes")).expect("a file");
    let (agent, half) = agent(1);
    let ran = ptc(&["agent", "run", &agent, "--replay", &half, "--checkpoint", &at("checkpoints")]);
    assert!(ran.code == 1 && ran.err.contains("all are used"), "{ran:?}");
}

#[test]
fn files_are_read_or_refused_as_promised() {
    if std::env::var_os("PTC_BLESS").is_some() {
        write(&versions().join(VERSION));
    }
    of_this_version();
    for version in
        std::fs::read_dir(versions()).expect("a folder").map(|entry| entry.expect("an entry").file_name())
    {
        let version = version.to_string_lossy().into_owned();
        if version != VERSION {
            of_older_version(&version);
        }
    }
}

fn of_this_version() {
    let folder = copied(VERSION);
    let at = |name: &str| text(&folder.join(name));
    let again = "; if the format changed on purpose: PTC_BLESS=1 cargo test -p ptc-cli --test cli upgrading";
    let ran = ptc(&["eval", "-p", &at("crm.ptcp"), "-e", "(crm/page 3)"]);
    assert_eq!((ran.code, &*ran.out), (0, "150\n"), "{ran:?}{again}");
    let ran = ptc(&["eval", "-p", &format!("store:{}#crm", at("store")), "-e", "(crm/page 3)"]);
    assert_eq!((ran.code, &*ran.out), (0, "150\n"), "{ran:?}{again}");
    let bytes = std::fs::read(folder.join("run.snapshot")).expect("bytes");
    let run = Engine::new().expect("an engine").load(&bytes);
    let mut run = run.unwrap_or_else(|failure| panic!("{failure}{again}"));
    let call = run.pending().remove(0);
    run.resume(&call.id, &2).expect("it waits for this");
    let Step::Done(Ok(outcome)) = run.step() else { panic!("it ends") };
    assert_eq!(outcome.print().expect("text"), "42");
    let (agent, whole) = agent(2);
    let ran = ptc(&["agent", "run", &agent, "--replay", &whole, "--resume", &at("checkpoints")]);
    assert_eq!((ran.code, &*ran.out), (0, "42\n"), "{ran:?}{again}");
    ledger(&folder);
}

/// Checks that nothing in the ledger is done again, whichever version wrote it.
fn ledger(folder: &Path) {
    let path = text(&folder.join("effects.ledger"));
    let listed = ptc(&["effects", "list", "--effects", &path, "--json"]).json();
    let states: Vec<&str> = listed["effects"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|effect| effect["state"].as_str())
        .collect();
    assert_eq!(states, ["done", "done"]);
    let again = ["eval", "--effects", &path, "--run-name", "bills", "--stub", "pay=\"again!\"", "-e", PAYS];
    ptc(&again).expect(0, "[\"paid\" \"paid\"]\n");
}

fn of_older_version(version: &str) {
    let folder = copied(version);
    let at = |name: &str| text(&folder.join(name));
    // Ledgers and stores are read by every version.
    ledger(&folder);
    let ran = ptc(&["eval", "-p", &format!("store:{}#crm", at("store")), "-e", "(crm/page 3)"]);
    assert_eq!((ran.code, &*ran.out), (0, "150\n"), "{version}: {ran:?}");
    // Compiled code is for one instruction set, and says so.
    let ran = ptc(&["eval", "-p", &at("crm.ptcp"), "-e", "(crm/page 3)"]);
    let is_refused = ran.code == 2
        && (ran.err.contains("E0607") || ran.err.contains("abi_mismatch"))
        && ran.err.contains("ptc build");
    assert!(ran.out == "150\n" || is_refused, "{version}: {ran:?}");
    let bytes = std::fs::read(folder.join("run.snapshot")).expect("bytes");
    if let Err(failure) = Engine::new().expect("an engine").load(&bytes) {
        assert!(["abi_mismatch", "snapshot_invalid"].contains(&failure.reason()), "{version}: {failure}");
    }
    let (agent, whole) = agent(2);
    let ran = ptc(&["agent", "run", &agent, "--replay", &whole, "--resume", &at("checkpoints")]);
    assert!(ran.out == "42\n" || ran.err.contains("resume"), "{version}: {ran:?}");
}
