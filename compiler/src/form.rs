//! The syntax tree: what the reader saw, with a span on every node and nothing resolved yet.
//!
//! Forms live in a bump arena for the length of one compilation, so they are `Copy` and
//! rewriting is cheap.

use ptc_bytecode::Span;

/// One node of the syntax tree.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    /// Where it stands in the source. Forms made by expansion carry the span of what they came from.
    pub span: Span,
    /// What it is.
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
    /// A builtin by its plain name, made by expansion; no local or definition can shadow it.
    Builtin(&'static str),
}

/// The forms the rest of the compiler knows; every other form is expanded into these.
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
    /// `(def name "doc"? value)`
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
}
