//! Policies: rules for every prelude of a host, as settings and files state them.

use super::{Keep, Prelude};
use ptc_bytecode::{Code, Diagnostic, ExportRecord, is_definition_name, is_namespace_name, nearest};
use serde::{Deserialize, Serialize};

/// Rules for all preludes of a runtime: see [`Runtime::policy`](crate::Runtime::policy). They only ever show less than the
/// preludes do. Names are `crm/remove`, `crm/get-*` for all that begin like this, or `crm` for a whole namespace.
///
/// ```
/// use ptc_runtime::{Attach, Policy, Prelude, Runtime};
/// let policy = Policy { hide: vec!["crm/rem*".into()], ..Policy::default() };
/// let runtime = Runtime::with_core(ptc_preludes::core())?.policy(policy)?;
/// let crm = Prelude::compile(&runtime, "(ns crm) (defn find [id] id) (defn remove [id] id)")?;
/// let runtime = runtime.attach(&crm, &Attach::new())?;
/// assert!(runtime.eval("(crm/find 1)", &Default::default()).is_ok());
/// assert!(runtime.eval("(crm/remove 1)", &Default::default()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Exports hidden from programs. Preludes that use them still may.
    pub hide: Vec<String>,
    /// Exports left out of prompts, but found by discovery.
    pub discoverable: Vec<String>,
    /// True to hide every export that may write: see [`Attach::hide_writes`](crate::Attach::hide_writes).
    pub hide_writes: bool,
    /// True to refuse preludes that may call any upstream operation: see
    /// [`Attach::deny_dynamic`](crate::Attach::deny_dynamic).
    pub deny_dynamic: bool,
}

impl Policy {
    /// Combines two policies: exports that either hides are hidden.
    #[must_use]
    pub fn and(&self, other: &Policy) -> Policy {
        let both = |a: &[String], b: &[String]| {
            a.iter().chain(b.iter().filter(|name| !a.contains(name))).cloned().collect()
        };
        Policy {
            hide: both(&self.hide, &other.hide),
            discoverable: both(&self.discoverable, &other.discoverable),
            hide_writes: self.hide_writes || other.hide_writes,
            deny_dynamic: self.deny_dynamic || other.deny_dynamic,
        }
    }

    /// Fails if a name cannot be that of an export.
    pub fn check(&self) -> Result<(), Diagnostic> {
        match self.names().find(|name| !is_pattern(name)) {
            None => Ok(()),
            Some(name) => {
                let message =
                    format!("the policy for preludes names `{name}`, which is not the name of an export");
                Err(wrong(message).hint("write crm/remove, crm/get-* or crm"))
            }
        }
    }

    /// Fails if a name matches no export of these preludes: a rule without effect was misspelled.
    ///
    /// ```
    /// use ptc_runtime::{Policy, Prelude, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let crm = Prelude::compile(&runtime, "(ns crm) (defn remove [id] id)")?;
    /// let policy = Policy { hide: vec!["crm/remov".into()], ..Policy::default() };
    /// let problem = policy.check_used([&crm].into_iter()).unwrap_err();
    /// assert_eq!(problem.hint.as_deref(), Some("did you mean `crm/remove`?"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_used<'p>(&self, preludes: impl Iterator<Item = &'p Prelude>) -> Result<(), Diagnostic> {
        if self.hide.is_empty() && self.discoverable.is_empty() {
            return Ok(());
        }
        let exports: Vec<String> =
            preludes.flat_map(|prelude| prelude.exports().iter().map(ExportRecord::reference)).collect();
        let is_idle = |name: &&str| !exports.iter().any(|export| fits(name, export));
        let Some(idle) = self.names().find(is_idle) else { return Ok(()) };
        let problem =
            wrong(format!("the policy for preludes names `{idle}`, which no attached prelude exports"));
        Err(match nearest(idle, exports.iter().map(|name| &**name)) {
            Some(near) => problem.hint(format!("did you mean `{near}`?")),
            None => problem.hint("attach the prelude that has it, or drop the rule"),
        })
    }

    /// Returns the visibility left to an export.
    pub(super) fn keep(&self, export: &ExportRecord) -> Keep {
        let name = export.reference();
        let is_in = |names: &[String]| names.iter().any(|pattern| fits(pattern, &name));
        match () {
            _ if is_in(&self.hide) => Keep::Hide,
            _ if is_in(&self.discoverable) => Keep::Discoverable,
            _ => Keep::Keep,
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.hide.iter().chain(&self.discoverable).map(|name| &**name)
    }
}

/// True if a pattern names this export, or a prefix of it.
fn fits(pattern: &str, export: &str) -> bool {
    let Some((space, symbol)) = export.split_once('/') else { return false };
    match pattern.split_once('/') {
        None => pattern == space,
        Some((of, wanted)) => {
            let begins = wanted.strip_suffix('*').is_some_and(|start| symbol.starts_with(start));
            of == space && (begins || wanted == symbol)
        }
    }
}

fn is_pattern(name: &str) -> bool {
    match name.split_once('/') {
        None => is_namespace_name(name),
        Some((space, "*")) => is_namespace_name(space),
        Some((space, symbol)) => is_namespace_name(space) && is_definition_name(symbol),
    }
}

fn wrong(message: String) -> Diagnostic {
    Diagnostic::without_span(Code::InvalidConfig, message)
}
