//! Memory of a process with a large ledger. Alone in its process, since it looks at the memory of all of it.
#![cfg(target_os = "linux")]

use pollster::block_on;
use ptc_effects::{Begun, EffectId, FileLedger, Filter, Intent, Ledger, Outcome};
use serde_json::json;
use tempfile::TempDir;

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn memory_does_not_grow_with_arguments_and_answers() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("effects.ledger");
    let long = "x".repeat(100_000);
    let call = |n: u32| Intent::new(EffectId::new("run", &n.to_string()), "pay", json!({"note": long}));
    let fill = |numbers: std::ops::Range<u32>| {
        let ledger = FileLedger::open(&path).unwrap();
        for n in numbers {
            let intent = call(n);
            assert_eq!(block_on(ledger.begin(intent.clone())).unwrap(), Begun::Send { attempt: 1 });
            block_on(ledger.end(&intent.id, 1, Outcome::done(json!(long)))).unwrap();
        }
        ledger
    };
    fill(0..10);
    let before = resident_kb();
    // 30 MB are in the file.
    let ledger = fill(10..150);
    let newest = block_on(ledger.list(Filter { newest: Some(1), ..Filter::default() })).unwrap();
    assert_eq!(newest[0].outcome, Some(Outcome::done(json!(long))));
    drop(FileLedger::open(&path).unwrap());
    let grown = resident_kb().saturating_sub(before);
    assert!(grown < 8_000, "{grown} kB");
}
