//! A diagnostic: what was wrong, where, what was expected, and one fix that would run.
//!
//! Compile errors and run-time faults are both told as diagnostics. There are three renderings:
//! for a terminal (in `cli`), compact text for models and pipes ([`Diagnostic::to_text`]), and
//! JSON (made where JSON is written, from the public fields).
//!
//! Warnings are diagnostics as well; their code says that they are. They come with a result instead of taking its
//! place, so they are told briefly: at most [`MAX_SHOWN_WARNINGS`] of them, in a line each where a model reads them.

use crate::codes::Code;
use crate::span::{Place, Span, line_text, place_of};
use crate::text::visible;
use crate::trace::Trace;

/// One error or warning with its parts, never just a string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The kind of error or warning.
    pub code: Code,
    /// Where in the source, when known.
    pub span: Option<Span>,
    /// The first line: the operation as the user spelled it, needed, found. Lower case, no full stop.
    pub message: String,
    /// A few words under the marked source.
    pub label: Option<String>,
    /// One fix, as code that would run.
    pub hint: Option<String>,
    /// What it is about, for code that acts on it.
    pub subject: Option<Box<Subject>>,
    /// The calls that led there, if there were any.
    pub trace: Option<Box<Trace>>,
}

/// What an error is about. The message tells people the same; no code has to read it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A name that stands for nothing.
    Name(String),
    /// Data that was not granted.
    Data(String),
    /// A tool that was not granted.
    Tool(String),
    /// Upstream servers, of which there are none.
    Servers,
    /// A prelude that is not attached; the message says so itself.
    Attachment,
    /// One kind of value was needed and another found.
    Need {
        /// What was needed.
        wanted: String,
        /// What there was.
        found: String,
        /// Whether the message says by which operation.
        is_named: bool,
    },
    /// A value was called that is no function.
    Callee {
        /// What it is.
        what: String,
        /// Whether it stands first in the marked source.
        stands_first: bool,
    },
}

impl Diagnostic {
    /// An error at a place in the source.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { span: Some(span), ..Diagnostic::without_span(code, message) }
    }

    /// A warning about a place in the source. Its message must not quote values: some are firewalled.
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

    /// An error that belongs to no place in a source.
    pub fn without_span(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            span: None,
            message: message.into(),
            label: None,
            hint: None,
            subject: None,
            trace: None,
        }
    }

    /// Words to put under the marked source.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    /// What to write instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// What it is about.
    #[must_use]
    pub fn about(mut self, subject: Subject) -> Diagnostic {
        self.subject = Some(Box::new(subject));
        self
    }

    /// A near name the user may have meant.
    #[must_use]
    pub fn suggest(self, name: &str) -> Diagnostic {
        self.hint(format!("did you mean `{name}`?"))
    }

    /// Line and column of the start, when known.
    pub fn place(&self, source: &str) -> Option<Place> {
        self.span.map(|span| place_of(source, span.start))
    }

    /// Compact text for models, pipes and logs: first line, the source line with a marker, the hint. Nothing in it
    /// steers a terminal, whatever the source holds.
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

    /// All of it but the excerpt and the calls in one line, for places with little room.
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

    /// Severity, code and message.
    fn title(&self) -> String {
        let severity = if self.code.is_warning() { "warning" } else { "error" };
        format!("{severity}[{}] {}: {}", self.code.label(), self.code.reason(), visible(&self.message))
    }
}

/// Warnings that are shown with a result; of more, only the number is told.
pub const MAX_SHOWN_WARNINGS: usize = 3;

/// The warnings that are shown, and the number of those that are not.
pub fn shown_warnings(warnings: &[Diagnostic]) -> (&[Diagnostic], usize) {
    let (shown, rest) = warnings.split_at(warnings.len().min(MAX_SHOWN_WARNINGS));
    (shown, rest.len())
}

/// Warnings in a line each, and `and N more` where some are left out.
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

/// At most 100 characters of a source line around `column`, and where the column is in them.
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
