//! The guide's commands print what it shows. `PTC_BLESS=1` writes what they print.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// Runs a command as `sh` does, with a `ptc` that knows `ptc sql` only.
fn run(command: &str) -> String {
    let script = format!("ptc() {{ shift; \"$PTC_SQL\" \"$@\"; }}\n{command}\n");
    let output = Command::new("bash")
        .args(["-c", &script])
        .env("PTC_SQL", env!("CARGO_BIN_EXE_ptc-sql"))
        .current_dir(root())
        .output()
        .expect("bash");
    // Errors come first: none of the guide's commands prints both.
    let text = [output.stderr, output.stdout].concat();
    String::from_utf8(text).expect("text")
}

#[test]
fn the_commands_of_the_guide_print_what_it_shows() {
    let page = root().join("docs/guide/sql.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let (mut written, mut commands) = (String::new(), 0);
    let mut in_session = false;
    for line in text.lines() {
        match (in_session, line) {
            (false, "```sql-session") => in_session = true,
            (true, "```") => in_session = false,
            (true, line) => {
                // What was printed before is replaced.
                if let Some(command) = line.strip_prefix("$ ") {
                    written.push_str(&format!("{line}\n{}", run(command)));
                    commands += 1;
                }
                continue;
            }
            (false, _) => {}
        }
        written.push_str(&format!("{line}\n"));
    }
    assert!(commands > 5, "only {commands} commands");
    if std::env::var_os("PTC_BLESS").is_some() {
        std::fs::write(&page, written).expect("written");
        return;
    }
    for (number, (found, shown)) in written.lines().zip(text.lines()).enumerate() {
        assert_eq!(found, shown, "line {} of {}", number + 1, page.display());
    }
    assert_eq!(written.lines().count(), text.lines().count());
}
