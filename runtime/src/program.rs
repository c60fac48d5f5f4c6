//! A compiled program, ready to run any number of times on any thread.

use ptc_bytecode::Artifact;
use ptc_vm::Module;
use std::sync::Arc;

/// Source text and the code made from it.
#[derive(Clone)]
pub struct Program {
    source: Arc<str>,
    module: Arc<Module>,
}

impl Program {
    pub(crate) fn new(source: &str, module: Arc<Module>) -> Program {
        Program { source: source.into(), module }
    }

    /// The text it was compiled from.
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// The code.
    pub fn artifact(&self) -> &Artifact {
        self.module.artifact()
    }

    pub(crate) fn module(&self) -> &Arc<Module> {
        &self.module
    }
}
