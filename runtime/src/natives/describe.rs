//! `describe`: a summary of unknown data in a few lines. Everything is bounded, and the summary states what was left
//! out: a model reads it before it writes the real program.

use super::args::{arg, to_whole};
use ptc_vm::{Call, Stop, Value};
use std::collections::HashMap;

mod build;
mod field;

use build::Build;
use field::{Field, type_name};

const MAX_ITEMS: usize = 1_000;
const MAX_KEYS: usize = 100;
const MAX_PATHS: usize = 300;
const MAX_PATH_VALUES: usize = 10_000;
const MAX_NESTED: u32 = 5;

/// Fuel for inspecting one value.
const PRICE: usize = 20;

/// The options in the second argument.
#[derive(Clone, Copy)]
struct Options {
    paths: bool,
    depth: u32,
    sample: usize,
}

/// Keys of maps in order of appearance, each with a summary of its values.
#[derive(Default)]
struct Fields {
    keys: Vec<Value>,
    fields: Vec<Field>,
    by_hash: HashMap<u32, Vec<usize>>,
}

impl Fields {
    /// Returns the number of a key, new or known; None if there are already `most` others.
    fn entry(&mut self, call: &Call<'_>, key: Value, most: usize) -> Option<usize> {
        let same = self.by_hash.entry(call.heap.key_hash(key, self.keys.len())).or_default();
        if let Some(known) = same.iter().find(|at| call.heap.exact(self.keys[**at], key)) {
            return Some(*known);
        }
        if self.keys.len() >= most {
            return None;
        }
        same.push(self.keys.len());
        self.keys.push(key);
        self.fields.push(Field::default());
        Some(self.keys.len() - 1)
    }
}

/// A key inside keys. The first node is the root, which is no path itself.
#[derive(Default)]
struct Path {
    below: Fields,
    /// Nodes of the keys of `below`.
    nodes: Vec<usize>,
}

/// A survey of data.
struct Survey {
    options: Options,
    types: Vec<(&'static str, i64)>,
    key_types: Vec<(&'static str, i64)>,
    keys: Fields,
    paths: Vec<Path>,
    path_values: usize,
    caps: Vec<&'static str>,
    any_map: bool,
}

/// `(describe x)`, `(describe x options)`
pub fn describe(call: &mut Call<'_>) -> Result<Value, Stop> {
    let options = options(call)?;
    let mut survey = Survey {
        options,
        types: Vec::new(),
        key_types: Vec::new(),
        keys: Fields::default(),
        paths: vec![Path::default()],
        path_values: 0,
        caps: Vec::new(),
        any_map: false,
    };
    let root = arg(call, 1);
    let mut out = Build::default();
    match root {
        Value::Map(map) => {
            survey.map(call, root, 0)?;
            if options.paths {
                survey.path(call, root, 0, 0, 0, 0)?;
            }
            out.text(call, "type", "map")?;
            out.number(call, "count", call.heap.map_len(map) as i64)?;
            out.counts(call, "key_types", &survey.key_types)?;
            let keys = survey.named(call, &survey.keys, None)?;
            out.put(call, "keys", keys)?;
            survey.finish(call, &mut out, 1)
        }
        Value::Vector(_) | Value::Range(_) | Value::Set(_) => {
            let count = call.heap.count(root)?;
            let scanned = survey.items(call, root)?;
            let is_set = matches!(root, Value::Set(_));
            out.text(call, "type", if is_set { "set" } else { "vector" })?;
            // Vector elements beyond the cap are not counted; the flag says so.
            out.number(call, "count", if is_set { count } else { scanned } as i64)?;
            out.number(call, "scanned", scanned as i64)?;
            if !is_set && count > MAX_ITEMS {
                out.put(call, "count_capped", Value::True)?;
            }
            out.counts(call, "item_types", &survey.types)?;
            if survey.any_map && !is_set {
                out.counts(call, "key_types", &survey.key_types)?;
                let keys = survey.named(call, &survey.keys, Some(scanned))?;
                out.put(call, "keys", keys)?;
            }
            survey.finish(call, &mut out, scanned)
        }
        _ => {
            let mut field = Field::default();
            field.add(call, root, 0, options.sample)?;
            out.text(call, "type", type_name(call.heap.unveil(root)))?;
            let sample = field.first_example(call)?;
            out.put(call, "sample", sample)?;
            field.write(call, &mut out)?;
            survey.finish(call, &mut out, 1)
        }
    }
}

/// Reads the options; unknown or malformed ones are ignored.
fn options(call: &mut Call<'_>) -> Result<Options, Stop> {
    let mut options = Options { paths: false, depth: 1, sample: 3 };
    if let Value::Map(given) = arg(call, 2) {
        let mut option = |name| {
            let key = call.heap.new_keyword(name)?;
            Ok::<Value, Stop>(call.heap.map_get_flex(given, key).unwrap_or(Value::Nil))
        };
        let (paths, depth, sample) = (option("paths")?, option("depth")?, option("sample")?);
        options.paths = paths.truthy();
        if let Some(depth) = to_whole(call.heap, depth) {
            options.depth = depth.clamp(1, 5) as u32;
        }
        if let Some(sample) = to_whole(call.heap, sample) {
            options.sample = sample.clamp(1, 3) as usize;
        }
    }
    Ok(options)
}

/// Counts one more of a kind.
fn tally(counts: &mut Vec<(&'static str, i64)>, name: &'static str) {
    match counts.iter_mut().find(|(known, _)| *known == name) {
        Some((_, n)) => *n += 1,
        None => counts.push((name, 1)),
    }
}

impl Survey {
    fn cap(&mut self, name: &'static str) {
        if !self.caps.contains(&name) {
            self.caps.push(name);
        }
    }

    /// Surveys the elements of the root, up to the cap; returns the number surveyed.
    fn items(&mut self, call: &mut Call<'_>, root: Value) -> Result<usize, Stop> {
        let seq = call.heap.iter_start(root)?;
        let (mut cursor, mut scanned) = (0, 0);
        while let Some((item, next)) = call.heap.iter_next(seq, cursor)? {
            if scanned == MAX_ITEMS {
                self.cap("max_items");
                break;
            }
            cursor = next;
            tally(&mut self.types, type_name(call.heap.unveil(item)));
            if let Value::Map(_) = item {
                self.any_map = true;
                self.map(call, item, scanned)?;
            }
            if self.options.paths {
                self.path(call, item, 0, 0, 0, scanned)?;
            }
            call.pay_items(PRICE)?;
            scanned += 1;
        }
        Ok(scanned)
    }

    /// Surveys keys and values of a map that is item number `item`.
    fn map(&mut self, call: &mut Call<'_>, map: Value, item: usize) -> Result<(), Stop> {
        let Value::Map(map) = map else { return Ok(()) };
        let mut cursor = 0;
        while let Some((key, value, next)) = call.heap.map_next(map, cursor) {
            cursor = next;
            call.pay_items(PRICE)?;
            tally(&mut self.key_types, type_name(key));
            match self.keys.entry(call, key, MAX_KEYS) {
                Some(at) => self.keys.fields[at].add(call, value, item, self.options.sample)?,
                None => self.cap("max_keys"),
            }
        }
        Ok(())
    }

    /// Surveys the value at a path, and values below it. Recursion is bounded by the requested depth and the cap on
    /// vectors inside vectors.
    fn path(
        &mut self,
        call: &mut Call<'_>,
        value: Value,
        node: usize,
        level: u32,
        nested: u32,
        item: usize,
    ) -> Result<(), Stop> {
        if self.path_values >= MAX_PATH_VALUES {
            self.cap("max_path_values");
            return Ok(());
        }
        call.pay_items(PRICE)?;
        if let Value::Vector(_) | Value::Range(_) = value {
            let len = call.heap.count(value)?;
            if len > 0 && nested == MAX_NESTED {
                self.cap("max_depth");
                return Ok(());
            }
            // Elements share the path of their vector.
            if len > MAX_PATH_VALUES {
                self.cap("max_path_values");
            }
            for i in 0..len.min(MAX_PATH_VALUES) {
                if self.path_values >= MAX_PATH_VALUES {
                    self.cap("max_path_values");
                    break;
                }
                let element = call.heap.nth(value, i)?.unwrap_or(Value::Nil);
                self.path(call, element, node, level, nested + 1, item)?;
                call.pay_items(1)?;
            }
            if len > 0 {
                return Ok(());
            }
        }
        let Value::Map(map) = value else { return Ok(()) };
        if level >= self.options.depth {
            return Ok(());
        }
        let mut cursor = 0;
        while let Some((key, value, next)) = call.heap.map_next(map, cursor) {
            cursor = next;
            call.pay_items(PRICE)?;
            let Some((child, at)) = self.child(call, node, key) else {
                self.cap("max_paths");
                continue;
            };
            self.record(call, value, (node, at), 0, item)?;
            self.path(call, value, child, level + 1, 0, item)?;
        }
        Ok(())
    }

    /// Returns the node of a key below a node, and the key's number there.
    fn child(&mut self, call: &Call<'_>, node: usize, key: Value) -> Option<(usize, usize)> {
        let total = self.paths.len() - 1;
        let path = &mut self.paths[node];
        let room = path.below.keys.len() + MAX_PATHS.saturating_sub(total);
        let at = path.below.entry(call, key, room)?;
        if at == path.nodes.len() {
            path.nodes.push(total + 1);
            self.paths.push(Path::default());
        }
        Some((self.paths[node].nodes[at], at))
    }

    /// Records a value of a path, or the elements of a vector.
    fn record(
        &mut self,
        call: &mut Call<'_>,
        value: Value,
        at: (usize, usize),
        nested: u32,
        item: usize,
    ) -> Result<(), Stop> {
        let is_vector = matches!(value, Value::Vector(_) | Value::Range(_));
        let len = if is_vector { call.heap.count(value)? } else { 0 };
        if len > 0 && nested < MAX_NESTED {
            for i in 0..len {
                if self.path_values >= MAX_PATH_VALUES {
                    self.cap("max_path_values");
                    break;
                }
                let element = call.heap.nth(value, i)?.unwrap_or(Value::Nil);
                self.record(call, element, at, nested + 1, item)?;
            }
            return Ok(());
        }
        if len > 0 {
            self.cap("max_depth");
        }
        if self.path_values >= MAX_PATH_VALUES {
            self.cap("max_path_values");
            return Ok(());
        }
        self.path_values += 1;
        call.pay_items(PRICE)?;
        let sample = self.options.sample;
        self.paths[at.0].below.fields[at.1].add(call, value, item, sample)
    }

    /// Builds a map from the names of keys to their fields. With a number of items, each field also shows in how
    /// many of them it occurs.
    fn named(&self, call: &mut Call<'_>, keys: &Fields, items: Option<usize>) -> Result<Value, Stop> {
        let names = names(call, &keys.keys)?;
        let mut out = Build::default();
        for (name, field) in names.iter().zip(&keys.fields) {
            let mut entry = Build::default();
            field.write(call, &mut entry)?;
            if let Some(items) = items {
                field.write_share(call, &mut entry, items, false)?;
            }
            let entry = entry.finish(call)?;
            out.named(call, name, entry)?;
        }
        out.finish(call)
    }

    /// Writes paths and caps, and builds the final map.
    fn finish(&self, call: &mut Call<'_>, out: &mut Build, items: usize) -> Result<Value, Stop> {
        if self.options.paths {
            let mut paths = Build::default();
            let mut open = vec![(0, String::new())];
            while let Some((node, prefix)) = open.pop() {
                let path = &self.paths[node];
                let names = names(call, &path.below.keys)?;
                let mut below = Vec::new();
                for (i, name) in names.iter().enumerate() {
                    let escaped = name.replace('\\', "\\\\").replace('.', "\\.");
                    let full = if prefix.is_empty() { escaped } else { format!("{prefix}.{escaped}") };
                    let mut entry = Build::default();
                    path.below.fields[i].write(call, &mut entry)?;
                    path.below.fields[i].write_share(call, &mut entry, items, true)?;
                    let entry = entry.finish(call)?;
                    paths.named(call, &full, entry)?;
                    below.push((path.nodes[i], full));
                }
                open.extend(below.into_iter().rev());
            }
            let paths = paths.finish(call)?;
            out.put(call, "paths", paths)?;
        }
        if !self.caps.is_empty() {
            out.put(call, "truncated", Value::True)?;
            let mut names = Vec::new();
            for cap in &self.caps {
                names.push(call.heap.new_str(cap)?);
            }
            let names = call.heap.new_vec(&names)?;
            out.put(call, "caps_hit", names)?;
        }
        std::mem::take(out).finish(call)
    }
}

/// Names keys: strings as they are, others as printed. If two names clash, the type is added, and then a number in
/// order of appearance.
fn names(call: &mut Call<'_>, keys: &[Value]) -> Result<Vec<String>, Stop> {
    let mut plain = Vec::with_capacity(keys.len());
    for key in keys {
        plain.push(field::name_of(call, *key)?);
    }
    let clashes = |names: &[String]| {
        let mut count: HashMap<&str, usize> = HashMap::new();
        names.iter().for_each(|name| *count.entry(name).or_default() += 1);
        names.iter().map(|name| count[name.as_str()] > 1).collect::<Vec<bool>>()
    };
    let typed: Vec<String> = plain
        .iter()
        .zip(clashes(&plain))
        .zip(keys)
        .map(|((name, clash), key)| if clash { format!("{}:{name}", type_name(*key)) } else { name.clone() })
        .collect();
    let clashing = clashes(&typed);
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut names = Vec::with_capacity(typed.len());
    for (name, clash) in typed.iter().zip(clashing) {
        let number = numbers.entry(name).or_default();
        *number += 1;
        names.push(if clash { format!("{name}#{number}") } else { name.clone() });
    }
    Ok(names)
}
