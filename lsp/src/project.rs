//! The project: what all documents of an editor are checked with.

use crate::verdict::with_preludes;
use ptc_runtime::{Catalog, Diagnostic, Prelude, Runtime};

/// Loads the preludes that the command names; called again when one of them may have changed.
pub type Load = Box<dyn Fn() -> Result<Vec<Prelude>, Diagnostic> + Send>;

/// What all documents are checked with.
pub struct Project {
    /// With the core library and the limits, and no preludes.
    pub(crate) runtime: Runtime,
    /// With the preludes that programs may use.
    pub(crate) programs: Runtime,
    /// Preludes that other preludes may use.
    pub(crate) usable: Vec<Prelude>,
    /// The language, and what programs may use.
    pub(crate) catalog: Catalog,
    shipped: Vec<Prelude>,
    load: Load,
}

impl Project {
    /// Makes a project. Programs may use the preludes that `load` returns, and preludes also the `shipped` ones.
    pub fn new(runtime: Runtime, shipped: Vec<Prelude>, load: Load) -> Result<Project, Diagnostic> {
        let mut project = Project {
            programs: runtime.clone().without_tools(),
            catalog: runtime.catalog(),
            runtime,
            usable: shipped.clone(),
            shipped,
            load,
        };
        project.reload()?;
        Ok(project)
    }

    /// Loads the named preludes again; with an error, those from before stay.
    pub(crate) fn reload(&mut self) -> Result<(), Diagnostic> {
        let named = (self.load)()?;
        let programs =
            with_preludes(&self.runtime, &named).map_err(|failure| failure.diagnostic().clone())?;
        self.catalog = programs.catalog();
        self.programs = programs;
        self.usable = named.into_iter().chain(self.shipped.iter().cloned()).collect();
        Ok(())
    }
}
