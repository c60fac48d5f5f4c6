//! Measurement of a cell: CPU time, fuel and memory of its work, repeated if it is short.

use super::cell::{Cell, Kind};
use super::palette::arguments;
use crate::runtime;
use nix::time::{ClockId, clock_gettime};
use ptc_runtime::{Limits, Outcome, Runtime, Session, Step};
use std::time::{Duration, Instant};

/// Fuel limit of a measured run.
const FUEL: u64 = 20_000_000;
/// Time limit of a measured run, in milliseconds.
pub const TIMEOUT_MS: u64 = 400;
/// Duration from which a loop is long enough to tell the time of one round.
const ENOUGH: Duration = Duration::from_millis(5);
/// Time between two measurements of work that seems to break a limit.
const PAUSE: Duration = Duration::from_secs(2);
/// Units of fuel that starting a run counts as: creating the machine, attaching data, the text of a fault. A
/// program cannot repeat these.
const START_UNITS: u64 = 20_000;
/// Units of fuel that starting a compilation counts as.
const COMPILE_START: u64 = 2_000;
/// Units of fuel that starting to write a result counts as.
const RESULT_START: u64 = 1_000;

/// Measured price of a cell.
#[derive(Clone, Debug)]
pub struct Measured {
    /// CPU time of the run.
    pub cpu: Duration,
    /// Wall-clock time of the run.
    pub wall: Duration,
    /// Fuel charged, from the budget of the cell's kind.
    pub fuel: u64,
    /// Units that starting the work counts as.
    pub start: u64,
    /// Peak of resident memory above the level before the run, in bytes.
    pub grown: u64,
    /// Ending of the run: `ok`, or the reason of its fault.
    pub ending: &'static str,
}

impl Measured {
    /// Returns the CPU time per unit of fuel, in nanoseconds.
    pub fn rate(&self) -> f64 {
        self.cpu.as_nanos() as f64 / (self.fuel + self.start) as f64
    }
}

/// Returns the CPU time of this process so far, in all threads: branches of `pmap` run on several.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

/// Returns a line of `/proc/self/status`, in bytes; 0 if it does not exist.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim_start_matches(':').trim().split(' ').next()?.parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}

/// Environment of cells: a session in which all arguments are defined.
pub struct Bench {
    runtime: Runtime,
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
        Ok(Bench { runtime: runtime().limits(Bench::limits()), session })
    }

    /// Returns the limits of cells.
    pub fn limits() -> Limits {
        Limits { fuel: FUEL, timeout_ms: TIMEOUT_MS, ..Limits::default() }
    }

    /// Measures a cell; `None` if there is nothing to measure, as for an expression that does not compile.
    pub fn measure(&self, cell: &Cell) -> Option<Measured> {
        match cell.kind {
            Kind::Run => self.measure_run(&cell.source),
            Kind::Compile => Some(self.repeat(COMPILE_START, || self.compile(&cell.source))),
            Kind::Result => {
                let outcome = self.session.start(&cell.source).ok().and_then(|mut run| match run.step() {
                    Step::Done(done) => done.ok(),
                    Step::NeedsTools(_) => None,
                })?;
                let formats: [fn(&Outcome) -> Option<&'static str>; 3] = [
                    |outcome| outcome.print().err().map(|fault| fault.code().reason()),
                    |outcome| outcome.json().err().map(|fault| fault.code().reason()),
                    |outcome| outcome.datum().err().map(|fault| fault.code().reason()),
                ];
                let all = formats.map(|write| {
                    self.repeat(RESULT_START, || {
                        let ending = write(&outcome).unwrap_or("ok");
                        (outcome.result_fuel().unwrap_or(Bench::limits().result_fuel), ending)
                    })
                });
                all.into_iter().max_by(|a, b| a.rate().total_cmp(&b.rate()))
            }
        }
    }

    /// Compiles a text; returns the fuel it took, and how it ended.
    fn compile(&self, source: &str) -> (u64, &'static str) {
        match self.runtime.compile(source) {
            Ok(program) => (program.compile_fuel(), "ok"),
            Err(failure) => (failure.compile_fuel, failure.reason()),
        }
    }

    /// Repeats work until it has taken long enough; returns the mean.
    fn repeat(&self, start: u64, work: impl Fn() -> (u64, &'static str)) -> Measured {
        let mut times = 1;
        loop {
            let (mut fuel, mut ending) = (0, "ok");
            let mut measured = observe(|| {
                for _ in 0..times {
                    (fuel, ending) = work();
                }
            });
            if measured.cpu >= ENOUGH || times >= 1_000_000 {
                measured.cpu /= times;
                measured.wall /= times;
                return Measured { fuel, start, ending, ..measured };
            }
            let more = ENOUGH.as_nanos() * 6 / 5 / measured.cpu.as_nanos().max(1);
            times *= (more as u32).clamp(2, 100);
        }
    }

    /// Runs a program once; `None` if it does not compile.
    fn run(&self, source: &str) -> Option<Measured> {
        let mut run = self.session.start(source).ok()?;
        let mut step = None;
        let measured = observe(|| step = Some(run.step()));
        let (fuel, ending) = match &step? {
            Step::Done(Ok(outcome)) => (outcome.fuel, "ok"),
            Step::Done(Err(failure)) => (failure.fuel, failure.reason()),
            Step::NeedsTools(_) => (run.fuel(), "tool"),
        };
        Some(Measured { fuel, start: START_UNITS, ending, ..measured })
    }

    /// Measures an expression: once, and if that was short, in a loop.
    fn measure_run(&self, source: &str) -> Option<Measured> {
        let once = self.run(source)?;
        if once.ending != "ok" || once.cpu >= ENOUGH {
            return Some(once);
        }
        let mut rounds = 50;
        loop {
            let source = format!("(loop [i 0 last nil] (if (< i {rounds}) (recur (inc i) {source}) nil))");
            let many = self.run(&source)?;
            if many.cpu >= ENOUGH || many.ending != "ok" || rounds > 1_000_000 {
                return Some(Measured { grown: many.grown.max(once.grown), ..many });
            }
            let more = ENOUGH.as_nanos() * 6 / 5 / many.cpu.as_nanos().max(1);
            rounds *= (more as u64).clamp(2, 100);
        }
    }

    /// Measures again until no limit is broken, six times at most; returns the measurement that breaks the fewest
    /// limits, then the fastest. Other load on the machine comes and goes, hence the pauses.
    pub fn again(&self, cell: &Cell, first: Measured, broken: impl Fn(&Measured) -> usize) -> Measured {
        let rank = |measured: &Measured| (broken(measured), measured.rate());
        let mut best = first;
        for _ in 0..6 {
            if broken(&best) == 0 {
                break;
            }
            std::thread::sleep(PAUSE);
            if let Some(other) = self.measure(cell)
                && rank(&other) < rank(&best)
            {
                best = other;
            }
        }
        best
    }
}

/// Measures time and memory of work; the caller sets the fuel.
fn observe(work: impl FnOnce()) -> Measured {
    // Resets the peak of resident memory to the current level.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let resident = status("VmRSS");
    let (wall, before) = (Instant::now(), cpu());
    work();
    let (cpu, wall) = (cpu().saturating_sub(before), wall.elapsed());
    let grown = status("VmHWM").saturating_sub(resident);
    Measured { cpu, wall, fuel: 0, start: 0, grown, ending: "ok" }
}
