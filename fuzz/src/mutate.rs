//! Generation of inputs similar to known ones, for runs without a fuzzer.

use crate::Target;
use ptc_snapshots::generate::SCRAPS;

/// A sequence of pseudo-random numbers, determined by its seed.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Creates a sequence that depends on a seed and a name.
    pub fn new(seed: u64, name: &str) -> Dice {
        let named = name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ named)
    }

    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    pub fn roll(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Pieces of text with a meaning in formats other than the language.
const WORDS: &[&str] = &[
    "null",
    "true",
    "\r\n",
    "{{",
    "}}",
    "{{#",
    "{{/",
    "$ref",
    "${",
    "\\u0000",
    "\\uD800",
    "?",
    "|",
    "..",
    "_",
    "=",
    "\"id\":1",
    "\"jsonrpc\":\"2.0\"",
    "\"\":",
];

/// Returns the input of one case: an unchanged seed, a seed with a few changes, or random bytes.
pub fn input(seeds: &[Vec<u8>], target: &Target, dice: &mut Dice) -> Vec<u8> {
    let seed = seeds.get(dice.roll(seeds.len())).cloned().unwrap_or_default();
    let mut bytes = match dice.roll(8) {
        0 => (0..dice.roll(200)).map(|_| dice.next() as u8).collect(),
        1 => {
            // The start of one seed and the end of another.
            let other = seeds.get(dice.roll(seeds.len())).cloned().unwrap_or_default();
            let (cut, from) = (dice.roll(seed.len() + 1), dice.roll(other.len() + 1));
            [&seed[..cut], &other[from..]].concat()
        }
        _ => seed,
    };
    bytes.truncate(target.max_len);
    for _ in 0..dice.roll(6) {
        change(&mut bytes, dice);
    }
    bytes.truncate(target.max_len);
    bytes
}

fn change(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.roll(bytes.len() + 1);
    let len = dice.roll(1 + (bytes.len() - at).min(24));
    match dice.roll(7) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.roll(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = dice.next() as u8;
            }
        }
        2 => drop(bytes.drain(at..at + len)),
        3 => {
            let piece = bytes[at..at + len].to_vec();
            let to = dice.roll(bytes.len() + 1);
            bytes.splice(to..to, piece);
        }
        4 => {
            let piece = bytes[at..at + len].repeat(1 + dice.roll(40));
            bytes.splice(at..at, piece);
        }
        5 => bytes.insert(at, dice.next() as u8),
        _ => {
            let words = if dice.roll(2) == 0 { WORDS } else { SCRAPS };
            let word = words[dice.roll(words.len())];
            bytes.splice(at..at, word.bytes());
        }
    }
}
