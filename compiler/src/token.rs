//! Tokens: [`Raw`] is cut out of the text by logos, [`Token`] is the input of the grammar.
//!
//! The patterns are arranged so that a malformed word (`12ab`, `::a`, `café`) is cut out whole, as a separate variant,
//! and can be named in an error. `Raw::Other` matches any one character, so cutting never fails.

use crate::form::Form;
use logos::Logos;

/// A piece of text as cut by logos, not yet checked or decoded.
///
/// The patterns alone never take long runs of text: without optimisations, the generated code goes one call deeper for
/// every step between two of its states, so a long string or a word of non-ASCII characters would use up the stack. A
/// pattern only repeats a set of ASCII characters, which is a loop; functions take the rest of strings, words and
/// blanks.
///
/// In the patterns, `word` below means any run of ASCII characters that cannot end a token, and `wide` a character
/// outside ASCII, of which words of other variants have none.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip(r"[ \t\r\n,]+", blanks))]
#[logos(skip(r";", comment))]
#[logos(subpattern first = r"[A-Za-z+\-*/<>=?!_%.&$]")]
#[logos(subpattern rest = r"[A-Za-z0-9+\-*/<>=?!_%.&$']")]
#[logos(subpattern word = r##"[^\x00-\x20\x7f-\u{10ffff},()\[\]{}";@\^`~\\]"##)]
#[logos(subpattern wide = r"[^\x00-\x7f]")]
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
    #[regex(r"[+-]?\.?[0-9](?&word)*(?&wide)", word, priority = 15)]
    NumberLike,
    /// `##Inf` and anything similar.
    #[regex(r"##(?&word)*", priority = 15)]
    #[regex(r"##(?&word)*(?&wide)", word, priority = 15)]
    SpecialFloat,
    #[regex(r"(?&first)(?&rest)*", priority = 10)]
    Symbol,
    #[regex(r":[A-Za-z0-9+\-*<>=?!_/.'&%$#]+", priority = 10)]
    Keyword,
    #[regex(r"#'(?&first)(?&rest)*", priority = 10)]
    VarRef,
    #[token("\"", string)]
    Str,
    /// Made by the function of `Str`.
    StrUnclosed,
    #[token("#\"", regex)]
    Regex,
    /// Made by the function of `Regex`.
    RegexUnclosed,
    // A line break as a character ends at once, so that only texts go on from one line to the next.
    #[regex(r"\\([^\n\x80-\u{10ffff}](?&word)*|\n)", priority = 10)]
    #[regex(r"\\([^\n\x80-\u{10ffff}](?&word)*)?(?&wide)", word, priority = 10)]
    Char,
    #[token("@")]
    Deref,
    #[token("`")]
    SyntaxQuote,
    #[token("~")]
    #[token("~@")]
    Unquote,
    /// `#tag`, `#?`, `#=`, …
    #[regex(r##"#[^\x00-\x20\x7f-\u{10ffff},()\[\]{}";@\^`~\\_'#](?&word)*"##, priority = 5)]
    #[regex(r##"#([^\x00-\x20\x7f-\u{10ffff},()\[\]{}";@\^`~\\_'#](?&word)*)?(?&wide)"##, word, priority = 5)]
    Dispatch,
    /// A word that no other rule takes: `::a`, `a:b`, `x|y`, `café`.
    #[regex(r##"[^\x00-\x20\x7f-\u{10ffff},()\[\]{}";@\^`~\\'#](?&word)*"##, priority = 3)]
    #[regex(r##"([^\x00-\x20\x7f-\u{10ffff},()\[\]{}";@\^`~\\'#](?&word)*)?(?&wide)"##, word, priority = 3)]
    BadWord,
    #[regex(r"[\s\S]", priority = 0)]
    Other,
}

type Cutter<'a> = logos::Lexer<'a, Raw>;

/// Takes the comments and blanks after blanks. All of them are taken at once: the next token would be cut one call
/// deeper for each piece that is left.
fn blanks(lexer: &mut Cutter<'_>) {
    let rest = lexer.remainder().as_bytes();
    if rest.first() == Some(&b';') {
        lexer.bump(skipped(rest));
    }
}

/// Takes the rest of a comment, and the blanks and comments after it.
fn comment(lexer: &mut Cutter<'_>) {
    let rest = lexer.remainder().as_bytes();
    let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    lexer.bump(line + skipped(&rest[line..]));
}

/// Returns the length of the blanks and comments at the beginning of `text`.
fn skipped(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match text.get(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n' | b',') => at += 1,
            Some(b';') => at += memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at),
            _ => return at,
        }
    }
}

/// Takes the rest of a word, up to the first character that ends a token.
fn word(lexer: &mut Cutter<'_>) {
    let rest = lexer.remainder().as_bytes();
    let ends = |byte: &u8| *byte <= b' ' || *byte == 0x7f || b",()[]{}\";@^`~\\".contains(byte);
    lexer.bump(rest.iter().position(ends).unwrap_or(rest.len()));
}

fn string(lexer: &mut Cutter<'_>) -> Raw {
    if quoted(lexer) { Raw::Str } else { Raw::StrUnclosed }
}

fn regex(lexer: &mut Cutter<'_>) -> Raw {
    if quoted(lexer) { Raw::Regex } else { Raw::RegexUnclosed }
}

/// Takes text up to its closing quote, or all of it; true if there is one.
fn quoted(lexer: &mut Cutter<'_>) -> bool {
    let rest = lexer.remainder().as_bytes();
    let mut at = 0;
    while let Some(found) = rest.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        if rest[at + found] == b'"' {
            lexer.bump(at + found + 1);
            return true;
        }
        // After a backslash, a quote is text. The rest of a longer character is neither of the two.
        at += found + 2;
    }
    lexer.bump(rest.len());
    false
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

#[cfg(test)]
mod tests {
    use super::Raw;
    use logos::Logos;

    fn cut(text: &str) -> Vec<(Raw, &str)> {
        let mut lexer = Raw::lexer(text);
        let mut found = Vec::new();
        while let Some(raw) = lexer.next() {
            found.push((raw.unwrap_or(Raw::Other), lexer.slice()));
        }
        found
    }

    #[test]
    fn words_and_texts_are_cut_out_whole() {
        use Raw::{
            BadWord, Char, Dispatch, NumberLike, RegexUnclosed, SpecialFloat, Str, StrUnclosed, Symbol,
        };
        for (text, wanted) in [
            ("café(", vec![(BadWord, "café"), (Raw::ListOpen, "(")]),
            ("éa|b c", vec![(BadWord, "éa|b"), (Symbol, "c")]),
            ("日本 1é", vec![(BadWord, "日本"), (NumberLike, "1é")]),
            (".5é;c", vec![(NumberLike, ".5é")]),
            ("##é ##Infé", vec![(SpecialFloat, "##é"), (SpecialFloat, "##Infé")]),
            ("\\é \\aé \\éa", vec![(Char, "\\é"), (Char, "\\aé"), (Char, "\\éa")]),
            ("\\(é \\\n1", vec![(Char, "\\(é"), (Char, "\\\n"), (Raw::Int, "1")]),
            ("#é #?é #_é", vec![(Dispatch, "#é"), (Dispatch, "#?é"), (Raw::Discard, "#_"), (BadWord, "é")]),
            ("\"é\\\"\" \"a\\", vec![(Str, "\"é\\\"\""), (StrUnclosed, "\"a\\")]),
            ("#\"\\é", vec![(RegexUnclosed, "#\"\\é")]),
            (" ;c\n;d\n ,;;é\r\n\tx ;", vec![(Symbol, "x")]),
        ] {
            assert_eq!(cut(text), wanted, "{text}");
        }
    }

    /// A thread of a test has 2 MB of stack. Each of these took a call for each character in builds without
    /// optimisations.
    #[test]
    fn long_runs_take_no_stack() {
        let long = 480_000;
        for (text, tokens) in [
            (format!("\"{}\"", "é".repeat(long)), 1),
            (format!("#\"{}", "\\n".repeat(long)), 1),
            ("日".repeat(long), 1),
            (format!(":a{}", "|é".repeat(long)), 1),
            (format!("\\{}", "é".repeat(long)), 1),
            (format!("#{}", "é".repeat(long)), 1),
            (format!("1{}", "é".repeat(long)), 1),
            (format!("##{}", "é".repeat(long)), 1),
            (format!("; {}", "é".repeat(long)), 0),
            (" ;\n,".repeat(long), 0),
            ("a'b#c:d|".repeat(long), 1),
        ] {
            assert_eq!(cut(&text).len(), tokens, "{}", text.chars().take(8).collect::<String>());
        }
    }
}
