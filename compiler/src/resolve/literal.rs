//! Resolution of quoted forms and dates: data that is known before the run.

use super::{Resolver, pattern};
use crate::form::{Form, FormKind};
use crate::resolved::{Constant, Kind};
use ptc_bytecode::{Code, Diagnostic, Span, calendar};

/// Units of work for a quoted form.
const QUOTED_FORM: usize = 8;

/// Units of work per byte of a pattern.
const PATTERN_BYTE: usize = 8;

impl<'a> Resolver<'a, '_> {
    /// Converts `'form` to data: names become symbols, lists become vectors.
    pub(super) fn quoted(&mut self, form: &Form<'a>) -> Constant<'a> {
        match form.kind {
            FormKind::Nil => Constant::Nil,
            FormKind::Bool(b) => Constant::Bool(b),
            FormKind::Int(n) => Constant::Int(n),
            FormKind::BigInt(digits) => Constant::Big(digits),
            FormKind::Float(x) => Constant::Float(x),
            FormKind::Str(text) => Constant::Str(text),
            FormKind::Keyword(name) => Constant::Keyword(name),
            FormKind::Regex(text) => match self.regex(text, form.span) {
                Kind::Const(constant) => constant,
                _ => Constant::Nil,
            },
            FormKind::Symbol(name) | FormKind::VarRef(name) => Constant::Symbol(name),
            FormKind::Special(special) => Constant::Symbol(special.name()),
            FormKind::Builtin(name) => Constant::Symbol(name),
            FormKind::Inst(text) => match self.instant(text, form.span) {
                Kind::Const(constant) => constant,
                _ => Constant::Nil,
            },
            FormKind::Quote(inner) => self.quoted(inner),
            FormKind::List(items) | FormKind::Vector(items) | FormKind::ShortFn(items) => {
                Constant::Vector(self.quoted_items(items))
            }
            FormKind::Map(items) => Constant::Map(self.quoted_items(items)),
            FormKind::Set(items) => Constant::Set(self.quoted_items(items)),
        }
    }

    fn quoted_items(&mut self, items: &'a [Form<'a>]) -> &'a [Constant<'a>] {
        // Quotes nest only as deep as the reader allows, so recursion is safe here.
        if !self.meter.pay(QUOTED_FORM * items.len()) {
            return &[];
        }
        let mut constants = bumpalo::collections::Vec::with_capacity_in(items.len(), self.arena);
        for item in items {
            constants.push(self.quoted(item));
        }
        constants.into_bump_slice()
    }

    /// Resolves `#"…"`.
    pub(super) fn regex(&mut self, text: &'a str, span: Span) -> Kind<'a> {
        if !self.meter.pay(PATTERN_BYTE * text.len()) {
            return Kind::Const(Constant::Nil);
        }
        match pattern::problem(text) {
            None => Kind::Const(Constant::Regex(text)),
            Some(problem) => {
                let message = format!("the pattern cannot be read: {problem}");
                self.fail(
                    Diagnostic::error(Code::InvalidForm, span, message)
                        .hint("a backslash quotes: #\"\\(\" matches a parenthesis"),
                )
            }
        }
    }

    /// Resolves `#inst "…"`.
    pub(super) fn instant(&mut self, text: &str, span: Span) -> Kind<'a> {
        match calendar::read_literal(text) {
            Some(micros) => Kind::Const(Constant::Instant(micros)),
            None => {
                let message = format!("`#inst` needs a date and time, but found \"{text}\"");
                self.fail(
                    Diagnostic::error(Code::InvalidForm, span, message)
                        .hint("write #inst \"2024-05-01T08:00:00Z\""),
                )
            }
        }
    }
}
