//! Lookup in collections: exact and flexible keys, paths, and updates along them.

use super::order::whole;
use super::value::{Fault, TYPE, Value, put};
use num_traits::ToPrimitive;
use std::rc::Rc;
use unicode_segmentation::UnicodeSegmentation;

const REFUSED: Fault = "runtime_error";

type Pairs<'a> = [(Value<'a>, Value<'a>)];

fn exact<'v, 'a>(pairs: &'v Pairs<'a>, key: &Value<'a>) -> Option<&'v (Value<'a>, Value<'a>)> {
    pairs.iter().find(|(known, _)| known.is(key))
}

/// Finds the entry of a key: exactly, then as the other kind of name, then with underscores.
pub fn flexible<'v, 'a>(pairs: &'v Pairs<'a>, key: &Value<'a>) -> Option<&'v (Value<'a>, Value<'a>)> {
    let (name, is_keyword) = match key {
        Value::Keyword(name) => (name, true),
        Value::Str(name) => (name, false),
        _ => return exact(pairs, key),
    };
    let underscored = name.replace('-', "_");
    let spell = |text: &str, keyword: bool| {
        if keyword { Value::Keyword(text.into()) } else { Value::str(text) }
    };
    [(&**name, is_keyword), (name, !is_keyword), (&underscored, false), (&underscored, true)]
        .into_iter()
        // A keyword never matches a different keyword.
        .take(if is_keyword { 3 } else { 4 })
        .find_map(|(text, keyword)| exact(pairs, &spell(text, keyword)))
}

/// Returns the value that `get` finds; None if the key is missing, in contrast to a nil value.
pub fn find<'a>(coll: &Value<'a>, key: &Value<'a>) -> Option<Value<'a>> {
    match (coll, key) {
        (Value::Map(pairs), _) => flexible(pairs, key).map(|(_, value)| value.clone()),
        (Value::Set(items), _) => items.iter().find(|item| item.is(key)).cloned(),
        (Value::Vector(items), Value::Int(n)) => items.get(n.to_usize()?).cloned(),
        (Value::Str(text), Value::Int(n)) => text.graphemes(true).nth(n.to_usize()?).map(Value::str),
        _ => None,
    }
}

/// Implements `(get coll key default)`.
pub fn get<'a>(coll: &Value<'a>, key: &Value<'a>, default: Value<'a>) -> Value<'a> {
    find(coll, key).unwrap_or(default)
}

/// Implements `(get-in coll path)`.
pub fn get_in<'a>(coll: &Value<'a>, path: &[Value<'a>]) -> Option<Value<'a>> {
    path.iter().try_fold(coll.clone(), |coll, key| find(&coll, key))
}

/// Implements `(nth coll index)`.
pub fn nth<'a>(coll: &Value<'a>, index: &Value<'a>) -> Result<Option<Value<'a>>, Fault> {
    let index = whole(index).ok_or(TYPE)?;
    if matches!(coll, Value::Map(_) | Value::Set(_)) {
        return Err(TYPE);
    }
    let items = coll.items()?;
    Ok(usize::try_from(index).ok().and_then(|i| items.get(i).cloned()))
}

/// Implements `(assoc coll key value)`, by the exact key.
pub fn assoc<'a>(coll: &Value<'a>, key: Value<'a>, value: Value<'a>) -> Result<Value<'a>, Fault> {
    match coll {
        Value::Nil => Ok(Value::map([(key, value)])),
        Value::Map(pairs) => {
            let mut pairs = pairs.to_vec();
            put(&mut pairs, key, value);
            Ok(Value::Map(Rc::new(pairs)))
        }
        Value::Vector(items) => {
            let Value::Int(index) = key else { return Err(REFUSED) };
            let mut items = items.to_vec();
            match index.to_usize() {
                Some(i) if i < items.len() => items[i] = value,
                Some(i) if i == items.len() => items.push(value),
                _ => return Err(REFUSED),
            }
            Ok(Value::vector(items))
        }
        _ => Err(TYPE),
    }
}

/// Implements `assoc` with the spelling of the key that the map already has.
pub fn put_flexible<'a>(coll: &Value<'a>, key: Value<'a>, value: Value<'a>) -> Result<Value<'a>, Fault> {
    let key = match coll {
        Value::Map(pairs) => flexible(pairs, &key).map_or(key, |(known, _)| known.clone()),
        _ => key,
    };
    assoc(coll, key, value)
}

/// Implements `(assoc-in coll path value)`; an empty path means the key nil.
pub fn assoc_in<'a>(coll: &Value<'a>, path: &[Value<'a>], value: Value<'a>) -> Result<Value<'a>, Fault> {
    match path {
        [] => put_flexible(coll, Value::Nil, value),
        [key] => put_flexible(coll, key.clone(), value),
        [key, rest @ ..] => {
            let inner = assoc_in(&find(coll, key).unwrap_or(Value::Nil), rest, value)?;
            put_flexible(coll, key.clone(), inner)
        }
    }
}

/// Implements `(conj coll item)`.
pub fn conj<'a>(coll: &Value<'a>, item: Value<'a>) -> Result<Value<'a>, Fault> {
    match coll {
        Value::Nil => Ok(Value::vector(vec![item])),
        Value::Vector(items) => Ok(Value::vector(items.iter().cloned().chain([item]).collect())),
        Value::Set(items) => Ok(Value::set(items.iter().cloned().chain([item]))),
        Value::Map(pairs) => match item {
            Value::Nil => Ok(coll.clone()),
            Value::Map(more) => Ok(Value::map(pairs.iter().chain(more.iter()).cloned())),
            Value::Vector(pair) if pair.len() == 2 => assoc(coll, pair[0].clone(), pair[1].clone()),
            _ => Err(TYPE),
        },
        _ => Err(TYPE),
    }
}

/// Implements `(dissoc m k …)`.
pub fn dissoc<'a>(coll: &Value<'a>, keys: &[Value<'a>]) -> Result<Value<'a>, Fault> {
    match coll {
        Value::Nil => Ok(Value::Nil),
        Value::Map(pairs) => {
            let left = pairs.iter().filter(|(known, _)| !keys.iter().any(|key| key.is(known)));
            Ok(Value::map(left.cloned()))
        }
        _ => Err(TYPE),
    }
}

/// Implements `(contains? coll key)`.
pub fn contains<'a>(coll: &Value<'a>, key: &Value<'a>) -> Result<bool, Fault> {
    match coll {
        Value::Nil => Ok(false),
        Value::Map(pairs) => Ok(flexible(pairs, key).is_some()),
        Value::Set(items) | Value::Vector(items) => Ok(items.iter().any(|item| item.is(key))),
        Value::Str(_) if key.is_number() => {
            let len = coll.items()?.len();
            Ok(match key {
                Value::Float(x) => *x > -1.0 && x.trunc() < len as f64,
                Value::Int(n) => (0..len).any(|at| *n == at.into()),
                _ => false,
            })
        }
        _ => Err(TYPE),
    }
}

/// Returns the keys or values of a map, or of a list of pairs; nil if there are none.
pub fn halves<'a>(coll: &Value<'a>, second: bool) -> Result<Value<'a>, Fault> {
    let pairs: Vec<Value<'a>> = match coll {
        Value::Map(_) | Value::Vector(_) | Value::Nil => coll.items()?,
        _ if coll.items().is_ok_and(|items| items.is_empty()) => Vec::new(),
        _ => return Err(TYPE),
    };
    if pairs.is_empty() {
        return Ok(Value::Nil);
    }
    let half = |pair: &Value<'a>| match pair {
        Value::Vector(pair) if pair.len() == 2 => Ok(pair[usize::from(second)].clone()),
        _ => Err(TYPE),
    };
    Ok(Value::vector(pairs.iter().map(half).collect::<Result<_, _>>()?))
}
