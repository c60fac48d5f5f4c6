//! PTC-Lisp in colour: what is typed and what is answered, by the same rules.

use nu_ansi_term::{Color, Style};
use ptc_bytecode::FORMS;
use ptc_compiler::{Piece, PieceKind};

/// Style of a piece of text.
pub fn style(piece: &Piece, text: &str) -> Style {
    match piece.kind {
        PieceKind::Keyword => Color::Cyan.normal(),
        PieceKind::Number => Color::Blue.normal(),
        PieceKind::Text | PieceKind::Char => Color::Green.normal(),
        PieceKind::Pattern => Color::Yellow.normal(),
        PieceKind::Constant => Color::Purple.normal(),
        PieceKind::Comment => Color::DarkGray.italic(),
        PieceKind::Prefix => Color::DarkGray.normal(),
        PieceKind::Symbol if FORMS.iter().any(|form| form.name == piece.span.text(text)) => {
            Style::new().bold()
        }
        PieceKind::Symbol | PieceKind::Open | PieceKind::Close => Style::new(),
        PieceKind::Other => Color::Red.normal(),
    }
}

/// Text that stands beside what was asked for.
pub fn aside(text: &str, colour: bool) -> String {
    styled(text, Color::DarkGray.normal(), colour)
}

/// A name or a heading.
pub fn strong(text: &str, colour: bool) -> String {
    styled(text, Style::new().bold(), colour)
}

/// Text in a style, if there are colours.
pub fn styled(text: &str, style: Style, colour: bool) -> String {
    if colour && style != Style::new() { style.paint(text).to_string() } else { text.to_string() }
}
