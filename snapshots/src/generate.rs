//! Generates random programs from bytes: equal bytes give equal programs, and fewer or smaller bytes give
//! smaller ones. So a seed, a fuzzer and a shrinker can all drive it.
//!
//! Programs are loosely typed: most subterms fit, so that most programs run far; now and then one does not, so
//! that faults are compared too. Every loop ends.

mod accumulators;
mod exprs;
mod functions;
mod lists;
mod maps;
mod pipelines;
mod values;

pub use accumulators::{accumulating_program, asking_accumulating_program};
pub use pipelines::pipeline_program;
pub use values::datum;

/// Pieces of source that tests combine at random.
pub const SCRAPS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "#{",
    "#(",
    "#\"",
    "\"",
    "'",
    "#'",
    "#_",
    "^",
    "@",
    "`",
    "~",
    "\\",
    ":",
    "::",
    ";",
    "%",
    "%&",
    "&",
    "##",
    "##NaN",
    "#inst ",
    "nil",
    "def",
    "fn",
    "let",
    "loop",
    "recur",
    "if",
    "%for",
    "%set!",
    "1",
    "-",
    "1e",
    "1e999",
    "0x",
    "2r",
    "99999999999999999999N",
    "1/2",
    "a/b",
    "/",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "é",
    "👩‍👧",
    "\u{301}",
    " ",
    "\n",
    "\t",
    ",",
    "data/",
    "tool/",
    "*1",
    "map",
    "return",
    "for",
    ":when",
    "->",
    "cond->",
    "##-Inf",
    "-9223372036854775808",
    "9223372036854775808",
    "-0.0",
];

/// Type of a generated expression.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Type {
    Int,
    Float,
    Bool,
    Str,
    Key,
    Any,
    List(Box<Type>),
    /// Map with keyword keys.
    Map(Box<Type>),
    Set(Box<Type>),
}

/// A defined function: its name, parameter types and result type.
#[derive(Clone)]
struct Known {
    name: String,
    params: Vec<Type>,
    result: Type,
}

/// Generator of one program.
pub(crate) struct Generator<'b> {
    bytes: &'b [u8],
    locals: Vec<(String, Type)>,
    functions: Vec<Known>,
    names: usize,
    /// True inside `#(…)`, which cannot nest.
    in_short_fn: bool,
    depth: usize,
    /// True if some constants come from a tool.
    asks: bool,
}

/// Maximum nesting depth of expressions.
const MAX_DEPTH: usize = 6;

/// Generates the program for these bytes.
///
/// ```
/// use ptc_snapshots::generate::program;
/// assert_eq!(program(&[]), "0");
/// assert_eq!(program(&[9, 8, 7, 250, 17]), program(&[9, 8, 7, 250, 17]));
/// ```
pub fn program(bytes: &[u8]) -> String {
    write(bytes, false)
}

/// Generates a program like [`program`], in which some constants come from calls of `tool/id` with the constant
/// as `x`.
///
/// ```
/// use ptc_snapshots::generate::asking_program;
/// assert!((0..10).any(|seed| asking_program(&[seed; 40]).contains("(tool/id {:x ")));
/// ```
pub fn asking_program(bytes: &[u8]) -> String {
    write(bytes, true)
}

fn write(bytes: &[u8], asks: bool) -> String {
    let mut generator = Generator::new(bytes, asks);
    let mut forms: Vec<String> = (0..generator.pick(4)).map(|_| generator.definition()).collect();
    let results = 1 + generator.pick(4);
    let mut values: Vec<String> = (0..results)
        .map(|_| {
            let wanted = generator.some_type(2);
            generator.expr(&wanted)
        })
        .collect();
    forms.push(if results == 1 { values.remove(0) } else { format!("[{}]", values.join(" ")) });
    forms.join("\n")
}

/// Returns the bytes for the program of this seed.
pub fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        // SplitMix64: each seed has its own sequence, identical on every machine.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let len = 40 + (next() % 360) as usize;
    (0..len).map(|_| next() as u8).collect()
}

/// Returns the smallest bytes found, by removing and lowering some, for which `fails` still holds.
pub fn shrink(bytes: &[u8], mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut best = bytes.to_vec();
    loop {
        let before = best.clone();
        let mut size = best.len().next_power_of_two() / 2;
        while size > 0 {
            shrink_by(&mut best, size, &mut fails);
            size /= 2;
        }
        if best == before {
            return best;
        }
    }
}

/// Removes, clears or lowers runs of `size` bytes.
fn shrink_by(best: &mut Vec<u8>, size: usize, fails: &mut impl FnMut(&[u8]) -> bool) {
    let mut at = 0;
    while at < best.len() {
        let end = (at + size).min(best.len());
        let shorter = [&best[..at], &best[end..]].concat();
        if fails(&shorter) {
            *best = shorter;
            continue;
        }
        let mut lower = vec![best.clone(); 3];
        lower[0][at..end].fill(0);
        lower[1][at..end].iter_mut().for_each(|byte| *byte /= 2);
        lower[2][at..end].iter_mut().for_each(|byte| *byte = byte.saturating_sub(1));
        if let Some(found) = lower.into_iter().find(|tried| tried != best && fails(tried)) {
            *best = found;
        }
        at += size;
    }
}

impl<'b> Generator<'b> {
    fn new(bytes: &'b [u8], asks: bool) -> Generator<'b> {
        let (locals, functions) = (Vec::new(), Vec::new());
        Generator { bytes, locals, functions, names: 0, in_short_fn: false, depth: 0, asks }
    }

    /// Returns a choice below `n`; the first if the bytes are used up.
    fn pick(&mut self, n: usize) -> usize {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                usize::from(*first) % n.max(1)
            }
            None => 0,
        }
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.pick(texts.len())]
    }

    /// Returns true once in `n` times; never if the bytes are used up.
    fn rarely(&mut self, n: usize) -> bool {
        self.pick(n) == n - 1
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn some_type(&mut self, depth: usize) -> Type {
        use Type::{Any, Bool, Float, Int, Key, List, Map, Set, Str};
        let inner = |generator: &mut Self| Box::new(generator.some_type(depth.saturating_sub(1)));
        match self.pick(if depth == 0 { 6 } else { 12 }) {
            0 | 1 => Int,
            2 => Str,
            3 => Bool,
            4 => Key,
            5 => Float,
            6..=8 => List(inner(self)),
            9 => Map(inner(self)),
            10 => Set(inner(self)),
            _ => Any,
        }
    }

    /// Runs `write` with these locals in scope.
    fn with<T>(&mut self, locals: Vec<(String, Type)>, write: impl FnOnce(&mut Self) -> T) -> T {
        let known = self.locals.len();
        self.locals.extend(locals);
        let text = write(self);
        self.locals.truncate(known);
        text
    }

    /// Returns a local of the wanted type, if there is one.
    fn local(&mut self, wanted: &Type) -> Option<String> {
        let fits = |known: &Type| known == wanted || *wanted == Type::Any;
        let names: Vec<String> =
            self.locals.iter().filter(|(_, known)| fits(known)).map(|(name, _)| name.clone()).collect();
        if names.is_empty() { None } else { Some(names[self.pick(names.len())].clone()) }
    }
}
