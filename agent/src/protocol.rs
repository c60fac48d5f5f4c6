//! What a model's reply holds: a program, or JSON.

mod json;
mod program;

pub use json::{JsonError, extract_json};
pub use program::{Found, MultipleBlocks, NoProgram, extract_program, has_whole_program};
