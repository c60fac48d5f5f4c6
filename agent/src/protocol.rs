//! Extraction of programs and JSON from replies of models.

mod json;
mod program;

pub use json::{JsonError, extract_json};
pub use program::{Found, MultipleBlocks, NoProgram, extract_program, has_whole_program};
