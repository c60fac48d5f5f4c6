//! The table of lots, and how much came in at most: see `lots`.

/// The lots of one heap.
#[derive(Default)]
pub(crate) struct Lots {
    /// Bytes by number of the space; 0 for one that is no lot.
    pub(crate) charges: Vec<u64>,
    /// All of them together.
    pub(crate) bytes: u64,
    /// How many there are.
    pub(crate) count: usize,
    /// During a collection: which spaces something refers to, by number.
    pub(crate) marks: Vec<bool>,
}

/// How much came in for a branch: the bytes of its lots whenever they were more than ever before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peaks(Vec<u64>);

impl Peaks {
    /// Peaks as they were; None unless each is higher than the one before.
    pub(crate) fn from_bytes(bytes: Vec<u64>) -> Option<Peaks> {
        bytes.is_sorted_by(|a, b| a < b).then_some(Peaks(bytes))
    }

    /// The bytes, in order.
    pub(crate) fn bytes(&self) -> &[u64] {
        &self.0
    }

    /// The highest.
    pub(crate) fn highest(&self) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }

    pub(crate) fn note(&mut self, bytes: u64) {
        if bytes > self.highest() {
            self.0.push(bytes);
        }
    }

    /// The first that is more than this.
    pub(crate) fn first_over(&self, bytes: u64) -> Option<u64> {
        self.0.get(self.0.partition_point(|peak| *peak <= bytes)).copied()
    }
}

impl Lots {
    /// Notes that something refers to a space.
    #[inline]
    pub(crate) fn mark(&mut self, id: u32) {
        let at = id as usize;
        if self.marks.len() <= at {
            self.marks.resize(at + 1, false);
        }
        self.marks[at] = true;
    }
}
