//! Lexer from text to tokens of the grammar: cuts with logos, decodes literals, matches brackets.
//!
//! Brackets are matched here, not in the grammar, because only a stack of openers can tell which one was left open.
//! Missing closers are inserted and wrong ones dropped, so the grammar always sees balanced text and one slip costs one
//! diagnostic. Surplus closers at top level are skipped with a warning: they are the most common slip, and the program
//! is clear without them.

use crate::form::{Form, FormKind};
use crate::literal;
use crate::meter::{Meter, digits_price};
use crate::pieces::{PieceKind, pieces};
use crate::token::{Raw, Token};
use bumpalo::Bump;
use logos::Logos;
use ptc_bytecode::{Code, Diagnostic, Limits, Span, place_of};
use smallvec::SmallVec;

/// Maximum syntax errors reported per text; more would bury the first.
pub(crate) const MAX_ERRORS: usize = 10;

/// Maximum warnings kept per text: a text of nothing but closers must not pile them up.
const MAX_WARNINGS: usize = 100;

/// Units of work for a token and its place in the tree.
const READ_TOKEN: usize = 4;

/// Tokens paid for in one go: paying for each takes as long as reading some. Fewer left at the end are part of the
/// price of starting to compile.
const PAID_AT_ONCE: usize = 64;

/// Signal that the lexer gave up; the reason is in its diagnostics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop;

/// Iterator of `(start, token, end)`.
pub(crate) struct Lexer<'a, 'm> {
    raw: logos::Lexer<'a, Raw>,
    meter: &'m Meter<'m>,
    tokens: usize,
    text: &'a str,
    arena: &'a Bump,
    limits: Limits,
    /// Brackets still open, outermost first.
    open: SmallVec<[Opener; 16]>,
    /// Number of innermost openers to close before reading on, and the place.
    closing: (usize, u32),
    /// Number of prefixes (`'`, `#_`, `^`, `#inst`) waiting for their form.
    prefixes: u32,
    /// Span of the last of them.
    prefix: Span,
    /// Current nesting: brackets and the prefixes before them.
    depth: u64,
    /// Number of symbols and keywords seen, repetitions counted.
    pub(crate) names: u64,
    pub(crate) errors: Vec<Diagnostic>,
    /// Closers at top level without an opener, adjacent ones together.
    surplus: Vec<Span>,
    /// Number of the last such token.
    surplus_token: usize,
    /// Offsets where the parser will stumble over a prefix without a form, which is already reported.
    pub(crate) stumbles: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Opener {
    /// Opening token.
    token: Raw,
    at: u32,
    /// Number of prefixes in front of it, which close with it.
    prefixes: u32,
}

type Item<'a> = (u32, Token<'a>, u32);

impl<'a, 'm> Lexer<'a, 'm> {
    /// Makes a lexer of `text`, which decodes literals into `arena`.
    pub(crate) fn new(
        text: &'a str,
        arena: &'a Bump,
        limits: &Limits,
        meter: &'m Meter<'m>,
    ) -> Lexer<'a, 'm> {
        let mut raw = Raw::lexer(text);
        if text.starts_with('\u{feff}') {
            raw.bump('\u{feff}'.len_utf8());
        }
        Lexer {
            raw,
            meter,
            tokens: 0,
            text,
            arena,
            limits: *limits,
            open: SmallVec::new(),
            closing: (0, 0),
            prefixes: 0,
            prefix: Span::default(),
            depth: 0,
            names: 0,
            errors: Vec::new(),
            surplus: Vec::new(),
            surplus_token: 0,
            stumbles: Vec::new(),
        }
    }

    /// Returns the next token, or `None` at the end of the text.
    fn step(&mut self) -> Result<Option<Item<'a>>, Stop> {
        loop {
            if self.closing.0 > 0 {
                return Ok(self.close_made_up());
            }
            let Some(raw) = self.raw.next() else { return self.end() };
            let raw = raw.unwrap_or(Raw::Other);
            let range = self.raw.span();
            let span = Span::new(range.start, range.end);
            self.tokens += 1;
            if self.tokens.is_multiple_of(PAID_AT_ONCE) && !self.meter.pay(READ_TOKEN * PAID_AT_ONCE) {
                return Err(Stop);
            }
            let token = match raw {
                Raw::ListOpen => self.opened(raw, span, Token::ListOpen)?,
                Raw::VectorOpen => self.opened(raw, span, Token::VectorOpen)?,
                Raw::MapOpen => self.opened(raw, span, Token::MapOpen)?,
                Raw::SetOpen => self.opened(raw, span, Token::SetOpen)?,
                Raw::FnOpen => self.opened(raw, span, Token::FnOpen)?,
                Raw::ListClose | Raw::VectorClose | Raw::MapClose => match self.closed(raw, span)? {
                    Some(token) => token,
                    None => continue,
                },
                Raw::Quote => self.prefixed(span, Token::Quote)?,
                Raw::Discard => self.prefixed(span, Token::Drop)?,
                Raw::Meta => self.prefixed(span, Token::Meta)?,
                Raw::Inst => self.prefixed(span, Token::Inst)?,
                Raw::Deref => self.prefixed(span, Token::Deref)?,
                _ => match self.atom(raw, span)? {
                    Some(kind) => {
                        self.prefixes = 0;
                        Token::Atom(self.arena.alloc(Form { span, kind }))
                    }
                    None => continue,
                },
            };
            return Ok(Some((span.start, token, span.end)));
        }
    }

    /// Returns the form of a literal or name; `None` for text that is reported and skipped.
    fn atom(&mut self, raw: Raw, span: Span) -> Result<Option<FormKind<'a>>, Stop> {
        let text = self.raw.slice();
        let kind = match raw {
            Raw::Nil => FormKind::Nil,
            Raw::True => FormKind::Bool(true),
            Raw::False => FormKind::Bool(false),
            Raw::Symbol => {
                self.names += 1;
                FormKind::Symbol(text)
            }
            Raw::Keyword => {
                self.names += 1;
                let name = &text[1..];
                if name.starts_with('/') || name.ends_with('/') {
                    self.report(literal::bad_keyword(span, text))?;
                }
                FormKind::Keyword(name)
            }
            Raw::VarRef => FormKind::VarRef(&text[2..]),
            Raw::Regex => FormKind::Regex(&text[2..text.len() - 1]),
            _ if matches!(raw, Raw::Int | Raw::NumberLike)
                && text.len() as u64 <= self.limits.digits.saturating_add(8)
                && !self.meter.pay(digits_price(text.len())) =>
            {
                return Err(Stop);
            }
            _ => match literal::decode(raw, text, span, self.arena, self.limits.digits) {
                Ok(kind) => kind,
                Err(problem) => {
                    self.report(problem)?;
                    // A malformed literal still takes its place, so that maps stay even; a stray mark in front of a
                    // form does not.
                    let is_mark = matches!(raw, Raw::SyntaxQuote | Raw::Unquote | Raw::Dispatch | Raw::Other);
                    if matches!(raw, Raw::StrUnclosed | Raw::RegexUnclosed) {
                        // Everything after the quote was swallowed, which caused the brackets left open.
                        return Err(Stop);
                    }
                    if is_mark { return Ok(None) } else { FormKind::Nil }
                }
            },
        };
        Ok(Some(kind))
    }

    fn opened(&mut self, token: Raw, span: Span, out: Token<'a>) -> Result<Token<'a>, Stop> {
        self.nest(span)?;
        self.open.push(Opener { token, at: span.start, prefixes: self.prefixes });
        self.prefixes = 0;
        Ok(out)
    }

    fn prefixed(&mut self, span: Span, out: Token<'a>) -> Result<Token<'a>, Stop> {
        self.prefixes += 1;
        self.prefix = span;
        // Prefixes nest forms as brackets do; those before an atom are released by it.
        if self.depth + u64::from(self.prefixes) > self.limits.nesting {
            return Err(self.too_deep(span));
        }
        Ok(out)
    }

    fn nest(&mut self, span: Span) -> Result<(), Stop> {
        self.depth += 1 + u64::from(self.prefixes);
        if self.depth > self.limits.nesting { Err(self.too_deep(span)) } else { Ok(()) }
    }

    #[cold]
    fn too_deep(&mut self, span: Span) -> Stop {
        let nesting = self.limits.nesting;
        self.errors.push(
            Diagnostic::error(
                Code::ParseError,
                span,
                format!("forms nest more than {nesting} deep (limits.nesting)"),
            )
            .hint("name inner steps with `let`, or move them into a `defn`"),
        );
        Stop
    }

    /// Handles a closing bracket: returns the token to pass on, or `None` if it is dropped or waits.
    fn closed(&mut self, raw: Raw, span: Span) -> Result<Option<Token<'a>>, Stop> {
        self.dangling(span)?;
        match self.open.last() {
            Some(opener) if closes(raw, opener.token) => {
                self.pop();
                Ok(Some(close_token(raw)))
            }
            None => {
                self.skipped(span);
                Ok(None)
            }
            Some(&opener) => {
                self.report(self.wrong_closer(raw, opener, span))?;
                match self.open.iter().rposition(|o| closes(raw, o.token)) {
                    // It fits an outer opener: the inner ones lack their closers.
                    Some(i) => {
                        self.closing = (self.open.len() - i, span.start);
                        Ok(None)
                    }
                    // It fits no opener: it was meant to be the expected one.
                    None => {
                        self.pop();
                        Ok(Some(close_token(closer_of(opener.token))))
                    }
                }
            }
        }
    }

    /// Records a closer without an opener. Closers with nothing between them are one slip.
    #[cold]
    fn skipped(&mut self, span: Span) {
        let is_full = self.surplus.len() == MAX_WARNINGS;
        match self.surplus.last_mut() {
            Some(last) if self.surplus_token + 1 == self.tokens => last.end = span.end,
            _ if is_full => return,
            _ => self.surplus.push(span),
        }
        self.surplus_token = self.tokens;
    }

    /// Returns the warnings about the text, in its order.
    pub(crate) fn warnings(&self) -> Vec<Diagnostic> {
        let warning = |span: &Span| {
            let closers = span.text(self.text);
            let (message, it) = match closers.len() {
                1 => (format!("this `{closers}` closes nothing, so it was skipped"), "it"),
                // Blanks and comments may be between them.
                _ => ("these brackets close nothing, so they were skipped".to_string(), "them"),
            };
            let hint = format!("remove {it}, or look for a bracket before {it} that closes too early");
            let problem = Diagnostic::warning(Code::SurplusBracket, *span, message).hint(hint);
            // Comments between them stay.
            if closers.contains(';') { problem } else { problem.fix(*span, "") }
        };
        self.surplus.iter().map(warning).collect()
    }

    fn pop(&mut self) {
        if let Some(opener) = self.open.pop() {
            self.depth -= 1 + u64::from(opener.prefixes);
        }
        self.prefixes = 0;
    }

    fn close_made_up(&mut self) -> Option<Item<'a>> {
        let (left, at) = self.closing;
        self.closing = (left - 1, at);
        let opener = self.open.last()?.token;
        self.pop();
        Some((at, close_token(closer_of(opener)), at))
    }

    /// Handles the end of the text: reports the open brackets, then closes them.
    fn end(&mut self) -> Result<Option<Item<'a>>, Stop> {
        let end = Span::new(self.text.len(), self.text.len());
        self.dangling(end)?;
        if self.open.is_empty() {
            return Ok(None);
        }
        self.report(self.never_closed())?;
        self.closing = (self.open.len(), end.start);
        Ok(self.close_made_up())
    }

    /// Reports a prefix that has no form before `next`.
    fn dangling(&mut self, next: Span) -> Result<(), Stop> {
        if self.prefixes == 0 {
            return Ok(());
        }
        self.prefixes = 0;
        let span = self.prefix;
        // At the next token, or at the end of the last one if there is none.
        self.stumbles.extend([next.start, span.end]);
        let mark = span.text(self.text);
        let hint = match mark {
            "'" => "put a form after it, as in 'name or '[1 2]",
            "#_" => "remove it, or put the form to leave out after it",
            "@" => "put an atom after it, as in @x",
            "#inst" => "write a date after it, as in #inst \"2024-05-01\"",
            _ => "remove it",
        };
        let found =
            if next.text(self.text).is_empty() { "the end of the program" } else { next.text(self.text) };
        let message = format!("`{mark}` needs a form after it, but found {}", tick(found));
        self.report(Diagnostic::error(Code::ParseError, span, message).hint(hint))
    }

    fn report(&mut self, problem: Diagnostic) -> Result<(), Stop> {
        self.errors.push(problem);
        if self.errors.len() < MAX_ERRORS { Ok(()) } else { Err(Stop) }
    }

    fn wrong_closer(&self, found: Raw, opener: Opener, span: Span) -> Diagnostic {
        let wanted = bracket_text(closer_of(opener.token));
        let place = place_of(self.text, opener.at);
        let message = format!(
            "expected `{wanted}` for the `{}` opened at line {}, column {}, but found `{}`",
            bracket_text(opener.token),
            place.line,
            place.column,
            bracket_text(found),
        );
        let problem = Diagnostic::error(Code::ParseError, span, message);
        if self.open.iter().any(|o| closes(found, o.token)) {
            let before = Span { end: span.start, ..span };
            let hint = format!("add `{wanted}` before this `{}`", bracket_text(found));
            problem.hint(hint).fix(before, wanted)
        } else {
            problem.hint(format!("write `{wanted}` here")).fix(span, wanted)
        }
    }

    fn never_closed(&self) -> Diagnostic {
        // The innermost opener is the best guess, unless indentation says otherwise (below).
        let Some(&opener) = self.open.last() else {
            return Diagnostic::without_span(Code::ParseError, "a bracket is never closed");
        };
        let place = place_of(self.text, opener.at);
        let shown = bracket_text(opener.token);
        let mut message =
            format!("`{shown}` opened at line {}, column {} is never closed", place.line, place.column);
        if self.open.len() > 1 {
            message += &format!(" ({} brackets are open at the end)", self.open.len());
        }
        let missing: String =
            self.open.iter().rev().take(8).map(|o| bracket_text(closer_of(o.token))).collect();
        let span = Span::new(opener.at as usize, opener.at as usize + shown.len());
        let problem = Diagnostic::error(Code::ParseError, span, message).label("opened here");
        let next = self.next_top_level(self.open[0].at);
        let problem = match next.map(|at| place_of(self.text, at).line) {
            Some(line) => {
                problem.hint(format!("a form starts at the margin in line {line}: add `{missing}` before it"))
            }
            None => problem.hint(format!("add `{missing}` where the form should end")),
        };
        // The end of the last line with code: not of a comment, which would swallow the brackets.
        let until = next.map_or(self.text.len(), |at| at as usize);
        if !self.meter.pay(until / 4) {
            return problem;
        }
        let last = pieces(&self.text[..until]).into_iter().rfind(|piece| piece.kind != PieceKind::Comment);
        match last.filter(|_| self.open.len() <= 8) {
            Some(last) => problem.fix(Span { start: last.span.end, ..last.span }, missing),
            None => problem,
        }
    }

    /// Returns the place of the first opening bracket in column 1 after `at`: it was probably meant to begin a new
    /// top-level form, so the missing bracket belongs before it.
    fn next_top_level(&self, at: u32) -> Option<u32> {
        let rest = self.text.get(at as usize..)?;
        Some(rest.find("\n(")? as u32 + at + 1)
    }
}

impl<'a> Iterator for Lexer<'a, '_> {
    type Item = Result<Item<'a>, Stop>;

    fn next(&mut self) -> Option<Result<Item<'a>, Stop>> {
        self.step().transpose()
    }
}

/// Formats `text` for a message: in backquotes if it is code.
fn tick(text: &str) -> String {
    if text.contains(' ') { text.to_owned() } else { format!("`{text}`") }
}

pub(crate) fn closes(closer: Raw, opener: Raw) -> bool {
    closer_of(opener) == closer
}

fn closer_of(opener: Raw) -> Raw {
    match opener {
        Raw::VectorOpen => Raw::VectorClose,
        Raw::MapOpen | Raw::SetOpen => Raw::MapClose,
        _ => Raw::ListClose,
    }
}

fn close_token<'a>(closer: Raw) -> Token<'a> {
    match closer {
        Raw::VectorClose => Token::VectorClose,
        Raw::MapClose => Token::MapClose,
        _ => Token::ListClose,
    }
}

pub(crate) fn bracket_text(bracket: Raw) -> &'static str {
    match bracket {
        Raw::ListOpen => "(",
        Raw::VectorOpen => "[",
        Raw::MapOpen => "{",
        Raw::SetOpen => "#{",
        Raw::FnOpen => "#(",
        Raw::VectorClose => "]",
        Raw::MapClose => "}",
        _ => ")",
    }
}
