//! What a model is told: the system message, the first user message, and how much of data is shown.

mod limits;
mod untrusted;

pub use limits::{FormatOptions, MissionLogIn, PromptLimit};
pub use untrusted::{NOTICE, Source, untrusted};
