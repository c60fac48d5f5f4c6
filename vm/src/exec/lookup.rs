//! Handlers that read and extend collections, definitions and granted data.

use crate::budget::Budget;
use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::machine::{Attached, Definition};
use crate::value::{Ref, Value, comparing_steps};
use ptc_bytecode::{Code, Subject, used_export};

/// Steps for veiling an element.
const VEIL_STEPS: usize = 4;

/// Evaluates `(get coll key)`: nil if absent.
#[inline]
pub fn get(heap: &mut Heap, coll: Value, key: Value) -> Result<Value, Stop> {
    get_or(heap, coll, key, Value::Nil)
}

/// Evaluates `(get coll key default)`.
#[inline]
pub fn get_or(heap: &mut Heap, coll: Value, key: Value, default: Value) -> Result<Value, Stop> {
    match coll {
        Value::Map(map) | Value::OwnMap(map) => {
            // A key may be as large as any other value.
            if !matches!(key, Value::Keyword(_) | Value::Int(_)) {
                heap.check_known_deep(key)?;
                if heap.has_veils()
                    && let Some(clear) = heap.unveil_deep(key)?
                {
                    return through(heap, "get", |heap| get_or(heap, coll, clear, default));
                }
                heap.look()?;
            }
            Ok(heap.map_field_or(map, key, default))
        }
        _ => get_slow(heap, coll, key, default),
    }
}

#[inline(never)]
fn get_slow(heap: &mut Heap, coll: Value, key: Value, default: Value) -> Result<Value, Stop> {
    if coll.is_owned() || key.is_owned() || default.is_owned() {
        return get_or(heap, coll.shared(), key.shared(), default.shared());
    }
    heap.check_known(coll)?;
    heap.check_known(key)?;
    if let (Value::Veiled(_), _) | (_, Value::Veiled(_)) = (coll, key) {
        return through(heap, "get", |heap| get_or(heap, heap.unveil(coll), heap.unveil(key), default));
    }
    let coll = heap.in_transient(coll);
    if let Value::Map(_) | Value::Veiled(_) = coll {
        return get_or(heap, coll, key, default);
    }
    let found = match (coll, key) {
        // A keyword contains nothing: the arguments are swapped.
        (Value::Keyword(_), Value::Map(_)) => return Err(swapped_get()),
        (Value::Set(set), key) => {
            heap.check_known_deep(key)?;
            if heap.has_veils()
                && let Some(clear) = heap.unveil_deep(key)?
            {
                return through(heap, "get", |heap| get_or(heap, coll, clear, default));
            }
            heap.look()?;
            heap.set_get(set, key)
        }
        (Value::Vector(_) | Value::Range(_) | Value::Str(_), Value::Int(index)) => {
            let Ok(index) = usize::try_from(index) else { return Ok(default) };
            heap.nth(coll, index)?
        }
        _ => None,
    };
    Ok(found.unwrap_or(default))
}

#[cold]
fn swapped_get() -> Stop {
    Fault::type_error("`get` needs a collection first, but argument 1 is a keyword and argument 2 a map")
        .hint("the collection comes first: `(get m :key)`, or `(:key m)`")
        .into()
}

/// Compares two numbers, if that is possible at once.
macro_rules! in_order {
    ($name:ident, $op:tt) => {
        #[inline(always)]
        pub(super) fn $name(x: &Value, y: &Value) -> Option<bool> {
            match (x, y) {
                (&Value::Int(x), &Value::Int(y)) => Some(x $op y),
                (&Value::Float(x), &Value::Float(y)) => Some(x.get() $op y.get()),
                (&Value::Float(x), &Value::Int(y)) if is_exact(y) => Some(x.get() $op (y as f64)),
                (&Value::Int(x), &Value::Float(y)) if is_exact(x) => Some((x as f64) $op y.get()),
                _ => None,
            }
        }
    };
}
in_order!(less_at_once, <);
in_order!(less_eq_at_once, <=);

/// True if a float equals the integer exactly.
#[inline(always)]
fn is_exact(n: i64) -> bool {
    n.unsigned_abs() < 1 << 53
}

/// Evaluates `(nth coll index)`: nil if out of range; faults on a collection without positions.
#[inline]
pub(super) fn nth(heap: &mut Heap, coll: &Value, index: &Value) -> Result<Value, Stop> {
    match (coll, index) {
        (Value::Vector(v) | Value::OwnVector(v), Value::Int(i)) => {
            // A negative index is as far out of range as any other.
            Ok(heap.vec_at(*v, usize::try_from(*i).unwrap_or(usize::MAX), Value::Nil))
        }
        _ => nth_slow(heap, *coll, *index),
    }
}

#[inline(never)]
fn nth_slow(heap: &mut Heap, coll: Value, index: Value) -> Result<Value, Stop> {
    let (coll, index) = (heap.in_transient(coll.shared()), index.shared());
    heap.check_known(coll)?;
    heap.check_known(index)?;
    if let (Value::Veiled(_), _) | (_, Value::Veiled(_)) = (coll, index) {
        return through(heap, "nth", |heap| nth(heap, &heap.unveil(coll), &heap.unveil(index)));
    }
    heap.look()?;
    let given = index;
    let index = match index {
        Value::Int(i) => i,
        Value::Float(x) if !x.get().is_nan() => x.get().trunc() as i64,
        Value::Big(_) => heap.to_float(index).map_or(i64::MAX, |x| x as i64),
        other => {
            let found = other.type_phrase();
            return Err(Fault::type_error(format!("`nth` needs a number as index, but it is {found}")).into());
        }
    };
    match coll {
        Value::Map(_) | Value::Set(_) => Err(no_positions(coll)),
        Value::Nil => Ok(Value::Nil),
        _ => match usize::try_from(index) {
            Ok(index) => match heap.nth(coll, index)? {
                Some(found) => Ok(found),
                None => float_out_of_range(given).map(|()| Value::Nil),
            },
            Err(_) => count(heap, coll).map(|_| Value::Nil),
        },
    }
}

/// Makes the fault of `nth` on a collection without positions.
#[cold]
pub fn no_positions(coll: Value) -> Stop {
    let found = coll.type_phrase();
    Fault::type_error(format!("`nth` needs a list or a string, but argument 1 is {found}"))
        .hint("make a list of it first: `(seq coll)`, `(keys m)` or `(vals m)`")
        .into()
}

/// Refuses a float out of range: floats are cut to an index, but one that finds nothing was hardly meant as one.
#[cold]
pub fn float_out_of_range(index: Value) -> Result<(), Stop> {
    match index {
        Value::Float(x) if x.get().is_finite() => Err(Fault::type_error(format!(
            "`nth`: the index {:?} is out of range; only an integer out of range gives nil",
            x.get()
        ))
        .hint("`(nth xs (int i))`, or `(nth xs i nil)` with a default")
        .into()),
        _ => Ok(()),
    }
}

/// Evaluates `(assoc coll key value)`. If a map already has the key under another spelling, that entry is set.
pub fn assoc(
    heap: &mut Heap,
    budget: &mut Budget,
    coll: Value,
    key: Value,
    value: Value,
) -> Result<Value, Stop> {
    budget.pay(1)?;
    let result = match coll {
        Value::Map(map) => heap.map_assoc(map, key, value)?,
        Value::Nil => heap.new_map(&[key, value])?,
        Value::Veiled(_) => {
            return through(heap, "assoc", |heap| assoc(heap, budget, heap.unveil(coll), key, value));
        }
        Value::Vector(_) | Value::Range(_) if matches!(key, Value::Veiled(_)) => {
            return through(heap, "assoc", |heap| assoc(heap, budget, coll, heap.unveil(key), value));
        }
        Value::Vector(_) | Value::Range(_) => {
            let Value::Vector(vector) = heap.to_vector(coll)? else { return Err(cannot_assoc(coll)) };
            let len = heap.vec_len(vector);
            match key {
                Value::Int(i) if i >= 0 && i as usize == len => heap.vec_conj(vector, value)?,
                Value::Int(i) => {
                    let changed = match usize::try_from(i) {
                        Ok(at) => heap.vec_assoc(vector, at, value)?,
                        Err(_) => None,
                    };
                    if let Some(changed) = changed {
                        return Ok(changed);
                    }
                    return Err(Fault::new(
                        Code::RuntimeError,
                        format!("`assoc`: index {i} is out of range for a list of {len}"),
                    )
                    .into());
                }
                other => {
                    return Err(Fault::new(
                        Code::RuntimeError,
                        format!(
                            "`assoc` on a list needs a number as index, but it is {}",
                            other.type_phrase()
                        ),
                    )
                    .into());
                }
            }
        }
        _ => return Err(cannot_assoc(coll)),
    };
    Ok(result)
}

/// `(assoc coll key value)` for a collection that is not used afterwards, which is changed in place if nothing else
/// refers to it.
pub fn assoc_last(
    heap: &mut Heap,
    budget: &mut Budget,
    coll: Value,
    key: Value,
    value: Value,
) -> Result<Value, Stop> {
    let value = value.shared();
    match (coll, key) {
        (Value::OwnVector(v) | Value::Vector(v), Value::Int(i))
            if heap.may_own() && i >= 0 && i as usize <= heap.vec_len(v) =>
        {
            budget.pay(1)?;
            heap.earn();
            Ok(heap.vec_assoc_last(coll, i as usize, value)?.unwrap_or(Value::Nil))
        }
        (Value::OwnMap(_) | Value::Map(_), _) if heap.may_own() => {
            budget.pay(1)?;
            heap.earn();
            heap.map_assoc_last(coll, key, value)
        }
        _ => assoc(heap, budget, coll.shared(), key, value),
    }
}

/// `(conj coll item)` for a collection that is not used afterwards, which is changed in place if nothing else refers
/// to it.
pub fn conj_last(heap: &mut Heap, budget: &mut Budget, coll: Value, item: Value) -> Result<Value, Stop> {
    let item = item.shared();
    if !heap.may_own() {
        return conj(heap, budget, coll.shared(), item);
    }
    match (coll, item) {
        (Value::OwnVector(_) | Value::Vector(_), _) => {
            heap.earn();
            heap.vec_conj_last(coll, item)
        }
        (Value::OwnSet(_) | Value::Set(_), _) => {
            heap.earn();
            heap.set_conj_last(coll, item)
        }
        (Value::OwnMap(_) | Value::Map(_), Value::Vector(pair)) if heap.vec_len(pair) == 2 => {
            heap.earn();
            let key = heap.vec_get(pair, 0).unwrap_or(Value::Nil);
            let value = heap.vec_get(pair, 1).unwrap_or(Value::Nil);
            heap.map_assoc_last(coll, key, value)
        }
        _ => conj(heap, budget, coll.shared(), item),
    }
}

#[cold]
fn cannot_assoc(coll: Value) -> Stop {
    let found = coll.type_phrase();
    hinting_at_transients(
        coll,
        Fault::type_error(format!("`assoc` needs a map or a list, but argument 1 is {found}")),
    )
}

fn hinting_at_transients(coll: Value, fault: Fault) -> Stop {
    match coll {
        Value::State(_) => {
            fault.hint("`conj!` and `assoc!` change a transient, and `(persistent! t)` gives the collection")
        }
        _ => fault,
    }
    .into()
}

/// Evaluates `(conj coll item)`.
pub fn conj(heap: &mut Heap, budget: &mut Budget, coll: Value, item: Value) -> Result<Value, Stop> {
    match coll {
        Value::Vector(vector) => heap.vec_conj(vector, item),
        Value::Nil => heap.new_vec(&[item]),
        Value::Range(_) => {
            let Value::Vector(vector) = heap.to_vector(coll)? else { return Err(cannot_conj(coll)) };
            heap.vec_conj(vector, item)
        }
        Value::Set(set) => heap.set_conj(set, item),
        Value::Veiled(_) => through(heap, "conj", |heap| conj(heap, budget, heap.unveil(coll), item)),
        Value::Map(_) if matches!(item, Value::Veiled(_)) => {
            through(heap, "conj", |heap| conj(heap, budget, coll, heap.unveil(item)))
        }
        Value::Map(map) => {
            let result = match item {
                Value::Nil => coll,
                Value::Map(other) => {
                    budget.pay_items(heap.map_len(map) + heap.map_len(other))?;
                    let mut pairs = Vec::new();
                    for map in [map, other] {
                        let mut cursor = 0;
                        while let Some((key, value, next)) = heap.map_next(map, cursor) {
                            pairs.extend([key, value]);
                            cursor = next;
                        }
                    }
                    heap.new_map_like(map, &pairs)?
                }
                Value::Vector(pair) if heap.vec_len(pair) == 2 => {
                    let key = heap.vec_get(pair, 0).unwrap_or(Value::Nil);
                    let value = heap.vec_get(pair, 1).unwrap_or(Value::Nil);
                    heap.map_assoc(map, key, value)?
                }
                other => {
                    return Err(Fault::type_error(format!(
                        "`conj` on a map needs a [key value] pair or a map, but it is {}",
                        other.type_phrase()
                    ))
                    .into());
                }
            };
            Ok(result)
        }
        _ => Err(cannot_conj(coll)),
    }
}

#[cold]
fn cannot_conj(coll: Value) -> Stop {
    let found = coll.type_phrase();
    hinting_at_transients(
        coll,
        Fault::type_error(format!("`conj` needs a collection, but argument 1 is {found}")),
    )
}

/// Makes a map of constant keys and these values.
#[inline]
pub(super) fn new_record(heap: &mut Heap, keys: Value, values: &[Value]) -> Result<Value, Stop> {
    match keys {
        Value::Keys(keys) => heap.new_record(keys, values),
        _ => Err(Fault::new(Code::BadInstruction, "the keys of a record are not keys").into()),
    }
}

/// Returns a value the running closure captured.
#[inline(always)]
pub(super) fn capture(heap: &Heap, function: Value, index: u16) -> Result<Value, Stop> {
    match function {
        Value::Closure(closure) => Ok(heap.capture(closure, index as usize)),
        _ => Err(Fault::new(Code::BadInstruction, "a function without captures reads one").into()),
    }
}

/// Returns the value of a definition of the session.
#[inline(always)]
pub(super) fn definition(defs: &[Definition], module: &Attached, def: u32) -> Result<Value, Stop> {
    let definition = &defs[module.defs[def as usize] as usize];
    value_of(definition)
}

/// Returns the value of a definition. Faults if it has none.
#[inline(always)]
pub(super) fn value_of(definition: &Definition) -> Result<Value, Stop> {
    definition.value.ok_or_else(|| unbound(&definition.name))
}

#[cold]
fn unbound(name: &str) -> Stop {
    let shown = used_export(name).unwrap_or(name);
    let fault = Fault::new(Code::UnboundVar, format!("`{shown}` has no value yet"));
    if used_export(name).is_some() {
        return fault.about(Subject::Name(name.to_string())).into();
    }
    fault.hint(format!("define it before it is used: `(def {name} …)`")).into()
}

/// Runs an operation on unveiled values and veils its result. Its faults say nothing about the values.
#[cold]
pub(super) fn through(
    heap: &mut Heap,
    name: &str,
    operation: impl FnOnce(&mut Heap) -> Result<Value, Stop>,
) -> Result<Value, Stop> {
    match operation(heap) {
        Ok(value) => heap.veil(value),
        Err(stop) => Err(stop.veiled(name)),
    }
}

/// True if a veiled value can be walked from one end to the other.
#[cold]
pub(super) fn is_veiled_seq(heap: &Heap, value: Value) -> bool {
    matches!(value, Value::Veiled(_)) && heap.unveil(value).is_finite_seq()
}

/// Evaluates `(first coll)`.
#[inline]
pub(super) fn first(heap: &mut Heap, coll: Value) -> Result<Value, Stop> {
    match coll {
        Value::Veiled(_) => through(heap, "first", |heap| heap.first(heap.unveil(coll))),
        _ => heap.first(coll.shared()),
    }
}

/// Returns the sequence for a loop over a collection. The elements of a veiled one are each veiled.
#[inline]
pub(super) fn iter_start(heap: &mut Heap, coll: Value) -> Result<Value, Stop> {
    match coll {
        Value::Veiled(veil) => veiled_vector(heap, veil),
        _ => heap.iter_start(coll),
    }
}

/// Returns the elements of a veiled value, each behind its own veil.
#[cold]
fn veiled_vector(heap: &mut Heap, veil: Ref) -> Result<Value, Stop> {
    let items = heap.veiled_items(veil)?;
    heap.charge(items.len() * VEIL_STEPS);
    heap.look()?;
    heap.new_vec(&items)
}

/// Returns the items of a parallel form as a vector.
pub(super) fn to_vector(heap: &mut Heap, coll: Value) -> Result<Value, Stop> {
    match coll {
        Value::Veiled(veil) => veiled_vector(heap, veil),
        _ => heap.to_vector(coll),
    }
}

/// Returns the further arguments of `apply`.
pub(super) fn to_vec(heap: &mut Heap, coll: Value) -> Result<Vec<Value>, Stop> {
    match coll {
        Value::Veiled(veil) => heap.veiled_items(veil),
        _ => heap.to_vec(coll),
    }
}

/// Returns the number of elements, which is not firewalled even for a firewalled collection.
pub(super) fn count(heap: &Heap, coll: Value) -> Result<Value, Stop> {
    let coll = heap.unveil(heap.in_transient(coll.shared()));
    // A text has to be walked to count its characters.
    if let Value::Str(_) = coll {
        heap.look()?;
    }
    Ok(Value::Int(heap.count(coll)? as i64))
}

/// Evaluates `a < b` off the fast path: false between kinds.
#[inline(never)]
pub(super) fn less(heap: &Heap, budget: &mut Budget, a: &Value, b: &Value) -> bool {
    // The order looks through veils: which of two comes first is told.
    let less = heap.less(a.shared(), b.shared());
    heap.settle(budget);
    less
}

/// Evaluates `a <= b` off the fast path: false between kinds.
#[inline(never)]
pub(super) fn less_eq(heap: &Heap, budget: &mut Budget, a: &Value, b: &Value) -> bool {
    let less = heap.less_eq(a.shared(), b.shared());
    heap.settle(budget);
    less
}

/// Evaluates `a = b` off the fast path.
#[inline(never)]
pub(super) fn equal(heap: &Heap, budget: &mut Budget, a: &Value, b: &Value) -> Result<bool, Fault> {
    let mut work = budget.work();
    let same = heap.equal(a.shared(), b.shared(), &mut work)?;
    budget.settle(&work)?;
    heap.settle(budget);
    Ok(same)
}

/// Compares two texts; only long ones cost more than the instruction.
#[inline(always)]
pub(super) fn same_text(heap: &Heap, budget: &mut Budget, a: Ref, b: Ref) -> bool {
    let (x, y) = (heap.text_bytes(a), heap.text_bytes(b));
    if x.len() != y.len() {
        return false;
    }
    if let Some(steps) = comparing_steps(x.len()) {
        budget.owe(steps as u64);
    }
    a == b || x == y
}

/// Makes the fault of `(throw exception)`; the exception itself goes to `thrown`.
#[cold]
pub(crate) fn throw(heap: &Heap, exception: Value, thrown: &mut Option<Value>) -> Fault {
    match heap.unveil(exception.shared()) {
        exception @ Value::Exception(_) => {
            *thrown = Some(exception);
            Fault::new(Code::Uncaught, "an exception")
        }
        other => {
            Fault::type_error(format!("`throw` takes an exception, but this is {}", other.type_phrase()))
                .hint("make one: `(throw (ex-info \"no rows\" {:table \"orders\"}))`")
        }
    }
}
