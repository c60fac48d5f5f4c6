//! A prelude of 200 exports: loading and checking its file, and attaching it to a run.

use criterion::{Criterion, criterion_group, criterion_main};
use ptc_benches::{prelude_source, runtime};
use ptc_runtime::{Attach, Effects, Grants, Known, LoadOptions, Prelude, Tools, Upstream};
use std::hint::black_box;
use std::sync::Arc;

/// Servers that have every operation.
struct Everything;

impl Upstream for Everything {
    fn operation(&self, _: &str, _: &str) -> Known {
        Known::Present(Effects::Read)
    }
}

fn preludes(c: &mut Criterion) {
    let runtime = runtime();
    let source = prelude_source(200);
    let prelude = Prelude::compile(&runtime, &source).expect("a prelude");
    let bytes = prelude.to_bytes();
    let tools = Tools::new().with("call", |_| Ok(1)).with("fetch", |_| Ok(1));
    let mut group = c.benchmark_group("load");
    group
        .bench_function("prelude_200_compile", |b| b.iter(|| Prelude::compile(&runtime, black_box(&source))));
    group.bench_function("prelude_200_load", |b| {
        b.iter(|| Prelude::load(&runtime, black_box(&bytes), &LoadOptions::default()).expect("sound"));
    });
    let (attach, runtime) = (Attach::new().upstream(Arc::new(Everything)), runtime.with_tools(tools));
    group.bench_function("prelude_200_attach", |b| b.iter(|| runtime.attach(black_box(&prelude), &attach)));
    let attached = runtime.attach(&prelude, &attach).expect("granted");
    let program = attached.compile("(lib/f7 1)").expect("compiles");
    group.bench_function("prelude_200_start", |b| {
        b.iter(|| attached.start_with(black_box(&program), &Grants::new()).map(drop));
    });
    group.bench_function("no_prelude_start", |b| {
        let program = runtime.compile("(+ 1 2)").expect("compiles");
        b.iter(|| runtime.start_with(black_box(&program), &Grants::new()).map(drop));
    });
    group.finish();
}

criterion_group!(benches, preludes);
criterion_main!(benches);
