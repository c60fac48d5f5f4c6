//! What traces hold, what they never hold, and what becomes of files of any content.
#![allow(missing_docs)]

mod events;
mod exports;
mod files;
mod log;
mod missions;
mod reading;
mod sample;
