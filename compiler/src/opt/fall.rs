//! Pass that lets a conditional jump pay for the block that only follows it.

use crate::emit::Draft;
use ptc_bytecode::Op;

/// Moves the price of such blocks into the jump before them, if it fits, and drops their `Enter`.
pub(crate) fn run(draft: &mut Draft, dropped: &mut [bool]) {
    for at in &draft.falls {
        let at = *at as usize;
        let (Some(Op::Enter { fuel }), false) = (draft.ops.get(at), dropped[at]) else { continue };
        let Ok(price) = u8::try_from(*fuel) else { continue };
        if let Some(fuel) = at.checked_sub(1).and_then(|i| draft.ops[i].fall_through_fuel_mut()) {
            *fuel = price;
            dropped[at] = true;
        }
    }
}
