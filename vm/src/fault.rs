//! Reasons a run stops early: a fault the user is told about, or a native that needs room first.

use ptc_bytecode::{Code, Datum, Diagnostic, Span, Subject, Trace};

/// The fault that stopped a program. One word wide, since every operation may return it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault(Box<FaultInner>);

/// The parts of a [`Fault`].
#[derive(Debug, Clone, PartialEq)]
pub struct FaultInner {
    /// Kind of fault.
    pub code: Code,
    /// Message, as a diagnostic's first line.
    pub message: String,
    /// Hint: what to write instead.
    pub hint: Option<String>,
    /// Place in the program, once known.
    pub span: Option<Span>,
    /// Value given to `(fail …)`.
    pub value: Option<Datum>,
    /// Subject, for code that acts on it.
    pub subject: Option<Subject>,
    /// Index of the `pmap` branch that it came from, and the fault there.
    pub cause: Option<(u64, Fault)>,
    /// Calls that led there.
    pub trace: Option<Box<Trace>>,
}

impl Fault {
    /// Makes a fault without a place; the VM adds the place as it unwinds.
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

    /// Makes a `type_error`.
    #[cold]
    pub fn type_error(message: impl Into<String>) -> Fault {
        Fault::new(Code::TypeError, message)
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.0.hint = Some(hint.into());
        self
    }

    /// Sets the place, unless a more precise one is known already.
    #[must_use]
    pub fn at(mut self, span: Option<Span>) -> Fault {
        self.0.span = self.0.span.or(span);
        self
    }

    /// Sets the subject.
    #[must_use]
    pub fn about(mut self, subject: Subject) -> Fault {
        self.0.subject = Some(subject);
        self
    }

    /// Sets the branch that it came from, and the fault there.
    #[must_use]
    pub(crate) fn caused_by(mut self, branch: u64, fault: Fault) -> Fault {
        self.0.cause = Some((branch, fault));
        self
    }

    /// Replaces the calls that led there.
    #[must_use]
    pub(crate) fn with_trace(mut self, trace: Trace) -> Fault {
        self.0.trace = (!trace.is_empty()).then(|| Box::new(trace));
        self
    }

    /// Takes the calls that led there, as far as they are known.
    pub(crate) fn take_trace(&mut self) -> Trace {
        self.0.trace.take().map(|trace| *trace).unwrap_or_default()
    }

    /// True if `try` may catch it. A branch that did something reserved for the whole program is not caught.
    pub(crate) fn is_catchable(&self) -> bool {
        self.0.code.is_catchable()
            && match self.0.code {
                Code::PmapError | Code::PcallsError => {
                    self.0.cause.as_ref().is_some_and(|(_, fault)| fault.is_catchable())
                }
                _ => true,
            }
    }

    /// Makes a fault for one kind of value needed and another found, by an operation that is named later.
    #[cold]
    pub fn expected(wanted: &str, found: &str) -> Fault {
        Fault::type_error(needed(wanted, found))
            .about(Subject::Need { wanted: wanted.to_string(), found: found.to_string(), is_named: false })
            .unread(found)
    }

    /// Adds a hint if the value found is an atom whose content may have been meant.
    #[must_use]
    pub(crate) fn unread(self, found: &str) -> Fault {
        match found {
            "an atom" => self.hint("`@a` or `(deref a)` reads what the atom `a` holds"),
            _ => self,
        }
    }

    /// Makes the fault for an endless sequence in place of a finite collection.
    #[cold]
    pub(crate) fn endless() -> Fault {
        Fault::expected("a collection with an end", "an endless sequence")
            .hint("take a part of it first: `(take 10 xs)` or `(take-while pred xs)`")
    }

    /// Adds the name of the operation, unless the message already has it.
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

    /// Makes the fault for an argument that is not of the needed kind.
    #[cold]
    pub(crate) fn misfit(builtin: &str, argument: usize, wanted: &str, found: &str) -> Fault {
        let message = format!("`{builtin}`: argument {argument} must be {wanted}, but it is {found}");
        Fault::type_error(message)
            .about(Subject::Need { wanted: wanted.to_string(), found: found.to_string(), is_named: true })
            .unread(found)
    }

    /// Removes the name of a builtin that the library called internally: it would tell a user nothing.
    #[must_use]
    pub(crate) fn nameless(mut self) -> Fault {
        if let Some(Subject::Need { wanted, found, is_named }) = &mut self.0.subject {
            self.0.message = needed(wanted, found);
            *is_named = false;
        }
        self
    }

    /// Adds the item of the data for which it happened.
    #[must_use]
    pub(crate) fn for_item(mut self, item: &str) -> Fault {
        self.0.message.push_str(&format!(", for the item {item}"));
        self
    }

    /// Marks the callee as the first form of the marked source.
    #[must_use]
    pub(crate) fn own_call(mut self) -> Fault {
        if let Some(Subject::Callee { stands_first, .. }) = &mut self.0.subject {
            *stands_first = true;
        }
        self
    }

    /// True if a limit was used up; its message says nothing about values.
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

    /// Makes the fault of an operation on a veiled value.
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

    /// Sets the value a program failed with.
    #[must_use]
    pub fn with_value(mut self, value: Datum) -> Fault {
        self.0.value = Some(value);
        self
    }

    /// Returns the value a program failed with, if it did.
    pub fn into_value(self) -> Option<Datum> {
        self.0.value
    }

    /// Returns the kind.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns all parts.
    pub fn parts(&self) -> &FaultInner {
        &self.0
    }

    /// Converts it to a diagnostic.
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
            fix: None,
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

/// The reason an operation did not return a value. One word wide.
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
    /// The program stops with this fault.
    Fault(Fault),
    /// The heap has too little room: the VM collects and runs the operation again. An operation that returns this
    /// must not have had an effect yet.
    Room {
        /// Cells requested.
        cells: usize,
        /// Bytes of text requested.
        text: usize,
    },
}

impl Stop {
    /// Makes a request to collect and try again.
    #[cold]
    pub fn room(cells: usize, text: usize) -> Stop {
        Stop(Box::new(Why::Kind(StopKind::Room { cells, text })))
    }

    /// Leaves this call of a native to its twin in the core library, which can call functions: its arguments are
    /// those of a transducer, or endless. The native must not have had an effect yet. Without a twin, it is the
    /// fault for an endless collection.
    #[cold]
    pub fn twin() -> Stop {
        Stop(Box::new(Why::Twin))
    }

    /// Hides values in the fault of an operation on a veiled value: it keeps its kind and the operation. Messages
    /// that only name types, and limits of the run, are kept.
    #[must_use]
    pub fn veiled(self, operation: &str) -> Stop {
        match *self.0 {
            Why::Kind(StopKind::Fault(fault)) => fault.veiled(operation).into(),
            other => Stop(Box::new(other)),
        }
    }

    /// True if an operation refused its values.
    pub fn is_refusal(&self) -> bool {
        matches!(&*self.0, Why::Kind(StopKind::Fault(fault)) if !fault.is_limit())
    }

    /// True if the program stops: nothing is run again.
    pub(crate) fn is_fault(&self) -> bool {
        matches!(*self.0, Why::Kind(StopKind::Fault(_)))
    }

    /// Returns true if it asks for room.
    pub(crate) fn is_room(&self) -> bool {
        matches!(*self.0, Why::Kind(StopKind::Room { .. }))
    }

    /// True if it is [`Stop::twin`].
    pub fn is_twin(&self) -> bool {
        matches!(*self.0, Why::Twin)
    }

    /// Makes the stop of a native that got shared data from the host; the machine attaches it and runs the native
    /// again.
    #[cold]
    pub(crate) fn attach() -> Stop {
        Stop(Box::new(Why::Attach))
    }

    /// True for a wait for shared data, see [`Call::thaw`](crate::Call::thaw).
    pub fn is_attach(&self) -> bool {
        matches!(*self.0, Why::Attach)
    }

    /// Makes the stop for the end of a slice of time: the run goes on later with the instruction that was about to
    /// begin.
    #[cold]
    pub(crate) fn pause() -> Stop {
        Stop(Box::new(Why::Pause))
    }

    /// True for [`Stop::pause`].
    pub(crate) fn is_pause(&self) -> bool {
        matches!(*self.0, Why::Pause)
    }

    /// Returns its kind.
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
