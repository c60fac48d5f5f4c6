//! Formatting keeps the meaning of every program in the repository, and formatting again changes nothing.

use ptc_bytecode::Limits;
use ptc_compiler::{format, tokens};
use ptc_snapshots::conformance::cases;
use ptc_snapshots::mistakes::generated;
use ptc_snapshots::runtime;
use std::path::Path;

fn limits() -> Limits {
    Limits { nesting: 256, source_bytes: 16 << 20, symbols: 1_000_000, ..Limits::default() }
}

/// Returns the tokens of a text as the reader sees them.
fn read(text: &str) -> Vec<String> {
    tokens(text, &limits()).0.into_iter().map(|(_, token)| token).collect()
}

/// Returns all comments of a text.
fn comments(text: &str) -> Vec<&str> {
    let pieces = ptc_compiler::pieces(text).into_iter();
    let comments = pieces.filter(|piece| piece.kind == ptc_compiler::PieceKind::Comment);
    comments.map(|piece| piece.span.text(text).trim_end()).collect()
}

/// Checks the formatting of a text; returns whether it could be formatted.
fn check(name: &str, text: &str) -> bool {
    let Ok(formatted) = format(text, &limits()) else { return false };
    assert_eq!(read(&formatted), read(text), "{name}: another program\n{formatted}");
    assert_eq!(comments(&formatted), comments(text), "{name}: other comments\n{formatted}");
    let again = format(&formatted, &limits()).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    assert_eq!(again, formatted, "{name}: a second run changes it");
    assert!(!formatted.lines().any(|line| line.ends_with([' ', '\t']) && !line.contains('"')), "{name}");
    true
}

#[test]
fn programs_keep_their_meaning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".clj") {
                let text = std::fs::read_to_string(&path).expect("text");
                // Programs for real Clojure use syntax that our reader does not support.
                let is_ours = !path.to_string_lossy().contains("clojure");
                assert!(
                    check(&name, &text) || !is_ours || path.to_string_lossy().contains("bad_input"),
                    "{name}"
                );
                files += 1;
            }
        }
    }
    assert!(files > 60, "{files} files");
    let corpus = cases();
    let formatted = corpus.iter().filter(|case| check(&case.id, &case.program)).count();
    assert!(formatted * 100 > corpus.len() * 95, "{formatted} of {}", corpus.len());
    for right in generated(&runtime(), 300) {
        assert!(check(&right.name, &right.program), "{}", right.program);
    }
}

/// Checks that line breaks, blanks and commas of the input do not affect the output.
#[test]
fn there_is_one_layout() {
    for case in cases() {
        let Ok(formatted) = format(&case.program, &limits()) else { continue };
        let has_kept_lines = case.program.contains(['"', ';']) || case.program.contains("\n\n");
        if !has_kept_lines {
            let one_line = case.program.replace('\n', " , ");
            assert_eq!(format(&one_line, &limits()).as_deref(), Ok(&*formatted), "{}", case.id);
        }
    }
}
