//! Natives for maps: lookup, change, views.

use super::args::{arg, each, items, refuse, size};
use ptc_bytecode::Code;
use ptc_vm::{Call, Fault, Ref, Stop, Value};

/// `(get coll key)`, `(get coll key default)`
pub fn get(call: &mut Call<'_>) -> Result<Value, Stop> {
    ptc_vm::get_or(call.heap, arg(call, 1), arg(call, 2), arg(call, 3))
}

/// `(assoc coll k v …)`
pub fn assoc(call: &mut Call<'_>) -> Result<Value, Stop> {
    let pairs = &call.args[1..];
    if pairs.is_empty() || pairs.len() % 2 == 1 {
        return Err(Fault::new(Code::RuntimeError, "`assoc` needs a value for every key")
            .hint("`(assoc m :a 1 :b 2)`")
            .into());
    }
    let mut coll = call.own_first_for(pairs.len() / 2);
    for pair in pairs.chunks_exact(2) {
        coll = ptc_vm::assoc_last(call.heap, call.budget, coll, pair[0], pair[1])?;
    }
    Ok(coll)
}

/// Returns argument `n` as a map; None for nil.
fn map_or_nil(call: &Call<'_>, n: usize) -> Result<Option<Ref>, Stop> {
    match arg(call, n) {
        Value::Map(map) => Ok(Some(map)),
        Value::Nil => Ok(None),
        _ => Err(call.wrong_type(n, "a map")),
    }
}

/// `(dissoc m k …)`
pub fn dissoc(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.pay_items(call.args.len())?;
    map_or_nil(call, 1)?;
    let map = call.own_first_for(call.args.len() - 1);
    call.args[1..].iter().try_fold(map, |map, key| call.heap.map_remove(map, *key))
}

/// `(merge m …)`
pub fn merge(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut sources = Vec::new();
    let mut total = 0;
    for n in 1..=call.args.len() {
        let source = arg(call, n);
        if !source.truthy() {
            continue;
        }
        total += match source {
            Value::Map(map) => call.heap.map_len(map),
            Value::Vector(pair) if !sources.is_empty() && call.heap.vec_len(pair) == 2 => 1,
            _ if call.args.len() == 1 => 0,
            _ => return Err(call.wrong_type(n, "a map")),
        };
        sources.push(source);
    }
    let [first, rest @ ..] = sources.as_slice() else { return Ok(Value::Nil) };
    let Value::Map(base) = *first else { return Ok(*first) };
    let kept = call.heap.map_len(base);
    let more = total - kept;
    if rest.is_empty() {
        return Ok(*first);
    }
    // A few entries are put into the large map; otherwise the whole is rebuilt.
    if more < kept / 4 {
        call.pay_items(more)?;
        // The first collection to be merged is not always the first argument of the call.
        let owns = matches!(arg(call, 1), Value::Map(found) if found == base);
        let mut merged = if owns { call.own_first_for(more) } else { *first };
        for pair in entries_of(call, rest).chunks_exact(2) {
            merged = put(call, merged, pair[0], pair[1])?;
        }
        return Ok(merged);
    }
    call.pay_items(total)?;
    let all = entries_of(call, &sources);
    call.heap.new_map_like(base, &all)
}

/// Adds one entry; a map that is veiled for one of its keys stays so.
fn put(call: &mut Call<'_>, map: Value, key: Value, value: Value) -> Result<Value, Stop> {
    match map {
        Value::Map(_) | Value::OwnMap(_) => call.heap.map_put(map, key, value),
        _ => ptc_vm::assoc(call.heap, call.budget, map, key, value),
    }
}

/// Returns keys and values in turn of maps and pairs.
fn entries_of(call: &Call<'_>, sources: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    for source in sources {
        match source {
            Value::Map(map) => all.extend(call.heap.map_items(*map)),
            Value::Vector(pair) => all.extend(call.heap.vec_items(*pair)),
            _ => {}
        }
    }
    all
}

/// `(select-keys m keys)`
pub fn select_keys(call: &mut Call<'_>) -> Result<Value, Stop> {
    let coll = arg(call, 1);
    if !matches!(coll, Value::Nil | Value::Map(_) | Value::Vector(_) | Value::Range(_)) {
        return Err(call.wrong_type(1, "a map"));
    }
    let mut pairs = Vec::new();
    each(call, 2, |heap, key| {
        if let Some(value) = super::path::lookup(heap, coll, key)? {
            pairs.extend([key, value]);
        }
        Ok(())
    })?;
    call.heap.new_map(&pairs)
}

/// `(rename-keys m renames)`
pub fn rename_keys(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (Some(map), Some(renames)) = (map_or_nil(call, 1)?, map_or_nil(call, 2)?) else {
        return Ok(arg(call, 1));
    };
    call.pay_items(call.heap.map_len(renames))?;
    let renames = call.heap.map_items(renames);
    let mut result = Value::Map(map);
    for pair in renames.chunks_exact(2) {
        if let Value::Map(rest) = result {
            result = call.heap.map_dissoc(rest, pair[0])?;
        }
    }
    for pair in renames.chunks_exact(2) {
        if let (Value::Map(rest), Some(value)) = (result, call.heap.map_get(map, pair[0])) {
            result = call.heap.map_assoc(rest, pair[1], value)?;
        }
    }
    Ok(result)
}

/// `(contains? coll key)`
pub fn contains_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    let key = arg(call, 2);
    Ok(Value::bool(match call.heap.in_transient(arg(call, 1)) {
        Value::Nil => false,
        Value::Map(map) => call.heap.map_get_flex(map, key).is_some(),
        Value::Set(set) => call.heap.set_get(set, key).is_some(),
        Value::Range(range) => {
            let (start, step, len) = call.heap.range_parts(range);
            let steps = |n: i64| (i128::from(n) - i128::from(start), i128::from(step));
            matches!(key, Value::Int(n) if {
                let (away, by) = steps(n);
                by != 0 && away % by == 0 && (0..i128::from(len)).contains(&(away / by))
            })
        }
        Value::Vector(vector) => {
            let len = call.heap.vec_len(vector);
            call.pay_items(len)?;
            let mut work = call.budget.work();
            let mut found = false;
            for item in (0..len).map_while(|i| call.heap.vec_get(vector, i)) {
                found = call.heap.exact_within(item, key, &mut work)?;
                if found {
                    break;
                }
            }
            call.budget.settle(&work)?;
            found
        }
        Value::Str(_) if matches!(key, Value::Int(_) | Value::Float(_)) => {
            let at = match key {
                Value::Int(n) => n,
                Value::Float(n) => n.get() as i64,
                _ => -1,
            };
            at >= 0 && super::path::lookup(call.heap, arg(call, 1), Value::Int(at))?.is_some()
        }
        _ => return Err(call.wrong_type(1, "a map, a set or a list")),
    }))
}

/// `(find coll key)`
pub fn find(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (coll, key) = (arg(call, 1), arg(call, 2));
    let found = match coll {
        Value::Map(map) => call.heap.map_find_flex(map, key),
        Value::Nil => None,
        Value::Vector(_) | Value::Range(_) => {
            super::path::lookup(call.heap, coll, key)?.map(|value| (key, value))
        }
        _ => return Err(call.wrong_type(1, "a map or a list")),
    };
    match found {
        Some((key, value)) => call.heap.new_vec(&[key, value]),
        None => Ok(Value::Nil),
    }
}

/// Returns both halves of argument 1, a pair.
fn pair(call: &Call<'_>) -> Result<(Value, Value), Stop> {
    match arg(call, 1) {
        Value::Vector(r) => match (call.heap.vec_len(r), call.heap.vec_get(r, 0), call.heap.vec_get(r, 1)) {
            (2, Some(key), Some(value)) => Ok((key, value)),
            _ => Err(call.wrong_type(1, "a pair [key value]")),
        },
        _ => Err(call.wrong_type(1, "a pair [key value]")),
    }
}

/// `(key pair)`
pub fn key(call: &mut Call<'_>) -> Result<Value, Stop> {
    pair(call).map(|(key, _)| key)
}

/// `(val pair)`
pub fn val(call: &mut Call<'_>) -> Result<Value, Stop> {
    pair(call).map(|(_, value)| value)
}

/// Returns one half of every entry of a map, or of every pair of a list; nil if there are none.
fn halves(call: &mut Call<'_>, half: usize) -> Result<Value, Stop> {
    let all: Vec<Value> = match arg(call, 1) {
        Value::Nil => return Ok(Value::Nil),
        Value::Map(map) => {
            call.pay_items(call.heap.map_len(map))?;
            call.heap.map_items(map).into_iter().skip(half).step_by(2).collect()
        }
        Value::Vector(_) => {
            let pairs = items(call, 1)?;
            let half = |pair: &Value| match pair {
                Value::Vector(r) if call.heap.vec_len(*r) == 2 => call.heap.vec_get(*r, half),
                _ => None,
            };
            match pairs.iter().map(half).collect::<Option<Vec<Value>>>() {
                Some(all) => all,
                None => return Err(call.wrong_type(1, "a map or a list of pairs")),
            }
        }
        _ if size(call, 1).is_ok_and(|len| len == 0) => return Ok(Value::Nil),
        _ => return Err(call.wrong_type(1, "a map")),
    };
    if all.is_empty() { Ok(Value::Nil) } else { call.heap.new_vec(&all) }
}

/// `(keys m)`
pub fn keys(call: &mut Call<'_>) -> Result<Value, Stop> {
    halves(call, 0)
}

/// `(vals m)`
pub fn vals(call: &mut Call<'_>) -> Result<Value, Stop> {
    halves(call, 1)
}

/// `(entries m)`
pub fn entries(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Map(_) => super::args::indexed(call, 1),
        _ => Err(call.wrong_type(1, "a map")),
    }
}

/// Returns keys and values of a map, or indexes and items of a vector, as pairs; nothing for nil.
pub fn pairs(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        coll @ (Value::Map(_) | Value::Nil) => Ok(coll),
        Value::Vector(_) | Value::Range(_) => {
            let items = items(call, 1)?;
            call.heap.room(items.len().saturating_mul(4), 0)?;
            let mut pairs = Vec::with_capacity(items.len());
            for (i, item) in items.into_iter().enumerate() {
                pairs.push(call.heap.new_vec(&[Value::Int(i as i64), item])?);
            }
            call.heap.new_vec(&pairs)
        }
        found => Err(not_keyed(found)),
    }
}

#[cold]
fn not_keyed(found: Value) -> Stop {
    let fault = Fault::expected("a map", found.type_phrase());
    match found {
        Value::Closure(_) | Value::Builtin(_) | Value::Keyword(_) => {
            fault.hint("the map comes before the function; under `->>` use `->`")
        }
        _ => fault,
    }
    .into()
}

/// `(hash-map k v …)`
pub fn hash_map(call: &mut Call<'_>) -> Result<Value, Stop> {
    if call.args.len() % 2 == 1 {
        return Err(Fault::new(
            Code::ArityError,
            format!("`{}` needs a value for every key, but got {} arguments", call.name(), call.args.len()),
        )
        .into());
    }
    call.pay_items(call.args.len())?;
    call.heap.new_map(call.args)
}

/// `(map-invert m)`
pub fn map_invert(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Some(map) = map_or_nil(call, 1)? else { return Ok(call.heap.empty_map()) };
    call.pay_items(call.heap.map_len(map))?;
    let mut all = call.heap.map_items(map);
    all.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    call.heap.new_map(&all)
}

/// Adds the elements of argument 2, pairs and maps, to the map in argument 1.
pub fn pour(call: &mut Call<'_>, map: Ref) -> Result<Value, Stop> {
    let mut more = Vec::new();
    match arg(call, 2) {
        Value::Map(source) => {
            call.pay_items(call.heap.map_len(source))?;
            more = call.heap.map_items(source);
        }
        _ => each(call, 2, |heap, item| {
            match item {
                Value::Vector(pair) if heap.vec_len(pair) == 2 => {
                    more.extend((0..2).filter_map(|i| heap.vec_get(pair, i)));
                }
                Value::Map(source) => more.extend(heap.map_items(source)),
                Value::Nil => {}
                _ => return Err(refuse_entry(item)),
            }
            Ok(())
        })?,
    }
    let len = call.heap.map_len(map);
    if more.len() / 2 < len / 4 {
        let mut result = call.own_first_for(more.len() / 2);
        for pair in more.chunks_exact(2) {
            result = put(call, result, pair[0], pair[1])?;
        }
        return Ok(result);
    }
    call.pay_items(len)?;
    let mut all = call.heap.map_items(map);
    all.append(&mut more);
    call.heap.new_map_like(map, &all)
}

#[cold]
fn refuse_entry(found: Value) -> Stop {
    Fault::type_error(format!("`into` a map needs pairs [key value], but found {}", found.type_phrase()))
        .hint("`(into {} (map (fn [x] [(:id x) x]) xs))`")
        .into()
}

/// Returns argument 1 if `replace` can look elements up in it.
pub fn replacements(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        found @ (Value::Nil | Value::Map(_) | Value::Vector(_) | Value::Range(_)) => Ok(found),
        found => Err(Fault::type_error(format!(
            "`replace` needs a map of replacements, but argument 1 is {}",
            found.type_phrase()
        ))
        .hint("in text: `(replace s \"a\" \"b\")`; in a list: `(replace {:a 1} xs)`")
        .into()),
    }
}

/// Makes the fault for operations that only an instruction can do.
#[cold]
pub fn instruction_only(call: &Call<'_>) -> Stop {
    refuse(format!("`{}` cannot be called as a value", call.name()))
}
