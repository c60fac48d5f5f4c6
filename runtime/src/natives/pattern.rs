//! Compiled patterns: the linear engine where it can take the pattern, else a backtracking one
//! whose steps are limited.

use super::scan::Scan;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Patterns kept per thread; all are forgotten when there are more.
const KEPT: usize = 64;

/// Longer patterns are no patterns.
const LONGEST: usize = 4096;

/// How large a compiled pattern may be.
const SIZE: usize = 1 << 20;

/// Steps back the second engine may take in one search.
const BACKTRACKS: usize = 100_000;

/// Where a match or group is; None for a group that took no part.
pub type Span = Option<(usize, usize)>;

/// A compiled pattern.
#[derive(Debug)]
pub enum Engine {
    /// Linear in the text; with a shorter way for patterns that are hardly patterns.
    Linear(regex::Regex, Option<Scan>),
    /// With lookaround or backreferences.
    Backtracking(fancy_regex::Regex),
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
            Ok(regex) => return Ok(Engine::Linear(regex, Scan::of(&spelled))),
            Err(problem) => problem,
        };
        fancy_regex::RegexBuilder::new(&spell(r"\b"))
            .backtrack_limit(BACKTRACKS)
            .delegate_size_limit(SIZE)
            .build()
            .map(Engine::Backtracking)
            .map_err(|_| {
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
            Engine::Linear(_, scan) => scan.as_ref(),
            Engine::Backtracking(_) => None,
        }
    }

    /// Where the first match from byte `at` on is.
    pub fn find(&self, text: &str, at: usize) -> Result<Option<(usize, usize)>, String> {
        match self {
            Engine::Linear(_, Some(scan)) => Ok(scan.find(text, at)),
            Engine::Linear(regex, None) => {
                Ok(regex.find_at(text, at).map(|found| (found.start(), found.end())))
            }
            Engine::Backtracking(_) => {
                Ok(self.search(text, at, false)?.and_then(|spans| spans.first().copied().flatten()))
            }
        }
    }

    /// The first match from byte `at` on: its place, and those of the groups if wanted.
    pub fn search(&self, text: &str, at: usize, groups: bool) -> Result<Option<Vec<Span>>, String> {
        match self {
            Engine::Linear(regex, _) if !groups || regex.captures_len() == 1 => {
                Ok(self.find(text, at)?.map(|found| vec![Some(found)]))
            }
            Engine::Linear(regex, _) => Ok(regex.captures_at(text, at).map(|found| {
                found.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect()
            })),
            Engine::Backtracking(regex) => match regex.captures_from_pos(text, at) {
                Ok(found) => Ok(found.map(|found| {
                    let spans = found.iter().map(|group| group.map(|group| (group.start(), group.end())));
                    spans.take(if groups { usize::MAX } else { 1 }).collect()
                })),
                Err(_) => Err(format!("the pattern took more than {BACKTRACKS} steps back")),
            },
        }
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

    fn find(pattern: &str, text: &str) -> Option<String> {
        let found = Engine::of(pattern, false).unwrap().search(text, 0, false).unwrap();
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
        assert!(slow.search(&"a".repeat(40), 0, false).is_err());
        assert!(Engine::of("(", false).unwrap_err().starts_with("bad pattern"));
    }
}
