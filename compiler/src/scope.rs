//! Scope: the names a program may use besides its own locals, definitions and the builtins.

use crate::interface::Interface;
use crate::testing::TestPart;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The names the host grants one compilation. Sets are ordered, so that messages listing names are equal on every
/// machine.
///
/// ```
/// use ptc_compiler::Scope;
/// let scope = Scope::default().with_defs(["total"]).with_tools(["search"]);
/// assert!(scope.has_def("total") && scope.has_tool("search") && !scope.has_tool("delete"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scope {
    /// Names defined by earlier turns; all of them have a value.
    pub defs: BTreeSet<Box<str>>,
    /// Granted tools; None if names of tools are not checked.
    pub tools: Option<BTreeSet<Box<str>>>,
    /// Tools that only preludes may call.
    pub private_tools: BTreeSet<Box<str>>,
    /// Tasks whose values are stored: their bodies do not run again.
    pub done_tasks: BTreeSet<Box<str>>,
    /// Exports of the attached preludes.
    pub interface: Option<Arc<Interface>>,
    /// Part of a test file being compiled; None for programs, which do not know the forms of tests.
    pub test: Option<TestPart>,
}

impl Scope {
    /// Adds names defined by earlier turns.
    #[must_use]
    pub fn with_defs(mut self, names: impl IntoIterator<Item = impl Into<Box<str>>>) -> Scope {
        self.defs.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds granted tools; from then on no others may be named.
    #[must_use]
    pub fn with_tools(mut self, names: impl IntoIterator<Item = impl Into<Box<str>>>) -> Scope {
        self.tools.get_or_insert_default().extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds granted tools that the program itself may not name, only prelude functions it calls.
    #[must_use]
    pub fn with_private_tools(mut self, names: impl IntoIterator<Item = impl Into<Box<str>>>) -> Scope {
        self.private_tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds tasks that are done: `(task "id" …)` at the top of a program may then name tools that are gone.
    #[must_use]
    pub fn with_done_tasks(mut self, ids: impl IntoIterator<Item = impl Into<Box<str>>>) -> Scope {
        self.done_tasks.extend(ids.into_iter().map(Into::into));
        self
    }

    /// Adds the exports of preludes.
    #[must_use]
    pub fn with_interface(mut self, interface: Option<Arc<Interface>>) -> Scope {
        self.interface = interface;
        self
    }

    /// Makes it the scope of a part of a test file.
    #[must_use]
    pub fn with_test(mut self, part: TestPart) -> Scope {
        self.test = Some(part);
        self
    }

    /// True if an earlier turn defined `name`.
    pub fn has_def(&self, name: &str) -> bool {
        !self.defs.is_empty() && self.defs.contains(name)
    }

    /// True if the program may name the tool.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.contains(name))
    }

    /// True if a prelude function the program calls may call the tool.
    pub fn has_tool_for_preludes(&self, name: &str) -> bool {
        self.has_tool(name) || self.private_tools.contains(name)
    }
}
