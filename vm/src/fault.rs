//! Why a run stops early: a fault the user is told about, or a native that needs room first.

use ptc_bytecode::{Code, Datum, Diagnostic, Span, Subject, Trace};

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
    /// What it is about, for code that acts on it.
    pub subject: Option<Subject>,
    /// The branch of a `pmap` that it came from, by its number, and the fault there.
    pub cause: Option<(u64, Fault)>,
    /// The calls that led there.
    pub trace: Option<Box<Trace>>,
}

impl Fault {
    /// A fault without a place; the VM adds the place as it unwinds.
    #[cold]
    pub fn new(code: Code, message: impl Into<String>) -> Fault {
        let message = message.into();
        let inner = FaultInner {
            code,
            message,
            hint: None,
            span: None,
            value: None,
            subject: None,
            cause: None,
            trace: None,
        };
        Fault(Box::new(inner))
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

    /// What it is about.
    #[must_use]
    pub fn about(mut self, subject: Subject) -> Fault {
        self.0.subject = Some(subject);
        self
    }

    /// The branch that it came from, and the fault there.
    #[must_use]
    pub(crate) fn caused_by(mut self, branch: u64, fault: Fault) -> Fault {
        self.0.cause = Some((branch, fault));
        self
    }

    /// The calls that led there, instead of those that were known.
    #[must_use]
    pub(crate) fn with_trace(mut self, trace: Trace) -> Fault {
        self.0.trace = (!trace.is_empty()).then(|| Box::new(trace));
        self
    }

    /// The calls that led there, as far as they are known.
    pub(crate) fn take_trace(&mut self) -> Trace {
        self.0.trace.take().map(|trace| *trace).unwrap_or_default()
    }

    /// Whether `try` may catch it. A branch that did what only the whole program may is not caught.
    pub(crate) fn is_catchable(&self) -> bool {
        self.0.code.is_catchable()
            && match self.0.code {
                Code::PmapError | Code::PcallsError => {
                    self.0.cause.as_ref().is_some_and(|(_, fault)| fault.is_catchable())
                }
                _ => true,
            }
    }

    /// One kind of value was needed and another found, by an operation that is named later.
    #[cold]
    pub fn expected(wanted: &str, found: &str) -> Fault {
        Fault::type_error(needed(wanted, found))
            .about(Subject::Need { wanted: wanted.to_string(), found: found.to_string(), is_named: false })
            .unread(found)
    }

    /// What was found may be an atom whose value was meant.
    #[must_use]
    pub(crate) fn unread(self, found: &str) -> Fault {
        match found {
            "an atom" => self.hint("`@a` or `(deref a)` reads what the atom `a` holds"),
            _ => self,
        }
    }

    /// A collection with an end is needed, and an endless sequence was found.
    #[cold]
    pub(crate) fn endless() -> Fault {
        Fault::expected("a collection with an end", "an endless sequence")
            .hint("take a part of it first: `(take 10 xs)` or `(take-while pred xs)`")
    }

    /// Names the operation, unless the message does already.
    #[must_use]
    pub fn named(mut self, name: &str) -> Fault {
        let is_nameless = match &mut self.0.subject {
            Some(Subject::Need { is_named, .. }) => !std::mem::replace(is_named, true),
            Some(Subject::Callee { .. }) => true,
            _ => false,
        };
        if is_nameless {
            self.0.message = format!("`{name}`: {}", self.0.message);
        }
        self
    }

    /// An argument is not what it must be.
    #[cold]
    pub(crate) fn misfit(builtin: &str, argument: usize, wanted: &str, found: &str) -> Fault {
        let message = format!("`{builtin}`: argument {argument} must be {wanted}, but it is {found}");
        Fault::type_error(message)
            .about(Subject::Need { wanted: wanted.to_string(), found: found.to_string(), is_named: true })
            .unread(found)
    }

    /// The builtin was called by the library for itself: its name and its arguments tell a user nothing.
    #[must_use]
    pub(crate) fn nameless(mut self) -> Fault {
        if let Some(Subject::Need { wanted, found, is_named }) = &mut self.0.subject {
            self.0.message = needed(wanted, found);
            *is_named = false;
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
        if let Some(Subject::Callee { stands_first, .. }) = &mut self.0.subject {
            *stands_first = true;
        }
        self
    }

    /// Whether it says that the run has used up what it may use, and nothing about values.
    fn is_limit(&self) -> bool {
        matches!(
            self.0.code,
            Code::FuelExceeded
                | Code::MemoryExceeded
                | Code::StackExceeded
                | Code::Timeout
                | Code::Cancelled
                | Code::Internal
        )
    }

    /// The fault of an operation on what is behind a veil.
    #[cold]
    pub(crate) fn veiled(mut self, operation: &str) -> Fault {
        if self.is_limit() {
            return self;
        }
        self.0.hint = None;
        if !matches!(self.0.subject, Some(Subject::Need { .. } | Subject::Callee { .. })) {
            self.0.message = format!("`{operation}` failed on a firewalled value");
            (self.0.value, self.0.subject) = (None, None);
        }
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
        let FaultInner { code, message, hint, span, subject, trace, .. } = &*self.0;
        Diagnostic {
            code: *code,
            span: *span,
            message: message.clone(),
            label: None,
            hint: hint.clone(),
            subject: subject.clone().map(Box::new),
            trace: trace.clone(),
        }
    }
}

fn needed(wanted: &str, found: &str) -> String {
    format!("expected {wanted}, got {found}")
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
    Pause,
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

    /// The same for an operation on what is behind a veil: a fault says its kind and the operation, and nothing of
    /// the values. Needs that name types only, and limits of the run, are told in full.
    #[must_use]
    pub fn veiled(self, operation: &str) -> Stop {
        match *self.0 {
            Why::Kind(StopKind::Fault(fault)) => fault.veiled(operation).into(),
            other => Stop(Box::new(other)),
        }
    }

    /// Whether an operation refused its values.
    pub fn is_refusal(&self) -> bool {
        matches!(&*self.0, Why::Kind(StopKind::Fault(fault)) if !fault.is_limit())
    }

    /// Whether the program stops: nothing is run again.
    pub(crate) fn is_fault(&self) -> bool {
        matches!(*self.0, Why::Kind(StopKind::Fault(_)))
    }

    /// Whether it asks for room.
    pub(crate) fn is_room(&self) -> bool {
        matches!(*self.0, Why::Kind(StopKind::Room { .. }))
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

    /// The run's slice of time is over: it goes on later with the instruction that was about to begin.
    #[cold]
    pub(crate) fn pause() -> Stop {
        Stop(Box::new(Why::Pause))
    }

    /// Whether it is [`Stop::pause`].
    pub(crate) fn is_pause(&self) -> bool {
        matches!(*self.0, Why::Pause)
    }

    /// What kind it is.
    pub fn into_kind(self) -> StopKind {
        match *self.0 {
            Why::Kind(kind) => kind,
            Why::Twin => StopKind::Fault(Fault::endless()),
            Why::Pause => StopKind::Fault(Fault::new(Code::Internal, "a pause reached no machine")),
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
