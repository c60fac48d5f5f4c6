//! Bytes as choices: equal bytes make equal choices. When they are used up, every choice is the first one.

/// Bytes that are consumed one after another.
#[derive(Clone, Debug)]
pub struct Take<'b>(&'b [u8]);

impl<'b> Take<'b> {
    /// Starts at the first byte.
    pub fn new(bytes: &'b [u8]) -> Take<'b> {
        Take(bytes)
    }

    /// Returns the next byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    /// Returns a number below `n`.
    pub fn pick(&mut self, n: usize) -> usize {
        let wide = if n > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (wide | usize::from(self.byte())) % n.max(1)
    }

    /// Returns one of these items.
    ///
    /// # Panics
    ///
    /// If there are no items.
    pub fn one_of<'t, T: ?Sized>(&mut self, choices: &[&'t T]) -> &'t T {
        choices[self.pick(choices.len())]
    }

    /// Returns eight bytes as a number.
    pub fn number(&mut self) -> i64 {
        (0..8).fold(0, |acc, _| acc << 8 | i64::from(self.byte()))
    }

    /// Returns the remaining bytes.
    pub fn rest(&self) -> &'b [u8] {
        self.0
    }

    /// Returns whether no bytes are left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
