//! A fast hash for names.

use std::hash::Hasher;

/// A small multiplicative hash, for tables that are looked into by key only and never walked. A program
/// that makes its names collide slows down nobody but itself within `limits.symbols`; what comes from
/// elsewhere is not hashed with it.
///
/// ```
/// use ptc_bytecode::WordHasher;
/// use std::{collections::HashMap, hash::BuildHasherDefault};
/// let mut lengths: HashMap<&str, usize, BuildHasherDefault<WordHasher>> = HashMap::default();
/// lengths.insert("count", 5);
/// assert_eq!(lengths["count"], 5);
/// ```
#[derive(Default)]
pub struct WordHasher(u64);

impl WordHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        // Tables use the high bits for one thing and the low ones for another; mix both.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.add(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.add(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.add(n);
    }

    fn write_i64(&mut self, n: i64) {
        self.add(n.cast_unsigned());
    }

    fn write_isize(&mut self, n: isize) {
        self.add(n.cast_unsigned() as u64);
    }

    fn write_usize(&mut self, n: usize) {
        self.add(n as u64);
    }
}
