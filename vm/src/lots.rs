//! Lots: data received while a program runs, in frozen spaces that count as long as a live value refers to them.
//!
//! Such a space is a *lot*. It has its own number and counts separately, even if the host gives the same data twice: a
//! program cannot see whether two replies share the host's memory, and a run that was written to bytes in between has
//! them twice. A collection releases the lots that nothing refers to. The check of the limit collects first, so the
//! fault does not depend on earlier collections.

use crate::heap::{Heap, Space};
use crate::link::Module;
use crate::lot_table::Lots;
use crate::value::Value;
use std::sync::{Arc, LazyLock};

/// Placeholder for a space that was released.
static NOTHING: LazyLock<Arc<Space>> = LazyLock::new(Arc::default);

impl Heap {
    /// Returns the bytes of the lots, including those unreferenced since the last collection.
    pub(crate) fn lot_bytes(&self) -> u64 {
        self.lots.bytes
    }

    /// True if there are any lots.
    pub(crate) fn has_lots(&self) -> bool {
        self.lots.count > 0
    }

    /// Returns the lots by number, with their bytes.
    pub(crate) fn lots(&self) -> impl Iterator<Item = (u32, u64)> {
        let charges = self.lots.charges.iter().enumerate();
        charges.filter(|(_, charge)| **charge > 0).map(|(id, charge)| (id as u32, *charge))
    }

    /// Attaches a space that counts for `charge` bytes, and returns its number.
    pub(crate) fn attach_lot(
        &mut self,
        space: &Arc<Space>,
        charge: u64,
        modules: &mut Vec<Arc<Module>>,
    ) -> u32 {
        let space = match self.known_as(space) {
            None => space.clone(),
            Some(_) => Arc::new(Space {
                cells: space.cells.clone(),
                text: space.text.clone(),
                deps: space.deps.clone(),
                modules: space.modules.clone(),
                veils: space.veils,
                unknowns: space.unknowns,
                sealed: space.sealed,
                ..Space::default()
            }),
        };
        let id = self.attach(space, modules);
        self.make_lot(id, charge);
        id
    }

    /// Makes an attached space a lot; false if it already is one.
    pub(crate) fn make_lot(&mut self, id: u32, charge: u64) -> bool {
        let Lots { charges, bytes, count, .. } = &mut self.lots;
        let at = id as usize;
        if charges.len() <= at {
            charges.resize(at + 1, 0);
        }
        if charges[at] > 0 {
            return false;
        }
        // An empty space is still a lot: it has to be released.
        charges[at] = charge.max(1);
        *bytes += charges[at];
        *count += 1;
        true
    }

    /// Marks the space of this value as referred to.
    #[inline]
    pub(crate) fn mark_space(&mut self, value: Value) {
        if let Some(r) = value.reference().filter(|r| r.space() > 0) {
            self.lots.mark(r.space());
        }
    }

    /// Marks a space as needed by something other than a value.
    pub(crate) fn mark_number(&mut self, id: u32) {
        self.lots.mark(id);
    }

    /// Releases unreferenced lots at the end of a collection.
    pub(crate) fn let_go(&mut self) {
        let mut marks = std::mem::take(&mut self.lots.marks);
        marks.resize(self.attached.len() + 1, false);
        self.lots.charges.resize(self.attached.len() + 1, 0);
        for cell in &self.own.cells {
            if let Some(r) = cell.reference() {
                marks[r.space() as usize] = true;
            }
        }
        // A space that stays needs all spaces it refers to.
        for (attached, charge) in self.attached.iter().zip(&self.lots.charges[1..]) {
            if *charge == 0 {
                attached.spaces.iter().for_each(|dep| marks[*dep as usize] = true);
            }
        }
        let mut todo: Vec<u32> = (1..marks.len() as u32).filter(|id| marks[*id as usize]).collect();
        while let Some(id) = todo.pop() {
            for dep in &self.attached[id as usize - 1].spaces {
                if !std::mem::replace(&mut marks[*dep as usize], true) {
                    todo.push(*dep);
                }
            }
        }
        let gone: Vec<u32> = self.lots().map(|(id, _)| id).filter(|id| !marks[*id as usize]).collect();
        gone.into_iter().for_each(|id| self.drop_lot(id));
        marks.clear();
        self.lots.marks = marks;
    }

    /// Returns the spaces that the own arena and `root` refer to, by number.
    pub(crate) fn spaces_of(&self, root: Value) -> Vec<u32> {
        let cells = self.own.cells.iter().copied().chain([root]);
        let mut found: Vec<u32> =
            cells.filter_map(|cell| cell.reference()).map(|r| r.space()).filter(|id| *id > 0).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Releases all lots: nothing of the run is left.
    pub(crate) fn drop_lots(&mut self) {
        let all: Vec<u32> = self.lots().map(|(id, _)| id).collect();
        all.into_iter().for_each(|id| self.drop_lot(id));
    }

    /// Forgets all lots without releasing them, for a heap whose spaces are already gone.
    pub(crate) fn forget_lots(&mut self) {
        self.lots = Lots::default();
    }

    fn drop_lot(&mut self, id: u32) {
        let charge = std::mem::take(&mut self.lots.charges[id as usize]);
        self.lots.bytes -= charge;
        self.lots.count -= 1;
        self.release(id);
    }

    /// Releases an attached space, so that its number can be reused. Only for a heap that will not read it any more.
    pub(crate) fn release(&mut self, id: u32) {
        let at = (id as usize).wrapping_sub(1);
        let Some(attached) = self.attached.get_mut(at) else { return };
        let space = std::mem::replace(&mut attached.space, NOTHING.clone());
        (attached.spaces, attached.modules) = (Vec::new(), Vec::new());
        self.forget_space(&space, id);
    }
}
