//! The programs, by what they are about.

/// Calls.
pub const FIB: &str = include_str!("../programs/fib.clj");
/// Arithmetic in a loop.
pub const LOOP: &str = include_str!("../programs/loop.clj");
/// Functions made and called once.
pub const CLOSURES: &str = include_str!("../programs/closures.clj");
/// A map that grows and changes.
pub const ASSOC: &str = include_str!("../programs/assoc.clj");
/// A vector that grows.
pub const CONJ: &str = include_str!("../programs/conj.clj");
/// Nested maps, sets, and merging.
pub const MAPS: &str = include_str!("../programs/maps.clj");
/// Joining, splitting, parsing and searching text.
pub const STRINGS: &str = include_str!("../programs/strings.clj");
/// The four ways to sort.
pub const SORT: &str = include_str!("../programs/sort.clj");
/// Filter, group, sum and sort; reads `data/orders`.
pub const PIPELINE: &str = include_str!("../programs/pipeline.clj");
/// Group by two keys, summarise, partition; reads `data/orders`.
pub const GROUP: &str = include_str!("../programs/group.clj");
/// The most frequent words; reads `data/text`.
pub const WORDS: &str = include_str!("../programs/words.clj");
/// A score and a label; reads `data/row`.
pub const ROW: &str = include_str!("../programs/row.clj");
/// 64 equal pieces of work.
pub const PMAP: &str = include_str!("../programs/pmap.clj");
/// 40 lines: data, five functions, a report.
pub const REPORT: &str = include_str!("../programs/report.clj");
