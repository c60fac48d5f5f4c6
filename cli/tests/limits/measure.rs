//! A process measured by the system: the most memory it had resident, and the processor time it took.
//!
//! The numbers are those of `wait4`, which count to the end. They come by a process of this binary in between: the
//! system gives them for all children together, so each measured child needs a parent of its own.

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What makes this binary the process in between.
pub const FLAG: &str = "--measured";

/// What a process was seen to use.
#[derive(Debug)]
pub struct Measured {
    /// What it wrote.
    pub out: String,
    pub err: String,
    pub code: i32,
    /// Resident at most, in bytes.
    pub peak: u64,
    /// Processor time of all its threads.
    pub cpu: Duration,
}

impl Measured {
    /// The reason of the error that the last line of JSON tells; `ok` for a result.
    pub fn reason(&self) -> String {
        // Results may hold numbers that no reader of JSON takes.
        let last = self.out.lines().last().unwrap_or_default();
        if last.starts_with(r#"{"ok":true,"#) {
            return "ok".to_string();
        }
        let told: Value = serde_json::from_str(last).unwrap_or_default();
        match &told["error"]["kind"] {
            Value::String(kind) => kind.clone(),
            _ => format!("no answer: {:.400}{:.400}", self.out, self.err),
        }
    }
}

/// Runs `ptc` with `input` on standard input.
pub fn ptc(args: &[String], input: &str) -> Measured {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let notes = folder().join(format!("{}-{number}", std::process::id()));
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    let built = release().unwrap_or_else(|| env!("CARGO_BIN_EXE_ptc").into());
    command.arg(FLAG).arg(&notes).arg(built).args(args);
    let ran = crate::process::finish(command, input.as_bytes());
    let noted = std::fs::read_to_string(&notes).expect("what was measured");
    let _ = std::fs::remove_file(&notes);
    let numbers: Vec<u64> = noted.split(' ').map(|number| number.parse().expect("a number")).collect();
    let [peak, cpu] = numbers[..] else { panic!("{noted}") };
    Measured { out: ran.out, err: ran.err, code: ran.code, peak, cpu: Duration::from_micros(cpu) }
}

/// The command to attack in place of the one built for tests: a release build.
pub fn release() -> Option<OsString> {
    std::env::var_os("PTC_TEST_RELEASE")
}

/// A folder for what tests write.
pub fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("limits");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The process in between: runs the rest of the arguments and notes what that took.
pub fn measure(mut args: std::env::Args) -> ExitCode {
    let notes = args.next().expect("a file for the numbers");
    let mut command = Command::new(args.next().expect("a command"));
    command.args(args).stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let status = command.status().expect("the command runs");
    let used = getrusage(UsageWho::RUSAGE_CHILDREN).expect("what it used");
    let micros = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
    let cpu = micros(used.user_time()) + micros(used.system_time());
    std::fs::write(notes, format!("{} {cpu}", used.max_rss() * 1024)).expect("a note");
    // A signal is no exit code; the suite looks for one.
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(99))
}
