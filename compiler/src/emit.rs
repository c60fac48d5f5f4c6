//! Code writers: instructions with their price, labels, constants, spans.
//!
//! Every instruction adds its cost to the `Enter` of the current block when it is written. An optimisation that writes
//! shorter code [charges](CodeBuilder::charge) for the code it left out, so a program costs the same with and without
//! optimisation.

use ptc_bytecode::{Op, Span};

mod module;

pub(crate) use module::{Module, push_nodes};

/// A jump target ahead that is not placed yet; only [`CodeBuilder::bind`] consumes it.
#[must_use]
pub(crate) struct Label(u32);

impl Label {
    /// Returns its id, for jumps written while the label itself is kept elsewhere.
    pub(crate) fn id(&self) -> LabelId {
        LabelId(self.0)
    }
}

/// Id of a label.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct LabelId(u32);

/// State of a label: its place, once bound, and its jumps.
#[derive(Clone, Copy)]
pub(crate) struct LabelState {
    /// Index of its `Enter`, `u32::MAX` while unbound.
    pub(crate) at: u32,
    /// Number of jumps to it.
    pub(crate) refs: u32,
}

/// Code whose jumps still name labels, the input of the optimiser.
pub(crate) struct Draft {
    pub(crate) ops: Vec<Op>,
    pub(crate) spans: Vec<(u32, Span)>,
    pub(crate) labels: Vec<LabelState>,
    /// Indexes of the `Enter`s that only follow a conditional jump and have no label.
    pub(crate) falls: Vec<u32>,
}

/// Builder of the code of one function body.
pub(crate) struct CodeBuilder {
    draft: Draft,
    span: Span,
    /// Index of the `Enter` that pays for the next instructions.
    block: usize,
    is_reachable: bool,
    /// Nesting of muted parts: above zero, instructions are charged but not written.
    muted: u32,
    /// True while instructions are already charged for.
    prepaid: bool,
    pub(crate) optimize: bool,
}

impl CodeBuilder {
    /// Starts a body with its `Enter`.
    pub(crate) fn new(optimize: bool, span: Span) -> CodeBuilder {
        let draft = Draft {
            ops: Vec::with_capacity(16),
            spans: Vec::with_capacity(8),
            labels: Vec::new(),
            falls: Vec::new(),
        };
        let mut code =
            CodeBuilder { draft, span, block: 0, is_reachable: true, muted: 0, prepaid: false, optimize };
        code.enter();
        code
    }

    /// True if control can get here. Unreachable code is not written.
    pub(crate) fn is_reachable(&self) -> bool {
        self.is_reachable
    }

    /// Sets the span of the next instructions and returns the previous one.
    pub(crate) fn at(&mut self, span: Span) -> Span {
        std::mem::replace(&mut self.span, span)
    }

    /// Writes an instruction and charges its block.
    pub(crate) fn emit(&mut self, op: Op) {
        self.charge(op.cost());
        self.emit_paid(op);
    }

    /// Writes an instruction that was already charged for.
    pub(crate) fn emit_paid(&mut self, op: Op) {
        if !self.is_reachable || self.muted > 0 {
            return;
        }
        self.push(op);
        if op.ends_block() {
            self.is_reachable = false;
        }
    }

    /// Adds to the price of the block being written.
    pub(crate) fn charge(&mut self, cost: u32) {
        if self.is_reachable
            && !self.prepaid
            && let Some(Op::Enter { fuel }) = self.draft.ops.get_mut(self.block)
        {
            *fuel = fuel.saturating_add(cost);
        }
    }

    /// Starts leaving out code, which is still charged for. Straight code only.
    pub(crate) fn mute(&mut self) {
        self.muted += 1;
    }

    /// Ends a [`mute`](Self::mute).
    pub(crate) fn unmute(&mut self) {
        self.muted = self.muted.saturating_sub(1);
    }

    /// True while code is left out.
    pub(crate) fn is_muted(&self) -> bool {
        self.muted > 0
    }

    /// Sets whether the next instructions are already charged for.
    pub(crate) fn set_prepaid(&mut self, prepaid: bool) {
        self.prepaid = prepaid;
    }

    /// Makes a label to be bound later.
    pub(crate) fn label(&mut self) -> Label {
        let id = self.draft.labels.len() as u32;
        self.draft.labels.push(LabelState { at: u32::MAX, refs: 0 });
        Label(id)
    }

    /// Writes a jump to a label; a conditional one also opens the block after it.
    pub(crate) fn jump(&mut self, op: Op, to: LabelId) {
        self.charge(op.cost());
        self.jump_paid(op, to);
    }

    /// Writes a jump like [`jump`](Self::jump), without charging for it.
    pub(crate) fn jump_paid(&mut self, op: Op, to: LabelId) {
        if !self.is_reachable || self.muted > 0 {
            return;
        }
        self.draft.labels[to.0 as usize].refs += 1;
        self.push(op.with_target(to.0));
        if op.ends_block() {
            self.is_reachable = false;
        } else {
            self.draft.falls.push(self.draft.ops.len() as u32);
            self.enter();
        }
    }

    /// Binds a label here: starts a new block, unless nothing jumps to it and the block is empty.
    pub(crate) fn bind(&mut self, label: Label) {
        let Label(id) = label;
        if self.optimize && !self.is_reachable && self.ends_with_jump_to(id) {
            // The jump leads to the next instruction anyway; its price stays.
            self.draft.ops.pop();
            self.draft.labels[id as usize].refs -= 1;
            self.is_reachable = true;
            self.go_on();
        }
        if self.draft.labels[id as usize].refs > 0 {
            self.is_reachable = true;
            self.enter();
            self.draft.labels[id as usize].at = self.block as u32;
        } else {
            // Without optimisation, a jump that a known test made redundant may lead here.
            self.go_on();
        }
    }

    /// Passes a block boundary that no jump needs any more. It stays if the block has instructions before it, so
    /// that a fault there has paid no more than without optimisation.
    pub(crate) fn go_on(&mut self) {
        if self.is_reachable && self.muted == 0 && self.block + 1 != self.draft.ops.len() {
            self.enter();
        }
    }

    /// Makes a label here for backward jumps.
    pub(crate) fn head(&mut self) -> LabelId {
        let Label(id) = self.label();
        if self.is_reachable {
            self.enter();
        }
        self.draft.labels[id as usize].at = self.block as u32;
        LabelId(id)
    }

    fn ends_with_jump_to(&self, id: u32) -> bool {
        matches!(self.draft.ops.last(), Some(Op::Jump { to }) if *to == id)
    }

    /// Opens a block, or reuses one opened here that is still empty.
    fn enter(&mut self) {
        let here = self.draft.ops.len();
        if here > 0 && self.block + 1 == here && self.draft.ops[self.block] == (Op::Enter { fuel: 0 }) {
            self.draft.falls.pop_if(|at| *at as usize == self.block);
            return;
        }
        self.push(Op::Enter { fuel: 0 });
        self.block = here;
    }

    fn push(&mut self, op: Op) {
        let here = self.draft.ops.len() as u32;
        self.draft.spans.pop_if(|(at, _)| *at >= here);
        if self.draft.spans.last().is_none_or(|(_, span)| *span != self.span) {
            self.draft.spans.push((here, self.span));
        }
        self.draft.ops.push(op);
    }

    /// Returns the finished draft.
    pub(crate) fn finish(self) -> Draft {
        self.draft
    }
}

impl Draft {
    /// Replaces labels by instruction indexes, leaving out the instructions marked in `dropped` (empty: none).
    pub(crate) fn link(mut self, dropped: &[bool]) -> (Vec<Op>, Vec<(u32, Span)>) {
        let is_dropped = |i: usize| dropped.get(i).copied().unwrap_or(false);
        if dropped.iter().any(|drop| *drop) {
            let mut kept = 0;
            let places: Vec<u32> = (0..=self.ops.len())
                .map(|i| {
                    let place = kept;
                    kept += u32::from(!is_dropped(i));
                    place
                })
                .collect();
            let place = |i: u32| places.get(i as usize).copied().unwrap_or(i);
            for label in &mut self.labels {
                label.at = place(label.at);
            }
            let mut i = 0;
            self.ops.retain(|_| {
                i += 1;
                !is_dropped(i - 1)
            });
            for span in &mut self.spans {
                span.0 = place(span.0);
            }
            // If several spans now start at one instruction, the last one counts.
            self.spans.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 = next.1;
                }
                same
            });
            self.spans.dedup_by(|next, kept| next.1 == kept.1);
            let end = self.ops.len() as u32;
            self.spans.retain(|(at, _)| *at < end);
        }
        if !self.labels.is_empty() {
            for op in &mut self.ops {
                if let Some(label) = op.target().and_then(|id| self.labels.get(id as usize)) {
                    *op = op.with_target(label.at);
                }
            }
        }
        (self.ops, self.spans)
    }
}
