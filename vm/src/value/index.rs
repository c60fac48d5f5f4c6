//! Hash tables of large maps and sets.
