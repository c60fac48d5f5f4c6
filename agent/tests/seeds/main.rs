//! Each statement of the guides to agents and to signatures. `docs/agents/coverage.md` lists them.
#![allow(missing_docs)]

mod contracts;
mod coverage;
mod definitions;
mod missions;
mod models;
mod modes;
mod prompts;
mod replies;
mod templates;
mod traces;
