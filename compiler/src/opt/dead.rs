//! Blocks nothing jumps to any more, once jumps have been threaded.

use crate::emit::Draft;
use ptc_bytecode::Op;

/// Marks instructions that cannot be reached.
pub(crate) fn run(draft: &Draft, dropped: &mut [bool]) {
    let mut is_target = vec![false; draft.ops.len()];
    for label in draft.labels.iter().filter(|label| label.refs > 0) {
        if let Some(target) = is_target.get_mut(label.at as usize) {
            *target = true;
        }
    }
    let mut is_dead = false;
    for (i, op) in draft.ops.iter().enumerate() {
        if matches!(op, Op::Enter { .. }) && is_target[i] {
            is_dead = false;
        }
        dropped[i] |= is_dead;
        if op.ends_block() {
            is_dead = true;
        }
    }
}
