//! Diagnostics: what was wrong, where, what was expected, and one fix that would run.
//!
//! Compile errors and run-time faults are both reported as diagnostics. There are three renderings: for a terminal (in
//! `cli`), compact text for models and pipes ([`Diagnostic::to_text`]), and JSON (made where JSON is written, from the
//! public fields).
//!
//! Warnings are diagnostics too, marked by their code. They accompany a result instead of replacing it, so they are
//! kept brief: at most [`MAX_SHOWN_WARNINGS`] of them, one line each where a model reads them.

use crate::codes::Code;
use crate::span::{Place, Span, line_text, place_of};
use crate::text::visible;
use crate::trace::Trace;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// One error or warning with its parts, never just a string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The kind of error or warning.
    pub code: Code,
    /// Place in the source, when known.
    pub span: Option<Span>,
    /// The first line: the operation as the user spelled it, needed, found. Lower case, no full stop.
    pub message: String,
    /// Short note under the marked source.
    pub label: Option<String>,
    /// One fix, as code that would run.
    pub hint: Option<String>,
    /// Subject of the error, for code that acts on it.
    pub subject: Option<Box<Subject>>,
    /// Calls that led there, if there were any.
    pub trace: Option<Box<Trace>>,
    /// An edit that does what the hint says, where it can be made without a decision. For editors.
    pub fix: Option<Box<Fix>>,
}

/// An edit of the source that mends a mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// Text to be replaced; empty to insert.
    pub span: Span,
    /// Text that stands there afterwards; empty to remove.
    pub text: String,
}

/// The subject of an error, for code; people read the message, so no code has to parse it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A name that is not defined.
    Name(String),
    /// Data that was not granted.
    Data(String),
    /// A tool that was not granted.
    Tool(String),
    /// The answer of a write that a plan lists and does not send, by the number of the write in its plan.
    Write(u64),
    /// Upstream servers, when there are none.
    Servers,
    /// A prelude that is not attached; the message already says so.
    Attachment,
    /// A value of the wrong kind.
    Need {
        /// The kind that was needed.
        wanted: String,
        /// The kind that was found.
        found: String,
        /// True if the message names the operation.
        is_named: bool,
    },
    /// A call of a value that is not a function.
    Callee {
        /// Description of the value.
        what: String,
        /// True if it stands first in the marked source.
        stands_first: bool,
    },
}

/// For logs: `kind` (the stable reason), `label` (`E0302`), `severity`, `message`, `hint`, and `span` in bytes of the
/// source. Line and column need the source: see [`Diagnostic::place`].
impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut out = to.serialize_struct("Diagnostic", 6)?;
        out.serialize_field("kind", self.code.reason())?;
        out.serialize_field("label", &self.code.label())?;
        out.serialize_field("severity", if self.code.is_warning() { "warning" } else { "error" })?;
        out.serialize_field("message", &self.message)?;
        out.serialize_field("hint", &self.hint)?;
        out.serialize_field("span", &self.span)?;
        out.end()
    }
}

impl Diagnostic {
    /// Makes an error at a place in the source.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { span: Some(span), ..Diagnostic::without_span(code, message) }
    }

    /// Makes a warning about a place in the source. Its message must not quote values: some are firewalled.
    ///
    /// ```
    /// use ptc_bytecode::{Code, Diagnostic, Span};
    /// let d = Diagnostic::warning(Code::SurplusBracket, Span::new(7, 8), "this `)` closes nothing");
    /// assert!(d.code.is_warning());
    /// assert!(d.to_text("(+ 1 2))").starts_with("warning[W1001] surplus_bracket: this `)` closes nothing"));
    /// ```
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        debug_assert!(code.is_warning(), "{code:?} is an error");
        Diagnostic::error(code, span, message)
    }

    /// Makes an error that belongs to no place in a source.
    pub fn without_span(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            span: None,
            message: message.into(),
            label: None,
            hint: None,
            subject: None,
            trace: None,
            fix: None,
        }
    }

    /// Sets the note under the marked source.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    /// Sets the hint: what to write instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the subject.
    #[must_use]
    pub fn about(mut self, subject: Subject) -> Diagnostic {
        self.subject = Some(Box::new(subject));
        self
    }

    /// Sets the edit that the hint describes.
    #[must_use]
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.fix = Some(Box::new(Fix { span, text: text.into() }));
        self
    }

    /// Suggests a similar name the user may have meant.
    #[must_use]
    pub fn suggest(self, name: &str) -> Diagnostic {
        self.hint(format!("did you mean `{name}`?"))
    }

    /// Returns the line and column of its start, when known.
    pub fn place(&self, source: &str) -> Option<Place> {
        self.span.map(|span| place_of(source, span.start))
    }

    /// Renders compact text for models, pipes and logs: first line, the source line with a marker, the hint. No
    /// output steers a terminal, whatever the source holds.
    ///
    /// ```
    /// use ptc_bytecode::{Code, Diagnostic, Span};
    /// let d = Diagnostic::error(Code::UnboundVar, Span::new(1, 7), "`fliter` is not defined").suggest("filter");
    /// assert_eq!(d.to_text("(fliter odd? xs)"), "\
    /// error[E0208] unbound_var: `fliter` is not defined (line 1, column 2)
    ///  1 │ (fliter odd? xs)
    ///    │  ^^^^^^
    ///  hint: did you mean `filter`?
    /// ");
    /// ```
    pub fn to_text(&self, source: &str) -> String {
        use std::fmt::Write;
        let mut out = self.title();
        if let (Some(span), Some(place)) = (self.span, self.place(source)) {
            let _ = writeln!(out, " (line {}, column {})", place.line, place.column);
            let (shown, offset) = excerpt(&visible(line_text(source, place.line)), place.column as usize - 1);
            let gutter = place.line.to_string();
            let _ = writeln!(out, " {gutter} │ {shown}");
            let room = shown.chars().count().saturating_sub(offset).max(1);
            let marks = span.text(source).lines().next().map_or(1, |l| l.chars().count()).clamp(1, room);
            let label = self.label.as_deref().map(|l| format!(" {}", visible(l))).unwrap_or_default();
            let _ = writeln!(
                out,
                " {} │ {}{}{label}",
                " ".repeat(gutter.len()),
                " ".repeat(offset),
                "^".repeat(marks)
            );
        } else {
            out.push('\n');
        }
        for line in self.trace.iter().flat_map(|trace| trace.lines(source)) {
            let _ = writeln!(out, " {line}");
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, " hint: {}", visible(hint));
        }
        out
    }

    /// Renders everything but the excerpt and the calls in one line, for places with little room.
    ///
    /// ```
    /// use ptc_bytecode::{Code, Diagnostic, Span};
    /// let d = Diagnostic::warning(Code::SurplusBracket, Span::new(7, 8), "this `)` closes nothing").hint("remove it");
    /// assert_eq!(
    ///     d.to_line("(+ 1 2))"),
    ///     "warning[W1001] surplus_bracket: this `)` closes nothing (line 1, column 8); hint: remove it"
    /// );
    /// ```
    pub fn to_line(&self, source: &str) -> String {
        use std::fmt::Write;
        let mut out = self.title();
        if let Some(place) = self.place(source) {
            let _ = write!(out, " (line {}, column {})", place.line, place.column);
        }
        if let Some(hint) = &self.hint {
            let _ = write!(out, "; hint: {}", visible(hint));
        }
        out
    }

    /// Returns severity, code and message.
    fn title(&self) -> String {
        let severity = if self.code.is_warning() { "warning" } else { "error" };
        format!("{severity}[{}] {}: {}", self.code.label(), self.code.reason(), visible(&self.message))
    }
}

/// Maximum warnings shown with a result; the rest are only counted.
pub const MAX_SHOWN_WARNINGS: usize = 3;

/// Splits warnings into the ones to show and the number of the rest.
pub fn shown_warnings(warnings: &[Diagnostic]) -> (&[Diagnostic], usize) {
    let (shown, rest) = warnings.split_at(warnings.len().min(MAX_SHOWN_WARNINGS));
    (shown, rest.len())
}

/// Renders warnings, one line each, then `and N more` if some are left out.
///
/// ```
/// use ptc_bytecode::{Code, Diagnostic, Span, warning_lines};
/// let at = |at| Diagnostic::warning(Code::SurplusBracket, Span::new(at, at + 1), "this `)` closes nothing");
/// let lines = warning_lines(&[at(1), at(3), at(5), at(7), at(9)], "1) 2) 3) 4) 5)");
/// assert_eq!(lines.len(), 4);
/// assert_eq!(lines[3], "and 2 more");
/// ```
pub fn warning_lines(warnings: &[Diagnostic], source: &str) -> Vec<String> {
    let (shown, left_out) = shown_warnings(warnings);
    let mut lines: Vec<String> = shown.iter().map(|warning| warning.to_line(source)).collect();
    lines.extend((left_out > 0).then(|| format!("and {left_out} more")));
    lines
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code.reason(), self.message)
    }
}

impl std::error::Error for Diagnostic {}

/// Cuts a source line to at most 100 characters around `column`; also returns the column within the cut.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    const WIDTH: usize = 100;
    if line.chars().count() <= WIDTH {
        return (line.replace('\t', " "), column);
    }
    let skip = column.saturating_sub(30);
    let mut shown: String = line.chars().skip(skip).take(WIDTH).collect::<String>().replace('\t', " ");
    if line.chars().count() > skip + WIDTH {
        shown.push('…');
    }
    if skip > 0 { (format!("…{shown}"), column - skip + 1) } else { (shown, column) }
}
