//! Check of `#"…"` for syntax errors.
//!
//! The search engines are not known here, and one of them accepts more than this parser (lookaround, backreferences).
//! So only text that no engine could read is an error; the rest is found when the pattern is first used.

use regex_syntax::ast::{ErrorKind, parse::ParserBuilder};

/// Maximum nesting of groups: parsing recurses, and deeper ones are left to the engine.
const MAX_NEST: u32 = 100;

/// Returns the error of a pattern; None if it may be valid.
pub(super) fn problem(text: &str) -> Option<String> {
    let error = ParserBuilder::new().nest_limit(MAX_NEST).build().parse(text).err()?;
    let is_sure = matches!(
        error.kind(),
        ErrorKind::GroupUnclosed
            | ErrorKind::GroupUnopened
            | ErrorKind::ClassUnclosed
            | ErrorKind::ClassRangeInvalid
            | ErrorKind::EscapeUnexpectedEof
            | ErrorKind::RepetitionMissing
            | ErrorKind::RepetitionCountInvalid
    );
    is_sure.then(|| error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn only_what_no_engine_reads_is_a_problem() {
        for bad in ["(", ")", "[a", "[z-a]", "*", "a{3,2}", "a\\"] {
            assert!(problem(bad).is_some(), "{bad}");
        }
        for good in
            ["", "a+", r"(?<=a)b", r"(a)\1", "(?>a)b", r"\d{2,}", "a++", "[[:alpha:]&&[^a]]", r"\Qa\E"]
        {
            assert_eq!(problem(good), None, "{good}");
        }
        // Deep nesting does not overflow the stack.
        assert!(problem(&"(".repeat(10_000)).is_some());
        assert_eq!(problem(&format!("{}{}", "(".repeat(10_000), ")".repeat(10_000))), None);
    }
}
