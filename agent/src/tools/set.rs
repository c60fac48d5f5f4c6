//! Sets of an agent's tools, by name.

use super::native::native_name;
use super::{Expose, Tool, ToolKind, Visibility};
use crate::definition::{BuildError, Reason};
use ptc_bytecode::{Datum, ToolName};
use ptc_contract::data::Tree;
use std::collections::{BTreeMap, HashSet};

/// Reserved names, which no tool may have: they end missions, or run programs.
pub const RESERVED: &[&str] = &["return", "fail", "lisp_eval"];

/// Tools by name, sorted.
#[derive(Clone, Debug, Default)]
pub struct ToolSet(BTreeMap<String, Tool>);

impl ToolSet {
    /// Adds a tool, replacing one of the same name.
    pub fn insert(&mut self, tool: Tool) {
        self.0.insert(tool.name.clone(), tool);
    }

    /// Offers these exports of preludes in place of those of an earlier mission.
    pub(crate) fn offer_exports(&mut self, exports: impl IntoIterator<Item = Tool>) {
        self.0.retain(|_, tool| !matches!(tool.kind, ToolKind::Export(_)));
        exports.into_iter().for_each(|tool| self.insert(tool));
    }

    /// Returns the names that are taken for models: those of the tools, of the data, and reserved ones.
    pub(crate) fn taken_names(&self, context: &Datum) -> HashSet<String> {
        let context = Tree::new(context);
        let keys = context.root().entries();
        let keys = keys.iter().filter_map(|(key, _)| key.name());
        let taken = self.iter().map(|tool| tool.name.as_str()).chain(keys);
        taken.chain(RESERVED.iter().copied()).chain([ToolName::CALL]).map(native_name).collect()
    }

    /// Returns the tool of that name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.0.get(name)
    }

    /// Iterates over all tools, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.0.values()
    }

    /// Returns the tool that providers know by this name.
    pub fn native_named(&self, name: &str) -> Option<&Tool> {
        self.get(name).or_else(|| self.iter().find(|tool| native_name(&tool.name) == name))
    }

    /// Returns whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Iterates over the public tools that programs may call in an agent with this output.
    pub fn in_programs(&self, is_text: bool) -> impl Iterator<Item = &Tool> {
        self.public().filter(move |tool| tool.effective_expose(is_text).is_in_programs())
    }

    /// Iterates over the tools that models are offered in an agent with this output.
    pub fn native(&self, is_text: bool) -> impl Iterator<Item = &Tool> {
        self.public().filter(move |tool| tool.effective_expose(is_text).is_native())
    }

    /// Iterates over the tools that models and programs may know of.
    pub(super) fn public(&self) -> impl Iterator<Item = &Tool> {
        self.iter().filter(|tool| tool.visibility == Visibility::Public)
    }

    /// Returns an error if a tool has a reserved name, which is its key.
    pub(crate) fn check_reserved(&self) -> Option<BuildError> {
        let name = RESERVED.iter().find(|name| self.0.contains_key(**name))?;
        let message = format!(
            "a tool cannot be called `{name}`: `return`, `fail` and `lisp_eval` are the system's own; rename it"
        );
        Some(BuildError::new(Reason::ReservedToolName, message).under(&[name]))
    }

    /// Returns the problems of all tools and their names. The first key of each is the name of a tool.
    pub(crate) fn check(&self) -> Vec<BuildError> {
        let mut problems = Vec::new();
        let mut native: BTreeMap<String, &str> = BTreeMap::new();
        for tool in self.iter() {
            if !is_tool_name(&tool.name) {
                let shown: String = tool.name.chars().take(60).collect();
                let message = format!(
                    "`{shown}` is not a name for a tool: letters, digits, `_`, `-` and `.`, the first a letter or `_`"
                );
                problems.push(BuildError::new(Reason::InvalidTool, message).under(&[&tool.name]));
            }
            problems.extend(tool.check().err().map(|error| error.under(&[&tool.name])));
            if tool.expose == Some(Expose::PtcLisp) || tool.visibility == Visibility::Private {
                continue;
            }
            if let Some(other) = native.insert(native_name(&tool.name), &tool.name) {
                let message = format!(
                    "the tools `{other}` and `{}` have the same name for providers; rename one",
                    tool.name
                );
                problems.push(BuildError::new(Reason::InvalidTool, message).under(&[&tool.name]));
            }
        }
        problems
    }
}

impl FromIterator<Tool> for ToolSet {
    fn from_iter<I: IntoIterator<Item = Tool>>(tools: I) -> ToolSet {
        let mut set = ToolSet::default();
        tools.into_iter().for_each(|tool| set.insert(tool));
        set
    }
}

/// Returns whether programs can write `tool/name`.
fn is_tool_name(name: &str) -> bool {
    let mut chars = name.chars();
    name.len() <= 128
        && chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
