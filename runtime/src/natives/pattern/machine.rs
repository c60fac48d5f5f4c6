//! Backtracking engine for patterns with lookaround or backreferences, which pays for each step.

use super::meter::{Meter, TICKS};
use super::program::{Op, Program, Set};
use super::refused::{Refused, Span};
use crate::natives::args::growing_room;
use fancy_regex::Assertion;

/// Ticks for one step.
const STEP: usize = TICKS / 2;

/// Steps between two payments.
const AT_ONCE: usize = 1 << 10;

/// Maximum steps for one place of a text, besides some for each byte that follows. A pattern that needs more would
/// use up all the fuel.
const MOST_STEPS: usize = 1 << 20;

/// Steps allowed for each byte that follows.
const STEPS_PER_BYTE: usize = 8;

/// Bytes of text compared in one step.
const STEP_BYTES: usize = 16;

/// Value of a register that was not set.
const UNSET: usize = usize::MAX;

/// An entry of the backtracking stack.
#[derive(Debug)]
enum Frame {
    /// Continue at this instruction and place.
    Branch { op: usize, at: usize },
    /// Restore a register.
    Restore { register: usize, value: usize },
}

/// Interpreter of a program over texts.
#[derive(Debug)]
pub struct Machine<'e> {
    program: &'e Program,
    registers: Vec<usize>,
    frames: Vec<Frame>,
}

/// The instruction to execute next.
enum Next {
    Go(usize),
    Fail,
    Match,
}

impl<'e> Machine<'e> {
    /// Makes a machine for this program.
    pub fn new(program: &'e Program) -> Machine<'e> {
        Machine { program, registers: vec![UNSET; program.registers], frames: Vec::new() }
    }

    /// Returns the first match from byte `at` on, with its groups.
    pub fn search(
        &mut self,
        meter: &mut Meter<'_>,
        text: &str,
        at: usize,
    ) -> Result<Option<Vec<Span>>, Refused> {
        self.registers.fill(UNSET);
        meter.spend(STEP + self.registers.len())?;
        let rest = text.get(at..).unwrap_or_default();
        for from in rest.char_indices().map(|(i, _)| at + i).chain([text.len()]) {
            if self.matches_at(meter, text, at, from)? {
                return Ok(Some(self.spans()));
            }
        }
        Ok(None)
    }

    fn spans(&self) -> Vec<Span> {
        let ends = self.registers.chunks(2).take(self.program.groups);
        ends.map(|ends| match *ends {
            [from, to] if from != UNSET && to != UNSET && from <= to => Some((from, to)),
            _ => None,
        })
        .collect()
    }

    fn set(&mut self, register: usize, value: usize) {
        let old = std::mem::replace(&mut self.registers[register], value);
        self.frames.push(Frame::Restore { register, value: old });
    }

    /// Backtracks to the last branch.
    fn backtrack(&mut self) -> Option<(usize, usize)> {
        loop {
            match self.frames.pop()? {
                Frame::Branch { op, at } => return Some((op, at)),
                Frame::Restore { register, value } => self.registers[register] = value,
            }
        }
    }

    /// Drops the branches above this height, but keeps the registers to be restored below it. Returns the steps it
    /// took.
    fn cut(&mut self, height: usize) -> usize {
        let before = self.frames.len();
        let mut kept = height;
        for i in height..before {
            if matches!(self.frames[i], Frame::Restore { .. }) {
                self.frames.swap(kept, i);
                kept += 1;
            }
        }
        self.frames.truncate(kept);
        before - height
    }

    /// True if a match begins at `from`, in a search that began at `start`. The registers then hold its groups;
    /// else they are unchanged.
    fn matches_at(
        &mut self,
        meter: &mut Meter<'_>,
        text: &str,
        start: usize,
        from: usize,
    ) -> Result<bool, Refused> {
        let program = self.program;
        let most = MOST_STEPS + STEPS_PER_BYTE * (text.len() - from);
        let (mut steps, mut paid) = (0, 0);
        let (mut op, mut at) = (0, from);
        self.frames.clear();
        self.set(0, from);
        loop {
            steps += 1;
            if steps - paid >= AT_ONCE {
                meter.spend((steps - paid) * STEP)?;
                paid = steps;
                growing_room(meter.heap, 0, self.frames.len() * size_of::<Frame>())?;
                if steps > most {
                    return Err(Refused::Words("the pattern backtracked too often".to_string()));
                }
            }
            let next = match &program.ops[op] {
                Op::Class(set) => step_over(text, &mut at, &program.sets[*set], op),
                Op::Text(wanted) => {
                    steps += wanted.len() / STEP_BYTES;
                    if text[at..].starts_with(&**wanted) {
                        at += wanted.len();
                        Next::Go(op + 1)
                    } else {
                        Next::Fail
                    }
                }
                Op::Split(first, second) => {
                    self.frames.push(Frame::Branch { op: *second, at });
                    Next::Go(*first)
                }
                Op::Jump(to) => Next::Go(*to),
                Op::Note(register) => {
                    self.set(*register, at);
                    Next::Go(op + 1)
                }
                Op::Progress(register) => go_if(self.registers[*register] != at, op),
                Op::Returned(register) => go_if(self.registers[*register] == at, op),
                Op::AtStart => go_if(at == start, op),
                Op::Assert(assertion) => go_if(holds(*assertion, text, at), op),
                Op::Again { group, any_case } => {
                    let (next, compared) = self.again(text, &mut at, *group, *any_case, op);
                    steps += compared;
                    next
                }
                Op::Has { group, otherwise } => match self.group(*group) {
                    Some(_) => Next::Go(op + 1),
                    None => Next::Go(*otherwise),
                },
                Op::Back(chars) => {
                    steps += chars / STEP_BYTES;
                    match back(text, at, *chars) {
                        Some(before) => {
                            at = before;
                            Next::Go(op + 1)
                        }
                        None => Next::Fail,
                    }
                }
                Op::Begin(register) => {
                    // Its own frame is below the mark, so a cut does not include it.
                    self.set(*register, self.frames.len() + 1);
                    Next::Go(op + 1)
                }
                Op::Commit(register) => {
                    steps += self.cut(self.registers[*register]) / 4;
                    Next::Go(op + 1)
                }
                Op::Peeked(register, place) => {
                    steps += self.cut(self.registers[*register]) / 4;
                    at = self.registers[*place];
                    Next::Go(op + 1)
                }
                Op::Never(register) => {
                    let height = self.registers[*register];
                    steps += self.cut(height) / 4;
                    Next::Fail
                }
                Op::Match => Next::Match,
            };
            match next {
                Next::Go(to) => op = to,
                Next::Match => {
                    meter.spend((steps - paid) * STEP)?;
                    return Ok(true);
                }
                Next::Fail => {
                    let height = self.frames.len();
                    match self.backtrack() {
                        Some(branch) => (op, at) = branch,
                        None => {
                            meter.spend((steps - paid) * STEP)?;
                            return Ok(false);
                        }
                    }
                    steps += (height - self.frames.len()) / 4;
                }
            }
        }
    }

    /// Returns the place of a group that took part in the match so far.
    fn group(&self, group: usize) -> Option<(usize, usize)> {
        let (from, to) = (*self.registers.get(2 * group)?, *self.registers.get(2 * group + 1)?);
        (group < self.program.groups && from != UNSET && to != UNSET && from <= to).then_some((from, to))
    }

    /// Steps over the repeated text of a group; also returns the steps for comparing it.
    fn again(&self, text: &str, at: &mut usize, group: usize, any_case: bool, op: usize) -> (Next, usize) {
        let Some((from, to)) = self.group(group) else { return (Next::Fail, 0) };
        let wanted = &text[from..to];
        if !any_case {
            let is_there = text[*at..].starts_with(wanted);
            *at += if is_there { wanted.len() } else { 0 };
            return (go_if(is_there, op), wanted.len() / STEP_BYTES);
        }
        let mut rest = text[*at..].chars();
        let is_there = wanted.chars().all(|c| rest.next().is_some_and(|found| same_letter(c, found)));
        if is_there {
            *at = text.len() - rest.as_str().len();
        }
        (go_if(is_there, op), wanted.len())
    }
}

fn go_if(is_right: bool, op: usize) -> Next {
    if is_right { Next::Go(op + 1) } else { Next::Fail }
}

#[inline]
fn step_over(text: &str, at: &mut usize, set: &Set, op: usize) -> Next {
    match text[*at..].chars().next() {
        Some(c) if set.has(c) => {
            *at += c.len_utf8();
            Next::Go(op + 1)
        }
        _ => Next::Fail,
    }
}

fn same_letter(a: char, b: char) -> bool {
    a == b || a.to_lowercase().eq(b.to_lowercase())
}

/// Returns the place so many characters before `at`.
fn back(text: &str, at: usize, chars: usize) -> Option<usize> {
    match chars {
        0 => Some(at),
        _ => text[..at].char_indices().nth_back(chars - 1).map(|(i, _)| i),
    }
}

fn holds(assertion: Assertion, text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).map(|i| bytes[i]);
    let after = bytes.get(at).copied();
    // Words are ASCII, as in the linear engine.
    let is_word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let (left, right) = (is_word(before), is_word(after));
    match assertion {
        Assertion::StartText => at == 0,
        Assertion::EndText => at == text.len(),
        // As in Java, one line end may follow.
        Assertion::EndTextIgnoreTrailingNewlines { .. } => {
            matches!(&bytes[at..], [] | [b'\n'] | [b'\r'] | [b'\r', b'\n'])
        }
        Assertion::StartLine { crlf } => is_line_start(before, after, crlf),
        Assertion::StartLineOniguruma { crlf } => {
            is_line_start(before, after, crlf) && (at == 0 || at < text.len())
        }
        Assertion::EndLine { crlf } => match after {
            None | Some(b'\r') if crlf => true,
            Some(b'\n') => !crlf || before != Some(b'\r'),
            after => after.is_none(),
        },
        Assertion::LeftWordBoundary => !left && right,
        Assertion::LeftWordHalfBoundary => !left,
        Assertion::RightWordBoundary => left && !right,
        Assertion::RightWordHalfBoundary => !right,
        Assertion::WordBoundary => left != right,
        Assertion::NotWordBoundary => left == right,
    }
}

fn is_line_start(before: Option<u8>, after: Option<u8>, crlf: bool) -> bool {
    match before {
        None | Some(b'\n') => true,
        Some(b'\r') => crlf && after != Some(b'\n'),
        _ => false,
    }
}
