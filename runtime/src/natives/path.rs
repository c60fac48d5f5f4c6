//! Natives for lookup and change along a path of keys.

use super::args::{arg, items};
use ptc_vm::{Call, Fault, Heap, Stop, Value};

/// Looks up the value at `key`; None if it is absent, in contrast to a nil value.
pub fn lookup(heap: &mut Heap, coll: Value, key: Value) -> Result<Option<Value>, Stop> {
    match (coll, key) {
        // A value found behind a veil stays veiled.
        (Value::Veiled(_), _) | (_, Value::Veiled(_)) => {
            match lookup(heap, heap.unveil(coll), heap.unveil(key))? {
                Some(found) => heap.veil(found).map(Some),
                None => Ok(None),
            }
        }
        (Value::Map(map), key) => {
            let found = heap.map_get_flex(map, key);
            heap.note_lookup(map, key, found.is_some());
            Ok(found)
        }
        (Value::Set(set), key) => Ok(heap.set_get(set, key)),
        (Value::Vector(_) | Value::Range(_) | Value::Str(_), Value::Int(i)) => match usize::try_from(i) {
            Ok(i) => heap.nth(coll, i),
            Err(_) => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Returns argument 2 as the keys of a path.
fn path(call: &mut Call<'_>) -> Result<Vec<Value>, Stop> {
    match arg(call, 2) {
        Value::Nil | Value::Vector(_) | Value::Range(_) => items(call, 2),
        found => {
            let fault = Fault::type_error(format!(
                "`{}`: the path must be a list of keys, but it is {}",
                call.name(),
                found.type_phrase()
            ));
            Err(match found {
                Value::Map(_) => fault.hint("the map comes first: `(get-in m [:a :b])`"),
                _ => fault.hint("`(get-in m [:a :b])`; for one key `(get m :a)`"),
            }
            .into())
        }
    }
}

/// `(get-in coll path)`, `(get-in coll path default)`
pub fn get_in(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut found = arg(call, 1);
    for key in path(call)? {
        match lookup(call.heap, found, key)? {
            Some(value) => found = value,
            None => return Ok(arg(call, 3)),
        }
    }
    Ok(found)
}

/// `(assoc-in coll path value)`
pub fn assoc_in(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut keys = path(call)?;
    if keys.is_empty() {
        keys.push(Value::Nil);
    }
    // Down, remembering every level; then up, changing each.
    let mut levels = Vec::with_capacity(keys.len());
    let mut coll = arg(call, 1);
    for key in &keys {
        levels.push(coll);
        coll = lookup(call.heap, coll, *key)?.unwrap_or(Value::Nil);
    }
    let mut value = arg(call, 3);
    for (level, key) in levels.into_iter().zip(keys).rev() {
        value = put_at(call, level, key, value)?;
    }
    Ok(value)
}

/// Works like `assoc`, but writes to the key that a flexible lookup finds.
pub fn put(call: &mut Call<'_>) -> Result<Value, Stop> {
    put_at(call, arg(call, 1), arg(call, 2), arg(call, 3))
}

fn put_at(call: &mut Call<'_>, coll: Value, key: Value, value: Value) -> Result<Value, Stop> {
    let key = match (call.heap.unveil(coll), key) {
        (Value::Map(map), Value::Keyword(_) | Value::Str(_)) => {
            call.heap.map_find_flex(map, key).map_or(key, |(known, _)| known)
        }
        _ => key,
    };
    ptc_vm::assoc(call.heap, call.budget, coll, key, value)
}
