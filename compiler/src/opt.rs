//! Optimiser: shorter code at the same price.
//!
//! There are two kinds of passes. [`fold`](fold()), [`constant_collection`], [`known_truth`] and [`fuse`](fuse()) are
//! called by lowering, which then charges for the code it would have written. The passes of [`finish`] work on a
//! finished draft. None moves a price past an instruction that can fault or be observed, so a run stops at the same
//! place for the same fuel either way.

use crate::emit::Draft;
use ptc_bytecode::{Op, Span};

mod fall;
mod fold;
mod fuse;

pub(crate) use fold::{Folded, constant_collection, fold, known_truth};
pub(crate) use fuse::{Fused, fits_jump, fuse};

/// Runs the passes over a draft and resolves its labels.
pub(crate) fn finish(mut draft: Draft) -> (Vec<Op>, Vec<(u32, Span)>) {
    if draft.labels.is_empty() {
        return draft.link(&[]);
    }
    let mut dropped = vec![false; draft.ops.len()];
    fall::run(&mut draft, &mut dropped);
    draft.link(&dropped)
}
