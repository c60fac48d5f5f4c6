//! Fails if an operation costs much more CPU time per unit of fuel than others, uses more memory than the
//! limits allow, or continues after its time limit. See `benches/README.md`.

use super::cell::{Cell, Chance, Kind, double, longer, nested, result, single};
use super::measure::{Bench, Measured, TIMEOUT_MS};
use super::sources::source;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum cost of a cell, in multiples of the median CPU time per unit of fuel, unless `--band` overrides it.
const BAND: u64 = 20;
/// Tolerance above the limits of a cell: milliseconds of CPU time, milliseconds by the clock, bytes.
const CPU_MS: u64 = 50;
const WALL_MS: u64 = 250;
const BYTES: u64 = 60_000_000;
/// Time after which a cell counts as endless.
const HANGS: Duration = Duration::from_secs(120);

/// Measures the given calls, or chooses cells until the time is up.
pub fn run(mut args: impl Iterator<Item = String>) -> ExitCode {
    let mut seconds = 120;
    let mut seed = 1;
    let mut only = Vec::new();
    let mut show = 20;
    let mut band = BAND;
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|value| value.parse::<u64>().ok());
        match arg.as_str() {
            "--seconds" => seconds = number().unwrap_or(seconds),
            "--seed" => seed = number().unwrap_or(seed),
            "--show" => show = number().unwrap_or(show),
            "--band" => band = number().unwrap_or(band),
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
    let mut suite = Suite::new(bench, Duration::from_secs(seconds), band as f64);
    if only.is_empty() {
        suite.run_all(seed);
    } else {
        only.into_iter().for_each(|call| suite.take(Cell::new(Kind::Run, call)));
    }
    suite.report(show as usize)
}

/// Cells measured so far.
struct Suite {
    bench: Bench,
    band: f64,
    ends: Instant,
    seen: Vec<(Cell, Measured)>,
    not_compiled: usize,
    /// Cell that is running, for the thread that watches for endless ones.
    now: Arc<Mutex<(Instant, String)>>,
}

impl Suite {
    fn new(bench: Bench, time: Duration, band: f64) -> Suite {
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
        Suite { bench, band, ends: Instant::now() + time, seen: Vec::new(), not_compiled: 0, now }
    }

    fn is_over(&self) -> bool {
        Instant::now() > self.ends
    }

    /// Reports the running cell to the watching thread.
    fn begin(&self, call: &str) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = (Instant::now(), call.to_string());
    }

    fn take(&mut self, cell: Cell) {
        self.begin(&cell.name);
        match self.bench.measure(&cell) {
            Some(measured) => self.seen.push((cell, measured)),
            None => self.not_compiled += 1,
        }
    }

    /// Measures a part of each table, in random order, until the time is up.
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
            for make in [longer, nested, source, result] {
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
        let bad: usize = Kind::ALL.into_iter().map(|kind| self.report_kind(kind, show)).sum();
        println!("{bad} are wrong, of {} ({} did not compile)", self.seen.len(), self.not_compiled);
        if bad == 0 && !self.seen.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Prints the most expensive cells of a kind, and those that break a limit; returns the number of the latter.
    fn report_kind(&mut self, kind: Kind, show: usize) -> usize {
        let (mut cells, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.seen).into_iter().partition(|(cell, _)| cell.kind == kind);
        self.seen = others;
        // Only of work that gives a value: failing work is mostly its start.
        let fine = cells.iter().filter(|(_, measured)| measured.ending == "ok");
        let mut rates: Vec<f64> = fine.map(|(_, measured)| measured.rate()).collect();
        rates.sort_by(f64::total_cmp);
        let Some(median) = rates.get(rates.len() / 2).copied() else { return 0 };
        let bar = median * self.band;
        let broken = |measured: &Measured| problems(measured, bar).len();
        for (cell, measured) in cells.iter_mut().filter(|(_, measured)| broken(measured) > 0) {
            self.begin(&cell.name);
            *measured = self.bench.again(cell, measured.clone(), broken);
        }
        self.begin("");
        cells.sort_by(|(_, a), (_, b)| b.rate().total_cmp(&a.rate()));
        let wrong = |measured: &Measured| problems(measured, bar);
        let bad = cells.iter().filter(|(_, measured)| !wrong(measured).is_empty()).count();
        println!(
            "{}: {} cells, {median:.1} ns per unit of fuel in the middle, {bar:.0} at most",
            kind.name(),
            cells.len()
        );
        println!("{:>9} {:>10} {:>11} {:>8}  ending", "ns/unit", "cpu ms", "fuel", "MB");
        let shown =
            cells.iter().enumerate().filter(|(i, (_, measured))| *i < 5 || !wrong(measured).is_empty());
        for (_, (cell, measured)) in shown.take(show) {
            println!(
                "{:>9.1} {:>10.2} {:>11} {:>8.1}  {:<18} {}  {}",
                measured.rate(),
                measured.cpu.as_secs_f64() * 1e3,
                measured.fuel,
                measured.grown as f64 / 1e6,
                measured.ending,
                cell.name,
                wrong(measured).join(", "),
            );
        }
        self.seen.extend(cells);
        bad
    }
}

/// Returns the limits that a cell breaks, if a unit of fuel may buy `bar` nanoseconds.
fn problems(measured: &Measured, bar: f64) -> Vec<&'static str> {
    let mut problems = Vec::new();
    if measured.rate() > bar {
        problems.push("too cheap");
    }
    // Branches of `pmap` run on as many threads.
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let threads = if measured.cpu > measured.wall { threads } else { 1 };
    if measured.cpu > Duration::from_millis((TIMEOUT_MS + CPU_MS) * threads)
        || measured.wall > Duration::from_millis(TIMEOUT_MS + WALL_MS)
    {
        problems.push("too late");
    }
    if measured.grown > 2 * Bench::limits().memory_bytes + BYTES {
        problems.push("too large");
    }
    problems
}
