//! SQLite.

use crate::rules;
use pollster::block_on;
use ptc_effects::{Begun, EffectId, Filter, Intent, LedgerError};
use ptc_effects_sql::{connect, connect_within};
use serde_json::json;
use tempfile::TempDir;

fn address(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("the effects #1?.db").display())
}

/// Passes a function that opens the ledger of a new folder.
fn with_sqlite(test: &dyn Fn(rules::Open<'_>)) {
    let folder = TempDir::new().unwrap();
    test(&|| connect(&address(&folder)).unwrap());
}

crate::test_store!(with_sqlite);

#[test]
fn a_file_of_something_else_is_refused_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes");
    let notes = "notes of mine\n".repeat(100);
    std::fs::write(&path, &notes).unwrap();
    let refused = connect(&format!("sqlite:{}", path.display())).unwrap_err();
    assert!(matches!(&refused, LedgerError::Storage(why) if why.contains("not a database")), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), notes);
    let refused = connect(&format!("sqlite:{}", folder.path().display())).unwrap_err();
    assert!(matches!(refused, LedgerError::Storage(_)), "{refused}");
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let ledger = connect(&address(&folder)).unwrap();
    block_on(ledger.begin(Intent::new(EffectId::new("run", "1"), "pay", json!({})))).unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}

#[test]
fn a_database_that_is_full_takes_outcomes_and_no_calls() {
    let folder = TempDir::new().unwrap();
    let (call, size) = (
        |n: u32| {
            Intent::new(EffectId::new("run", &n.to_string()), "pay", json!({"note": "x".repeat(10_000)}))
        },
        200_000,
    );
    let ledger = connect_within(&address(&folder), size).unwrap();
    let sent = (0..100).take_while(|n| block_on(ledger.begin(call(*n))).is_ok()).count();
    assert!((5..30).contains(&sent), "{sent}");
    let full = block_on(ledger.begin(call(100))).unwrap_err();
    assert!(matches!(full, LedgerError::Full(_)), "{full}");
    assert!(matches!(block_on(ledger.begin(call(0))).unwrap(), Begun::Unknown { .. }));
    assert_eq!(block_on(ledger.list(Filter::default())).unwrap().len(), sent);
}
