//! Representation of values and of objects in an arena.
//!
//! A value is 16 bytes. Anything larger is an *object*: a head cell followed by payload cells, identified by a [`Ref`].
//! Head variants are in the same enum as values, so that an object is recognised by the tag of its first cell and a
//! scan over cells needs no map of object starts.

use std::fmt;

/// Reference to an object: the space it lives in (0 is the run's own arena) and its head cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref(Two);

impl Ref {
    /// Makes a reference to the object whose head is cell `at` of a space.
    #[inline(always)]
    pub const fn new(space: u32, at: u32) -> Ref {
        Ref(Two::new(space, at))
    }

    /// Makes a reference to an object of the run's own arena.
    #[inline(always)]
    pub(crate) fn own(at: usize) -> Ref {
        // Heaps are kept below 2^32 cells by `Heap::room`.
        Ref::new(0, at as u32)
    }

    /// Returns both parts as one number.
    #[inline(always)]
    pub(crate) const fn bits(self) -> u64 {
        self.0.0
    }

    /// Returns the space, as the holder of the reference numbers it.
    #[inline(always)]
    pub const fn space(self) -> u32 {
        self.0.get().0
    }

    /// Returns the index of the head cell.
    #[inline(always)]
    pub const fn at(self) -> u32 {
        self.0.get().1
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.space(), self.at())
    }
}

/// Two numbers in one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Two(u64);

impl Two {
    /// Packs two numbers.
    #[inline(always)]
    pub const fn new(a: u32, b: u32) -> Two {
        Two((a as u64) << 32 | b as u64)
    }

    /// Returns the two numbers.
    #[inline(always)]
    pub const fn get(self) -> (u32, u32) {
        ((self.0 >> 32) as u32, self.0 as u32)
    }
}

impl fmt::Debug for Two {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

/// A float as its bits, so that every payload of a [`Value`] is a word of one kind.
#[derive(Clone, Copy)]
pub struct Float(u64);

impl Float {
    /// Returns the number.
    #[inline(always)]
    pub const fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl fmt::Debug for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

/// A value of a run, or (the hidden variants) a cell of an object that is not a value by itself.
///
/// There is no `PartialEq`: see [`Value::same`] for identity, `Heap::equal` for the language's `=` and
/// `Heap::exact` for keys.
///
/// Every payload is one integer of 64 bits. So the compiler passes values in two registers and copies them as tag
/// and payload, the way they are written: a value written in two pieces and read back as one would have to wait for
/// both to reach memory, which costs more than anything else an instruction does.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Value {
    /// The value nil.
    Nil,
    /// The value false.
    False,
    /// The value true.
    True,
    /// An integer of 64 bits.
    Int(i64),
    /// A float.
    Float(Float),
    /// A day: days since 1970-01-01.
    Day(i64),
    /// An instant: microseconds since 1970-01-01T00:00Z.
    Instant(i64),
    /// A duration in milliseconds.
    Duration(i64),
    /// A builtin, by its number in the table of builtins.
    Builtin(u64),
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
    /// An endless sequence, whose elements are made on demand.
    Endless(Ref),
    /// A mutable place: an atom, a volatile, or the state of a transducer.
    State(Ref),
    /// A value from a firewalled field: programs compute with it, models never see it.
    Veiled(Ref),
    /// An exception, as `try` catches and `throw` takes.
    Exception(Ref),

    // Values of registers only: see `value/owned.rs`.
    /// A vector that nothing else refers to.
    #[doc(hidden)]
    OwnVector(Ref),
    /// A map that nothing else refers to.
    #[doc(hidden)]
    OwnMap(Ref),
    /// A set that nothing else refers to.
    #[doc(hidden)]
    OwnSet(Ref),

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
    /// An entry of such a table: the key's hash, and the entry's number.
    #[doc(hidden)]
    Slot(Two),
    /// Key of a removed entry.
    #[doc(hidden)]
    Gone,
    /// New place of an object that the collector moved.
    #[doc(hidden)]
    Forward(u64),

    // Heads.
    /// Text: its length and offset.
    #[doc(hidden)]
    TextHead(Two),
    /// Text in which each byte is one grapheme, otherwise like `TextHead`.
    #[doc(hidden)]
    PlainHead(Two),
    /// Integer: 1 for a negative one, and the number of cells of 64 bits that follow, lowest first.
    #[doc(hidden)]
    BigHead(Two),
    /// `len` items follow.
    #[doc(hidden)]
    FlatHead { len: u64 },
    /// Length, shift; root (a vector, or nil) and tail follow.
    #[doc(hidden)]
    TrieHead(Two),
    /// `len`, `cap`: `cap` cells follow, `len` of them items. A vector that was changed in place; wherever the price of
    /// an operation depends on the form of a vector, it counts as a trie.
    #[doc(hidden)]
    ArrayHead(Two),
    /// Length, start; the vector this is a part of follows.
    #[doc(hidden)]
    SliceHead(Two),
    /// `fill`, `cap`: `cap` cells follow, the first `fill` in use by some vector.
    #[doc(hidden)]
    TailHead(Two),
    /// The vector of keys (nil when empty) and `len` values follow.
    #[doc(hidden)]
    RecordHead { len: u64 },
    /// `len` members follow.
    #[doc(hidden)]
    FewHead { len: u64 },
    /// `len`, `used`: that many entries are alive, of that many. Entries, table, overflow and a number
    /// `tabled` follow; the table knows the first `tabled`, the overflow the rest.
    #[doc(hidden)]
    HashHead(Two),
    /// `cap`, `fill`: `cap` slots follow; the table knows entries below `fill`, of this or of later versions.
    #[doc(hidden)]
    TableHead(Two),
    /// Start and step follow.
    #[doc(hidden)]
    RangeHead { len: u64 },
    /// Module and number of captures, which follow (see `closure_head`), and the function.
    #[doc(hidden)]
    ClosureHead(Two),
    /// `len`, `cap`: `cap` cells follow, `len` in use.
    #[doc(hidden)]
    BuilderHead(Two),
    /// 1 for a set, 1 for falling order; the root (a node, or nil) follows.
    #[doc(hidden)]
    SortedHead(Two),
    /// Key, value, and the nodes to the left and right follow.
    #[doc(hidden)]
    TreeHead { size: u64 },
    /// The first element of an endless sequence and the sequence of the others follow.
    #[doc(hidden)]
    LinkHead,
    /// A function and its `args` arguments follow; calling it gives a link.
    #[doc(hidden)]
    StepHead { args: u64 },
    /// Number of its kind; the content follows.
    #[doc(hidden)]
    StateHead { kind: u64 },
    /// The clear value follows: never a veil itself.
    #[doc(hidden)]
    VeilHead,
    /// A map that describes it follows, and its place.
    #[doc(hidden)]
    ExceptionHead,

    // Last, since snapshots compare constants by a hash that has the numbers of the variants above.
    /// The answer of a write that a plan lists and does not send: the number of the write.
    Unknown(u64),
}

const _: () = assert!(size_of::<Value>() == 16);

/// Bytes that one cell counts for.
pub const CELL_BYTES: usize = size_of::<Value>();

impl Value {
    /// Makes a boolean.
    #[inline(always)]
    pub const fn bool(truth: bool) -> Value {
        if truth { Value::True } else { Value::False }
    }

    /// Makes a builtin, by its number.
    #[inline(always)]
    pub const fn builtin(id: u32) -> Value {
        Value::Builtin(id as u64)
    }

    /// Makes a day, by its distance from 1970-01-01.
    #[inline(always)]
    pub const fn day(days: i32) -> Value {
        Value::Day(days as i64)
    }

    /// Makes a float.
    #[inline(always)]
    pub const fn float(x: f64) -> Value {
        Value::Float(Float(x.to_bits()))
    }

    /// Returns the object this cell refers to. All reference variants have one layout, so this is one range check.
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
            | Value::Veiled(r)
            | Value::Exception(r)
            | Value::OwnVector(r)
            | Value::OwnMap(r)
            | Value::OwnSet(r)
            | Value::Keys(r)
            | Value::TailRef(r)
            | Value::IndexRef(r) => Some(*r),
            _ => None,
        }
    }

    /// Returns the object this cell refers to, to be replaced.
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
            | Value::Veiled(r)
            | Value::Exception(r)
            | Value::OwnVector(r)
            | Value::OwnMap(r)
            | Value::OwnSet(r)
            | Value::Keys(r)
            | Value::TailRef(r)
            | Value::IndexRef(r) => Some(r),
            _ => None,
        }
    }

    /// Compares by identity: the same scalar, or the same object under the same type. Floats by bits.
    #[inline]
    pub fn same(self, other: Value) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) | (Value::True, Value::True) | (Value::False, Value::False) => true,
            (Value::Int(a), Value::Int(b))
            | (Value::Instant(a), Value::Instant(b))
            | (Value::Duration(a), Value::Duration(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.0 == b.0,
            (Value::Day(a), Value::Day(b)) => a == b,
            (Value::Builtin(a), Value::Builtin(b)) | (Value::Unknown(a), Value::Unknown(b)) => a == b,
            _ => match (self.reference(), other.reference()) {
                (Some(a), Some(b)) => {
                    a == b && std::mem::discriminant(&self) == std::mem::discriminant(&other)
                }
                _ => false,
            },
        }
    }

    /// True if it counts as true: everything but nil and false.
    #[inline]
    pub fn truthy(self) -> bool {
        !matches!(self, Value::Nil | Value::False)
    }

    /// True if it can be walked from one end to the other.
    #[inline]
    pub(crate) fn is_finite_seq(self) -> bool {
        matches!(
            self,
            Value::Nil
                | Value::Str(_)
                | Value::Vector(_)
                | Value::Map(_)
                | Value::Set(_)
                | Value::Range(_)
                | Value::OwnVector(_)
                | Value::OwnMap(_)
                | Value::OwnSet(_)
        )
    }

    /// True for an integer or a float.
    #[inline]
    pub fn is_number(self) -> bool {
        matches!(self, Value::Int(_) | Value::Float(_) | Value::Big(_))
    }

    /// Returns the word for its type in messages.
    pub fn type_word(self) -> &'static str {
        match self {
            Value::Nil => "nil",
            Value::True | Value::False => "boolean",
            Value::Int(_) | Value::Float(_) | Value::Big(_) => "number",
            Value::Str(_) => "string",
            Value::Keyword(_) => "keyword",
            Value::Vector(_) | Value::Range(_) | Value::OwnVector(_) => "list",
            Value::Endless(_) => "endless sequence",
            Value::Map(_) | Value::OwnMap(_) => "map",
            Value::Set(_) | Value::OwnSet(_) => "set",
            Value::Closure(_) | Value::Builtin(_) | Value::Tool(_) => "function",
            Value::Regex(_) => "regex",
            Value::Day(_) => "date",
            Value::Instant(_) => "datetime",
            Value::Duration(_) => "duration",
            Value::Veiled(_) => "firewalled value",
            Value::Unknown(_) => "unknown value",
            Value::Exception(_) => "exception",
            Value::State(_) => "atom",
            _ => "unknown",
        }
    }

    /// Returns the word for its type with an article, for use in a sentence: `a number`, `nil`.
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
            "firewalled value" => "a firewalled value",
            "exception" => "an exception",
            "atom" => "an atom",
            _ => match self {
                Value::Symbol(_) => "a symbol",
                Value::Var(_) => "a var",
                _ => "something else",
            },
        }
    }
}

/// Replacement for a firewalled value wherever a model could read it.
pub const FIREWALLED: &str = "<Firewalled>";

/// True if values under this name are hidden from models.
///
/// ```
/// assert!(ptc_vm::is_firewalled("_email_ids") && !ptc_vm::is_firewalled("email_ids"));
/// ```
pub fn is_firewalled(name: &str) -> bool {
    name.starts_with('_')
}
