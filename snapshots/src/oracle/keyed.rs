//! Builtins that order or group elements by a key.

use super::eval::{Answer, Machine, Stop};
use super::order::total;
use super::value::{TYPE, Value};
use super::{NO_OPINION, arith, lookup};
use std::cmp::Ordering;

/// Calls the builtin if it is one of these.
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

/// Each element with its key: a string is a field, a vector a path, anything else is called.
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

/// Each item moves left past those it comes before; what the comparator leaves open stays as it was.
///
/// Only of a consistent comparator that answers all questions, and silently, does the order say
/// nothing about how it was found.
fn insertion_sort<'a>(
    m: &mut Machine<'a>,
    comparator: &Value<'a>,
    items: Vec<(Value<'a>, Value<'a>)>,
) -> Result<Vec<(Value<'a>, Value<'a>)>, Stop<'a>> {
    let n = items.len();
    let prints = m.prints.len();
    let mut before = vec![vec![false; n]; n];
    for i in 0..n {
        for j in (0..n).filter(|j| *j != i) {
            let answer = m.call(comparator, vec![items[i].0.clone(), items[j].0.clone()]);
            before[i][j] = match answer {
                Ok(number) if number.is_number() => total(&number, &Value::int(0)).is_lt(),
                Ok(other) => other.truthy(),
                Err(_) => return Err(NO_OPINION.into()),
            };
        }
    }
    if m.prints.len() > prints || !is_weak_order(&before) {
        return Err(NO_OPINION.into());
    }
    let mut sorted: Vec<usize> = Vec::new();
    for i in 0..n {
        let at = sorted.iter().rposition(|j| !before[i][*j]).map_or(0, |at| at + 1);
        sorted.insert(at, i);
    }
    Ok(sorted.into_iter().map(|i| items[i].clone()).collect())
}

/// Whether nothing comes before what comes before it, and what is between two is on one side.
fn is_weak_order(before: &[Vec<bool>]) -> bool {
    let n = before.len();
    let pairs = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    pairs().all(|(i, j)| !(before[i][j] && before[j][i]))
        && pairs().all(|(i, j)| !before[i][j] || (0..n).all(|k| before[i][k] || before[k][j]))
}
