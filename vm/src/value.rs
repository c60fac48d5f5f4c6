//! Values of every kind: layout, construction, access, comparison, hashing and printing.
//!
//! All of it is methods of [`Heap`](crate::heap::Heap), by topic in the files below. Nothing here recurses on data,
//! since data may be nested deeper than a Rust stack.

mod base;
mod builder;
mod children;
mod closure;
mod endless;
mod equal;
mod exception;
mod handle;
mod hash;
mod index;
mod map;
mod merge;
mod noted;
mod number;
mod order;
mod owned;
mod print;
mod remember;
mod repr;
mod seq;
mod set;
mod sorted;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod trie;
mod unknown;
mod vector;
mod veil;

pub(crate) use base::base_objects;
pub(crate) use closure::{captures_of, closure_head};
pub(crate) use handle::share_all;
pub(crate) use hash::{PART_STEPS, RefMap, RefSet};
pub use index::ENTER_STEPS;
pub(crate) use index::{SMALL, map_cells, set_cells};
pub use merge::merge_sort;
pub(crate) use number::MOST_DIGITS;
pub(crate) use remember::{FieldName, KeyCache, ShapeCache};
pub(crate) use repr::Two;
pub use repr::{CELL_BYTES, FIREWALLED, Float, Ref, Value, is_firewalled};
pub use state::StateKind;
pub use text::{CHAR_STEPS, TextKind, TextWriter};
pub(crate) use text::{comparing_steps, moved_text};
