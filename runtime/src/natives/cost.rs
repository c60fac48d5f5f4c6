//! The cost rules of the builtin table, run before a native's body.
//!
//! A rule here sees the sizes of the arguments only, so it costs the same wherever they lie and whatever they share. What a
//! body finds out on its way, the elements it walks and the text it writes, it pays for itself, before it does the work.
//! `docs/internals/fuel.md` has the prices.

use ptc_vm::{Call, Heap, Stop, Value};

/// Bytes of text that one unit of fuel pays to read.
pub const UNIT_BYTES: usize = 8;

/// Nothing more than the call itself.
#[inline(always)]
pub fn constant(_call: &mut Call<'_>) -> Result<(), Stop> {
    Ok(())
}

/// A unit for each argument beyond the first few. What is compared, hashed or computed with is charged for where that
/// is done, by the sizes of the operands.
#[inline(always)]
pub fn operands(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.args.len() > FEW { call.pay_items(call.args.len()) } else { Ok(()) }
}

/// Arguments that the price of a call covers.
const FEW: usize = 4;

/// Bytes of text that the price of a call covers.
const SHORT: usize = 64;

/// The bytes of all texts and large integers among the arguments.
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

/// The body pays for each element before it walks them: [`Call::pay_items`].
#[inline(always)]
pub fn elements(_call: &mut Call<'_>) -> Result<(), Stop> {
    Ok(())
}

/// The body pays for the size of the pattern and the steps of searching: `pattern.rs`.
#[inline(always)]
pub fn pattern(_call: &mut Call<'_>) -> Result<(), Stop> {
    Ok(())
}

/// The body has a price of its own, for what it writes, looks up or samples.
#[inline(always)]
pub fn own(_call: &mut Call<'_>) -> Result<(), Stop> {
    Ok(())
}
