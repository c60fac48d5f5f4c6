//! Policies in JSON about calls that may change something: rules with patterns of tools and predicates on arguments.

use crate::effects::{Decision, Policy};
use crate::host::{Grants, Runtime};
use crate::program::Program;
use crate::tools::Tools;
use ptc_bytecode::Limits;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;

/// Maximum number of rules.
const MAX_RULES: usize = 1_000;

/// Rules about calls that may change something. The first rule that fits decides; without one, the default does, which is to
/// ask. A rule fits if its pattern matches the name of the tool, where `*` stands for any text, and its predicate holds: a
/// program that reads `data/args` and `data/tool`, without tools and with small limits. A predicate that fails, or gives
/// something else than true, false or nil, decides nothing: a person is asked.
///
/// ```
/// use ptc_runtime::{PolicyRules, Runtime, effects::{Decision, Policy}};
/// use serde_json::json;
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let policy = PolicyRules::from_json(r#"{"rules": [
///     {"tool": "bank.pay", "when": "(<= (:eur data/args) 50)", "decide": "allow"},
///     {"tool": "bank.*", "decide": "ask", "edit": ["eur"]},
///     {"tool": "admin.*", "decide": "deny", "because": "not from programs"}
/// ]}"#, &runtime).unwrap();
/// let ask = |names: &[&str]| Decision::Ask { editable: names.iter().map(|name| name.to_string()).collect() };
/// assert_eq!(policy.decide("bank.pay", &json!({"eur": 5})), Decision::Allow);
/// assert_eq!(policy.decide("bank.pay", &json!({"eur": 500})), ask(&["eur"]));
/// assert_eq!(policy.decide("bank.pay", &json!({"eur": "5"})), ask(&["eur"]));
/// assert_eq!(policy.decide("admin.wipe", &json!({})), Decision::Deny("not from programs".to_string()));
/// assert_eq!(policy.decide("mail", &json!({})), ask(&[]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PolicyRules {
    rules: Vec<Rule>,
    default: Word,
    runtime: Runtime,
}

struct Rule {
    tool: String,
    when: Option<Program>,
    decision: Decision,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFile {
    #[serde(default)]
    default: Word,
    #[serde(default)]
    rules: Vec<RuleFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    tool: String,
    when: Option<String>,
    decide: Word,
    #[serde(default)]
    edit: Vec<String>,
    because: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
#[serde(rename_all = "snake_case")]
enum Word {
    Allow,
    #[default]
    Ask,
    Deny,
}

/// Reason for a program when a rule gives none.
const DENIED: &str = "the policy denies this call";

impl Word {
    fn decision(self, editable: Vec<String>, because: Option<String>) -> Decision {
        match self {
            Word::Allow => Decision::Allow,
            Word::Ask => Decision::Ask { editable },
            Word::Deny => Decision::Deny(because.unwrap_or_else(|| DENIED.to_string())),
        }
    }
}

impl PolicyRules {
    /// Makes a policy that asks about every call. Predicates run with the core library of this runtime.
    pub fn new(runtime: &Runtime) -> PolicyRules {
        let limits = Limits {
            fuel: 100_000,
            memory_bytes: 16 << 20,
            timeout_ms: 1_000,
            parallel_depth: 0,
            ..Limits::default()
        };
        let runtime = runtime.clone().with_tools(Tools::new()).limits(limits);
        PolicyRules { rules: Vec::new(), default: Word::Ask, runtime }
    }

    /// Reads a policy.
    pub fn from_json(text: &str, runtime: &Runtime) -> Result<PolicyRules, String> {
        let file: PolicyFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if file.rules.len() > MAX_RULES {
            return Err(format!("a policy has at most {MAX_RULES} rules"));
        }
        let policy = PolicyRules::new(runtime);
        let rules = file.rules.into_iter().enumerate().map(|(n, rule)| {
            let wrong = |why: String| format!("rule {}: {why}", n + 1);
            if !rule.edit.is_empty() && rule.decide != Word::Ask {
                return Err(wrong("`edit` is for rules that ask".to_string()));
            }
            let compile = |source: String| {
                policy.runtime.compile(&source).map_err(|error| wrong(format!("`when`: {error}")))
            };
            let when = rule.when.map(compile).transpose()?;
            Ok(Rule { tool: rule.tool, when, decision: rule.decide.decision(rule.edit, rule.because) })
        });
        let rules = rules.collect::<Result<_, String>>()?;
        Ok(PolicyRules { rules, default: file.default, ..policy })
    }

    /// Returns whether a predicate holds; None if it says nothing.
    fn holds(&self, when: &Program, tool: &str, args: &Value) -> Option<bool> {
        let grants = Grants::new().serde("args", args).ok()?.serde("tool", tool).ok()?;
        let outcome = self.runtime.start_with(when, &grants).ok()?.finish().ok()?;
        outcome.get::<Option<bool>>().ok().map(|holds| holds == Some(true))
    }
}

impl Policy for PolicyRules {
    fn decide(&self, tool: &str, args: &Value) -> Decision {
        for rule in self.rules.iter().filter(|rule| fits(&rule.tool, tool)) {
            match rule.when.as_ref().map_or(Some(true), |when| self.holds(when, tool, args)) {
                Some(true) => return rule.decision.clone(),
                Some(false) => {}
                // A rule that allows must not be passed over for one that allows more, and one that denies neither.
                None => return self.unclear(tool),
            }
        }
        self.default.decision(Vec::new(), None)
    }
}

impl PolicyRules {
    /// Asks, with the arguments editable that a rule without a predicate lets people change.
    fn unclear(&self, tool: &str) -> Decision {
        let asks = self.rules.iter().filter(|rule| rule.when.is_none() && fits(&rule.tool, tool));
        let first = asks.map(|rule| &rule.decision).next();
        match first {
            Some(Decision::Ask { editable }) => Decision::Ask { editable: editable.clone() },
            Some(denied @ Decision::Deny(_)) => denied.clone(),
            _ => Decision::Ask { editable: Vec::new() },
        }
    }
}

impl fmt::Debug for PolicyRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyRules").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

/// Returns whether a name matches a pattern, in which `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        let cases = [
            ("bank.pay", "bank.pay", true),
            ("bank.pay", "bank.pays", false),
            ("bank.*", "bank.pay", true),
            ("bank.*", "banks.pay", false),
            ("*", "anything", true),
            ("*.delete_*", "crm.delete_user", true),
            ("*.delete_*", "crm.undelete", false),
            ("a*a", "a", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxcyyb", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
