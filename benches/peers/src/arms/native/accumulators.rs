//! The accumulator programs in Rust, with the same algorithms as in `progs/`.

mod grids;
mod numbers;
mod random;
mod records;
mod tables;

use crate::accumulators::programs;
use crate::bench::Bench;
use grids::{bfs_grid, grid_paths, n_queens};
use numbers::{coin_change, collatz, counting_sort, sieve};
use records::{json_rewrite, lru_cache, tokenizer};
use std::hint::black_box;
use tables::{edit_distance, matrix_product, union_find};

/// Measures all programs.
pub fn run(b: &Bench) {
    for (name, program) in programs!(functions) {
        b.time(name, || black_box(program)());
    }
}
