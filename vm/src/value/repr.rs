//! What a value and an object in an arena look like.
//!
//! A value is 16 bytes. What does not fit is an *object*: a head cell followed by payload cells,
//! named by a [`Ref`]. Head variants live in the same enum as values, so that an object is told
//! from its first cell with one tag and a scan over cells needs no map of object starts.

use std::fmt;

/// Names an object: the space it lives in (0 is the run's own arena) and its head cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref {
    /// Which space, as the holder of the reference numbers them.
    pub space: u32,
    /// Index of the head cell.
    pub at: u32,
}

impl Ref {
    /// An object of the run's own arena.
    pub(crate) fn own(at: usize) -> Ref {
        // Heaps are kept below 2^32 cells by `Heap::room`.
        Ref { space: 0, at: at as u32 }
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.space, self.at)
    }
}

/// A value of a run, or (the hidden variants) a cell of an object that is no value by itself.
///
/// There is no `PartialEq`: see [`Value::same`] for identity, `Heap::equal` for the language's `=`
/// and `Heap::exact` for keys.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// nil
    Nil,
    /// true, false
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A float.
    Float(f64),
    /// Days since 1970-01-01.
    Day(i32),
    /// Microseconds since 1970-01-01T00:00Z.
    Instant(i64),
    /// Milliseconds.
    Duration(i64),
    /// A builtin, by its number in the table of builtins.
    Builtin(u32),
    /// Text.
    Str(Ref),
    /// A keyword, without its colon.
    Keyword(Ref),
    /// A quoted symbol.
    Symbol(Ref),
    /// A definition, by name.
    Var(Ref),
    /// A tool, by name.
    Tool(Ref),
    /// A pattern, by source.
    Regex(Ref),
    /// An integer that does not fit 64 bits.
    Big(Ref),
    /// A vector.
    Vector(Ref),
    /// A map.
    Map(Ref),
    /// A set.
    Set(Ref),
    /// A compact vector of evenly spaced integers.
    Range(Ref),
    /// A function with its captures.
    Closure(Ref),
    /// A vector that is still appended to.
    Builder(Ref),
    /// A sequence without an end, whose elements are made as they are asked for.
    Endless(Ref),
    /// A place that can be written to: what a transducer remembers. Programs never hold one
    /// themselves, only inside a function.
    State(Ref),

    // Cells inside objects.
    /// The keys of a small map, shared by all maps of that shape: a flat vector.
    #[doc(hidden)]
    Keys(Ref),
    /// The last block of a trie vector.
    #[doc(hidden)]
    TailRef(Ref),
    /// The hash table or the overflow list of a large map or set, or a node of a sorted one.
    #[doc(hidden)]
    IndexRef(Ref),
    /// An entry of such a table: the key's hash and the entry's number.
    #[doc(hidden)]
    Slot { hash: u32, entry: u32 },
    /// Key of an entry that was removed.
    #[doc(hidden)]
    Gone,
    /// Where the collector moved the object to.
    #[doc(hidden)]
    Forward(u32),

    // Heads.
    /// Text: where it is, its hash, and whether each byte is one grapheme.
    #[doc(hidden)]
    TextHead { plain: bool, hash: u32, len: u32, off: u32 },
    /// Sign of a big integer; `limbs` cells of 64 bits follow, lowest first.
    #[doc(hidden)]
    BigHead { negative: bool, limbs: u32 },
    /// `len` items follow.
    #[doc(hidden)]
    FlatHead { len: u32 },
    /// Root (a vector, or nil) and tail follow.
    #[doc(hidden)]
    TrieHead { len: u32, shift: u32 },
    /// The vector this is a part of follows.
    #[doc(hidden)]
    SliceHead { len: u32, start: u32 },
    /// `cap` cells follow, the first `fill` in use by some vector.
    #[doc(hidden)]
    TailHead { fill: u32, cap: u32 },
    /// The vector of keys (nil when empty) and `len` values follow.
    #[doc(hidden)]
    RecordHead { len: u32 },
    /// `len` members follow.
    #[doc(hidden)]
    FewHead { len: u32 },
    /// Entries, table and overflow follow. `len` entries are alive of `used`; the table knows the
    /// first `tabled`, the overflow the rest.
    #[doc(hidden)]
    HashHead { len: u32, used: u32, tabled: u32 },
    /// `cap` slots follow; the table knows entries below `fill`, of this or of later versions.
    #[doc(hidden)]
    TableHead { cap: u32, fill: u32 },
    /// Start and step follow.
    #[doc(hidden)]
    RangeHead { len: u64 },
    /// `captures` values follow.
    #[doc(hidden)]
    ClosureHead { module: u32, code: u32, captures: u32 },
    /// `cap` cells follow, `len` in use.
    #[doc(hidden)]
    BuilderHead { len: u32, cap: u32 },
    /// The root (a node, or nil) of a sorted map or set follows.
    #[doc(hidden)]
    SortedHead { set: bool, descending: bool },
    /// Key, value, and the nodes to the left and right follow.
    #[doc(hidden)]
    TreeHead { size: u32 },
    /// The first element of an endless sequence and the sequence of the others follow.
    #[doc(hidden)]
    LinkHead,
    /// A function and its `args` arguments follow; calling it gives a link.
    #[doc(hidden)]
    StepHead { args: u32 },
    /// What it holds follows.
    #[doc(hidden)]
    StateHead,
}

const _: () = assert!(size_of::<Value>() == 16);

/// Bytes one cell counts for.
pub const CELL_BYTES: usize = size_of::<Value>();

impl Value {
    /// The object this cell refers to. All reference variants have one layout, so this is one
    /// range check.
    #[inline]
    pub fn reference(&self) -> Option<Ref> {
        match self {
            Value::Str(r)
            | Value::Keyword(r)
            | Value::Symbol(r)
            | Value::Var(r)
            | Value::Tool(r)
            | Value::Regex(r)
            | Value::Big(r)
            | Value::Vector(r)
            | Value::Map(r)
            | Value::Set(r)
            | Value::Range(r)
            | Value::Closure(r)
            | Value::Builder(r)
            | Value::Endless(r)
            | Value::State(r)
            | Value::Keys(r)
            | Value::TailRef(r)
            | Value::IndexRef(r) => Some(*r),
            _ => None,
        }
    }

    /// The object this cell refers to, to be replaced.
    #[inline]
    pub(crate) fn reference_mut(&mut self) -> Option<&mut Ref> {
        match self {
            Value::Str(r)
            | Value::Keyword(r)
            | Value::Symbol(r)
            | Value::Var(r)
            | Value::Tool(r)
            | Value::Regex(r)
            | Value::Big(r)
            | Value::Vector(r)
            | Value::Map(r)
            | Value::Set(r)
            | Value::Range(r)
            | Value::Closure(r)
            | Value::Builder(r)
            | Value::Endless(r)
            | Value::State(r)
            | Value::Keys(r)
            | Value::TailRef(r)
            | Value::IndexRef(r) => Some(r),
            _ => None,
        }
    }

    /// Identity: the same scalar, or the same object under the same type. Floats by bits.
    #[inline]
    pub fn same(self, other: Value) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b))
            | (Value::Instant(a), Value::Instant(b))
            | (Value::Duration(a), Value::Duration(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Day(a), Value::Day(b)) => a == b,
            (Value::Builtin(a), Value::Builtin(b)) => a == b,
            _ => match (self.reference(), other.reference()) {
                (Some(a), Some(b)) => {
                    a == b && std::mem::discriminant(&self) == std::mem::discriminant(&other)
                }
                _ => false,
            },
        }
    }

    /// Whether it counts as true: everything but nil and false.
    #[inline]
    pub fn truthy(self) -> bool {
        !matches!(self, Value::Nil | Value::Bool(false))
    }

    /// Whether it is an integer or a float.
    #[inline]
    pub fn is_number(self) -> bool {
        matches!(self, Value::Int(_) | Value::Float(_) | Value::Big(_))
    }

    /// The word for its type in messages.
    pub fn type_word(self) -> &'static str {
        match self {
            Value::Nil => "nil",
            Value::Bool(_) => "boolean",
            Value::Int(_) | Value::Float(_) | Value::Big(_) => "number",
            Value::Str(_) => "string",
            Value::Keyword(_) => "keyword",
            Value::Vector(_) | Value::Range(_) => "list",
            Value::Endless(_) => "endless sequence",
            Value::Map(_) => "map",
            Value::Set(_) => "set",
            Value::Closure(_) | Value::Builtin(_) | Value::Tool(_) => "function",
            Value::Regex(_) => "regex",
            Value::Day(_) => "date",
            Value::Instant(_) => "datetime",
            Value::Duration(_) => "duration",
            _ => "unknown",
        }
    }

    /// The same with its article, as it stands in a sentence: `a number`, `nil`.
    pub fn type_phrase(self) -> &'static str {
        match self.type_word() {
            "nil" => "nil",
            "boolean" => "a boolean",
            "number" => "a number",
            "string" => "a string",
            "keyword" => "a keyword",
            "list" => "a list",
            "endless sequence" => "an endless sequence",
            "map" => "a map",
            "set" => "a set",
            "function" => "a function",
            "regex" => "a regex",
            "date" => "a date",
            "datetime" => "a datetime",
            "duration" => "a duration",
            _ => "something else",
        }
    }
}
