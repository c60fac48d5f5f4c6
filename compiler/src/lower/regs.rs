//! Allocation of registers and wide slots as stacks.
//!
//! Few registers stay taken while other expressions are lowered: locals take registers below [`LOCALS`], intermediate
//! values below [`HELD`]; everything above goes to wide slots. So at any point at least 100 registers are free, enough
//! for one call with the most arguments.

/// Bound below which locals take registers.
const LOCALS: u16 = 110;

/// Bound below which intermediate values stay in registers.
const HELD: u16 = 140;

/// Number of the first wide slot.
const WIDE: u32 = 256;

/// The place of a local.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Not bound yet.
    Nowhere,
    /// A register.
    Reg(u8),
    /// A wide slot.
    Wide(u16),
}

/// A state of the allocation; see [`Registers::release`].
#[derive(Clone, Copy)]
pub(super) struct Mark {
    regs: u16,
    wide: u32,
}

/// Registers and wide slots used by one function body.
pub(super) struct Registers {
    next: u16,
    most: u16,
    next_wide: u32,
    most_wide: u32,
}

impl Registers {
    /// Makes the allocation with the first `taken` registers in use.
    pub(super) fn new(taken: usize) -> Registers {
        let taken = taken as u16;
        Registers { next: taken, most: taken, next_wide: WIDE, most_wide: WIDE }
    }

    /// Returns the next free register without taking it.
    pub(super) fn peek(&self) -> u8 {
        self.next.min(255) as u8
    }

    /// Takes the next register.
    pub(super) fn alloc(&mut self) -> u8 {
        debug_assert!(self.next < 256, "the bounds above leave room");
        let reg = self.peek();
        self.next += 1;
        self.most = self.most.max(self.next);
        reg
    }

    /// Takes `n` registers.
    pub(super) fn skip(&mut self, n: usize) {
        for _ in 0..n {
            self.alloc();
        }
    }

    /// Takes a wide slot.
    pub(super) fn alloc_wide(&mut self) -> u16 {
        let slot = self.next_wide;
        self.next_wide += 1;
        self.most_wide = self.most_wide.max(self.next_wide);
        // Too many are reported when the body is finished; until then the number does not matter.
        slot.min(u32::from(u16::MAX)) as u16
    }

    /// Takes a place for a local.
    pub(super) fn alloc_local(&mut self) -> Place {
        if self.next < LOCALS { Place::Reg(self.alloc()) } else { Place::Wide(self.alloc_wide()) }
    }

    /// True if a local would get a register.
    pub(super) fn has_local(&self) -> bool {
        self.next < LOCALS
    }

    /// True if `n` more locals would get registers.
    pub(super) fn has_local_for(&self, n: usize) -> bool {
        usize::from(self.next) + n < usize::from(LOCALS)
    }

    /// True if `n` more values may stay in registers while others are computed.
    pub(super) fn can_hold(&self, n: usize) -> bool {
        usize::from(self.next) + n <= usize::from(HELD)
    }

    /// Returns the current state, for [`release`](Self::release).
    pub(super) fn mark(&self) -> Mark {
        Mark { regs: self.next, wide: self.next_wide }
    }

    /// Releases everything taken since `mark`.
    pub(super) fn release(&mut self, mark: Mark) {
        self.next = mark.regs;
        self.next_wide = mark.wide;
    }

    /// Releases `reg` if it was taken last.
    pub(super) fn give_back(&mut self, reg: u8) {
        if self.next == u16::from(reg) + 1 {
            self.next = u16::from(reg);
        }
    }

    /// Takes every register up to and including `reg`.
    pub(super) fn reserve(&mut self, reg: u8) {
        self.next = self.next.max(u16::from(reg) + 1);
        self.most = self.most.max(self.next);
    }

    /// Returns the maximum registers and wide slots used, and true if they fit the format.
    pub(super) fn used(&self) -> (u16, bool) {
        if self.most_wide == WIDE {
            return (self.most, self.most <= 256);
        }
        let fits = self.most_wide <= u32::from(u16::MAX);
        (self.most_wide.min(u32::from(u16::MAX)) as u16, fits && self.most <= 256)
    }
}
