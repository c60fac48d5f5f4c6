//! Reader from source text to the syntax tree. Everything about reading hides behind [`parse`].

use crate::duplicate::Fingerprints;
use crate::form::{Form, FormKind};
use crate::lexer::{Lexer, MAX_ERRORS, Stop};
use crate::meter::Meter;
use crate::token::{Raw, Token};
use bumpalo::Bump;
use lalrpop_util::{ErrorRecovery, ParseError};
use logos::Logos;
use ptc_bytecode::{Code, Diagnostic, Limits, Span, place_of};
use std::collections::HashSet;

/// Generated from `grammar.lalrpop`; `tests/grammar.rs` describes it.
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, missing_docs, unused)]
mod grammar;

/// Reads `source` as a sequence of top-level forms, which live in `arena`.
///
/// Never panics and uses no more stack for deeper input. On failure, at most ten diagnostics come in the order of
/// the text.
///
/// ```
/// use ptc_bytecode::Limits;
/// let arena = bumpalo::Bump::new();
/// let forms = ptc_compiler::parse("(+ 1 2) :done", &arena, &Limits::default()).unwrap();
/// assert_eq!(forms[0].to_string(), "(+ 1 2)");
/// ```
pub fn parse<'a>(source: &str, arena: &'a Bump, limits: &Limits) -> Result<&'a [Form<'a>], Vec<Diagnostic>> {
    let meter = Meter::new(limits, &|| false);
    parse_metered(source, arena, limits, &meter, &mut Vec::new()).map(|read| read.forms)
}

/// A text that was read: its forms, and the metadata before some of them.
pub(crate) struct ReadText<'a> {
    pub forms: &'a [Form<'a>],
    /// Forms after a `^`, in the order of the text. The tree leaves them out: programs ignore metadata, and code
    /// that needs it finds it by its place.
    pub metadata: Vec<Form<'a>>,
}

/// Bytes of text scanned per unit of work.
const READ_BYTES: usize = 4;

/// Reads `source` as [`parse`] does on the budget of `meter`, and keeps the metadata. `warnings` receives harmless
/// problems of the text; with errors, one may be their cause.
pub(crate) fn parse_metered<'a>(
    source: &str,
    arena: &'a Bump,
    limits: &Limits,
    meter: &Meter<'_>,
    warnings: &mut Vec<Diagnostic>,
) -> Result<ReadText<'a>, Vec<Diagnostic>> {
    let (text, errors) = read(source, arena, limits, meter, warnings)?;
    match text {
        Some(text) if errors.is_empty() => Ok(text),
        _ => Err(errors),
    }
}

/// Reads what can be read of a text with errors: missing brackets are made up, and wrong ones skipped. None if too
/// little is left, as after a quote that is never closed.
pub(crate) fn parse_anyway<'a>(
    source: &str,
    arena: &'a Bump,
    limits: &Limits,
    meter: &Meter<'_>,
) -> Option<ReadText<'a>> {
    read(source, arena, limits, meter, &mut Vec::new()).ok()?.0
}

/// Returns the text, unless reading it had to be given up, and its errors. The error is for a text that was not even
/// begun, or whose budget ran out.
fn read<'a>(
    source: &str,
    arena: &'a Bump,
    limits: &Limits,
    meter: &Meter<'_>,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(Option<ReadText<'a>>, Vec<Diagnostic>), Vec<Diagnostic>> {
    if source.len() as u64 > limits.source_bytes {
        return Err(vec![too_large(source.len(), limits)]);
    }
    // For scanning: blanks and comments are no tokens.
    meter.charge(source.len() / READ_BYTES).map_err(|problem| vec![problem])?;
    // One copy; every name and plain string is a slice of it.
    let text: &'a str = arena.alloc_str(source);
    let mut lexer = Lexer::new(text, arena, limits, meter);
    let mut reader = Reader {
        arena,
        text,
        waiting: Vec::with_capacity(32),
        prints: Fingerprints::default(),
        metadata: Vec::new(),
        errors: Vec::new(),
        lost: Vec::new(),
    };
    let outcome = grammar::ProgramParser::new().parse(&mut reader, &mut lexer);
    warnings.append(&mut lexer.warnings());
    // Every form was fingerprinted once at most, so paying for that now is soon enough.
    meter.charge(reader.prints.work()).map_err(|problem| vec![problem])?;
    if lexer.names > limits.symbols && meter.pay(text.len()) {
        reader.errors.extend(too_many_names(text, limits));
    }
    let mut errors = lexer.errors;
    // Where the parser got lost, the lexer has mostly reported the same slip in better words.
    reader.lost.retain(|lost| lost.span.is_none_or(|span| !lexer.stumbles.contains(&span.start)));
    errors.append(&mut reader.lost);
    errors.append(&mut reader.errors);
    let text = match outcome {
        Ok(forms) => Some(ReadText { forms, metadata: reader.metadata }),
        Err(ParseError::User { .. }) => None,
        Err(_) if !errors.is_empty() => None,
        Err(_) => {
            errors.push(Diagnostic::without_span(Code::ParseError, "this text cannot be read"));
            None
        }
    };
    errors.sort_by_key(|e| e.span.map_or(u32::MAX, |span| span.start));
    errors.truncate(MAX_ERRORS);
    Ok((text, errors))
}

/// The grammar's builder: the arena, and the elements of the open collections.
pub(crate) struct Reader<'a> {
    arena: &'a Bump,
    text: &'a str,
    waiting: Vec<Form<'a>>,
    prints: Fingerprints,
    metadata: Vec<Form<'a>>,
    errors: Vec<Diagnostic>,
    /// Errors where the parser had to recover.
    lost: Vec<Diagnostic>,
}

type Lost<'a> = ErrorRecovery<u32, Token<'a>, Stop>;

impl<'a> Reader<'a> {
    pub(crate) fn open(&mut self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn push(&mut self, start: usize, form: Form<'a>) -> usize {
        self.waiting.push(form);
        start
    }

    /// Takes the elements since `start` off the stack.
    pub(crate) fn collect(&mut self, start: usize) -> &'a [Form<'a>] {
        let start = start.min(self.waiting.len());
        let items = self.arena.alloc_slice_copy(&self.waiting[start..]);
        self.waiting.truncate(start);
        items
    }

    pub(crate) fn list(&mut self, l: u32, start: usize, r: u32) -> Form<'a> {
        let items = self.collect(start);
        Form { span: Span { start: l, end: r }, kind: FormKind::List(items) }
    }

    pub(crate) fn vector(&mut self, l: u32, start: usize, r: u32) -> Form<'a> {
        let items = self.collect(start);
        Form { span: Span { start: l, end: r }, kind: FormKind::Vector(items) }
    }

    pub(crate) fn short_fn(&mut self, l: u32, start: usize, r: u32) -> Form<'a> {
        let items = self.collect(start);
        Form { span: Span { start: l, end: r }, kind: FormKind::ShortFn(items) }
    }

    pub(crate) fn set(&mut self, l: u32, start: usize, r: u32) -> Form<'a> {
        let items = self.collect(start);
        if let Some((first, again)) = self.prints.find(items.iter()) {
            self.duplicate("set", "element", first, again);
        }
        Form { span: Span { start: l, end: r }, kind: FormKind::Set(items) }
    }

    pub(crate) fn map(&mut self, l: u32, start: usize, r: u32) -> Form<'a> {
        let items = self.collect(start);
        let span = Span { start: l, end: r };
        if items.len() % 2 == 1 {
            self.odd_map(span, items);
        } else if let Some((first, again)) = self.prints.find(items.iter().step_by(2)) {
            self.duplicate("map", "key", first, again);
        }
        Form { span, kind: FormKind::Map(items) }
    }

    pub(crate) fn quote(&mut self, l: u32, form: Form<'a>, r: u32) -> Form<'a> {
        Form { span: Span { start: l, end: r }, kind: FormKind::Quote(self.arena.alloc(form)) }
    }

    /// Makes `(deref form)` from `@form`, whatever the program calls `deref`.
    pub(crate) fn deref(&mut self, l: u32, form: Form<'a>, r: u32) -> Form<'a> {
        let span = Span { start: l, end: r };
        let head = Form { span, kind: FormKind::Builtin("deref") };
        Form { span, kind: FormKind::List(self.arena.alloc_slice_copy(&[head, form])) }
    }

    pub(crate) fn metadata(&mut self, form: Form<'a>) {
        self.metadata.push(form);
    }

    pub(crate) fn inst(&mut self, l: u32, form: Form<'a>, r: u32) -> Form<'a> {
        let span = Span { start: l, end: r };
        let FormKind::Str(text) = form.kind else {
            self.report(
                Diagnostic::error(Code::ParseError, span, "`#inst` needs a string after it")
                    .hint("write #inst \"2024-05-01T08:00:00Z\""),
            );
            return Form { span, kind: FormKind::Nil };
        };
        Form { span, kind: FormKind::Inst(text) }
    }

    /// Records the text that the parser skipped to recover.
    pub(crate) fn recovered(&mut self, start: usize, lost: Lost<'a>) -> usize {
        let span = match lost.error {
            ParseError::UnrecognizedToken { token: (l, _, r), .. }
            | ParseError::ExtraToken { token: (l, _, r) } => Span { start: l, end: r },
            ParseError::InvalidToken { location } | ParseError::UnrecognizedEof { location, .. } => {
                Span { start: location, end: location }
            }
            ParseError::User { .. } => return start,
        };
        let found = span.text(self.text);
        let found = if found.is_empty() { "the end of the program".to_owned() } else { format!("`{found}`") };
        if self.lost.len() < MAX_ERRORS {
            let message = format!("expected a form, but found {found}");
            self.lost.push(Diagnostic::error(Code::ParseError, span, message).hint("put a form before it"));
        }
        start
    }

    #[cold]
    fn odd_map(&mut self, span: Span, items: &[Form<'a>]) {
        let mut problem = Diagnostic::error(
            Code::ParseError,
            span,
            format!("a map needs keys and values in pairs, but the number of forms is {}", items.len()),
        );
        // A key is mostly a keyword: the first place where one follows another lacks a value.
        let is_keyword = |form: &Form<'_>| matches!(form.kind, FormKind::Keyword(_));
        let suspect = items.chunks(2).find(|pair| match pair {
            [key] => is_keyword(key) || items.len() == 1,
            [key, value] => is_keyword(key) && is_keyword(value),
            _ => false,
        });
        if let Some([key, ..]) = suspect {
            problem = problem.hint(format!("give {} a value, or use #{{}} for a set", key.brief()));
        } else {
            problem = problem.hint("write {key value key value}, or #{} for a set");
        }
        self.report(problem);
    }

    #[cold]
    fn duplicate(&mut self, what: &str, part: &str, first: &Form<'a>, again: &Form<'a>) {
        let place = place_of(self.text, first.span.start);
        self.report(
            Diagnostic::error(
                Code::DuplicateKey,
                again.span,
                format!("this {what} literal repeats the {part} {}", again.brief()),
            )
            .label(format!("first at line {}, column {}", place.line, place.column))
            .hint("remove one of them"),
        );
    }

    fn report(&mut self, problem: Diagnostic) {
        // A text of nothing but slips must not pile up diagnostics.
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(problem);
        }
    }
}

#[cold]
fn too_large(bytes: usize, limits: &Limits) -> Diagnostic {
    Diagnostic::without_span(
        Code::ProgramTooLarge,
        format!("the program has {bytes} bytes, more than {} (limits.source_bytes)", limits.source_bytes),
    )
    .hint("pass data in as granted data instead of writing it into the program")
}

/// Counts distinct names, those of the language left out. Only called if even the repetitions exceed the limit, so
/// ordinary programs do not pay for it.
#[cold]
fn too_many_names(text: &str, limits: &Limits) -> Option<Diagnostic> {
    let mut lexer = Raw::lexer(text);
    let mut seen = HashSet::new();
    while let Some(raw) = lexer.next() {
        let name = match raw {
            Ok(Raw::Symbol | Raw::Keyword) => lexer.slice(),
            _ => continue,
        };
        let word = name.trim_start_matches(':');
        let is_ours = crate::expand::is_form_name(word) || ptc_bytecode::lookup(word).is_some();
        if !is_ours && seen.insert(name) && seen.len() as u64 > limits.symbols {
            let span = lexer.span();
            return Some(
                Diagnostic::error(
                    Code::SymbolLimitExceeded,
                    Span::new(span.start, span.end),
                    format!("more than {} distinct names (limits.symbols)", limits.symbols),
                )
                .hint("use strings for data, and pass large data in as granted data"),
            );
        }
    }
    None
}

#[cfg(test)]
mod tests;
