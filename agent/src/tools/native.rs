//! Names of tools for models, in the form that providers accept.

use std::collections::HashSet;

/// Maximum number of tools offered to a model by name, including the host's: a limit of providers.
pub(crate) const MAX_NATIVE: usize = 128;

/// Maximum characters of a name that providers accept.
const MAX_NAME: usize = 64;

/// Returns a name in the form that providers accept: all characters but letters, digits and `_` become `_`.
///
/// ```
/// assert_eq!(ptc_agent::tools::native_name("llm-query"), "llm_query");
/// ```
pub fn native_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

/// Returns a free name like `owner_member` in the form that providers accept, and adds it to `taken`. The owner is a
/// server with its tool, or a namespace with its export.
pub(crate) fn free_name(owner: &str, member: &str, taken: &mut HashSet<String>) -> String {
    let name = native_name(&format!("{owner}_{member}"));
    let is_begun = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let name = if is_begun { name } else { format!("_{name}") };
    // Only ASCII is left here, so bytes are characters.
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

/// Returns the name of a parameter, if providers accept it in a schema.
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
