//! Names under which a model is offered what it calls itself, as providers take them.

use std::collections::HashSet;

/// Tools that a model is offered by name, those of the host included: what providers take.
pub(crate) const MAX_NATIVE: usize = 128;

/// Characters of a name that providers take.
const MAX_NAME: usize = 64;

/// A name as providers take it: what is no letter, digit or `_` becomes `_`.
///
/// ```
/// assert_eq!(ptc_agent::tools::native_name("llm-query"), "llm_query");
/// ```
pub fn native_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

/// `owner_member` as providers take it, unlike all that are taken: of a server and its tool, or of a namespace and its
/// export. It is taken from now on.
pub(crate) fn free_name(owner: &str, member: &str, taken: &mut HashSet<String>) -> String {
    let name = native_name(&format!("{owner}_{member}"));
    let is_begun = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let name = if is_begun { name } else { format!("_{name}") };
    // All of it is ASCII by now.
    let numbered = |n: usize| match n {
        1 => name[..name.len().min(MAX_NAME)].to_string(),
        n => {
            let end = format!("_{n}");
            format!("{}{end}", &name[..name.len().min(MAX_NAME - end.len())])
        }
    };
    let free = (1..).map(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// The name of a parameter, if providers take it in a schema.
pub(super) fn parameter_name(name: &str) -> Option<String> {
    let name = native_name(name);
    (!name.is_empty() && name.len() <= MAX_NAME).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_providers_take_and_no_two_are_the_same() {
        let mut taken = HashSet::from(["fs_read".to_string()]);
        for (server, tool, wanted) in [
            ("fs", "read", "fs_read_2"),
            ("fs", "read.all", "fs_read_all"),
            ("fs", "read-all", "fs_read_all_2"),
            ("2fa", "ask", "_2fa_ask"),
            ("é", "ü", "___"),
        ] {
            assert_eq!(free_name(server, tool, &mut taken), wanted);
        }
        let long = free_name("server", &"x".repeat(200), &mut taken);
        let second = free_name("server", &"x".repeat(200), &mut taken);
        assert!(long.len() == MAX_NAME && second.len() == MAX_NAME && second.ends_with("_2"));
    }
}
