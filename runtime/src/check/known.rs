//! The data known before a run, and the findings of the checks.

use crate::prelude::Upstream;
use crate::shape::ToolShape;
use crate::tools::Tools;
use ptc_bytecode::{Diagnostic, ToolName};
use ptc_compiler::reads::Step;
use ptc_vm::{Frozen, is_data_name};
use std::collections::BTreeMap;

/// The findings of the checks.
#[derive(Default)]
pub(crate) struct Found {
    /// Errors: the program must not run.
    pub errors: Vec<Diagnostic>,
    /// Warnings: the program may be wrong.
    pub warnings: Vec<Diagnostic>,
}

/// The data known when a program starts.
pub(crate) struct Known<'k> {
    pub data: &'k [(String, Frozen)],
    pub definitions: Option<&'k BTreeMap<String, Frozen>>,
    pub tools: &'k Tools,
    pub upstream: Option<&'k dyn Upstream>,
}

impl<'k> Known<'k> {
    /// Returns the value a path begins with.
    pub fn value(&self, step: &Step) -> Option<&'k Frozen> {
        match step {
            Step::Data(name) => {
                let exact = self.data.iter().find(|(known, _)| **known == **name);
                let found = exact.or_else(|| self.data.iter().find(|(known, _)| is_data_name(known, name)));
                found.map(|(_, value)| value)
            }
            Step::Definition(name) => self.definitions?.get(&**name),
            _ => None,
        }
    }

    /// Returns the parameters and result of a tool.
    pub fn tool(&self, tool: &ToolName) -> Option<ToolShape> {
        match tool {
            ToolName::Named(name) => self.tools.shape_of(name),
            ToolName::Upstream { server, tool } => self.upstream?.tool_shape(server, tool),
        }
    }
}
