//! `ptc fmt`: files, folders, standard input, and what it refuses.

use crate::process::file;
use crate::{ptc, ptc_with};

const LOOSE: &str = "(let [a 1,\nb 2]\n(+ a b)) ; sum";
const NEAT: &str = "(let [a 1\n      b 2]\n  (+ a b)) ; sum\n";

#[test]
fn files_are_rewritten_and_named() {
    let loose = file("fmt/loose.clj", LOOSE);
    let neat = file("fmt/neat.clj", NEAT);
    ptc(&["fmt", &loose, &neat]).expect(0, &format!("{loose}: reformatted\n"));
    assert_eq!(std::fs::read_to_string(&loose).unwrap(), NEAT);
    ptc(&["fmt", &loose, &neat]).expect(0, "");
}

#[test]
fn check_changes_nothing() {
    let loose = file("fmt-check/below/loose.clj", LOOSE);
    file("fmt-check/notes.txt", "(");
    let folder = loose.strip_suffix("/below/loose.clj").unwrap();
    ptc(&["fmt", "--check", folder]).expect(1, &format!("{loose}: would be reformatted\n"));
    assert_eq!(std::fs::read_to_string(&loose).unwrap(), LOOSE);
}

#[test]
fn standard_input_goes_to_standard_output() {
    ptc_with(&["fmt", "-"], LOOSE.as_bytes()).expect(0, NEAT);
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    let broken = file("fmt/broken.clj", "(inc 1");
    let loose = file("fmt/beside.clj", LOOSE);
    let ran = ptc(&["fmt", &broken, &loose]);
    ran.expect(1, &format!("{loose}: reformatted\n"));
    assert!(ran.err.contains("broken.clj") && ran.err.contains("E01"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&broken).unwrap(), "(inc 1");
    let missing = ptc(&["fmt", "no-such.clj"]);
    assert_eq!(missing.code, 2, "{missing:?}");
}
