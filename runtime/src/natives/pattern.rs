//! Compiled patterns: the linear engine where it can take the pattern, else a backtracking one
//! whose steps are limited.

use super::careful::Careful;
use super::scan::Scan;
use ptc_vm::{Fault, Heap};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Patterns kept per thread; all are forgotten when there are more.
const KEPT: usize = 64;

/// Longer patterns are no patterns.
const LONGEST: usize = 4096;

/// How large a compiled pattern may be.
const SIZE: usize = 1 << 20;

/// Steps back the second engine may take in one search of a short text.
const BACKTRACKS: usize = 100_000;

/// Texts up to this length are short: no step of a search takes long.
const SHORT: usize = 1 << 11;

/// In longer ones each place is tried by itself, with as many steps back as this many bytes may be looked at in.
const LOOKED_AT: usize = 1 << 27;

/// Where a match or group is; None for a group that took no part.
pub type Span = Option<(usize, usize)>;

/// A compiled pattern.
#[derive(Debug)]
pub enum Engine {
    /// Linear in the text; with a shorter way for patterns that are hardly patterns, and a longer one for others.
    Linear(regex::Regex, Option<Scan>, Box<Careful>),
    /// With lookaround or backreferences.
    Backtracking(Backtracking),
}

/// Why there is no answer whether something matches.
#[derive(Debug)]
pub enum Refused {
    /// The pattern is no good, or not for this text.
    Words(String),
    /// Time is up.
    Late(Fault),
}

impl From<String> for Refused {
    fn from(words: String) -> Refused {
        Refused::Words(words)
    }
}

impl From<Fault> for Refused {
    fn from(late: Fault) -> Refused {
        Refused::Late(late)
    }
}

thread_local! {
    static COMPILED: RefCell<HashMap<(String, bool), Rc<Engine>>> = RefCell::new(HashMap::new());
}

impl Engine {
    /// The engine for a pattern, which must match the `whole` text or a part of it.
    pub fn of(source: &str, whole: bool) -> Result<Rc<Engine>, String> {
        let key = (source.to_string(), whole);
        if let Some(known) = COMPILED.with_borrow(|kept| kept.get(&key).cloned()) {
            return Ok(known);
        }
        let engine = Rc::new(Engine::compile(source, whole)?);
        COMPILED.with_borrow_mut(|kept| {
            if kept.len() >= KEPT {
                kept.clear();
            }
            kept.insert(key, engine.clone());
        });
        Ok(engine)
    }

    fn compile(source: &str, whole: bool) -> Result<Engine, String> {
        if source.len() > LONGEST {
            return Err(format!("the pattern is longer than {LONGEST} bytes"));
        }
        let spell = |boundary| {
            let spelled = ascii_classes(source, boundary);
            if whole { format!(r"\A(?:{spelled})\z") } else { spelled }
        };
        let spelled = spell(r"(?-u:\b)");
        let linear = regex::RegexBuilder::new(&spelled).size_limit(SIZE).build();
        let problem = match linear {
            Ok(regex) => {
                let hir = regex_syntax::parse(&spelled).map_err(|problem| problem.to_string())?;
                let careful = Box::new(Careful::new(spelled, &hir));
                return Ok(Engine::Linear(regex, Scan::of(&hir), careful));
            }
            Err(problem) => problem,
        };
        Backtracking::new(spell(r"\b")).map(Engine::Backtracking).map_err(|_| {
            // The last line says what is wrong, those before show where.
            let problem = problem.to_string();
            let reason = problem.lines().last().unwrap_or_default();
            format!("bad pattern: {}", reason.trim_start_matches("error: "))
        })
    }

    /// Fuel for starting one search.
    pub fn price(&self) -> usize {
        match self {
            Engine::Linear(..) => 4,
            Engine::Backtracking(_) => 2000,
        }
    }

    /// The shorter way, if there is one.
    pub fn scan(&self) -> Option<&Scan> {
        match self {
            Engine::Linear(_, scan, _) => scan.as_ref(),
            Engine::Backtracking(_) => None,
        }
    }

    /// Where the first match from byte `at` on is.
    pub fn find(&self, heap: &Heap, text: &str, at: usize) -> Result<Option<(usize, usize)>, Refused> {
        match self {
            Engine::Linear(_, Some(scan), _) => Ok(scan.find(text, at)),
            Engine::Linear(_, _, careful) if careful.is_needed(text.len() - at) => {
                Ok(careful.find(text, at)?)
            }
            Engine::Linear(regex, ..) => {
                Ok(regex.find_at(text, at).map(|found| (found.start(), found.end())))
            }
            Engine::Backtracking(engine) => {
                Ok(engine.search(heap, text, at)?.and_then(|spans| spans.first().copied().flatten()))
            }
        }
    }

    /// The first match from byte `at` on: its place, and those of the groups if wanted.
    pub fn search(
        &self,
        heap: &Heap,
        text: &str,
        at: usize,
        groups: bool,
    ) -> Result<Option<Vec<Span>>, Refused> {
        match self {
            Engine::Linear(regex, ..) if !groups || regex.captures_len() == 1 => {
                Ok(self.find(heap, text, at)?.map(|found| vec![Some(found)]))
            }
            Engine::Linear(_, _, careful) if careful.is_needed(text.len() - at) => {
                Ok(careful.search(text, at)?)
            }
            Engine::Linear(regex, ..) => Ok(regex.captures_at(text, at).map(|found| {
                found.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect()
            })),
            Engine::Backtracking(engine) => {
                let found = engine.search(heap, text, at)?;
                Ok(found.map(|mut spans| {
                    spans.truncate(if groups { usize::MAX } else { 1 });
                    spans
                }))
            }
        }
    }
}

/// The second engine. It counts its steps back, but not how far it looks ahead between two of them.
#[derive(Debug)]
pub struct Backtracking {
    source: String,
    short: fancy_regex::Regex,
    /// For texts with at most so many bits of length.
    long: RefCell<HashMap<u32, Rc<fancy_regex::Regex>>>,
}

impl Backtracking {
    fn new(source: String) -> Result<Backtracking, Box<fancy_regex::Error>> {
        let short = build(&source, BACKTRACKS)?;
        Ok(Backtracking { source, short, long: RefCell::default() })
    }

    /// The first match from byte `at` on, with its groups.
    fn search(&self, heap: &Heap, text: &str, at: usize) -> Result<Option<Vec<Span>>, Refused> {
        if text.len() <= SHORT {
            return search_with(&self.short, fancy_regex::RegexInput::new(text).from_pos(at));
        }
        let bits = usize::BITS - text.len().leading_zeros();
        let backtracks = (LOOKED_AT >> bits).clamp(16, BACKTRACKS);
        let known = self.long.borrow().get(&bits).cloned();
        let regex = match known {
            Some(regex) => regex,
            None => {
                let made = Rc::new(build(&self.source, backtracks).map_err(|problem| problem.to_string())?);
                self.long.borrow_mut().insert(bits, made.clone());
                made
            }
        };
        // Place by place, since the clock cannot be looked at within a search.
        let rest = text.get(at..).unwrap_or_default();
        for from in rest.char_indices().map(|(i, _)| at + i).chain([text.len()]) {
            let input = fancy_regex::RegexInput::new(text).from_pos(from).anchored(true);
            if let Some(found) = search_with(&regex, input)? {
                return Ok(Some(found));
            }
            // It may have looked at all of the rest.
            heap.owe(ATTEMPT + (text.len() - from) / 8);
            heap.look()?;
        }
        Ok(None)
    }
}

/// Steps that an attempt at one place is taken for. Most end at once; one that does not may take long.
const ATTEMPT: usize = 1 << 10;

fn build(source: &str, backtracks: usize) -> Result<fancy_regex::Regex, Box<fancy_regex::Error>> {
    fancy_regex::RegexBuilder::new(source)
        .backtrack_limit(backtracks)
        .delegate_size_limit(SIZE)
        .build()
        .map_err(Box::new)
}

fn search_with(
    regex: &fancy_regex::Regex,
    input: fancy_regex::RegexInput<'_, str>,
) -> Result<Option<Vec<Span>>, Refused> {
    match regex.captures_input(input) {
        Ok(found) => Ok(found.map(|found| {
            found.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect()
        })),
        Err(_) => Err("the pattern took too many steps back".to_string().into()),
    }
}

/// Spells the classes that are ASCII here and Unicode in the engines.
fn ascii_classes(source: &str, boundary: &str) -> String {
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
            Some('b') if !in_class => out.push_str(boundary),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Engine;
    use ptc_vm::Heap;

    fn find(pattern: &str, text: &str) -> Option<String> {
        let found = Engine::of(pattern, false).unwrap().search(&Heap::unbounded(), text, 0, false).unwrap();
        found.map(|spans| spans[0].map(|(from, to)| text[from..to].to_string()).unwrap())
    }

    #[test]
    fn classes_are_ascii() {
        assert_eq!(find(r"\w+", "é1x"), Some("1x".into()));
        assert_eq!(find(r"[\w.]+@", "a.b@c"), Some("a.b@".into()));
        assert_eq!(find(r"[^\s]+", " ab "), Some("ab".into()));
        assert_eq!(find(r"\bb", "ab b"), Some("b".into()));
    }

    #[test]
    fn what_looks_around_works_within_limits() {
        assert_eq!(find(r"(?<=a)b", "ab"), Some("b".into()));
        assert_eq!(find(r"(\w)\1", "abb"), Some("bb".into()));
        let slow = Engine::of(r"(?:(?=a)a|a)*b", false).unwrap();
        assert!(slow.search(&Heap::unbounded(), &"a".repeat(40), 0, false).is_err());
        assert!(Engine::of("(", false).unwrap_err().starts_with("bad pattern"));
    }
}
