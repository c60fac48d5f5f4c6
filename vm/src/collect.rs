//! Garbage collection: objects reachable from the roots are copied from the own arena to the spare one, then the two
//! swap roles.
//!
//! A copied object leaves its new place in its old head. Copied cells still refer to the old arena until the scan
//! reaches them; the scan goes cell by cell, since heads do not look like references. Nothing recurses, and references
//! into frozen spaces stay as they are. Lots among those spaces are released when nothing refers to them any more.

use crate::heap::{Heap, Space};
use crate::value::{Ref, Value, captures_of, moved_text};

/// A collection in progress. The heap is usable again once it is finished, which dropping does.
pub struct Collector<'h> {
    heap: &'h mut Heap,
}

impl Heap {
    /// Starts a collection: pass every root to the collector, then finish it.
    pub fn collect(&mut self) -> Collector<'_> {
        Collector { heap: self }
    }
}

impl Collector<'_> {
    /// Keeps the object `root` refers to, and updates the reference.
    #[inline]
    pub fn root(&mut self, root: &mut Value) {
        if self.heap.has_lots() {
            self.heap.mark_space(*root);
        }
        forward(&mut self.heap.own, &mut self.heap.spare, root);
    }

    /// Keeps the object that a cell of another heap refers to, if it is in the own arena, which that heap calls
    /// `space`.
    pub(crate) fn root_of(&mut self, space: u32, cell: &mut Value) {
        let Some(r) = cell.reference_mut().filter(|r| r.space() == space) else { return };
        *r = Ref::new(0, r.at());
        self.root(cell);
        if let Some(r) = cell.reference_mut() {
            *r = Ref::new(space, r.at());
        }
    }

    /// Keeps the objects of all these roots.
    pub fn roots(&mut self, roots: &mut [Value]) {
        roots.iter_mut().for_each(|root| self.root(root));
    }

    /// Keeps an attached space that no root refers to yet.
    pub(crate) fn keep_space(&mut self, id: u32) {
        if self.heap.has_lots() {
            self.heap.mark_number(id);
        }
    }

    /// Copies everything reachable from the roots and drops the rest.
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
        if self.heap.has_lots() {
            self.heap.let_go();
        }
        self.heap.count_collection();
    }
}

/// Returns the number of payload cells after this head.
#[inline]
pub(crate) fn payload(head: Value) -> usize {
    match head {
        Value::BigHead(parts) => parts.get().1 as usize,
        Value::FlatHead { len } | Value::FewHead { len } => len as usize,
        Value::TableHead(counts) => counts.get().0 as usize,
        Value::TailHead(counts) | Value::BuilderHead(counts) | Value::ArrayHead(counts) => {
            counts.get().1 as usize
        }
        Value::RecordHead { len } => len as usize + 1,
        Value::TrieHead(_) | Value::RangeHead { .. } | Value::LinkHead | Value::ExceptionHead => 2,
        Value::SliceHead(_) | Value::StateHead { .. } | Value::VeilHead | Value::SortedHead(_) => 1,
        Value::TreeHead { .. } => 4,
        Value::StepHead { args } => args as usize + 1,
        Value::HashHead(_) => 4,
        Value::ClosureHead(parts) => captures_of(parts),
        _ => 0,
    }
}

#[inline]
fn forward(own: &mut Space, spare: &mut Space, cell: &mut Value) {
    if let Some(r) = cell.reference_mut()
        && r.space() == 0
    {
        let at = r.at() as usize;
        *r = match own.cells[at] {
            Value::Forward(to) => Ref::new(0, to as u32),
            head => copy(own, spare, at, head),
        };
    }
}

fn copy(own: &mut Space, spare: &mut Space, at: usize, head: Value) -> Ref {
    let to = Ref::own(spare.cells.len());
    if let Value::TextHead(parts) | Value::PlainHead(parts) = head {
        let (len, from) = (parts.get().0, parts.get().1 as usize);
        let off = spare.text.len();
        spare.text.push_str(&own.text[from..from + len as usize]);
        spare.cells.push(moved_text(head, off));
    } else {
        spare.cells.extend_from_slice(&own.cells[at..at + 1 + payload(head)]);
    }
    own.cells[at] = Value::Forward(u64::from(to.at()));
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::StopKind;
    use ptc_bytecode::Code;

    fn collect(heap: &mut Heap, roots: &mut [Value]) {
        let mut collector = heap.collect();
        collector.roots(roots);
        collector.finish();
    }

    #[test]
    fn garbage_goes_and_sharing_stays() {
        let mut heap = Heap::with_limit(10_000_000);
        let text = heap.new_str("shared text").unwrap();
        let inner = heap.new_vec(&[text, text]).unwrap();
        let mut roots = [heap.new_vec(&[inner, inner]).unwrap(), inner];
        let live = heap.used();
        for _ in 0..1000 {
            heap.new_str("garbage garbage").unwrap();
        }
        collect(&mut heap, &mut roots);
        assert_eq!(heap.used(), live);
        let Value::Vector(outer) = roots[0] else { panic!() };
        assert!(heap.vec_get(outer, 0).unwrap().same(roots[1]));
        collect(&mut heap, &mut []);
        assert_eq!(heap.used(), 0);
    }

    #[test]
    fn three_million_allocations_in_one_megabyte() {
        let mut heap = Heap::with_limit(1_000_000);
        let mut last = [heap.empty_vec()];
        let mut collections = 0;
        for i in 0..3_000_000 {
            loop {
                match heap.new_vec(&[Value::Int(i), Value::Nil]) {
                    Ok(v) => {
                        last[0] = v;
                        break;
                    }
                    Err(stop) => {
                        let StopKind::Room { cells, text } = stop.into_kind() else { panic!() };
                        collect(&mut heap, &mut last);
                        collections += 1;
                        heap.collected_for(cells, text).unwrap();
                    }
                }
            }
        }
        assert!(collections > 100 && heap.used() <= 1_000_000);
        assert_eq!(heap.collections(), collections);
    }

    #[test]
    fn live_data_beyond_the_limit_faults_wherever_it_is_collected() {
        // Allocation stops at the same one, with few collections and with many.
        let run = |every: usize| {
            let mut heap = Heap::with_limit(2_000_000);
            let mut list = [Value::Nil];
            for i in 0.. {
                if i % every == 0 {
                    collect(&mut heap, &mut list);
                }
                if let Err(stop) = heap.new_vec(&[Value::Int(i as i64), list[0]]).map(|v| list[0] = v) {
                    let StopKind::Room { cells, text } = stop.into_kind() else { panic!() };
                    collect(&mut heap, &mut list);
                    match heap.collected_for(cells, text) {
                        Ok(()) => list[0] = heap.new_vec(&[Value::Int(i as i64), list[0]]).unwrap(),
                        Err(fault) => {
                            assert_eq!(fault.code(), Code::MemoryExceeded);
                            assert!(fault.parts().message.contains("limits.memory_bytes = 2000000"));
                            return i;
                        }
                    }
                }
            }
            0
        };
        assert_eq!(run(usize::MAX), 2_000_000 / 48);
        assert_eq!(run(1000), 2_000_000 / 48);
    }

    #[test]
    fn builders_survive() {
        let mut heap = Heap::unbounded();
        let mut roots = [heap.new_builder().unwrap()];
        for i in 0..100 {
            let text = heap.new_str(&format!("item {i}")).unwrap();
            heap.builder_add(&mut roots[0], text).unwrap();
            collect(&mut heap, &mut roots);
        }
        let Value::Vector(r) = heap.builder_vector(roots[0]).unwrap() else { panic!() };
        assert_eq!(heap.as_str(heap.vec_get(r, 99).unwrap()), Some("item 99"));
    }
}
