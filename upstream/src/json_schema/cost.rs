//! Estimate of the work of a check, made before checking.
//!
//! Schemas are untrusted. A few hundred bytes of references that fork at every step would take forever, and a
//! chain of some thousand would overflow the stack of the recursive validator. So the steps of a check are
//! walked through first.

use serde_json::{Map, Value};

/// Maximum recursion depth of a check.
const DEPTH: u32 = 300;

/// Keywords whose subschemas apply to the same value: a schema, a list of schemas, or (`BY_NAME`) several by name.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
const BY_NAME: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Keywords about parts that nothing else evaluated: the validator goes through all other keywords again to
/// find them, recursively.
const REST: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];
const AGAIN: usize = 4;

/// Keywords that read every character of a string.
const TEXTUAL: [&str; 4] = ["pattern", "format", "minLength", "maxLength"];

/// Returns whether checking a value takes at most `work` units: about one for each keyword, each entry below
/// it, and each character read.
pub(super) fn fits(schema: &Value, value: &Value, work: u64) -> bool {
    Walk { root: schema, left: work }.visit(schema, value, DEPTH).is_some()
}

/// Visits every schema a check could visit, whatever the validator would find there.
struct Walk<'s> {
    root: &'s Value,
    left: u64,
}

impl<'s> Walk<'s> {
    fn spend(&mut self, work: usize) -> Option<()> {
        self.left = self.left.checked_sub(work as u64)?;
        Some(())
    }

    /// Counts the work of one schema on one value; None if it exceeds the limit.
    fn visit(&mut self, schema: &'s Value, value: &Value, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.spend(1)?;
        let Value::Object(schema) = schema else { return Some(()) };
        self.spend(schema.values().map(|keyword| 1 + length(keyword)).sum())?;
        let rounds = if REST.iter().any(|name| schema.contains_key(*name)) { AGAIN } else { 1 };
        for _ in 0..rounds {
            if let Some(target) = schema.get("$ref") {
                self.visit(self.target(target)?, value, depth)?;
            }
            for below in IN_PLACE.iter().filter_map(|name| schema.get(*name)) {
                let several = below.as_array().map_or(std::slice::from_ref(below), Vec::as_slice);
                several.iter().try_for_each(|one| self.visit(one, value, depth))?;
            }
            for below in BY_NAME.iter().filter_map(|name| schema.get(*name)?.as_object()) {
                below.values().try_for_each(|one| self.visit(one, value, depth))?;
            }
        }
        match value {
            Value::String(text) if TEXTUAL.iter().any(|name| schema.contains_key(*name)) => {
                self.spend(text.len())
            }
            Value::Array(items) => self.items(schema, items, depth),
            Value::Object(fields) => self.fields(schema, fields, depth),
            _ => Some(()),
        }
    }

    fn items(&mut self, schema: &'s Map<String, Value>, items: &[Value], depth: u32) -> Option<()> {
        self.spend(items.len())?;
        let each = ["items", "additionalItems", "contains", "unevaluatedItems"].map(|name| schema.get(name));
        let by_place = ["items", "prefixItems"].map(|name| schema.get(name).and_then(Value::as_array));
        for (at, item) in items.iter().enumerate() {
            for one in each.iter().flatten() {
                self.visit(one, item, depth)?;
            }
            for one in by_place.iter().flatten().filter_map(|list| list.get(at)) {
                self.visit(one, item, depth)?;
            }
        }
        Some(())
    }

    fn fields(
        &mut self,
        schema: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        depth: u32,
    ) -> Option<()> {
        let by_name = schema.get("properties").and_then(Value::as_object);
        let by_pattern = schema.get("patternProperties").and_then(Value::as_object);
        let each = ["additionalProperties", "unevaluatedProperties"].map(|name| schema.get(name));
        for (name, value) in fields {
            self.spend(1)?;
            for (_, one) in by_pattern.into_iter().flatten() {
                self.spend(name.len())?;
                self.visit(one, value, depth)?;
            }
            for one in each.iter().copied().chain([by_name.and_then(|all| all.get(name))]).flatten() {
                self.visit(one, value, depth)?;
            }
            if let Some(one) = schema.get("propertyNames") {
                self.spend(name.len())?;
                self.visit(one, &Value::String(name.clone()), depth)?;
            }
        }
        Some(())
    }

    /// Returns the target of a reference within the same schema.
    fn target(&self, reference: &Value) -> Option<&'s Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
        self.root.pointer(&pointer)
    }
}

fn length(keyword: &Value) -> usize {
    match keyword {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    }
}
