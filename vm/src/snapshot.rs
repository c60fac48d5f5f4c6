//! Snapshots: a suspended run as bytes, with any number of tool calls in flight, and back.
//!
//! A snapshot holds the reachable graph once, children before parents, so that sharing is kept and loading needs no
//! recursion. Code is stored as artifacts, granted data by name: the host that loads a snapshot grants the same data
//! again. Constants are stored by their index in their module, so that they are the same objects again: comparing an
//! object with itself is free. Loaded bytes are untrusted: artifacts are verified, every object is built by the
//! ordinary constructors, and frames must be at instructions that can wait.

mod graph;
mod image;
mod load;
mod write;

use crate::fault::{Fault, Stop};
use crate::heap::{Heap, Space};
use crate::value::{Ref, SMALL, Two, Value};
use ptc_bytecode::{Code, fingerprint};
use sha2::{Digest, Sha256};
use std::hash::{DefaultHasher, Hash, Hasher};

const MAGIC: [u8; 4] = *b"PTCS";
const VERSION: u16 = 9;
/// Length of magic, version, instruction set and hash of the body.
const HEADER: usize = 4 + 2 + 32 + 32;

/// Puts a header before a body.
fn seal(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&fingerprint());
    bytes.extend_from_slice(&Sha256::digest(body));
    bytes.extend_from_slice(body);
    bytes
}

/// Checks the header and returns the body.
fn open(bytes: &[u8]) -> Result<&[u8], Fault> {
    let (header, body) = bytes.split_at_checked(HEADER).ok_or_else(|| invalid("it is cut short"))?;
    if header[..4] != MAGIC {
        return Err(invalid("it does not start like a snapshot"));
    }
    if header[4..6] != VERSION.to_le_bytes() {
        return Err(invalid("it was written in another format version; run the program again"));
    }
    if header[6..38] != fingerprint() {
        return Err(invalid("it was written for another instruction set; run the program again"));
    }
    if header[38..] != Sha256::digest(body)[..] {
        return Err(invalid("its contents are damaged"));
    }
    Ok(body)
}

impl Space {
    /// Computes a number that tells whether two spaces hold the same data in the same layout; equal data gives the
    /// same number in every process.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.text.hash(&mut hasher);
        let mut cells = self.cells.iter();
        while let Some(cell) = cells.next() {
            cell.fingerprint(&mut hasher);
            // The positions of entries in a table depend on the secret of the process.
            if let Value::TableHead(counts) = cell {
                let (slots, known) = counts.get();
                (slots, known).hash(&mut hasher);
                cells.by_ref().take(slots as usize).for_each(drop);
            }
        }
        hasher.finish()
    }
}

impl Value {
    fn fingerprint(self, hasher: &mut impl Hasher) {
        std::mem::discriminant(&self).hash(hasher);
        match self {
            Value::Int(n) | Value::Instant(n) | Value::Duration(n) => n.hash(hasher),
            Value::Float(x) => x.get().to_bits().hash(hasher),
            Value::Day(n) => n.hash(hasher),
            Value::TextHead(parts) | Value::PlainHead(parts) => parts.hash(hasher),
            Value::FlatHead { len } | Value::RecordHead { len } | Value::FewHead { len } => len.hash(hasher),
            Value::ArrayHead(counts) => counts.hash(hasher),
            _ => {
                if let Some(r) = self.reference() {
                    (r.space(), r.at()).hash(hasher);
                }
            }
        }
    }
}

impl Heap {
    /// True if a reference from outside refers to an object of its kind. Payload cells never hold heads, so a head
    /// of the right kind is an object made by a constructor.
    fn is_sound(&self, value: Value) -> bool {
        let Some(r) = value.reference() else { return true };
        let Some(space) = self.attached(r.space()) else { return false };
        let Some(head) = space.cells.get(r.at() as usize) else { return false };
        if let Value::SortedHead(flags) = head {
            let is_set = flags.get().0 == 1;
            return matches!((value, is_set), (Value::Map(_), false) | (Value::Set(_), true));
        }
        matches!(
            (value, head),
            (
                Value::Str(_) | Value::Keyword(_) | Value::Symbol(_) | Value::Regex(_),
                Value::TextHead(_) | Value::PlainHead(_)
            ) | (Value::Big(_), Value::BigHead(_))
                | (
                    Value::Vector(_),
                    Value::FlatHead { .. } | Value::TrieHead(_) | Value::ArrayHead(_) | Value::SliceHead(_)
                )
                | (Value::Map(_), Value::RecordHead { .. })
                | (Value::Set(_), Value::FewHead { .. })
                | (Value::Range(_), Value::RangeHead { .. })
                | (Value::Veiled(_), Value::VeilHead)
        ) || self.is_hashed(value, r, *head)
    }

    /// Tells large maps and sets, which share one head, apart by their number of listed entries.
    fn is_hashed(&self, value: Value, r: Ref, head: Value) -> bool {
        let Value::HashHead(counts) = head else { return false };
        let (_, used) = counts.get();
        let Value::Vector(entries) = self.field(r, 0) else { return false };
        let listed = self.vec_len(entries);
        match value {
            Value::Map(_) => listed == 2 * used as usize,
            Value::Set(_) => listed == used as usize,
            _ => false,
        }
    }

    /// Makes a part of a vector from the result of [`Heap::slice_parts`]; None if there is no such part.
    fn new_slice(&mut self, whole: Value, start: u32, len: u32) -> Option<Result<Value, Stop>> {
        let Value::Vector(r) = whole else { return None };
        let is_whole = !matches!(self.head(r), Value::SliceHead(_));
        let end = start.checked_add(len).filter(|_| is_whole && len > 0)?;
        if end as usize > self.vec_len(r) {
            return None;
        }
        Some(self.room(2, 0).map(|()| {
            let head = Value::SliceHead(Two::new(len, start));
            Value::Vector(self.push_object(head, &[whole]))
        }))
    }

    /// Makes a small map from the vector of its keys and its values; None if they do not fit.
    fn new_shaped(&mut self, parts: &[Value]) -> Option<Result<Value, Stop>> {
        let (Value::Vector(keys), values) = parts.split_first()? else { return None };
        let names = self.vec_items(*keys);
        if names.len() != values.len() {
            return None;
        }
        let is_flat = matches!(self.head(*keys), Value::FlatHead { .. });
        let is_name = |key: &Value| matches!(key, Value::Str(_) | Value::Keyword(_));
        let differs = |i: usize| !names[..i].iter().any(|known| self.exact(*known, names[i]));
        // Only few keys can be compared with each other, and only if each comparison is short.
        if is_flat && names.len() <= SMALL && names.iter().all(is_name) && (0..names.len()).all(differs) {
            return Some(self.new_record(*keys, values));
        }
        let items: Vec<Value> = names.iter().zip(values).flat_map(|(key, value)| [*key, *value]).collect();
        Some(self.new_map(&items))
    }
}

fn invalid(what: impl std::fmt::Display) -> Fault {
    Fault::new(Code::SnapshotInvalid, format!("the snapshot cannot be loaded: {what}"))
}
