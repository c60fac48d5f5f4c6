//! Benchmark programs, by topic.

/// Program with many function calls.
pub const FIB: &str = include_str!("../programs/fib.clj");
/// Program with arithmetic in a loop.
pub const LOOP: &str = include_str!("../programs/loop.clj");
/// Program that creates functions and calls each once.
pub const CLOSURES: &str = include_str!("../programs/closures.clj");
/// Program with a map that grows and changes.
pub const ASSOC: &str = include_str!("../programs/assoc.clj");
/// Program with a vector that grows.
pub const CONJ: &str = include_str!("../programs/conj.clj");
/// Program with nested maps, sets, and merging.
pub const MAPS: &str = include_str!("../programs/maps.clj");
/// Program that joins, splits, parses and searches text.
pub const STRINGS: &str = include_str!("../programs/strings.clj");
/// Program with the four ways to sort.
pub const SORT: &str = include_str!("../programs/sort.clj");
/// Program with numbers that go through three loops.
pub const SQUARES: &str = include_str!("../programs/squares.clj");
/// Program that filters, groups, sums and sorts; reads `data/orders`.
pub const PIPELINE: &str = include_str!("../programs/pipeline.clj");
/// Program that groups by two keys, summarises and partitions; reads `data/orders`.
pub const GROUP: &str = include_str!("../programs/group.clj");
/// Program that finds the most frequent words; reads `data/text`.
pub const WORDS: &str = include_str!("../programs/words.clj");
/// Program that computes a score and a label; reads `data/row`.
pub const ROW: &str = include_str!("../programs/row.clj");
/// Program with 64 equal pieces of work.
pub const PMAP: &str = include_str!("../programs/pmap.clj");
/// Program of 40 lines: data, five functions, a report.
pub const REPORT: &str = include_str!("../programs/report.clj");
