//! Builtins that order or group elements by a key.

use super::eval::{Answer, Machine, Stop};
use super::order::total;
use super::value::{TYPE, Value};
use super::{arith, lookup};
use std::cmp::Ordering;

/// Calls the builtin if it is one of this file.
pub fn call<'a>(m: &mut Machine<'a>, name: &str, args: &[Value<'a>]) -> Option<Answer<'a>> {
    Some(match (name, args) {
        ("sort", [c]) => sort(m, c, &Value::Nil, None),
        ("sort", [comparator, c]) => sort(m, c, comparator, None),
        ("sort-by", [k, c]) => sort(m, c, &Value::Nil, Some(k)),
        ("sort-by", [k, comparator, c]) => sort(m, c, comparator, Some(k)),
        ("group-by", [k, c]) => keys(m, k, c).map(|items| {
            let mut groups: Vec<(Value<'a>, Vec<Value<'a>>)> = Vec::new();
            for (key, item) in items {
                match groups.iter_mut().find(|(known, _)| known.is(&key)) {
                    Some((_, group)) => group.push(item),
                    None => groups.push((key, vec![item])),
                }
            }
            Value::map(groups.into_iter().map(|(key, group)| (key, Value::vector(group))))
        }),
        ("sum-by", [k, c]) => keys(m, k, c).and_then(|items| {
            let keys: Vec<_> = items.into_iter().map(|(key, _)| key).filter(|key| !key.is_nil()).collect();
            Ok(arith::fold("+", &keys)?)
        }),
        ("min-by" | "max-by", [k, c]) => keys(m, k, c).map(|items| {
            let wanted = if name == "min-by" { Ordering::Less } else { Ordering::Greater };
            let mut best: Option<(Value<'a>, Value<'a>)> = None;
            for (key, item) in items.into_iter().filter(|(key, _)| !key.is_nil()) {
                if best.as_ref().is_none_or(|(known, _)| total(&key, known) == wanted) {
                    best = Some((key, item));
                }
            }
            best.map_or(Value::Nil, |(_, item)| item)
        }),
        _ => return None,
    })
}

/// Returns each element with its key: a string is a field, a vector a path, anything else is called.
fn keys<'a>(
    m: &mut Machine<'a>,
    k: &Value<'a>,
    coll: &Value<'a>,
) -> Result<Vec<(Value<'a>, Value<'a>)>, Stop<'a>> {
    let mut out = Vec::new();
    for item in coll.items()? {
        let key = match k {
            Value::Str(_) => lookup::get(&item, k, Value::Nil),
            Value::Vector(path) => lookup::get_in(&item, path).unwrap_or(Value::Nil),
            _ => m.call(k, vec![item.clone()])?,
        };
        out.push((key, item));
    }
    Ok(out)
}

fn sort<'a>(
    m: &mut Machine<'a>,
    coll: &Value<'a>,
    comparator: &Value<'a>,
    key: Option<&Value<'a>>,
) -> Answer<'a> {
    let reverse = match comparator {
        Value::Nil | Value::Builtin("compare" | "<") => Some(false),
        Value::Builtin(">") => Some(true),
        Value::Keyword(name) if &**name == "asc" => Some(false),
        Value::Keyword(name) if &**name == "desc" => Some(true),
        Value::Closure(_) | Value::Made(_) | Value::Builtin(_) | Value::Map(_) | Value::Set(_) => None,
        _ => return Err(TYPE.into()),
    };
    let mut items = match key {
        Some(key) => keys(m, key, coll)?,
        None => coll.items()?.into_iter().map(|item| (item.clone(), item)).collect(),
    };
    match reverse {
        Some(reverse) => items.sort_by(|(a, _), (b, _)| if reverse { total(b, a) } else { total(a, b) }),
        None => items = insertion_sort(m, comparator, items)?,
    }
    Ok(Value::vector(items.into_iter().map(|(_, item)| item).collect()))
}

/// Sorts by insertion: each item moves left past those it comes before. Items that a consistent comparator
/// considers equal keep their order.
fn insertion_sort<'a>(
    m: &mut Machine<'a>,
    comparator: &Value<'a>,
    items: Vec<(Value<'a>, Value<'a>)>,
) -> Result<Vec<(Value<'a>, Value<'a>)>, Stop<'a>> {
    let mut sorted: Vec<(Value<'a>, Value<'a>)> = Vec::new();
    for item in items {
        let mut at = sorted.len();
        while at > 0 {
            let answer = m.call(comparator, vec![item.0.clone(), sorted[at - 1].0.clone()])?;
            let before = match &answer {
                number if number.is_number() => total(number, &Value::int(0)).is_lt(),
                other => other.truthy(),
            };
            if !before {
                break;
            }
            at -= 1;
        }
        sorted.insert(at, item);
    }
    Ok(sorted)
}
