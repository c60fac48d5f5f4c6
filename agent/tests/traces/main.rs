//! Traces: their content, secrets that must not be in them, and reading of arbitrary files.
#![allow(missing_docs)]

mod events;
mod exports;
mod files;
mod log;
mod missions;
mod reading;
mod sample;
