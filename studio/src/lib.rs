//! Studio: pages on this machine to write and run programs, to read documentation, and to look through traces.
//!
//! The server listens on a loopback address only, and every address that it serves begins with a random token, so that
//! other users and pages cannot guess one. Requests that another site makes a browser send are refused by their `Host`,
//! `Origin` and `Sec-Fetch-Site`. The pages load nothing from anywhere else, and no text of a program, model or server
//! becomes part of their markup: scripts only ever write it as text, and the policy of the pages lets no other script run.
//!
//! [`trace::page`] is the page of one trace, which is also written to a file by `ptc trace view`.
#![forbid(unsafe_code)]

mod api;
mod guard;
mod server;
mod studio;
mod token;
pub mod trace;

pub use server::serve;
pub use studio::{Start, Studio};
pub use token::Token;
