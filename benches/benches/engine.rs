//! `cargo bench`: compile, run, grant and suspend, over the programs beside this file.
#![allow(missing_docs)]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use ptc_benches::{orders_json, runtime};
use ptc_compiler::{Options, Scope};
use ptc_runtime::{Datum, Grants, Limits, Node, Step, Tools};
use std::hint::black_box;

const FIB: &str = include_str!("../programs/fib.clj");
const LOOP: &str = include_str!("../programs/loop.clj");
const CLOSURES: &str = include_str!("../programs/closures.clj");
const ASSOC: &str = include_str!("../programs/assoc.clj");
const CONJ: &str = include_str!("../programs/conj.clj");
const PIPELINE: &str = include_str!("../programs/pipeline.clj");
const REPORT: &str = include_str!("../programs/report.clj");

fn compile(c: &mut Criterion) {
    let mut group = c.benchmark_group("compile");
    for (name, source) in [("one-line", "(+ 1 2)"), ("40-lines", REPORT)] {
        group.bench_function(format!("{name}/parse"), |b| {
            b.iter(|| ptc_compiler::parse(black_box(source), &Default::default(), &Limits::default()).is_ok())
        });
        group.bench_function(format!("{name}/artifact"), |b| {
            b.iter(|| {
                ptc_compiler::compile(
                    black_box(source),
                    &Scope::default(),
                    &Limits::default(),
                    Options::default(),
                )
            })
        });
        let runtime = runtime();
        group.bench_function(format!("{name}/linked"), |b| {
            b.iter(|| runtime.compile(black_box(source)).is_ok())
        });
        group.bench_function(format!("{name}/cold-eval"), |b| {
            b.iter(|| runtime.eval(black_box(source), &Grants::new(), &Tools::new()).is_ok())
        });
    }
    group.finish();
}

fn run(c: &mut Criterion) {
    let mut group = c.benchmark_group("run");
    let runtime = runtime();
    let programs =
        [("fib25", FIB), ("loop1m", LOOP), ("closures", CLOSURES), ("assoc", ASSOC), ("conj", CONJ)];
    for (name, source) in programs {
        let program = runtime.compile(source).expect(name);
        group.bench_function(name, |b| {
            b.iter(|| {
                ptc_runtime::blocking(runtime.start(&program).expect(name), &Tools::new()).expect(name).fuel
            })
        });
    }
    let program = runtime.compile(PIPELINE).expect("pipeline");
    let grants = Grants::new().json("orders", &orders_json(10_000)).expect("orders");
    group.bench_function("pipeline10k", |b| {
        b.iter(|| {
            let run = runtime.start_with(&program, &grants).expect("start");
            ptc_runtime::blocking(run, &Tools::new()).expect("pipeline").fuel
        })
    });
    group.finish();
}

fn grant(c: &mut Criterion) {
    let mut group = c.benchmark_group("grant");
    let text = orders_json(10_000);
    group.bench_function("json10k", |b| b.iter(|| Grants::new().json("orders", black_box(&text)).is_ok()));
    group.bench_function("serde_json10k", |b| {
        b.iter(|| serde_json::from_str::<serde_json::Value>(black_box(&text)).is_ok())
    });
    group.finish();
}

fn suspend(c: &mut Criterion) {
    let mut group = c.benchmark_group("suspend");
    let runtime = runtime();
    let program =
        runtime.compile("(reduce + (map (fn [i] (tool/get {:i i})) (range 100)))").expect("program");
    let answer = || Ok(Datum::scalar(Node::Int(1)).into());
    group.bench_function("100-calls-by-hand", |b| {
        b.iter(|| {
            let mut run = runtime.start(&program).expect("start");
            while let Step::NeedsTools(calls) = run.step() {
                for call in calls {
                    run.resume(&call.id, answer()).expect("resume");
                }
            }
        })
    });
    let waiting = || {
        let mut run = runtime.start(&program).expect("start");
        run.step();
        run
    };
    let held = waiting();
    group.bench_function("snapshot", |b| b.iter(|| held.snapshot().map(|bytes| bytes.len())));
    let bytes = held.snapshot().expect("snapshot");
    group.bench_function("load", |b| {
        b.iter_batched(
            || (),
            |()| runtime.load(black_box(&bytes), &Grants::new()).is_ok(),
            BatchSize::SmallInput,
        )
    });
    group.finish();
}

criterion_group!(benches, compile, run, grant, suspend);
criterion_main!(benches);
