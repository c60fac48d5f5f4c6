//! Table of lots and their peaks: see `lots`.

/// The lots of one heap.
#[derive(Default)]
pub(crate) struct Lots {
    /// Bytes by number of the space; 0 for a space that is not a lot.
    pub(crate) charges: Vec<u64>,
    /// Total bytes of all lots.
    pub(crate) bytes: u64,
    /// Number of lots.
    pub(crate) count: usize,
    /// During a collection: true for each space that something refers to, by number.
    pub(crate) marks: Vec<bool>,
}

/// Peaks of the bytes received by a branch: the bytes of its lots whenever they reached a new maximum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peaks(Vec<u64>);

impl Peaks {
    /// Restores stored peaks; None unless each is higher than the previous one.
    pub(crate) fn from_bytes(bytes: Vec<u64>) -> Option<Peaks> {
        bytes.is_sorted_by(|a, b| a < b).then_some(Peaks(bytes))
    }

    /// Returns the bytes, in order.
    pub(crate) fn bytes(&self) -> &[u64] {
        &self.0
    }

    /// Returns the highest peak.
    pub(crate) fn highest(&self) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }

    pub(crate) fn note(&mut self, bytes: u64) {
        if bytes > self.highest() {
            self.0.push(bytes);
        }
    }

    /// Returns the first peak above `bytes`.
    pub(crate) fn first_over(&self, bytes: u64) -> Option<u64> {
        self.0.get(self.0.partition_point(|peak| *peak <= bytes)).copied()
    }
}

impl Lots {
    /// Marks a space as referred to.
    #[inline]
    pub(crate) fn mark(&mut self, id: u32) {
        let at = id as usize;
        if self.marks.len() <= at {
            self.marks.resize(at + 1, false);
        }
        self.marks[at] = true;
    }
}
