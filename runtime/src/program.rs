//! A compiled program, ready to run any number of times on any thread.

use crate::prelude::{Attached, Surroundings};
use crate::turn::TurnHost;
use ptc_bytecode::Artifact;
use ptc_compiler::DataRead;
use ptc_vm::Module;
use std::any::Any;
use std::sync::Arc;

/// Source text and the code made from it.
#[derive(Clone)]
pub struct Program {
    source: Arc<str>,
    module: Arc<Module>,
    /// Granted data its source names.
    data: Arc<[DataRead]>,
    /// The prelude it was compiled for, and what else it may look up.
    surroundings: Option<Arc<Surroundings>>,
    compile_fuel: u64,
}

impl Program {
    pub(crate) fn new(
        source: &str,
        module: Arc<Module>,
        data: Vec<DataRead>,
        surroundings: Option<Arc<Surroundings>>,
        compile_fuel: u64,
    ) -> Program {
        Program { source: source.into(), module, data: data.into(), surroundings, compile_fuel }
    }

    /// Units of `limits.compile_fuel` it took to compile: the same for the same source, names in scope and
    /// options. 0 for one that came out of a snapshot, compiled already.
    pub fn compile_fuel(&self) -> u64 {
        self.compile_fuel
    }

    /// Granted data its source names; nothing for a program out of a snapshot, which has started already.
    pub(crate) fn data(&self) -> &[DataRead] {
        &self.data
    }

    /// The text it was compiled from.
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// The code.
    pub fn artifact(&self) -> &Artifact {
        self.module.artifact()
    }

    pub(crate) fn attached(&self) -> Option<&Arc<Attached>> {
        self.surroundings.as_ref()?.attached.as_ref()
    }

    /// What the natives of a run reach; the mission it is a turn of is the run's own.
    pub(crate) fn surroundings(
        &self,
        turn: Option<&Arc<dyn TurnHost>>,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        let Some(turn) = turn else {
            return self.surroundings.clone().map(|surroundings| surroundings as Arc<dyn Any + Send + Sync>);
        };
        let known = self.surroundings.as_deref().cloned().unwrap_or_default();
        Some(Arc::new(Surroundings { turn: Some(turn.clone()), ..known }))
    }

    pub(crate) fn module(&self) -> &Arc<Module> {
        &self.module
    }
}
