//! The data behind the servers: a shop for tea, the people who build it, and what they have written down.
//! Everything is generated from fixed seeds, except the texts that people are meant to have written.

pub mod files;
pub mod graph;
pub mod history;
pub mod ledger;
pub mod world;

use std::path::Path;

/// Where all data is. The path is the same on every machine because it is part of what is counted.
pub const ROOT: &str = "/tmp/ptc-tokens";

/// Writes everything anew that is in files; the database is filled by its own server.
pub fn create() -> std::io::Result<()> {
    let root = Path::new(ROOT);
    if root.exists() {
        std::fs::remove_dir_all(root)?;
    }
    std::fs::create_dir_all(root)?;
    files::create(&root.join("files"))?;
    history::create(&root.join("repo"))?;
    graph::create(&root.join("memory.jsonl"))
}
