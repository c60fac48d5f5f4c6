//! A diagnostic: what was wrong, where, what was expected, and one fix that would run.
//!
//! Compile errors and run-time faults are both told as diagnostics. There are three renderings:
//! for a terminal (in `cli`), compact text for models and pipes ([`Diagnostic::to_text`]), and
//! JSON (made where JSON is written, from the public fields).

use crate::codes::Code;
use crate::span::{Place, Span, line_text, place_of};
use crate::text::visible;

/// One error with its parts, never just a string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// What kind of error.
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
        Diagnostic { code, span: Some(span), message: message.into(), label: None, hint: None, subject: None }
    }

    /// An error that belongs to no place in a source.
    pub fn without_span(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, span: None, message: message.into(), label: None, hint: None, subject: None }
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
        let message = visible(&self.message);
        let mut out = format!("error[E{:04}] {}: {message}", self.code as u16, self.code.reason());
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
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, " hint: {}", visible(hint));
        }
        out
    }
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
