//! Tokens as text, for snapshots of the lexer's output.

use crate::lexer::Lexer;
use crate::meter::Meter;
use crate::token::Token;
use bumpalo::Bump;
use ptc_bytecode::{Diagnostic, Limits, Span};

/// Returns the tokens of `source` for the grammar, each with its place and name, inserted closers included; then
/// the errors of the lexer.
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
        // It drops its form from the tree, like `#_`.
        Token::Meta => format!("{:?}", Token::Drop),
        other => format!("{other:?}"),
    }
}
