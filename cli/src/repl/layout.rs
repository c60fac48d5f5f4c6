//! A printed value on lines that fit the terminal. Nothing here recurses: values nest as deep as they
//! like.

use super::paint;
use ptc_compiler::{Piece, PieceKind, pieces};

/// Style in which values are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// In colour.
    pub colour: bool,
    /// Broken into lines of about this many characters and cut when there are too many; None: as it is.
    pub width: Option<usize>,
    /// Errors with an excerpt, and whether that is in colour; None: as compact text.
    pub excerpts: Option<bool>,
}

impl Look {
    /// As programs want it: no colours, every value whole and on one line.
    pub const PLAIN: Look = Look { colour: false, width: None, excerpts: None };
}

/// A collection that is written over several lines.
struct Open {
    /// Column at which its elements begin.
    indent: usize,
    /// True if keys and values alternate.
    is_map: bool,
    /// Elements follow each other on a line as long as they fit: all are short.
    fills: bool,
    /// Elements so far.
    count: usize,
}

/// A printed value over as many lines as it needs; `start` characters stand before it on its line.
pub fn lay_out(text: &str, start: usize, look: Look) -> String {
    let found = pieces(text);
    let Ahead { ends, closers, next_open } = look_ahead(&found);
    let mut out = Writer { text, out: String::with_capacity(text.len()), column: start, colour: look.colour };
    let Some(width) = look.width else {
        out.flat(&found);
        return out.out;
    };
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(piece) = found.get(at) {
        let end = ends[at];
        // Closing brackets that follow belong on the same line.
        let size = out.width(&found[at..end]) + closers[end];
        if piece.kind == PieceKind::Close {
            out.piece(piece);
            open.pop();
            at += 1;
            continue;
        }
        if let Some(inside) = open.last_mut() {
            let is_value = inside.is_map && inside.count % 2 == 1;
            let stays = is_value || (inside.fills && out.column + 1 + size <= width);
            match inside.count {
                0 => {}
                _ if stays => out.blank(),
                _ => out.line(inside.indent),
            }
            inside.count += 1;
        }
        if piece.kind == PieceKind::Open && out.column + size > width && end > at + 1 {
            out.piece(piece);
            open.push(Open {
                indent: out.column,
                is_map: piece.span.text(text) == "{",
                fills: next_open[at + 1] >= end,
                count: 0,
            });
            at += 1;
        } else {
            out.flat(&found[at..end]);
            at = end;
        }
    }
    out.out
}

/// Facts about a text before it is written, for each piece and the end.
struct Ahead {
    /// The index after the form that begins here.
    ends: Vec<usize>,
    /// Number of closing brackets in a row here.
    closers: Vec<usize>,
    /// The next opening bracket.
    next_open: Vec<usize>,
}

fn look_ahead(found: &[Piece]) -> Ahead {
    let mut ends: Vec<usize> = (1..=found.len()).collect();
    let mut open = Vec::new();
    for (at, piece) in found.iter().enumerate() {
        match piece.kind {
            PieceKind::Open => open.push(at),
            PieceKind::Close => {
                if let Some(opened) = open.pop() {
                    ends[opened] = at + 1;
                }
            }
            _ => {}
        }
    }
    // A text that was cut: an open form extends to its end.
    open.into_iter().for_each(|at| ends[at] = found.len());
    let mut closers = vec![0; found.len() + 1];
    let mut next_open = vec![found.len(); found.len() + 1];
    for (at, piece) in found.iter().enumerate().rev() {
        next_open[at] = next_open[at + 1];
        match piece.kind {
            PieceKind::Close => closers[at] = closers[at + 1] + 1,
            PieceKind::Open => next_open[at] = at,
            // `#inst "…"` and `#fn[…]` are one.
            PieceKind::Prefix | PieceKind::Other => {
                let next = found.get(at + 1).filter(|next| next.kind != PieceKind::Close);
                let touches = |next: &Piece| next.span.start == piece.span.end;
                if next.is_some_and(|next| piece.kind == PieceKind::Prefix || touches(next)) {
                    ends[at] = ends[at + 1];
                }
            }
            _ => {}
        }
    }
    Ahead { ends, closers, next_open }
}

struct Writer<'t> {
    text: &'t str,
    out: String,
    column: usize,
    colour: bool,
}

impl Writer<'_> {
    fn piece(&mut self, piece: &Piece) {
        let text = piece.span.text(self.text);
        self.out.push_str(&paint::styled(text, paint::style(piece, self.text), self.colour));
        self.column += text.chars().count();
    }

    /// Pieces as they stand in the text.
    fn flat(&mut self, pieces: &[Piece]) {
        let mut end = None;
        for piece in pieces {
            if let Some(end) = end {
                let gap = self.text.get(end..piece.span.start as usize).unwrap_or("");
                self.out.push_str(gap);
                self.column += gap.chars().count();
            }
            self.piece(piece);
            end = Some(piece.span.end as usize);
        }
    }

    fn width(&self, pieces: &[Piece]) -> usize {
        match pieces {
            [first, .., last] => last.span.end.saturating_sub(first.span.start) as usize,
            [only] => only.span.text(self.text).chars().count(),
            [] => 0,
        }
    }

    fn blank(&mut self) {
        self.out.push(' ');
        self.column += 1;
    }

    fn line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }
}

#[cfg(test)]
mod tests {
    use super::{Look, lay_out};

    fn laid_out(text: &str, width: usize) -> String {
        lay_out(text, 0, Look { width: Some(width), ..Look::PLAIN })
    }

    #[test]
    fn what_fits_stays_on_a_line() {
        for text in ["42", "[1 2 {:a 1}]", "#fn[x]", "\"a b\"", "#{1 2}", "{}", "#inst \"2024-05-01\""] {
            assert_eq!(laid_out(text, 80), text);
            assert_eq!(lay_out(text, 0, Look::PLAIN), text);
        }
    }

    #[test]
    fn maps_break_by_entry_and_numbers_fill() {
        assert_eq!(
            laid_out("{:id 1 :tags [\"a\" \"b\"] :name \"Ada Lovelace\"}", 24),
            "{:id 1\n :tags [\"a\" \"b\"]\n :name \"Ada Lovelace\"}"
        );
        assert_eq!(laid_out("[1 2 3 4 5 6 7 8 9]", 9), "[1 2 3 4\n 5 6 7 8\n 9]");
        assert_eq!(laid_out("[{:a 1} {:a 2}]", 10), "[{:a 1}\n {:a 2}]");
        assert_eq!(laid_out("{:rows [{:n 1} {:n 2}]}", 15), "{:rows [{:n 1}\n        {:n 2}]}");
    }

    #[test]
    fn nothing_is_lost_or_added_but_line_ends() {
        for text in [
            "{:a [1 2 [3 4 #{5}]] \"k\" {:b nil :c #fn[x]} :d #inst \"2024-05-01T00:00:00Z\"}",
            "[[[[[1 2]]]] {:k 'sym} #\"re[\"]",
            "[1 2 {:cut [3 \"unfin",
            "]]",
        ] {
            for width in [1, 5, 20, 200] {
                let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(words(&laid_out(text, width)), words(text), "{width}");
            }
        }
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(laid_out(&deep, 0).split_whitespace().collect::<String>(), deep);
    }

    #[test]
    fn colours_only_when_wanted() {
        let look = Look { colour: true, ..Look::PLAIN };
        assert!(lay_out("{:a 1}", 0, look).contains("\u{1b}[36m:a\u{1b}[0m"));
    }
}
