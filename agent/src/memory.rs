//! Sizes of a mission's definitions, as the option `memory_limit` counts them.
//!
//! The size is that of a plain binary form without sharing: shared parts count at each use, so that equal definitions
//! have equal sizes however they came about. Nothing is written, and nothing recurses; counting stops at the limit,
//! since a value with shared parts may be endlessly large.

use ptc_runtime::{Frozen, Part};
use std::ops::ControlFlow;

/// Bytes of the tag that names the binary form.
const HEADER: u64 = 1;

/// Returns the bytes of one definition. Past `most`, stops counting and returns a number above it.
///
/// ```
/// use ptc_agent::memory::size;
/// use ptc_runtime::{Grants, Runtime};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let frozen = |source: &str| runtime.eval(source, &Grants::new()).unwrap().freeze();
/// assert_eq!(size(&frozen("\"tea\""), 1000), 1 + 5 + 3);
/// assert_eq!(size(&frozen("[1 2.5 :k]"), 1000), 1 + 6 + 2 + 9 + 3);
/// assert!(size(&frozen("(range 1000000)"), 1000) > 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn size(value: &Frozen, most: u64) -> u64 {
    let mut sum = Sum { bytes: HEADER, most };
    sum.value(value);
    sum.bytes
}

/// Returns the bytes of definitions by name, as one map. Past `most`, stops counting and returns a number above it.
///
/// ```
/// use ptc_agent::memory::total;
/// use ptc_runtime::Runtime;
/// let mut session = Runtime::with_core(ptc_preludes::core())?.session();
/// assert_eq!(total([], 1000), 6);
/// session.eval("(def n 7)")?;
/// let n = session.definition("n").unwrap();
/// assert_eq!(total([("n", n)], 1000), 6 + 3 + 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn total<'a>(definitions: impl IntoIterator<Item = (&'a str, &'a Frozen)>, most: u64) -> u64 {
    let mut sum = Sum { bytes: HEADER, most };
    sum.add(Part::Map(0));
    for (name, value) in definitions {
        sum.add(Part::Keyword(name));
        if sum.is_full() {
            break;
        }
        sum.value(value);
    }
    sum.bytes
}

struct Sum {
    bytes: u64,
    most: u64,
}

impl Sum {
    fn is_full(&self) -> bool {
        self.bytes > self.most
    }

    fn add(&mut self, part: Part<'_>) {
        self.bytes = self.bytes.saturating_add(bytes(part));
    }

    fn value(&mut self, value: &Frozen) {
        value.parts(|part| {
            self.add(part);
            if self.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
}

/// Returns the bytes of one part, without the parts that follow it.
fn bytes(part: Part<'_>) -> u64 {
    let text = |header: u64, text: &str| header + text.len() as u64;
    match part {
        Part::Nil => text(2, "nil"),
        Part::Bool(true) => text(2, "true"),
        Part::Bool(false) => text(2, "false"),
        Part::Int(0..=255) => 2,
        Part::Int(n) if i32::try_from(n).is_ok() => 5,
        Part::Int(n) => 3 + u64::from(n.unsigned_abs().ilog2() / 8 + 1),
        Part::Big(bytes) => 3 + bytes as u64,
        Part::Float(_) | Part::Time(_) => 9,
        Part::Str(s) | Part::Regex(s) => text(5, s),
        Part::Keyword(s) | Part::Name(s) => text(2, s),
        Part::List(_) | Part::Set(_) => 6,
        Part::Map(_) => 5,
        // Source as text, captures as a list.
        Part::Function(source, _) => 5 + 6 + source as u64,
        _ => 6,
    }
}
