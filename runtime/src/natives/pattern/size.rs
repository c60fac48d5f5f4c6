//! Size of a pattern, estimated before anything is built, with its repetitions written out.

use super::program::{MOST_LENGTHS, lengths};
use super::refused::Refused;
use fancy_regex::{Expr, LookAround};
use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum states of a pattern.
pub const MOST_STATES: usize = 1 << 15;

/// Maximum instructions of a pattern with lookaround or backreferences.
pub const MOST_STEPS: usize = 1 << 15;

/// States of a class beyond ASCII, besides those for its ranges.
const WIDE: usize = 12;

/// Number of such states that can be active at once: one for each byte of a character.
const ACTIVE: usize = 4;

/// The size of a pattern for the linear engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// States of its automaton: the work and memory for building it.
    pub states: usize,
    /// Maximum number of active states: the worst-case work per byte of text. A class of thousands of characters is
    /// built from many states, of which few are ever active together.
    pub width: usize,
}

impl Size {
    fn and(self, other: Size) -> Size {
        Size {
            states: self.states.saturating_add(other.states),
            width: self.width.saturating_add(other.width),
        }
    }

    fn times(self, n: usize) -> Size {
        Size { states: self.states.saturating_mul(n), width: self.width.saturating_mul(n) }
    }

    /// Returns the size of a parsed pattern. Patterns nest at most as deep as their parser allows.
    pub fn of(hir: &Hir) -> Size {
        let same = |n| Size { states: n, width: n };
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => same(1),
            HirKind::Literal(text) => same(text.0.len()),
            HirKind::Class(Class::Bytes(class)) => same(class.ranges().len()),
            HirKind::Class(Class::Unicode(class)) if class.is_ascii() => same(1),
            HirKind::Class(Class::Unicode(class)) => {
                Size { states: WIDE + class.ranges().len(), width: ACTIVE }
            }
            HirKind::Repetition(some) => {
                let times = some.max.unwrap_or(some.min).max(1);
                Size::of(&some.sub).and(same(1)).times(times as usize)
            }
            HirKind::Capture(group) => Size::of(&group.sub).and(same(2)),
            HirKind::Concat(all) | HirKind::Alternation(all) => {
                all.iter().fold(same(1), |sum, hir| sum.and(Size::of(hir)))
            }
        }
    }

    /// Returns this size, if it is within the limit.
    pub fn checked(self) -> Result<Size, Refused> {
        if self.states > MOST_STATES { Err(too_large(self.states, MOST_STATES, "states")) } else { Ok(self) }
    }
}

/// Returns the number of instructions for a pattern of the second engine, if it is within the limit.
pub fn steps(expr: &Expr) -> Result<usize, Refused> {
    let steps = written_out(expr);
    if steps > MOST_STEPS { Err(too_large(steps, MOST_STEPS, "steps")) } else { Ok(steps) }
}

fn written_out(expr: &Expr) -> usize {
    let all = |children: &[Expr]| {
        children.iter().fold(2, |sum: usize, child| sum.saturating_add(2).saturating_add(written_out(child)))
    };
    match expr {
        Expr::Concat(children) | Expr::Alt(children) => all(children),
        Expr::Literal { val, casei } => {
            if *casei {
                val.len().max(1)
            } else {
                1 + val.len() / 16
            }
        }
        Expr::Repeat { child, lo, hi, .. } => {
            // The first iteration of an expression that may match nothing is written separately.
            let turns = if lengths(child).0 == 0 { 2 } else { 1 };
            let times = if *hi == usize::MAX { lo.saturating_add(turns) } else { *hi };
            written_out(child).saturating_add(3).saturating_mul(times.max(1)).saturating_add(1)
        }
        Expr::LookAround(child, LookAround::LookAhead | LookAround::LookAheadNeg) => {
            written_out(child).saturating_add(4)
        }
        // Lookbehind tries each possible length of the text before.
        Expr::LookAround(child, _) => written_out(child).saturating_add(6 + 3 * MOST_LENGTHS),
        Expr::Group(child) => written_out(child).saturating_add(3),
        Expr::AtomicGroup(child) => written_out(child).saturating_add(3),
        Expr::Conditional { condition, true_branch, false_branch } => [condition, true_branch, false_branch]
            .into_iter()
            .fold(6, |sum: usize, child| sum.saturating_add(written_out(child))),
        _ => 8,
    }
}

fn too_large(found: usize, most: usize, of: &str) -> Refused {
    Refused::Words(format!(
        "the pattern is too large: with its repetitions written out it has {found} {of}, more than {most}"
    ))
}

#[cfg(test)]
mod tests {
    use super::Size;

    fn states(pattern: &str) -> usize {
        Size::of(&regex_syntax::parse(pattern).unwrap()).states
    }

    #[test]
    fn repetitions_count_as_often_as_they_are_written_out() {
        assert!(states("a{100}") >= 100);
        assert!(states("(?:a{100}){100}") >= 10_000);
        assert_eq!(states("((((a{1000}){1000}){1000}){1000}){1000}{1000}{1000}{1000}"), usize::MAX);
        assert!(states("(a)?".repeat(900).as_str()) >= 2700);
        assert!(states(r"\p{L}") > 500);
        assert!(Size::of(&regex_syntax::parse(r"\p{L}+").unwrap()).width < 8);
        assert!(states("a+b") < 10);
    }
}
