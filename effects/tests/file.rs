//! Ledgers in files: what is written stays, and is the same for everybody who reads it.

mod rules;

use pollster::block_on;
use ptc_effects::{Begun, EffectId, FileLedger, Intent, Ledger, LedgerError, Outcome};
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Passes a function that opens the ledger of a new folder.
fn with_file(test: &dyn Fn(rules::Open<'_>)) {
    let folder = TempDir::new().unwrap();
    test(&|| std::sync::Arc::new(ledger(&folder)));
}

crate::test_store!(with_file);

fn ledger(folder: &TempDir) -> FileLedger {
    FileLedger::open(folder.path().join("effects.ledger")).unwrap()
}

fn pay(key: &str, eur: i64) -> Intent {
    Intent::new(EffectId::new("run", key), "pay", json!({"eur": eur}))
}

fn begin(ledger: &FileLedger, intent: Intent) -> Begun {
    block_on(ledger.begin(intent)).unwrap()
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

#[test]
fn a_ledger_that_is_full_takes_outcomes_and_no_calls() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("effects.ledger");
    let open = |most| FileLedger::open_within(&path, most).unwrap();
    let small = open(1_000);
    let sent: Vec<Intent> = (0..40)
        .map(|n| pay(&n.to_string(), n))
        .take_while(|intent| block_on(small.begin(intent.clone())).is_ok())
        .collect();
    assert!((2..10).contains(&sent.len()), "{}", sent.len());
    let full = block_on(small.begin(pay("99", 1))).unwrap_err();
    assert!(matches!(full, LedgerError::Full(_)) && full.to_string().contains("ptc effects prune"), "{full}");
    // Of those that were sent, what came of them is known, without answers that are long.
    block_on(small.end(&sent[0].id, 1, Outcome::done(json!("paid")))).unwrap();
    block_on(small.end(&sent[1].id, 1, Outcome::done(json!("x".repeat(10_000))))).unwrap();
    let known = |n: usize| block_on(small.begin(sent[n].clone())).unwrap();
    assert_eq!(known(0), Begun::Known(Outcome::done(json!("paid"))));
    assert!(matches!(known(1), Begun::Known(Outcome::Done { is_dropped: true, .. })));
    assert!(fs::metadata(&path).unwrap().len() < 3_000);
    // With more room, others go on.
    assert_eq!(begin(&open(10_000), pay("99", 1)), Begun::Send { attempt: 1 });
}
