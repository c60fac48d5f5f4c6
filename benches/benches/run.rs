//! Compiled programs: calls, loops, collections, text, pipelines over records, `pmap`.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use ptc_benches::data::{orders_json, words};
use ptc_benches::{programs, run, runtime};
use ptc_runtime::Grants;

fn programs(c: &mut Criterion) {
    let mut group = c.benchmark_group("run");
    let runtime = runtime();
    let none = Grants::new();
    let orders = Grants::new().json("orders", &orders_json(10_000)).expect("orders");
    let text = Grants::new().serde("text", &words(40_000)).expect("text");
    let programs = [
        ("calls/fib25", programs::FIB, &none),
        ("loops/sum1m", programs::LOOP, &none),
        ("closures/100k", programs::CLOSURES, &none),
        ("maps/assoc100k", programs::ASSOC, &none),
        ("maps/nested5k", programs::MAPS, &none),
        ("vectors/conj100k", programs::CONJ, &none),
        ("strings/join-split", programs::STRINGS, &none),
        ("strings/words40k", programs::WORDS, &text),
        ("sort/four-ways10k", programs::SORT, &none),
        ("numbers/squares100k", programs::SQUARES, &none),
        ("records/pipeline10k", programs::PIPELINE, &orders),
        ("records/group10k", programs::GROUP, &orders),
    ];
    for (name, source, grants) in programs {
        let program = runtime.compile(source).expect(name);
        group.bench_function(name, |b| b.iter(|| run(&runtime, &program, grants)));
    }
    group.finish();
}

/// Runs equal work with one worker and with more: the ratio shows the scaling.
fn pmap(c: &mut Criterion) {
    let mut group = c.benchmark_group("pmap");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in [1, 2, 4, 8].into_iter().filter(|threads| *threads <= cores) {
        // Runs inside a pool use that pool.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let runtime = runtime();
        let program = runtime.compile(programs::PMAP).expect("the program compiles");
        group.bench_function(format!("64-pieces/{threads}-threads"), |b| {
            b.iter(|| pool.install(|| run(&runtime, &program, &Grants::new())))
        });
    }
    group.finish();
}

criterion_group!(benches, programs, pmap);
criterion_main!(benches);
