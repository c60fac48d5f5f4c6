//! Renaming of locals and definitions within a document.

use crate::document::Document;
use crate::project::Project;
use crate::protocol::Range;
use ptc_bytecode::{Span, is_definition_name};
use ptc_compiler::Meter;
use ptc_compiler::names::{Meaning, Names, names};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Returns the name at a byte, if it can be renamed, and its range.
pub fn prepare(document: &mut Document, offset: u32, project: &Project) -> Result<Range, String> {
    let span = renamed(document, offset, project)?.0;
    Ok(document.range(span))
}

/// Returns the edits that give the name at a byte another one. The meaning of every name stays as it is.
pub fn rename(
    document: &mut Document,
    offset: u32,
    new_name: &str,
    project: &Project,
) -> Result<Value, String> {
    let (_, meaning) = renamed(document, offset, project)?;
    if !is_definition_name(new_name) || new_name.starts_with('%') {
        return Err(format!("`{new_name}` cannot be a name"));
    }
    let before = document.names(project).clone();
    let places: Vec<Span> = before.uses_of(meaning).collect();
    let mut text = String::with_capacity(document.text.len());
    let mut end = 0;
    for place in &places {
        text.push_str(document.text.get(end..place.start as usize).unwrap_or_default());
        text.push_str(new_name);
        end = place.end as usize;
    }
    text.push_str(document.text.get(end..).unwrap_or_default());
    let limits = project.runtime.current_limits();
    let after = names(&text, limits, &Meter::new(limits, &|| false));
    if shape(&before) != shape(&after) {
        return Err(format!("`{new_name}` already means something else where it would stand"));
    }
    let edits: Vec<Value> =
        places.iter().map(|place| json!({"range": document.range(*place), "newText": new_name})).collect();
    Ok(json!({"changes": {&document.uri: edits}}))
}

fn renamed(document: &mut Document, offset: u32, project: &Project) -> Result<(Span, Meaning), String> {
    let names = document.names(project);
    let found = names.at(offset).ok_or("only locals and definitions of this file can be renamed")?;
    if let Meaning::Local(bound) = found.meaning
        && names.is_key(bound)
    {
        let name = bound.text(&document.text);
        return Err(format!(
            "`{name}` is also the key that is taken out of the map: write {{new-name :{name}}} instead of {{:keys [{name}]}} first"
        ));
    }
    Ok((found.span, found.meaning))
}

/// Returns which names of a text mean the same, as numbers in the order of the text.
fn shape(names: &Names) -> Vec<usize> {
    let mut known: HashMap<Meaning, usize> = HashMap::new();
    let number = |name: &ptc_compiler::names::NameUse| {
        let next = known.len();
        *known.entry(name.meaning).or_insert(next)
    };
    names.uses().iter().map(number).collect()
}
