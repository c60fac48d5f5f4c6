//! The accumulator programs in Rust, with the same algorithms as in `progs/`.

mod grids;
mod numbers;
mod records;
mod tables;

use crate::accumulators::programs;
use crate::bench::Bench;
use grids::{bfs_grid, grid_paths, n_queens};
use numbers::{coin_change, collatz, counting_sort, sieve};
use records::{json_rewrite, lru_cache, tokenizer};
use std::hint::black_box;
use tables::{edit_distance, matrix_product, union_find};

/// Modulus of counts that would grow without bound.
const MODULUS: i64 = 1_000_000_007;

/// Measures all programs.
pub fn run(b: &Bench) {
    for (name, program) in programs!(functions) {
        b.time(name, || black_box(program)());
    }
}

/// Returns the next number of the generator that all languages use.
fn next_random(x: i64) -> i64 {
    (x * 1366 + 150_889) % 714_025
}

/// Returns the numbers of the generator; the seed is the first.
fn randoms(seed: i64) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(seed), |x| Some(next_random(*x)))
}

/// Returns a checksum that depends on the order of the numbers.
fn checksum(numbers: impl IntoIterator<Item = i64>) -> i64 {
    numbers.into_iter().fold(0, |check, x| (check * 31 + x) % 1_000_003)
}
