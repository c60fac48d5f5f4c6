//! Natives for the core library and expansions; programs cannot spell their names.

use super::args::{arg, indexed as indexed_arg, items, size};
use super::map::instruction_only;
use super::sorting::sorted_places;
use ptc_bytecode::{Code, lookup};
use ptc_vm::{Call, Fault, Stop, Value};

/// `(%builder)`
pub fn builder(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.heap.new_builder()
}

/// `(%push builder x)`, where it is not an instruction. Returns the builder, which may move.
pub fn push(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.heap.builder_push(arg(call, 1), arg(call, 2))
}

/// `(%finish builder)`
pub fn finish(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.heap.builder_vector(arg(call, 1))
}

/// `(%finish-map builder)`
pub fn finish_map(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.heap.builder_map(arg(call, 1))
}

/// `(%finish-set builder)`
pub fn finish_set(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.heap.builder_set(arg(call, 1))
}

/// Refuses `%apply`: only the VM can call functions.
pub fn apply(call: &mut Call<'_>) -> Result<Value, Stop> {
    Err(instruction_only(call))
}

/// Refuses `%pmap`: only the VM can call functions.
pub fn pmap(call: &mut Call<'_>) -> Result<Value, Stop> {
    Err(instruction_only(call))
}

/// Refuses `%pcalls`: only the VM can call functions.
pub fn pcalls(call: &mut Call<'_>) -> Result<Value, Stop> {
    Err(instruction_only(call))
}

/// `(reduced x)`: returns a builder of one item. Programs can get no other builder, so `reduce` recognises it by
/// its tag.
pub fn reduced(call: &mut Call<'_>) -> Result<Value, Stop> {
    let builder = call.heap.new_builder()?;
    call.heap.builder_push(builder, arg(call, 1))
}

/// `(reduced? x)`
pub fn reduced_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(matches!(arg(call, 1), Value::Builder(_))))
}

/// `(unreduced x)`
pub fn unreduced(call: &mut Call<'_>) -> Result<Value, Stop> {
    let value = arg(call, 1);
    if !matches!(value, Value::Builder(_)) {
        return Ok(value);
    }
    // As a set, since taking the items as a vector would use up the builder.
    let held = call.heap.builder_set(value)?;
    let item = match call.heap.unveil(held) {
        Value::Set(set) => call.heap.set_next(set, 0).map_or(Value::Nil, |(item, _)| item),
        _ => Value::Nil,
    };
    // A set with a veiled member is veiled itself.
    if matches!(held, Value::Veiled(_)) { call.heap.veil(item) } else { Ok(item) }
}

/// `(%assert-failed test)`, `(%assert-failed test message)`
pub fn assert_failed(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut message = String::from("assert failed: ");
    for n in (1..=call.args.len()).rev() {
        super::text::display(call, arg(call, n), &mut message)?;
        if n > 1 {
            message.push_str(": ");
        }
    }
    Err(Fault::new(Code::AssertionFailed, message).into())
}

/// `(%nth coll i)`, `(%nth coll i true)`: returns an element for a vector pattern; of maps and sets only if the
/// pattern has a rest.
pub fn nth(call: &mut Call<'_>) -> Result<Value, Stop> {
    match (arg(call, 1), arg(call, 2)) {
        (Value::Vector(r), Value::Int(i)) => Ok(call.heap.vec_get(r, i as usize).unwrap_or(Value::Nil)),
        (Value::Nil, _) => Ok(Value::Nil),
        (Value::Map(_) | Value::Set(_), _) if !arg(call, 3).truthy() => Err(not_taken_apart(call)),
        (_, Value::Int(i)) => {
            check_pattern_source(call)?;
            super::seq::element(call, 1, i as usize)
        }
        _ => Ok(Value::Nil),
    }
}

/// `(%drop coll n)`: returns the value of `& rest` in a vector pattern.
pub fn drop(call: &mut Call<'_>) -> Result<Value, Stop> {
    check_pattern_source(call)?;
    super::slice::drop_or_nil(call)
}

fn check_pattern_source(call: &Call<'_>) -> Result<(), Stop> {
    size(call, 1).map(|_| ()).map_err(|stop| if stop.is_twin() { stop } else { not_taken_apart(call) })
}

#[cold]
fn not_taken_apart(call: &Call<'_>) -> Stop {
    let found = arg(call, 1);
    let fault = Fault::new(
        Code::DestructureError,
        format!("a vector pattern takes a list apart, but the value is {}", found.type_phrase()),
    );
    match found {
        Value::Map(_) => fault.hint("`{:keys [a b]}` takes a map apart"),
        Value::Set(_) => fault.hint("`(let [[a b] (vec s)] a)`"),
        _ => fault,
    }
    .into()
}

/// `(%kwargs args)`: returns trailing arguments as a map: pairs, a map, or pairs and then a map.
pub fn kwargs(call: &mut Call<'_>) -> Result<Value, Stop> {
    let given = arg(call, 1);
    if !matches!(given, Value::Vector(_) | Value::Range(_)) {
        return Ok(given);
    }
    let mut pairs = items(call, 1)?;
    if pairs.len() % 2 == 1 {
        match pairs.pop() {
            Some(last @ Value::Map(_)) if pairs.is_empty() => return Ok(last),
            Some(Value::Map(last)) => pairs.extend(call.heap.map_items(last)),
            Some(Value::Nil) => {}
            _ => {
                return Err(Fault::new(
                    Code::DestructureError,
                    format!(
                        "keyword arguments come in pairs, but the number of arguments is {}",
                        pairs.len() + 1
                    ),
                )
                .hint("`(f :a 1 :b 2)` or `(f {:a 1 :b 2})`")
                .into());
            }
        }
    }
    call.heap.new_map(&pairs)
}

/// `(%sort coll reverse?)`
pub fn sort(call: &mut Call<'_>) -> Result<Value, Stop> {
    let items = items(call, 1)?;
    let reverse = arg(call, 2).truthy();
    let places = sorted_places(call, &items, reverse)?;
    in_order(call, &items, &places)
}

/// `(%sort-by-keys items keys reverse?)`
pub fn sort_by_keys(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (values, keys) = (items(call, 1)?, items(call, 2)?);
    let reverse = arg(call, 3).truthy();
    let places = sorted_places(call, &keys, reverse)?;
    in_order(call, &values, &places)
}

fn in_order(call: &mut Call<'_>, items: &[Value], places: &[u32]) -> Result<Value, Stop> {
    let sorted: Vec<Value> = places.iter().filter_map(|i| items.get(*i as usize).copied()).collect();
    call.heap.new_vec(&sorted)
}

/// `(%refuse-text-key k)`
pub fn refuse_text_key(call: &mut Call<'_>) -> Result<Value, Stop> {
    let name = match arg(call, 1) {
        Value::Str(r) => call.heap.str(r).to_string(),
        _ => String::new(),
    };
    let is_word = !name.is_empty()
        && name.len() < 60
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    let key = if is_word { format!(":{name}") } else { "[\"the key\"]".to_string() };
    Err(Fault::type_error(
        "`sort-by`: argument 1 must be a function, a keyword or a path, but it is a string",
    )
    .hint(format!("`(sort-by {key} rows)` finds string keys too"))
    .into())
}

/// `(%sort-direction comparator)`: returns false for the total order, true for its reverse, nil for functions that
/// have to be called.
pub fn sort_direction(call: &mut Call<'_>) -> Result<Value, Stop> {
    let is = |id: u64, name: &str| lookup(name).is_some_and(|known| u64::from(known.0) == id);
    Ok(match arg(call, 1) {
        Value::Nil => Value::False,
        Value::Builtin(id) if is(id, "compare") || is(id, "<") => Value::False,
        Value::Builtin(id) if is(id, ">") => Value::True,
        Value::Keyword(r) => match call.heap.str(r) {
            "asc" => Value::False,
            "desc" => Value::True,
            _ => return Err(bad_comparator(call)),
        },
        Value::Closure(_) | Value::Builtin(_) | Value::Tool(_) | Value::Map(_) | Value::Set(_) => Value::Nil,
        _ => return Err(bad_comparator(call)),
    })
}

#[cold]
fn bad_comparator(call: &Call<'_>) -> Stop {
    let found = arg(call, 1);
    Fault::expected("a comparator (a function, :asc or :desc)", found.type_phrase())
        .hint("the comparator precedes the collection: `(sort-by :age > people)`")
        .into()
}

/// `(%into to from)`
pub fn into(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let Value::Nil = arg(call, 2) {
        return Ok(arg(call, 1));
    }
    match arg(call, 1) {
        Value::Map(map) => super::map::pour(call, map),
        Value::Set(set) => super::set::pour(call, set),
        Value::Nil => {
            let all = items(call, 2)?;
            if all.is_empty() { Ok(Value::Nil) } else { call.heap.new_vec(&all) }
        }
        Value::Vector(r) => {
            let more = items(call, 2)?;
            let len = call.heap.vec_len(r);
            if more.len() < len / 4 {
                return more.into_iter().try_fold(Value::Vector(r), |acc, item| match acc {
                    Value::Vector(r) => call.heap.vec_conj(r, item),
                    _ => Ok(acc),
                });
            }
            call.pay_items(len)?;
            let mut all = call.heap.vec_items(r);
            all.extend(more);
            call.heap.new_vec(&all)
        }
        Value::Range(_) => {
            let mut all = items(call, 1)?;
            all.extend(items(call, 2)?);
            call.heap.new_vec(&all)
        }
        _ => Err(call.wrong_type(1, "a collection")),
    }
}

/// `(%indexed coll)`
pub fn indexed(call: &mut Call<'_>) -> Result<Value, Stop> {
    indexed_arg(call, 1)
}

/// `(%zip colls)`
pub fn zip(call: &mut Call<'_>) -> Result<Value, Stop> {
    super::build::zip_all(call)
}
