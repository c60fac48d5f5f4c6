//! Builtins on sequences, including those that call functions.

use super::builtins::path_of;
use super::eval::{Answer, Machine, Stop};
use super::order::whole;
use super::value::{Fault, NO_OPINION, TYPE, Value};
use super::{arith, keyed, lookup};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};

type Items<'a> = Result<Vec<Value<'a>>, Stop<'a>>;

/// Calls the builtin if it is one of this file.
pub fn call<'a>(m: &mut Machine<'a>, name: &str, args: &[Value<'a>]) -> Option<Answer<'a>> {
    plain(name, args).map(|answer| answer.map_err(Stop::Fault)).or_else(|| {
        let answer = functional(m, name, args).or_else(|| keyed::call(m, name, args))?;
        Some(answer)
    })
}

fn vector<'a>(items: Vec<Value<'a>>) -> Result<Value<'a>, Fault> {
    Ok(Value::vector(items))
}

fn or_nil<'a>(items: Vec<Value<'a>>) -> Result<Value<'a>, Fault> {
    Ok(if items.is_empty() { Value::Nil } else { Value::vector(items) })
}

fn amount(n: &Value<'_>) -> Result<usize, Fault> {
    Ok(usize::try_from(whole(n).ok_or(TYPE)?).unwrap_or(0))
}

/// Calls a sequence function that calls no functions.
fn plain<'a>(name: &str, args: &[Value<'a>]) -> Option<Result<Value<'a>, Fault>> {
    Some(match (name, args) {
        ("count", [c]) => c.items().map(|items| Value::int(items.len())),
        ("first" | "second" | "fnext" | "last", [c]) => c.items().map(|items| {
            let at = match name {
                "first" => 0,
                "last" => items.len().wrapping_sub(1),
                _ => 1,
            };
            items.get(at).cloned().unwrap_or(Value::Nil)
        }),
        ("rest", [c]) => c.items().and_then(|items| vector(items.into_iter().skip(1).collect())),
        ("next", [c]) => c.items().and_then(|items| or_nil(items.into_iter().skip(1).collect())),
        ("butlast", [c]) => c.items().and_then(|mut items| {
            items.pop();
            or_nil(items)
        }),
        ("peek", [Value::Nil]) | ("pop", [Value::Nil]) => Ok(Value::Nil),
        ("peek", [Value::Vector(items)]) => Ok(items.last().cloned().unwrap_or(Value::Nil)),
        ("pop", [Value::Vector(items)]) => match items.split_last() {
            Some((_, others)) => vector(others.to_vec()),
            None => Ok(Value::Nil),
        },
        ("peek" | "pop", _) => Err(TYPE),
        ("seq", [c]) => c.items().and_then(or_nil),
        ("vec", [c]) => c.items().and_then(vector),
        ("set", [c]) => c.items().map(Value::set),
        ("not-empty", [c]) => c.items().map(|items| if items.is_empty() { Value::Nil } else { c.clone() }),
        ("empty", [c]) => Ok(match c {
            Value::Vector(_) => Value::vector(Vec::new()),
            Value::Map(_) => Value::map([]),
            Value::Set(_) => Value::set([]),
            _ => Value::Nil,
        }),
        ("take", [n, c]) => part(c, n, |items, n| items[..n.min(items.len())].to_vec()).and_then(vector),
        ("drop", [n, c]) => part(c, n, |items, n| items[n.min(items.len())..].to_vec()).and_then(vector),
        ("nthrest", [c, n]) => part(c, n, |items, n| items[n.min(items.len())..].to_vec()).and_then(vector),
        ("nthnext", [c, n]) => part(c, n, |items, n| items[n.min(items.len())..].to_vec()).and_then(or_nil),
        ("take-last", [n, c]) => {
            part(c, n, |items, n| items[items.len().saturating_sub(n)..].to_vec()).and_then(or_nil)
        }
        ("drop-last", [c]) => {
            part(c, &Value::int(1), |items, n| items[..items.len().saturating_sub(n)].to_vec())
                .and_then(vector)
        }
        ("drop-last", [n, c]) => {
            part(c, n, |items, n| items[..items.len().saturating_sub(n)].to_vec()).and_then(vector)
        }
        ("partition-all", [n, c]) => chunks(c, n, true),
        ("partition", [n, c]) => chunks(c, n, false),
        ("concat", _) => {
            args.iter().map(Value::items).collect::<Result<Vec<_>, _>>().and_then(|all| vector(all.concat()))
        }
        ("cons", [x, c]) => c.items().and_then(|items| vector([vec![x.clone()], items].concat())),
        ("list*", [firsts @ .., c]) => c.items().and_then(|items| vector([firsts.to_vec(), items].concat())),
        ("reverse", [c]) => c.items().and_then(|items| vector(items.into_iter().rev().collect())),
        ("interleave", _) => rows(args).and_then(|rows| vector(rows.concat())),
        ("zipmap", [_, _]) => {
            rows(args).map(|rows| Value::map(rows.into_iter().map(|row| (row[0].clone(), row[1].clone()))))
        }
        ("interpose", [x, c]) => c.items().and_then(|items| {
            let mut out = items.iter().flat_map(|item| [x.clone(), item.clone()]).skip(1);
            vector(out.by_ref().collect())
        }),
        ("flatten", [c]) => {
            let mut out = Vec::new();
            if matches!(c, Value::Vector(_)) {
                flatten(c, &mut out);
            }
            vector(out)
        }
        ("distinct", [Value::Map(_)]) => Err(TYPE),
        ("distinct", [c]) => c.items().and_then(|items| Value::set(items).items()).and_then(vector),
        ("dedupe", [c]) => c.items().and_then(|mut items| {
            items.dedup_by(|next, kept| kept.is(next));
            vector(items)
        }),
        ("frequencies", [c]) => c.items().map(|items| {
            let count = |x: &Value<'a>| Value::int(items.iter().filter(|y| y.is(x)).count().max(1));
            Value::map(items.iter().map(|item| (item.clone(), count(item))))
        }),
        ("range", _) => range(args),
        ("repeat", [n, x]) => {
            amount(n).and_then(|n| if n > 10_000 { Err(NO_OPINION) } else { vector(vec![x.clone(); n]) })
        }
        ("sum", [c]) => c.items().and_then(|items| {
            let items: Vec<_> = items.into_iter().filter(|item| !item.is_nil()).collect();
            arith::fold("+", &items)
        }),
        ("into", []) => vector(Vec::new()),
        ("into", [to]) => Ok(to.clone()),
        ("into", [to, from]) => into(to, from),
        _ => return None,
    })
}

fn part<'a>(
    coll: &Value<'a>,
    n: &Value<'a>,
    cut: fn(&[Value<'a>], usize) -> Vec<Value<'a>>,
) -> Result<Vec<Value<'a>>, Fault> {
    Ok(cut(&coll.items()?, amount(n)?))
}

fn chunks<'a>(coll: &Value<'a>, n: &Value<'a>, all: bool) -> Result<Value<'a>, Fault> {
    let n = whole(n).ok_or(TYPE)?;
    let items = coll.items()?;
    if n < 0 && !all {
        return vector(Vec::new());
    }
    let n = usize::try_from(n).ok().filter(|n| *n > 0).ok_or(TYPE)?;
    let chunks = items.chunks(n).filter(|chunk| all || chunk.len() == n);
    vector(chunks.map(|chunk| Value::vector(chunk.to_vec())).collect())
}

/// Returns the elements of all collections side by side, up to the shortest.
fn rows<'a>(colls: &[Value<'a>]) -> Result<Vec<Vec<Value<'a>>>, Fault> {
    let columns: Vec<_> = colls.iter().map(Value::items).collect::<Result<_, _>>()?;
    let shortest = columns.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..shortest).map(|i| columns.iter().map(|column| column[i].clone()).collect()).collect())
}

fn flatten<'a>(v: &Value<'a>, out: &mut Vec<Value<'a>>) {
    match v {
        Value::Vector(items) => items.iter().for_each(|item| flatten(item, out)),
        _ => out.push(v.clone()),
    }
}

fn range<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Fault> {
    if !args.iter().all(Value::is_number) {
        return Err(TYPE);
    }
    let int = |n: &Value<'a>| match n {
        Value::Int(n) => Ok(n.clone()),
        _ => Err(NO_OPINION),
    };
    let (start, end, step) = match args {
        [end] => (BigInt::zero(), int(end)?, BigInt::from(1)),
        [start, end] => (int(start)?, int(end)?, BigInt::from(1)),
        [start, end, step] => (int(start)?, int(end)?, int(step)?),
        _ => return Err(NO_OPINION),
    };
    if step.is_zero() {
        return Err(TYPE);
    }
    let (mut out, mut x) = (Vec::new(), start);
    while if step > BigInt::zero() { x < end } else { x > end } {
        if out.len() > 10_000 {
            return Err(NO_OPINION);
        }
        out.push(Value::Int(x.clone()));
        x += &step;
    }
    vector(out)
}

fn into<'a>(to: &Value<'a>, from: &Value<'a>) -> Result<Value<'a>, Fault> {
    match (to, from) {
        (_, Value::Nil) => Ok(to.clone()),
        (Value::Nil | Value::Vector(_) | Value::Map(_) | Value::Set(_), _) => {
            from.items()?.into_iter().try_fold(to.clone(), |to, item| lookup::conj(&to, item))
        }
        _ => Err(TYPE),
    }
}

/// Calls a builtin that calls functions, in the order of their arguments.
fn functional<'a>(m: &mut Machine<'a>, name: &str, args: &[Value<'a>]) -> Option<Answer<'a>> {
    Some(match (name, args) {
        ("map" | "mapv", [f, colls @ ..]) if !colls.is_empty() => map(m, f, colls).map(Value::vector),
        ("mapcat", [f, colls @ ..]) if !colls.is_empty() => map(m, f, colls).and_then(|parts| {
            let parts: Result<Vec<_>, _> = parts.iter().map(Value::items).collect();
            Ok(Value::vector(parts?.concat()))
        }),
        ("map-indexed" | "keep-indexed", [f, c]) => indexed(m, f, c).map(|mut items| {
            items.retain(|item| name == "map-indexed" || !item.is_nil());
            Value::vector(items)
        }),
        ("keep", [f, c]) => map(m, f, std::slice::from_ref(c)).map(|mut items| {
            items.retain(|item| !item.is_nil());
            Value::vector(items)
        }),
        ("filter" | "filterv", [f, c]) => select(m, f, c, true),
        ("remove", [f, c]) => select(m, f, c, false),
        ("take-while", [f, c]) => prefix(m, f, c).map(|(items, n)| Value::vector(items[..n].to_vec())),
        ("drop-while", [f, c]) => prefix(m, f, c).map(|(items, n)| Value::vector(items[n..].to_vec())),
        ("some", [f, c]) => first_answer(m, f, c, true).map(|found| found.unwrap_or(Value::Nil)),
        ("every?", [f, c]) => first_answer(m, f, c, false).map(|found| Value::Bool(found.is_none())),
        ("not-any?", [f, c]) => first_answer(m, f, c, true).map(|found| Value::Bool(found.is_none())),
        ("not-every?", [f, c]) => first_answer(m, f, c, false).map(|found| Value::Bool(found.is_some())),
        ("run!", [f, c]) => map(m, f, std::slice::from_ref(c)).map(|_| Value::Nil),
        ("repeatedly", [n, f]) => repeatedly(m, n, f),
        ("reduce", [f, c]) => c.items().map_err(Stop::Fault).and_then(|items| match items.split_first() {
            Some((first, rest)) => fold(m, f, first.clone(), rest, None),
            None => m.call(f, Vec::new()),
        }),
        ("reduce", [f, init, c]) => {
            c.items().map_err(Stop::Fault).and_then(|items| fold(m, f, init.clone(), &items, None))
        }
        ("reductions", [f, init, c]) => c.items().map_err(Stop::Fault).and_then(|items| {
            let mut seen = vec![init.clone()];
            fold(m, f, init.clone(), &items, Some(&mut seen))?;
            Ok(Value::vector(seen))
        }),
        ("reduce-kv", [f, init, c]) => reduce_kv(m, f, init, c),
        ("apply", [f, given @ .., c]) => {
            c.items().map_err(Stop::Fault).and_then(|more| m.call(f, [given.to_vec(), more].concat()))
        }
        ("update", [coll, key, f, more @ ..]) => {
            let old = lookup::get(coll, key, Value::Nil);
            m.call(f, [vec![old], more.to_vec()].concat())
                .and_then(|new| Ok(lookup::put_flexible(coll, key.clone(), new)?))
        }
        ("update-in", [coll, path, f, more @ ..]) => update_in(m, coll, path, f, more),
        ("update-vals", [Value::Vector(_), f]) => map(m, f, &args[..1]).map(Value::vector),
        ("update-vals" | "update-keys", [coll, f]) => update_each(m, coll, f, name == "update-keys"),
        ("merge-with", [f, maps @ ..]) => merge_with(m, f, maps),
        ("pmap", [f, colls @ ..]) => rows_of_pmap(m, f, colls),
        ("pcalls", fs) => branches(m, fs.iter().map(|f| (f.clone(), Vec::new())).collect(), "pcalls_error"),
        _ => return None,
    })
}

fn map<'a>(m: &mut Machine<'a>, f: &Value<'a>, colls: &[Value<'a>]) -> Items<'a> {
    rows(colls)?.into_iter().map(|row| m.call(f, row)).collect()
}

fn indexed<'a>(m: &mut Machine<'a>, f: &Value<'a>, coll: &Value<'a>) -> Items<'a> {
    let items = coll.items()?.into_iter().enumerate();
    items.map(|(i, item)| m.call(f, vec![Value::int(i), item])).collect()
}

fn select<'a>(m: &mut Machine<'a>, f: &Value<'a>, coll: &Value<'a>, wanted: bool) -> Answer<'a> {
    let mut out = Vec::new();
    for item in coll.items()? {
        if m.call(f, vec![item.clone()])?.truthy() == wanted {
            out.push(item);
        }
    }
    Ok(Value::vector(out))
}

/// Returns all items, and the number of leading items for which the predicate holds.
fn prefix<'a>(
    m: &mut Machine<'a>,
    f: &Value<'a>,
    coll: &Value<'a>,
) -> Result<(Vec<Value<'a>>, usize), Stop<'a>> {
    let items = coll.items()?;
    for (i, item) in items.iter().enumerate() {
        if !m.call(f, vec![item.clone()])?.truthy() {
            return Ok((items, i));
        }
    }
    let all = items.len();
    Ok((items, all))
}

/// Returns the first result whose truth is as wanted.
fn first_answer<'a>(
    m: &mut Machine<'a>,
    f: &Value<'a>,
    coll: &Value<'a>,
    wanted: bool,
) -> Result<Option<Value<'a>>, Stop<'a>> {
    for item in coll.items()? {
        let answer = m.call(f, vec![item])?;
        if answer.truthy() == wanted {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

fn repeatedly<'a>(m: &mut Machine<'a>, n: &Value<'a>, f: &Value<'a>) -> Answer<'a> {
    let Value::Int(n) = n else { return Err(NO_OPINION.into()) };
    let calls = (0..n.to_i64().unwrap_or(i64::MAX)).map(|_| m.call(f, Vec::new()));
    Ok(Value::vector(calls.collect::<Result<_, _>>()?))
}

/// Folds, ending at a reduced value; adds every step to `seen`.
fn fold<'a>(
    m: &mut Machine<'a>,
    f: &Value<'a>,
    init: Value<'a>,
    items: &[Value<'a>],
    mut seen: Option<&mut Vec<Value<'a>>>,
) -> Answer<'a> {
    let mut acc = init;
    for item in items {
        acc = m.call(f, vec![acc, item.clone()])?;
        let done = matches!(acc, Value::Reduced(_));
        if let Value::Reduced(value) = &acc {
            acc = (**value).clone();
        }
        if let Some(seen) = &mut seen {
            seen.push(acc.clone());
        }
        if done {
            break;
        }
    }
    Ok(acc)
}

/// Returns the pairs of a map, or of indexes and items; none for nil.
fn pairs<'a>(coll: &Value<'a>) -> Result<Vec<(Value<'a>, Value<'a>)>, Fault> {
    match coll {
        Value::Nil => Ok(Vec::new()),
        Value::Map(pairs) => Ok(pairs.to_vec()),
        Value::Vector(items) => {
            Ok(items.iter().enumerate().map(|(i, item)| (Value::int(i), item.clone())).collect())
        }
        _ => Err(TYPE),
    }
}

fn reduce_kv<'a>(m: &mut Machine<'a>, f: &Value<'a>, init: &Value<'a>, coll: &Value<'a>) -> Answer<'a> {
    let mut acc = init.clone();
    for (key, value) in pairs(coll)? {
        acc = m.call(f, vec![acc, key, value])?;
        if let Value::Reduced(value) = acc {
            return Ok((*value).clone());
        }
    }
    Ok(acc)
}

fn update_in<'a>(
    m: &mut Machine<'a>,
    coll: &Value<'a>,
    path: &Value<'a>,
    f: &Value<'a>,
    more: &[Value<'a>],
) -> Answer<'a> {
    let path = path_of(path)?;
    let path = if path.is_empty() { vec![Value::Nil] } else { path };
    let old = lookup::get_in(coll, &path).unwrap_or(Value::Nil);
    let new = m.call(f, [vec![old], more.to_vec()].concat())?;
    Ok(lookup::assoc_in(coll, &path, new)?)
}

fn update_each<'a>(m: &mut Machine<'a>, coll: &Value<'a>, f: &Value<'a>, keys: bool) -> Answer<'a> {
    let mut out = Vec::new();
    for (key, value) in pairs(coll)? {
        out.push(if keys { (m.call(f, vec![key])?, value) } else { (key, m.call(f, vec![value])?) });
    }
    Ok(Value::map(out))
}

fn merge_with<'a>(m: &mut Machine<'a>, f: &Value<'a>, maps: &[Value<'a>]) -> Answer<'a> {
    let mut merged: Option<Vec<(Value<'a>, Value<'a>)>> = None;
    for source in maps.iter().filter(|source| source.truthy()) {
        let (Value::Map(source), known) = (source, &mut merged) else { return Err(NO_OPINION.into()) };
        let Some(known) = known else {
            *known = Some(source.to_vec());
            continue;
        };
        for (key, value) in source.iter() {
            match known.iter().position(|(k, _)| k.is(key)) {
                Some(at) => known[at].1 = m.call(f, vec![known[at].1.clone(), value.clone()])?,
                None => known.push((key.clone(), value.clone())),
            }
        }
    }
    Ok(merged.map_or(Value::Nil, Value::map))
}

fn rows_of_pmap<'a>(m: &mut Machine<'a>, f: &Value<'a>, colls: &[Value<'a>]) -> Answer<'a> {
    let calls = rows(colls)?.into_iter().map(|row| (f.clone(), row)).collect();
    branches(m, calls, "pmap_error")
}

/// Runs branches one after another: their definitions and prints are dropped, and any end other than a value
/// becomes `error`.
fn branches<'a>(m: &mut Machine<'a>, calls: Vec<(Value<'a>, Vec<Value<'a>>)>, error: Fault) -> Answer<'a> {
    let (defs, prints) = (m.defs.clone(), m.prints.len());
    let mut out = Vec::new();
    for (f, args) in calls {
        let answer = m.call(&f, args);
        m.defs.clone_from(&defs);
        m.prints.truncate(prints);
        out.push(match answer {
            Ok(value) => value,
            Err(Stop::Fault(NO_OPINION)) => return Err(NO_OPINION.into()),
            Err(_) => return Err(error.into()),
        });
    }
    Ok(Value::vector(out))
}
