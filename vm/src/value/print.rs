//! Printing: the readable form of `pr-str`, and the form of `str` at top level.

use std::fmt::Write;

use ptc_bytecode::text::{write_day, write_float, write_instant, write_quoted};
use ptc_bytecode::{Code, Media};

use crate::fault::Fault;
use crate::heap::Heap;
use crate::value::{FIREWALLED, Ref, RefSet, Value};

/// Steps for printing one element.
const FRAME_STEPS: usize = 8;

/// Minimum digits of every limb of a large integer but the first.
const LIMB_DIGITS: usize = 19;

/// Bytes of text written per step.
const WRITTEN_BYTES: usize = 16;

/// Maximum bytes of a quoted text without a price of its own.
const SHORT_QUOTED: usize = 32;

/// The rest of a collection to be printed.
enum Frame {
    Items {
        v: Value,
        next: usize,
    },
    Entries {
        r: Ref,
        cursor: usize,
        first: bool,
    },
    Members {
        r: Ref,
        cursor: usize,
        first: bool,
    },
    /// The value of an entry whose key has been printed.
    After(Value),
    /// The value of an entry with a firewalled key.
    Hidden,
    /// The content of an atom or a volatile.
    Held(Value),
    /// End of the content of a place.
    Leave(Ref),
}

/// Values still to be printed, the innermost last, and the places being printed: the only values that can lead back
/// to themselves.
#[derive(Default)]
struct Todo {
    frames: Vec<Frame>,
    inside: RefSet<Ref>,
}

/// The parts of a value that are printed.
#[derive(Clone, Copy)]
struct Manner {
    /// True to show veiled values.
    is_clear: bool,
    /// True to show images and documents as placeholders.
    is_told: bool,
}

impl Heap {
    /// Appends the readable form of `pr-str`, with [`FIREWALLED`] for veiled values. Faults `output_exceeded` past
    /// `limit` bytes.
    pub fn print(&self, v: Value, out: &mut String, limit: usize) -> Result<(), Fault> {
        self.print_as(v, out, limit, Manner { is_clear: false, is_told: false })
    }

    /// Appends the readable form with veiled values in clear: for the host, never for a model.
    pub fn print_clear(&self, v: Value, out: &mut String, limit: usize) -> Result<(), Fault> {
        self.print_as(v, out, limit, Manner { is_clear: true, is_told: false })
    }

    /// Appends the text that a program shows by printing a value: with the firewall up it goes to a model, and
    /// images and documents are placeholders. `is_clear` is for the host, and shows veiled values.
    pub fn print_told(&self, v: Value, out: &mut String, limit: usize, is_clear: bool) -> Result<(), Fault> {
        self.print_as(v, out, limit, Manner { is_clear, is_told: self.firewall })
    }

    /// Returns the image or document that a map is, if it is shown as one and its fields may be seen.
    fn media(&self, r: Ref, manner: Manner) -> Option<Media<'_>> {
        if !manner.is_told || self.map_len(r) > Media::MAX_ENTRIES {
            return None;
        }
        let text = |value: Value| match if manner.is_clear { self.unveil(value) } else { value } {
            Value::Str(r) | Value::Keyword(r) => Some(self.str(r)),
            _ => None,
        };
        let mut entries = Vec::new();
        let mut at = 0;
        while let Some((key, value, next)) = self.map_next(r, at) {
            entries.extend(text(key).zip(text(value)));
            at = next;
        }
        Media::of_fields(|name| entries.iter().find(|(key, _)| *key == name).map(|(_, text)| *text))
    }

    fn print_as(&self, v: Value, out: &mut String, limit: usize, manner: Manner) -> Result<(), Fault> {
        let start = out.len();
        let mut todo = Todo::default();
        self.print_start(v, out, limit, &mut todo, manner)?;
        while let Some(frame) = todo.frames.pop() {
            self.charge(FRAME_STEPS);
            self.look()?;
            check_length(out, start, limit)?;
            self.print_on(frame, out, limit, &mut todo, manner)?;
        }
        // One leaf can be long work, and a call may print many.
        self.look()?;
        check_length(out, start, limit)
    }

    fn print_on(
        &self,
        frame: Frame,
        out: &mut String,
        limit: usize,
        todo: &mut Todo,
        manner: Manner,
    ) -> Result<(), Fault> {
        match frame {
            Frame::Items { v, next } => match self.seq_get(v, next) {
                Some(item) => {
                    separate(out, next == 0);
                    todo.frames.push(Frame::Items { v, next: next + 1 });
                    self.print_start(item, out, limit, todo, manner)?;
                }
                None => out.push(']'),
            },
            Frame::Entries { r, cursor, first } => match self.map_next(r, cursor) {
                Some((key, value, cursor)) => {
                    separate(out, first);
                    todo.frames.push(Frame::Entries { r, cursor, first: false });
                    // A constant of the program is not veiled, and no secret; still, it has such a name.
                    let is_hidden = self.firewall && !manner.is_clear && self.is_firewalled_key(key);
                    todo.frames.push(if is_hidden { Frame::Hidden } else { Frame::After(value) });
                    self.print_start(key, out, limit, todo, manner)?;
                }
                None => out.push('}'),
            },
            Frame::Members { r, cursor, first } => match self.set_next(r, cursor) {
                Some((item, cursor)) => {
                    separate(out, first);
                    todo.frames.push(Frame::Members { r, cursor, first: false });
                    self.print_start(item, out, limit, todo, manner)?;
                }
                None => out.push('}'),
            },
            Frame::Hidden => push_all(out, &[" ", FIREWALLED]),
            Frame::After(value) => {
                out.push(' ');
                self.print_start(value, out, limit, todo, manner)?;
            }
            Frame::Held(value) => self.print_start(value, out, limit, todo, manner)?,
            Frame::Leave(r) => drop(todo.inside.remove(&r)),
        }
        Ok(())
    }

    /// Prints a leaf, or opens a collection. Faults for an endless sequence.
    fn print_start(
        &self,
        v: Value,
        out: &mut String,
        limit: usize,
        todo: &mut Todo,
        manner: Manner,
    ) -> Result<(), Fault> {
        match v {
            Value::Vector(_) | Value::Range(_) => {
                out.push('[');
                todo.frames.push(Frame::Items { v, next: 0 });
            }
            Value::Map(r) => match self.media(r, manner) {
                Some(media) => write_to(out, format_args!("{media}")),
                None => {
                    out.push('{');
                    todo.frames.push(Frame::Entries { r, cursor: 0, first: true });
                }
            },
            Value::Set(r) => {
                out.push_str("#{");
                todo.frames.push(Frame::Members { r, cursor: 0, first: true });
            }
            Value::Exception(r) => {
                out.push_str("#error ");
                return self.print_start(Value::Map(self.exception_map(r)), out, limit, todo, manner);
            }
            Value::State(r) if todo.inside.insert(r) => {
                out.push_str(self.state_kind(r).tag());
                todo.frames.extend([Frame::Leave(r), Frame::Held(self.state(r))]);
            }
            Value::State(r) => out.push_str(self.state_kind(r).cut_short()),
            Value::Endless(_) => return Err(Fault::endless()),
            Value::Veiled(r) if manner.is_clear => {
                return self.print_start(self.field(r, 0), out, limit, todo, manner);
            }
            // Computing digits takes longer than writing them, so too many are refused in advance.
            Value::Big(r) if self.big_len(r).saturating_sub(1).saturating_mul(LIMB_DIGITS) > limit => {
                return Err(too_long(limit));
            }
            // Its beginning is enough for callers that show a part.
            Value::Str(r) if self.text_bytes_len(r) > limit => {
                let text = self.str(r);
                write_quoted(&text[..text.floor_char_boundary(limit)], out);
                return Err(too_long(limit));
            }
            _ => self.print_leaf(v, out),
        }
        Ok(())
    }

    fn print_leaf(&self, v: Value, out: &mut String) {
        match v {
            Value::Nil => out.push_str("nil"),
            Value::True => out.push_str("true"),
            Value::False => out.push_str("false"),
            Value::Int(n) => out.push_str(itoa::Buffer::new().format(n)),
            Value::Float(x) => write_float(x.get(), out),
            Value::Big(r) => {
                self.charge_digits(self.big_limbs(r).len());
                if let Some(n) = self.to_bigint(v) {
                    write_to(out, format_args!("{n}"));
                }
            }
            Value::Str(r) => {
                self.charge_quoted(self.text_head(r).1);
                write_quoted(self.str(r), out);
            }
            Value::Keyword(r) => push_all(out, &[":", self.str(r)]),
            Value::Symbol(r) => push_all(out, &["'", self.str(r)]),
            Value::Var(r) => push_all(out, &["#'", self.str(r)]),
            Value::Tool(r) => push_all(out, &["tool/", self.str(r)]),
            // The source as written: the reader takes it raw.
            Value::Regex(r) => push_all(out, &["#\"", self.str(r), "\""]),
            Value::Day(day) => {
                out.push('"');
                write_day(day, out);
                out.push('"');
            }
            Value::Instant(micros) => {
                out.push('"');
                write_instant(micros, out);
                out.push('"');
            }
            Value::Duration(ms) => write_to(out, format_args!("#duration[{ms}ms]")),
            Value::Builtin(_) => out.push_str("#<builtin>"),
            Value::Closure(r) => match self.closure_function(r).map(|function| &function.arities[..]) {
                Some([arity]) => push_all(out, &["#fn[", &arity.params, "]"]),
                Some([first, more @ ..]) => {
                    push_all(out, &["#fn[", &first.params]);
                    more.iter().for_each(|arity| push_all(out, &[" | ", &arity.params]));
                    out.push(']');
                }
                // Made by the core library: `comp`, `partial` and the like.
                _ => out.push_str("#fn[...]"),
            },
            Value::Veiled(_) => out.push_str(FIREWALLED),
            _ => out.push_str("#<unknown>"),
        }
    }

    /// Charges for writing that many bytes of text.
    #[inline]
    pub(crate) fn charge_copy(&self, bytes: usize) {
        self.charge(bytes / WRITTEN_BYTES);
    }

    /// Charges for writing that many bytes of quoted text, a step for each since each is checked. The price of an
    /// element covers short texts.
    #[inline]
    pub fn charge_quoted(&self, bytes: usize) {
        if bytes > SHORT_QUOTED {
            self.charge(bytes);
        }
    }

    /// Appends the form of `str`: text and dates without quotes, nothing for nil.
    pub fn display(&self, v: Value, out: &mut String, limit: usize) -> Result<(), Fault> {
        let start = out.len();
        match v {
            Value::Nil => {}
            Value::Str(r) | Value::Regex(r) => {
                self.charge_copy(self.text_head(r).1);
                out.push_str(self.str(r));
            }
            Value::Int(n) => out.push_str(itoa::Buffer::new().format(n)),
            Value::Float(x) if x.get().is_nan() => out.push_str("NaN"),
            Value::Float(x) if x.get().is_infinite() => {
                out.push_str(if x.get() > 0.0 { "Infinity" } else { "-Infinity" })
            }
            Value::Day(day) => write_day(day, out),
            Value::Instant(micros) => write_instant(micros, out),
            _ => return self.print(v, out, limit),
        }
        check_length(out, start, limit)
    }
}

fn check_length(out: &str, start: usize, limit: usize) -> Result<(), Fault> {
    if out.len() - start > limit {
        return Err(too_long(limit));
    }
    Ok(())
}

#[cold]
fn too_long(limit: usize) -> Fault {
    Fault::new(Code::OutputExceeded, format!("the printed value is longer than {limit} bytes"))
}

fn separate(out: &mut String, first: bool) {
    if !first {
        out.push(' ');
    }
}

fn push_all(out: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| out.push_str(part));
}

/// Formats into a `String`, which cannot fail.
fn write_to(out: &mut String, args: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(args);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(heap: &Heap, v: Value) -> String {
        let mut out = String::new();
        heap.print(v, &mut out, 1_000_000).unwrap();
        out
    }

    #[test]
    fn floats() {
        for (x, wanted) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (1000.0, "1000.0"),
            (9_999_999.5, "9999999.5"),
            (1e7, "1.0E7"),
            (1.5e10, "1.5E10"),
            (0.001, "0.001"),
            (0.0005, "5.0E-4"),
            (1e300, "1.0E300"),
            (f64::INFINITY, "##Inf"),
            (f64::NEG_INFINITY, "##-Inf"),
            (f64::NAN, "##NaN"),
        ] {
            let mut out = String::new();
            write_float(x, &mut out);
            assert_eq!(out, wanted);
        }
    }

    #[test]
    fn digits_that_are_too_many_are_not_looked_for() {
        let mut heap = Heap::unbounded();
        let n = heap.new_integer(&(num_bigint::BigInt::from(1) << 400_000)).unwrap();
        let mut out = String::new();
        let fault = heap.print(n, &mut out, 100_000).unwrap_err();
        assert_eq!((fault.code(), out.as_str()), (Code::OutputExceeded, ""));
        let n = heap.new_integer(&num_bigint::BigInt::from(u64::MAX)).unwrap();
        heap.print(n, &mut out, 20).unwrap();
        assert_eq!(out, u64::MAX.to_string());
    }

    #[test]
    fn dates() {
        for (day, wanted) in
            [(0, "1970-01-01"), (19_844, "2024-05-01"), (19_782, "2024-02-29"), (-1, "1969-12-31")]
        {
            let mut out = String::new();
            write_day(day, &mut out);
            assert_eq!(out, wanted);
        }
        for (micros, wanted) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (1_500_000, "1970-01-01T00:00:01.500Z"),
            (1_714_550_400_000_000, "2024-05-01T08:00:00Z"),
        ] {
            let mut out = String::new();
            write_instant(micros, &mut out);
            assert_eq!(out, wanted);
        }
    }

    #[test]
    fn collections() {
        let mut heap = Heap::unbounded();
        let (a, b) = (heap.new_keyword("a").unwrap(), heap.new_str("b\n\"\\\u{1}").unwrap());
        let inner = heap.new_vec(&[Value::Int(1), Value::Nil]).unwrap();
        let empty = heap.empty_map();
        let map = heap.new_map(&[a, inner, b, empty, inner, Value::Int(2)]).unwrap();
        assert_eq!(print(&heap, map), r#"{:a [1 nil] "b\n\"\\\u0001" {} [1 nil] 2}"#);
        let set = heap.new_set(&[map, Value::True]).unwrap();
        assert!(print(&heap, set).starts_with("#{{:a [1 nil]"));
        let range = heap.new_range(0, 3, 1).unwrap();
        assert_eq!(print(&heap, range), "[0 1 2]");
        assert_eq!(print(&heap, Value::Duration(1500)), "#duration[1500ms]");
        assert_eq!(print(&heap, Value::Day(0)), "\"1970-01-01\"");
        let mut out = String::new();
        heap.display(b, &mut out, 100).unwrap();
        heap.display(Value::Nil, &mut out, 100).unwrap();
        heap.display(Value::float(f64::INFINITY), &mut out, 100).unwrap();
        assert_eq!(out, "b\n\"\\\u{1}Infinity");
        let huge = heap.new_range(0, i64::MAX, 1).unwrap();
        let fault = heap.print(huge, &mut String::new(), 1000).unwrap_err();
        assert_eq!(fault.code(), Code::OutputExceeded);
    }
}
