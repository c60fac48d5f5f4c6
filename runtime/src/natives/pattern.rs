//! Compiled patterns: a linear engine if it supports the pattern, else a backtracking one. Both count their steps, and
//! compiling is priced by the size of the pattern with its repetitions written out.

mod linear;
mod machine;
mod meter;
mod program;
mod refused;
mod scan;
mod size;
mod store;

pub use meter::Meter;
pub use refused::{Refused, Span};

use super::args::growing_room;
use fancy_regex::Expr;
use linear::Linear;
use machine::Machine;
use meter::TICKS;
use program::Program;
use refused::bad_pattern;
use scan::Scan;
use size::Size;
use std::sync::Arc;
use store::Held;

/// Maximum length of a pattern in bytes.
const LONGEST: usize = 4096;

/// The price of compiling a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Fuel for reading the text of the pattern.
    reading: usize,
    /// Fuel for building its engine.
    building: usize,
    /// Approximate maximum memory of the engine in bytes.
    bytes: usize,
}

/// The use a program makes of a pattern, which determines its share of the price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Makes the pattern: `re-pattern`.
    Make,
    /// Searches with the pattern.
    Use,
}

/// Number of uses of a pattern that together pay for compiling it once. Engines are cached, so most uses compile
/// nothing; but a use that compiles must not be free.
const USES: usize = 8;

impl Purpose {
    fn share(self, units: usize) -> usize {
        match self {
            Purpose::Make => units,
            Purpose::Use => units / USES,
        }
    }
}

/// Fuel for reading a pattern, without its bytes.
const READ: usize = 128;

/// Fuel for reading one byte of it.
const READ_BYTE: usize = 16;

/// Fuel for a class from the tables of Unicode.
const READ_UNICODE: usize = 2_500;

/// Fuel for a class that ignores case.
const READ_CASES: usize = 3_000;

/// Fuel for building an engine, without its states.
const BUILD: usize = 1200;

/// Fuel for one state.
const BUILD_STATE: usize = 32;

/// Fuel for building the table of groups of a small pattern.
const BUILD_GROUPS: usize = 400;

/// Fuel for one instruction of the second engine.
const BUILD_STEP: usize = 8;

/// Memory of one state in bytes.
const STATE_BYTES: usize = 160;

/// Memory of one instruction in bytes.
const STEP_BYTES: usize = 64;

/// Minimum memory of an engine in bytes.
const ENGINE_BYTES: usize = 1 << 12;

/// Computes the fuel for reading a pattern, before any of it is read: so `\p{L}` counts wherever it appears.
fn reading_price(source: &str) -> usize {
    let bytes = source.as_bytes();
    let unicode = bytes.windows(2).filter(|pair| matches!(pair, [b'\\', b'p' | b'P'])).count();
    // A flag `i` may be in any `(?…)` and holds for the rest.
    let has_flags = source.split("(?").skip(1).any(|group| {
        group.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').any(|byte| byte == b'i')
    });
    let cases = if has_flags {
        unicode + bytes.iter().filter(|byte| matches!(byte, b'[' | b'.' | b'\\')).count()
    } else {
        0
    };
    READ + READ_BYTE * bytes.len() + READ_UNICODE * unicode + READ_CASES * cases
}

/// A compiled pattern and its price.
#[derive(Debug)]
pub struct Engine {
    kind: Kind,
    price: Price,
    _held: Held,
}

#[derive(Debug)]
enum Kind {
    /// Scan for patterns that are plain text or a class.
    Scan(Scan),
    /// Linear engine.
    Linear(Box<Linear>),
    /// Backtracking engine, for lookaround or backreferences.
    Stepwise(Program),
}

impl Engine {
    /// Returns the engine for a pattern, which must match the `whole` text or a part of it. It costs the same
    /// whether it was compiled before or not.
    pub fn of(
        source: &str,
        whole: bool,
        purpose: Purpose,
        meter: &mut Meter<'_>,
    ) -> Result<Arc<Engine>, Refused> {
        if source.len() > LONGEST {
            return Err(Refused::Words(format!("the pattern is longer than {LONGEST} bytes")));
        }
        if let Some(known) = store::find(source, whole) {
            meter.pay(purpose.share(known.price.reading))?;
            meter.pay(purpose.share(known.price.building))?;
            growing_room(meter.heap, 0, known.price.bytes)?;
            return Ok(known);
        }
        let reading = reading_price(source);
        meter.pay(purpose.share(reading))?;
        let compiled = Engine::compile(source, whole, |building, bytes| {
            meter.pay(purpose.share(building))?;
            growing_room(meter.heap, 0, bytes)?;
            Ok(Price { reading, building, bytes })
        });
        match compiled {
            Ok(engine) => {
                let engine = Arc::new(engine);
                store::keep(source, whole, &engine);
                Ok(engine)
            }
            Err(Refused::Words(problem)) => {
                // A bad pattern is not cached, so each use reads it anew.
                meter.pay(reading - purpose.share(reading))?;
                Err(Refused::Words(problem))
            }
            Err(stopped) => Err(stopped),
        }
    }

    /// Compiles a pattern. `pay` charges fuel and memory, before anything is built.
    fn compile(
        source: &str,
        whole: bool,
        mut pay: impl FnMut(usize, usize) -> Result<Price, Refused>,
    ) -> Result<Engine, Refused> {
        let spell = |is_linear| {
            let spelled = ascii_classes(source, is_linear);
            if whole { format!(r"\A(?:{spelled})\z") } else { spelled }
        };
        let hir = match regex_syntax::parse(&spell(true)) {
            Ok(hir) => hir,
            Err(problem) => {
                let problem = bad_pattern(&problem.to_string());
                // Only the parser of the other engine is used: its matcher pays no fuel and its memory is unbounded.
                let Ok(tree) = Expr::parse_tree(&spell(false)) else { return Err(problem) };
                let steps = size::steps(&tree.expr)?;
                let price = pay(BUILD_STEP * steps, STEP_BYTES * steps)?;
                let program = Program::new(&tree.expr)?;
                let held = Held::new(program.bytes());
                return Ok(Engine { kind: Kind::Stepwise(program), price, _held: held });
            }
        };
        if let Some(scan) = Scan::of(&hir) {
            let price = pay(0, 0)?;
            return Ok(Engine { kind: Kind::Scan(scan), price, _held: Held::new(source.len()) });
        }
        let size = Size::of(&hir).checked()?;
        let has_groups = hir.properties().explicit_captures_len() > 0;
        let building = BUILD
            + BUILD_STATE * size.states
            + if has_groups { BUILD_GROUPS + BUILD_STATE * size.states } else { 0 };
        let price = pay(building, ENGINE_BYTES + STATE_BYTES * size.states)?;
        let linear = Linear::new(&hir, size)?;
        let held = Held::new(linear.bytes());
        Ok(Engine { kind: Kind::Linear(Box::new(linear)), price, _held: held })
    }

    /// Returns the number of groups, the whole match included.
    pub fn groups(&self) -> usize {
        match &self.kind {
            Kind::Scan(_) => 1,
            Kind::Linear(linear) => linear.groups(),
            Kind::Stepwise(program) => program.groups,
        }
    }

    /// Returns a searcher for this pattern.
    pub fn searcher(&self) -> Searcher<'_> {
        match &self.kind {
            Kind::Scan(scan) => Searcher::Scan(scan),
            Kind::Linear(linear) => Searcher::Linear(linear.searcher()),
            Kind::Stepwise(program) => Searcher::Stepwise(Machine::new(program)),
        }
    }
}

/// Ticks for starting a scan and for each match it finds.
const SCAN: usize = 4 * TICKS;

/// Ticks for each byte that is scanned.
const SCAN_BYTE: usize = 2;

/// Maximum matches searched before they are paid for.
const AT_ONCE: usize = 1024;

/// Searcher with one pattern, for several searches.
#[derive(Debug)]
pub enum Searcher<'e> {
    Scan(&'e Scan),
    Linear(linear::Searcher<'e>),
    Stepwise(Machine<'e>),
}

impl Searcher<'_> {
    /// Returns the place of the first match from byte `at` on.
    pub fn find(
        &mut self,
        meter: &mut Meter<'_>,
        text: &str,
        at: usize,
    ) -> Result<Option<(usize, usize)>, Refused> {
        match self {
            Searcher::Scan(scan) => {
                let found = scan.find(text, at);
                let end = found.map_or(text.len(), |(_, to)| to);
                meter.spend(SCAN + SCAN_BYTE * end.saturating_sub(at))?;
                Ok(found)
            }
            Searcher::Linear(linear) => linear.find(meter, text, at),
            Searcher::Stepwise(machine) => {
                Ok(machine.search(meter, text, at)?.and_then(|spans| spans.first().copied().flatten()))
            }
        }
    }

    /// Returns the place of the first match from byte `at` on, and those of its groups.
    pub fn groups(
        &mut self,
        meter: &mut Meter<'_>,
        text: &str,
        at: usize,
    ) -> Result<Option<Vec<Span>>, Refused> {
        match self {
            Searcher::Scan(_) => Ok(self.find(meter, text, at)?.map(|found| vec![Some(found)])),
            Searcher::Linear(linear) => linear.groups(meter, text, at),
            Searcher::Stepwise(machine) => machine.search(meter, text, at),
        }
    }

    /// Adds many matches at once, up to `most`, if the pattern is simple; returns whether it did.
    pub fn find_all(
        &mut self,
        meter: &mut Meter<'_>,
        text: &str,
        most: usize,
        found: &mut Vec<(usize, usize)>,
    ) -> Result<bool, Refused> {
        let Searcher::Scan(scan) = self else { return Ok(false) };
        // A word has some eight letters; unused capacity costs nothing.
        found.reserve(most.min(text.len() / 8).min(1 << 16));
        let mut at = Some(0);
        while let Some(from) = at
            && found.len() < most
        {
            let before = found.len();
            at = scan.find_some(text, from, (most - before).min(AT_ONCE), found);
            let end = at.unwrap_or(text.len());
            meter.spend(SCAN * (found.len() - before + 1) + SCAN_BYTE * end.saturating_sub(from))?;
            growing_room(meter.heap, 4 * found.len(), 0)?;
        }
        Ok(true)
    }
}

/// Spells out the classes that are ASCII here and Unicode in the engines.
fn ascii_classes(source: &str, is_linear: bool) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('d') => out.push_str("[0-9]"),
            Some('D') => out.push_str("[^0-9]"),
            Some('w') => out.push_str("[a-zA-Z0-9_]"),
            Some('W') => out.push_str("[^a-zA-Z0-9_]"),
            Some('s') => out.push_str(r"[ \t\n\x0B\f\r]"),
            Some('S') => out.push_str(r"[^ \t\n\x0B\f\r]"),
            Some(c @ ('b' | 'B')) if !in_class && is_linear => {
                out.push_str("(?-u:\\");
                out.push(c);
                out.push(')');
            }
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests;
