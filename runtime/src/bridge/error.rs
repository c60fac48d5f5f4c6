//! Errors of passing data between Rust types and values.

use std::fmt;

use ptc_bytecode::{Code, Diagnostic};
use ptc_vm::{Fault, Stop, StopKind};

/// An error in passing data between Rust types and values. One word wide.
#[derive(Debug)]
pub struct BridgeError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    problem: Problem,
    /// Keys and indices that lead to the error, innermost first.
    path: Vec<Step>,
}

#[derive(Debug)]
enum Problem {
    /// Types that do not fit.
    Misfit(String),
    /// A limit that fired.
    Fault(Fault),
    /// A heap that has to be collected first.
    Room { cells: usize, text: usize },
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl BridgeError {
    #[cold]
    pub(super) fn new(message: impl Into<String>) -> BridgeError {
        BridgeError(Box::new(Inner { problem: Problem::Misfit(message.into()), path: Vec::new() }))
    }

    /// Adds the key the error was found under.
    pub(super) fn under_key(mut self, key: &str) -> BridgeError {
        let mut short: String = key.chars().take(40).collect();
        if short.len() < key.len() {
            short.push('…');
        }
        self.0.path.push(Step::Key(short));
        self
    }

    /// Adds the index the error was found at.
    pub(super) fn at_index(mut self, index: usize) -> BridgeError {
        self.0.path.push(Step::Index(index));
        self
    }

    /// Returns it as a fault: `invalid_data`, or the limit that fired.
    pub fn to_fault(&self) -> Fault {
        match &self.0.problem {
            Problem::Misfit(_) => Fault::new(Code::InvalidData, self.to_string()),
            Problem::Fault(fault) => fault.clone(),
            Problem::Room { .. } => Fault::new(Code::MemoryExceeded, self.to_string()),
        }
    }

    /// Returns it as a diagnostic without a span.
    pub fn to_diagnostic(&self) -> Diagnostic {
        self.to_fault().to_diagnostic()
    }
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The path, as in Rust: `at rows[3].price: …`.
        for (i, step) in self.0.path.iter().rev().enumerate() {
            match step {
                _ if i >= 8 => {
                    f.write_str("…")?;
                    break;
                }
                Step::Key(key) if i == 0 => write!(f, "at {key}")?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) if i == 0 => write!(f, "at [{index}]")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        if !self.0.path.is_empty() {
            f.write_str(": ")?;
        }
        match &self.0.problem {
            Problem::Misfit(message) => f.write_str(message),
            Problem::Fault(fault) => f.write_str(&fault.parts().message),
            Problem::Room { cells, text } => {
                let bytes = cells.saturating_mul(ptc_vm::CELL_BYTES).saturating_add(*text);
                write!(f, "the data needs {bytes} more bytes of memory (limits.memory_bytes)")
            }
        }
    }
}

impl std::error::Error for BridgeError {}

impl serde::ser::Error for BridgeError {
    fn custom<T: fmt::Display>(message: T) -> BridgeError {
        BridgeError::new(message.to_string())
    }
}

impl serde::de::Error for BridgeError {
    fn custom<T: fmt::Display>(message: T) -> BridgeError {
        BridgeError::new(message.to_string())
    }
}

impl From<Fault> for BridgeError {
    fn from(fault: Fault) -> BridgeError {
        BridgeError(Box::new(Inner { problem: Problem::Fault(fault), path: Vec::new() }))
    }
}

impl From<Stop> for BridgeError {
    #[cold]
    fn from(stop: Stop) -> BridgeError {
        let problem = match stop.into_kind() {
            StopKind::Fault(fault) => Problem::Fault(fault),
            StopKind::Room { cells, text } => Problem::Room { cells, text },
        };
        BridgeError(Box::new(Inner { problem, path: Vec::new() }))
    }
}

impl From<BridgeError> for Stop {
    fn from(error: BridgeError) -> Stop {
        match error.0.problem {
            Problem::Room { cells, text } => Stop::room(cells, text),
            _ => error.to_fault().into(),
        }
    }
}

impl From<BridgeError> for Diagnostic {
    fn from(error: BridgeError) -> Diagnostic {
        error.to_diagnostic()
    }
}
