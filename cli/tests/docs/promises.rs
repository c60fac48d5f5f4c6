//! The page on security names tests that there are.

use crate::root;
use std::collections::BTreeSet;

/// The tests in a cell of the table: `path::function`, in code marks.
fn tests(cell: &str) -> Vec<(&str, &str)> {
    cell.split('`').filter_map(|part| part.split_once("::")).collect()
}

#[test]
fn every_promise_names_a_test_that_is_there() {
    let page = std::fs::read_to_string(root().join("docs/security.md")).expect("the page");
    let mut numbers = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| P")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, promise, held] = cells[..] else { panic!("a number, a promise and its tests: {row}") };
        let number: u32 = name[1..].parse().unwrap_or_else(|_| panic!("a number: {row}"));
        assert!(numbers.insert(number), "{name} stands twice");
        assert!(promise.ends_with('.'), "{name} is no sentence");
        let tests = tests(held);
        assert!(!tests.is_empty(), "{name} names no test");
        for (file, test) in tests {
            let text = std::fs::read_to_string(root().join(file))
                .unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
            assert!(text.contains(&format!("fn {test}(")), "{name}: there is no {test} in {file}");
        }
    }
    // None was dropped in silence. Later ones were numbered by subject, with room between.
    assert!((1..=33).chain(40..=45).all(|number| numbers.contains(&number)), "{numbers:?}");
}
