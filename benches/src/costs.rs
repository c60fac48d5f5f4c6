//! Attacks on prices: every builtin with arguments of every kind and size, to find how much work a unit of fuel buys.
//!
//! A limit on fuel limits time only if no operation does much more work per unit than the others. `suite` runs
//! the cells generated here and fails for one that costs too much.

pub mod cell;
pub mod measure;
pub mod palette;
pub mod sources;
pub mod suite;
