//! Each statement of the guide to signatures. `docs/agents/coverage.md` lists them.
#![allow(missing_docs)]

mod contracts;
mod modes;
mod templates;
