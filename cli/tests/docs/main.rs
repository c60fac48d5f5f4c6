//! The documentation is tested: reference pages are made from the tables, `clojure` fences run and
//! their `;=>` lines hold, `console` fences show what the commands print, links lead somewhere.
//!
//! `PTC_BLESS=1 cargo test -p ptc-cli --test docs` rewrites reference pages, console output and the grammar for editors.

mod cassettes;
mod commands;
mod console;
mod drawings;
mod errors;
mod examples;
mod fences;
mod grammar;
mod links;
mod pages;
mod promises;
mod reference;

use std::path::{Path, PathBuf};

/// Top of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages at the top of the repository, the READMEs of crates and every page under `docs/`, sorted, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "RELEASING.md", "SECURITY.md"];
    let of_crates = ["ptc/README.md", "cli/README.md"];
    let mut found: Vec<PathBuf> = top.iter().chain(&of_crates).map(|name| root().join(name)).collect();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("docs/ is there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("a page"))).collect()
}

/// A fenced block: its language, the line its text starts on (from 0), and its lines.
struct Fence<'page> {
    language: &'page str,
    first: usize,
    lines: Vec<&'page str>,
}

/// The fenced blocks of a page.
fn fences(page: &str) -> Vec<Fence<'_>> {
    let mut found: Vec<Fence<'_>> = Vec::new();
    let mut open = false;
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(language) => {
                open = true;
                found.push(Fence { language: language.trim(), first: number + 1, lines: Vec::new() });
            }
            None if open => found.last_mut().expect("an open fence").lines.push(line),
            None => {}
        }
    }
    assert!(!open, "a fence is not closed");
    found
}

/// Whether to rewrite what is stale instead of failing.
fn bless() -> bool {
    std::env::var_os("PTC_BLESS").is_some_and(|value| value == "1")
}
