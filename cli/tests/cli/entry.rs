//! The first things people type: a file, an expression, help, completions, colours, `ptc init`.

use crate::{Ran, file, finish, ptc, ptc_with};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that is empty, for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("entry").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn ptc_in(folder: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptc"));
    command.args(args).current_dir(folder);
    finish(command, b"")
}

#[test]
fn a_file_is_run() {
    let path = file("entry/total.clj", "(reduce + data/ns)");
    ptc(&[&path, "--data", "ns=[1, 2]"]).expect(0, "3\n");
    ptc(&["--color", "never", &path, "--data", "ns=[1, 2]"]).expect(0, "3\n");
    let here = folder("here");
    std::fs::write(here.join("plain"), "(+ 1 1)").expect("a file");
    ptc_in(&here, &["plain"]).expect(0, "2\n");
    // What looks like a file is a file that is not there, and what does not is a command that is not there.
    let missing = ptc_in(&here, &["missing.clj"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("cannot read missing.clj"), "{missing:?}");
    let typo = ptc_in(&here, &["evl", "1"]);
    assert_eq!(typo.code, 2);
    assert!(typo.err.contains("unrecognized subcommand 'evl'") && typo.err.contains("'eval'"), "{typo:?}");
}

#[test]
fn an_expression_is_an_argument() {
    ptc(&["eval", "(+ 1 2)"]).expect(0, "3\n");
    ptc(&["eval", "-5"]).expect(0, "-5\n");
    ptc_with(&["eval", "-"], b"(+ 2 2)").expect(0, "4\n");
    ptc(&["eval", "--json", "(fail 1)"]).json();
    for args in [&["eval", "1", "-e", "2"][..], &["eval", "1", "--jsonl"], &["eval", "1", "2"]] {
        assert_eq!(ptc(args).code, 2, "{args:?}");
    }
    let path = file("entry/named.clj", "1");
    let named = ptc(&["eval", &path]);
    assert_eq!(named.code, 2);
    assert!(named.err.contains(&format!("hint: ptc run {path}")), "{named:?}");
}

#[test]
fn a_stub_answers_in_every_command_that_runs_programs() {
    let program = "(* 2 (:cents (tool/price {:id 1})))";
    let path = file("entry/stub.clj", program);
    let answer = file("entry/price.json", r#"{"cents": 21}"#);
    let from_file = format!("price=@{answer}");
    for stub in [r#"price={"cents": 21}"#, &from_file] {
        ptc(&["eval", program, "--stub", stub]).expect(0, "42\n");
        ptc(&["run", &path, "--stub", stub]).expect(0, "42\n");
        ptc_with(&["batch", &path, "--quiet", "--stub", stub], b"1\n2\n").expect(0, "42\n42\n");
        let line = format!("{{\"program\":{}}}\n", serde_json::Value::from(program));
        let answers = ptc_with(&["eval", "--jsonl", "--stub", stub], line.as_bytes()).json_lines();
        assert_eq!(answers[0]["json"], 42);
    }
    let without = ptc(&["eval", program]);
    assert!(without.err.contains("`--stub price=JSON` grants a tool"), "{without:?}");
}

#[test]
fn colours_are_a_choice() {
    let coloured = |args: &[&str], variable: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ptc"));
        command.args(args).env_remove("NO_COLOR");
        if let Some(value) = variable {
            command.env("NO_COLOR", value);
        }
        let ran = finish(command, b"");
        ran.out.contains('\u{1b}') || ran.err.contains('\u{1b}')
    };
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/late-orders.jsonl");
    for args in [
        &["eval", "(+ 1 nil)"][..],
        &["repl", "-e", "(+ 1 nil)"],
        &["explain", "E0302"],
        &["doc", "map"],
        &["trace", "show", trace],
        &["--help"],
        &["run", "--help"],
        &["run", "--nope"],
        &["nope"],
    ] {
        let with = |when| [args, &["--color", when]].concat();
        assert!(!coloured(args, None) && !coloured(&with("auto"), None), "{args:?}: none in a pipe");
        assert!(!coloured(&with("never"), None), "{args:?}");
        assert!(coloured(&with("always"), None), "{args:?}");
        assert!(coloured(&with("always"), Some("1")), "{args:?}: a flag wins over a variable");
    }
}

#[test]
fn help_shows_what_is_used_first_and_all_of_it_when_asked() {
    let top = ptc(&["--help"]);
    for heading in ["Run programs:", "Agents:", "Preludes:", "Servers:", "Look things up:", "Set up:"] {
        assert!(top.out.contains(heading), "{heading}: {top:?}");
    }
    for words in [&["eval"][..], &["run"], &["batch"], &["repl"], &["agent", "run"], &["mcp"]] {
        let help = |flag| ptc(&[words, &[flag]].concat()).out;
        let (short, all) = (help("--help"), help("--help-all"));
        assert_eq!(help("-h"), short, "{words:?}");
        let flags = |text: &str| text.lines().filter(|line| line.trim_start().starts_with('-')).count();
        // Those of every command are four.
        assert!(flags(&short) <= 16, "{words:?} shows {} flags:\n{short}", flags(&short));
        assert!(flags(&all) > flags(&short) + 10, "{words:?}:\n{all}");
        assert!(short.contains("--help-all"), "{short}");
        for line in short.lines().chain(all.lines()) {
            assert!(line.chars().count() <= 100, "{words:?}: {line}");
        }
    }
}

/// Every command as its manual page has it: the words that lead to it, and its flags.
fn commands() -> Vec<(Vec<String>, Vec<String>)> {
    let pages = ptc(&["man"]).out.replace("\\-", "-");
    let bold = |text: &str| {
        text.split("\\fB")
            .skip(1)
            .filter_map(|part| Some(part.split_once("\\fR")?.0.trim().to_string()))
            .collect::<Vec<_>>()
    };
    let page = |page: &str| {
        let synopsis = page.split_once(".SH SYNOPSIS\n").expect(page).1.lines().next().expect(page);
        let words = bold(synopsis)[0].split(' ').skip(1).map(str::to_string).collect();
        let flags = bold(page).into_iter().filter(|word| word.starts_with("--")).collect();
        (words, flags)
    };
    pages.split(".TH ").skip(1).map(page).collect()
}

#[test]
fn all_help_has_every_flag_and_fits_the_width() {
    let commands = commands();
    for words in [&[][..], &["fmt"], &["agent", "run"], &["store", "set-default"], &["mcp", "install"]] {
        assert!(commands.iter().any(|(known, _)| known == words), "{words:?}");
    }
    for (words, flags) in commands {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let help = |flag| ptc(&[&words[..], &[flag]].concat()).out;
        let all = help("--help-all");
        let shown: Vec<&str> = all.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
        for flag in &flags {
            assert!(shown.contains(&flag.as_str()), "{words:?} {flag}:\n{all}");
        }
        assert!(flags.len() >= 3, "{words:?}: {flags:?}");
        for line in all.lines().chain(help("--help").lines()) {
            assert!(line.chars().count() <= 100, "{words:?}: {line}");
        }
    }
}

#[test]
fn shells_complete_commands_and_flags() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = ptc(&["completions", shell]);
        assert_eq!((script.code, script.err.as_str()), (0, ""));
        for word in ["apropos", "jsonl", "upstreams-config"] {
            assert!(script.out.contains(word), "{shell}: {word}");
        }
    }
    let wrong = ptc(&["completions", "tcsh"]);
    assert!(wrong.code == 2 && wrong.err.contains("bash"), "{wrong:?}");
}

#[test]
fn manual_pages_are_printed_or_written() {
    let all = ptc(&["man"]);
    assert_eq!(all.code, 0);
    for title in [".TH ptc 1", ".TH ptc-eval 1", ".TH ptc-agent-run 1", ".TH ptc-completions 1"] {
        assert!(all.out.contains(title), "{title}");
    }
    let folder = folder("man");
    let name = folder.join("deep").display().to_string();
    assert_eq!(ptc(&["man", &name]).code, 0);
    for page in ["ptc.1", "ptc-eval.1", "ptc-agent-run.1"] {
        let text = std::fs::read_to_string(folder.join("deep").join(page)).expect(page);
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
}

/// Runs what `ptc init` says to run next, as a shell would.
fn next(folder: &Path, told: &str) -> Ran {
    let next = told.lines().find_map(|line| line.strip_prefix("next: ptc ")).expect(told);
    let words: Vec<&str> = next.split(' ').collect();
    ptc_in(folder, &words)
}

#[test]
fn init_writes_set_ups_that_work() {
    let folder = folder("init");
    for (kind, passes) in
        [("agent", "1 passed, 0 failed"), ("prelude", "2 passed"), ("mcp", "with 1 upstream server")]
    {
        let first = ptc_in(&folder, &["init", kind, kind]);
        assert_eq!((first.code, first.err.as_str()), (0, ""), "{first:?}");
        let ran = next(&folder, &first.out);
        assert!(ran.code == 0 && ran.out.contains(passes), "{kind}: {ran:?}");
        let made: Vec<PathBuf> =
            first.out.lines().filter_map(|line| Some(folder.join(line.strip_prefix("wrote ")?))).collect();
        assert!(made.len() >= 2 && made.iter().all(|file| file.is_file()), "{first:?}");
        // What is there stays, whoever wrote it.
        std::fs::write(&made[1], "mine").expect("a file");
        std::fs::remove_file(&made[0]).expect("a file");
        let again = ptc_in(&folder, &["init", kind, kind]);
        assert!(again.code == 2 && again.err.contains("exists already"), "{again:?}");
        assert_eq!(std::fs::read_to_string(&made[1]).expect("a file"), "mine");
        assert!(!made[0].exists(), "half a set-up");
    }
    // Here, where other files are.
    let prelude = ptc_in(&folder, &["init", "prelude"]);
    assert_eq!(next(&folder, &prelude.out).code, 0);
    let spaced = ptc_in(&folder, &["init", "prelude", "my shop"]);
    assert!(spaced.out.ends_with("next: ptc test 'my shop/shop.clj'\n"), "{spaced:?}");
}

#[test]
#[cfg(unix)]
fn input_without_an_end_is_refused() {
    let zero = || std::process::Stdio::from(std::fs::File::open("/dev/zero").expect("a device"));
    for args in [&["eval"][..], &["eval", "--jsonl"], &["repl"], &["check", "-"], &["fmt", "-"]] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_ptc")).args(args).stdin(zero()).output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {err}");
        assert!(err.contains(" bytes"), "{args:?}: {err}");
    }
    for args in [
        &["agent", "check", "/dev/zero"][..],
        &["eval", "1", "--trusted", "/dev/zero"],
        &["eval", "1", "--upstreams-config", "/dev/zero"],
        &["trace", "show", "/dev/zero"],
        &["mcp", "--http", "--http-auth-token-file", "/dev/zero"],
    ] {
        let ran = ptc(args);
        assert!(ran.code == 2 && ran.err.contains("/dev/zero"), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_child_of_a_trace_counts_once_wherever_the_trace_is_named_from() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces");
    let summary = |shown: Ran| {
        let line = |name: &str| shown.out.lines().find(|line| line.starts_with(name)).map(str::to_string);
        (line("turns"), line("models"))
    };
    let named = |name: &str| summary(ptc_in(&traces, &["trace", "show", name]));
    let whole = traces.join("late-orders.jsonl").display().to_string();
    let here = named("late-orders.jsonl");
    assert!(here.0.as_deref().is_some_and(|turns| turns.contains("5, 1 failed, of 2 missions")), "{here:?}");
    assert_eq!(here, named("./late-orders.jsonl"));
    assert_eq!(here, named(&whole));
}
