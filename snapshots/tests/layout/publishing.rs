//! Published crates have what crates.io shows, and all of ours have one version.

use super::{DEV_ONLY, TEST_KIT, folder_of, metadata, root};
use serde_json::Value;
use std::path::Path;

/// Fields that every published crate has.
const FIELDS: &[&str] = &[
    "description",
    "license",
    "repository",
    "documentation",
    "readme",
    "rust_version",
    "keywords",
    "categories",
];

fn is_published(package: &Value) -> bool {
    // `publish = false` is an empty list of registries.
    package["publish"].as_array().is_none_or(|registries| !registries.is_empty())
}

fn folder(package: &Value) -> &Path {
    Path::new(package["manifest_path"].as_str().expect("a path")).parent().expect("a folder")
}

fn texts<'a>(package: &'a Value, field: &str) -> Vec<&'a str> {
    package[field].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns everything that crates.io would refuse or show badly.
fn problems_of(package: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for field in FIELDS {
        let value = &package[field];
        if value.as_str().is_none_or(str::is_empty) && value.as_array().is_none_or(Vec::is_empty) {
            found.push(format!("lacks `{field}`"));
        }
    }
    let keywords = texts(package, "keywords");
    if keywords.len() > 5 {
        found.push(format!("has {} keywords; crates.io takes 5", keywords.len()));
    }
    found.extend(keywords.iter().filter(|word| word.len() > 20).map(|word| format!("`{word}` is too long")));
    if texts(package, "categories").len() > 5 {
        found.push("has more than 5 categories".into());
    }
    let folder = folder(package);
    for file in [package["readme"].as_str().unwrap_or_default(), "LICENSE-MIT", "LICENSE-APACHE"] {
        if !folder.join(file).is_file() {
            found.push(format!("has no file `{file}`"));
        }
    }
    // crates.io reads links as if from the folder of the crate, wherever the page is.
    let readme = std::fs::read_to_string(folder.join(package["readme"].as_str().unwrap_or_default()));
    for rest in readme.unwrap_or_default().split("](").skip(1) {
        let link = rest.split(')').next().unwrap_or_default();
        if !link.starts_with("https://") {
            found.push(format!("has a README with the link {link}, which leads nowhere on crates.io"));
        }
    }
    let docs = format!("https://docs.rs/{}", package["name"].as_str().expect("a name"));
    if package["documentation"] != *docs {
        found.push(format!("has another `documentation` than {docs}"));
    }
    found
}

/// Returns the dependencies that would not lead to the same release.
fn loose_dependencies(package: &Value, exact: &str) -> Vec<String> {
    let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
    let own = dependencies
        .filter(|dependency| folder_of(&dependency["name"]).is_some() && !dependency["path"].is_null());
    own.filter_map(|dependency| {
        let name = dependency["name"].as_str().expect("a name");
        // Cargo drops a test dependency without a version, and refuses one that is not published. The crate itself
        // cannot be there before it is published.
        let is_dropped = dependency["kind"] == "dev"
            && (folder_of(&dependency["name"]) == Some(TEST_KIT) || package["name"] == name);
        let wanted = if is_dropped { "*" } else { exact };
        (dependency["req"] != *wanted).then(|| format!("needs {name} {}, not {wanted}", dependency["req"]))
    })
    .collect()
}

#[test]
fn published_crates_are_described_and_have_one_version() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let version = packages[0]["version"].as_str().expect("a version");
    let repository =
        packages.iter().find_map(|package| package["repository"].as_str()).expect("a repository");
    let mut wrong = Vec::new();
    for package in packages {
        let folder = folder_of(&package["name"]).expect("one of ours");
        let mut problems = Vec::new();
        if package["version"] != *version {
            problems.push(format!("has version {}, others have {version}", package["version"]));
        }
        if is_published(package) == (DEV_ONLY.contains(&folder) || folder == TEST_KIT) {
            problems.push("is for tests and published, or neither".into());
        } else if is_published(package) {
            problems.extend(problems_of(package));
            problems.extend(loose_dependencies(package, &format!("={version}")));
            if package["repository"] != *repository {
                problems.push(format!("names another repository than {repository}"));
            }
        }
        wrong.extend(problems.into_iter().map(|problem| format!("{folder} {problem}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the first file outside of its crate that a source file compiles into the crate; `path` is `src/…`. Tests are
/// not compiled from packages, so what follows their `cfg` may be anywhere.
fn reaches_outside<'a>(path: &str, text: &'a str) -> Option<&'a str> {
    let tests = ["#[cfg(test)]", "#[cfg(doctest)]"].iter().filter_map(|mark| text.find(mark)).min();
    let compiled = &text[..tests.unwrap_or(text.len())];
    compiled.split("include_").skip(1).find_map(|rest| {
        let (_, file) = rest.split_once("!(\"")?;
        let file = file.split('"').next()?;
        let up = file.split('/').take_while(|part| *part == "..").count();
        (up > path.matches('/').count()).then_some(file)
    })
}

#[test]
fn packages_hold_what_their_code_includes() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let sources = super::rust_files();
    let mut wrong = Vec::new();
    let mut files = 0;
    for package in packages.iter().filter(|package| is_published(package)) {
        let folder =
            folder(package).strip_prefix(root()).expect("inside").to_string_lossy().replace('\\', "/");
        let own = sources.iter().filter_map(|(path, text)| Some((path.strip_prefix(&*folder)?, text)));
        let own = own.filter_map(|(path, text)| Some((path.strip_prefix('/')?, text)));
        for (path, text) in own.filter(|(path, _)| path.starts_with("src/")) {
            files += 1;
            // Files of tests are declared behind a `cfg` in another file.
            if !path.ends_with("/tests.rs") && !path.contains("/tests/") {
                let outside = reaches_outside(path, text);
                wrong.extend(outside.map(|file| format!("{folder}/{path} includes {file}")));
            }
        }
    }
    assert!(files > 300, "only {files} files");
    assert!(wrong.is_empty(), "packages would lack these files:\n{}", wrong.join("\n"));
}

/// The address stands in files that are read without a manifest, too.
#[test]
fn files_name_the_repository_of_the_manifests() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let repository =
        packages.iter().find_map(|package| package["repository"].as_str()).expect("a repository");
    for file in ["install.sh", "README.md", "docs/install.md", "ptc/README.md", "cli/README.md"] {
        let text = std::fs::read_to_string(root().join(file)).expect(file);
        for (at, _) in text.match_indices("https://github.com/") {
            let address = text[at..]
                .split(|c: char| c.is_whitespace() || "\"')>".contains(c))
                .next()
                .unwrap_or_default();
            // Other projects are named, too.
            let is_ours = address.split('/').nth(4) == Some("ptc");
            assert!(
                !is_ours || address.starts_with(repository),
                "{file} names {address}, manifests {repository}"
            );
        }
    }
}

/// Bindings and engines are no members of the workspace, so nothing else keeps their versions equal.
#[test]
fn bindings_have_the_version_of_the_crates() {
    let metadata = metadata();
    let version = metadata["packages"][0]["version"].as_str().expect("a version");
    for (path, line) in [
        ("python/Cargo.toml", format!("version = \"{version}\"")),
        ("node/Cargo.toml", format!("version = \"{version}\"")),
        ("engines/Cargo.toml", format!("version = \"{version}\"")),
        ("node/package.json", format!("\"version\": \"{version}\"")),
    ] {
        let Ok(text) = std::fs::read_to_string(root().join(path)) else { continue };
        assert!(
            text.lines().any(|found| found.trim().trim_end_matches(',') == line),
            "{path} lacks `{line}`"
        );
    }
}
