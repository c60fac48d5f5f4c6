//! Sessions without a transport: what the tools answer, what is kept, and for whom.
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
