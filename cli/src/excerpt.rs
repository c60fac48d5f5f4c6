//! A diagnostic on a terminal: the source around it, marked and in colour.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use ptc_bytecode::Diagnostic;
use ptc_bytecode::text::visible;

/// The diagnostic with an excerpt of `source`, which is called `name`.
pub fn render(diagnostic: &Diagnostic, source: &str, name: &str, colour: bool) -> String {
    let title = format!("{}: {}", diagnostic.code.reason(), visible(&diagnostic.message));
    let level = if diagnostic.code.is_warning() { Level::WARNING } else { Level::ERROR };
    let title = level.primary_title(title.as_str()).id(diagnostic.code.label());
    // A byte order mark is no character: the excerpt begins after it.
    let (skip, source) = source.strip_prefix('\u{feff}').map_or((0, source), |rest| (3, rest));
    let shown = visible(source);
    let range = |start: u32, end: u32| {
        let range = clip(source, (start as usize).saturating_sub(skip), (end as usize).saturating_sub(skip));
        // What is shown instead of a control character is longer.
        let at = |end: usize| visible(&source[..end]).len();
        at(range.start)..at(range.end)
    };
    let label = diagnostic.label.as_deref().map(visible);
    let hint = diagnostic.hint.as_deref().map(visible);
    let mut group = match diagnostic.span.map(|span| range(span.start, span.end)) {
        Some(range) => {
            let mark = AnnotationKind::Primary.span(range).label(label.as_deref());
            title.element(Snippet::source(&*shown).path(name).annotation(mark))
        }
        None => annotate_snippets::Group::with_title(title),
    };
    let calls = diagnostic.trace.as_ref().map(|trace| trace.lines(source).join("\n"));
    if let Some(calls) = calls.as_deref() {
        group = group.element(Level::NOTE.message(calls));
    }
    if let Some(hint) = hint.as_deref() {
        group = group.element(Level::HELP.message(hint));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group]) + "\n"
}

/// The range moved onto character boundaries inside `source`: a span from an artifact that was
/// compiled from another text must not take the report down with it.
fn clip(source: &str, start: usize, end: usize) -> std::ops::Range<usize> {
    let boundary = |mut at: usize| {
        at = at.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(start);
    start..boundary(end).max(start)
}

#[cfg(test)]
mod tests {
    use super::render;
    use ptc_bytecode::{Code, Diagnostic, Span};

    #[test]
    fn source_is_marked_and_the_hint_follows() {
        let d = Diagnostic::error(Code::UnboundVar, Span::new(1, 7), "`fliter` is not defined")
            .label("no such name")
            .suggest("filter");
        let text = render(&d, "(fliter odd? xs)", "a.clj", false);
        for part in [
            "error[E0208]: unbound_var: `fliter` is not defined",
            "a.clj:1:2",
            "^^^^^^ no such name",
            "`filter`",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(!text.contains('\u{1b}'));
        assert!(render(&d, "(fliter odd? xs)", "a.clj", true).contains('\u{1b}'));
    }

    #[test]
    fn source_cannot_steer_the_terminal() {
        let source = "\"\u{1b}]0;own\u{7}\u{9b}2J\u{202e}\" (fliter 1)";
        let start = source.find("fliter").unwrap();
        let d =
            Diagnostic::error(Code::UnboundVar, Span::new(start, start + 6), "`a\u{1b}[2J` is not defined")
                .hint("not \u{1b}c");
        for text in [render(&d, source, "a.clj", false), d.to_text(source)] {
            let raw = |c: char| c.is_control() && c != '\n';
            assert!(!text.contains(raw) && !text.contains('\u{202e}'), "{text:?}");
            assert!(text.contains("␛]0;own␇"), "{text}");
            // The mark stands below the name it marks.
            let column = |part: &str| {
                let line = text.lines().find(|line| line.contains(part)).unwrap();
                line[..line.find(part).unwrap()].chars().count()
            };
            assert_eq!(column("fliter"), column("^^^^^^"), "{text}");
        }
    }

    #[test]
    fn spans_that_do_not_fit_are_clipped() {
        for (start, end) in [(0, 0), (1, 2), (3, 900), (900, 901), (2, 1)] {
            let d = Diagnostic::error(Code::TypeError, Span::new(start, end), "no");
            assert!(render(&d, "é€\n", "a.clj", false).contains("type_error"));
            assert!(render(&d, "", "a.clj", false).contains("type_error"));
        }
    }
}
