//! Writing code: instructions with their price, labels, constants, spans.
//!
//! Every instruction adds its cost to the `Enter` of the block it stands in at the moment it is
//! written. An optimisation that writes something shorter [charges](CodeBuilder::charge) for what it
//! left out, so a program costs the same with and without optimisation.

use ptc_bytecode::{Op, Span};

mod module;

pub(crate) use module::{Module, push_nodes};

/// A place ahead that jumps may name before it is known; only [`CodeBuilder::bind`] consumes it.
#[must_use]
pub(crate) struct Label(u32);

impl Label {
    /// For jumps that are written while the label is kept elsewhere.
    pub(crate) fn id(&self) -> LabelId {
        LabelId(self.0)
    }
}

/// The name of a label.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct LabelId(u32);

/// A label, once it has a place.
#[derive(Clone, Copy)]
pub(crate) struct LabelState {
    /// Index of its `Enter`, `u32::MAX` while unknown.
    pub(crate) at: u32,
    /// Jumps that name it.
    pub(crate) refs: u32,
}

/// Code whose jumps still name labels, as the optimiser sees it.
pub(crate) struct Draft {
    pub(crate) ops: Vec<Op>,
    pub(crate) spans: Vec<(u32, Span)>,
    pub(crate) labels: Vec<LabelState>,
    /// `Enter`s that only follow a conditional jump; no label stands there.
    pub(crate) falls: Vec<u32>,
}

/// The code of one function body while it is written.
pub(crate) struct CodeBuilder {
    draft: Draft,
    span: Span,
    /// Index of the `Enter` that pays for what is written now.
    block: usize,
    is_reachable: bool,
    /// While above zero, instructions are paid for but not written.
    muted: u32,
    /// Whether what is written has been paid for.
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

    /// Whether control can get here. Nothing is written where it cannot.
    pub(crate) fn is_reachable(&self) -> bool {
        self.is_reachable
    }

    /// Sets the span of what comes next and gives back the one before.
    pub(crate) fn at(&mut self, span: Span) -> Span {
        std::mem::replace(&mut self.span, span)
    }

    /// Writes an instruction and charges its block.
    pub(crate) fn emit(&mut self, op: Op) {
        self.charge(op.cost());
        self.emit_paid(op);
    }

    /// Writes an instruction that has been charged for already.
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

    /// What is written from here on is paid for and left out. Straight code only.
    pub(crate) fn mute(&mut self) {
        self.muted += 1;
    }

    /// Ends what [`mute`](Self::mute) began.
    pub(crate) fn unmute(&mut self) {
        self.muted = self.muted.saturating_sub(1);
    }

    /// Whether code is left out.
    pub(crate) fn is_muted(&self) -> bool {
        self.muted > 0
    }

    /// Whether what is written from here on has been paid for.
    pub(crate) fn set_prepaid(&mut self, prepaid: bool) {
        self.prepaid = prepaid;
    }

    /// A label to be bound later.
    pub(crate) fn label(&mut self) -> Label {
        let id = self.draft.labels.len() as u32;
        self.draft.labels.push(LabelState { at: u32::MAX, refs: 0 });
        Label(id)
    }

    /// Writes a jump to a label; a conditional one also opens the block behind it.
    pub(crate) fn jump(&mut self, op: Op, to: LabelId) {
        self.charge(op.cost());
        self.jump_paid(op, to);
    }

    /// As [`jump`](Self::jump), for one that has been charged for already.
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

    /// Puts a label here: a new block, unless nothing jumps to it and nothing stands before it.
    pub(crate) fn bind(&mut self, label: Label) {
        let Label(id) = label;
        if self.optimize && !self.is_reachable && self.ends_with_jump_to(id) {
            // A jump to what comes next anyway; its price stays.
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
            // Without optimisation a jump may lead here that a known test made needless.
            self.go_on();
        }
    }

    /// A block boundary that no jump needs any more. It stays where something stands before it in
    /// the block, so that a fault there has paid for no more than without optimisation.
    pub(crate) fn go_on(&mut self) {
        if self.is_reachable && self.muted == 0 && self.block + 1 != self.draft.ops.len() {
            self.enter();
        }
    }

    /// A label for jumps backward to this place.
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

    /// Opens a block, or goes on with one that was opened here and has nothing in it yet.
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

    /// The finished draft.
    pub(crate) fn finish(self) -> Draft {
        self.draft
    }
}

impl Draft {
    /// Replaces labels by places, leaving out the instructions marked in `dropped` (empty: none).
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
            // Where several spans now start at one instruction, the last is the one that holds.
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
