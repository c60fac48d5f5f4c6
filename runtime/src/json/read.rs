//! Reader of strict RFC 8259 text into a heap: its entry points and options.
//!
//! Integers beyond 64 bits become big integers, floats are correctly rounded and beyond the range infinite, half a
//! surrogate pair becomes U+FFFD. Of equal keys, the last gives the value and the first the position.

use std::cell::Cell;

use ptc_bytecode::Limits;
use ptc_vm::{CELL_BYTES, Frozen, Heap, Value};

use super::cursor::{Cursor, Frame};
use super::error::JsonError;
use super::names::Names;
use super::plan::Plan;
use ptc_compiler::Projection;

/// Options for reading JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Maximum nesting of arrays and objects.
    pub max_depth: usize,
    /// Maximum memory of the data in bytes, whatever else is in the heap.
    pub limit_bytes: usize,
    /// Maximum digits of an integer: parsing one takes time in the square of them.
    pub max_digits: usize,
    /// True to turn keys of objects into keywords; keys that cannot be keywords stay strings.
    pub keyword_keys: bool,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            max_depth: 1_000_000,
            limit_bytes: usize::try_from(Limits::default().granted_bytes).unwrap_or(usize::MAX),
            max_digits: 10_000,
            keyword_keys: false,
        }
    }
}

/// Reads one JSON value into `heap`.
///
/// On a heap with a limit, an error that turns into [`Stop`](ptc_vm::Stop) "room" requests all the memory used so
/// far and as much again, so that a native can be run again after a collection.
///
/// ```
/// use ptc_runtime::json::{ReadOptions, parse_json};
/// use ptc_vm::{Heap, Value};
/// let mut heap = Heap::unbounded();
/// let value = parse_json(&mut heap, "[1, 2.5, null]", &ReadOptions::default())?;
/// assert!(matches!(value, Value::Vector(r) if heap.vec_len(r) == 3));
/// # Ok::<(), ptc_runtime::json::JsonError>(())
/// ```
pub fn parse_json(heap: &mut Heap, text: &str, options: &ReadOptions) -> Result<Value, JsonError> {
    with_spare(|reader| reader.session(heap, *options).parse(text))
}

/// Reads one JSON value like [`parse_json`], from bytes that may not be UTF-8. A byte order mark is skipped.
pub fn parse_json_bytes(heap: &mut Heap, bytes: &[u8], options: &ReadOptions) -> Result<Value, JsonError> {
    with_spare(|reader| reader.session(heap, *options).parse_bytes(bytes))
}

/// Reads with a reader that earlier calls on this thread have used: setting one up takes as long as reading a small
/// text.
fn with_spare<T>(read: impl FnOnce(&mut JsonReader) -> T) -> T {
    thread_local! {
        static SPARE: Cell<Option<Box<JsonReader>>> = const { Cell::new(None) };
    }
    let mut reader = SPARE.take().unwrap_or_default();
    let result = read(&mut reader);
    reader.shrink();
    SPARE.set(Some(reader));
    result
}

/// Reads one JSON value into frozen storage of at most `limit_bytes`.
///
/// ```
/// let frozen = ptc_runtime::json::freeze_json(r#"{"rows": [1, 2]}"#, 1_000)?;
/// assert!(frozen.bytes() < 1_000);
/// let many = format!("[{}1]", "1,".repeat(1_000));
/// let error = ptc_runtime::json::freeze_json(many, 1_000).unwrap_err();
/// assert_eq!(error.to_string(), "the JSON data needs more than 1000 bytes (limits.granted_bytes)");
/// # Ok::<(), ptc_runtime::json::JsonError>(())
/// ```
pub fn freeze_json(text: impl AsRef<[u8]>, limit_bytes: u64) -> Result<Frozen, JsonError> {
    let limit_bytes = usize::try_from(limit_bytes).unwrap_or(usize::MAX);
    let options = ReadOptions { limit_bytes, ..ReadOptions::default() };
    freeze_with(options, |session| session.parse_bytes(text.as_ref()))
}

/// Freezes the value that `read` returns, within the limit of the options.
pub(super) fn freeze_with(
    options: ReadOptions,
    read: impl FnOnce(&mut JsonSession<'_, '_>) -> Result<Value, JsonError>,
) -> Result<Frozen, JsonError> {
    Frozen::build(|heap| {
        let result = read(&mut JsonReader::default().session(heap, options));
        match result {
            // There is no garbage to collect here: the arena is at its maximum size.
            Err(error) if error.is_room() => Err(JsonError::too_large(options.limit_bytes)),
            other => other,
        }
    })
}

/// Reader of many texts, which keeps its tables and the key sequences it has seen.
///
/// ```
/// use ptc_runtime::json::{JsonReader, ReadOptions};
/// use ptc_vm::{Heap, Value};
/// let (mut heap, mut reader) = (Heap::unbounded(), JsonReader::default());
/// let mut session = reader.session(&mut heap, ReadOptions::default());
/// let (a, b) = (session.parse(r#"{"id":1}"#)?, session.parse(r#"{"id":2}"#)?);
/// let (Value::Map(a), Value::Map(b)) = (a, b) else { panic!() };
/// assert_eq!(heap.map_shape(a), heap.map_shape(b));
/// # Ok::<(), ptc_runtime::json::JsonError>(())
/// ```
#[derive(Default)]
pub struct JsonReader {
    pub(super) names: Names,
    /// Values whose array or object is still open: only the values for an object with a shape, keys and values in
    /// turn for others.
    pub(super) values: Vec<Value>,
    pub(super) frames: Vec<Frame>,
    /// Decoded text of a string with escapes.
    pub(super) buffer: String,
    pub(super) spare: Vec<Value>,
    /// The parts of texts that are built.
    pub(super) plan: Plan,
    /// Open containers of a value that is skipped: true for an object.
    pub(super) skipped: Vec<bool>,
}

impl JsonReader {
    /// Makes a reader that builds only the observed parts of texts. Members that the projection leaves out are checked
    /// like others, and are nil in their objects. Arrays are read in full if any of them is observed.
    ///
    /// ```
    /// use ptc_runtime::{Key, Projection};
    /// use ptc_runtime::json::{JsonReader, ReadOptions, to_json_text};
    /// let id = Key { name: "id".into(), is_keyword: true };
    /// let mut reader = JsonReader::projecting(&Projection::default().with(id, Projection::whole()));
    /// let mut heap = ptc_vm::Heap::unbounded();
    /// let mut session = reader.session(&mut heap, ReadOptions::default());
    /// let order = session.parse(r#"{"id":7,"lines":[{"price":3}]}"#)?;
    /// assert_eq!(to_json_text(session.heap(), order, 99).unwrap(), r#"{"id":7,"lines":null}"#);
    /// let error = session.parse(r#"{"id":7,"lines":[{"price":}]}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "expected a value, but found `}` (line 1, column 27)");
    /// # Ok::<(), ptc_runtime::json::JsonError>(())
    /// ```
    pub fn projecting(projection: &Projection) -> JsonReader {
        JsonReader { plan: Plan::of(projection), ..JsonReader::default() }
    }

    /// Makes a reader of the same parts, which knows no keys yet.
    pub(crate) fn renewed(&mut self) -> JsonReader {
        JsonReader { plan: std::mem::take(&mut self.plan), ..JsonReader::default() }
    }

    /// Frees the memory that an unusually large text needed.
    fn shrink(&mut self) {
        const KEPT: usize = 1 << 12;
        self.values.clear();
        self.values.shrink_to(KEPT);
        self.frames.clear();
        self.frames.shrink_to(KEPT);
        self.buffer.clear();
        self.buffer.shrink_to(KEPT);
        self.skipped.clear();
        self.skipped.shrink_to(KEPT);
    }

    /// Returns its table of keys.
    pub(crate) fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Forgets its knowledge of a heap.
    pub(crate) fn forget(&mut self) {
        self.names.forget();
    }

    /// Continues reading into the heap it knows.
    pub(crate) fn resume<'r, 'h>(
        &'r mut self,
        heap: &'h mut Heap,
        options: ReadOptions,
    ) -> JsonSession<'r, 'h> {
        let (cells, text) = (heap.live_cells(), heap.live_text());
        JsonSession { reader: self, options, cells, text, start: heap.used(), heap }
    }

    /// Starts a session that reads into `heap`; maps of all its texts share their keys.
    pub fn session<'r, 'h>(&'r mut self, heap: &'h mut Heap, options: ReadOptions) -> JsonSession<'r, 'h> {
        self.names.next_generation(options.keyword_keys);
        let (cells, text) = (heap.live_cells(), heap.live_text());
        JsonSession { reader: self, options, cells, text, start: heap.used(), heap }
    }
}

/// A reader in use on one heap.
pub struct JsonSession<'r, 'h> {
    pub(super) reader: &'r mut JsonReader,
    pub(super) heap: &'h mut Heap,
    pub(super) options: ReadOptions,
    // Size of the heap at the start.
    cells: usize,
    text: usize,
    pub(super) start: usize,
}

impl JsonSession<'_, '_> {
    /// Reads one text.
    pub fn parse(&mut self, text: &str) -> Result<Value, JsonError> {
        self.reader.values.clear();
        self.reader.frames.clear();
        let result = Cursor::new(text, self).document();
        match result {
            Err(error) if error.is_room() => Err(self.wanted(error)),
            other => other,
        }
    }

    /// Reads one text that may not be UTF-8. A byte order mark is skipped.
    pub fn parse_bytes(&mut self, bytes: &[u8]) -> Result<Value, JsonError> {
        self.parse(utf8(bytes)?)
    }

    /// Returns the heap, to look at values read so far. It cannot be changed meanwhile, since the session remembers
    /// keys in it.
    pub fn heap(&self) -> &Heap {
        self.heap
    }

    /// Makes a vector in the same heap.
    pub(super) fn vector(&mut self, items: &[Value]) -> Result<Value, JsonError> {
        self.heap.new_vec(items).map_err(|stop| self.wanted(stop.into()))
    }

    /// Turns "no room" into the needs of the whole session, since its caller starts over.
    ///
    /// Requesting just the missing amount would start over for every few values, so this requests twice as much as
    /// long as the limit allows it.
    #[cold]
    fn wanted(&self, error: JsonError) -> JsonError {
        let ptc_vm::StopKind::Room { cells, text } = ptc_vm::Stop::from(error).into_kind() else {
            return JsonError::too_large(self.options.limit_bytes);
        };
        let cells = cells + (self.heap.live_cells() - self.cells);
        let text = text + (self.heap.live_text() - self.text);
        let spare = usize::try_from(self.heap.limit()).unwrap_or(usize::MAX).saturating_sub(self.start);
        if cells.saturating_mul(CELL_BYTES).saturating_add(text).saturating_mul(2) <= spare {
            JsonError::room(cells * 2, text * 2)
        } else {
            JsonError::room(cells.max((spare.saturating_sub(text)) / CELL_BYTES), text)
        }
    }
}

/// Returns bytes as text, without a byte order mark.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, JsonError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = error.valid_up_to();
        let before = std::str::from_utf8(&bytes[..valid]).unwrap_or_default();
        let byte = bytes.get(valid).copied().unwrap_or_default();
        JsonError::syntax(before, valid, format!("expected UTF-8, but found the byte 0x{byte:02x}"))
    })
}
