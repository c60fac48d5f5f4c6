//! Tests of the authoring guide that need neither an agent nor a server, and one for each row of its troubleshooting
//! table. `docs/preludes/coverage.md` lists them.

mod calling;
mod finding;
mod requiring;
mod showing;
mod storing;
mod troubles;
