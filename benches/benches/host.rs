//! Work of a host around a run: data in and out, many records, session turns, tool calls.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ptc_benches::data::{orders_json, records_json};
use ptc_benches::{programs, runtime};
use ptc_runtime::{Batch, Evaluator, Grants, Step};
use std::hint::black_box;

fn json(c: &mut Criterion) {
    let mut group = c.benchmark_group("json");
    let text = orders_json(10_000);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("in/granted10k", |b| {
        b.iter(|| Grants::new().json("orders", black_box(&text)).is_ok())
    });
    // For comparison: parsing without PTC.
    group.bench_function("in/serde_json10k", |b| {
        b.iter(|| serde_json::from_str::<serde_json::Value>(black_box(&text)).is_ok())
    });
    let orders: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    group.bench_function("in/from-serde10k", |b| {
        b.iter(|| Grants::new().serde("orders", black_box(&orders)).is_ok())
    });
    let runtime = runtime();
    let grants = Grants::new().json("orders", &text).expect("orders");
    let outcome = {
        let program = runtime.compile("(mapv identity data/orders)").expect("the program compiles");
        let run = runtime.start_with(&program, &grants).expect("the run starts");
        run.finish().expect("the program succeeds")
    };
    group.bench_function("out/text10k", |b| b.iter(|| outcome.json().map(|text| text.len())));
    group.bench_function("out/to-serde10k", |b| b.iter(|| outcome.get::<serde_json::Value>().is_ok()));
    group.finish();
}

fn records(c: &mut Criterion) {
    let mut group = c.benchmark_group("records");
    let records = records_json(10_000);
    let values: Vec<serde_json::Value> =
        records.iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
    let runtime = runtime();
    let program = runtime.compile(programs::ROW).expect("the program compiles");
    let mut evaluator = Evaluator::new(&runtime, &program);
    group.throughput(Throughput::Elements(records.len() as u64));
    group.bench_function("evaluator/text", |b| {
        b.iter(|| records.iter().filter(|text| evaluator.json("row", text).is_ok()).count())
    });
    group.bench_function("evaluator/serde", |b| {
        b.iter(|| values.iter().filter(|value| evaluator.serde("row", value).is_ok()).count())
    });
    let lines: &'static [u8] = Vec::leak(records.join("\n").into_bytes());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in [1, 2, 4, 8].into_iter().filter(|threads| *threads <= cores) {
        let batch = Batch::new(&runtime, &program).threads(threads);
        group.bench_function(format!("batch/{threads}-threads"), |b| {
            b.iter(|| batch.lines(lines, std::io::sink(), |_, _| Ok(())).results)
        });
    }
    group.finish();
}

fn session(c: &mut Criterion) {
    let mut group = c.benchmark_group("session");
    let mut session = runtime().session();
    session.eval("(def seen {}) (defn note [m k] (assoc m k (inc (get m k 0))))").expect("the first turn");
    group.bench_function("small-turn", |b| {
        b.iter(|| session.eval("(def seen (note seen :turn)) (:turn seen)").is_ok())
    });
    session.eval("(def table (mapv (fn [i] {:id i :name (str i)}) (range 10000)))").expect("a large turn");
    group.bench_function("small-turn-beside-10k-records", |b| {
        b.iter(|| session.eval("(def seen (note seen :turn)) (count table)").is_ok())
    });
    group.bench_function("turn-that-commits-10k-records", |b| {
        b.iter(|| session.eval("(def table (mapv (fn [i] {:id i :name (str i)}) (range 10000)))").is_ok())
    });
    group.finish();
}

fn suspend(c: &mut Criterion) {
    let mut group = c.benchmark_group("suspend");
    let runtime = runtime();
    let program =
        runtime.compile("(reduce + (map (fn [i] (tool/get {:i i})) (range 100)))").expect("program");
    group.bench_function("100-calls-by-hand", |b| {
        b.iter(|| {
            let mut run = runtime.start(&program).expect("start");
            while let Step::NeedsTools(calls) = run.step() {
                for call in calls {
                    run.resume(&call.id, &1).expect("resume");
                }
            }
        })
    });
    let mut held = runtime.start(&program).expect("start");
    held.step();
    group.bench_function("snapshot", |b| b.iter(|| held.snapshot().map(|bytes| bytes.len())));
    let bytes = held.snapshot().expect("snapshot");
    group.bench_function("load", |b| b.iter(|| runtime.load(black_box(&bytes), &Grants::new()).is_ok()));
    group.finish();
}

criterion_group!(benches, json, records, session, suspend);
criterion_main!(benches);
