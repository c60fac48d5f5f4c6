//! Pages hang together: the book leaves no page out, guides stay short, and every dependency has its reason.

use crate::links::{links, split};
use crate::{fences, pages, root};

#[test]
fn the_book_has_every_page() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("docs/SUMMARY.md");
    let listed: Vec<_> = links(&summary).into_iter().map(|link| docs.join(split(link).0)).collect();
    let forgotten: Vec<_> = pages()
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.starts_with(&docs) && !path.ends_with("SUMMARY.md") && !listed.contains(path))
        .collect();
    assert!(forgotten.is_empty(), "not in docs/SUMMARY.md: {forgotten:?}");
}

/// Somebody who reads a guide wants to see what it takes, on one screen.
#[test]
fn examples_of_the_guide_in_rust_have_fewer_than_20_lines() {
    let mut long = Vec::new();
    for (path, page) in pages().into_iter().filter(|(path, _)| path.starts_with(root().join("docs/guide"))) {
        let rust = fences(&page).into_iter().filter(|fence| fence.language == "rust");
        long.extend(
            rust.filter(|fence| fence.lines.len() >= 20)
                .map(|fence| format!("{}:{}", path.display(), fence.first)),
        );
    }
    assert!(long.is_empty(), "20 lines or more: {long:?}");
}

/// Names under the dependency headings of a manifest, our own crates left out.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut counted = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            counted = line.ends_with("dependencies]");
        } else if counted && line.starts_with(|c: char| c.is_ascii_lowercase()) {
            let name = line.split(['=', '.', ' ']).next().unwrap_or(line);
            found.extend((!name.starts_with("ptc-")).then_some(name));
        }
    }
    found
}

#[test]
fn every_dependency_says_why_it_is_here() {
    let page = std::fs::read_to_string(root().join("docs/dependencies.md")).expect("the page");
    let mut silent = Vec::new();
    for entry in std::fs::read_dir(root()).expect("the workspace").flatten() {
        let Ok(manifest) = std::fs::read_to_string(entry.path().join("Cargo.toml")) else { continue };
        for name in dependencies(&manifest).into_iter().filter(|name| !page.contains(&format!("`{name}`"))) {
            silent.push(format!("{name} of {}", entry.file_name().display()));
        }
    }
    assert!(silent.is_empty(), "not in docs/dependencies.md: {silent:?}");
}
