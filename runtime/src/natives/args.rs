//! Readers of arguments: counts, texts, elements, with consistent refusals.

use ptc_bytecode::Code;
use ptc_vm::{CELL_BYTES, Call, Fault, Heap, Ref, Stop, Value};

/// Length from which a range counts as endless: no run could hold that many elements.
const ENDLESS: usize = 1 << 32;

/// Leaves calls with fewer than this many arguments to the twin: they give a transducer.
pub fn whole_call(call: &Call<'_>, args: usize) -> Result<(), Stop> {
    if call.args.len() < args { Err(Stop::twin()) } else { Ok(()) }
}

/// Returns argument `n`, counted from 1 as in messages; nil if it was left out.
pub fn arg(call: &Call<'_>, n: usize) -> Value {
    call.args.get(n - 1).copied().unwrap_or(Value::Nil)
}

/// Makes a `runtime_error`: the operation refuses its argument.
#[cold]
pub fn refuse(message: impl Into<String>) -> Stop {
    Fault::new(Code::RuntimeError, message).into()
}

/// Returns argument `n` as a count or index; floats are cut, so that results of `/` may be used.
pub fn whole(call: &Call<'_>, n: usize) -> Result<i64, Stop> {
    to_whole(call.heap, arg(call, n)).ok_or_else(|| call.wrong_type(n, "a number"))
}

/// Cuts a number to an integer, clamped to 64 bits; None for anything else and NaN.
pub fn to_whole(heap: &Heap, value: Value) -> Option<i64> {
    match value {
        Value::Int(i) => Some(i),
        Value::Float(x) if !x.get().is_nan() => Some(x.get().trunc() as i64),
        Value::Big(_) => heap.to_float(value).map(|x| x as i64),
        _ => None,
    }
}

/// Returns argument `n` as a count of elements: negative ones are zero.
pub fn amount(call: &Call<'_>, n: usize) -> Result<usize, Stop> {
    Ok(usize::try_from(whole(call, n)?).unwrap_or(0))
}

/// Returns argument `n` as text.
pub fn text(call: &Call<'_>, n: usize) -> Result<Ref, Stop> {
    match arg(call, n) {
        Value::Str(r) => Ok(r),
        Value::Nil => Err(no_text(call, n)),
        _ => Err(call.wrong_type(n, "a string")),
    }
}

#[cold]
fn no_text(call: &Call<'_>, n: usize) -> Stop {
    call.misfit(n, "a string").hint("`(or s \"\")` supplies a default").into()
}

/// Returns the number of elements of argument `n`.
pub fn size(call: &Call<'_>, n: usize) -> Result<usize, Stop> {
    let coll = arg(call, n);
    match coll {
        Value::Nil | Value::Vector(_) | Value::Range(_) | Value::Map(_) | Value::Set(_) | Value::Str(_) => {
            call.heap.count(coll)
        }
        Value::Endless(_) => Err(Stop::twin()),
        _ => Err(not_seqable(call, n)),
    }
}

#[cold]
fn not_seqable(call: &Call<'_>, n: usize) -> Stop {
    let fault = call.misfit(n, "a collection");
    match arg(call, n) {
        Value::Closure(_) | Value::Builtin(_) => fault.hint("the arguments may be swapped"),
        _ => fault,
    }
    .into()
}

/// Returns the number of elements of argument `n`, when all of them will be read.
pub fn finite_size(call: &Call<'_>, n: usize) -> Result<usize, Stop> {
    let len = size(call, n)?;
    if len >= ENDLESS {
        return Err(endless(call));
    }
    Ok(len)
}

#[cold]
fn endless(call: &Call<'_>) -> Stop {
    let name = call.name();
    Fault::new(
        Code::MemoryExceeded,
        format!("`{name}` would walk a sequence that is endless, or longer than limits.memory_bytes allows"),
    )
    .hint("take a part first: `(take 100 xs)`")
    .into()
}

/// Returns the units for walking that many elements: those of maps and sets are scattered, and each entry has to be
/// made.
pub fn walk_price(coll: Value, len: usize) -> usize {
    match coll {
        Value::Map(_) => len.saturating_mul(4),
        Value::Set(_) => len.saturating_mul(3),
        _ => len,
    }
}

/// Returns all elements of argument `n`, paid for. Only for results about as large as their source: a sequence that
/// would not fit the heap is refused before it is written out.
pub fn items(call: &mut Call<'_>, n: usize) -> Result<Vec<Value>, Stop> {
    let len = finite_size(call, n)?;
    let coll = arg(call, n);
    if !matches!(coll, Value::Vector(_)) {
        call.heap.room(len, 0)?;
    }
    call.pay_items(walk_price(coll, len))?;
    call.heap.to_vec(coll)
}

/// Requests room, and up to as much again if more may follow, so that a native that is started over does not run
/// out once per piece. The extra request is at most half of the room left below the limit: a run never stops for
/// want of memory it would not have used.
#[cold]
pub fn ask_ahead(heap: &Heap, more_may_follow: bool, cells: usize, text: usize) -> Stop {
    let wanted = cells.saturating_mul(CELL_BYTES).saturating_add(text);
    let limit = usize::try_from(heap.limit()).unwrap_or(usize::MAX);
    let left = limit.saturating_sub(heap.used().saturating_add(wanted));
    let ahead = if more_may_follow { wanted.min(left / 2) } else { 0 };
    Stop::room(cells, text.saturating_add(ahead))
}

/// Checks that a temporary of this size would fit the heap, for results that grow piece by piece.
pub fn growing_room(heap: &Heap, cells: usize, text: usize) -> Result<(), Stop> {
    heap.room(cells, text).map_err(|_| ask_ahead(heap, true, cells, text))
}

/// Calls `visit` with every element of argument `n`, paid for, without writing them out.
pub fn each(
    call: &mut Call<'_>,
    n: usize,
    mut visit: impl FnMut(&mut Heap, Value) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let len = finite_size(call, n)?;
    call.pay_items(walk_price(arg(call, n), len))?;
    let seq = call.heap.iter_start(arg(call, n))?;
    let mut cursor = 0;
    while let Some((item, next)) = call.heap.iter_next(seq, cursor)? {
        visit(call.heap, item)?;
        call.heap.owe(1);
        call.heap.look()?;
        cursor = next;
    }
    Ok(())
}

/// Returns a vector of argument `n`'s elements for access by index, avoiding copies if possible: a range stays as
/// it is.
pub fn indexed(call: &mut Call<'_>, n: usize) -> Result<Value, Stop> {
    let coll = arg(call, n);
    match coll {
        Value::Vector(_) | Value::Range(_) => Ok(coll),
        _ => {
            let len = finite_size(call, n)?;
            call.pay_items(len)?;
            call.heap.to_vector(coll)
        }
    }
}
