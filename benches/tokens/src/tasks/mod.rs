//! The tasks. Each has a question, the calls that a competent model makes directly, and programs that a competent
//! model writes; both see nothing but the question and what came back before.
//!
//! Scripts of direct calls use the tools that need the fewest tokens, with filters and large pages, and call side by side
//! whatever does not depend on each other. What they compute in Rust, a model has to do in its head: `head` says what.

mod files;
mod forge;
mod git;
mod memory;
mod several;
mod shop;
mod sqlite;
mod task;
mod time;

pub use task::Task;

/// All tasks.
pub fn all() -> Vec<Task> {
    [
        files::all(),
        git::all(),
        sqlite::all(),
        time::all(),
        memory::all(),
        forge::all(),
        shop::all(),
        several::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
