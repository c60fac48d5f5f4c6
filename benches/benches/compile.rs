//! Compilation: the stages of the compiler, whole cold evaluations, and loading compiled code.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ptc_benches::data::long_program;
use ptc_benches::programs::REPORT;
use ptc_benches::runtime;
use ptc_bytecode::{decode, encode, verify};
use ptc_compiler::{Options, Scope};
use ptc_runtime::{Grants, Limits, Runtime};
use std::hint::black_box;

fn compile(c: &mut Criterion) {
    let mut group = c.benchmark_group("compile");
    let long = long_program();
    let runtime = runtime();
    let limits = Limits::default();
    for (name, source) in [("one-line", "(+ 1 2)"), ("40-lines", REPORT), ("400-lines", &long)] {
        group.throughput(Throughput::Bytes(source.len() as u64));
        group.bench_function(format!("{name}/parse"), |b| {
            b.iter(|| ptc_compiler::parse(black_box(source), &Default::default(), &limits).is_ok())
        });
        for (stage, optimize) in [("unoptimized", false), ("artifact", true)] {
            let options = Options { optimize, ..Options::default() };
            group.bench_function(format!("{name}/{stage}"), |b| {
                b.iter(|| ptc_compiler::compile(black_box(source), &Scope::default(), &limits, options))
            });
        }
        group.bench_function(format!("{name}/linked"), |b| {
            b.iter(|| runtime.compile(black_box(source)).is_ok())
        });
        group.bench_function(format!("{name}/cold-eval"), |b| {
            b.iter(|| runtime.eval(black_box(source), &Grants::new()).is_ok())
        });
    }
    group.finish();
}

fn load(c: &mut Criterion) {
    let mut group = c.benchmark_group("load");
    let core = ptc_preludes::core();
    group.throughput(Throughput::Bytes(core.len() as u64));
    group.bench_function("core/decode", |b| b.iter(|| decode(black_box(core)).is_ok()));
    group.bench_function("core/verified", |b| b.iter(|| decode(black_box(core)).map(verify).is_ok()));
    group.bench_function("core/runtime", |b| b.iter(|| Runtime::with_core(black_box(core)).is_ok()));
    let artifact = runtime().compile(&long_program()).expect("the program compiles").artifact().clone();
    let bytes = encode(&artifact);
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("400-lines/verified", |b| b.iter(|| decode(black_box(&bytes)).map(verify).is_ok()));
    group.finish();
}

criterion_group!(benches, compile, load);
criterion_main!(benches);
