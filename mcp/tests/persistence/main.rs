//! Sessions that are kept in a folder: what comes back after a restart, and after a process died while it wrote.
#![allow(missing_docs)]

mod folder;
mod killed;
mod restart;
