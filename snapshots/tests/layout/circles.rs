//! Import circles between the modules of a crate, found in the source text: a module is a file, and it imports
//! another if a `use` or a path in its code names an item of that file.
//!
//! Names are followed through re-exports to the file that defines them, so a `pub use` neither creates nor
//! hides a circle. Imports of tests do not count.

use crate::rust_files;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of modules in one circle.
const ALLOWED: usize = 4;

#[test]
fn modules_import_each_other_in_small_circles_at_most() {
    let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (path, text) in rust_files() {
        // Binaries next to a library are crates of one file.
        let Some((name, file)) = path.split_once("/src/") else { continue };
        if file != "main.rs" && !file.starts_with("bin/") {
            crates.entry(name.to_string()).or_default().push((file.to_string(), text));
        }
    }
    assert!(crates.len() >= 8, "{:?}", crates.keys());
    let mut wrong = String::new();
    for (name, files) in &crates {
        let graph = Graph::of(files);
        let largest = graph.circles().into_iter().max_by_key(Vec::len).unwrap_or_default();
        println!("{name}: largest circle {} of {} modules (allowed {ALLOWED})", largest.len(), files.len());
        if largest.len() > ALLOWED {
            wrong += &format!("{name}: {} modules in one circle, {ALLOWED} allowed:\n", largest.len());
            wrong += &graph.describe(&largest);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_planted_circle_is_found() {
    let files = |texts: &[(&str, &str)]| {
        texts.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect::<Vec<_>>()
    };
    let mut planted = files(&[
        ("lib.rs", "pub mod a;\nmod b;\npub mod c;\npub use b::Thing;\n"),
        ("a.rs", "//! use crate::c::Nothing;\nmod inner;\nuse crate::{Thing, c};\npub struct A;"),
        ("a/inner.rs", "use super::A;"),
        ("b.rs", "pub struct Thing;\nfn f() -> crate::c::C { \"crate::a::A\".into() }"),
        ("c.rs", "pub struct C;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"),
    ]);
    // `lib` only declares and re-exports; tests, strings and comments import nothing.
    assert_eq!(Graph::of(&planted).circles(), Vec::<Vec<&str>>::new());
    planted[4].1 += "mod inline {\n    fn g() { super::super::a::A; }\n}";
    let graph = Graph::of(&planted);
    assert_eq!(graph.circles(), [["a.rs", "b.rs", "c.rs"]]);
    let told = graph.describe(&["a.rs", "b.rs", "c.rs"]);
    // Through the re-export, to the file that defines it.
    assert!(told.contains("a.rs:3 → b.rs: crate::Thing"), "{told}");
    assert!(told.contains("c.rs:7 → a.rs: super::super::a::A"), "{told}");

    planted.push(("a/other.rs".to_string(), "pub fn other() {}".to_string()));
    planted[1].1 += "mod other;\nfn f() { inner::f() }";
    assert_eq!(Graph::of(&planted).circles(), [["a.rs", "a/inner.rs", "b.rs", "c.rs"]]);
}

/// Path of a module from the crate's root; the root is empty.
type Module = Vec<String>;

/// One name that a file imports or mentions.
struct Import {
    path: Vec<String>,
    line: usize,
    /// Module containing the import, which may be an inline module of its file.
    inside: Module,
    /// Name that a `use` binds, `*` for all names.
    binds: Option<String>,
    reexported: bool,
}

/// Modules of one crate, with their imports.
struct Graph<'a> {
    /// File of each module.
    files: BTreeMap<Module, &'a str>,
    imports: BTreeMap<Module, Vec<Import>>,
    /// Imports between files, each with the line and path of its first occurrence.
    edges: BTreeMap<(&'a str, &'a str), (usize, String)>,
}

impl<'a> Graph<'a> {
    fn of(files: &'a [(String, String)]) -> Graph<'a> {
        let mut graph = Graph { files: BTreeMap::new(), imports: BTreeMap::new(), edges: BTreeMap::new() };
        let mut test_modules = BTreeSet::new();
        let mut words_of = BTreeMap::new();
        for (path, text) in files {
            let module = module_of(path);
            let tokens = without_tests(tokens(text), &module, &mut test_modules);
            graph.files.insert(module.clone(), path);
            let (imports, words) = imports(&tokens, &module);
            graph.imports.insert(module.clone(), imports);
            words_of.insert(module, words);
        }
        let is_test = |module: &Module| test_modules.iter().any(|test: &Module| module.starts_with(test));
        graph.files.retain(|module, _| !is_test(module));
        graph.imports.retain(|module, _| !is_test(module));
        for (module, imports) in &graph.imports {
            for import in imports {
                // A re-export counts as an import only if the file also uses the name itself.
                let own_use = |name: &String| words_of[module].contains(name);
                if import.reexported && !import.binds.as_ref().is_some_and(own_use) {
                    continue;
                }
                let Some(target) = graph.target(&import.inside, &import.path, 0) else { continue };
                if target != *module {
                    let pair = (graph.files[module], graph.files[&target]);
                    graph.edges.entry(pair).or_insert((import.line, import.path.join("::")));
                }
            }
        }
        graph
    }

    /// Returns the module that defines the target of a path; None if it leads out of the crate.
    fn target(&self, inside: &Module, path: &[String], depth: usize) -> Option<Module> {
        let mut at = inside.clone();
        let mut rest = path;
        let child = |at: &Module, name: &String| {
            let mut child = at.clone();
            child.push(name.clone());
            child
        };
        match rest[0].as_str() {
            "crate" => {
                at.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {}
            first if self.files.contains_key(&child(&at, &first.to_string())) => {}
            _ => return None,
        }
        while rest.first().is_some_and(|name| name == "super") {
            at.pop()?;
            rest = &rest[1..];
        }
        while let Some(name) = rest.first() {
            let next = child(&at, name);
            if !self.files.contains_key(&next) {
                break;
            }
            at = next;
            rest = &rest[1..];
        }
        // An inline module is part of its file.
        while !self.files.contains_key(&at) {
            at.pop()?;
        }
        if let Some(name) = rest.first().filter(|_| depth < 8) {
            let bound = self.imports[&at].iter().find(|import| import.binds.as_ref() == Some(name));
            if let Some(import) = bound {
                let mut full = import.path.clone();
                full.extend(rest[1..].iter().cloned());
                // An import from another crate ends here: users of the name do not depend on this module because of it.
                return self.target(&import.inside, &full, depth + 1);
            }
        }
        Some(at)
    }

    /// Returns the strongly connected components of more than one module, each in alphabetical order.
    fn circles(&self) -> Vec<Vec<&'a str>> {
        let mut next: BTreeMap<&str, Vec<&'a str>> = BTreeMap::new();
        for (from, to) in self.edges.keys() {
            next.entry(from).or_default().push(to);
        }
        let reach = |start: &'a str| {
            let mut seen = BTreeSet::new();
            let mut todo = vec![start];
            while let Some(at) = todo.pop() {
                todo.extend(next.get(at).into_iter().flatten().filter(|to| seen.insert(**to)));
            }
            seen
        };
        // Quadratic, for some hundreds of modules.
        let reached: BTreeMap<&'a str, BTreeSet<&'a str>> =
            self.files.values().map(|file| (*file, reach(file))).collect();
        let mut circles = BTreeSet::new();
        for (file, others) in &reached {
            let circle: Vec<_> =
                others.iter().filter(|other| reached[*other].contains(file)).copied().collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// Describes the imports inside a circle, one per line.
    fn describe(&self, circle: &[&str]) -> String {
        let inside = |file: &&str| circle.contains(file);
        let edges = self.edges.iter().filter(|((from, to), _)| inside(from) && inside(to));
        edges.map(|((from, to), (line, path))| format!("  {from}:{line} → {to}: {path}\n")).collect()
    }
}

fn module_of(path: &str) -> Module {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    if path == "lib" { Vec::new() } else { path.split('/').map(str::to_string).collect() }
}

/// Returns words, `::` and single signs, each with its line; comments, strings and characters are left out.
fn tokens(text: &str) -> Vec<(String, usize)> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let (mut i, mut line) = (0, 1);
    while i < chars.len() {
        let start = i;
        match at(i) {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => {
                i += 2;
                while i < chars.len() && (at(i), at(i + 1)) != ('*', '/') {
                    i += 1;
                }
                i += 2;
            }
            '"' => {
                i += 1;
                while i < chars.len() && at(i) != '"' {
                    i += if at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
            }
            // A character, not a lifetime.
            '\'' if at(i + 1) == '\\' || at(i + 2) == '\'' => {
                i += if at(i + 1) == '\\' { 3 } else { 2 };
                while i < chars.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            }
            c if word(c) => {
                while word(at(i)) {
                    i += 1;
                }
                let text: String = chars[start..i].iter().collect();
                let hashes = chars[i..].iter().take_while(|c| **c == '#').count();
                if matches!(text.as_str(), "r" | "br" | "cr") && at(i + hashes) == '"' {
                    i += hashes + 1;
                    let end = |i: usize| at(i) == '"' && (1..=hashes).all(|n| at(i + n) == '#');
                    while i < chars.len() && !end(i) {
                        i += 1;
                    }
                    i += hashes + 1;
                } else {
                    found.push((text, line));
                }
            }
            ':' if at(i + 1) == ':' => {
                found.push(("::".to_string(), line));
                i += 2;
            }
            c => {
                if !c.is_whitespace() {
                    found.push((c.to_string(), line));
                }
                i += 1;
            }
        }
        line += chars[start..i.min(chars.len())].iter().filter(|c| **c == '\n').count();
    }
    found
}

/// Removes items under `#[cfg(test)]`, and records test modules that are in files of their own.
fn without_tests(
    tokens: Vec<(String, usize)>,
    module: &Module,
    test_modules: &mut BTreeSet<Module>,
) -> Vec<(String, usize)> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let is = |i: usize, text: &str| tokens.get(i).is_some_and(|(token, _)| token == text);
    let mut kept = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if !mark.iter().enumerate().all(|(n, text)| is(i + n, text)) {
            kept.push(tokens[i].clone());
            i += 1;
            continue;
        }
        i += mark.len();
        if is(i, "mod") && is(i + 2, ";") {
            let mut test = module.clone();
            test.push(tokens[i + 1].0.clone());
            test_modules.insert(test);
        }
        // Skips to the end of the item: a `;` outside of brackets, or the `}` of its body.
        let mut depth = 0;
        while i < tokens.len() {
            match tokens[i].0.as_str() {
                "{" | "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                "}" => depth -= 1,
                _ => {}
            }
            i += 1;
            if depth == 0 && (is(i - 1, ";") || is(i - 1, "}")) {
                break;
            }
        }
    }
    kept
}

/// Returns all imports of a file, and the words outside of `use`s that do not end a path.
fn imports(tokens: &[(String, usize)], module: &Module) -> (Vec<Import>, BTreeSet<String>) {
    let word = |i: usize| {
        tokens.get(i).is_some_and(|(token, _)| token.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    };
    let is = |i: usize, text: &str| tokens.get(i).is_some_and(|(token, _)| token == text);
    let mut found = Vec::new();
    let mut words = BTreeSet::new();
    let mut inside = module.clone();
    // Brace depths at which inline modules began.
    let mut inline = Vec::new();
    let mut depth = 0;
    let mut i = 0;
    while i < tokens.len() {
        let (token, line) = (&tokens[i].0, tokens[i].1);
        if token == "mod" && is(i + 2, ";") {
            i += 2;
        } else if token == "mod" && is(i + 2, "{") {
            inside.push(tokens[i + 1].0.clone());
            inline.push(depth);
            i += 2;
        } else if token == "use" && (word(i + 1) || is(i + 1, "::")) {
            let reexported = i > 0 && (is(i - 1, "pub") || is(i - 1, ")"));
            i += 1;
            let mut prefixes: Vec<Vec<String>> = vec![Vec::new()];
            let mut path: Vec<String> = Vec::new();
            let mut name = None;
            // True after braces, whose names were the ends of the path.
            let mut closed = false;
            while i < tokens.len() {
                let token = tokens[i].0.as_str();
                match token {
                    "::" => {}
                    "{" => prefixes.push(path.clone()),
                    "as" => {
                        name = Some(tokens[i + 1].0.clone());
                        i += 1;
                    }
                    "}" | "," | ";" => {
                        if !closed && path.len() > prefixes[prefixes.len() - 1].len() {
                            if path.last().is_some_and(|last| last == "self") {
                                path.pop();
                            }
                            let binds = name.take().or(path.last().cloned());
                            let path = path.clone();
                            let import = Import {
                                path,
                                line: tokens[i - 1].1,
                                inside: inside.clone(),
                                binds,
                                reexported,
                            };
                            found.push(import);
                        }
                        if token == "}" {
                            path = prefixes.pop().unwrap_or_default();
                        } else {
                            path = prefixes[prefixes.len() - 1].clone();
                        }
                        closed = token == "}";
                        if token == ";" {
                            break;
                        }
                    }
                    text => path.push(text.to_string()),
                }
                i += 1;
            }
        } else if word(i) && !(i > 0 && is(i - 1, "::")) {
            let mut path = vec![token.clone()];
            while is(i + 1, "::") && word(i + 2) {
                path.push(tokens[i + 2].0.clone());
                i += 2;
            }
            words.insert(token.clone());
            // `pub(super)` and `self.field` are not paths.
            if path.len() > 1 {
                found.push(Import { path, line, inside: inside.clone(), binds: None, reexported: false });
            }
        } else if token == "{" {
            depth += 1;
        } else if token == "}" {
            depth -= 1;
            if inline.last() == Some(&depth) {
                inline.pop();
                inside.pop();
            }
        }
        i += 1;
    }
    (found, words)
}
