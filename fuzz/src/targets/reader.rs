//! Text → forms.

use crate::kit::{LIMITS, corpus, files, texts};
use bumpalo::Bump;
use ptc_bytecode::Limits;
use ptc_compiler::{Form, FormKind, Reading, outline, parse, pieces};

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    check_pieces(text);
    check_reading(text);
    let _ = ptc_compiler::tokens(text, &LIMITS);
    for definition in outline(text, &LIMITS) {
        assert!(text.get(definition.span.start as usize..definition.span.end as usize).is_some());
    }
    let arena = Bump::new();
    match parse(text, &arena, &LIMITS) {
        Ok(forms) => check_forms(text, forms),
        Err(problems) => {
            assert!((1..=10).contains(&problems.len()), "{} problems", problems.len());
            for problem in problems {
                let shown = problem.to_text(text);
                assert!(shown.len() < 4_000, "{shown}");
                if let Some(span) = problem.span {
                    assert!(text.get(span.start as usize..span.end as usize).is_some(), "{problem:?}");
                }
            }
        }
    }
}

/// Checks that printed forms read back as equal forms, and that all spans are right.
fn check_forms(text: &str, forms: &[Form<'_>]) {
    let printed: Vec<String> = forms.iter().map(ToString::to_string).collect();
    let printed = printed.join("\n");
    // The printed text may be too long to read.
    if printed.len() as u64 > LIMITS.source_bytes {
        return;
    }
    let arena = Bump::new();
    // Numbers in another base get more digits.
    let limits = Limits { digits: 5 * LIMITS.digits, ..LIMITS };
    let again = parse(&printed, &arena, &limits);
    let again = again.unwrap_or_else(|problems| panic!("{text:?} prints as {printed:?}: {problems:?}"));
    assert_eq!(forms.len(), again.len(), "{text:?} prints as {printed:?}");
    let mut waiting: Vec<(Form<'_>, Form<'_>)> = forms.iter().copied().zip(again.iter().copied()).collect();
    while let Some((form, other)) = waiting.pop() {
        let (start, end) = (form.span.start as usize, form.span.end as usize);
        assert!(text.get(start..end).is_some_and(|text| !text.is_empty()), "{form:?} of {text:?}");
        match (form.kind, other.kind) {
            (FormKind::List(a), FormKind::List(b))
            | (FormKind::Vector(a), FormKind::Vector(b))
            | (FormKind::Map(a), FormKind::Map(b))
            | (FormKind::Set(a), FormKind::Set(b))
            | (FormKind::ShortFn(a), FormKind::ShortFn(b)) => {
                assert_eq!(a.len(), b.len(), "{form} and {other}");
                waiting.extend(a.iter().copied().zip(b.iter().copied()));
            }
            (FormKind::Quote(a), FormKind::Quote(b)) => waiting.push((*a, *b)),
            (a, b) => {
                assert_eq!(std::mem::discriminant(&a), std::mem::discriminant(&b), "{form} and {other}");
                assert_eq!(form.to_string(), other.to_string());
            }
        }
    }
}

fn check_pieces(text: &str) {
    let is_blank =
        |gap: Option<&str>| gap.is_some_and(|gap| gap.chars().all(|c| c.is_whitespace() || c == ','));
    let mut end = 0;
    for piece in pieces(text) {
        let (from, to) = (piece.span.start as usize, piece.span.end as usize);
        assert!(to > from && is_blank(text.get(end..from)), "{piece:?} of {text:?}");
        end = to;
    }
    assert!(is_blank(text.get(end..)), "the end of {text:?}");
}

/// Checks that reading a text line by line gives the result of reading it as a whole.
fn check_reading(text: &str) {
    let mut whole = Reading::new();
    whole.push(text);
    let mut lines = Reading::new();
    text.split_inclusive('\n').for_each(|line| lines.push(line));
    let told = |reading: &Reading| (reading.is_unfinished(), reading.is_quoted(), reading.innermost());
    assert_eq!(told(&whole), told(&lines), "{text:?}");
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = corpus();
    seeds.extend(files("preludes/core", ".clj"));
    seeds.extend(files("examples", ".clj"));
    seeds.extend(texts(&[
        "#inst \"2024-01-01\" #'x '(a . b) #_ x ^{:a 1} y \\newline \\u00e9 ##Inf -0.0 1e5 0x1F 1/2 12N 1.5M",
        "\"\\u0041\\n\\\"\" #\"a\\d+\\\"\" :a/b ::c %1 %& @x `y ~z",
        "(((((((((([{#{'()}}]))))))))))",
    ]));
    seeds
}
