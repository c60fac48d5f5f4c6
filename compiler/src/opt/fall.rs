//! A block that only follows a conditional jump is paid for by that jump.

use crate::emit::Draft;
use ptc_bytecode::Op;

/// Moves the price of such blocks into the jump before them, where it fits, and drops their `Enter`.
pub(crate) fn run(draft: &mut Draft, dropped: &mut [bool]) {
    for at in &draft.falls {
        let at = *at as usize;
        let (Some(Op::Enter { fuel }), false) = (draft.ops.get(at), dropped[at]) else { continue };
        let Ok(price) = u8::try_from(*fuel) else { continue };
        if let Some(fuel) = at.checked_sub(1).and_then(|i| fall_fuel(&mut draft.ops[i])) {
            *fuel = price;
            dropped[at] = true;
        }
    }
}

fn fall_fuel(op: &mut Op) -> Option<&mut u8> {
    match op {
        Op::JumpIf { fuel, .. }
        | Op::JumpUnless { fuel, .. }
        | Op::JumpIfNil { fuel, .. }
        | Op::JumpUnlessLess { fuel, .. }
        | Op::JumpUnlessLessEq { fuel, .. }
        | Op::JumpUnlessEq { fuel, .. }
        | Op::JumpUnlessLessInt { fuel, .. }
        | Op::JumpUnlessGreaterInt { fuel, .. }
        | Op::JumpUnlessEqInt { fuel, .. }
        | Op::IterNext { fuel, .. } => Some(fuel),
        _ => None,
    }
}
