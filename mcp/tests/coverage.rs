//! Checks that the list of coverage names only existing tests.
#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_statement_names_a_test_that_is_there() {
    let page = include_str!("../../docs/mcp/coverage.md");
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = |file: &str| match file.split_once('/') {
        Some((other @ ("cli" | "upstream"), rest)) => own.join("..").join(other).join("tests").join(rest),
        _ => own.join("tests").join(file),
    };
    let mut listed = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains("::")) {
        let by = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default().trim_matches('`');
        assert!(listed.insert(by), "{by} stands twice");
        let (file, test) = by.split_once("::").unwrap_or_else(|| panic!("a file and a test: {row}"));
        let text = std::fs::read_to_string(place(&format!("{file}.rs")))
            .unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(text.contains(&format!("fn {test}(")), "there is no test {test} in {file}");
    }
    assert!(listed.len() > 40);
}
