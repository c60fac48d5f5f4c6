//! Navigation: where a name is defined and used, and the outline of a document.

use crate::document::Document;
use crate::hover::symbol_at;
use crate::lines::Lines;
use crate::neighbours::Neighbours;
use crate::project::Project;
use ptc_compiler::names::{Meaning, names};
use ptc_compiler::{Definition, Meter};
use serde_json::{Value, json};
use std::path::Path;
use url::Url;

/// Kinds of symbols, as the protocol numbers them.
const FUNCTION: u8 = 12;
const CONSTANT: u8 = 14;

/// Returns the place that defines the name at a byte, or null. It may be in another file of the folder.
pub fn definition(document: &mut Document, offset: u32, project: &Project, beside: &mut Neighbours) -> Value {
    if let Some(found) = document.names(project).at(offset) {
        let (Meaning::Local(at) | Meaning::Definition(at)) = found.meaning;
        return json!({"uri": &document.uri, "range": document.range(at)});
    }
    let Some(span) = symbol_at(&document.text, offset) else { return Value::Null };
    let name = span.text(&document.text).to_string();
    let full = document.names(project).in_full(&name);
    let Some((space, name)) = full.split_once('/') else { return Value::Null };
    // Another namespace of the same file.
    if let Some(path) = document.path.clone()
        && let Some(found) = beside.declaring(project, &path, space)
    {
        return in_file(&found.path, &found.text, name, project);
    }
    let mut preludes = project.usable.iter();
    let declared = preludes.find(|prelude| prelude.namespaces().iter().any(|known| known.name == space));
    let origin = declared.and_then(|prelude| prelude.origin()).map(Path::new);
    let Some(path) = origin.filter(|path| path.extension().is_some_and(|end| end == "clj")) else {
        return Value::Null;
    };
    match (path.canonicalize(), std::fs::read_to_string(path)) {
        (Ok(path), Ok(text)) => in_file(&path, &text, name, project),
        _ => Value::Null,
    }
}

fn in_file(path: &Path, text: &str, name: &str, project: &Project) -> Value {
    let limits = project.runtime.current_limits();
    let names = names(text, limits, &Meter::new(limits, &|| false));
    let found = names.definitions().iter().find(|known| known.name == name);
    match (found, Url::from_file_path(path)) {
        (Some(definition), Ok(uri)) => {
            json!({"uri": uri.as_str(), "range": Lines::of(text).range(text, definition.name_span)})
        }
        _ => Value::Null,
    }
}

/// Returns all places of the name at a byte.
pub fn references(document: &mut Document, offset: u32, project: &Project) -> Vec<Value> {
    let names = document.names(project).clone();
    let Some(found) = names.at(offset) else { return Vec::new() };
    let place = |span| json!({"uri": &document.uri, "range": document.range(span)});
    names.uses_of(found.meaning).map(place).collect()
}

/// Returns the same places as ranges to be marked.
pub fn highlights(document: &mut Document, offset: u32, project: &Project) -> Vec<Value> {
    let names = document.names(project).clone();
    let Some(found) = names.at(offset) else { return Vec::new() };
    names.uses_of(found.meaning).map(|span| json!({"range": document.range(span)})).collect()
}

/// Returns the definitions of a document.
pub fn symbols(document: &mut Document, project: &Project) -> Vec<Value> {
    let definitions = document.names(project).definitions().to_vec();
    let symbol = |definition: &Definition| {
        json!({
            "name": definition.name,
            "detail": definition.signatures.join(" "),
            "kind": if definition.is_function { FUNCTION } else { CONSTANT },
            "range": document.range(definition.span),
            "selectionRange": document.range(definition.name_span),
        })
    };
    definitions.iter().map(symbol).collect()
}
