//! Jumps to a block that only jumps on, or only returns, go there at once.
//!
//! The price of the block jumped over moves to the block that jumps. That is only right for
//! unconditional jumps, whose block always went that way.

use crate::emit::Draft;
use ptc_bytecode::Op;

/// Blocks jumped over at most; also ends the search in a loop that does nothing.
const MAX_STEPS: usize = 8;

/// Threads jumps; says whether anything changed.
pub(crate) fn run(draft: &mut Draft) -> bool {
    let mut changed = false;
    let mut block = 0;
    for i in 0..draft.ops.len() {
        match draft.ops[i] {
            Op::Enter { .. } => block = i,
            Op::Jump { to } => {
                if let Some((op, price)) = shortcut(draft, to) {
                    draft.labels[to as usize].refs -= 1;
                    if let Op::Jump { to } = op {
                        draft.labels[to as usize].refs += 1;
                    }
                    draft.ops[i] = op;
                    if let Op::Enter { fuel } = &mut draft.ops[block] {
                        *fuel = fuel.saturating_add(price);
                    }
                    changed = true;
                }
            }
            _ => {}
        }
    }
    changed
}

/// Where a jump to `label` ends up, and the price of what it jumps over.
fn shortcut(draft: &Draft, label: u32) -> Option<(Op, u32)> {
    let mut found = None;
    let mut price: u32 = 0;
    let mut label = label;
    for _ in 0..MAX_STEPS {
        let at = draft.labels.get(label as usize)?.at as usize;
        let (Some(Op::Enter { fuel }), Some(next)) = (draft.ops.get(at), draft.ops.get(at + 1)) else {
            break;
        };
        match next {
            Op::Jump { to } if *to != label => {
                price = price.saturating_add(*fuel);
                found = Some((*next, price));
                label = *to;
            }
            Op::Return { .. } => return Some((*next, price.saturating_add(*fuel))),
            _ => break,
        }
    }
    found
}
