//! Cost rules of the builtin table, run before a native's body.
//!
//! A rule only sees the sizes of the arguments, so it costs the same wherever they are and whatever they share. A body
//! pays itself for work it finds on its way, such as elements walked and text written, before it does the work.
//! `docs/internals/fuel.md` has the prices.

use ptc_vm::{Call, Heap, Stop, Value};

/// Bytes of text read per unit of fuel.
pub const UNIT_BYTES: usize = 8;

/// Charges nothing beyond the call itself.
#[inline(always)]
pub fn constant(_call: &mut Call<'_>) -> Result<(), Stop> {
    Ok(())
}

/// Charges a unit for each argument beyond the first few. Comparing, hashing and computing are charged where they
/// happen, by the sizes of the operands.
#[inline(always)]
pub fn operands(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.args.len() > FEW { call.pay_items(call.args.len()) } else { Ok(()) }
}

/// Number of arguments covered by the price of a call.
const FEW: usize = 4;

/// Bytes of text that the price of a call covers.
const SHORT: usize = 64;

/// Charges for the bytes of all texts and large integers among the arguments.
#[inline]
pub fn bytes(call: &mut Call<'_>) -> Result<(), Stop> {
    let bytes: usize = call.args.iter().map(|arg| size_in_bytes(call.heap, *arg)).sum();
    if bytes < SHORT && call.args.len() <= FEW {
        return Ok(());
    }
    call.pay_items(bytes / UNIT_BYTES + call.args.len())
}

#[inline]
fn size_in_bytes(heap: &Heap, value: Value) -> usize {
    match value {
        Value::Str(r) | Value::Keyword(r) | Value::Symbol(r) | Value::Regex(r) => heap.text_bytes_len(r),
        Value::Big(r) => heap.big_len(r) * size_of::<u64>(),
        _ => 0,
    }
}

/// Charges nothing: the body pays for each element before it walks them, see [`Call::pay_items`].
#[inline(always)]
pub fn elements(_call: &mut Call<'_>) -> Result<(), Stop> {
    Ok(())
}

/// Charges nothing: the body pays for the size of the pattern and the steps of searching, see `pattern.rs`.
#[inline(always)]
pub fn pattern(_call: &mut Call<'_>) -> Result<(), Stop> {
    Ok(())
}

/// Charges nothing: the body has a price of its own, for text written, names looked up or values sampled.
#[inline(always)]
pub fn own(_call: &mut Call<'_>) -> Result<(), Stop> {
    Ok(())
}
