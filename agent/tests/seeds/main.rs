//! Each statement of the guides to agents and to signatures. `docs/agents/coverage.md` lists them.
#![allow(missing_docs)]

mod contracts;
mod modes;
mod replies;
mod templates;
