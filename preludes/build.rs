//! Compiles `core/*.clj` into one artifact. A file that does not compile stops the build with the
//! compiler's own messages.

use ptc_bytecode::{Limits, encode, place_of};
use ptc_compiler::{Options, Scope, compile};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

fn main() {
    println!("cargo::rerun-if-changed=core");
    if let Err(message) = build() {
        eprintln!("{message}");
        process::exit(1);
    }
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
            let file = starts.iter().rev().find(|(start, _, _)| *start <= at);
            let place = file.map_or(String::new(), |(start, path, text)| {
                let place = place_of(text, (at - start) as u32);
                format!("{}:{}:{}: ", path.display(), place.line, place.column)
            });
            let hint = diagnostic.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
            format!("{place}{}: {}{hint}", diagnostic.code.reason(), diagnostic.message)
        });
        messages.collect::<Vec<_>>().join("\n")
    })?;
    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    let out = Path::new(&out);
    let write = |name: &str, bytes: &[u8]| {
        fs::write(out.join(name), bytes).map_err(|error| format!("{name}: {error}"))
    };
    write("core.ptcp", &encode(&artifact))?;
    write("core.clj", source.as_bytes())
}
