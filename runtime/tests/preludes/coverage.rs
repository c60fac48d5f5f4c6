//! The list of what is covered names the tests there are.

use std::collections::BTreeSet;

#[test]
fn the_list_and_the_tests_agree() {
    let page = include_str!("../../../docs/preludes/coverage.md");
    let tests = [
        include_str!("guide.rs"),
        include_str!("../../../cli/tests/cli/repl.rs"),
        include_str!("../../../agent/tests/missions/preludes.rs"),
    ];
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| §"));
    let mut listed = BTreeSet::new();
    let mut sections = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [section, _, by] = cells[..] else { panic!("three cells: {row}") };
        sections.insert(section.parse::<u32>().expect(row));
        match by.strip_prefix('`').and_then(|by| by.strip_suffix('`')) {
            Some(test) => assert!(listed.insert(test), "{test} stands twice"),
            None => assert!(["agent", "upstream", "server", "none"].contains(&by), "{row}"),
        }
    }
    // Tests of statements are named after their section; other tests may stand beside them.
    let is_of_section =
        |name: &&str| name.starts_with('s') && name[1..].starts_with(|c: char| c.is_ascii_digit());
    let there: BTreeSet<&str> = tests
        .iter()
        .flat_map(|tests| tests.split("#[test]\nfn ").skip(1))
        .filter_map(|test| test.split_once('(').map(|(name, _)| name))
        .filter(is_of_section)
        .collect();
    assert_eq!(listed, there);
    assert_eq!(sections, (1..=11).collect());
}
