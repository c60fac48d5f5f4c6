//! Links lead to files and headings that exist.

use crate::{pages, root};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Targets of the links and pictures of a page, except those on other sites.
pub fn links(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in prose(page) {
        for (start, end) in [("](", ")"), ("src=\"", "\""), ("srcset=\"", "\""), ("href=\"", "\"")] {
            let targets =
                line.match_indices(start).filter_map(|(at, _)| line[at + start.len()..].split(end).next());
            found.extend(targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:")));
        }
    }
    found
}

/// The lines of a page outside of its fences.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    page.lines().filter(move |line| {
        let is_border = line.starts_with("```");
        fenced ^= is_border;
        !fenced && !is_border
    })
}

/// The file of a link, and the heading in it, if it names one.
pub fn split(link: &str) -> (&str, Option<&str>) {
    link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)))
}

/// The ids of a page's headings, as GitHub and mdBook make them.
fn ids(page: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut times: HashMap<String, usize> = HashMap::new();
    for line in prose(page) {
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        if (1..=6).contains(&level) && line[level..].starts_with(' ') {
            let id = id(line[level..].trim());
            let before = times.entry(id.clone()).or_default();
            found.push(if *before == 0 { id } else { format!("{id}-{before}") });
            *before += 1;
        }
        found.extend(
            line.match_indices("id=\"")
                .filter_map(|(at, _)| line[at + 4..].split('"').next().map(str::to_string)),
        );
    }
    found
}

/// The id of a heading: letters, digits, `-` and `_`, with `-` for spaces.
fn id(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading;
    // Of a link, only its text counts.
    while let Some((before, target)) = rest.split_once("](") {
        text.push_str(before);
        rest = target.split_once(')').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let kept = text.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c => c.is_alphanumeric().then_some(c),
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    // Pages link to headings of further files, such as the one on benchmarks, which are read when they are needed.
    let mut known: HashMap<PathBuf, Vec<String>> =
        pages.iter().map(|(path, page)| (real(path), ids(page))).collect();
    let mut dead = Vec::new();
    for (path, page) in &pages {
        let folder = path.parent().expect("a folder");
        for link in links(page) {
            let (file, heading) = split(link);
            let target = if file.is_empty() { path.clone() } else { folder.join(file) };
            let is_there = match heading {
                _ if !target.exists() => false,
                Some(heading) => {
                    let read = || ids(&std::fs::read_to_string(&target).unwrap_or_default());
                    known.entry(real(&target)).or_insert_with(read).iter().any(|id| id == heading)
                }
                None => true,
            };
            if !is_there {
                dead.push(format!("{}: {link}", path.strip_prefix(root()).unwrap_or(path).display()));
            }
        }
    }
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

/// A path without `..`, so that equal files have equal paths.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

#[test]
fn headings_have_the_ids_of_the_sites_that_show_them() {
    assert_eq!(id("As JSON"), "as-json");
    assert_eq!(id("Errors, and what to write instead"), "errors-and-what-to-write-instead");
    assert_eq!(id("`ptc fmt --check`"), "ptc-fmt---check");
    assert_eq!(id("The [tour](guide/tour.md) again"), "the-tour-again");
    assert_eq!(ids("# A\n## A\n```sh\n# no heading\n```\n"), ["a", "a-1"]);
    assert_eq!(
        links("[a](b.md#c) <img src=\"d.svg\"> [e](https://f)\n```\n[g](h)\n```\n"),
        ["b.md#c", "d.svg"]
    );
}
