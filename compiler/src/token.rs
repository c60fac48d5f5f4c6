//! Tokens: [`Raw`] is cut out of the text by logos, [`Token`] is the input of the grammar.
//!
//! The patterns are arranged so that a malformed word (`12ab`, `::a`, `café`) is cut out whole, as a separate variant,
//! and can be named in an error. `Raw::Other` matches any one character, so cutting never fails.

use crate::form::Form;
use logos::Logos;

/// A piece of text as cut by logos, not yet checked or decoded.
///
/// In the patterns, `word` below means any run of characters that cannot end a token.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n,]+")]
#[logos(skip(r";[^\n]*", allow_greedy = true))]
#[logos(subpattern first = r"[A-Za-z+\-*/<>=?!_%.&$]")]
#[logos(subpattern rest = r"[A-Za-z0-9+\-*/<>=?!_%.&$']")]
#[logos(subpattern word = r##"[^\x00-\x20\x7f,()\[\]{}";@\^`~\\]"##)]
pub(crate) enum Raw {
    #[token("(")]
    ListOpen,
    #[token("[")]
    VectorOpen,
    #[token("{")]
    MapOpen,
    #[token("#{")]
    SetOpen,
    #[token("#(")]
    FnOpen,
    #[token(")")]
    ListClose,
    #[token("]")]
    VectorClose,
    #[token("}")]
    MapClose,
    #[token("'")]
    Quote,
    #[token("#_")]
    Discard,
    #[token("^")]
    Meta,
    #[token("#inst", priority = 20)]
    Inst,
    #[token("nil", priority = 20)]
    Nil,
    #[token("true", priority = 20)]
    True,
    #[token("false", priority = 20)]
    False,
    #[regex(r"[+-]?[0-9]+", priority = 20)]
    Int,
    #[regex(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?", priority = 19)]
    Float,
    /// Starts like a number: a radix form, or an error.
    #[regex(r"[+-]?\.?[0-9](?&word)*", priority = 15)]
    NumberLike,
    /// `##Inf` and anything similar.
    #[regex(r"##(?&word)*", priority = 15)]
    SpecialFloat,
    #[regex(r"(?&first)(?&rest)*", priority = 10)]
    Symbol,
    #[regex(r":[A-Za-z0-9+\-*<>=?!_/.'&%$#]+", priority = 10)]
    Keyword,
    #[regex(r"#'(?&first)(?&rest)*", priority = 10)]
    VarRef,
    #[regex(r#""([^"\\]|\\[\s\S])*""#)]
    Str,
    #[regex(r#""([^"\\]|\\[\s\S])*\\?"#, priority = 1)]
    StrUnclosed,
    #[regex(r##"#"([^"\\]|\\[\s\S])*""##)]
    Regex,
    #[regex(r##"#"([^"\\]|\\[\s\S])*\\?"##, priority = 1)]
    RegexUnclosed,
    // A line break as a character ends at once, so that only texts go on from one line to the next.
    #[regex(r"\\([^\n](?&word)*|\n)", priority = 10)]
    Char,
    #[token("@")]
    Deref,
    #[token("`")]
    SyntaxQuote,
    #[token("~")]
    #[token("~@")]
    Unquote,
    /// `#tag`, `#?`, `#=`, …
    #[regex(r##"#[^\x00-\x20\x7f,()\[\]{}";@\^`~\\_'#](?&word)*"##, priority = 5)]
    Dispatch,
    /// A word that no other rule takes: `::a`, `a:b`, `x|y`, `café`.
    #[regex(r##"[^\x00-\x20\x7f,()\[\]{}";@\^`~\\'#](?&word)*"##, priority = 3)]
    BadWord,
    #[regex(r"[\s\S]", priority = 0)]
    Other,
}

/// An input token of the grammar. Brackets always balance: the lexer ensures it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token<'a> {
    /// A whole form in one token: a literal or a name. Held by reference, since moving the form itself through the
    /// parser's stack took half of its time.
    Atom(&'a Form<'a>),
    ListOpen,
    VectorOpen,
    MapOpen,
    SetOpen,
    FnOpen,
    ListClose,
    VectorClose,
    MapClose,
    Quote,
    /// `#_`: the next form is read and dropped.
    Drop,
    /// `^`: the next form is kept beside the tree, for preludes.
    Meta,
    Inst,
    /// `@`: reads the next form's atom.
    Deref,
}
