//! What traces hold, what they never hold, and what becomes of files of any content.
#![allow(missing_docs)]

mod events;
mod files;
mod reading;
mod sample;
