//! Hashing with a secret of the process, so that chosen keys cannot be made to collide.
//!
//! Every table whose keys come from a program or from data uses it: maps and sets of a run, names of JSON objects,
//! tables of the compiler. A hash may only decide where a key is found in a table: never an order, a result, a price or
//! anything that is stored, since another process has another secret.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

/// Length in bytes up to which text fits two words.
const SHORT: usize = 16;

/// The secret that all hashes of this process depend on.
///
/// Numbers, hashes of parts and texts that fit two words go through two rounds of a multiplication whose 128 bits
/// are folded to 64; all four operands are secret words. Longer text is hashed with SipHash-1-3, as in the standard
/// library: without the secret its values look random.
///
/// ```
/// let secret = ptc_bytecode::HashSecret::of_process();
/// assert_eq!(secret.text(b"id"), secret.text(b"id"));
/// assert_ne!(secret.text(b"id"), secret.text(b"name"));
/// ```
pub struct HashSecret {
    /// Initial state of SipHash.
    start: [u64; 4],
    /// Words that the rounds for numbers add and multiply with, in turn.
    words: [u64; 4],
}

static PROCESS: OnceLock<HashSecret> = OnceLock::new();

/// Fixes the secret of this process, so that hashes are equal in every run and instructions can be counted. Returns
/// false, and changes nothing, if something was hashed before.
///
/// Anyone who chooses the keys of a process with a known secret can slow it down: call this in benchmarks and
/// tests, never in a server.
///
/// ```
/// assert!(ptc_bytecode::fix_hash_secret_for_measuring(1, 2));
/// assert!(!ptc_bytecode::fix_hash_secret_for_measuring(3, 4));
/// ```
pub fn fix_hash_secret_for_measuring(first: u64, second: u64) -> bool {
    PROCESS.set(HashSecret::new(first, second)).is_ok()
}

impl HashSecret {
    /// Returns the secret of this process, made from system randomness on first use.
    #[inline]
    pub fn of_process() -> &'static HashSecret {
        PROCESS.get_or_init(|| {
            let random = RandomState::new();
            HashSecret::new(random.hash_one(0_u64), random.hash_one(1_u64))
        })
    }

    /// Makes a secret from two words, for tests that compare several.
    pub fn new(first: u64, second: u64) -> HashSecret {
        let start = [
            first ^ 0x736f_6d65_7073_6575,
            second ^ 0x646f_7261_6e64_6f6d,
            first ^ 0x6c79_6765_6e65_7261,
            second ^ 0x7465_6462_7974_6573,
        ];
        let derived = |n: u64| sip(start, &n.to_le_bytes());
        // Multipliers are odd, so that no bit of the other operand is lost.
        HashSecret { start, words: [derived(0), derived(1) | 1, derived(2), derived(3) | 1] }
    }

    /// Hashes a text.
    #[inline]
    pub fn text(&self, text: &[u8]) -> u64 {
        // Adding the length tells apart texts that read as the same words.
        let len = text.len() as u64;
        match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            _ if text.len() > SHORT => sip(self.start, text),
            // The words overlap in texts shorter than both. Each goes through two rounds.
            (Some(first), Some(last)) => {
                let [_, _, c, d] = self.words;
                let first = fold(u64::from_le_bytes(*first) ^ c, d).wrapping_add(len);
                self.pair(u64::from_le_bytes(*last), first)
            }
            _ => self.number(SHORT as u64 + len, last_word(text)),
        }
    }

    /// Hashes a number; equal numbers of different `kind`s get different hashes.
    ///
    /// One round alone would be too regular: products of consecutive numbers are evenly spaced, and in a table with
    /// linear probing they would clump for some secrets. The second round starts from bits that each depend on the
    /// whole number and the first three words.
    #[inline]
    pub fn number(&self, kind: u64, bits: u64) -> u64 {
        let [a, b, c, d] = self.words;
        fold(fold(bits ^ a, b) ^ c.wrapping_add(kind), d)
    }

    /// Combines two hashes; their order matters.
    #[inline]
    pub fn pair(&self, first: u64, second: u64) -> u64 {
        let [a, b, c, d] = self.words;
        fold(fold(first ^ a, b) ^ second ^ c, d)
    }
}

impl std::fmt::Debug for HashSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HashSecret")
    }
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline]
fn sip(mut v: [u64; 4], text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        absorb(&mut v, u64::from_le_bytes(*word));
    }
    absorb(&mut v, last_word(rest) | (text.len() as u64) << 56);
    v[2] ^= 0xff;
    round(&mut v);
    round(&mut v);
    round(&mut v);
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

/// Reads up to seven bytes as a number, in two or three pieces that may overlap: copying a variable number of bytes
/// takes a call.
#[inline]
fn last_word(rest: &[u8]) -> u64 {
    let n = rest.len();
    if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (n - 4))
    } else if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
        u64::from(*first) | u64::from(rest[n / 2]) << (8 * (n / 2)) | u64::from(*last) << (8 * (n - 1))
    } else {
        0
    }
}

#[inline]
fn absorb(v: &mut [u64; 4], word: u64) {
    v[3] ^= word;
    round(v);
    v[0] ^= word;
}

#[inline(always)]
fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[2] = v[2].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[1]);
    v[0] = v[0].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].rotate_left(32);
}

/// Builds hashers with the secret of the process for the standard library's maps. Faster than the default, since
/// most keys here are short or numbers.
///
/// ```
/// use ptc_bytecode::KeyedState;
/// use std::collections::HashMap;
/// let mut lengths: HashMap<&str, usize, KeyedState> = HashMap::default();
/// lengths.insert("count", 5);
/// assert_eq!(lengths["count"], 5);
/// ```
#[derive(Clone, Copy)]
pub struct KeyedState(&'static HashSecret);

impl Default for KeyedState {
    fn default() -> KeyedState {
        KeyedState(HashSecret::of_process())
    }
}

impl BuildHasher for KeyedState {
    type Hasher = KeyedHasher;

    #[inline]
    fn build_hasher(&self) -> KeyedHasher {
        KeyedHasher { secret: self.0, hash: 0 }
    }
}

/// Byte that the standard library hashes after every `str`.
const TEXT_END: u8 = 0xff;

/// Hasher built by [`KeyedState`].
pub struct KeyedHasher {
    secret: &'static HashSecret,
    hash: u64,
}

impl Hasher for KeyedHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.hash
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let hash = self.secret.text(bytes);
        self.hash = if self.hash == 0 { hash } else { self.secret.pair(hash, self.hash) };
    }

    #[inline]
    fn write_u8(&mut self, n: u8) {
        // The end mark adds nothing: the hash of a text already depends on its length.
        if n != TEXT_END {
            self.write_u64(u64::from(n));
        }
    }

    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    #[inline]
    fn write_u64(&mut self, n: u64) {
        // The new word comes first, so that it goes through both rounds.
        self.hash = self.secret.pair(n, self.hash);
    }

    #[inline]
    fn write_i64(&mut self, n: i64) {
        self.write_u64(n.cast_unsigned());
    }

    #[inline]
    fn write_isize(&mut self, n: isize) {
        self.write_u64(n.cast_unsigned() as u64);
    }

    #[inline]
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

/// Fast hasher without a secret, for the table of builtin names. The table is fixed, so a name chosen to collide is
/// compared with a few others at most.
#[derive(Default)]
pub(crate) struct NameHasher(u64);

impl NameHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for NameHasher {
    #[inline]
    fn finish(&self) -> u64 {
        // Tables use the high and the low bits for different purposes.
        self.0 ^ (self.0 >> 32)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        self.add(last_word(rest) | (bytes.len() as u64) << 56);
    }

    /// Ignores the end mark after a text: its length is in the hash.
    #[inline]
    fn write_u8(&mut self, _: u8) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::DefaultHasher;

    #[test]
    fn long_text_is_hashed_with_siphash() {
        // The standard library's hasher is SipHash-1-3 with an all-zero key.
        let secret = HashSecret::new(0, 0);
        let text: Vec<u8> = (0..70_u8).map(|n| n.wrapping_mul(37).wrapping_add(11)).collect();
        for len in 17..text.len() {
            let mut reference = DefaultHasher::new();
            reference.write(&text[..len]);
            assert_eq!(secret.text(&text[..len]), reference.finish(), "{len} bytes");
        }
    }

    #[test]
    fn hashes_depend_on_every_part_of_key_and_secret() {
        let secrets = [(0, 0), (1, 0), (0, 1), (u64::MAX, u64::MAX)].map(|(a, b)| HashSecret::new(a, b));
        let mut seen = HashSet::new();
        for secret in &secrets {
            for n in (0..1000).chain((0..64).map(|bit| 1 << 63 >> bit).filter(|n| *n >= 1000)) {
                assert!(seen.insert(secret.number(1, n)) && seen.insert(secret.number(2, n)), "{n}");
                assert!(seen.insert(secret.pair(n, 5000)) && seen.insert(secret.pair(5000, n)), "{n}");
            }
        }
    }

    #[test]
    fn the_secret_is_not_printed() {
        assert_eq!(format!("{:?}", HashSecret::new(7, 9)), "HashSecret");
    }
}
