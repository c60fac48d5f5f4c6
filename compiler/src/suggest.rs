//! Hints for undefined names: similar names, and replacements for names of other Lisps.

mod foreign;

use foreign::FOREIGN;
pub(crate) use foreign::TESTS;
use ptc_bytecode::KeyedState;
pub use ptc_bytecode::nearest;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Returns the replacement for a name from Clojure or another language that does not exist here.
///
/// ```
/// assert!(ptc_compiler::suggest::foreign("raise").is_some());
/// assert!(ptc_compiler::suggest::foreign("map").is_none());
/// ```
pub fn foreign(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("clojure.core/").unwrap_or(name);
    static BY_NAME: LazyLock<HashMap<&str, &str, KeyedState>> = LazyLock::new(|| {
        let rows = FOREIGN.iter().flat_map(|(names, hint)| names.iter().map(move |name| (*name, *hint)));
        rows.collect()
    });
    BY_NAME.get(bare).copied()
}

#[cfg(test)]
mod tests {
    use super::{FOREIGN, foreign, nearest};

    #[test]
    fn near_names() {
        let known =
            ["map", "filter", "reduce", "sort-by", "group-by", "frequencies", "first", "count", "mapcat"];
        let near = |name: &str| nearest(name, known.into_iter());
        assert_eq!(near("fliter"), Some("filter"));
        assert_eq!(near("frequences"), Some("frequencies"));
        assert_eq!(near("sortBy"), Some("sort-by"));
        assert_eq!(near("sort_by"), Some("sort-by"));
        assert_eq!(near("pam"), Some("map"));
        assert_eq!(near("zzz"), None);
        assert_eq!(near(""), None);
        assert_eq!(near(&"a".repeat(1000)), None);
        assert_eq!(near("é"), None);
    }

    #[test]
    fn hints_for_foreign_names() {
        assert!(foreign("raise").is_some_and(|hint| hint.contains("(fail")));
        assert!(foreign("clojure.core/slurp").is_some());
        assert!(foreign("map").is_none());
    }

    #[test]
    fn nothing_we_have_is_called_foreign() {
        for name in FOREIGN.iter().flat_map(|(names, _)| *names) {
            assert!(
                ptc_bytecode::lookup(name).is_none(),
                "`{name}` is a builtin now: take it out of FOREIGN"
            );
            assert!(!crate::expand::is_form_name(name), "`{name}` is a form now: take it out of FOREIGN");
        }
    }
}
