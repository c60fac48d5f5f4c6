//! Tokens as text, for the snapshots that show what the reader sees.

use crate::lexer::Lexer;
use crate::meter::Meter;
use crate::token::Token;
use bumpalo::Bump;
use ptc_bytecode::{Diagnostic, Limits, Span};

/// What the grammar is given for `source`: each token's place and name, closers that the lexer made
/// up included; then what the lexer complained about.
#[doc(hidden)]
pub fn tokens(source: &str, limits: &Limits) -> (Vec<(Span, String)>, Vec<Diagnostic>) {
    let arena = Bump::new();
    let meter = Meter::new(limits, &|| false);
    let mut lexer = Lexer::new(source, &arena, limits, &meter);
    let found = lexer.by_ref().map_while(Result::ok);
    let found = found.map(|(start, token, end)| (Span { start, end }, show(token))).collect();
    (found, lexer.errors)
}

fn show(token: Token<'_>) -> String {
    match token {
        Token::Atom(form) => format!("{} {form}", form.kind_name()),
        // It takes its form out of the tree as `#_` does.
        Token::Meta => format!("{:?}", Token::Drop),
        other => format!("{other:?}"),
    }
}
