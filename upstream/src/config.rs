//! The configuration of servers.

mod settings;

pub use settings::{HttpSettings, OpenApiSettings, Override, Schema, StdioSettings};
