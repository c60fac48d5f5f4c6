//! Pages hang together: links lead somewhere, and the book leaves no page out.

use crate::{pages, root};

/// Targets of the links of a page, but those to other sites.
fn links(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        if fenced {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..].split(')').next().unwrap_or("");
            if !target.contains("://") && !target.starts_with('#') {
                found.push(target.split('#').next().unwrap_or(target));
            }
        }
    }
    found
}

#[test]
fn links_lead_somewhere() {
    let mut dead = Vec::new();
    for (path, page) in pages() {
        let folder = path.parent().expect("a folder");
        for link in links(&page).into_iter().filter(|link| !folder.join(link).exists()) {
            dead.push(format!("{}: {link}", path.display()));
        }
    }
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn the_book_has_every_page() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("docs/SUMMARY.md");
    let listed: Vec<_> = links(&summary).into_iter().map(|link| docs.join(link)).collect();
    let forgotten: Vec<_> = pages()
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.starts_with(&docs) && !path.ends_with("SUMMARY.md") && !listed.contains(path))
        .collect();
    assert!(forgotten.is_empty(), "not in docs/SUMMARY.md: {forgotten:?}");
}
