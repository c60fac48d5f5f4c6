//! Reads what `lib/data.js` packed.

use crate::packed::tag;
use ptc::runtime::{Datum, Frozen, Node, bridge};
use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};
use std::cell::{Cell, RefCell};

/// Makes shared data of a packed value. Plain data, which is what most data is, is read in one pass.
pub fn frozen(numbers: &[f64], text: &str) -> napi::Result<Frozen> {
    if let Ok(frozen) = bridge::freeze(&Plain(&Reader::new(numbers, text))) {
        return Ok(frozen);
    }
    let datum = datum(numbers, text)?;
    Frozen::from_datum(&datum).map_err(|fault| napi::Error::from_reason(fault.parts().message.clone()))
}

/// Makes owned data of a packed value.
pub fn datum(numbers: &[f64], text: &str) -> napi::Result<Datum> {
    let reader = Reader::new(numbers, text);
    let mut nodes = Vec::with_capacity(numbers.len());
    let read = nodes_of(&reader, &mut nodes);
    read.and_then(|()| Datum::new(nodes)).ok_or_else(|| napi::Error::from_reason("the data is damaged"))
}

/// A place in a packed value. None stands for damage, which only a fault of `lib/data.js` could make.
struct Reader<'p> {
    numbers: &'p [f64],
    at: Cell<usize>,
    text: &'p str,
    is_ascii: bool,
    text_at: Cell<usize>,
    names: RefCell<Vec<&'p str>>,
}

impl<'p> Reader<'p> {
    fn new(numbers: &'p [f64], text: &'p str) -> Reader<'p> {
        Reader {
            numbers,
            at: Cell::new(0),
            text,
            is_ascii: text.is_ascii(),
            text_at: Cell::new(0),
            names: RefCell::default(),
        }
    }

    fn number(&self) -> Option<f64> {
        let number = self.numbers.get(self.at.get()).copied();
        self.at.set(self.at.get() + 1);
        number
    }

    fn count(&self) -> Option<u32> {
        // Counts are small integers.
        self.number().map(|number| number as u32)
    }

    /// Takes the next text, whose length in UTF-16 units comes next.
    fn str(&self) -> Option<&'p str> {
        let units = self.number()? as usize;
        let rest = self.text.get(self.text_at.get()..)?;
        let bytes = if self.is_ascii { units } else { bytes_of(rest, units)? };
        self.text_at.set(self.text_at.get() + bytes);
        rest.get(..bytes)
    }

    /// Takes a text that may repeat.
    fn name(&self) -> Option<&'p str> {
        let name = self.str()?;
        self.names.borrow_mut().push(name);
        Some(name)
    }

    fn again(&self) -> Option<&'p str> {
        let index = self.number()? as usize;
        self.names.borrow().get(index).copied()
    }
}

/// Returns the length in bytes of so many UTF-16 units.
fn bytes_of(text: &str, units: usize) -> Option<usize> {
    let mut left = units;
    for (at, c) in text.char_indices() {
        if left == 0 {
            return Some(at);
        }
        left = left.checked_sub(c.len_utf16())?;
    }
    (left == 0).then_some(text.len())
}

/// Reads a value as nodes, each collection after its items.
fn nodes_of(reader: &Reader<'_>, nodes: &mut Vec<Node>) -> Option<()> {
    let node = match reader.number()? {
        tag::NIL => Node::Nil,
        tag::TRUE => Node::Bool(true),
        tag::FALSE => Node::Bool(false),
        tag::INT => Node::Int(reader.number()? as i64),
        tag::FLOAT => Node::Float(reader.number()?),
        tag::BIG => {
            let digits = reader.str()?;
            digits.parse().map_or_else(|_| Node::Big(digits.into()), Node::Int)
        }
        tag::STR => Node::Str(reader.str()?.into()),
        tag::NAME => Node::Str(reader.name()?.into()),
        tag::AGAIN => Node::Str(reader.again()?.into()),
        tag::INSTANT => {
            let (millis, rest) = (reader.number()? as i64, reader.number()? as i64);
            Node::Instant(millis.checked_mul(1000)?.checked_add(rest)?)
        }
        tag::VECTOR => {
            let count = reader.count()?;
            (0..count).try_for_each(|_| nodes_of(reader, nodes))?;
            Node::Vector(count)
        }
        tag::MAP => {
            let count = reader.count()?;
            (0..2 * u64::from(count)).try_for_each(|_| nodes_of(reader, nodes))?;
            Node::Map(count)
        }
        tag::SET => {
            let count = reader.count()?;
            (0..count).try_for_each(|_| nodes_of(reader, nodes))?;
            Node::Set(count)
        }
        _ => return None,
    };
    nodes.push(node);
    Some(())
}

/// A value that JSON could hold, written in the order in which it is read.
struct Plain<'r, 'p>(&'r Reader<'p>);

impl Serialize for Plain<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let reader = self.0;
        match known(reader.number())? {
            tag::NIL => to.serialize_unit(),
            tag::TRUE => to.serialize_bool(true),
            tag::FALSE => to.serialize_bool(false),
            tag::INT => to.serialize_i64(known(reader.number())? as i64),
            tag::FLOAT => to.serialize_f64(known(reader.number())?),
            tag::STR => to.serialize_str(known(reader.str())?),
            tag::NAME => to.serialize_str(known(reader.name())?),
            tag::AGAIN => to.serialize_str(known(reader.again())?),
            tag::VECTOR => {
                let count = known(reader.count())?;
                let mut items = to.serialize_seq(Some(count as usize))?;
                for _ in 0..count {
                    items.serialize_element(self)?;
                }
                items.end()
            }
            tag::MAP => {
                let count = known(reader.count())?;
                let mut entries = to.serialize_map(Some(count as usize))?;
                for _ in 0..count {
                    entries.serialize_entry(&Key(reader), self)?;
                }
                entries.end()
            }
            _ => Err(not_plain()),
        }
    }
}

/// A key of a plain map, which is a text.
struct Key<'r, 'p>(&'r Reader<'p>);

impl Serialize for Key<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let reader = self.0;
        match known(reader.number())? {
            tag::NAME => to.serialize_str(known(reader.name())?),
            tag::AGAIN => to.serialize_str(known(reader.again())?),
            _ => Err(not_plain()),
        }
    }
}

fn known<T, E: Error>(found: Option<T>) -> Result<T, E> {
    found.ok_or_else(not_plain)
}

/// The reason is never shown: the careful reader then decides.
fn not_plain<E: Error>() -> E {
    E::custom("not plain")
}
