//! Missing and contradicting arguments, help and version.

use crate::{ptc, ptc_with};
use std::time::{Duration, Instant};

#[test]
fn wrong_use_is_exit_code_two_and_says_why() {
    for args in [
        &[][..],
        &["frobnicate"],
        &["run"],
        &["check"],
        &["disasm"],
        &["eval", "-e"],
        &["eval", "-e", "1", "--jsonl"],
        &["eval", "1", "extra"],
        &["eval", "--nope"],
        &["eval", "-e", "1", "--data", "x"],
        &["eval", "-e", "1", "--data", "=1"],
        &["run", "a.clj", "b.clj"],
    ] {
        let ran = ptc(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.err.contains("Usage") || ran.err.contains("error"), "{args:?}: {ran:?}");
    }
}

#[test]
fn help_lists_commands_exit_codes_and_limits() {
    let help = ptc(&["--help"]);
    assert_eq!(help.code, 0);
    for word in ["eval", "run", "check", "disasm", "explain", "doc", "apropos", "Exit codes: 0"] {
        assert!(help.out.contains(word), "{word}");
    }
    let eval = ptc(&["eval", "--help-all"]).out;
    for word in ["--fuel", "--memory", "--timeout", "--granted", "--limit", "default: 10MB", "--jsonl"] {
        assert!(eval.contains(word), "{word}");
    }
    let short = ptc(&["eval", "-h"]).out;
    assert!(
        !short.contains("--stress-gc") && !short.contains("--no-optimize"),
        "test options are not for everybody"
    );
    assert!(short.contains("--memory") && !short.contains("--granted"), "-h shows the common limits");
}

#[test]
fn the_version_is_the_package_version() {
    ptc(&["--version"]).expect(0, concat!("ptc ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn any_bytes_as_a_program_are_an_answer() {
    for source in [
        &b"("[..],
        b")",
        b"\"",
        b"(((((",
        b"{:a}",
        b"#",
        b"\\",
        b"%",
        b"(fn",
        b"^",
        b"\0",
        b"#_",
        "λ".as_bytes(),
        b"(recur)",
        b"(let [a] a)",
        b"tool/x",
        b"1e999",
        b"@x",
    ] {
        let ran = ptc_with(&["eval"], source);
        assert!(ran.code == 0 || ran.code == 1, "{ran:?}");
        assert!(!ran.err.contains("panicked") && !ran.err.contains("internal_error"), "{ran:?}");
    }
    let brackets = ptc_with(&["eval"], &b"(".repeat(999_000));
    assert_eq!(brackets.code, 1);
}

#[test]
fn a_process_answers_at_once() {
    // The best of several, as the machine may be busy; a release build takes a few milliseconds.
    let best = (0..10)
        .map(|_| {
            let start = Instant::now();
            ptc(&["eval", "-e", "(+ 1 2)"]).expect(0, "3\n");
            start.elapsed()
        })
        .min();
    assert!(best < Some(Duration::from_millis(150)), "{best:?}");
}
