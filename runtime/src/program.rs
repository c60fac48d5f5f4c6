//! A compiled program, ready to run any number of times on any thread.

use crate::prelude::{Attached, Surroundings};
use crate::turn::TurnHost;
use ptc_bytecode::{Artifact, Diagnostic};
use ptc_compiler::{DataRead, Reads};
use ptc_vm::Module;
use std::any::Any;
use std::sync::Arc;

/// Source text and the code compiled from it.
#[derive(Clone)]
pub struct Program {
    source: Arc<str>,
    module: Arc<Module>,
    /// Granted data its source names.
    data: Arc<[DataRead]>,
    /// Fields it looks up.
    reads: Arc<Reads>,
    /// Warnings of compiling it; None for most programs, which then cost no allocation.
    warnings: Option<Arc<[Diagnostic]>>,
    /// Prelude it was compiled for, and the other sources of lookups.
    surroundings: Option<Arc<Surroundings>>,
    compile_fuel: u64,
}

impl Program {
    pub(crate) fn new(
        source: &str,
        module: Arc<Module>,
        data: Vec<DataRead>,
        reads: Reads,
        surroundings: Option<Arc<Surroundings>>,
        compile_fuel: u64,
    ) -> Program {
        Program {
            source: source.into(),
            module,
            data: data.into(),
            reads: Arc::new(reads),
            warnings: None,
            surroundings,
            compile_fuel,
        }
    }

    /// Sets the warnings of compiling it.
    pub(crate) fn with_warnings(self, warnings: Vec<Diagnostic>) -> Program {
        Program { warnings: (!warnings.is_empty()).then(|| warnings.into()), ..self }
    }

    /// Adds warnings.
    pub(crate) fn warned(self, more: Vec<Diagnostic>) -> Program {
        if more.is_empty() {
            return self;
        }
        // A slip in the data it reads matters more than one in its text.
        let all = more.into_iter().chain(self.warnings().iter().cloned()).collect();
        self.with_warnings(all)
    }

    /// Returns the warnings about the source, in the order of the text. Every result of the program carries them.
    ///
    /// ```
    /// use ptc_runtime::{Code, Grants, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(+ 1 2))")?;
    /// let warning = &program.warnings()[0];
    /// assert_eq!(warning.code, Code::SurplusBracket);
    /// assert_eq!(warning.place(program.source()).unwrap().column, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings(&self) -> &[Diagnostic] {
        self.warnings.as_deref().unwrap_or_default()
    }

    /// Returns the `limits.compile_fuel` it took to compile: equal for equal source, names in scope and options. 0
    /// for a program out of a snapshot, which is compiled already.
    pub fn compile_fuel(&self) -> u64 {
        self.compile_fuel
    }

    /// Returns the granted data its source names; empty for a program out of a snapshot, which has started already.
    pub(crate) fn data(&self) -> &[DataRead] {
        &self.data
    }

    /// Returns the fields its source looks up; empty for a program out of a snapshot.
    pub(crate) fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Returns the text it was compiled from.
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// Returns the code.
    pub fn artifact(&self) -> &Artifact {
        self.module.artifact()
    }

    pub(crate) fn attached(&self) -> Option<&Arc<Attached>> {
        self.surroundings.as_ref()?.attached.as_ref()
    }

    /// Returns the surroundings that the natives of a run reach; the mission it is a turn of belongs to the run.
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
