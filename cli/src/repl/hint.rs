//! Hints behind the cursor: the rest of an earlier input that began so, or else the arguments of the
//! call that is being written.

use super::candidates::Names;
use super::keys::Shared;
use nu_ansi_term::Color;
use ptc_compiler::{PieceKind, pieces};
use reedline::{DefaultHinter, Hinter, History};

/// Both kinds.
pub struct Hints {
    names: Shared<Names>,
    earlier: DefaultHinter,
}

impl Hints {
    pub fn new(names: Shared<Names>) -> Hints {
        let earlier = DefaultHinter::default().with_style(Color::DarkGray.normal()).with_min_chars(2);
        Hints { names, earlier }
    }
}

impl Hinter for Hints {
    fn handle(&mut self, line: &str, pos: usize, history: &dyn History, colour: bool, cwd: &str) -> String {
        let earlier = self.earlier.handle(line, pos, history, colour, cwd);
        // Without colours nobody could tell the arguments from what was typed.
        if !earlier.is_empty() || !colour {
            return earlier;
        }
        let wanted =
            self.names.read(|names| arguments(line, |name| names.signature(name).map(str::to_string)));
        wanted.map_or(String::new(), |text| Color::DarkGray.italic().paint(text).to_string())
    }

    fn complete_hint(&self) -> String {
        self.earlier.complete_hint()
    }

    fn next_hint_token(&self) -> String {
        self.earlier.next_hint_token()
    }
}

/// The arguments that are still to come of the call at the end of a text.
fn arguments(line: &str, signature: impl Fn(&str) -> Option<String>) -> Option<String> {
    // Only where a new argument would begin.
    if !line.ends_with(' ') {
        return None;
    }
    let (name, given) = open_call(line)?;
    let signature = signature(name)?;
    let inner = signature.strip_prefix('(')?.strip_suffix(')')?;
    let params: Vec<&str> = inner.split_whitespace().skip(1).collect();
    let rest = params.iter().position(|param| *param == "&");
    let from = given.min(rest.unwrap_or(params.len()));
    let text = params[from..].join(" ");
    (!text.is_empty()).then_some(text)
}

/// The function whose call is open at the end of a text.
pub fn called(text: &str) -> Option<&str> {
    open_call(text).map(|(name, _)| name).filter(|name| *name != "(")
}

/// The head of the innermost open bracket at the end of a text, which is the bracket itself if there is
/// no name after it, and how many forms follow.
fn open_call(line: &str) -> Option<(&str, usize)> {
    let mut calls: Vec<(&str, usize)> = Vec::new();
    for piece in pieces(line) {
        let text = piece.span.text(line);
        match piece.kind {
            PieceKind::Comment => return None,
            PieceKind::Open => {
                if let Some((_, count)) = calls.last_mut() {
                    *count += 1;
                }
                calls.push((text, 0));
            }
            PieceKind::Close => drop(calls.pop()),
            PieceKind::Prefix => {}
            _ => match calls.last_mut() {
                Some((head @ "(", _)) if piece.kind == PieceKind::Symbol => *head = text,
                Some((_, count)) => *count += 1,
                None => {}
            },
        }
    }
    calls.pop()
}

#[cfg(test)]
mod tests {
    use super::{arguments, called};

    fn hint(line: &str) -> Option<String> {
        arguments(line, |name| {
            let known = ["(join a b)", "(str & more)", "(conj a & more)", "(f)"];
            known.iter().find(|call| call[1..].split([' ', ')']).next() == Some(name)).map(|s| s.to_string())
        })
    }

    #[test]
    fn arguments_still_to_come() {
        for (line, wanted) in [
            ("(join ", Some("a b")),
            ("(join \", \" ", Some("b")),
            ("(join \", \" [1 2] ", None),
            ("(str 1 2 ", Some("& more")),
            ("(conj [] ", Some("& more")),
            ("(x (join ", Some("a b")),
            ("(join (x 1) ", Some("b")),
            ("(join", None),
            ("(f ", None),
            ("(nope ", None),
            ("1 ", None),
            ("[join ", None),
            ("(join ; c ", None),
            ("((join ", Some("a b")),
        ] {
            assert_eq!(hint(line).as_deref(), wanted, "{line}");
        }
    }

    #[test]
    fn the_function_around_the_cursor() {
        assert_eq!(called("(map (fn [x] "), Some("fn"));
        assert_eq!(called("(map inc "), Some("map"));
        assert_eq!((called("1 "), called("("), called("(a) ")), (None, None, None));
    }
}
