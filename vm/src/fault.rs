//! Why a run stops early: a fault the user is told about, or a native that needs room first.

use ptc_bytecode::{Code, Datum, Diagnostic, Span};

/// A program stopped. One word wide, since every operation may return it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault(Box<FaultInner>);

/// The parts of a [`Fault`].
#[derive(Debug, Clone, PartialEq)]
pub struct FaultInner {
    /// What kind.
    pub code: Code,
    /// What was wrong, as a diagnostic's first line.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// Where in the program, once known.
    pub span: Option<Span>,
    /// The value given to `(fail …)`.
    pub value: Option<Datum>,
    /// Whether what could not be called stands first in the marked source.
    pub own_call: bool,
    /// What a builtin wanted instead of which argument, without its name and the argument's place.
    pub misfit: Option<String>,
}

impl Fault {
    /// A fault without a place; the VM adds the place as it unwinds.
    #[cold]
    pub fn new(code: Code, message: impl Into<String>) -> Fault {
        let message = message.into();
        Fault(Box::new(FaultInner {
            code,
            message,
            hint: None,
            span: None,
            value: None,
            own_call: false,
            misfit: None,
        }))
    }

    /// A `type_error`.
    #[cold]
    pub fn type_error(message: impl Into<String>) -> Fault {
        Fault::new(Code::TypeError, message)
    }

    /// What to write instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.0.hint = Some(hint.into());
        self
    }

    /// The place, unless a more precise one is known already.
    #[must_use]
    pub fn at(mut self, span: Option<Span>) -> Fault {
        self.0.span = self.0.span.or(span);
        self
    }

    /// Names the operation, unless the message does already.
    #[must_use]
    pub fn named(mut self, name: &str) -> Fault {
        let is_nameless = self.0.message.starts_with("expected ") || self.0.code == Code::NotCallable;
        if is_nameless && !self.0.message.starts_with('`') {
            self.0.message = format!("`{name}`: {}", self.0.message);
        }
        self
    }

    /// An argument is not what it must be.
    #[cold]
    pub(crate) fn misfit(builtin: &str, argument: usize, expected: &str, found: &str) -> Fault {
        let message = format!("`{builtin}`: argument {argument} must be {expected}, but it is {found}");
        let mut fault = Fault::type_error(message);
        fault.0.misfit = Some(format!("expected {expected}, got {found}"));
        fault
    }

    /// The builtin was called by the library for itself: its name and its arguments tell a user nothing.
    #[must_use]
    pub(crate) fn nameless(mut self) -> Fault {
        if let Some(message) = self.0.misfit.take() {
            self.0.message = message;
        }
        self
    }

    /// Says for which item of the data it happened.
    #[must_use]
    pub(crate) fn for_item(mut self, item: &str) -> Fault {
        self.0.message.push_str(&format!(", for the item {item}"));
        self
    }

    /// What could not be called stands first in the source that will be marked.
    #[must_use]
    pub(crate) fn own_call(mut self) -> Fault {
        self.0.own_call = true;
        self
    }

    /// The value a program failed with.
    #[must_use]
    pub fn with_value(mut self, value: Datum) -> Fault {
        self.0.value = Some(value);
        self
    }

    /// The value a program failed with, if it did.
    pub fn into_value(self) -> Option<Datum> {
        self.0.value
    }

    /// What kind.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// All parts.
    pub fn parts(&self) -> &FaultInner {
        &self.0
    }

    /// The same as a diagnostic.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let FaultInner { code, message, hint, span, .. } = &*self.0;
        Diagnostic { code: *code, span: *span, message: message.clone(), label: None, hint: hint.clone() }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.0.code.reason(), self.0.message)
    }
}

impl std::error::Error for Fault {}

/// Why an operation did not give a value. One word wide.
#[derive(Debug)]
pub struct Stop(Box<Why>);

#[derive(Debug)]
enum Why {
    Kind(StopKind),
    Twin,
    Attach,
}

/// The kinds of [`Stop`].
#[derive(Debug)]
pub enum StopKind {
    /// The program stops.
    Fault(Fault),
    /// The heap has no room for this much: the VM collects and runs the operation again. Whoever
    /// returns this must not have had an effect yet.
    Room {
        /// Cells wanted.
        cells: usize,
        /// Bytes of text wanted.
        text: usize,
    },
}

impl Stop {
    /// "Collect, then try again."
    #[cold]
    pub fn room(cells: usize, text: usize) -> Stop {
        Stop(Box::new(Why::Kind(StopKind::Room { cells, text })))
    }

    /// A native leaves this call to its twin in the core library, which can call functions: its
    /// arguments are those of a transducer, or have no end. Nobody may have seen an effect yet.
    /// Where there is no twin, it is the fault that a collection has no end.
    #[cold]
    pub fn twin() -> Stop {
        Stop(Box::new(Why::Twin))
    }

    /// Whether the program stops: nothing is run again.
    pub fn is_fault(&self) -> bool {
        matches!(*self.0, Why::Kind(StopKind::Fault(_)))
    }

    /// Whether it is [`Stop::twin`].
    pub fn is_twin(&self) -> bool {
        matches!(*self.0, Why::Twin)
    }

    /// A native was given shared data by the host; the machine attaches it and runs the native again.
    #[cold]
    pub(crate) fn attach() -> Stop {
        Stop(Box::new(Why::Attach))
    }

    /// Whether it is a wait for shared data, see [`Call::thaw`](crate::Call::thaw).
    pub fn is_attach(&self) -> bool {
        matches!(*self.0, Why::Attach)
    }

    /// What kind it is.
    pub fn into_kind(self) -> StopKind {
        match *self.0 {
            Why::Kind(kind) => kind,
            Why::Twin => StopKind::Fault(crate::value::no_end()),
            Why::Attach => StopKind::Fault(Fault::new(Code::Internal, "shared data reached no machine")),
        }
    }
}

impl From<Fault> for Stop {
    #[cold]
    fn from(fault: Fault) -> Stop {
        Stop(Box::new(Why::Kind(StopKind::Fault(fault))))
    }
}

const _: () = assert!(size_of::<Fault>() == 8 && size_of::<Stop>() == 8);
