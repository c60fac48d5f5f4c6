//! Sessions kept in a folder: restored after a restart, and after a process died while writing.
#![allow(missing_docs)]

mod folder;
mod killed;
mod restart;
