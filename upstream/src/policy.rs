//! What the operator allows of a server: which tools, how often, how long, and which results are kept for a while.

pub(crate) mod cache;
pub(crate) mod rate;

use crate::glob::{is_pattern, matches};
use ptc_bytecode::nearest;
pub use rate::Rate;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Rules for the tools of one server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Policy {
    /// Names or patterns of the tools that programs may see; None if all.
    pub allow: Option<Vec<String>>,
    /// Names or patterns of tools that programs never see.
    pub deny: Vec<String>,
    /// Limits of all tools.
    pub limits: ToolLimits,
    /// Limits of single tools, in addition to those of the server, or instead of them.
    pub tools: BTreeMap<String, ToolLimits>,
}

/// Limits for the calls of one tool, or of all tools of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ToolLimits {
    /// Time limit for one call, instead of the limit for all servers.
    pub timeout: Option<Duration>,
    /// Maximum rate of calls.
    pub rate: Option<Rate>,
    /// Time for which results of tools that only read are kept.
    pub cache: Option<Duration>,
}

impl Policy {
    /// Returns whether programs may see a tool. What is denied is denied, even if it is allowed, too.
    pub(crate) fn admits(&self, tool: &str) -> bool {
        let is_in = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, tool));
        self.allow.as_ref().is_none_or(|allow| is_in(allow)) && !is_in(&self.deny)
    }

    /// Returns the time limit for a call of a tool.
    pub(crate) fn timeout(&self, tool: &str) -> Option<Duration> {
        self.tools.get(tool).and_then(|own| own.timeout).or(self.limits.timeout)
    }

    /// Returns how long results of a tool are kept.
    pub(crate) fn cache(&self, tool: &str) -> Option<Duration> {
        self.tools.get(tool).and_then(|own| own.cache).or(self.limits.cache)
    }

    /// Returns the names and patterns that fit none of these tools: a misspelt one would allow or deny nothing.
    pub(crate) fn idle(&self, tools: &BTreeSet<&str>) -> Vec<String> {
        let lists = [("allow", self.allow.as_deref().unwrap_or_default()), ("deny", &self.deny[..])];
        let mut idle = Vec::new();
        for (list, patterns) in lists {
            for pattern in patterns.iter().filter(|pattern| !tools.iter().any(|tool| matches(pattern, tool)))
            {
                let near = if is_pattern(pattern) { None } else { nearest(pattern, tools.iter().copied()) };
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                idle.push(format!("has no tool '{pattern}', which `{list}` names{hint}"));
            }
        }
        idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_denied_is_denied() {
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let policy = Policy {
            allow: Some(list(&["get_*", "list_*"])),
            deny: list(&["*_secret", "list_keys"]),
            ..Policy::default()
        };
        for (tool, is_seen) in [
            ("get_user", true),
            ("list_users", true),
            ("list_keys", false),
            ("get_secret", false),
            ("delete_user", false),
        ] {
            assert_eq!(policy.admits(tool), is_seen, "{tool}");
        }
        assert!(Policy::default().admits("anything"));
        assert!(!Policy { allow: Some(Vec::new()), ..Policy::default() }.admits("anything"));
        let idle = policy.idle(&BTreeSet::from(["get_user", "list_key"]));
        assert_eq!(
            idle,
            [
                "has no tool '*_secret', which `deny` names",
                "has no tool 'list_keys', which `deny` names; did you mean `list_key`?"
            ]
        );
    }
}
