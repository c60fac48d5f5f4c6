//! Language server of PTC-Lisp: the Language Server Protocol over standard input and output.
//!
//! Findings are those of `ptc check`, documentation is that of `ptc doc`, and the layout is that of `ptc fmt`: this crate
//! only speaks the protocol. The meaning of a name at a place comes from the compiler ([`ptc_compiler::names`]).
//!
//! An editor is not trusted more than a network: a message may be of any size and content, and a document any text.
//! Messages are limited in size before they are read, work on a document is limited as compiling is, and a mistake of
//! ours in one answer does not end the server.
#![forbid(unsafe_code)]

mod catalogue;
mod complete;
mod document;
mod findings;
mod fixes;
mod hover;
mod lines;
mod navigate;
mod neighbours;
mod project;
mod protocol;
mod rename;
mod server;
mod verdict;
mod wire;

pub use project::{Load, Project};
pub use server::serve;
pub use verdict::{of_prelude, of_program, with_preludes};
