//! Compiles `core/*.clj` into one artifact, and each shipped prelude into a `.ptcp` file of its own. A file
//! that does not compile stops the build with the compiler's own messages.

use ptc_bytecode::{Diagnostic, Limits, encode, encode_prelude, place_of, verify_prelude};
use ptc_compiler::{Meter, Options, Scope, compile, prelude};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// The shipped preludes: `NAME/NAME.clj` each.
const SHIPPED: &[&str] = &["log", "paged", "prelude", "saga"];

fn main() {
    println!("cargo::rerun-if-changed=core");
    if let Err(message) = SHIPPED.iter().try_for_each(|name| ship(name)).and_then(|()| build()) {
        eprintln!("{message}");
        process::exit(1);
    }
}

/// Compiles a shipped prelude.
fn ship(name: &str) -> Result<(), String> {
    let path = Path::new(name).join(format!("{name}.clj"));
    println!("cargo::rerun-if-changed={}", path.display());
    let source = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let told = |diagnostic: &Diagnostic| {
        let at = diagnostic.span.map_or(0, |span| span.start);
        message(&path, &source, at, diagnostic)
    };
    let limits = Limits::default();
    let namespaces = prelude::compile(
        &source,
        &limits,
        &Default::default(),
        &Default::default(),
        true,
        &Meter::new(&limits, &|| false),
    )
    .map_err(|error| error.diagnostics.iter().map(told).collect::<Vec<_>>().join("\n"))?;
    let compiled = prelude::Compiled::new(&source, namespaces);
    // Their values are found by running them, and there is no machine here.
    let mut definitions = compiled.namespaces().iter().flat_map(|namespace| &namespace.definitions);
    if let Some(constant) = definitions.find(|definition| definition.constant) {
        return Err(format!("{}: {} is a constant; make it a function", path.display(), constant.reference));
    }
    let mut file = prelude::file_of(&[compiled], Vec::new(), &Default::default())
        .map_err(|error| told(error.diagnostic()))?;
    file.artifact.blocks.iter_mut().for_each(|block| block.spans.clear());
    let file = file.sealed();
    let bytes = encode_prelude(&file);
    verify_prelude(file).map_err(|problem| told(&problem))?;
    write(&format!("{name}.ptcp"), &bytes)
}

fn build() -> Result<(), String> {
    let mut files: Vec<PathBuf> = fs::read_dir("core")
        .map_err(|error| format!("core: {error}"))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "clj"))
        .collect();
    files.sort();
    // One source, so that functions of all files see each other; where each file starts is kept
    // for messages.
    let mut source = String::new();
    let mut starts = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        starts.push((source.len(), path, text.clone()));
        source.push_str(&text);
        source.push('\n');
    }
    let limits = Limits { source_bytes: 16 << 20, symbols: 1_000_000, ..Limits::default() };
    let options = Options { library: true, optimize: true };
    let artifact = compile(&source, &Scope::default(), &limits, options).map_err(|diagnostics| {
        let messages = diagnostics.iter().map(|diagnostic| {
            let at = diagnostic.span.map_or(0, |span| span.start as usize);
            match starts.iter().rev().find(|(start, _, _)| *start <= at) {
                Some((start, path, text)) => message(path, text, (at - start) as u32, diagnostic),
                None => diagnostic.message.clone(),
            }
        });
        messages.collect::<Vec<_>>().join("\n")
    })?;
    write("core.ptcp", &encode(&artifact))
}

/// A message with its place.
fn message(path: &Path, text: &str, at: u32, diagnostic: &Diagnostic) -> String {
    let place = place_of(text, at);
    let hint = diagnostic.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
    let (line, column) = (place.line, place.column);
    format!("{}:{line}:{column}: {}: {}{hint}", path.display(), diagnostic.code.reason(), diagnostic.message)
}

/// Writes a file to where the crate embeds it from.
fn write(name: &str, bytes: &[u8]) -> Result<(), String> {
    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    fs::write(Path::new(&out).join(name), bytes).map_err(|error| format!("{name}: {error}"))
}
