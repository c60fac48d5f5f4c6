//! Reports of fields that were not found.

use super::known::Found;
use super::paths::{root_of, steps, tool_name};
use super::scan::{GaveUp, Scan};
use crate::shape::RecordShape;
use ptc_bytecode::{Code, Diagnostic, Span, nearest};
use ptc_compiler::Reads;
use ptc_compiler::reads::{Key, Lookup, Of, PathId, Step};
use ptc_vm::{Heap, MissedField, Value};
use std::cell::LazyCell;
use std::ops::ControlFlow;

/// Maximum keys of maps that are remembered, and that are shown.
const MAX_KEYS: usize = 64;
const MAX_TOLD: usize = 8;

/// Maximum length of a key that is remembered or looked for, in bytes.
pub(super) const MAX_NAME: usize = 64;

/// A lookup whose field has not been found so far.
pub(super) struct Absent<'r> {
    pub lookup: &'r Lookup,
    /// True if the field was found, or may be in data that is unknown.
    is_settled: bool,
    /// True if any of the values are maps.
    has_maps: bool,
    /// Keys of those maps, in their order.
    keys: Vec<Key>,
    /// True if there are values among them, not only a schema.
    has_values: bool,
    /// True if the maps may have other keys: nothing says they do not.
    is_open: bool,
}

impl<'r> Absent<'r> {
    pub fn of(lookup: &'r Lookup) -> Absent<'r> {
        let is_settled = lookup.is_open || lookup.of.is_empty() || lookup.key.name.len() > MAX_NAME;
        Absent { lookup, is_settled, has_maps: false, keys: Vec::new(), has_values: false, is_open: false }
    }

    /// True if nothing more can be found out.
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Settles the lookup: nothing is known about its data.
    pub fn give_up(&mut self) {
        self.is_settled = true;
    }

    /// Adds a shape of the maps it is looked up in; the shape is not known to have the field.
    pub fn add_record(&mut self, record: &RecordShape) {
        self.is_open |= !record.is_closed;
        record.fields.keys().for_each(|name| self.add_key(name));
    }

    /// Adds a key that the maps have; they may have others.
    pub fn add_key(&mut self, name: &str) {
        self.has_maps = true;
        remember(&mut self.keys, Key { name: name.into(), is_keyword: false });
    }

    /// Looks for the field in the maps that come from `root`.
    pub fn look(&mut self, reads: &Reads, root: PathId, scan: &mut Scan<'_>) {
        for of in &self.lookup.of {
            if let Of::Path(path) = of
                && !self.is_settled
                && root_of(reads, *path) == root
                && self.look_at(reads, *path, scan).is_err()
            {
                self.give_up();
            }
        }
    }

    fn look_at(&mut self, reads: &Reads, path: PathId, scan: &mut Scan<'_>) -> Result<(), GaveUp> {
        let key = &self.lookup.key;
        let made = match key.is_keyword {
            true => scan.heap.new_keyword(&key.name),
            false => scan.heap.new_str(&key.name),
        };
        let wanted = made.map_err(|_| GaveUp)?;
        let (mut is_settled, mut has_maps) = (false, false);
        let is_removed = self.lookup.is_removed;
        let keys = &mut self.keys;
        scan.visit(&steps(reads, path), |heap, value| {
            match value {
                Value::Nil => return ControlFlow::Continue(()),
                // Only an exact key counts here, unlike in a lookup by a program.
                Value::Map(map) if is_removed && heap.map_get(map, wanted).is_none() => {
                    has_maps = true;
                    if let Some((Value::Keyword(name) | Value::Str(name), _)) =
                        heap.map_find_flex(map, wanted)
                    {
                        let name = heap.str(name).into();
                        remember(keys, Key { name, is_keyword: !key.is_keyword });
                    }
                    return ControlFlow::Continue(());
                }
                Value::Map(_) if is_removed => {}
                Value::Map(map) => {
                    if matches!(heap.map_field_or(map, wanted, Value::Gone), Value::Gone) {
                        has_maps |= heap.map_len(map) > 0;
                        remember_keys(heap, map, keys);
                        return ControlFlow::Continue(());
                    }
                }
                _ => {}
            }
            is_settled = true;
            ControlFlow::Break(())
        })?;
        self.is_settled |= is_settled;
        self.has_maps |= has_maps;
        self.has_values = true;
        Ok(())
    }

    /// Reports the missing field, if it is worth it.
    pub fn report<'k>(
        self,
        reads: &Reads,
        watched: &LazyCell<Vec<(&'k Key, Span)>, impl FnOnce() -> Vec<(&'k Key, Span)>>,
        found: &mut Found,
    ) {
        let Absent { lookup, is_settled, mut has_maps, mut keys, has_values, is_open } = self;
        if is_settled {
            return;
        }
        for of in &lookup.of {
            if let Of::Made { keys: made, .. } = of {
                has_maps |= !made.is_empty();
                made.iter().for_each(|key| remember(keys.as_mut(), key.clone()));
            }
        }
        if !has_maps {
            return;
        }
        if lookup.is_removed {
            if let Some(key) = keys.first() {
                let message = format!(
                    "`dissoc` removes nothing here: no {} has the key `{}`",
                    origin(reads, &lookup.of),
                    lookup.key
                );
                found.warnings.push(
                    Diagnostic::warning(Code::AbsentField, lookup.span, message).suggest(&key.to_string()),
                );
            }
            return;
        }
        let near = near_key(&lookup.key, &keys);
        let is_guarded = reads.is_guarded(lookup);
        let is_read = |of: &Of| matches!(of, Of::Path(_));
        if is_open {
            if let Some(near) = near
                && let Some((_, span)) = watched.iter().find(|(key, _)| key.name == lookup.key.name)
            {
                let message = format!("no {} is known to have `{}`", origin(reads, &lookup.of), lookup.key);
                let told = Diagnostic::warning(Code::UndeclaredField, *span, message);
                found.warnings.push(told.suggest(&written_like(&lookup.key, near)));
            }
            return;
        }
        let code = match (&near, is_guarded) {
            // A schema rules the field out, whatever it resembles.
            (_, false) if !has_values && lookup.of.iter().all(is_read) => Code::UnknownField,
            // A program that handles nil may well know that the field is rare.
            (None, true) => return,
            (Some(_), false) if lookup.of.iter().all(is_read) => Code::UnknownField,
            _ => Code::AbsentField,
        };
        let message = format!("no {} has `{}`", origin(reads, &lookup.of), lookup.key);
        let told = Diagnostic::error(code, lookup.span, message);
        let told = match near {
            Some(near) => told.suggest(&written_like(&lookup.key, near)),
            None => told.hint(they_have(keys.iter().map(|key| written_like(&lookup.key, key)))),
        };
        if code.is_warning() { found.warnings.push(told) } else { found.errors.push(told) }
    }
}

/// Spells a key as the program would look it up: a keyword finds strings as well.
pub(super) fn written_like(like: &Key, key: &Key) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '?' | '!' | '.');
    let is_keyword =
        key.is_keyword || (like.is_keyword && !key.name.is_empty() && key.name.chars().all(is_word));
    Key { name: key.name.clone(), is_keyword }.to_string()
}

/// Parses a key from its printed form.
fn read_key(text: &str) -> Key {
    match text.strip_prefix(':') {
        Some(name) => Key { name: name.into(), is_keyword: true },
        None => Key { name: text.trim_matches('"').into(), is_keyword: false },
    }
}

fn they_have(keys: impl Iterator<Item = String>) -> String {
    let mut keys: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
    let more = keys.len().saturating_sub(MAX_TOLD);
    keys.truncate(MAX_TOLD);
    if more > 0 {
        keys.push(format!("{more} more"));
    }
    match keys.is_empty() {
        true => "look at one with `(first rows)`, or `(keys m)`".to_string(),
        false => format!("there is {}", keys.join(", ")),
    }
}

/// Returns the key that was most likely meant. A key that differs by spelling alone would have been found.
fn near_key<'k>(key: &Key, keys: &'k [Key]) -> Option<&'k Key> {
    let near = nearest(&key.name, keys.iter().map(|known| &*known.name))?;
    keys.iter().find(|known| *known.name == *near)
}

fn remember(keys: &mut Vec<Key>, key: Key) {
    // Names that begin with `_` are for programs only, and no message shows them.
    if keys.len() < MAX_KEYS
        && !key.name.starts_with('_')
        && key.name.len() <= MAX_NAME
        && !keys.contains(&key)
    {
        keys.push(key);
    }
}

fn remember_keys(heap: &Heap, map: ptc_vm::Ref, keys: &mut Vec<Key>) {
    let mut cursor = 0;
    while keys.len() < MAX_KEYS
        && cursor < MAX_KEYS
        && let Some((key, _, next)) = heap.map_next(map, cursor)
    {
        cursor = next;
        let is_keyword = matches!(key, Value::Keyword(_));
        if let Value::Keyword(text) | Value::Str(text) = key {
            remember(keys, Key { name: heap.str(text).into(), is_keyword });
        }
    }
}

/// Describes where a lookup happens: "record of `data/orders`", "map in `items` of `data/orders`".
pub(super) fn origin(reads: &Reads, of: &[Of]) -> String {
    let path = of.iter().find_map(|of| match of {
        Of::Path(path) => Some(*path),
        Of::Made { .. } => None,
    });
    let Some(path) = path else {
        return match of.first() {
            Some(Of::Made { by: Some(export), .. }) => format!("map in the result of `{export}`"),
            _ => "map that the program makes here".to_string(),
        };
    };
    let name = match reads.paths.get(root_of(reads, path).0 as usize).map(|path| &path.step) {
        Some(Step::Data(name)) => format!("`data/{name}`"),
        Some(Step::Definition(name)) => format!("`{name}`"),
        Some(Step::Answer(tool)) => format!("the result of `{}`", tool_name(tool)),
        _ => return "map".to_string(),
    };
    let steps = steps(reads, path);
    let fields: Vec<String> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Field(key) => Some(format!("`{key}`")),
            _ => None,
        })
        .collect();
    match (fields.is_empty(), steps.is_empty()) {
        (true, true) => format!("map as {name}"),
        // The "record of a result" would be notes about it.
        (true, false) if name.starts_with("the result") => format!("record in {name}"),
        (true, false) => format!("record of {name}"),
        (false, _) => format!("map at {} of {name}", fields.join(", ")),
    }
}

/// Makes the warning about a field that a run looked up and never found.
pub(crate) fn missed(missed: &MissedField) -> Diagnostic {
    let MissedField { field, near, keys } = missed;
    let key = Key { name: field.name.clone(), is_keyword: field.is_keyword };
    let message = format!("`{key}` was not found in any map");
    let told = Diagnostic::warning(Code::AbsentField, field.span, message);
    match near {
        Some(near) => told.suggest(&written_like(&key, &read_key(near))),
        None => told.hint(they_have(keys.iter().map(|known| written_like(&key, &read_key(known))))),
    }
}
