//! Meter: the work of one compilation, in units that depend on the source alone.

use ptc_bytecode::{Artifact, Code, Const, Datum, Diagnostic, Limits, Node};
use std::cell::Cell;

/// Units paid between two checks of the clock: well below a millisecond.
const SLICE: u64 = 1 << 14;

/// Message for a compilation that took too long.
pub const OUT_OF_TIME: &str = "compiling took longer than the host allows (limits.compile_ms)";

/// The budget of a compilation, and the host's handle to stop it.
///
/// Every stage pays before or while it works. A unit is some nanoseconds of work; the work is a property of the
/// source, so the same source takes the same units on every machine.
///
/// ```
/// use ptc_bytecode::Limits;
/// use ptc_compiler::{Meter, Options, Scope, compile_metered};
/// let limits = Limits::default();
/// let meter = Meter::new(&limits, &|| false);
/// compile_metered("(+ 1 2)", &Scope::default(), &limits, Options::default(), &meter).unwrap();
/// assert!(meter.spent() > 0 && meter.spent() < 1_000);
///
/// let short = Meter::new(&Limits { compile_fuel: 10, ..limits }, &|| false);
/// let problems = compile_metered("(+ 1 2)", &Scope::default(), &limits, Options::default(), &short);
/// assert_eq!(problems.unwrap_err().errors[0].code.reason(), "compile_fuel_exceeded");
/// ```
pub struct Meter<'s> {
    /// Units left before the host is called again.
    slice: Cell<u64>,
    /// Units left beyond the slice.
    reserve: Cell<u64>,
    limit: u64,
    stop: &'s dyn Fn() -> bool,
    end: Cell<Option<End>>,
}

/// The reason a compilation was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Fuel,
    Time,
}

impl<'s> Meter<'s> {
    /// Makes a budget of `limits.compile_fuel`; compiling also ends once `stop` returns true. It is called now and
    /// then: this crate reads no clock itself.
    pub fn new(limits: &Limits, stop: &'s dyn Fn() -> bool) -> Meter<'s> {
        let limit = limits.compile_fuel;
        let slice = SLICE.min(limit);
        Meter {
            slice: Cell::new(slice),
            reserve: Cell::new(limit - slice),
            limit,
            stop,
            end: Cell::new(None),
        }
    }

    /// Pays for work; false if compiling has to end.
    #[inline]
    #[must_use]
    pub fn pay(&self, units: usize) -> bool {
        match self.slice.get().checked_sub(units as u64) {
            Some(left) => {
                self.slice.set(left);
                true
            }
            None => self.refill(units as u64),
        }
    }

    /// Takes the next slice from the reserve, and calls the host. Once over, there is nothing to take.
    #[cold]
    fn refill(&self, units: u64) -> bool {
        if self.end.get().is_some() {
            return false;
        }
        let left = (self.reserve.get() + self.slice.get()).checked_sub(units);
        match left {
            None => self.give_up(End::Fuel),
            Some(_) if (self.stop)() => self.give_up(End::Time),
            Some(left) => {
                let slice = SLICE.min(left);
                self.slice.set(slice);
                self.reserve.set(left - slice);
                return true;
            }
        }
        false
    }

    fn give_up(&self, end: End) {
        self.end.set(Some(end));
        self.slice.set(0);
        self.reserve.set(0);
    }

    /// Pays for work; the error says why compiling has to end, even if that was known before.
    pub(crate) fn charge(&self, units: usize) -> Result<(), Diagnostic> {
        let _ = self.pay(units);
        self.problem().map_or(Ok(()), Err)
    }

    /// True if compiling has to end.
    pub fn is_over(&self) -> bool {
        self.end.get().is_some()
    }

    /// Returns the units paid so far: the whole limit if it did not suffice.
    pub fn spent(&self) -> u64 {
        self.limit - self.slice.get() - self.reserve.get()
    }

    /// Returns the reason compiling has to end, if it has.
    pub fn problem(&self) -> Option<Diagnostic> {
        Some(match self.end.get()? {
            End::Fuel => Diagnostic::without_span(
                Code::CompileFuelExceeded,
                format!(
                    "compiling the program takes more work than {} units (limits.compile_fuel)",
                    self.limit
                ),
            )
            .hint("pass data in as granted data, and split what is left into several programs"),
            End::Time => Diagnostic::without_span(Code::CompileTimeout, OUT_OF_TIME),
        })
    }

    /// Pays for loading a finished artifact: each instruction is verified, and its constants become values.
    pub(crate) fn pay_loading(&self, artifact: &Artifact) -> bool {
        artifact.blocks.iter().all(|block| self.pay(CHECKED_OP * block.ops.len()))
            && artifact.consts.iter().all(|constant| match constant {
                Const::Str(text) | Const::Keyword(text) => self.pay(1 + text.len() / 8),
                Const::Data(datum) | Const::Keys(datum) => self.pay_data(datum),
                Const::Int(_) | Const::Float(_) => self.pay(1),
            })
    }

    /// Pays for a constant collection. A key or member is hashed as a whole, so nested collections pay for their parts.
    fn pay_data(&self, datum: &Datum) -> bool {
        // Most are the keys of a record: texts in a vector, without any hashing.
        let plain = |node: &Node| match node {
            Node::Keyword(text) | Node::Str(text) => Some(MADE_VALUE + text.len() / 8),
            Node::Int(_) | Node::Vector(_) => Some(MADE_VALUE),
            _ => None,
        };
        if let Some(units) = datum.nodes().iter().map(plain).sum::<Option<usize>>() {
            return self.pay(units);
        }
        // Number of parts of each value before a collection, whose items are the last of them.
        let mut sizes: Vec<usize> = Vec::new();
        datum.nodes().iter().all(|node| {
            let (items, units) = match node {
                Node::Str(text)
                | Node::Keyword(text)
                | Node::Symbol(text)
                | Node::Regex(text)
                | Node::Opaque(text) => (0, text.len() / 8),
                Node::Big(digits) => (0, digits_price(digits.len())),
                Node::Vector(n) => (*n as usize, 0),
                Node::Set(n) => (*n as usize, HASHED_PART),
                Node::Map(n) => (2 * *n as usize, HASHED_PART),
                _ => (0, 0),
            };
            let inside: usize = sizes.drain(sizes.len().saturating_sub(items)..).sum();
            sizes.push(1 + inside);
            let hashed = if items > 0 { units * inside } else { units };
            self.pay(MADE_VALUE + hashed)
        })
    }
}

/// Units for verifying one instruction.
const CHECKED_OP: usize = 4;

/// Units for making one value of a constant collection.
const MADE_VALUE: usize = 4;

/// Units for hashing one part of a key or member.
const HASHED_PART: usize = 4;

/// Returns the units for reading an integer of this many digits: every digit goes through all the limbs before it.
pub(crate) fn digits_price(digits: usize) -> usize {
    digits / 8 + digits * digits / 256
}

#[cfg(test)]
mod tests {
    use super::{Meter, SLICE};
    use ptc_bytecode::Limits;

    #[test]
    fn what_is_paid_is_what_is_spent() {
        let limits = Limits { compile_fuel: 3 * SLICE, ..Limits::default() };
        let meter = Meter::new(&limits, &|| false);
        let mut paid = 0;
        for units in [1, SLICE - 1, 2, SLICE + 7, 0] {
            assert!(meter.pay(units as usize));
            paid += units;
            assert_eq!(meter.spent(), paid);
        }
        assert!(!meter.pay(SLICE as usize) && !meter.pay(1) && meter.is_over());
        assert_eq!(meter.spent(), 3 * SLICE);
        assert_eq!(meter.problem().unwrap().code.reason(), "compile_fuel_exceeded");
    }

    #[test]
    fn the_host_is_asked_once_per_slice() {
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() == 3
        };
        let meter = Meter::new(&Limits::default(), &stop);
        let mut units = 0;
        while meter.pay(8) {
            units += 8;
        }
        // The part not covered by the slice is paid from the next one.
        assert_eq!((asked.get(), units), (3, 3 * SLICE + 2 * 8));
        assert_eq!(meter.problem().unwrap().code.reason(), "compile_timeout");
    }
}
