//! Timing. An arm calls [`Bench::time`] for each workload it can do, and [`Bench::records`] for W6.

use crate::acc::Acc;
use crate::row::{Row, Timing};
use cpu_time::ThreadTime;
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

/// Target duration of one sample.
const SAMPLE: Duration = Duration::from_millis(4);

/// Measures one arm and prints its rows.
pub struct Bench {
    pub arm: String,
    pub version: String,
    pub only: Option<Vec<String>>,
    pub quick: bool,
}

impl Bench {
    /// Returns whether to run a workload: `--only W6` also means `W6.x2`.
    pub fn wants(&self, workload: &str) -> bool {
        let Some(only) = &self.only else { return true };
        only.iter().any(|name| {
            workload.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Returns whether any row of a group is wanted: `W6` if `W6.own` is.
    pub fn wants_any(&self, group: &str) -> bool {
        let inside = |name: &String| name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'));
        self.wants(group) || self.only.iter().flatten().any(inside)
    }

    /// Reports that this arm cannot do the workload, with the reason.
    pub fn unable(&self, workload: &str, why: &str) {
        if self.wants(workload) {
            print(&Row { unable: Some(why.to_string()), ..self.row(workload, "") });
        }
    }

    /// Times `call`: a warm-up, then samples of as many calls as fill some milliseconds.
    pub fn time(&self, workload: &str, call: impl FnMut() -> Value) {
        self.time_note(workload, "", call);
    }

    /// Times `call` like [`Bench::time`], with a note for the reader.
    pub fn time_note(&self, workload: &str, note: &str, mut call: impl FnMut() -> Value) {
        if !self.wants(workload) {
            return;
        }
        let answer = call();
        let warm_up = Duration::from_millis(if self.quick { 30 } else { 300 });
        let (started, mut calls) = (Instant::now(), 0_u32);
        while calls == 0 || started.elapsed() < warm_up {
            black_box(call());
            calls += 1;
        }
        let one = (started.elapsed() / calls).max(Duration::from_nanos(1));
        let inner = (SAMPLE.as_nanos().div_ceil(one.as_nanos())) as usize;
        let samples = match one * inner as u32 {
            _ if self.quick => 3,
            long if long > Duration::from_secs(4) => 5,
            long if long > Duration::from_millis(100) => 15,
            _ => 31,
        };
        let (mut clock, mut cpu) = (Vec::new(), Vec::new());
        for _ in 0..samples {
            let watch = Watch::start();
            for _ in 0..inner {
                black_box(call());
            }
            let span = watch.stop();
            clock.push((span.to - span.from).as_nanos() as f64 / inner as f64);
            cpu.push(span.cpu.as_nanos() as f64 / inner as f64);
        }
        self.print(workload, note, Timing::of(clock, cpu, inner, 1), answer);
    }

    /// Measures a row of W6 on one thread, and its `.x2` on two. `worker` sets itself up for its share of the
    /// records and calls [`Share::run`] with one pass over them. Setting up is not timed; every thread has its
    /// own engine.
    pub fn records<T: Sync>(
        &self,
        workload: &str,
        note: &str,
        records: &[T],
        worker: impl Fn(&[T], &mut Share) + Sync,
    ) {
        self.batch(workload, note, records, 1, 1, &worker);
        self.batch(&format!("{workload}.x2"), note, records, 2, 1, &worker);
    }

    /// Measures a row of W6 on one thread over few records, many times.
    pub fn passes<T: Sync>(
        &self,
        workload: &str,
        note: &str,
        records: &[T],
        passes: usize,
        worker: impl Fn(&[T], &mut Share) + Sync,
    ) {
        self.batch(workload, note, records, 1, passes, &worker);
    }

    /// Measures a row of W6 for a call that runs all the records on its own threads. Reading the results is not timed.
    #[allow(dead_code)] // not used in a build without PTC
    pub fn whole<T>(
        &self,
        workload: &str,
        note: &str,
        records: usize,
        threads: usize,
        call: impl Fn() -> T,
        read: impl Fn(T, &mut Acc),
    ) {
        if !self.wants(workload) {
            return;
        }
        let mut acc = Acc::default();
        read(call(), &mut acc);
        let clock = (0..if self.quick { 2 } else { 15 })
            .map(|_| {
                let started = Instant::now();
                black_box(call());
                started.elapsed().as_nanos() as f64 / records as f64
            })
            .collect();
        self.print(workload, note, Timing::of(clock, Vec::new(), records, threads), acc.answer());
    }

    fn batch<T: Sync>(
        &self,
        workload: &str,
        note: &str,
        records: &[T],
        threads: usize,
        passes: usize,
        worker: &(impl Fn(&[T], &mut Share) + Sync),
    ) {
        if !self.wants(workload) {
            return;
        }
        let samples = if self.quick { 2 } else { 15 };
        let barrier = Barrier::new(threads);
        let shares = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for part in records.chunks(records.len().div_ceil(threads)) {
                let (barrier, shares) = (&barrier, &shares);
                // A deep stack, for interpreters that recurse on it.
                let thread = std::thread::Builder::new().stack_size(64 << 20);
                let run = move || {
                    let mut share =
                        Share { samples, passes, barrier, spans: Vec::new(), acc: Acc::default() };
                    worker(part, &mut share);
                    shares.lock().expect("no thread panicked").push((share.spans, share.acc));
                };
                thread.spawn_scoped(scope, run).expect("a thread");
            }
        });
        let shares = shares.into_inner().expect("no thread panicked");
        let mut acc = Acc::default();
        shares.iter().for_each(|(_, part)| acc.merge(part));
        let count = records.len() * passes;
        let (mut clock, mut cpu) = (Vec::new(), Vec::new());
        for at in 0..samples {
            let spans = || shares.iter().map(|(spans, _)| &spans[at]);
            let from = spans().map(|span| span.from).min().expect("a thread");
            let to = spans().map(|span| span.to).max().expect("a thread");
            clock.push((to - from).as_nanos() as f64 / count as f64);
            cpu.push(spans().map(|span| span.cpu).sum::<Duration>().as_nanos() as f64 / count as f64);
        }
        self.print(workload, note, Timing::of(clock, cpu, count, threads), acc.answer());
    }

    fn row(&self, workload: &str, note: &str) -> Row {
        Row {
            arm: self.arm.clone(),
            version: self.version.clone(),
            workload: workload.to_string(),
            note: (!note.is_empty()).then(|| note.to_string()),
            ..Row::default()
        }
    }

    fn print(&self, workload: &str, note: &str, mut timing: Timing, answer: Value) {
        timing.calibration_ns = Some(calibrate());
        print(&Row { timing: Some(timing), answer, ..self.row(workload, note) });
    }
}

fn print(row: &Row) {
    println!("{}", json!(row));
}

/// One thread's share of the records of W6.
pub struct Share<'a> {
    samples: usize,
    passes: usize,
    barrier: &'a Barrier,
    spans: Vec<Span>,
    acc: Acc,
}

impl Share<'_> {
    /// Times `pass`, which runs every record once; all threads begin a sample together.
    pub fn run(&mut self, mut pass: impl FnMut(&mut Acc)) {
        pass(&mut Acc::default());
        for _ in 0..self.samples {
            self.barrier.wait();
            let mut acc = Acc::default();
            let watch = Watch::start();
            for _ in 0..self.passes {
                pass(&mut acc);
            }
            self.spans.push(watch.stop());
            self.acc = acc;
        }
    }
}

/// One sample on one thread.
struct Span {
    from: Instant,
    to: Instant,
    cpu: Duration,
}

struct Watch {
    from: Instant,
    cpu: ThreadTime,
}

impl Watch {
    fn start() -> Watch {
        Watch { from: Instant::now(), cpu: ThreadTime::now() }
    }

    fn stop(self) -> Span {
        Span { cpu: self.cpu.elapsed(), to: Instant::now(), from: self.from }
    }
}

/// Times a fixed amount of native work. Six independent chains, so that it also slows down when a neighbour
/// shares the execution units of the core.
fn calibrate() -> f64 {
    let once = || {
        let started = Instant::now();
        let mut chains = black_box([1_u64, 2, 3, 4, 5, 6]);
        for _ in 0..1_000_000 {
            for chain in &mut chains {
                *chain = (*chain ^ (*chain << 7)).wrapping_add(*chain >> 9);
            }
        }
        black_box(chains);
        started.elapsed().as_nanos() as f64
    };
    (0..3).map(|_| once()).fold(f64::MAX, f64::min)
}
