//! The coverage list names existing tests only.

use std::collections::BTreeSet;
use std::path::Path;

/// Files whose tests of statements are all listed.
const GUIDE: [&str; 8] = [
    include_str!("guide/calling.rs"),
    include_str!("guide/finding.rs"),
    include_str!("guide/requiring.rs"),
    include_str!("guide/showing.rs"),
    include_str!("guide/storing.rs"),
    include_str!("guide/troubles.rs"),
    include_str!("../../../cli/tests/cli/repl.rs"),
    include_str!("../../../agent/tests/missions/preludes.rs"),
];

#[test]
fn the_list_and_the_tests_agree() {
    let page = include_str!("../../../docs/preludes/coverage.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| §"));
    let (mut listed, mut sections, mut elsewhere) = (BTreeSet::new(), BTreeSet::new(), 0);
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [section, _, by] = cells[..] else { panic!("three cells: {row}") };
        sections.insert(section.parse::<u32>().expect(row));
        let Some(by) = by.strip_prefix('`').and_then(|by| by.strip_suffix('`')) else {
            assert_eq!(by, "none", "{row}");
            continue;
        };
        match by.split_once("::") {
            Some((file, test)) => {
                assert!(is_test(file, test), "{file}.rs has no test `{test}`");
                elsewhere += 1;
            }
            None => assert!(listed.insert(by), "{by} stands twice"),
        }
    }
    assert!(elsewhere > 10);
    // Tests of statements are named after their section; other tests may be in the same file.
    let is_of_section =
        |name: &&str| name.starts_with('s') && name[1..].starts_with(|c: char| c.is_ascii_digit());
    let there: BTreeSet<&str> = GUIDE
        .iter()
        .flat_map(|tests| tests.split("#[test]\nfn ").skip(1))
        .filter_map(|test| test.split_once('(').map(|(name, _)| name))
        .filter(is_of_section)
        .collect();
    assert_eq!(listed, there);
    assert_eq!(sections, (0..=11).collect());
}

/// True if this file, relative to its crate without the folder `tests`, has this test.
fn is_test(file: &str, test: &str) -> bool {
    let (package, rest) = file.split_once('/').unwrap_or_else(|| panic!("a crate and a file: {file}"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package).join("tests").join(rest);
    let path = path.with_extension("rs");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let starts = ["#[test]\nfn ", "#[tokio::test]\nasync fn "];
    starts.iter().any(|start| text.contains(&format!("{start}{test}(")))
}
