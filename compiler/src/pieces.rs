//! Pieces of text by kind, for editors and coloured output. Every byte that is not blank belongs to one piece, even in
//! a text with errors.

use crate::token::Raw;
use logos::Logos;
use ptc_bytecode::Span;

/// A piece of text with its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Place in the text.
    pub span: Span,
    /// Kind of the piece.
    pub kind: PieceKind,
}

/// The kind of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PieceKind {
    /// `(`, `[`, `{`, `#{` or `#(`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// A mark that belongs to the form after it: `'`, `#_`, `^`, `#inst`.
    Prefix,
    /// `nil`, `true` or `false`.
    Constant,
    /// A number.
    Number,
    /// A name.
    Symbol,
    /// A keyword.
    Keyword,
    /// A string, perhaps unclosed.
    Text,
    /// A regular expression, perhaps unclosed.
    Pattern,
    /// A character.
    Char,
    /// A comment, up to the end of its line.
    Comment,
    /// Any other text.
    Other,
}

/// Cuts a text into its pieces, in order.
///
/// ```
/// use ptc_compiler::{PieceKind, pieces};
/// let text = "(inc 1) ; one";
/// let kinds: Vec<PieceKind> = pieces(text).iter().map(|piece| piece.kind).collect();
/// use PieceKind::{Close, Comment, Number, Open, Symbol};
/// assert_eq!(kinds, [Open, Symbol, Number, Close, Comment]);
/// assert_eq!(pieces(text)[4].span.text(text), "; one");
/// ```
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut lexer = Raw::lexer(text);
    let mut end = 0;
    while let Some(raw) = lexer.next() {
        let span = lexer.span();
        comments(text, end, span.start, &mut found);
        end = span.end;
        found.push(Piece { span: Span::new(span.start, span.end), kind: kind(raw.unwrap_or(Raw::Other)) });
    }
    comments(text, end, text.len(), &mut found);
    found
}

/// Adds the comments between two tokens, where all other text is blank.
fn comments(text: &str, start: usize, end: usize, found: &mut Vec<Piece>) {
    let mut at = start;
    while let Some(comment) = text.get(at..end).and_then(|gap| gap.find(';')) {
        let from = at + comment;
        at = text[from..end].find('\n').map_or(end, |len| from + len);
        found.push(Piece { span: Span::new(from, at), kind: PieceKind::Comment });
    }
}

fn kind(raw: Raw) -> PieceKind {
    match raw {
        Raw::ListOpen | Raw::VectorOpen | Raw::MapOpen | Raw::SetOpen | Raw::FnOpen => PieceKind::Open,
        Raw::ListClose | Raw::VectorClose | Raw::MapClose => PieceKind::Close,
        Raw::Quote | Raw::Discard | Raw::Meta | Raw::Inst | Raw::Deref => PieceKind::Prefix,
        Raw::Nil | Raw::True | Raw::False => PieceKind::Constant,
        Raw::Int | Raw::Float | Raw::NumberLike | Raw::SpecialFloat => PieceKind::Number,
        Raw::Symbol | Raw::VarRef => PieceKind::Symbol,
        Raw::Keyword => PieceKind::Keyword,
        Raw::Str | Raw::StrUnclosed => PieceKind::Text,
        Raw::Regex | Raw::RegexUnclosed => PieceKind::Pattern,
        Raw::Char => PieceKind::Char,
        Raw::SyntaxQuote | Raw::Unquote | Raw::Dispatch | Raw::BadWord | Raw::Other => PieceKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::pieces;

    /// Text between two pieces is blank, and every piece is on character boundaries.
    #[test]
    fn no_byte_is_lost() {
        for text in [
            "",
            "  ,\n",
            "(defn f \"doc\" [x] ; one ; two\n  #_y {:a #{1.5} 'b \\c #\"r\\\"\"})",
            "\"open ; no comment",
            ";; only\n; comments",
            "café @x `~y #? ##Inf \u{1}🦀 ::a \\",
            "#\"open [",
        ] {
            let mut end = 0;
            for piece in pieces(text) {
                let (from, to) = (piece.span.start as usize, piece.span.end as usize);
                assert!(from >= end && to > from, "{text}: {piece:?}");
                assert!(text[end..from].chars().all(|c| c.is_whitespace() || c == ','), "{text}: {piece:?}");
                end = to;
            }
            assert!(text[end..].chars().all(|c| c.is_whitespace() || c == ','), "{text}");
        }
    }
}
