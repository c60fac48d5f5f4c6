//! Runs every `console` fence: `$ ` starts a command, what follows is what it prints, errors
//! included. `…` stands for anything within a line. Commands run at the top of the repository, those of an
//! error page and of the page about effects in an empty folder that its fences share: they make the files they need.

use crate::{Fence, bless, errors, fences, pages, root};
use std::path::Path;
use std::process::Command;

#[test]
fn commands_print_what_the_pages_show() {
    crate::cassettes::refresh();
    let mut wrong = Vec::new();
    for (path, page) in pages() {
        let mut fresh: Vec<String> = page.lines().map(str::to_string).collect();
        let starts_empty = errors::is_error_page(&path) || path.ends_with("guide/effects.md");
        let empty = starts_empty.then(|| tempfile::tempdir().expect("a folder"));
        let folder = empty.as_ref().map_or_else(root, |empty| empty.path().to_path_buf());
        let fences = fences(&page);
        let shown = fences.iter().filter(|fence| fence.language == "console");
        let shown: Vec<_> = shown.map(|fence| (fence, refresh(fence, &folder))).collect();
        // From the last fence to the first, so that earlier line numbers stay valid.
        for (fence, shown) in shown.into_iter().rev() {
            if shown != fence.lines {
                let end = fence.first + fence.lines.len();
                wrong.push(format!("{}:{}\n{}\n", path.display(), fence.first + 1, shown.join("\n")));
                fresh.splice(fence.first..end, shown);
            }
        }
        if bless() {
            let text = fresh.join("\n") + "\n";
            if text != page {
                std::fs::write(&path, text).expect("the page can be written");
            }
        }
    }
    if !bless() {
        let hint = "PTC_BLESS=1 writes this into the pages";
        assert!(wrong.is_empty(), "stale output; {hint}:\n\n{}", wrong.join("\n"));
    }
}

/// The lines of a fence with the output its commands have now; lines that still match stay.
fn refresh(fence: &Fence<'_>, folder: &Path) -> Vec<String> {
    let mut shown = Vec::new();
    let mut lines = fence.lines.iter().peekable();
    while let Some(line) = lines.next() {
        let mut command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("no command: {line}")).to_string();
        shown.push((*line).to_string());
        while let Some(more) = command.strip_suffix('\\') {
            let next = lines.next().expect("a command goes on");
            command = format!("{more}{}", next.trim_start());
            shown.push((*next).to_string());
        }
        let mut expected = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            expected.push(*line);
        }
        let got = run(&command, folder);
        let got: Vec<&str> = got.lines().collect();
        let same =
            got.len() == expected.len() && expected.iter().zip(&got).all(|(line, got)| matches(line, got));
        shown.extend(if same { expected } else { got }.into_iter().map(str::to_string));
    }
    shown
}

/// What a command prints in a folder, with `ptc` being the binary under test.
fn run(command: &str, folder: &Path) -> String {
    let command = command.replace("cargo run --", "ptc");
    let binaries = Path::new(env!("CARGO_BIN_EXE_ptc")).parent().expect("a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .env("PATH", path)
        .current_dir(folder)
        .output()
        .expect("a shell");
    String::from_utf8(output.stdout).expect("text")
}

/// Whether `got` is `expected`, with `…` standing for anything.
fn matches(expected: &str, got: &str) -> bool {
    let mut parts = expected.split('…');
    let Some(mut rest) = parts.next().and_then(|first| got.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn dots_match_anything() {
    assert!(matches("a", "a") && !matches("a", "ab") && !matches("ab", "a"));
    assert!(matches("\"fuel\":…}", "\"fuel\":12}") && matches("…", "") && matches("a…b…c", "a1b22c"));
    assert!(!matches("a…b…c", "a1c") && !matches("…b", "bc"));
}
