//! The grammar by which editors colour programs (TextMate), made from the tables of forms and builtins.

use crate::{bless, root};
use ptc_bytecode::{BUILTINS, CONSTANTS, FORMS, NAMESPACES};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Where VS Code looks for it; other editors read the same file.
const FILE: &str = "editors/vscode/syntaxes/ptc-lisp.tmLanguage.json";

/// What may stand before and after a name, as patterns that take no text.
const BEFORE: &str = r#"(?<![^\s,()\[\]{}"'`~@^;#])"#;
const AFTER: &str = r#"(?![^\s,()\[\]{}"`~@^;\\])"#;
/// Where a form is called.
const CALLED: &str = r"(?<=\()";

#[test]
fn the_grammar_for_editors_is_fresh() {
    let path = root().join(FILE);
    let text = format!("{}\n", serde_json::to_string_pretty(&grammar()).expect("it is JSON"));
    if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return;
    }
    assert!(bless(), "{FILE} is stale; PTC_BLESS=1 rewrites it");
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
    std::fs::write(&path, text).expect("the grammar can be written");
}

fn grammar() -> Value {
    let forms: BTreeSet<&str> =
        FORMS.iter().map(|row| row.name).chain(ptc_compiler::testing::form_names()).collect();
    let defining = |name: &&str| name.starts_with("def") || matches!(*name, "ns" | "declare");
    let (defining, others): (BTreeSet<&str>, BTreeSet<&str>) = forms.iter().copied().partition(defining);
    let builtins: BTreeSet<&str> =
        BUILTINS.iter().map(|row| row.name).filter(|name| !name.starts_with('%')).collect();
    let methods: BTreeSet<&str> = builtins.iter().copied().filter(|name| name.starts_with('.')).collect();
    let functions: BTreeSet<&str> = builtins.difference(&methods).copied().collect();
    let constants: BTreeSet<&str> = CONSTANTS.iter().map(|row| row.name).collect();
    let spaces: BTreeSet<&str> = NAMESPACES.iter().flat_map(|space| space.names).copied().collect();
    let name = r#"[^\s,()\[\]{}"'`~@^;\\][^\s,()\[\]{}"`~@^;\\]*"#;
    let rule = |scope: &str, pattern: String| json!({"name": format!("{scope}.ptc-lisp"), "match": pattern});
    let brackets = |open: &str, close: &str, scope: &str| {
        json!({
            "name": format!("meta.{scope}.ptc-lisp"),
            "begin": open,
            "end": close,
            "beginCaptures": {"0": {"name": format!("punctuation.section.{scope}.begin.ptc-lisp")}},
            "endCaptures": {"0": {"name": format!("punctuation.section.{scope}.end.ptc-lisp")}},
            "patterns": [{"include": "$self"}],
        })
    };
    let text = |scope: &str, begin: &str| {
        json!({
            "name": format!("{scope}.ptc-lisp"),
            "begin": begin,
            "end": "\"",
            "patterns": [{"name": "constant.character.escape.ptc-lisp", "match": r"\\(u[0-9A-Fa-f]{4}|.)"}],
        })
    };
    json!({
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "information_for_contributors": ["Made from the tables by `PTC_BLESS=1 cargo test -p ptc-cli --test docs`; do not edit."],
        "name": "PTC-Lisp",
        "scopeName": "source.ptc-lisp",
        "fileTypes": ["ptc", "ptc.clj"],
        "patterns": [
            {"name": "comment.line.semicolon.ptc-lisp", "match": ";.*$"},
            text("string.regexp", "#\""),
            text("string.quoted.double", "\""),
            rule("constant.character", r#"\\([^\s,()\[\]{}";@^`~\\]+|.)"#.to_string()),
            rule("comment.block.discard", "#_".to_string()),
            rule("constant.language", format!("{BEFORE}(nil|true|false|##-?Inf|##NaN){AFTER}")),
            rule("constant.numeric", format!("{BEFORE}[+-]?[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?{AFTER}")),
            rule("constant.keyword", format!(r#"{BEFORE}:[^\s,()\[\]{{}}"`~@^;\\]+"#)),
            json!({
                "match": format!(r"{CALLED}({})(\s+)({name})?", words(&defining)),
                "captures": {
                    "1": {"name": "keyword.declaration.ptc-lisp"},
                    "3": {"name": "entity.name.function.ptc-lisp"},
                },
            }),
            rule("keyword.control", format!("{CALLED}({}){AFTER}", words(&others))),
            rule("variable.parameter", format!("{BEFORE}(%[0-9&]?|&){AFTER}")),
            rule("support.constant", format!("{BEFORE}({}){AFTER}", words(&constants))),
            json!({
                "match": format!("{BEFORE}({})(/)({name})", words(&spaces)),
                "captures": {
                    "1": {"name": "support.class.ptc-lisp"},
                    "2": {"name": "punctuation.separator.ptc-lisp"},
                    "3": {"name": "support.function.ptc-lisp"},
                },
            }),
            rule("support.function", format!("{BEFORE}({}){AFTER}", words(&functions))),
            rule("support.function.method", format!("{CALLED}({}){AFTER}", words(&methods))),
            rule("variable.other.data", format!("{BEFORE}data/{name}")),
            rule("entity.name.function.tool", format!("{BEFORE}tool/{name}")),
            rule("variable.other", name.to_string()),
            brackets(r"#?\(", r"\)", "list"),
            brackets(r"\[", r"\]", "vector"),
            brackets(r"#?\{", r"\}", "map"),
        ],
    })
}

/// A pattern of these names, longer ones first, so that none hides another.
fn words(names: &BTreeSet<&str>) -> String {
    let mut names: Vec<&str> = names.iter().copied().collect();
    names.sort_by_key(|name| (std::cmp::Reverse(name.len()), *name));
    let escaped = names.iter().map(|name| {
        name.chars().fold(String::new(), |mut out, c| {
            if "\\^$.|?*+()[]{}-/".contains(c) {
                out.push('\\');
            }
            out.push(c);
            out
        })
    });
    escaped.collect::<Vec<_>>().join("|")
}
