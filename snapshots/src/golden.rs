//! Goldens: each file holds a source and the output of one stage of the compiler, so a reviewer needs no second
//! file. `INSTA_UPDATE=always cargo test -p ptc-snapshots --test golden` accepts changes; read them first.

use bumpalo::Bump;
use ptc_bytecode::{Artifact, Diagnostic, Limits, Span, disassemble, place_of, verify};
use ptc_compiler::{Form, FormKind, Options, Scope, compile, parse, resolve_source, tokens};
use ptc_runtime::{LoadOptions, Prelude};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Declares one `#[test]` per golden of a folder, and one that finds unused files.
///
/// ```ignore
/// golden!(bytecode: check_bytecode => { branch: "(if 1 2 3)" });
/// ```
#[macro_export]
macro_rules! golden {
    ($folder:ident: $check:path => { $($name:ident: $source:expr),* $(,)? }) => {
        mod $folder {
            #[allow(unused_imports)]
            use super::*;

            pub const SOURCES: &[(&str, &str)] = &[$((stringify!($name), $source)),*];

            $(#[test]
            fn $name() {
                $check(stringify!($name), $source);
            })*

            #[test]
            fn no_file_is_unused() {
                $crate::golden::assert_no_strays(stringify!($folder), SOURCES.iter().map(|(name, _)| *name));
            }
        }
    };
}

/// Compares with `snapshots/<folder>/<name>.snap`. Each section has a title and a text.
pub fn assert_golden(folder: &str, name: &str, sections: &[(&str, &str)]) {
    let mut text = String::new();
    for (title, body) in sections {
        let _ = writeln!(text, "----- {title}\n{}", body.trim_end_matches('\n'));
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder_path(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Fails if a file of `folder` belongs to none of the `names`.
pub fn assert_no_strays<'n>(folder: &str, names: impl Iterator<Item = &'n str>) {
    let known: BTreeSet<String> = names.map(|name| format!("{name}.snap")).collect();
    let entries = std::fs::read_dir(folder_path(folder)).expect("the folder of snapshots");
    let found = entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned());
    let strays: Vec<String> = found.filter(|name| !known.contains(name)).collect();
    assert!(strays.is_empty(), "snapshots/{folder}: no test uses {strays:?}");
}

fn folder_path(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// Checks the tokens that the grammar sees.
pub fn check_tokens(name: &str, source: &str) {
    let (found, errors) = tokens(source, &Limits::default());
    let mut out = String::new();
    for (span, token) in found {
        let _ = writeln!(out, "{:<7} {token}", at(source, span));
    }
    let errors = told(&errors, source);
    let sections = [("SOURCE", source), ("TOKENS", &out), ("ERRORS", &errors)];
    assert_golden("tokens", name, if errors.is_empty() { &sections[..2] } else { &sections });
}

/// Checks the syntax tree, with the place of each node.
pub fn check_forms(name: &str, source: &str) {
    let arena = Bump::new();
    let (title, out) = match parse(source, &arena, &Limits::default()) {
        Ok(forms) => {
            let mut out = String::new();
            forms.iter().for_each(|form| write_form(&mut out, source, form, 0));
            ("FORMS", out)
        }
        Err(errors) => ("ERRORS", told(&errors, source)),
    };
    assert_golden("forms", name, &[("SOURCE", source), (title, &out)]);
}

fn write_form(out: &mut String, source: &str, form: &Form<'_>, depth: usize) {
    let (label, children): (String, &[Form<'_>]) = match form.kind {
        FormKind::List(items) => ("list".into(), items),
        FormKind::Vector(items) => ("vector".into(), items),
        FormKind::Map(items) => ("map".into(), items),
        FormKind::Set(items) => ("set".into(), items),
        FormKind::ShortFn(items) => ("short fn".into(), items),
        FormKind::Quote(inner) => ("quote".into(), std::slice::from_ref(inner)),
        _ => (format!("{form}"), &[]),
    };
    let _ = writeln!(out, "{:<11} {:depth$}{label}", extent(source, form.span), "", depth = 2 * depth);
    children.iter().for_each(|child| write_form(out, source, child, depth + 1));
}

/// Checks the core forms: names resolved, macros expanded.
pub fn check_resolved(name: &str, source: &str) {
    let arena = Bump::new();
    let found = resolve_source(source, &scope(), &Limits::default(), Options::default(), &arena);
    let core = found.unwrap_or_else(|errors| panic!("{}", told(&errors, source))).to_string();
    assert_golden("resolved", name, &[("SOURCE", source), ("RESOLVED", &core)]);
}

/// Checks the listing with and without optimisation.
pub fn check_bytecode(name: &str, source: &str) {
    let listing =
        |optimize| disassemble(&compiled(source, Options { optimize, library: false }), Some(source));
    let (short, long) = (listing(true), listing(false));
    if short == long {
        assert_golden("bytecode", name, &[("SOURCE", source), ("BYTECODE (nothing to optimise)", &short)]);
    } else {
        let sections = [("SOURCE", source), ("BYTECODE", &short), ("NOT OPTIMISED", &long)];
        assert_golden("bytecode", name, &sections);
    }
}

/// Compiles and verifies a source; panics with all errors.
pub fn compiled(source: &str, options: Options) -> Artifact {
    let limits = Limits { symbols: 1_000_000, ..Limits::default() };
    let artifact = compile(source, &scope(), &limits, options)
        .unwrap_or_else(|errors| panic!("{source}\n{}", told(&errors, source)));
    let verified = verify(artifact).unwrap_or_else(|error| panic!("{source}\n{}", error.to_text(source)));
    verified.artifact().clone()
}

/// Checks a shipped prelude: its exports, its text in prompts, and its code.
///
/// # Panics
///
/// If there is no shipped prelude of that name, or it does not load.
pub fn check_shipped(name: &str, source: &str) {
    let bytes = ptc_preludes::shipped().into_iter().find(|(known, _)| *known == name);
    let bytes = bytes.unwrap_or_else(|| panic!("no prelude {name}")).1;
    let prelude = Prelude::load(&crate::runtime(), bytes, &LoadOptions::default()).expect(name);
    assert_eq!(prelude.sources().expect("its source")[0], source, "{name} was built from another source");
    let mut exports = String::new();
    for export in prelude.exports() {
        let (visibility, effect) = (export.visibility.name(), export.effect.name());
        let _ = writeln!(exports, "{} {visibility}, {effect}", export.signatures().join(" "));
        for needed in &export.requires {
            let _ = writeln!(exports, "    requires {needed}");
        }
    }
    let inventory = prelude.inventory(Default::default()).unwrap_or_default();
    let listing = disassemble(prelude.artifact(), None);
    let sections = [("EXPORTS", &*exports), ("INVENTORY", &inventory), ("BYTECODE", &listing)];
    assert_golden("shipped", name, &sections);
}

/// Checks one file of the core library: each top-level form with the code of its functions. The file is
/// compiled by itself, so that a change only shows in its own listing.
pub fn check_prelude(name: &str, source: &str) {
    let artifact = compiled(source, Options { optimize: true, library: true });
    let listing = disassemble(&artifact, Some(source));
    let arena = Bump::new();
    let forms = parse(source, &arena, &Limits::default()).expect("it was just compiled");
    let starts: Vec<u32> =
        artifact.functions.iter().map(|function| first_span(&artifact, function)).collect();
    let mut sections = Vec::new();
    for form in forms {
        sections.push(("SOURCE", form.span.text(source).to_string()));
        let inside = |head: &&str| {
            let id = head.strip_prefix("fn#").and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
            id.is_some_and(|id| (form.span.start..form.span.end).contains(&starts[id]))
        };
        let parts: Vec<&str> = listing.split("\n\n").filter(inside).map(|part| part.trim_end()).collect();
        assert!(!parts.is_empty(), "no code for {form}");
        sections.push(("BYTECODE", parts.join("\n\n")));
    }
    let sections: Vec<(&str, &str)> = sections.iter().map(|(title, body)| (*title, &**body)).collect();
    assert_golden("preludes", name, &sections);
}

/// Returns the source position where the code of a function begins.
fn first_span(artifact: &Artifact, function: &ptc_bytecode::Function) -> u32 {
    let blocks = function.arities.iter().map(|arity| &artifact.blocks[arity.block as usize]);
    blocks.flat_map(|block| &block.spans).map(|(_, span)| span.start).min().unwrap_or(0)
}

/// Returns the names that goldens may use: an earlier turn defined `total`, and two tools are granted.
fn scope() -> Scope {
    Scope::default().with_defs(["total"]).with_tools(["search", "notify"])
}

fn told(errors: &[Diagnostic], source: &str) -> String {
    errors.iter().map(|error| error.to_text(source)).collect()
}

fn at(source: &str, span: Span) -> String {
    let place = place_of(source, span.start);
    format!("{}:{}", place.line, place.column)
}

/// Formats a span with its end included: `1:2-1:5`, `1:2-5` on one line, `1:2` for one character.
fn extent(source: &str, span: Span) -> String {
    let start = place_of(source, span.start);
    let last = span.text(source).char_indices().last().map_or(0, |(at, _)| at);
    let end = place_of(source, span.start + last as u32);
    match (start == end, start.line == end.line) {
        (true, _) => at(source, span),
        (false, true) => format!("{}-{}", at(source, span), end.column),
        (false, false) => format!("{}-{}:{}", at(source, span), end.line, end.column),
    }
}
