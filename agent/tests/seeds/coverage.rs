//! Check that the coverage list names existing tests.

use std::collections::BTreeSet;

#[test]
fn the_list_and_the_tests_agree() {
    let page = include_str!("../../../docs/agents/coverage.md");
    let files = [
        include_str!("../../../contract/tests/seeds/contracts.rs"),
        include_str!("definitions.rs"),
        include_str!("missions.rs"),
        include_str!("models.rs"),
        include_str!("../../../contract/tests/seeds/modes.rs"),
        include_str!("prompts.rs"),
        include_str!("replies.rs"),
        include_str!("../../../contract/tests/seeds/templates.rs"),
        include_str!("../plans/files.rs"),
        include_str!("../plans/following.rs"),
        include_str!("../plans/github.rs"),
        include_str!("../plans/making.rs"),
        include_str!("../../../cli/tests/cli/agent.rs"),
        include_str!("../missions/answers.rs"),
        include_str!("../missions/calls.rs"),
        include_str!("../missions/descriptions.rs"),
        include_str!("../native/calls.rs"),
        include_str!("../native/chat.rs"),
        include_str!("../native/combined.rs"),
        include_str!("../native/exports.rs"),
        include_str!("../native/finals.rs"),
        include_str!("../native/flights.rs"),
        include_str!("../native/previews.rs"),
        include_str!("../native/registry.rs"),
        include_str!("../native/rules.rs"),
        include_str!("traces.rs"),
    ];
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| §"));
    let mut listed = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, _, by] = cells[..] else { panic!("three cells: {row}") };
        match by.strip_prefix('`').and_then(|by| by.strip_suffix('`')) {
            Some(test) => assert!(listed.insert(test), "{test} stands twice"),
            None => assert_eq!(by, "none", "{row}"),
        }
    }
    let there: BTreeSet<&str> = files
        .iter()
        .flat_map(|file| ["#[test]\nfn ", "#[tokio::test]\nasync fn "].map(|start| file.split(start).skip(1)))
        .flatten()
        .filter_map(|test| test.split_once('(').map(|(name, _)| name))
        .filter(|name| ["s000_", "s001_", "s002_"].iter().any(|seed| name.starts_with(seed)))
        .collect();
    assert_eq!(listed, there);
}
