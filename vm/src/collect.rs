//! Collecting garbage: what the roots lead to is copied from the own arena to the spare one, then
//! the two swap roles.
//!
//! A copied object leaves its new place in its old head. Copied cells still refer to the old arena
//! until the scan reaches them; the scan goes cell by cell, since heads look like no reference.
//! Nothing recurses, and references into frozen spaces stay as they are.

use crate::heap::{Heap, Space};
use crate::value::{Ref, Value};

/// A collection in progress. The heap is usable again once it is finished, which dropping does.
pub struct Collector<'h> {
    heap: &'h mut Heap,
}

impl Heap {
    /// Begins a collection: show every root to the collector, then finish it.
    pub fn collect(&mut self) -> Collector<'_> {
        Collector { heap: self }
    }
}

impl Collector<'_> {
    /// Keeps what `root` refers to, and updates it.
    #[inline]
    pub fn root(&mut self, root: &mut Value) {
        forward(&mut self.heap.own, &mut self.heap.spare, root);
    }

    /// Keeps all of these.
    pub fn roots(&mut self, roots: &mut [Value]) {
        roots.iter_mut().for_each(|root| self.root(root));
    }

    /// Copies what the roots lead to and forgets the rest.
    pub fn finish(self) {}
}

impl Drop for Collector<'_> {
    fn drop(&mut self) {
        let Heap { own, spare, .. } = &mut *self.heap;
        let mut next = 0;
        while next < spare.cells.len() {
            let mut cell = spare.cells[next];
            if cell.reference().is_some() {
                forward(own, spare, &mut cell);
                spare.cells[next] = cell;
            }
            next += 1;
        }
        std::mem::swap(own, spare);
        spare.cells.clear();
        spare.text.clear();
        self.heap.count_collection();
    }
}

/// Cells of the payload behind this head.
#[inline]
pub(crate) fn payload(head: Value) -> usize {
    match head {
        Value::BigHead { limbs, .. } => limbs as usize,
        Value::FlatHead { len } | Value::FewHead { len } => len as usize,
        Value::TailHead { cap, .. } | Value::TableHead { cap, .. } | Value::BuilderHead { cap, .. } => {
            cap as usize
        }
        Value::RecordHead { len } => len as usize + 1,
        Value::TrieHead { .. } | Value::RangeHead { .. } => 2,
        Value::SliceHead { .. } => 1,
        Value::HashHead { .. } => 3,
        Value::ClosureHead { captures, .. } => captures as usize,
        _ => 0,
    }
}

#[inline]
fn forward(own: &mut Space, spare: &mut Space, cell: &mut Value) {
    if let Some(r) = cell.reference_mut()
        && r.space == 0
    {
        let at = r.at as usize;
        *r = match own.cells[at] {
            Value::Forward(to) => Ref { space: 0, at: to },
            head => copy(own, spare, at, head),
        };
    }
}

fn copy(own: &mut Space, spare: &mut Space, at: usize, head: Value) -> Ref {
    let to = Ref::own(spare.cells.len());
    if let Value::TextHead { plain, hash, len, off } = head {
        let from = off as usize;
        let off = spare.text.len() as u32;
        spare.text.push_str(&own.text[from..from + len as usize]);
        spare.cells.push(Value::TextHead { plain, hash, len, off });
    } else {
        spare.cells.extend_from_slice(&own.cells[at..at + 1 + payload(head)]);
    }
    own.cells[at] = Value::Forward(to.at);
    to
}
