//! Bytes as choices: the same bytes make the same choices, and when they are used up the first is taken.

/// Bytes that are taken one after the other.
#[derive(Clone, Debug)]
pub struct Take<'b>(&'b [u8]);

impl<'b> Take<'b> {
    /// From the first byte on.
    pub fn new(bytes: &'b [u8]) -> Take<'b> {
        Take(bytes)
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    /// A choice below `n`.
    pub fn pick(&mut self, n: usize) -> usize {
        let wide = if n > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (wide | usize::from(self.byte())) % n.max(1)
    }

    /// One of these.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn one_of<'t, T: ?Sized>(&mut self, choices: &[&'t T]) -> &'t T {
        choices[self.pick(choices.len())]
    }

    /// Eight bytes as a number.
    pub fn number(&mut self) -> i64 {
        (0..8).fold(0, |acc, _| acc << 8 | i64::from(self.byte()))
    }

    /// What is left.
    pub fn rest(&self) -> &'b [u8] {
        self.0
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
