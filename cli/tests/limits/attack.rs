//! One attack: a program, what it is given, and what it must meet.

use crate::measure::{Measured, folder, ptc, release};
use ptc_bytecode::{LIMITS, Limits};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const MB: u64 = 1_000_000;

/// Time beyond the deadline while instructions run, and inside one native.
const IN_BYTECODE: Duration = Duration::from_millis(50);
const IN_NATIVE: Duration = Duration::from_millis(250);

/// JSON text to grant, in a file that is written when it is needed.
#[derive(Clone)]
pub struct Grant(Arc<Granted>);

struct Granted {
    label: String,
    json: String,
    file: OnceLock<PathBuf>,
    idle: OnceLock<Duration>,
}

impl Grant {
    /// A label that no other has, and the text.
    pub fn new(label: &str, json: String) -> Grant {
        let (file, idle) = (OnceLock::new(), OnceLock::new());
        Grant(Arc::new(Granted { label: label.to_string(), json, file, idle }))
    }

    fn file(&self) -> &Path {
        self.0.file.get_or_init(|| {
            let file = folder().join(format!("{}.json", self.0.label));
            std::fs::write(&file, &self.0.json).expect("a file");
            file
        })
    }

    fn args(&self, name: &str) -> [String; 2] {
        ["--data".to_string(), format!("{name}=@{}", self.file().display())]
    }

    /// What it takes to read it, before any clock runs.
    fn idle(&self) -> Duration {
        *self.0.idle.get_or_init(|| idle_with(&self.args("x")))
    }

    /// The text while it is read, and what is made of it: a head and a cell for each value, and its text at most.
    fn bytes(&self) -> u64 {
        let json = &self.0.json;
        let values = json.bytes().filter(|byte| b",[{:".contains(byte)).count() as u64;
        2 * json.len() as u64 + 32 * values
    }
}

/// A program that tries to beat a limit.
pub struct Attack {
    /// The limit it is on; the table of limits names it.
    pub limit: &'static str,
    name: String,
    limits: Limits,
    program: String,
    data: Vec<(&'static str, Grant)>,
    /// Arguments of `ptc`; `eval` without.
    command: Vec<String>,
    reasons: Vec<&'static str>,
    beyond: Duration,
    threads: u32,
}

impl Attack {
    /// A program for `ptc eval` that must end for one of `reasons`, or well where one is `ok`. Fuel is no limit unless it is the
    /// one attacked, so that it stops nothing which the limit attacked must stop.
    pub fn new(
        limit: &'static str,
        name: impl ToString,
        program: impl Into<String>,
        reasons: &[&'static str],
    ) -> Attack {
        let limits = Limits { fuel: 1 << 50, timeout_ms: 20_000, ..Limits::default() };
        Attack {
            limit,
            name: name.to_string(),
            limits,
            program: program.into(),
            data: Vec::new(),
            command: ["eval", "--json"].map(String::from).into(),
            reasons: reasons.to_vec(),
            beyond: IN_NATIVE,
            threads: 1,
        }
    }

    /// With another limit.
    pub fn with(mut self, limit: &str, value: u64) -> Attack {
        assert!(self.limits.set(limit, value), "there is no limit {limit}");
        self
    }

    /// With granted data.
    pub fn given(mut self, name: &'static str, grant: &Grant) -> Attack {
        self.data.push((name, grant.clone()));
        self
    }

    /// By another command, which reads the program as well.
    pub fn by(mut self, command: &[&str]) -> Attack {
        self.command = command.iter().map(|arg| arg.to_string()).collect();
        self
    }

    /// Its time goes by in instructions, not in natives.
    pub fn in_bytecode(mut self) -> Attack {
        self.beyond = IN_BYTECODE;
        self
    }

    /// It may also end for this reason.
    pub fn or(mut self, reason: &'static str) -> Attack {
        self.reasons.push(reason);
        self
    }

    /// Most of its time goes to the compiler, which has a clock of its own.
    pub fn compiling(mut self) -> Attack {
        self.beyond += Duration::from_millis(self.limits.compile_ms);
        self
    }

    /// It computes on many threads.
    pub fn on_threads(mut self) -> Attack {
        self.threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        self
    }

    /// What the test is called.
    pub fn title(&self) -> String {
        format!("{}::{}", self.limit, self.name)
    }

    fn run(&self, program: &str) -> Measured {
        let mut args = self.command.clone();
        for row in LIMITS {
            let value = self.limits.get(row.name).unwrap_or(row.default);
            let unit = if matches!(row.unit, ptc_bytecode::Unit::Millis) { "ms" } else { "" };
            if value != row.default {
                args.extend(["--limit".to_string(), format!("{}={value}{unit}", row.name)]);
            }
        }
        for (name, grant) in &self.data {
            args.extend(grant.args(name));
        }
        ptc(&args, program)
    }

    /// Runs it and holds it to the bars.
    pub fn is_held(&self) {
        let idle = idle() + self.data.iter().map(|(_, grant)| grant.idle()).sum();
        let ran = self.run(&self.program);
        let title = self.title();
        let reason = ran.reason();
        let granted: u64 = self.data.iter().map(|(_, grant)| grant.bytes()).sum();
        let most = 3 * (self.limits.memory_bytes + self.limits.stack_bytes) + granted + 64 * MB;
        let deadline = Duration::from_millis(self.limits.timeout_ms) + self.beyond * slower();
        let longest = (idle + deadline * self.threads) * tolerance();
        if std::env::var_os("PTC_SHOW_MEASURED").is_some() {
            println!(
                "{title}: {reason}, {} of {} MB, {} of {} ms",
                ran.peak / MB,
                most / MB,
                ran.cpu.as_millis(),
                longest.as_millis()
            );
        }
        assert!(
            self.reasons.contains(&reason.as_str()),
            "{title} ended with {reason}, not {:?}",
            self.reasons
        );
        assert!(ran.code <= 2, "{title} ended with code {}: {:.400}", ran.code, ran.err);
        assert!(ran.peak <= most, "{title} had {} MB resident, the bar is {}", ran.peak / MB, most / MB);
        assert!(ran.cpu <= longest, "{title} took {:?}, the bar is {longest:?}", ran.cpu);
        assert!(ran.err.len() < 10_000 && !ran.err.contains("panicked"), "{title}: {:.400}", ran.err);
    }
}

/// The bars are those of a build for use. One for tests is optimised little and checks its arithmetic: what happens
/// between two looks at the clock takes several times as long there.
fn slower() -> u32 {
    if release().is_some() { 1 } else { 5 }
}

/// Processor time differs with what else a machine does, by half and more. Work that nothing stops takes minutes, so
/// the ordinary tests still see it; `.ci/run limits` holds a release build to the bars themselves.
fn tolerance() -> u32 {
    if release().is_some() { 1 } else { 4 }
}

/// What a process takes for no program.
fn idle() -> Duration {
    static IDLE: OnceLock<Duration> = OnceLock::new();
    *IDLE.get_or_init(|| idle_with(&[]))
}

/// The longest of some, as short times differ most.
fn idle_with(args: &[String]) -> Duration {
    let args = [&["eval".to_string(), "--json".to_string()], args].concat();
    (0..3).map(|_| ptc(&args, "nil").cpu).max().unwrap_or_default()
}
