//! Fails when an operation costs much more processor time per unit of fuel than others, more memory than the limits allow,
//! or goes on after its time. `benches/README.md` says how to use it.
#![forbid(unsafe_code)]

use ptc_benches::costs::cell::{Cell, Chance, double, longer, nested, single};
use ptc_benches::costs::measure::{Bench, Measured, TIMEOUT_MS};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most a cell may cost, in medians of processor time per unit of fuel.
const BAND: f64 = 20.0;
/// What a cell may take above its limits: milliseconds of processor time, milliseconds by the clock, bytes.
const CPU_MS: u64 = 50;
const WALL_MS: u64 = 250;
const BYTES: u64 = 60_000_000;
/// A cell that takes longer is taken for one that never ends.
const HANGS: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    let mut seconds = 120;
    let mut seed = 1;
    let mut only = Vec::new();
    let mut show = 20;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|value| value.parse::<u64>().ok());
        match arg.as_str() {
            "--seconds" => seconds = number().unwrap_or(seconds),
            "--seed" => seed = number().unwrap_or(seed),
            "--show" => show = number().unwrap_or(show),
            _ => only.push(arg),
        }
    }
    let bench = match Bench::new() {
        Ok(bench) => bench,
        Err(error) => {
            eprintln!("costs: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut suite = Suite::new(bench, Duration::from_secs(seconds));
    if only.is_empty() {
        suite.run_all(seed);
    } else {
        only.into_iter().for_each(|call| suite.take(Cell { call }));
    }
    suite.report(show as usize)
}

/// Cells measured so far.
struct Suite {
    bench: Bench,
    ends: Instant,
    seen: Vec<(Cell, Measured)>,
    not_compiled: usize,
    /// The cell that runs now, for the thread that watches for one that never ends.
    now: Arc<Mutex<(Instant, String)>>,
}

impl Suite {
    fn new(bench: Bench, time: Duration) -> Suite {
        let now = Arc::new(Mutex::new((Instant::now(), String::new())));
        let watched = now.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                let (since, call) = watched.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if since.elapsed() > HANGS && !call.is_empty() {
                    eprintln!("costs: {call} does not end");
                    std::process::exit(1);
                }
            }
        });
        Suite { bench, ends: Instant::now() + time, seen: Vec::new(), not_compiled: 0, now }
    }

    fn is_over(&self) -> bool {
        Instant::now() > self.ends
    }

    /// Tells the thread that watches what runs now.
    fn begin(&self, call: &str) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = (Instant::now(), call.to_string());
    }

    fn take(&mut self, cell: Cell) {
        self.begin(&cell.call);
        match self.bench.measure(&cell) {
            Some(measured) => self.seen.push((cell, measured)),
            None => self.not_compiled += 1,
        }
    }

    /// A part of each table, in an order of chance, until time is up.
    fn run_all(&mut self, seed: u64) {
        let mut chance = Chance(seed);
        let mut tables = [single(), double()];
        while !self.is_over() {
            for table in &mut tables {
                if !table.is_empty() {
                    let cell = table.swap_remove(chance.below(table.len()));
                    self.take(cell);
                }
            }
            for make in [longer, nested] {
                let cell = make(&mut chance);
                self.take(cell);
            }
        }
        println!(
            "{} of the calls with one argument and {} with two were not reached",
            tables[0].len(),
            tables[1].len()
        );
    }

    fn report(mut self, show: usize) -> ExitCode {
        // Of calls that give a value: those that fail are mostly the start of a run.
        let fine = self.seen.iter().filter(|(_, measured)| measured.ending == "ok");
        let mut rates: Vec<f64> = fine.map(|(_, measured)| measured.rate()).collect();
        rates.sort_by(f64::total_cmp);
        let Some(median) = rates.get(rates.len() / 2).copied() else {
            println!("nothing was measured");
            return ExitCode::FAILURE;
        };
        let bar = median * BAND;
        let mut seen = std::mem::take(&mut self.seen);
        for (cell, measured) in seen.iter_mut().filter(|(_, measured)| measured.rate() > bar) {
            self.begin(&cell.call);
            *measured = self.bench.again(cell, measured.clone());
        }
        self.begin("");
        self.seen = seen;
        self.seen.sort_by(|(_, a), (_, b)| b.rate().total_cmp(&a.rate()));
        let limits = Bench::limits();
        let most = 2 * limits.memory_bytes + BYTES;
        let wrong = |measured: &Measured| {
            let mut problems = Vec::new();
            if measured.rate() > bar {
                problems.push("too cheap");
            }
            if measured.cpu > Duration::from_millis(TIMEOUT_MS + CPU_MS)
                || measured.wall > Duration::from_millis(TIMEOUT_MS + WALL_MS)
            {
                problems.push("too late");
            }
            if measured.grown > most {
                problems.push("too large");
            }
            problems
        };
        let bad = self.seen.iter().filter(|(_, measured)| !wrong(measured).is_empty()).count();
        println!(
            "{} cells ({} that do not compile), {median:.1} ns per unit of fuel in the middle, {bar:.0} at most",
            self.seen.len(),
            self.not_compiled
        );
        println!("{:>9} {:>10} {:>11} {:>8}  ending", "ns/unit", "cpu ms", "fuel", "MB");
        let shown = self
            .seen
            .iter()
            .enumerate()
            .filter(|(i, (_, measured))| *i < show.min(20) || !wrong(measured).is_empty());
        for (_, (cell, measured)) in shown.take(show) {
            println!(
                "{:>9.1} {:>10.2} {:>11} {:>8.1}  {:<18} {}  {}",
                measured.rate(),
                measured.cpu.as_secs_f64() * 1e3,
                measured.fuel,
                measured.grown as f64 / 1e6,
                measured.ending,
                cell.call,
                wrong(measured).join(", "),
            );
        }
        println!("{bad} are wrong");
        if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
