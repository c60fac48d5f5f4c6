//! Measuring a cell: processor time, fuel and memory of a call, and of the call many times over.

use super::cell::Cell;
use super::palette::arguments;
use crate::runtime;
use nix::time::{ClockId, clock_gettime};
use ptc_runtime::{Limits, Session, Step};
use std::time::{Duration, Instant};

/// Fuel of a run that measures.
const FUEL: u64 = 20_000_000;
/// Milliseconds such a run may take.
pub const TIMEOUT_MS: u64 = 400;
/// A loop that runs for this long says what one round takes.
const ENOUGH: Duration = Duration::from_millis(5);
/// What a run costs before it does anything, in units of fuel: making the machine, attaching the data it names, the text
/// of a fault. A program cannot do these again and again.
const START_UNITS: u64 = 20_000;

/// Bytes of memory that are filled at the price of a unit when there is no room for more: what a native had written down
/// then is lost, and what it had paid is given back.
const FILLED_BYTES: u64 = 32;

/// The measured price of a cell.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Processor time of the run.
    pub cpu: Duration,
    /// Time by the clock.
    pub wall: Duration,
    /// Fuel it was charged.
    pub fuel: u64,
    /// Resident memory at most, above what was resident before.
    pub grown: u64,
    /// How the run ended: `ok`, or the reason of its fault.
    pub ending: &'static str,
}

impl Measured {
    /// Processor time for a unit of fuel, in nanoseconds.
    pub fn rate(&self) -> f64 {
        // A run that ends for want of memory may have filled it once for nothing.
        let filled =
            if self.ending == "memory_exceeded" { Limits::default().memory_bytes / FILLED_BYTES } else { 0 };
        self.cpu.as_nanos() as f64 / (self.fuel + START_UNITS + filled) as f64
    }
}

/// Processor time of this process so far. All threads count: branches of `pmap` run on several.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

/// A line of `/proc/self/status`, in bytes; 0 where there is none.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim_start_matches(':').trim().split(' ').next()?.parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}

/// Where cells are run: a session that has all arguments defined.
pub struct Bench {
    session: Session,
}

impl Bench {
    /// Defines all arguments.
    pub fn new() -> Result<Bench, String> {
        let plenty = Limits {
            fuel: 1 << 40,
            memory_bytes: 1 << 30,
            granted_bytes: 4 << 30,
            timeout_ms: 600_000,
            ..Limits::default()
        };
        let mut session = runtime().limits(plenty).session();
        for argument in arguments() {
            let source = format!("(def {} {})", argument.name, argument.source);
            session.eval(&source).map_err(|failure| format!("{source}: {failure:?}"))?;
        }
        session.set_limits(Bench::limits());
        Ok(Bench { session })
    }

    /// The limits of cells.
    pub fn limits() -> Limits {
        Limits { fuel: FUEL, timeout_ms: TIMEOUT_MS, ..Limits::default() }
    }

    /// Runs a program once; `None` if it does not compile.
    fn run(&self, source: &str) -> Option<Measured> {
        let mut run = self.session.start(source).ok()?;
        // Resets the peak of resident memory to what is resident now.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let resident = status("VmRSS");
        let (wall, before) = (Instant::now(), cpu());
        let step = run.step();
        let (cpu, wall) = (cpu().saturating_sub(before), wall.elapsed());
        let grown = status("VmHWM").saturating_sub(resident);
        let (fuel, ending) = match &step {
            Step::Done(Ok(outcome)) => (outcome.fuel, "ok"),
            Step::Done(Err(failure)) => (failure.fuel, failure.reason()),
            Step::NeedsTools(_) => (run.fuel(), "tool"),
        };
        Some(Measured { cpu, wall, fuel, grown, ending })
    }

    /// Measures a cell: once, and where that was short, in a loop as long as it takes.
    pub fn measure(&self, cell: &Cell) -> Option<Measured> {
        let once = self.run(&cell.call)?;
        if once.ending != "ok" || once.cpu >= ENOUGH {
            return Some(once);
        }
        let mut rounds = 50;
        loop {
            let source =
                format!("(loop [i 0 last nil] (if (< i {rounds}) (recur (inc i) {}) nil))", cell.call);
            let many = self.run(&source)?;
            if many.cpu >= ENOUGH || many.ending != "ok" || rounds > 1_000_000 {
                return Some(Measured { grown: many.grown.max(once.grown), ..many });
            }
            let more = ENOUGH.as_nanos() * 6 / 5 / many.cpu.as_nanos().max(1);
            rounds *= (more as u64).clamp(2, 100);
        }
    }

    /// The best of three.
    pub fn again(&self, cell: &Cell, first: Measured) -> Measured {
        let mut best = first;
        for _ in 0..2 {
            if let Some(other) = self.measure(cell)
                && other.rate() < best.rate()
            {
                best = other;
            }
        }
        best
    }
}
