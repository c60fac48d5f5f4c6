//! What the ledger of effects costs: programs that only read, programs that write, and the file alone.
//!
//! `effects/memory/…` has the ledger in `/dev/shm`, where `fsync` costs nothing; `effects/disk/…` has it on a disk.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures_util::future::join_all;
use pollster::block_on;
use ptc_benches::runtime;
use ptc_effects::{Begun, EffectId, FileLedger, Intent, Ledger, Outcome};
use ptc_runtime::{Effects, Grants, Tools};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

fn new_run() -> String {
    format!("bench-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn folder(memory: bool) -> tempfile::TempDir {
    let shared = Path::new("/dev/shm");
    let made = if memory && shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
    made.expect("a folder")
}

fn open(folder: &tempfile::TempDir) -> Arc<FileLedger> {
    let ledger = FileLedger::open_within(folder.path().join("effects.ledger"), u64::MAX);
    Arc::new(ledger.expect("a ledger"))
}

fn programs(c: &mut Criterion) {
    let mut group = c.benchmark_group("effects/programs");
    let tools = Tools::new().with("look", |_| Ok(1)).effect("look", Effects::Read).with("pay", |_| Ok(1));
    let runtime = runtime().with_tools(tools);
    let folder = folder(true);
    for (name, tool) in [("reads20", "look"), ("writes20", "pay")] {
        let source = format!("(reduce + (map (fn [n] (tool/{tool} {{:n n}})) (range 20)))");
        let program = runtime.compile(&source).expect("the program compiles");
        let run = |grants: &Grants| {
            let run = runtime.start_with(&program, grants).expect("the run starts");
            run.finish().expect("the program succeeds").fuel
        };
        group.bench_function(format!("{name}/without"), |b| b.iter(|| run(&Grants::new())));
        let ledger = open(&folder);
        group.bench_function(format!("{name}/with"), |b| {
            b.iter(|| run(&Grants::new().recorded(ledger.clone(), &new_run())))
        });
    }
    group.finish();
}

async fn effect(ledger: &FileLedger, run: &str, key: usize) {
    let intent =
        Intent::new(EffectId::new(run, &key.to_string()), "bank.pay", json!({"eur": 5, "to": "DE00 1234"}));
    let id = intent.id.clone();
    assert_eq!(ledger.begin(intent).await, Ok(Begun::Send { attempt: 1 }));
    ledger.end(&id, 1, Outcome::done(json!("paid"))).await.expect("written");
}

fn file(c: &mut Criterion) {
    for (place, memory) in [("memory", true), ("disk", false)] {
        let mut group = c.benchmark_group(format!("effects/{place}"));
        for together in [1, 64] {
            let folder = folder(memory);
            let ledger = open(&folder);
            group.throughput(Throughput::Elements(together as u64));
            group.bench_function(format!("{together}-together"), |b| {
                b.iter(|| {
                    let run = new_run();
                    block_on(join_all((0..together).map(|key| effect(&ledger, &run, key))));
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, programs, file);
criterion_main!(benches);
