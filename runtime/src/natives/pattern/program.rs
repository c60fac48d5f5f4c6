//! Compiler of patterns with lookaround or backreferences into a program for the [machine](super::machine).

use super::refused::{Refused, bad_pattern};
use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, HirKind};
use std::collections::HashMap;

/// Maximum lengths that lookbehind tries one by one; with more it goes back character by character.
pub const MOST_LENGTHS: usize = 16;

/// One instruction. Addresses are places in the program.
#[derive(Debug)]
pub enum Op {
    /// Matches this text.
    Text(Box<str>),
    /// Matches a character of this class.
    Class(usize),
    /// Checks an assertion about the place.
    Assert(Assertion),
    /// Matches the text of a group again.
    Again {
        group: usize,
        any_case: bool,
    },
    /// Jumps unless the group took part in the match.
    Has {
        group: usize,
        otherwise: usize,
    },
    /// Checks that the search began here.
    AtStart,
    /// Goes back this many characters.
    Back(usize),
    /// Stores the place in a register.
    Note(usize),
    /// Fails unless there was progress since the stored place.
    Progress(usize),
    /// Fails unless this is the stored place.
    Returned(usize),
    /// Goes to the first address, and to the second if that failed.
    Split(usize, usize),
    Jump(usize),
    /// Stores the height of the backtracking stack in a register.
    Begin(usize),
    /// Drops the alternatives since `Begin`.
    Commit(usize),
    /// Drops the alternatives since `Begin`, and goes back to the place stored in the second register.
    Peeked(usize, usize),
    /// Fails, and drops the alternatives since `Begin`.
    Never(usize),
    Match,
}

/// A set of characters.
#[derive(Debug)]
pub struct Set {
    ascii: u128,
    /// Characters beyond ASCII, sorted.
    ranges: Vec<(char, char)>,
}

impl Set {
    /// True if a character is in the set.
    #[inline]
    pub fn has(&self, c: char) -> bool {
        if c.is_ascii() {
            return self.ascii >> (c as u32) & 1 == 1;
        }
        let after = self.ranges.partition_point(|(from, _)| *from <= c);
        after > 0 && c <= self.ranges[after - 1].1
    }

    fn of(ranges: impl Iterator<Item = (char, char)>) -> Set {
        let mut set = Set { ascii: 0, ranges: Vec::new() };
        for (from, to) in ranges {
            for c in (from as u32)..=(to as u32).min(127) {
                set.ascii |= 1 << c;
            }
            if !to.is_ascii() {
                set.ranges.push((from, to));
            }
        }
        set
    }
}

/// A pattern as instructions.
#[derive(Debug)]
pub struct Program {
    pub ops: Vec<Op>,
    pub sets: Vec<Set>,
    /// Number of groups, the whole match included; register 2n holds the start of group n, 2n + 1 its end.
    pub groups: usize,
    /// Number of registers, those of the groups first.
    pub registers: usize,
}

impl Program {
    /// Makes the program for a pattern whose size was checked before.
    pub fn new(expr: &Expr) -> Result<Program, Refused> {
        let groups = 1 + count_groups(expr);
        let program = Program { ops: Vec::new(), sets: Vec::new(), groups, registers: 2 * groups };
        let mut writer = Writer { program, known: HashMap::new() };
        writer.expr(expr, &mut 1)?;
        writer.emit(Op::Note(1));
        writer.emit(Op::Match);
        Ok(writer.program)
    }

    /// Returns its approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        let text = |op: &Op| if let Op::Text(text) = op { text.len() } else { 0 };
        self.ops.iter().map(|op| size_of::<Op>() + text(op)).sum::<usize>()
            + self.sets.iter().map(|set| size_of::<Set>() + 8 * set.ranges.len()).sum::<usize>()
    }
}

fn count_groups(expr: &Expr) -> usize {
    match expr {
        Expr::Concat(all) | Expr::Alt(all) => all.iter().map(count_groups).sum(),
        Expr::Group(child) => 1 + count_groups(child),
        Expr::LookAround(child, _) | Expr::AtomicGroup(child) | Expr::Repeat { child, .. } => {
            count_groups(child)
        }
        Expr::Conditional { condition, true_branch, false_branch } => {
            count_groups(condition) + count_groups(true_branch) + count_groups(false_branch)
        }
        _ => 0,
    }
}

/// Returns the minimum and maximum length of text an expression can match, in characters; None for no maximum.
pub fn lengths(expr: &Expr) -> (usize, Option<usize>) {
    let sum = |a: (usize, Option<usize>), b: (usize, Option<usize>)| {
        (a.0.saturating_add(b.0), a.1.zip(b.1).map(|(a, b)| a.saturating_add(b)))
    };
    match expr {
        Expr::Concat(all) => all.iter().map(lengths).fold((0, Some(0)), sum),
        Expr::Alt(all) => all
            .iter()
            .map(lengths)
            .reduce(|a, b| (a.0.min(b.0), a.1.zip(b.1).map(|(a, b)| a.max(b))))
            .unwrap_or((0, Some(0))),
        Expr::Group(child) => lengths(child),
        Expr::AtomicGroup(child) => lengths(child),
        Expr::Repeat { child, lo, hi, .. } => {
            let (least, most) = lengths(child);
            let most = match most {
                Some(0) => Some(0),
                Some(most) if *hi < usize::MAX => Some(most.saturating_mul(*hi)),
                _ => None,
            };
            (least.saturating_mul(*lo), most)
        }
        Expr::Literal { val, .. } => {
            let chars = val.chars().count();
            (chars, Some(chars))
        }
        Expr::LiteralBytes { bytes } => (bytes.len(), Some(bytes.len())),
        Expr::Any { .. } | Expr::Delegate { .. } => (1, Some(1)),
        Expr::GeneralNewline { .. } => (1, Some(2)),
        Expr::Empty | Expr::Assertion(_) | Expr::LookAround(..) | Expr::KeepOut => (0, Some(0)),
        Expr::ContinueFromPreviousMatchEnd | Expr::BackrefExistsCondition { .. } => (0, Some(0)),
        Expr::Conditional { condition, true_branch, false_branch } => {
            let yes = sum(lengths(condition), lengths(true_branch));
            let no = lengths(false_branch);
            (yes.0.min(no.0), yes.1.zip(no.1).map(|(a, b)| a.max(b)))
        }
        _ => (0, None),
    }
}

struct Writer {
    program: Program,
    /// Classes by their spelling.
    known: HashMap<(String, bool), usize>,
}

impl Writer {
    fn emit(&mut self, op: Op) -> usize {
        self.program.ops.push(op);
        self.program.ops.len() - 1
    }

    fn here(&self) -> usize {
        self.program.ops.len()
    }

    fn register(&mut self) -> usize {
        self.program.registers += 1;
        self.program.registers - 1
    }

    /// Appends the code for `expr`, whose first group is `next`.
    fn expr(&mut self, expr: &Expr, next: &mut usize) -> Result<(), Refused> {
        match expr {
            Expr::Empty => {}
            Expr::Any { newline, crlf } => {
                let written = match (newline, crlf) {
                    (true, _) => "(?s:.)",
                    (false, true) => r"[^\r\n]",
                    (false, false) => r"[^\n]",
                };
                self.class(written, false)?;
            }
            Expr::Assertion(assertion) => {
                self.emit(Op::Assert(*assertion));
            }
            Expr::GeneralNewline { .. } => {
                let split = self.emit(Op::Jump(0));
                self.emit(Op::Text("\r\n".into()));
                let jump = self.emit(Op::Jump(0));
                self.program.ops[split] = Op::Split(split + 1, jump + 1);
                self.class(r"[\n\x0B\f\r\u0085\u2028\u2029]", false)?;
                self.program.ops[jump] = Op::Jump(self.here());
            }
            Expr::Literal { val, casei: false } => {
                self.emit(Op::Text(val.as_str().into()));
            }
            Expr::Literal { val, casei: true } => {
                for c in val.chars() {
                    self.class(&regex_syntax::escape(c.encode_utf8(&mut [0; 4])), true)?;
                }
            }
            Expr::LiteralBytes { bytes } => {
                let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
                self.emit(Op::Text(text.into()));
            }
            Expr::Concat(all) => {
                for expr in all {
                    self.expr(expr, next)?;
                }
            }
            Expr::Alt(all) => self.alternatives(all, next)?,
            Expr::Group(child) => {
                let group = *next;
                *next += 1;
                self.emit(Op::Note(2 * group));
                self.expr(child, next)?;
                self.emit(Op::Note(2 * group + 1));
            }
            Expr::LookAround(child, look) => self.look(child, *look, next)?,
            Expr::Repeat { child, lo, hi, greedy } => self.repeat(child, *lo, *hi, *greedy, next)?,
            Expr::Delegate { inner, casei } => self.class(inner, *casei)?,
            Expr::Backref { group, casei } => {
                self.emit(Op::Again { group: *group, any_case: *casei });
            }
            Expr::AtomicGroup(child) => {
                let mark = self.register();
                self.emit(Op::Begin(mark));
                self.expr(child, next)?;
                self.emit(Op::Commit(mark));
            }
            Expr::KeepOut => {
                self.emit(Op::Note(0));
            }
            Expr::ContinueFromPreviousMatchEnd => {
                self.emit(Op::AtStart);
            }
            Expr::Conditional { condition, true_branch, false_branch } => {
                self.conditional(condition, true_branch, false_branch, next)?;
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    fn alternatives(&mut self, all: &[Expr], next: &mut usize) -> Result<(), Refused> {
        let mut jumps = Vec::new();
        for (i, expr) in all.iter().enumerate() {
            let split = (i + 1 < all.len()).then(|| self.emit(Op::Jump(0)));
            self.expr(expr, next)?;
            if let Some(split) = split {
                jumps.push(self.emit(Op::Jump(0)));
                self.program.ops[split] = Op::Split(split + 1, self.here());
            }
        }
        for jump in jumps {
            self.program.ops[jump] = Op::Jump(self.here());
        }
        Ok(())
    }

    fn look(&mut self, child: &Expr, look: LookAround, next: &mut usize) -> Result<(), Refused> {
        let is_behind = matches!(look, LookAround::LookBehind | LookAround::LookBehindNeg);
        let is_not = matches!(look, LookAround::LookAheadNeg | LookAround::LookBehindNeg);
        let (mark, place) = (self.register(), self.register());
        self.emit(Op::Note(place));
        self.emit(Op::Begin(mark));
        let split = is_not.then(|| self.emit(Op::Jump(0)));
        if is_behind {
            self.go_back(lengths(child));
        }
        self.expr(child, next)?;
        if is_behind {
            self.emit(Op::Returned(place));
        }
        self.emit(if is_not { Op::Never(mark) } else { Op::Peeked(mark, place) });
        if let Some(split) = split {
            self.program.ops[split] = Op::Split(split + 1, self.here());
        }
        Ok(())
    }

    /// Appends code that goes back by each of these lengths until the next part matches.
    fn go_back(&mut self, (least, most): (usize, Option<usize>)) {
        self.emit(Op::Back(least));
        let lengths = most.map(|most| most.saturating_sub(least)).filter(|more| *more < MOST_LENGTHS);
        if lengths == Some(0) {
            return;
        }
        let Some(more) = lengths else {
            // Going back beyond the longest only finds nothing.
            let split = self.emit(Op::Jump(0));
            self.emit(Op::Back(1));
            self.emit(Op::Jump(split));
            self.program.ops[split] = Op::Split(self.here(), split + 1);
            return;
        };
        let after = self.here() + 2 * more;
        for _ in 0..more {
            let here = self.here();
            self.emit(Op::Split(after, here + 1));
            self.emit(Op::Back(1));
        }
    }

    fn repeat(
        &mut self,
        child: &Expr,
        lo: usize,
        hi: usize,
        greedy: bool,
        next: &mut usize,
    ) -> Result<(), Refused> {
        let first = *next;
        let split = |yes, no| if greedy { Op::Split(yes, no) } else { Op::Split(no, yes) };
        for _ in 0..lo {
            *next = first;
            self.expr(child, next)?;
        }
        let mut heads = Vec::new();
        if hi == usize::MAX {
            let may_be_empty = lengths(child).0 == 0;
            if may_be_empty && lo == 0 {
                // The first iteration may match nothing, as in the linear engine; later ones must make progress.
                heads.push(self.emit(Op::Jump(0)));
                *next = first;
                self.expr(child, next)?;
            }
            let head = self.emit(Op::Jump(0));
            heads.push(head);
            let noted = may_be_empty.then(|| self.register());
            if let Some(noted) = noted {
                self.emit(Op::Note(noted));
            }
            *next = first;
            self.expr(child, next)?;
            if let Some(noted) = noted {
                self.emit(Op::Progress(noted));
            }
            self.emit(Op::Jump(head));
        } else {
            // Each iteration is tried only after the previous one.
            for _ in lo..hi {
                heads.push(self.emit(Op::Jump(0)));
                *next = first;
                self.expr(child, next)?;
            }
        }
        let after = self.here();
        for head in heads {
            self.program.ops[head] = split(head + 1, after);
        }
        // Groups that are never tried still have their numbers.
        *next = first + count_groups(child);
        Ok(())
    }

    fn conditional(
        &mut self,
        condition: &Expr,
        yes: &Expr,
        no: &Expr,
        next: &mut usize,
    ) -> Result<(), Refused> {
        let head = match condition {
            Expr::BackrefExistsCondition { .. } => self.emit(Op::Jump(0)),
            _ => {
                let mark = self.register();
                self.emit(Op::Begin(mark));
                let head = self.emit(Op::Jump(0));
                self.expr(condition, next)?;
                self.emit(Op::Commit(mark));
                head
            }
        };
        self.expr(yes, next)?;
        let jump = self.emit(Op::Jump(0));
        let otherwise = self.here();
        self.program.ops[head] = match condition {
            Expr::BackrefExistsCondition { group, relative_recursion_level: None } => {
                Op::Has { group: *group, otherwise }
            }
            Expr::BackrefExistsCondition { .. } => return Err(unknown()),
            _ => Op::Split(head + 1, otherwise),
        };
        self.expr(no, next)?;
        self.program.ops[jump] = Op::Jump(self.here());
        Ok(())
    }

    /// Appends code for one character of a class, spelled for the linear engine.
    fn class(&mut self, written: &str, any_case: bool) -> Result<(), Refused> {
        let key = (written.to_string(), any_case);
        let set = match self.known.get(&key) {
            Some(set) => *set,
            None => {
                self.program.sets.push(read_class(written, any_case)?);
                let set = self.program.sets.len() - 1;
                self.known.insert(key, set);
                set
            }
        };
        self.emit(Op::Class(set));
        Ok(())
    }
}

fn read_class(written: &str, any_case: bool) -> Result<Set, Refused> {
    let hir = ParserBuilder::new().case_insensitive(any_case).build().parse(written);
    let hir = hir.map_err(|problem| bad_pattern(&problem.to_string()))?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Ok(Set::of(class.ranges().iter().map(|range| (range.start(), range.end()))))
        }
        HirKind::Class(Class::Bytes(class)) => Ok(Set::of(
            class.ranges().iter().map(|range| (char::from(range.start()), char::from(range.end()))),
        )),
        HirKind::Literal(text) => {
            let text = std::str::from_utf8(&text.0).map_err(|_| unknown())?;
            let mut chars = text.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) => Ok(Set::of(std::iter::once((c, c)))),
                _ => Err(unknown()),
            }
        }
        _ => Err(unknown()),
    }
}

fn unknown() -> Refused {
    bad_pattern("recursion, verbs and absent operators are not supported")
}
