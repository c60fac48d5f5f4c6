//! Cells: a builtin with arguments, a text to compile, a value to write out. Small tables are covered
//! completely, larger ones by random choice from a seed.

use super::palette::{COLLECTIONS, arguments};
use ptc_bytecode::BUILTINS;

/// Returns whether programs can call a builtin by name; names with `%` are internal to the core library.
fn is_callable(name: &str) -> bool {
    !name.starts_with('%')
}

/// Kind of work of a cell, each with a budget of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Running an expression, against `limits.fuel`.
    Run,
    /// Compiling a text, against `limits.compile_fuel`.
    Compile,
    /// Writing the value of an expression in all formats, against `limits.result_fuel`.
    Result,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Run, Kind::Compile, Kind::Result];

    /// Returns the name of the kind in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Compile => "compile",
            Kind::Result => "result",
        }
    }
}

/// A piece of work to measure.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Kind of work, which determines the budget.
    pub kind: Kind,
    /// Name used in reports.
    pub name: String,
    /// Expression or text.
    pub source: String,
}

impl Cell {
    /// Creates a cell named by its source.
    pub fn new(kind: Kind, source: String) -> Cell {
        Cell { kind, name: source.clone(), source }
    }
}

/// A generator of pseudo-random numbers, identical on every machine: splitmix64.
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

fn names() -> Vec<&'static str> {
    arguments().map(|argument| argument.name).collect()
}

fn call(function: &str, args: &[&str]) -> Cell {
    let mut call = format!("({function}");
    for arg in args {
        call.push(' ');
        call.push_str(arg);
    }
    call.push(')');
    Cell::new(Kind::Run, call)
}

/// Returns all calls with one argument, and all that take the elements of a collection as their arguments.
pub fn single() -> Vec<Cell> {
    let names = names();
    let mut cells = Vec::new();
    for row in BUILTINS.iter().filter(|row| is_callable(row.name)) {
        if row.takes(1) {
            cells.extend(names.iter().map(|name| call(row.name, &[name])));
        }
        if row.max.is_none() && !row.name.ends_with('.') {
            cells.extend(COLLECTIONS.iter().map(|many| call("apply", &[row.name, many.name])));
        }
    }
    cells
}

/// Returns all calls with two arguments.
pub fn double() -> Vec<Cell> {
    let names = names();
    let mut cells = Vec::new();
    for row in BUILTINS.iter().filter(|row| is_callable(row.name) && row.takes(2)) {
        for a in &names {
            cells.extend(names.iter().map(|b| call(row.name, &[a, b])));
        }
    }
    cells
}

/// Returns a random call with three or more arguments.
pub fn longer(chance: &mut Chance) -> Cell {
    let names = names();
    loop {
        let row = &BUILTINS[chance.below(BUILTINS.len())];
        let count = 3 + chance.below(3).saturating_sub(1);
        if is_callable(row.name) && row.takes(count) {
            let args: Vec<&str> = (0..count).map(|_| names[chance.below(names.len())]).collect();
            return call(row.name, &args);
        }
    }
}

/// Returns a random call whose argument is another call: values that builtins make are arguments, too.
pub fn nested(chance: &mut Chance) -> Cell {
    let names = names();
    loop {
        let inner = longer_or_shorter(chance, &names);
        let row = &BUILTINS[chance.below(BUILTINS.len())];
        let count = 1 + chance.below(3);
        if is_callable(row.name) && row.takes(count) {
            let place = chance.below(count);
            let args: Vec<&str> = (0..count)
                .map(|i| if i == place { inner.source.as_str() } else { names[chance.below(names.len())] })
                .collect();
            return call(row.name, &args);
        }
    }
}

fn longer_or_shorter(chance: &mut Chance, names: &[&str]) -> Cell {
    loop {
        let row = &BUILTINS[chance.below(BUILTINS.len())];
        let count = 1 + chance.below(3);
        if is_callable(row.name) && row.takes(count) {
            let args: Vec<&str> = (0..count).map(|_| names[chance.below(names.len())]).collect();
            return call(row.name, &args);
        }
    }
}

/// Returns a random value to write out, made from one or a few arguments.
pub fn result(chance: &mut Chance) -> Cell {
    let names = names();
    let mut name = || names[chance.below(names.len())];
    let source = match name() {
        first if first.len() % 2 == 0 => first.to_string(),
        first => format!("[{first} {{:a {} \"b\" #{{{}}}}}]", name(), name()),
    };
    Cell::new(Kind::Result, source)
}
