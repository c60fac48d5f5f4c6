//! Exceptions: a map with `:kind`, `:message`, `:data` and `:cause`, and the place in the program.

use super::{Ref, Value};
use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use ptc_bytecode::{Code, Span};

/// Kind of the exceptions of `ex-info`.
const INFO: &str = "ExceptionInfo";

/// Upper bound of the cells of an exception, besides its texts and its data.
const CELLS: usize = 64;

/// Maximum bytes of an exception's data that its fault carries.
const MOST_DATA: usize = 64 << 10;

/// Maximum characters of an exception's data shown in a message.
const SHOWN: usize = 200;

impl Heap {
    /// Makes an exception described by a map.
    pub(crate) fn new_exception(&mut self, map: Ref, place: Value) -> Result<Value, Stop> {
        self.room(3, 0)?;
        Ok(Value::Exception(self.push_object(Value::ExceptionHead, &[Value::Map(map), place])))
    }

    /// Makes an exception of this kind, which is the name of a class or the reason of a fault.
    pub fn make_exception(
        &mut self,
        kind: &str,
        message: Value,
        data: Value,
        cause: Value,
    ) -> Result<Value, Stop> {
        self.exception_at(kind, [message, data, cause], None)
    }

    fn exception_at(
        &mut self,
        kind: &str,
        [message, data, cause]: [Value; 3],
        span: Option<Span>,
    ) -> Result<Value, Stop> {
        self.room(CELLS, kind.len() + 32)?;
        let items = [
            self.new_keyword("kind")?,
            self.new_keyword(kind)?,
            self.new_keyword("message")?,
            message,
            self.new_keyword("data")?,
            data,
            self.new_keyword("cause")?,
            cause,
        ];
        let Value::Map(map) = self.new_map(&items)? else { return Ok(Value::Nil) };
        let place = span.map_or(Value::Nil, |span| {
            Value::Int(((u64::from(span.start) << 32) | u64::from(span.end)) as i64)
        });
        self.new_exception(map, place)
    }

    /// Converts a fault to an exception. Reserves all room before it begins.
    pub(crate) fn exception_of(&mut self, fault: &Fault) -> Result<Value, Stop> {
        let (mut cells, mut text) = (0, 0);
        let mut next = Some(fault);
        while let Some(fault) = next {
            let parts = fault.parts();
            cells += 2 * CELLS + parts.value.as_ref().map_or(0, |value| 4 * value.nodes().len());
            text += parts.message.len() + parts.hint.as_ref().map_or(0, String::len) + 200;
            next = parts.cause.as_ref().map(|(_, cause)| cause);
        }
        self.room(cells, text)?;
        self.exception_inside(fault)
    }

    fn exception_inside(&mut self, fault: &Fault) -> Result<Value, Stop> {
        let parts = fault.parts();
        let message = self.new_str(&parts.message)?;
        let (kind, index, cause) = match &parts.cause {
            Some((index, cause)) => (cause.code(), Some(*index), self.exception_inside(cause)?),
            None => (parts.code, None, Value::Nil),
        };
        let data = match &parts.value {
            Some(value) => self.from_datum(value)?,
            None => {
                let mut items = vec![self.new_keyword("kind")?, self.new_keyword(kind.reason())?];
                if let Some(index) = index {
                    items.extend([self.new_keyword("index")?, Value::Int(index as i64)]);
                }
                if let Some(hint) = &parts.hint {
                    items.extend([self.new_keyword("hint")?, self.new_str(hint)?]);
                }
                self.new_map(&items)?
            }
        };
        let kind = if kind == Code::Uncaught { INFO } else { kind.reason() };
        self.exception_at(kind, [message, data, cause], parts.span)
    }

    /// Makes the fault of an exception that nothing caught.
    pub(crate) fn uncaught(&self, exception: Ref) -> Fault {
        let text = |key| match self.exception_part(exception, key) {
            Value::Str(text) | Value::Keyword(text) => Some(self.str(text)),
            _ => None,
        };
        let message = text("message").unwrap_or("an exception without a message").to_string();
        let span = match self.exception_parts(exception)[1] {
            Value::Int(place) => {
                Some(Span { start: ((place as u64) >> 32) as u32, end: place as u64 as u32 })
            }
            _ => None,
        };
        let data = self.exception_part(exception, "data");
        // A fault that was caught and thrown again keeps its identity.
        if let Some(code) = text("kind").and_then(Code::from_reason) {
            let fault = Fault::new(code, message).at(span);
            let hint = match data {
                Value::Map(map) => self.field_named(map, "hint"),
                _ => Value::Nil,
            };
            return match hint {
                Value::Str(hint) => fault.hint(self.str(hint)),
                _ => fault,
            };
        }
        let message = match data {
            Value::Map(map) if self.map_len(map) > 0 => format!("{message} {}", self.brief(data)),
            _ => message,
        };
        let fault = Fault::new(Code::Uncaught, message);
        match self.to_datum(data, MOST_DATA) {
            Ok(data) => fault.with_value(data),
            // If the data is too large to pass on, the rest of the exception is still reported.
            Err(_) => fault,
        }
    }

    /// Returns the beginning of a value's text.
    pub(crate) fn brief(&self, value: Value) -> String {
        let mut text = String::new();
        // Text that is too long is long enough.
        let _ = self.print(value, &mut text, SHOWN * 4);
        match text.char_indices().nth(SHOWN) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text,
        }
    }

    /// Returns the map of an exception, and its place.
    pub(crate) fn exception_parts(&self, exception: Ref) -> [Value; 2] {
        [self.field(exception, 0), self.field(exception, 1)]
    }

    /// Returns the map of an exception.
    pub(crate) fn exception_map(&self, exception: Ref) -> Ref {
        match self.field(exception, 0) {
            Value::Map(map) => map,
            // Every exception has a map.
            _ => exception,
        }
    }

    /// Returns a part of an exception by name: `kind`, `message`, `data`, `cause`.
    pub fn exception_part(&self, exception: Ref, name: &str) -> Value {
        self.field_named(self.exception_map(exception), name)
    }

    /// Returns the value of a small map under a keyword.
    fn field_named(&self, map: Ref, name: &str) -> Value {
        let mut cursor = 0;
        while let Some((key, value, next)) = self.map_next(map, cursor) {
            if let Value::Keyword(key) = key
                && self.str(key) == name
            {
                return value;
            }
            cursor = next;
        }
        Value::Nil
    }
}
