//! Ledgers in files: what is written stays, and is the same for everybody who reads it.

use pollster::block_on;
use ptc_effects::{
    Begun, EffectId, FileLedger, Filter, Intent, Ledger, LedgerError, Outcome, State, Verdict,
};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

fn ledger(folder: &TempDir) -> FileLedger {
    FileLedger::open(folder.path().join("effects.ledger")).unwrap()
}

fn pay(key: &str, eur: i64) -> Intent {
    Intent::new(EffectId::new("run", key), "pay", json!({"eur": eur}))
}

fn begin(ledger: &FileLedger, intent: Intent) -> Begun {
    block_on(ledger.begin(intent)).unwrap()
}

fn state(ledger: &FileLedger, id: &EffectId) -> State {
    block_on(ledger.get(id)).unwrap().unwrap().state
}

#[test]
fn a_call_is_sent_once_and_its_answer_outlives_the_process() {
    let folder = TempDir::new().unwrap();
    let intent = pay("1", 5);
    let first = ledger(&folder);
    assert_eq!(begin(&first, intent.clone()), Begun::Send { attempt: 1 });
    block_on(first.end(&intent.id, 1, Outcome::done(json!({"receipt": 7})))).unwrap();
    drop(first);
    let known = begin(&ledger(&folder), intent);
    assert_eq!(known, Begun::Known(Outcome::done(json!({"receipt": 7}))));
}

#[test]
fn a_call_without_an_outcome_is_unknown_and_never_sent_again() {
    let folder = TempDir::new().unwrap();
    let intent = pay("1", 5);
    assert_eq!(begin(&ledger(&folder), intent.clone()), Begun::Send { attempt: 1 });
    let next = ledger(&folder);
    assert!(matches!(begin(&next, intent.clone()), Begun::Unknown { .. }));
    assert_eq!(state(&next, &intent.id), State::Sent);
    next.abandon(&intent.id, "nobody waits");
    assert_eq!(state(&next, &intent.id), State::Unknown);
    assert_eq!(begin(&next, intent), Begun::Unknown { why: "nobody waits".to_string() });
}

#[test]
fn a_late_answer_settles_an_unknown_call() {
    let folder = TempDir::new().unwrap();
    let (ledger, intent) = (ledger(&folder), pay("1", 5));
    begin(&ledger, intent.clone());
    ledger.abandon(&intent.id, "nobody waits");
    block_on(ledger.end(&intent.id, 1, Outcome::done(json!(1)))).unwrap();
    assert_eq!(begin(&ledger, intent.clone()), Begun::Known(Outcome::done(json!(1))));
    // A known outcome is not replaced by an unknown one.
    ledger.abandon(&intent.id, "too late");
    assert_eq!(state(&ledger, &intent.id), State::Done);
}

#[test]
fn an_operator_settles_what_is_unknown_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let ledger = ledger(&folder);
    let (done, not_done) = (pay("1", 5), pay("2", 6));
    for intent in [&done, &not_done] {
        begin(&ledger, intent.clone());
    }
    block_on(ledger.settle(&done.id, Verdict::Done { answer: json!("paid") })).unwrap();
    assert_eq!(begin(&ledger, done.clone()), Begun::Settled(json!("paid")));
    block_on(ledger.settle(&not_done.id, Verdict::NotDone)).unwrap();
    assert_eq!(begin(&ledger, not_done), Begun::Send { attempt: 2 });

    let again = block_on(ledger.settle(&done.id, Verdict::NotDone)).unwrap_err();
    assert_eq!(
        again.to_string(),
        "`run/1` is done; only effects that are `sent` or `unknown` can be settled"
    );
    let missing = block_on(ledger.settle(&EffectId::new("run", "9"), Verdict::NotDone)).unwrap_err();
    assert!(matches!(missing, LedgerError::Refused(why) if why.contains("`ptc effects list`")));
}

#[test]
fn an_answer_after_a_wrong_verdict_leaves_a_mark() {
    let folder = TempDir::new().unwrap();
    let (ledger, intent) = (ledger(&folder), pay("1", 5));
    begin(&ledger, intent.clone());
    block_on(ledger.settle(&intent.id, Verdict::NotDone)).unwrap();
    assert_eq!(begin(&ledger, intent.clone()), Begun::Send { attempt: 2 });
    // The first attempt had only been slow.
    block_on(ledger.end(&intent.id, 1, Outcome::done(json!(1)))).unwrap();
    block_on(ledger.end(&intent.id, 2, Outcome::done(json!(2)))).unwrap();
    let entry = block_on(ledger.get(&intent.id)).unwrap().unwrap();
    assert!(entry.is_doubtful && entry.attempts == 2);
    assert_eq!(entry.outcome, Some(Outcome::done(json!(2))));
}

#[test]
fn another_call_under_the_same_id_is_a_divergence() {
    let folder = TempDir::new().unwrap();
    let ledger = ledger(&folder);
    begin(&ledger, pay("1", 5));
    assert_eq!(begin(&ledger, pay("1", 6)), Begun::Diverged { tool: "pay".to_string() });
    let other = Intent::new(EffectId::new("run", "1"), "refund", json!({"eur": 5}));
    assert_eq!(begin(&ledger, other), Begun::Diverged { tool: "pay".to_string() });
}

#[test]
fn of_many_processes_that_begin_the_same_call_one_sends_it() {
    let folder = TempDir::new().unwrap();
    let sent: usize = std::thread::scope(|scope| {
        let begin_all = || {
            // Each with a file of its own, as processes have.
            let ledger = ledger(&folder);
            let all: Vec<_> = (0..40).map(|n| ledger.begin(pay(&n.to_string(), n))).collect();
            let begun = all.into_iter().map(|one| block_on(one).unwrap());
            begun.filter(|begun| matches!(begun, Begun::Send { .. })).count()
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(begin_all)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(sent, 40);
    assert_eq!(block_on(ledger(&folder).list(Filter::default())).unwrap().len(), 40);
}

#[test]
fn a_line_that_was_cut_is_dropped_and_a_changed_one_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("effects.ledger");
    let first = ledger(&folder);
    begin(&first, pay("1", 5));
    begin(&first, pay("2", 6));
    drop(first);
    let whole = fs::read(&path).unwrap();
    let lines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    // Killed anywhere in the middle of the last line: the call before it is known, the last was never sent.
    for cut in [lines[1] + 2, lines[1] + 40, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        let ledger = ledger(&folder);
        assert!(matches!(begin(&ledger, pay("1", 5)), Begun::Unknown { .. }));
        assert_eq!(begin(&ledger, pay("2", 6)), Begun::Send { attempt: 1 });
    }
    let mut changed = whole.clone();
    changed[lines[0] + 60] ^= 1;
    fs::write(&path, &changed).unwrap();
    let refused = FileLedger::open(&path).unwrap_err();
    assert!(refused.to_string().contains("is not what was written"), "{refused}");
    fs::write(&path, "notes of mine\n").unwrap();
    let refused = FileLedger::open(&path).unwrap_err();
    assert!(refused.to_string().contains("is not an effect ledger"), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), b"notes of mine\n");
}

#[test]
fn where_nothing_can_be_written_nothing_is_sent() {
    let refused = FileLedger::open("/dev/full").unwrap_err();
    assert!(matches!(refused, LedgerError::Storage(_)), "{refused}");
    let folder = TempDir::new().unwrap();
    let refused = FileLedger::open(folder.path()).unwrap_err();
    assert!(matches!(refused, LedgerError::Storage(_)), "{refused}");
}

#[test]
fn pruning_forgets_old_runs_and_keeps_what_is_open() {
    let folder = TempDir::new().unwrap();
    let (mine, theirs) = (ledger(&folder), ledger(&folder));
    let old = pay("1", 5);
    begin(&mine, old.clone());
    block_on(mine.end(&old.id, 1, Outcome::done(json!(1)))).unwrap();
    let open = Intent::new(EffectId::new("open", "1"), "pay", json!({}));
    begin(&mine, open.clone());
    assert_eq!(block_on(theirs.list(Filter::default())).unwrap().len(), 2);
    let later = SystemTime::now() + Duration::from_secs(60);
    assert_eq!(block_on(mine.prune(later)).unwrap(), 1);
    // The other process finds the new file.
    let left = block_on(theirs.list(Filter::default())).unwrap();
    assert_eq!(left.iter().map(|entry| entry.intent.id.to_string()).collect::<Vec<_>>(), ["open/1"]);
    assert!(matches!(begin(&theirs, open), Begun::Unknown { .. }));
    assert_eq!(begin(&theirs, old.clone()), Begun::Send { attempt: 1 });
    assert_eq!(state(&mine, &old.id), State::Sent);
}

#[test]
fn entries_are_the_same_after_the_ledger_is_written_anew() {
    let folder = TempDir::new().unwrap();
    let ledger = ledger(&folder);
    let ends = [
        Some(Outcome::done(json!([1]))),
        Some(Outcome::Failed { error: json!("no money") }),
        Some(Outcome::Refused { error: json!("denied") }),
        Some(Outcome::Held),
        Some(Outcome::Unknown { why: "no answer".to_string() }),
        None,
    ];
    for (n, end) in ends.into_iter().enumerate() {
        let intent = pay(&n.to_string(), 1);
        begin(&ledger, intent.clone());
        if let Some(end) = end {
            block_on(ledger.end(&intent.id, 1, end)).unwrap();
        }
    }
    block_on(ledger.settle(&EffectId::new("run", "4"), Verdict::NotDone)).unwrap();
    block_on(ledger.settle(&EffectId::new("run", "5"), Verdict::Done { answer: json!(null) })).unwrap();
    let before = block_on(ledger.list(Filter::default())).unwrap();
    assert_eq!(block_on(ledger.prune(SystemTime::UNIX_EPOCH)).unwrap(), 0);
    assert_eq!(block_on(ledger.list(Filter::default())).unwrap(), before);
    let states: Vec<&str> = before.iter().map(|entry| entry.state.name()).collect();
    assert_eq!(states, ["done", "failed", "refused", "held", "not-done", "done"]);
}

#[test]
fn hashes_are_the_same_for_all_who_have_the_key() {
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let hash = |folder| ledger(folder).keyed_hash(b"iban");
    assert_eq!(hash(&one), hash(&one));
    assert_ne!(hash(&one), hash(&other));
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_a_ledger() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    begin(&ledger(&folder), pay("1", 5));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for name in ["effects.ledger", "effects.ledger.key"] {
        assert_eq!(mode(&folder.path().join(name)), 0o600, "{name}");
    }
}
