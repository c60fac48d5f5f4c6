//! Errors of reading JSON text.

use std::fmt;

use ptc_bytecode::{Code, Diagnostic, Place, place_of};
use ptc_vm::{Fault, Stop};

/// An error of reading JSON text. One word wide.
///
/// ```
/// use ptc_runtime::json::{ReadOptions, parse_json};
/// let mut heap = ptc_vm::Heap::unbounded();
/// let error = parse_json(&mut heap, "[1,\n 2 3]", &ReadOptions::default()).unwrap_err();
/// assert_eq!(error.to_string(), "expected `,` or `]`, but found `3` (line 2, column 4)");
/// ```
#[derive(Debug)]
pub struct JsonError(Box<Problem>);

#[derive(Debug)]
enum Problem {
    /// Text that is not JSON.
    Syntax { offset: usize, place: Place, message: String },
    /// Too much data, or another limit that fired.
    Fault(Fault),
    /// A heap that has to be collected first.
    Room { cells: usize, text: usize },
}

impl JsonError {
    /// Makes a syntax error at byte `offset` of `text`, the part that is valid UTF-8.
    #[cold]
    pub(super) fn syntax(text: &str, offset: usize, message: impl Into<String>) -> JsonError {
        let place = place_of(text, u32::try_from(offset).unwrap_or(u32::MAX));
        JsonError(Box::new(Problem::Syntax { offset, place, message: message.into() }))
    }

    #[cold]
    pub(super) fn room(cells: usize, text: usize) -> JsonError {
        JsonError(Box::new(Problem::Room { cells, text }))
    }

    #[cold]
    pub(super) fn too_large(limit: usize) -> JsonError {
        Fault::new(
            Code::MemoryExceeded,
            format!("the JSON data needs more than {limit} bytes (limits.granted_bytes)"),
        )
        .into()
    }

    /// Moves the error into a larger text, in which its own was line `line`.
    pub(super) fn on_line(mut self, line: u64) -> JsonError {
        if let Problem::Syntax { place, .. } = &mut *self.0 {
            place.line = u32::try_from(line).unwrap_or(u32::MAX);
        }
        self
    }

    /// Returns the place where the text stops being JSON; None for other errors.
    pub fn place(&self) -> Option<Place> {
        match *self.0 {
            Problem::Syntax { place, .. } => Some(place),
            _ => None,
        }
    }

    /// Returns the byte offset where the text stops being JSON.
    pub fn offset(&self) -> Option<usize> {
        match *self.0 {
            Problem::Syntax { offset, .. } => Some(offset),
            _ => None,
        }
    }

    /// True if the text is wrong, false if a limit fired.
    pub fn is_syntax(&self) -> bool {
        matches!(*self.0, Problem::Syntax { .. })
    }

    /// True if the run's heap has to be collected before trying again.
    pub(super) fn is_room(&self) -> bool {
        matches!(*self.0, Problem::Room { .. })
    }

    /// Returns it as a fault: `invalid_data` for bad text, `memory_exceeded` for too much of it.
    pub fn to_fault(&self) -> Fault {
        match &*self.0 {
            Problem::Syntax { .. } => Fault::new(Code::InvalidData, format!("not valid JSON: {self}")),
            Problem::Fault(fault) => fault.clone(),
            Problem::Room { .. } => Fault::new(Code::MemoryExceeded, self.to_string()),
        }
    }

    /// Returns it as a diagnostic without a span, since it is about data and not about a program.
    pub fn to_diagnostic(&self) -> Diagnostic {
        self.to_fault().to_diagnostic()
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Problem::Syntax { place, message, .. } => {
                write!(f, "{message} (line {}, column {})", place.line, place.column)
            }
            Problem::Fault(fault) => f.write_str(&fault.parts().message),
            Problem::Room { cells, text } => {
                let bytes = cells.saturating_mul(ptc_vm::CELL_BYTES).saturating_add(*text);
                write!(f, "the JSON data needs {bytes} more bytes of memory (limits.memory_bytes)")
            }
        }
    }
}

impl std::error::Error for JsonError {}

impl From<Fault> for JsonError {
    #[cold]
    fn from(fault: Fault) -> JsonError {
        JsonError(Box::new(Problem::Fault(fault)))
    }
}

impl From<Stop> for JsonError {
    #[cold]
    fn from(stop: Stop) -> JsonError {
        match stop.into_kind() {
            ptc_vm::StopKind::Fault(fault) => fault.into(),
            ptc_vm::StopKind::Room { cells, text } => JsonError::room(cells, text),
        }
    }
}

/// Converts for natives: a full heap asks for a collection, other errors are faults.
impl From<JsonError> for Stop {
    fn from(error: JsonError) -> Stop {
        match *error.0 {
            Problem::Room { cells, text } => Stop::room(cells, text),
            _ => error.to_fault().into(),
        }
    }
}

impl From<JsonError> for Diagnostic {
    fn from(error: JsonError) -> Diagnostic {
        error.to_diagnostic()
    }
}

const _: () = assert!(size_of::<JsonError>() == 8);
