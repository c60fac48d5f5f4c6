//! The studio itself: preludes, traces and what its page begins with.

use ptc_runtime::{Prelude, Runtime};
use std::path::PathBuf;

/// A studio: what its pages work with.
pub struct Studio {
    /// With the core library and the limits; programs run in it.
    pub runtime: Runtime,
    /// Preludes that programs may use, in the order in which they are attached.
    pub preludes: Vec<Prelude>,
    /// Further preludes whose documentation is shown.
    pub documented: Vec<Prelude>,
    /// Folder with traces, if there is one.
    pub traces: Option<PathBuf>,
    /// What the page begins with.
    pub start: Start,
}

/// The program and data that the page begins with.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Text of the program.
    pub program: String,
    /// Granted data as JSON text, by name.
    pub data: Vec<(String, String)>,
    /// Fixed results of tools as JSON text, by name.
    pub stubs: Vec<(String, String)>,
}
