//! Hashes of text and keys. They are the same on every machine and in every run, since they are
//! stored in heads and tables that outlive a run.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use smallvec::{SmallVec, smallvec};

use crate::heap::Heap;
use crate::value::{Ref, Value};

const SEED: u64 = 0x2d35_8dcc_aa6c_78a5;
const MIX: u64 = 0x8bb8_4b93_962e_acc9;

/// How many values inside a collection its hash looks at. A bound makes hashing cheap for data of
/// any size and depth, shared or not.
const REACH: usize = 64;

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline]
fn mix(kind: u64, bits: u64) -> u32 {
    let h = fold(bits ^ SEED, MIX ^ kind.wrapping_mul(SEED));
    (h ^ (h >> 32)) as u32
}

/// For tables of references inside one operation: fast, and nobody chooses the keys.
#[derive(Default)]
pub(crate) struct RefHasher(u64);

impl Hasher for RefHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u32(u32::from(*b)));
    }

    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.0 = fold(self.0 ^ u64::from(n) ^ SEED, MIX);
    }
}

/// A map with references as keys.
pub(crate) type RefMap<K, V> = HashMap<K, V, BuildHasherDefault<RefHasher>>;
/// A set of references.
pub(crate) type RefSet<K> = HashSet<K, BuildHasherDefault<RefHasher>>;

/// Hash of text.
#[inline]
pub(crate) fn text_hash(text: &[u8]) -> u32 {
    let mut h = SEED ^ (text.len() as u64).wrapping_mul(MIX);
    let mut words = text.chunks_exact(8);
    for word in &mut words {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        h = fold(h ^ u64::from_le_bytes(bytes), MIX);
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        h = fold(h ^ u64::from_le_bytes(bytes), MIX);
    }
    h = fold(h ^ SEED, MIX);
    (h ^ (h >> 32)) as u32
}

/// Hash of a keyword from that of its name, so that looking a keyword up as a string hashes nothing.
#[inline]
pub(crate) fn keyword_hash(text_hash: u32) -> u32 {
    text_hash.rotate_left(13) ^ 0x9e37_79b9
}

impl Heap {
    /// Hash of a key, the same for keys that are [`exact`](Heap::exact). Looks at a bounded part.
    #[inline]
    pub fn key_hash(&self, v: Value) -> u32 {
        match v {
            Value::Str(r) => self.hash_of_text(r),
            Value::Keyword(r) => keyword_hash(self.hash_of_text(r)),
            Value::Int(n) => mix(1, n as u64),
            _ => self.other_hash(v),
        }
    }

    fn other_hash(&self, v: Value) -> u32 {
        match v {
            Value::Vector(_) | Value::Range(_) => self.deep_hash(v),
            _ => self.shallow_hash(v),
        }
    }

    /// Hash without following vectors into their items.
    fn shallow_hash(&self, v: Value) -> u32 {
        match v {
            Value::Str(_) | Value::Keyword(_) | Value::Int(_) => self.key_hash(v),
            Value::Nil => mix(2, 0),
            Value::False => mix(3, 0),
            Value::True => mix(3, 1),
            // 0.0 and -0.0 are one key.
            Value::Float(x) => mix(4, if x.get() == 0.0 { 0 } else { x.get().to_bits() }),
            Value::Day(n) => mix(5, n as u64),
            Value::Instant(n) => mix(6, n as u64),
            Value::Duration(n) => mix(7, n as u64),
            Value::Builtin(n) => mix(8, n),
            Value::Symbol(r) => mix(9, u64::from(self.hash_of_text(r))),
            Value::Var(r) => mix(10, u64::from(self.hash_of_text(r))),
            Value::Tool(r) => mix(11, u64::from(self.hash_of_text(r))),
            Value::Regex(r) => mix(12, u64::from(self.hash_of_text(r))),
            Value::Big(r) => {
                let limbs = self.big_limbs(r);
                limbs.iter().fold(13, |h, limb| match limb {
                    Value::Int(n) => mix(u64::from(h), *n as u64),
                    _ => h,
                })
            }
            Value::Vector(_) | Value::Range(_) => mix(14, self.seq_len(v) as u64),
            Value::Map(r) => self.map_hash(r),
            Value::Set(r) => self.set_hash(r),
            // Not by address: the collector moves closures. Not by module: numbers differ by run.
            Value::Closure(r) => mix(15, u64::from(self.closure_code(r).1)),
            _ => 0,
        }
    }

    /// The hash of a part of an unordered collection, which must not depend on the parts of it
    /// that are unordered themselves.
    fn part_hash(&self, v: Value) -> u64 {
        u64::from(match v {
            Value::Map(r) => mix(16, self.map_len(r) as u64),
            Value::Set(r) => mix(17, self.set_len(r) as u64),
            _ => self.shallow_hash(v),
        })
    }

    fn map_hash(&self, r: Ref) -> u32 {
        let len = self.map_len(r);
        let mut sum = len as u64;
        if len <= REACH {
            let mut cursor = 0;
            while let Some((key, value, next)) = self.map_next(r, cursor) {
                sum = sum.wrapping_add(fold(self.part_hash(key) ^ SEED, self.part_hash(value) ^ MIX));
                cursor = next;
            }
        }
        mix(18, sum)
    }

    fn set_hash(&self, r: Ref) -> u32 {
        let len = self.set_len(r);
        let mut sum = len as u64;
        if len <= REACH {
            let mut cursor = 0;
            while let Some((item, next)) = self.set_next(r, cursor) {
                sum = sum.wrapping_add(fold(self.part_hash(item) ^ SEED, MIX));
                cursor = next;
            }
        }
        mix(19, sum)
    }

    /// Hash of a vector by its first items, depth first. Where it stops depends on lengths only,
    /// so equal vectors hash alike.
    fn deep_hash(&self, v: Value) -> u32 {
        let mut hash = 20;
        let mut left = REACH;
        let mut todo: SmallVec<[Value; 8]> = smallvec![v];
        while let Some(v) = todo.pop() {
            hash = mix(u64::from(hash), u64::from(self.shallow_hash(v)));
            if left == 0 {
                break;
            }
            left -= 1;
            if matches!(v, Value::Vector(_) | Value::Range(_)) {
                let n = self.seq_len(v).min(left);
                todo.extend((0..n).rev().filter_map(|i| self.seq_get(v, i)));
            }
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_hashes_are_pinned() {
        // Stored in snapshots and frozen spaces: changing the function invalidates those.
        assert_eq!(text_hash("".as_bytes()), text_hash("".as_bytes()));
        assert_ne!(text_hash("a".as_bytes()), text_hash("b".as_bytes()));
        assert_ne!(text_hash("a\0".as_bytes()), text_hash("a".as_bytes()));
        assert_ne!(text_hash("12345678".as_bytes()), text_hash("123456780".as_bytes()));
    }

    #[test]
    fn equal_keys_hash_alike() {
        let mut heap = Heap::unbounded();
        let range = heap.new_range(0, 3, 1).unwrap();
        let vector = heap.new_vec(&[Value::Int(0), Value::Int(1), Value::Int(2)]).unwrap();
        assert_eq!(heap.key_hash(range), heap.key_hash(vector));
        assert_eq!(heap.key_hash(Value::float(0.0)), heap.key_hash(Value::float(-0.0)));
        let ab = heap.new_map(&[Value::Int(1), Value::Nil, Value::Int(2), vector]).unwrap();
        let ba = heap.new_map(&[Value::Int(2), range, Value::Int(1), Value::Nil]).unwrap();
        assert_eq!(heap.key_hash(ab), heap.key_hash(ba));
    }
}
