//! What the packages for other languages share. They follow each other here, so this is no stable interface.

use ptc_runtime::{Code, Diagnostic, Schedule, SliceFuture, Tools, Work};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time that a run computes before the host looks at something else, such as signals.
const SLICE: Duration = Duration::from_millis(20);
/// Time that a run computes on the thread of an event loop before it moves to another thread.
const SHORT_SLICE: Duration = Duration::from_millis(1);

/// Length of the slices of one run. The run is stepped by hand, so nothing is ever scheduled.
#[derive(Debug, Default)]
pub struct Slices {
    is_short: AtomicBool,
}

impl Slices {
    /// Sets short slices, for a run that computes on the thread of an event loop.
    pub fn set_short(&self, is_short: bool) {
        self.is_short.store(is_short, Ordering::Relaxed);
    }
}

impl Schedule for Slices {
    fn run(&self, work: Work) -> SliceFuture<'_> {
        drop(work());
        Box::pin(std::future::ready(()))
    }

    fn slice(&self) -> Duration {
        if self.is_short.load(Ordering::Relaxed) { SHORT_SLICE } else { SLICE }
    }
}

/// The moment at which a program failed, which decides about the class of its exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before its first instruction.
    Before,
    /// While it ran.
    Running,
    /// In a tool, whose exception is known.
    InTool,
}

/// Returns the name of the exception class for a code.
pub fn class_of(code: Code, when: When) -> &'static str {
    match code {
        Code::Cancelled => "Cancelled",
        Code::ToolError => "ToolFailed",
        Code::PmapError if when == When::InTool => "ToolFailed",
        Code::Fail => "ProgramFailed",
        Code::SnapshotInvalid => "SnapshotError",
        code if code.is_compile_limit() || code.is_run_limit() => "LimitError",
        _ if when == When::Before => "CompileError",
        _ => "RunError",
    }
}

/// Returns the program that calls a function with `data/arguments`.
pub fn call_of(name: &str) -> Result<String, Diagnostic> {
    let is_part = |c: char| c.is_alphanumeric() || "-_*+!?<>=/.&'%$".contains(c);
    match name.chars().all(is_part) && name.starts_with(|c: char| !c.is_numeric()) {
        true => Ok(format!("(apply {name} data/arguments)")),
        false => {
            let message = format!("`{}` is not the name of a function", name.escape_debug());
            Err(Diagnostic::without_span(Code::InvalidConfig, message))
        }
    }
}

/// Returns lines for a prompt that describe tools.
pub fn tool_lines(tools: &Tools) -> Vec<String> {
    let line = |name: &str| match tools.shape_of(name) {
        Some(shape) => format!("(tool/{name} {}) -> {}", shape.takes(), shape.answers()),
        None => format!("(tool/{name} {{…}})"),
    };
    tools.names().map(line).collect()
}
