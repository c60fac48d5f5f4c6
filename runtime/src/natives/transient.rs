//! Transients: places that hold a collection which `conj!` and its kin change, and which `persistent!` gives back.
//!
//! Each of them gives the transient itself, so a program that continues with the old one instead of the result means the same.

use super::args::arg;
use ptc_bytecode::Code;
use ptc_vm::{Call, Fault, Heap, Ref, StateKind, Stop, Value};

/// `(transient coll)`
pub fn transient(call: &mut Call<'_>) -> Result<Value, Stop> {
    let given = arg(call, 1);
    let held = match (given, call.heap.unveil(given)) {
        (Value::Range(_), _) => call.heap.to_vector(given)?,
        (_, Value::Vector(_) | Value::Range(_)) => call.own_first(),
        (_, Value::Map(r) | Value::Set(r)) if call.heap.sorted_order(r).is_none() => call.own_first(),
        _ => return Err(call.wrong_type(1, "a vector, a map or a set")),
    };
    let place = call.heap.new_state(StateKind::Transient, held.shared())?;
    if let Value::State(r) = place {
        call.heap.set_transient(r, Some(held));
    }
    Ok(place)
}

/// `(persistent! t)`
pub fn persistent(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = place(call)?;
    let held = call.heap.transient_held(r);
    call.heap.set_transient(r, None);
    Ok(held)
}

/// `(conj! t x)`; a new transient without arguments.
pub fn conj(call: &mut Call<'_>) -> Result<Value, Stop> {
    if call.args.is_empty() {
        return call.heap.new_state(StateKind::Transient, call.heap.empty_vec());
    }
    let r = place(call)?;
    if let [_, item] = *call.args {
        call.pay_items(1)?;
        let held = call.heap.transient_held(r);
        let changed = ptc_vm::conj_last(call.heap, call.budget, held, item)?;
        call.heap.set_transient(r, Some(changed));
    }
    Ok(arg(call, 1))
}

/// `(assoc! t key value …)`
pub fn assoc(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = place(call)?;
    let pairs = &call.args[1..];
    if pairs.len() % 2 == 1 {
        return Err(Fault::new(Code::RuntimeError, "`assoc!` needs a value for every key")
            .hint("`(assoc! t :a 1 :b 2)`")
            .into());
    }
    let mut held = own_for(call, r, pairs.len() / 2);
    for pair in pairs.chunks_exact(2) {
        held = ptc_vm::assoc_last(call.heap, call.budget, held, pair[0], pair[1])?;
        call.heap.set_transient(r, Some(held));
    }
    Ok(arg(call, 1))
}

/// `(dissoc! t key …)`
pub fn dissoc(call: &mut Call<'_>) -> Result<Value, Stop> {
    let map = |v: Value| matches!(v, Value::Map(_));
    without(call, map, "a transient map", |heap, held, key| heap.map_remove(held, key))
}

/// `(disj! t x …)`
pub fn disj(call: &mut Call<'_>) -> Result<Value, Stop> {
    let set = |v: Value| matches!(v, Value::Set(_));
    without(call, set, "a transient set", |heap, held, item| heap.set_remove(held, item))
}

/// `(pop! t)`
pub fn pop(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = place(call)?;
    let held = call.heap.transient_held(r);
    if !matches!(call.heap.unveil(held.shared()), Value::Vector(_)) {
        return Err(call.wrong_type(1, "a transient vector"));
    }
    let changed = through(call.heap, held, |heap, held| match heap.vec_shorten(held)? {
        Value::Nil => Ok(heap.empty_vec()),
        shorter => Ok(shorter),
    })?;
    call.heap.set_transient(r, Some(changed));
    Ok(arg(call, 1))
}

fn without(
    call: &mut Call<'_>,
    fits: impl Fn(Value) -> bool,
    wanted: &str,
    remove: impl Fn(&mut Heap, Value, Value) -> Result<Value, Stop>,
) -> Result<Value, Stop> {
    let r = place(call)?;
    call.pay_items(call.args.len())?;
    let mut held = own_for(call, r, call.args.len() - 1);
    if !fits(call.heap.unveil(held.shared())) {
        return Err(call.wrong_type(1, wanted));
    }
    for key in &call.args[1..] {
        held = through(call.heap, held, |heap, held| remove(heap, held, *key))?;
        call.heap.set_transient(r, Some(held));
    }
    Ok(arg(call, 1))
}

/// Changes what is held, behind its veil if it has one.
fn through(
    heap: &mut Heap,
    held: Value,
    change: impl FnOnce(&mut Heap, Value) -> Result<Value, Stop>,
) -> Result<Value, Stop> {
    match held {
        Value::Veiled(_) => {
            let clear = heap.unveil(held);
            let changed = change(heap, clear)?;
            heap.veil(changed.shared())
        }
        _ => change(heap, held),
    }
}

/// Returns the collection in a transient for so many changes one after the other.
fn own_for(call: &Call<'_>, r: Ref, steps: usize) -> Value {
    let held = call.heap.transient_held(r);
    if call.heap.has_room_for(held, steps) { held } else { held.shared() }
}

/// Argument 1, which must be a transient of this run that is still one.
fn place(call: &Call<'_>) -> Result<Ref, Stop> {
    let given = arg(call, 1);
    let Value::State(r) = given else { return Err(no_transient(call, given)) };
    match call.heap.state_kind(r) {
        StateKind::Spent => Err(spent(call)),
        kind if !kind.is_transient() => Err(no_transient(call, given)),
        _ if call.heap.is_own_state(r) => Ok(r),
        kind => Err(super::atom::not_own(call, kind)),
    }
}

#[cold]
fn no_transient(call: &Call<'_>, found: Value) -> Stop {
    Fault::expected("a transient", found.type_phrase())
        .named(call.name())
        .hint("make one with `(transient coll)`; other collections take `conj`, `assoc`, `dissoc`, `disj` and `pop`")
        .into()
}

#[cold]
fn spent(call: &Call<'_>) -> Stop {
    Fault::new(Code::RuntimeError, format!("`{}`: `persistent!` has ended this transient", call.name()))
        .hint("continue with the result of `persistent!`, or make a new one with `(transient coll)`")
        .into()
}
