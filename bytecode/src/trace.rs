//! The calls that were under way when a program failed.

use crate::span::{Span, place_of};
use crate::text::visible;
use serde::{Deserialize, Serialize};

/// Calls that are told before and after those that are left out.
const INNERMOST: usize = 6;
const OUTERMOST: usize = 4;

/// The longest name of a function that is told, in bytes.
const MAX_NAME: usize = 256;

/// A call of a function that had not ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CallFrame {
    /// The name of the function, that of an export with its namespace; None for one without a name.
    pub function: Option<String>,
    /// The function of the library that called it for the program, such as `map`.
    pub by: Option<String>,
    /// The element that was walked where it was called, counted from 0.
    pub index: Option<u64>,
    /// Where it was called, if that is in the program.
    pub span: Option<Span>,
}

/// The calls that led to the place of an error, at most ten of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    /// The element that was walked at the place of the error, counted from 0.
    pub index: Option<u64>,
    /// The innermost calls, the last first.
    pub inner: Vec<CallFrame>,
    /// Number of calls between them that are left out.
    pub left_out: u64,
    /// The outermost calls, if some are left out.
    pub outer: Vec<CallFrame>,
}

impl Trace {
    /// Adds the call around all others. A name that is longer than anybody reads is left out.
    pub fn push(&mut self, mut call: CallFrame) {
        call.function.take_if(|name| name.len() > MAX_NAME);
        if self.inner.len() < INNERMOST {
            return self.inner.push(call);
        }
        self.outer.push(call);
        if self.outer.len() > OUTERMOST {
            self.outer.remove(0);
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Whether it could have been made by a run: a file may say anything.
    pub fn is_sound(&self) -> bool {
        let is_short = |text: &Option<String>| text.as_ref().is_none_or(|text| text.len() <= MAX_NAME);
        self.inner.len() <= INNERMOST
            && self.outer.len() <= OUTERMOST
            && self.inner.iter().chain(&self.outer).all(|call| is_short(&call.function) && is_short(&call.by))
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.index.is_none() && self.inner.is_empty()
    }

    /// A line for each call, the innermost first.
    ///
    /// ```
    /// use ptc_bytecode::{CallFrame, Span, Trace};
    /// let mut trace = Trace { index: Some(2), ..Trace::default() };
    /// trace.push(CallFrame { function: Some("total".into()), span: Some(Span::new(3, 9)), ..CallFrame::default() });
    /// assert_eq!(trace.lines("(do (total))"), ["at index 2", "in `total`, called at line 1, column 4"]);
    /// ```
    pub fn lines(&self, source: &str) -> Vec<String> {
        let mut lines: Vec<String> =
            self.index.map(|index| format!("at index {index}")).into_iter().collect();
        lines.extend(self.inner.iter().map(|call| call.line(source)));
        if self.left_out > 0 {
            lines.push(format!("… {} more", self.left_out));
        }
        lines.extend(self.outer.iter().map(|call| call.line(source)));
        lines
    }
}

impl CallFrame {
    fn line(&self, source: &str) -> String {
        use std::fmt::Write;
        let mut line = match &self.function {
            Some(name) => format!("in `{}`", visible(name)),
            None => "in a function".to_string(),
        };
        if self.by.is_some() || self.index.is_some() || self.span.is_some() {
            line.push_str(", called");
        }
        if let Some(by) = &self.by {
            let _ = write!(line, " by `{}`", visible(by));
        }
        if let Some(index) = self.index {
            let _ = write!(line, " for index {index}");
        }
        if let Some(span) = self.span {
            let place = place_of(source, span.start);
            let _ = write!(line, " at line {}, column {}", place.line, place.column);
        }
        line
    }
}
