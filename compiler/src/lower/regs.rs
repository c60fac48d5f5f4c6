//! Registers and wide slots as stacks.
//!
//! What stays taken while other expressions are lowered is kept low: locals take registers below
//! [`LOCALS`], intermediate values below [`HELD`]; everything above goes to wide slots. So at any
//! point at least 100 registers are free, room for one call with the most arguments.

/// Locals take registers while fewer than this are taken.
const LOCALS: u16 = 110;

/// Intermediate values stay in registers while fewer than this are taken.
const HELD: u16 = 140;

/// The first wide slot.
const WIDE: u32 = 256;

/// Where a local lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Not bound yet.
    Nowhere,
    /// A register.
    Reg(u8),
    /// A wide slot.
    Wide(u16),
}

/// How much is taken; see [`Registers::release`].
#[derive(Clone, Copy)]
pub(super) struct Mark {
    regs: u16,
    wide: u32,
}

/// What one function body uses.
pub(super) struct Registers {
    next: u16,
    most: u16,
    next_wide: u32,
    most_wide: u32,
}

impl Registers {
    /// With the first `taken` registers in use.
    pub(super) fn new(taken: usize) -> Registers {
        let taken = taken as u16;
        Registers { next: taken, most: taken, next_wide: WIDE, most_wide: WIDE }
    }

    /// The next free register, not taken.
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

    /// Whether a local would get a register.
    pub(super) fn has_local(&self) -> bool {
        self.next < LOCALS
    }

    /// Whether `n` more locals would get registers.
    pub(super) fn has_local_for(&self, n: usize) -> bool {
        usize::from(self.next) + n < usize::from(LOCALS)
    }

    /// Whether `n` more values may stay in registers while others are computed.
    pub(super) fn can_hold(&self, n: usize) -> bool {
        usize::from(self.next) + n <= usize::from(HELD)
    }

    /// What is taken now.
    pub(super) fn mark(&self) -> Mark {
        Mark { regs: self.next, wide: self.next_wide }
    }

    /// Gives back everything taken since `mark`.
    pub(super) fn release(&mut self, mark: Mark) {
        self.next = mark.regs;
        self.next_wide = mark.wide;
    }

    /// Gives back `reg` if it is the one taken last.
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

    /// Registers and wide slots used at most, and whether that fits the format.
    pub(super) fn used(&self) -> (u16, bool) {
        if self.most_wide == WIDE {
            return (self.most, self.most <= 256);
        }
        let fits = self.most_wide <= u32::from(u16::MAX);
        (self.most_wide.min(u32::from(u16::MAX)) as u16, fits && self.most <= 256)
    }
}
