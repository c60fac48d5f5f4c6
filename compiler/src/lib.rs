//! Source text → artifact: reads forms, expands and resolves them, lowers them to bytecode.
#![forbid(unsafe_code)]

mod duplicate;
pub mod expand;
mod form;
mod lexer;
mod literal;
mod parse;
pub mod suggest;
mod token;

pub use form::{Form, FormKind, Special};
pub use parse::parse;
