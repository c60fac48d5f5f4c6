//! Natives for atoms and volatiles, the mutable places of a program. `swap!` and the like call functions, so they are
//! in the core library.

use super::args::arg;
use ptc_bytecode::Code;
use ptc_vm::{Call, Fault, Ref, StateKind, Stop, Value};

/// `(atom x)`
pub fn atom(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.heap.new_state(StateKind::Atom, arg(call, 1))
}

/// `(volatile! x)`
pub fn volatile(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.heap.new_state(StateKind::Volatile, arg(call, 1))
}

/// `(volatile? x)`
pub fn volatile_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(matches!(arg(call, 1), Value::State(r) if call.heap.state_kind(r) == StateKind::Volatile)))
}

/// `(deref x)`, `@x`
pub fn deref(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::State(r) => Ok(call.heap.state(r)),
        Value::Builder(_) => super::internal::unreduced(call),
        _ => Err(no_place(call, StateKind::Atom)),
    }
}

/// `(%atom-held a)`: returns the content of an atom before a write.
pub fn atom_held(call: &mut Call<'_>) -> Result<Value, Stop> {
    place(call, StateKind::Atom).map(|r| call.heap.state(r))
}

/// `(%volatile-held v)`: returns the content of a volatile before a write.
pub fn volatile_held(call: &mut Call<'_>) -> Result<Value, Stop> {
    place(call, StateKind::Volatile).map(|r| call.heap.state(r))
}

/// `(reset! a x)`
pub fn reset(call: &mut Call<'_>) -> Result<Value, Stop> {
    write(call, StateKind::Atom)
}

/// `(vreset! v x)`
pub fn vreset(call: &mut Call<'_>) -> Result<Value, Stop> {
    write(call, StateKind::Volatile)
}

fn write(call: &mut Call<'_>, kind: StateKind) -> Result<Value, Stop> {
    let (r, value) = (place(call, kind)?, arg(call, 2));
    call.heap.set_state(r, value);
    Ok(value)
}

/// Returns argument 1, which must be of this kind and of this run. Functions that write check this before they call
/// anything.
fn place(call: &Call<'_>, kind: StateKind) -> Result<Ref, Stop> {
    match arg(call, 1) {
        Value::State(r) if call.heap.state_kind(r) != kind => Err(no_place(call, kind)),
        Value::State(r) if call.heap.is_own_state(r) => Ok(r),
        Value::State(_) => Err(not_own(call, kind)),
        _ => Err(no_place(call, kind)),
    }
}

#[cold]
fn no_place(call: &Call<'_>, kind: StateKind) -> Stop {
    let wanted = if kind == StateKind::Atom { "an atom" } else { "a volatile" };
    let (found, hint) = match arg(call, 1) {
        Value::State(r) if call.heap.state_kind(r) == StateKind::Volatile => {
            ("a volatile", "`(vreset! v x)` and `(vswap! v f)` write to a volatile")
        }
        Value::State(_) => ("an atom", "`(reset! a x)` and `(swap! a f)` write to an atom"),
        other => (
            other.type_phrase(),
            "make one with `(atom x)`; it lasts for one program: a session keeps what it held, so a later program \
             writes `x` and not `@x`",
        ),
    };
    Fault::expected(wanted, found).named(call.name()).hint(hint).into()
}

#[cold]
fn not_own(call: &Call<'_>, kind: StateKind) -> Stop {
    let word = kind.word();
    if call.output.is_branch() {
        return Fault::new(
            Code::RuntimeError,
            format!("a branch of `pmap` or `pcalls` cannot change the {word} of the program that started it"),
        )
        .hint("give values back and combine them: `(reduce + (pmap f xs))`")
        .into();
    }
    Fault::new(Code::RuntimeError, format!("the {word} belongs to an earlier program and cannot be changed"))
        .hint("make another: `(def b (atom @a))`")
        .into()
}
