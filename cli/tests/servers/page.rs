//! The examples of `docs/upstreams.md`, with the server of this binary in the place of theirs.

use crate::{Ran, command, config, entry, file, finish, ptc, trial};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/upstreams.md");

pub fn tests() -> Vec<Trial> {
    vec![
        trial("the_configuration_of_the_page_is_one", the_configuration_of_the_page_is_one),
        trial("the_programs_of_the_page_run", the_programs_of_the_page_run),
        trial("the_commands_of_the_page_print_what_it_shows", the_commands_of_the_page_print_what_it_shows),
    ]
}

/// The texts of the fences of one language.
fn fences(language: &str) -> Vec<String> {
    fences_of(PAGE, language)
}

/// The same of any page.
pub fn fences_of(page: &str, language: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(_), Some(_)) => open = None,
            (Some(given), None) => {
                open = Some(given == language);
                found.extend((given == language).then(String::new));
            }
            (None, Some(true)) => {
                if let Some(text) = found.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            _ => {}
        }
    }
    assert!(!found.is_empty(), "no fences of {language}");
    found
}

/// The servers the page talks of, in a file for one test: another may be writing its own.
fn servers(test: &str) -> String {
    config(&format!("page/{test}"), json!({"fs": entry("--server")}))
}

/// With a program called `npx` and a token, which it names, it can be used: the start only fails for what is missing.
fn the_configuration_of_the_page_is_one() {
    let text = &fences("json")[0];
    let folder = file("page/bin/npx", "#!/bin/sh\nexit 1\n");
    let folder = Path::new(&folder).parent().expect("a folder").to_path_buf();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.join("npx"), mode).expect("an executable");
    }
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let config = file("page/config.json", text);
    let eval = |token: &str| -> Ran {
        let mut eval = command(&["eval", "-e", "(map :name (tool/servers))", "--upstreams-config", &config]);
        eval.env("PATH", &path).env("GITHUB_PAT", token);
        finish(eval, b"")
    };
    eval("a-token").expect(0, "[\"fs\" \"github\"]\n");
    let ran = eval("");
    assert!(ran.code == 2 && ran.err.contains("GITHUB_PAT"), "{ran:?}");
}

fn the_programs_of_the_page_run() {
    let servers = servers("programs");
    for (n, program) in fences("clojure servers").iter().enumerate() {
        let file = file(&format!("page/{n}.clj"), program);
        let shown = program.lines().rev().find_map(|line| line.split_once(";=> ")).map(|(_, shown)| shown);
        let shown = shown.unwrap_or_else(|| panic!("no result: {program}"));
        ptc(&["run", &file, "--upstreams-config", &servers]).expect(0, &format!("{shown}\n"));
    }
}

fn the_commands_of_the_page_print_what_it_shows() {
    let servers = servers("commands");
    for fence in fences("console servers") {
        for part in fence.split("$ ptc ").skip(1) {
            let (line, shown) = part.split_once('\n').expect("a command");
            let mut shell = std::process::Command::new("sh");
            let ptc = env!("CARGO_BIN_EXE_ptc");
            shell.args(["-c", &format!("exec 2>&1; '{ptc}' {line}")]);
            shell.env("PTC_UPSTREAMS", &servers).env("CANARY_TOKEN", crate::TOKEN);
            let ran = finish(shell, b"");
            assert_eq!(ran.out, shown, "$ ptc {line}");
        }
    }
    // Every command of the page is one.
    let usage: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| `ptc ")).collect();
    assert_eq!(usage.len(), 6);
    for line in usage {
        let words: Vec<&str> = line.trim_start_matches("| `ptc ").split([' ', '`']).take(2).collect();
        let words = if words[0] == "upstream" { &words[..] } else { &words[..1] };
        let help: Value = ptc(&[words, &["--help"]].concat()).code.into();
        assert_eq!(help, 0, "{line}");
    }
}
