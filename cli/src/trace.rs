//! Traces, for people: as text. The page is in `ptc-studio`.

pub mod text;
