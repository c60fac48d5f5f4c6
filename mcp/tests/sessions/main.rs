//! Sessions without a transport: answers of the tools, and what is kept for which owner.
#![allow(missing_docs)]

mod commits;
mod lifecycle;
mod limits;
mod log;
mod owners;
mod preludes;
mod servers;
mod tools;
mod world;
