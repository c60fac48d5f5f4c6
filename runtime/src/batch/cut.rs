//! Cutters of inputs into blocks of records, for the thread that reads.

use super::input::{Chain, One, Opened};
use super::rows::Block;
use std::io;

/// Cutter of one input.
pub(super) trait Cut {
    /// Returns the next block; None at the end.
    fn next(&mut self) -> io::Result<Option<Block>>;

    /// Returns the number of the record after those of all blocks so far.
    fn number(&self) -> u64;
}

/// Maker of cutters.
pub(super) trait Open {
    /// Makes a cutter of an input whose records are numbered from `first` on.
    fn open<'o>(&self, input: One<'o>, first: u64) -> Box<dyn Cut + 'o>;
}

/// Makes a cutter of any input, chained ones included.
pub(super) fn cutter<'o, O: Open + 'static>(input: Opened<'o>, open: O) -> Box<dyn Cut + 'o> {
    match input {
        Opened::Chain(chain) => Box::new(Chained { open, current: None, waiting: vec![chain], number: 1 }),
        Opened::One(one) => open.open(one, 1),
    }
}

/// Cutter of chained inputs.
struct Chained<O> {
    open: O,
    current: Option<Box<dyn Cut>>,
    /// Chains to go on with, the innermost at the end.
    waiting: Vec<Chain>,
    number: u64,
}

impl<O: Open> Cut for Chained<O> {
    fn next(&mut self) -> io::Result<Option<Block>> {
        loop {
            if let Some(current) = &mut self.current {
                if let Some(block) = current.next()? {
                    return Ok(Some(block));
                }
                self.number = current.number();
                self.current = None;
            }
            let Some(chain) = self.waiting.last_mut() else { return Ok(None) };
            let Some(input) = chain.inputs.next() else {
                self.waiting.pop();
                continue;
            };
            chain.starts.add(self.number);
            match input?.opened() {
                Opened::Chain(inner) => self.waiting.push(inner),
                Opened::One(one) => self.current = Some(self.open.open(one, self.number)),
            }
        }
    }

    fn number(&self) -> u64 {
        self.current.as_ref().map_or(self.number, |current| current.number())
    }
}
