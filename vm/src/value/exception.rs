//! Exceptions: a map with `:kind`, `:message`, `:data` and `:cause`, and where in the program it happened.

use super::{Ref, Value};
use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use ptc_bytecode::{Code, Span};

/// The kind of what `ex-info` makes.
const INFO: &str = "ExceptionInfo";

/// Cells that an exception takes besides its texts and its data, with room to spare.
const CELLS: usize = 64;

/// Bytes of the data of an exception that go with its fault.
const MOST_DATA: usize = 64 << 10;

/// Characters of the data of an exception shown in a message.
const SHOWN: usize = 200;

impl Heap {
    /// An exception that a map describes.
    pub(crate) fn new_exception(&mut self, map: Ref, place: Value) -> Result<Value, Stop> {
        self.room(3, 0)?;
        Ok(Value::Exception(self.push_object(Value::ExceptionHead, &[Value::Map(map), place])))
    }

    /// An exception of this kind, which is the name of a class or the reason of a fault.
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

    /// A fault as a program sees it. Asks for all room before it begins.
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

    /// The fault of an exception that nothing caught.
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
        // A fault that was caught and thrown again is what it was.
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
            // Data that is too much to hand on is no reason to say less about the exception.
            Err(_) => fault,
        }
    }

    /// The beginning of a value's text.
    fn brief(&self, value: Value) -> String {
        let mut text = String::new();
        // Too long is as good as long enough.
        let _ = self.print(value, &mut text, SHOWN * 4);
        match text.char_indices().nth(SHOWN) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text,
        }
    }

    /// The map of an exception, and its place.
    pub(crate) fn exception_parts(&self, exception: Ref) -> [Value; 2] {
        [self.field(exception, 0), self.field(exception, 1)]
    }

    /// The map of an exception.
    pub(crate) fn exception_map(&self, exception: Ref) -> Ref {
        match self.field(exception, 0) {
            Value::Map(map) => map,
            // Every exception has one.
            _ => exception,
        }
    }

    /// A part of an exception by its name: `kind`, `message`, `data`, `cause`.
    pub fn exception_part(&self, exception: Ref, name: &str) -> Value {
        self.field_named(self.exception_map(exception), name)
    }

    /// The value of a small map under a keyword.
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
