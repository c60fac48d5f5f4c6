//! Source text → artifact: reads forms, expands and resolves them, lowers them to bytecode.
#![forbid(unsafe_code)]

mod duplicate;
#[allow(dead_code)]
mod expand;
mod form;
mod lexer;
mod literal;
mod parse;
mod token;

pub use form::{Form, FormKind, Special};
pub use parse::parse;
