//! The syntax tree as read, with a span on every node and nothing resolved yet.
//!
//! Forms live in a bump arena for one compilation, so they are `Copy` and rewriting is cheap.

use ptc_bytecode::Span;
use ptc_bytecode::text::is_hidden;
use std::fmt;

/// One node of the syntax tree.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    /// Place in the source. Forms made by expansion carry the span of their origin.
    pub span: Span,
    /// Kind of form, with its content.
    pub kind: FormKind<'a>,
}

/// The shapes of [`Form`].
#[derive(Clone, Copy, Debug)]
pub enum FormKind<'a> {
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// A larger integer, as decimal digits with an optional leading `-`.
    BigInt(&'a str),
    /// A float, special ones included.
    Float(f64),
    /// A string, escapes already decoded; also a character literal.
    Str(&'a str),
    /// A keyword, without its colon.
    Keyword(&'a str),
    /// `#"…"`: the raw pattern text.
    Regex(&'a str),
    /// `#inst "…"`: the text.
    Inst(&'a str),
    /// A symbol as written, qualified ones included (`data/x`).
    Symbol(&'a str),
    /// `(…)`
    List(&'a [Form<'a>]),
    /// `[…]`
    Vector(&'a [Form<'a>]),
    /// `{…}`: keys and values in turn; always an even number.
    Map(&'a [Form<'a>]),
    /// `#{…}`
    Set(&'a [Form<'a>]),
    /// `#(…)`
    ShortFn(&'a [Form<'a>]),
    /// `'form`
    Quote(&'a Form<'a>),
    /// `#'name`
    VarRef(&'a str),
    /// A special form as the head of an expanded list; unlike a symbol, no local can shadow it.
    Special(Special),
    /// A builtin by its plain name, made by expansion or for `@`; no local or definition can shadow it.
    Builtin(&'static str),
}

/// The special forms, which the rest of the compiler knows; every other form is expanded into these.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Special {
    /// `(if test then else?)`
    If,
    /// `(do form…)`
    Do,
    /// `(let* [name value …] form…)`: plain names only.
    Let,
    /// `(loop* [name value …] form…)`: plain names only; the target of `recur`.
    Loop,
    /// `(recur value…)`
    Recur,
    /// `(fn* name? ([name… & rest?] form…)+)`: plain names only, one list per arity.
    Fn,
    /// `(def name "doc"? value)`, or `(def name)` from `declare`: the name exists, its value comes later.
    Def,
    /// `(defonce name "doc"? value)`
    DefOnce,
    /// `(and form…)`
    And,
    /// `(or form…)`
    Or,
    /// `(cond* test value … default?)`: flat, so that a long `cond` does not nest.
    Cond,
    /// `(quote form)`
    Quote,
    /// `(return value)`
    Return,
    /// `(fail value)`
    Fail,
    /// Core library only: `(%for [name coll] form…)` runs the body for each element.
    Each,
    /// Core library only: `(%set! name value)` assigns a local.
    Assign,
    /// Core library only: `(%exit value)` returns from the enclosing function.
    Exit,
    /// Core library only: `(%deliver value)` returns from the enclosing function to the instruction that needs the
    /// value, which need not be a call: see `Op::Deliver`.
    Deliver,
    /// `(try* (fn* ([] body…)) (fn* ([e] handler…)))` calls the first function, and with the exception the second.
    Try,
    /// `(throw exception)`
    Throw,
    /// `(%break)` leaves the innermost [`Special::Each`] of the same function; made by `:while`.
    Break,
}

impl Special {
    /// Returns its name in listings; names with a `*` or `%` cannot be written in programs.
    pub fn name(self) -> &'static str {
        match self {
            Special::If => "if",
            Special::Do => "do",
            Special::Let => "let*",
            Special::Loop => "loop*",
            Special::Recur => "recur",
            Special::Fn => "fn*",
            Special::Def => "def",
            Special::DefOnce => "defonce",
            Special::And => "and",
            Special::Or => "or",
            Special::Cond => "cond*",
            Special::Quote => "quote",
            Special::Return => "return",
            Special::Fail => "fail",
            Special::Each => "%for",
            Special::Assign => "%set!",
            Special::Exit => "%exit",
            Special::Deliver => "%deliver",
            Special::Try => "try*",
            Special::Throw => "throw",
            Special::Break => "%break",
        }
    }
}

impl<'a> Form<'a> {
    /// Makes a form of this kind at `span`.
    pub fn new(span: Span, kind: FormKind<'a>) -> Form<'a> {
        Form { span, kind }
    }

    /// Returns the name, if this is a symbol.
    pub(crate) fn as_symbol(&self) -> Option<&'a str> {
        if let FormKind::Symbol(name) = self.kind { Some(name) } else { None }
    }

    /// Returns the elements, if this is a list.
    pub(crate) fn as_list(&self) -> Option<&'a [Form<'a>]> {
        if let FormKind::List(items) = self.kind { Some(items) } else { None }
    }

    /// Returns the elements, if this is a vector.
    pub(crate) fn as_vector(&self) -> Option<&'a [Form<'a>]> {
        if let FormKind::Vector(items) = self.kind { Some(items) } else { None }
    }

    /// Returns its text, cut to fit a message.
    pub(crate) fn brief(&self) -> String {
        const MAX: usize = 60;
        let text = self.to_string();
        match text.char_indices().nth(MAX) {
            Some((at, _)) => format!("{}…(+{} chars)", &text[..at], text[at..].chars().count()),
            None => text,
        }
    }

    /// Returns its kind in the words of error messages.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            FormKind::Nil => "nil",
            FormKind::Bool(_) => "a boolean",
            FormKind::Int(_) | FormKind::BigInt(_) | FormKind::Float(_) => "a number",
            FormKind::Str(_) => "a string",
            FormKind::Keyword(_) => "a keyword",
            FormKind::Regex(_) => "a regex",
            FormKind::Inst(_) => "a date",
            FormKind::Symbol(_) | FormKind::Special(_) | FormKind::Builtin(_) => "a name",
            FormKind::List(_) => "a list",
            FormKind::Vector(_) => "a vector",
            FormKind::Map(_) => "a map",
            FormKind::Set(_) => "a set",
            FormKind::ShortFn(_) => "a function",
            FormKind::Quote(_) => "a quoted form",
            FormKind::VarRef(_) => "a var",
        }
    }
}

/// Prints a form so that reading it back gives the same form. Heads made by expansion cannot be read
/// back: specials print as [`Special::name`], builtins as `core/name`.
impl fmt::Display for Form<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FormKind::Nil => f.write_str("nil"),
            FormKind::Bool(b) => write!(f, "{b}"),
            FormKind::Int(n) => write!(f, "{n}"),
            FormKind::BigInt(digits) => f.write_str(digits),
            FormKind::Float(x) if x.is_nan() => f.write_str("##NaN"),
            FormKind::Float(x) if x.is_infinite() => f.write_str(if x > 0.0 { "##Inf" } else { "##-Inf" }),
            // `{:?}` is the shortest text that reads back, and always has a point or an exponent.
            FormKind::Float(x) => write!(f, "{x:?}"),
            FormKind::Str(text) => write_string(f, text),
            FormKind::Keyword(name) => write!(f, ":{name}"),
            FormKind::Regex(text) => write!(f, "#\"{text}\""),
            FormKind::Inst(text) => {
                f.write_str("#inst ")?;
                write_string(f, text)
            }
            FormKind::Symbol(name) => f.write_str(name),
            FormKind::List([Form { kind: FormKind::Builtin("deref"), .. }, form]) => write!(f, "@{form}"),
            FormKind::List(items) => write_items(f, "(", items, ")"),
            FormKind::Vector(items) => write_items(f, "[", items, "]"),
            FormKind::Map(items) => write_items(f, "{", items, "}"),
            FormKind::Set(items) => write_items(f, "#{", items, "}"),
            FormKind::ShortFn(items) => write_items(f, "#(", items, ")"),
            FormKind::Quote(form) => write!(f, "'{form}"),
            FormKind::VarRef(name) => write!(f, "#'{name}"),
            FormKind::Special(special) => f.write_str(special.name()),
            FormKind::Builtin(name) if name.starts_with('%') => f.write_str(name),
            FormKind::Builtin(name) => write!(f, "core/{name}"),
        }
    }
}

/// Splits `ns/name` at its first slash; None for plain names, `/` among them.
pub(crate) fn split_qualified(name: &str) -> Option<(&str, &str)> {
    // Names are short: a byte loop is quicker than setting up a search.
    let slash = name.bytes().position(|b| b == b'/')?;
    let (space, member) = (name.get(..slash)?, name.get(slash + 1..)?);
    (!space.is_empty() && !member.is_empty()).then_some((space, member))
}

fn write_items(f: &mut fmt::Formatter<'_>, open: &str, items: &[Form<'_>], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(" ")?;
        }
        write!(f, "{item}")?;
    }
    f.write_str(close)
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            // Invisible characters are escaped: the text reads back as the same, and hides nothing.
            c if is_hidden(c) => {
                c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04X}"))?;
            }
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
