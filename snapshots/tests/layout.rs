//! Architecture tests: allowed dependencies between crates, no unsafe code, no file with more than one idea, no
//! wide import circles, no paths of the machine it was written on, no crate that cannot be published.
#![allow(missing_docs)]

#[path = "layout/circles.rs"]
mod circles;
#[path = "layout/publishing.rs"]
mod publishing;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Allowed dependencies of each crate, except for tests; every crate may use `bytecode`, `cli` may use every
/// crate except [`DEV_ONLY`], and those may use any.
const MAY_USE: &[(&str, &[&str])] = &[
    (TEST_KIT, &[]),
    ("bytecode", &[]),
    ("errors", &[]),
    ("compiler", &[]),
    ("vm", &[]),
    ("effects", &[]),
    ("effects-sql", &["effects"]),
    ("runtime", &["compiler", "vm", "effects"]),
    ("preludes", &[]),
    ("macros", &[]),
    (FACADE, &["macros", "runtime", "preludes", "agent", "model", "upstream", "mcp"]),
    ("arrow", &["runtime"]),
    ("contract", &["runtime"]),
    ("web", &[]),
    ("model", &["runtime", "web"]),
    ("agent", &["contract", "model", "runtime", "preludes", "web"]),
    ("upstream", &["contract", "runtime", "web"]),
    ("mcp", &["upstream", "agent", "contract", "model", "runtime", "web"]),
    ("lsp", &["compiler", "runtime"]),
    ("studio", &["agent", "runtime"]),
    (
        "cli",
        &[
            "errors",
            "compiler",
            "vm",
            "runtime",
            "preludes",
            FACADE,
            "arrow",
            "contract",
            "model",
            "agent",
            "upstream",
            "mcp",
            "lsp",
            "studio",
            "effects-sql",
        ],
    ),
];

/// Additional dependencies allowed in build scripts, and (`TESTS_MAY_USE`) in tests.
const BUILD_MAY_USE: &[(&str, &[&str])] = &[("preludes", &["compiler"])];
const TESTS_MAY_USE: &[(&str, &[&str])] = &[
    ("runtime", &["preludes"]),
    ("arrow", &["preludes"]),
    // The crate itself, with features that are off by default.
    (FACADE, &[FACADE]),
    ("model", &["contract"]),
    ("upstream", &["agent", "model", "preludes"]),
    ("mcp", &["preludes"]),
    ("lsp", &["preludes"]),
    ("studio", &["preludes"]),
];

/// Name of the crate that hosts depend on, the only one without the prefix `ptc-`.
const FACADE: &str = "ptc";

/// Crates that may use any crate and are used by none.
const DEV_ONLY: &[&str] = &["benches", "snapshots", "fuzz"];

/// Crate that every test may use, and that uses none of our crates.
const TEST_KIT: &str = "testkit";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the workspace")
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn allowed(table: &[(&str, &[&str])], user: &str, used: &str) -> bool {
    table.iter().any(|(name, may_use)| *name == user && may_use.contains(&used))
}

/// Returns the folder of one of our packages.
fn folder_of(package: &Value) -> Option<&str> {
    let name = package.as_str()?;
    if name == FACADE { Some(name) } else { name.strip_prefix("ptc-") }
}

#[test]
fn crates_use_each_other_as_the_graph_says() {
    let metadata = metadata();
    let mut wrong = Vec::new();
    let mut crates = 0;
    for package in metadata["packages"].as_array().expect("packages") {
        let Some(user) = folder_of(&package["name"]) else {
            panic!("{} is not called ptc-<folder>", package["name"]);
        };
        crates += 1;
        assert!(
            package["manifest_path"]
                .as_str()
                .is_some_and(|path| path.ends_with(&format!("{user}/Cargo.toml")))
        );
        if DEV_ONLY.contains(&user) {
            continue;
        }
        assert!(MAY_USE.iter().any(|(name, _)| *name == user), "{user} is not in the graph");
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let Some(used) = folder_of(&dependency["name"]) else { continue };
            let kind = dependency["kind"].as_str().unwrap_or("normal");
            let fine = used == "bytecode" && user != TEST_KIT
                || kind == "dev" && used == TEST_KIT
                || allowed(MAY_USE, user, used)
                || kind == "build" && allowed(BUILD_MAY_USE, user, used)
                || kind == "dev" && allowed(TESTS_MAY_USE, user, used);
            if !fine || DEV_ONLY.contains(&used) {
                wrong.push(format!("{user} → {used} ({kind})"));
            }
        }
    }
    assert!(crates >= 8, "{crates} crates");
    assert!(wrong.is_empty(), "edges the graph does not have: {wrong:?}");
}

/// Returns all our Rust files, with their paths from the root.
fn rust_files() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("folder") {
            let path = entry.expect("entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_built = name == "target" || name == "node_modules";
            if path.is_dir() && !is_built && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") {
                let shown = path.strip_prefix(root()).expect("inside").to_string_lossy().replace('\\', "/");
                found.push((shown, std::fs::read_to_string(&path).expect("text")));
            }
        }
    }
    found.sort();
    assert!(found.len() > 100);
    found
}

#[test]
fn no_crate_allows_unsafe_code() {
    let mut wrong = Vec::new();
    for (path, text) in rust_files() {
        let is_root = ["/src/lib.rs", "/src/main.rs"].iter().any(|end| path.ends_with(end));
        // Binding macros generate unsafe code and allow it there, which `forbid` would refuse.
        let is_binding = path.starts_with("python/") || path.starts_with("node/");
        let level = if is_binding { "deny" } else { "forbid" };
        let attribute = format!("#![{level}(unsafe_code)]");
        if is_root && !text.lines().any(|line| line == attribute) {
            wrong.push(format!("{path} does not {level} unsafe code"));
        }
        for (n, line) in text.lines().enumerate() {
            // Split so that this file does not match itself.
            let unsafe_word = concat!("un", "safe ");
            let after = line.split_once(unsafe_word).map(|(_, after)| after.trim_start());
            if after.is_some_and(|after| {
                ["{", "fn", "impl", "trait", "extern"].iter().any(|w| after.starts_with(w))
            }) {
                wrong.push(format!("{path}:{}: {}", n + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_hold_one_idea() {
    let tables = ["bytecode/src/isa.rs", "bytecode/src/builtins.rs", "compiler/src/parse/grammar.rs"];
    let mut wrong = Vec::new();
    for (path, text) in rust_files() {
        let lines = text.lines().count();
        // A longer file must say in its first lines why it is one file.
        let excused = text.lines().take(12).any(|line| line.starts_with("//!") && line.contains("one file"));
        if lines > 900 && !excused && !tables.contains(&&*path) {
            wrong.push(format!("{path}: {lines} lines"));
        }
    }
    assert!(
        wrong.is_empty(),
        "say at the top why it is one file, or find the second idea:\n{}",
        wrong.join("\n")
    );
}

/// Checks only files under version control, because build results contain paths.
#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    // A source archive has no version control.
    let Ok(output) = output else { return };
    let machine = root().to_string_lossy().into_owned();
    let home = std::env::var("HOME").unwrap_or_default();
    let mut marks = vec![machine, concat!("/ho", "me/").to_string(), concat!("/Us", "ers/").to_string()];
    if home.len() > 1 && home != "/root" {
        marks.push(home);
    }
    let mut wrong = Vec::new();
    for path in String::from_utf8_lossy(&output.stdout).split('\0').filter(|path| !path.is_empty()) {
        // Skips files that are removed in the working tree, or are not text.
        let Ok(text) = std::fs::read_to_string(root().join(path)) else { continue };
        for (n, line) in text.lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark.as_str())) {
                wrong.push(format!(
                    "{path}:{}: {}",
                    n + 1,
                    line.trim().chars().take(120).collect::<String>()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
