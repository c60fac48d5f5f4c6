//! Scans for trivial patterns: a text, or characters of a class. Most programs split at `#","` and `#"\s+"`; finding
//! those needs no engine.

use memchr::memmem::Finder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A scan for a trivial pattern.
#[derive(Debug)]
pub enum Scan {
    /// A text.
    Text(Box<Finder<'static>>),
    /// One of these ASCII bytes; with `many`, as many as there are.
    Bytes { wanted: Box<[bool; 256]>, many: bool },
}

impl Scan {
    /// Returns the scan for a pattern, if it is simple enough.
    pub fn of(hir: &Hir) -> Option<Scan> {
        match hir.kind() {
            HirKind::Literal(text) if !text.0.is_empty() => {
                Some(Scan::Text(Box::new(Finder::new(&*text.0).into_owned())))
            }
            HirKind::Repetition(some) if some.min == 1 && some.max.is_none() && some.greedy => {
                Some(Scan::Bytes { wanted: bytes(&some.sub)?, many: true })
            }
            _ => Some(Scan::Bytes { wanted: bytes(hir)?, many: false }),
        }
    }

    /// Returns the place of the first match from byte `at` on.
    pub fn find(&self, text: &str, at: usize) -> Option<(usize, usize)> {
        let rest = text.as_bytes().get(at..)?;
        match self {
            Scan::Text(finder) => {
                let from = at + finder.find(rest)?;
                Some((from, from + finder.needle().len()))
            }
            Scan::Bytes { wanted, many } => {
                let is_wanted = |byte: &u8| wanted[usize::from(*byte)];
                let from = rest.iter().position(is_wanted)?;
                let more = if *many {
                    rest[from + 1..].iter().take_while(|byte| is_wanted(byte)).count()
                } else {
                    0
                };
                Some((at + from, at + from + 1 + more))
            }
        }
    }
}

impl Scan {
    /// Adds up to `most` matches from byte `at` on. Returns the place to continue at, or None if there are no more.
    pub fn find_some(
        &self,
        text: &str,
        at: usize,
        most: usize,
        found: &mut Vec<(usize, usize)>,
    ) -> Option<usize> {
        let enough = found.len() + most;
        let mut at = at;
        if most == 0 {
            return Some(at);
        }
        match self {
            Scan::Bytes { wanted, many } => {
                // Words are short and their ends hard to predict, so bytes are tested without branching, 64 at a time.
                let mut from = None;
                for bytes in text.as_bytes()[at..].chunks(64) {
                    let mut mask = 0;
                    for byte in bytes {
                        mask = mask >> 1 | u64::from(wanted[usize::from(*byte)]) << 63;
                    }
                    mask >>= 64 - bytes.len();
                    // Bits where a match begins; with `many`, also where one ends.
                    let mut edges = if *many { mask ^ (mask << 1 | u64::from(from.is_some())) } else { mask };
                    while edges != 0 && (edges.trailing_zeros() as usize) < bytes.len() {
                        let edge = at + edges.trailing_zeros() as usize;
                        edges &= edges - 1;
                        match from.take() {
                            None if *many => {
                                from = Some(edge);
                                continue;
                            }
                            None => found.push((edge, edge + 1)),
                            Some(start) => found.push((start, edge)),
                        }
                        if found.len() >= enough {
                            return found.last().map(|(_, end)| *end);
                        }
                    }
                    at += bytes.len();
                }
                found.extend(from.map(|start| (start, at)));
            }
            Scan::Text(_) => {
                while found.len() < enough {
                    let place = self.find(text, at)?;
                    found.push(place);
                    at = place.1;
                }
            }
        }
        (found.len() >= enough).then_some(at)
    }
}

/// Returns the bytes of which a part of a pattern matches one, if all are ASCII.
fn bytes(hir: &Hir) -> Option<Box<[bool; 256]>> {
    let mut wanted = Box::new([false; 256]);
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            for range in class.ranges() {
                if !range.end().is_ascii() {
                    return None;
                }
                wanted[range.start() as usize..=range.end() as usize].fill(true);
            }
        }
        HirKind::Literal(text) => match *text.0 {
            [byte] if byte.is_ascii() => wanted[usize::from(byte)] = true,
            _ => return None,
        },
        _ => return None,
    }
    Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::Scan;

    fn scan(pattern: &str) -> Option<Scan> {
        Scan::of(&regex_syntax::parse(pattern).unwrap())
    }

    #[test]
    fn finds_what_the_engine_finds() {
        // Texts longer than one chunk, with matches at its ends and across them.
        let long = ["a, ".repeat(50), "-".repeat(130), format!("{}--{}", "x".repeat(63), ",".repeat(64))];
        let texts = ["", "a,b,,c", "  a \t b\n", "x--y-z", "äöü, ß", ",", "aaa", "a.b|c"];
        let texts: Vec<&str> = texts.into_iter().chain(long.iter().map(String::as_str)).collect();
        let patterns = [
            ",",
            ", ",
            "[ \\t\\n\\x0B\\f\\r]+",
            "[,;]",
            "-+",
            "--",
            "a+",
            "\\.",
            "\\|",
            "[a-c]",
            "ö",
            "(?i)A",
            "a|b",
            "[^a]",
            "a*",
            "a+?",
            "a{2}",
            "^a",
            "(a)",
            ".",
        ];
        for pattern in patterns {
            let regex = regex::Regex::new(pattern).unwrap();
            let Some(scan) = scan(pattern) else { continue };
            for &text in &texts {
                for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                    let found = regex.find_at(text, at).map(|found| (found.start(), found.end()));
                    assert_eq!(scan.find(text, at), found, "{pattern} in {text:?} from {at}");
                    for most in [0, 1, 2, 3, 70] {
                        let mut all = Vec::new();
                        let next = scan.find_some(text, at, most, &mut all);
                        let wanted: Vec<_> =
                            std::iter::successors(scan.find(text, at), |last| scan.find(text, last.1))
                                .take(most)
                                .collect();
                        assert_eq!(all, wanted, "{pattern} in {text:?} from {at}");
                        assert!(next.is_none_or(|next| next == all.last().map_or(at, |last| last.1)));
                        assert_eq!(next.is_some(), all.len() == most, "{pattern} in {text:?} from {at}");
                    }
                }
            }
        }
        let is_simple = |pattern: &str| scan(pattern).is_some();
        assert!(is_simple(",") && is_simple("[ \\t]+") && is_simple("\\."));
        assert!(!is_simple("a*") && !is_simple("^a") && !is_simple("a+?") && !is_simple("[^a]"));
    }
}
