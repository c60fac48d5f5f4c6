//! Call traces: the calls under way when a program failed.

use crate::span::{Span, place_of};
use crate::text::visible;
use serde::{Deserialize, Serialize};

/// Calls kept at the inner end of a trace; `OUTERMOST` bounds the outer end.
const INNERMOST: usize = 6;
const OUTERMOST: usize = 4;

/// Maximum length of a function name in a trace, in bytes.
const MAX_NAME: usize = 256;

/// A call that had not returned.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CallFrame {
    /// Name of the function, with its namespace for an export; None if it has none.
    pub function: Option<String>,
    /// Library function that made the call for the program, such as `map`.
    pub by: Option<String>,
    /// Index of the element being processed at the call, from 0.
    pub index: Option<u64>,
    /// Place of the call, if it is in the program.
    pub span: Option<Span>,
}

/// The calls that led to an error, at most ten of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    /// Index of the element being processed at the error, from 0.
    pub index: Option<u64>,
    /// Innermost calls, the last first.
    pub inner: Vec<CallFrame>,
    /// Number of calls left out between `inner` and `outer`.
    pub left_out: u64,
    /// Outermost calls, if some are left out.
    pub outer: Vec<CallFrame>,
}

impl Trace {
    /// Adds the call around all others. An overlong name is dropped.
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

    /// True if a run could have made it: a file may claim anything.
    pub fn is_sound(&self) -> bool {
        let is_short = |text: &Option<String>| text.as_ref().is_none_or(|text| text.len() <= MAX_NAME);
        self.inner.len() <= INNERMOST
            && self.outer.len() <= OUTERMOST
            && self.inner.iter().chain(&self.outer).all(|call| is_short(&call.function) && is_short(&call.by))
    }

    /// True if there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.index.is_none() && self.inner.is_empty()
    }

    /// Renders one line per call, the innermost first.
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
