//! Numbers that all languages compute with: a generator, a modulus and a checksum.

/// Modulus of counts that would grow without bound.
pub const MODULUS: i64 = 1_000_000_007;

/// Returns the next number of the generator that all languages use.
pub fn next_random(x: i64) -> i64 {
    (x * 1366 + 150_889) % 714_025
}

/// Returns the numbers of the generator; the seed is the first.
pub fn randoms(seed: i64) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(seed), |x| Some(next_random(*x)))
}

/// Returns a checksum that depends on the order of the numbers.
pub fn checksum(numbers: impl IntoIterator<Item = i64>) -> i64 {
    numbers.into_iter().fold(0, |check, x| (check * 31 + x) % 1_000_003)
}
