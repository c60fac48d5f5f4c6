//! Which bracket belongs to which.

use ptc_compiler::{Piece, PieceKind};

/// For each piece that is a bracket, the index of the other one; None for one that has none or does not
/// fit.
pub fn pairs(pieces: &[Piece], text: &str) -> Vec<Option<usize>> {
    let mut pairs = vec![None; pieces.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece.kind {
            PieceKind::Open => open.push(at),
            PieceKind::Close => {
                let Some(opened) = open.pop() else { continue };
                if fits(pieces[opened].span.text(text), piece.span.text(text)) {
                    pairs[at] = Some(opened);
                    pairs[opened] = Some(at);
                }
            }
            _ => {}
        }
    }
    pairs
}

fn fits(open: &str, close: &str) -> bool {
    let wanted = match open {
        "[" => "]",
        "{" | "#{" => "}",
        _ => ")",
    };
    wanted == close
}

/// The bracket to show with its partner for a cursor here: the one under it, or else the one before it.
pub fn at_cursor(pieces: &[Piece], cursor: usize) -> Option<usize> {
    let is_bracket = |piece: &Piece| matches!(piece.kind, PieceKind::Open | PieceKind::Close);
    let under = |piece: &Piece| piece.span.start as usize == cursor;
    let before = |piece: &Piece| piece.span.end as usize == cursor && piece.kind == PieceKind::Close;
    let find =
        |wanted: &dyn Fn(&Piece) -> bool| pieces.iter().position(|piece| is_bracket(piece) && wanted(piece));
    find(&under).or_else(|| find(&before))
}

#[cfg(test)]
mod tests {
    use super::{at_cursor, pairs};
    use ptc_compiler::pieces;

    #[test]
    fn brackets_find_their_partners() {
        let text = "(a [b] #{c} #(d))";
        let found = pieces(text);
        let partner = |cursor| {
            let at = at_cursor(&found, cursor)?;
            pairs(&found, text)[at].map(|other| found[other].span.start)
        };
        assert_eq!(partner(0), Some(16));
        assert_eq!(partner(17), Some(0));
        assert_eq!(partner(3), Some(5));
        assert_eq!(partner(7), Some(10));
        assert_eq!(partner(12), Some(15));
        assert_eq!(partner(1), None);
    }

    #[test]
    fn those_that_do_not_fit_have_none() {
        let text = "(] ) (";
        assert!(pairs(&pieces(text), text).iter().all(Option::is_none));
    }
}
