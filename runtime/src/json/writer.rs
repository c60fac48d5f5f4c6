//! Machine behind [`write_json`](super::write_json).
//!
//! Open collections are frames on a stack, so depth is unbounded. Every step writes something, so the limit on the
//! output bounds the work too, even for data that is shared many times over.

use std::collections::{HashMap, HashSet};

use ptc_bytecode::Code;
use ptc_vm::{Fault, Heap, Ref, Value};

use super::scan::push_escaped;
use super::write::{Beyond, KeyRule, WriteOptions};

/// Number of shapes whose text is cached; `SHAPE_BYTES` bounds the size of each, and most need `SHAPE_TEXT` bytes.
const SHAPES: usize = 16;
const SHAPE_TEXT: usize = 64;
/// Steps charged for opening a collection and returning to the one around it.
const FRAME_STEPS: usize = 8;

/// Steps charged for finding an entry of a map.
const ENTRY_STEPS: usize = 32;
const SHAPE_BYTES: usize = 4096;

/// A collection being written, with the position of its next item.
enum Frame {
    Vector {
        items: Ref,
        next: usize,
    },
    Range {
        at: u64,
        range: (i64, i64, u64),
    },
    Set {
        members: Ref,
        cursor: usize,
    },
    /// A map of a shape whose text is cached.
    Record {
        map: Ref,
        shape: usize,
        next: usize,
    },
    Map {
        entries: Ref,
        cursor: usize,
    },
    /// A map in which some keys may have the same name.
    Merged {
        entries: Vec<(Value, Value)>,
        next: usize,
    },
    /// End of the content of an atom or a volatile.
    Leave(Ref),
}

/// The keys that many maps share, as JSON text: each from its quote to the colon.
struct Shape {
    keys: Ref,
    text: String,
    ends: Vec<usize>,
}

pub(super) struct Writer<'w> {
    heap: &'w Heap,
    out: &'w mut String,
    options: &'w WriteOptions,
    end: usize,
    frames: Vec<Frame>,
    /// Places being written, to detect content that refers back to them.
    inside: HashSet<Ref>,
    shapes: Vec<Shape>,
    scratch: String,
}

impl<'w> Writer<'w> {
    pub(super) fn new(heap: &'w Heap, out: &'w mut String, options: &'w WriteOptions) -> Writer<'w> {
        let end = out.len().saturating_add(options.limit);
        let (frames, shapes, scratch) = (Vec::new(), Vec::new(), String::new());
        Writer { heap, out, options, end, frames, inside: HashSet::new(), shapes, scratch }
    }

    pub(super) fn run(mut self, value: Value) -> Result<(), Fault> {
        if !self.scalar(value)? {
            self.open(value)?;
        }
        // A frame writes items up to the next collection, then puts itself back with that one on top.
        while let Some(frame) = self.frames.pop() {
            self.heap.charge(FRAME_STEPS);
            self.heap.look()?;
            match frame {
                Frame::Vector { items, next } => self.vector(items, next)?,
                Frame::Range { at, range } => self.range(at, range)?,
                Frame::Set { members, cursor } => self.set(members, cursor)?,
                Frame::Record { map, shape, next } => self.record(map, shape, next)?,
                Frame::Map { entries, cursor } => self.map(entries, cursor)?,
                Frame::Merged { entries, next } => self.merged(entries, next)?,
                Frame::Leave(r) => drop(self.inside.remove(&r)),
            }
        }
        self.room(0)
    }

    fn vector(&mut self, items: Ref, mut next: usize) -> Result<(), Fault> {
        let heap = self.heap;
        loop {
            let (chunk, space) = heap.vec_chunk(items, next);
            if chunk.is_empty() {
                self.close(']', next > 0);
                return Ok(());
            }
            heap.charge(chunk.len());
            heap.look()?;
            for cell in chunk {
                let item = heap.import(space, *cell);
                self.separate(next == 0)?;
                next += 1;
                if !self.scalar(item)? {
                    self.frames.push(Frame::Vector { items, next });
                    return self.open(item);
                }
            }
        }
    }

    fn range(&mut self, mut at: u64, (start, step, len): (i64, i64, u64)) -> Result<(), Fault> {
        while at < len {
            self.heap.charge(1);
            self.heap.look()?;
            self.separate(at == 0)?;
            self.scalar(Value::Int(start.wrapping_add(step.wrapping_mul(at as i64))))?;
            at += 1;
        }
        self.close(']', len > 0);
        Ok(())
    }

    fn set(&mut self, members: Ref, mut cursor: usize) -> Result<(), Fault> {
        while let Some((item, next)) = self.heap.set_next(members, cursor) {
            self.separate(cursor == 0)?;
            cursor = next;
            if !self.scalar(item)? {
                self.frames.push(Frame::Set { members, cursor });
                return self.open(item);
            }
        }
        self.close(']', cursor > 0);
        Ok(())
    }

    fn record(&mut self, map: Ref, shape: usize, mut next: usize) -> Result<(), Fault> {
        while let Some(end) = self.shapes[shape].ends.get(next).copied() {
            self.separate(next == 0)?;
            let Shape { text, ends, .. } = &self.shapes[shape];
            let start = next.checked_sub(1).map_or(0, |before| ends[before]);
            self.out.push_str(&text[start..end]);
            let value = self.heap.record_get(map, next);
            next += 1;
            if !self.scalar(value)? {
                self.frames.push(Frame::Record { map, shape, next });
                return self.open(value);
            }
        }
        self.close('}', next > 0);
        Ok(())
    }

    fn map(&mut self, entries: Ref, mut cursor: usize) -> Result<(), Fault> {
        while let Some((key, value, next)) = self.heap.map_next(entries, cursor) {
            self.separate(cursor == 0)?;
            cursor = next;
            self.key(key)?;
            if !self.scalar(value)? {
                self.frames.push(Frame::Map { entries, cursor });
                return self.open(value);
            }
        }
        self.close('}', cursor > 0);
        Ok(())
    }

    fn merged(&mut self, entries: Vec<(Value, Value)>, mut next: usize) -> Result<(), Fault> {
        while let Some((key, value)) = entries.get(next).copied() {
            self.separate(next == 0)?;
            next += 1;
            self.key(key)?;
            if !self.scalar(value)? {
                self.frames.push(Frame::Merged { entries, next });
                return self.open(value);
            }
        }
        self.close('}', next > 0);
        Ok(())
    }

    /// Checks that `more` bytes may be written.
    #[inline]
    fn room(&self, more: usize) -> Result<(), Fault> {
        if self.out.len().saturating_add(more) <= self.end { Ok(()) } else { Err(self.too_long()) }
    }

    #[cold]
    fn too_long(&self) -> Fault {
        let limit = self.options.limit;
        Fault::new(
            Code::OutputExceeded,
            format!("the JSON text is longer than {limit} bytes (limits.result_bytes)"),
        )
    }

    /// Writes the separator before an item.
    #[inline]
    fn separate(&mut self, first: bool) -> Result<(), Fault> {
        if !first {
            self.out.push(',');
        }
        if self.options.pretty {
            self.new_line(self.depth() + 1);
        }
        self.room(0)
    }

    fn close(&mut self, bracket: char, any: bool) {
        if any && self.options.pretty {
            self.new_line(self.depth());
        }
        self.out.push(bracket);
    }

    /// Returns the number of open collections.
    fn depth(&self) -> usize {
        self.frames.len() - self.inside.len()
    }

    fn new_line(&mut self, depth: usize) {
        self.out.push('\n');
        // Bounded by the room left, since the depth is up to the data.
        let blanks = (depth * 2).min(self.end.saturating_sub(self.out.len()) + 1);
        self.out.extend(std::iter::repeat_n(' ', blanks));
    }

    /// Writes `value` and returns true, or returns false for a collection.
    #[inline]
    fn scalar(&mut self, value: Value) -> Result<bool, Fault> {
        match value {
            Value::Str(r) | Value::Keyword(r) => self.text(r)?,
            Value::Int(n) => self.out.push_str(itoa::Buffer::new().format(n)),
            Value::Float(x) if x.get().is_finite() => {
                self.out.push_str(zmij::Buffer::new().format_finite(x.get()))
            }
            Value::Nil => self.out.push_str("null"),
            Value::True => self.out.push_str("true"),
            Value::False => self.out.push_str("false"),
            Value::Vector(_) | Value::Range(_) | Value::Map(_) => return Ok(false),
            Value::Set(_) | Value::State(_) if self.options.beyond != Beyond::Refuse => return Ok(false),
            // The host sees firewalled values in full; natives receive clear ones.
            Value::Veiled(_) => return self.scalar(self.heap.unveil(value)),
            _ => self.rare(value)?,
        }
        Ok(true)
    }

    #[cold]
    fn rare(&mut self, value: Value) -> Result<(), Fault> {
        let (beyond, finite_only) = (self.options.beyond, self.options.finite_only);
        match value {
            Value::Float(_) if !finite_only => self.out.push_str("null"),
            Value::Float(x) => return Err(no_number(x.get())),
            Value::Big(r) => self.big(value, r)?,
            Value::Day(_) | Value::Instant(_) | Value::Duration(_) if beyond != Beyond::Refuse => {
                self.printed(value)?;
            }
            Value::Builder(_) => return Err(no_form(value)),
            _ if beyond == Beyond::Print => self.printed(value)?,
            _ => return Err(no_form(value)),
        }
        Ok(())
    }

    fn big(&mut self, value: Value, r: Ref) -> Result<(), Fault> {
        let Some(n) = self.heap.to_bigint(value) else { return Ok(()) };
        // A digit is less than four bits; printing takes time in the square of them, so room is checked first.
        self.room(usize::try_from(n.bits() / 4).unwrap_or(usize::MAX))?;
        // The clock is checked, and the digits charged, before they are printed.
        self.heap.charge_digits(self.heap.big_len(r));
        self.heap.look()?;
        self.out.push_str(&n.to_string());
        Ok(())
    }

    fn text(&mut self, r: Ref) -> Result<(), Fault> {
        let text = self.heap.str(r);
        self.room(text.len())?;
        self.heap.charge_quoted(text.len());
        quoted(self.out, text);
        Ok(())
    }

    /// Writes the `str` form as a string.
    fn printed(&mut self, value: Value) -> Result<(), Fault> {
        self.scratch.clear();
        if let Value::Nil = value {
            self.scratch.push_str("nil");
        }
        self.heap.display(value, &mut self.scratch, self.options.limit)?;
        self.heap.look()?;
        self.room(self.scratch.len())?;
        quoted(self.out, &self.scratch);
        Ok(())
    }

    /// Writes a key and its colon.
    fn key(&mut self, key: Value) -> Result<(), Fault> {
        match (key, self.options.keys) {
            (Value::Str(r) | Value::Keyword(r), _) => self.text(r)?,
            (_, KeyRule::Any) | (Value::Int(_) | Value::Big(_), KeyRule::Integers) => self.printed(key)?,
            _ => return Err(self.bad_key(key)),
        }
        self.out.push_str(if self.options.pretty { ": " } else { ":" });
        Ok(())
    }

    /// Opens a collection that `scalar` did not write.
    fn open(&mut self, value: Value) -> Result<(), Fault> {
        let mut value = self.heap.unveil(value);
        while let Value::State(r) = value {
            // A place inside itself has no end.
            if !self.inside.insert(r) {
                quoted(self.out, self.heap.state_kind(r).cut_short());
                return self.room(0);
            }
            self.heap.charge(FRAME_STEPS);
            self.heap.look()?;
            self.frames.push(Frame::Leave(r));
            value = self.heap.unveil(self.heap.state(r));
        }
        let frame = match value {
            Value::Vector(items) => Frame::Vector { items, next: 0 },
            Value::Range(r) => Frame::Range { at: 0, range: self.heap.range_parts(r) },
            Value::Set(members) => Frame::Set { members, cursor: 0 },
            Value::Map(map) => self.open_map(map)?,
            scalar => return self.scalar(scalar).map(drop),
        };
        self.out.push(if matches!(value, Value::Map(_)) { '{' } else { '[' });
        self.frames.push(frame);
        Ok(())
    }

    fn open_map(&mut self, map: Ref) -> Result<Frame, Fault> {
        let keys = self.heap.map_shape(map);
        if let Some(keys) = keys
            && let Some(shape) = self.shapes.iter().position(|shape| shape.keys == keys)
        {
            return Ok(Frame::Record { map, shape, next: 0 });
        }
        if keys.is_none() {
            // Entries are scattered, and are first scanned for their names.
            self.charge_entries(map)?;
        }
        if self.names_may_meet(map) {
            self.charge_entries(map)?;
            return Ok(Frame::Merged { entries: self.merge(map)?, next: 0 });
        }
        match keys {
            Some(keys) if self.shapes.len() < SHAPES && self.add_shape(map, keys)? => {
                Ok(Frame::Record { map, shape: self.shapes.len() - 1, next: 0 })
            }
            _ => Ok(Frame::Map { entries: map, cursor: 0 }),
        }
    }

    fn charge_entries(&self, map: Ref) -> Result<(), Fault> {
        self.heap.charge(self.heap.map_len(map).saturating_mul(ENTRY_STEPS));
        self.heap.look()
    }

    /// Caches the text of a shape; false if it is too long.
    fn add_shape(&mut self, map: Ref, keys: Ref) -> Result<bool, Fault> {
        let ends = Vec::with_capacity(self.heap.map_len(map).min(SHAPE_BYTES));
        let mut shape = Shape { keys, text: String::with_capacity(SHAPE_TEXT), ends };
        let mut cursor = 0;
        while let Some((key, _, next)) = self.heap.map_next(map, cursor) {
            cursor = next;
            // The key is written to the output and taken from there.
            let start = self.out.len();
            self.key(key)?;
            shape.text.push_str(&self.out[start..]);
            shape.ends.push(shape.text.len());
            self.out.truncate(start);
            if shape.text.len() > SHAPE_BYTES {
                return Ok(false);
            }
        }
        self.shapes.push(shape);
        Ok(true)
    }

    /// True if two keys may have the same name, as `:a` and `"a"` do. Strings never clash with each other, nor do
    /// keywords, nor integers.
    fn names_may_meet(&self, map: Ref) -> bool {
        let (mut strings, mut keywords, mut integers, mut cursor) = (false, false, false, 0);
        while let Some((key, _, next)) = self.heap.map_next(map, cursor) {
            match key {
                Value::Str(_) => strings = true,
                Value::Keyword(_) => keywords = true,
                Value::Int(_) | Value::Big(_) => integers = true,
                _ => return true,
            }
            cursor = next;
        }
        u8::from(strings) + u8::from(keywords) + u8::from(integers) > 1
    }

    /// Returns the entries of a map, one per name, as they will be when the text is read again: the first gives the
    /// position, the last the value.
    #[cold]
    fn merge(&mut self, map: Ref) -> Result<Vec<(Value, Value)>, Fault> {
        let mut entries: Vec<(Value, Value)> = Vec::with_capacity(self.heap.map_len(map));
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut cursor = 0;
        let start = self.out.len();
        while let Some((key, value, next)) = self.heap.map_next(map, cursor) {
            cursor = next;
            // Names are part of the output, so its limit bounds them.
            let from = self.out.len();
            self.key(key)?;
            self.room(0)?;
            match places.get(&self.out[from..]) {
                Some(place) if self.options.distinct_names => {
                    return Err(self.same_name(entries[*place].0, key));
                }
                Some(place) => entries[*place].1 = value,
                None => {
                    places.insert(self.out[from..].to_string(), entries.len());
                    entries.push((key, value));
                }
            }
        }
        self.out.truncate(start);
        Ok(entries)
    }

    #[cold]
    fn same_name(&self, first: Value, second: Value) -> Fault {
        let (first, second) = (self.shown(first), self.shown(second));
        Fault::type_error(format!(
            "JSON has one name for the keys {first} and {second}, so a value would be lost"
        ))
        .hint(format!("(dissoc m {first}) leaves one of them out"))
    }

    /// Formats a key for a message.
    fn shown(&self, key: Value) -> String {
        let mut shown = String::new();
        match self.heap.print(key, &mut shown, 100) {
            Ok(()) => shown,
            Err(_) => "one of them".to_string(),
        }
    }

    #[cold]
    fn bad_key(&self, key: Value) -> Fault {
        let wanted = match self.options.keys {
            KeyRule::Integers => "strings, keywords or integers",
            _ => "strings or keywords",
        };
        let shown = self.shown(key);
        Fault::type_error(format!("map keys must be {wanted} here, but {shown} is a {}", key.type_word()))
            .hint("(update-keys m str) makes the keys strings")
    }
}

#[cold]
fn no_number(x: f64) -> Fault {
    let shown = match x {
        _ if x.is_nan() => "##NaN",
        _ if x > 0.0 => "##Inf",
        _ => "##-Inf",
    };
    Fault::type_error(format!("JSON has no number for {shown}"))
        .hint("(when-not (or (NaN? x) (infinite? x)) x) gives nil instead")
}

#[inline]
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    push_escaped(out, text);
    out.push('"');
}

#[cold]
fn no_form(value: Value) -> Fault {
    Fault::type_error(format!("{} has no JSON form", value.type_phrase()))
}
