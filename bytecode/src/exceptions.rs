//! Classes of exceptions as Clojure names them, and the faults that belong to each.
//!
//! An exception has a *kind*: the reason of a fault (`type_error`), or the class it was constructed with
//! (`ExceptionInfo`).

use crate::codes::Code;

/// One exception class.
struct Class {
    name: &'static str,
    /// Name of the parent class; empty for the root.
    parent: &'static str,
    /// Faults of this class; a fault may belong to several classes.
    codes: &'static [Code],
}

const fn class(name: &'static str, parent: &'static str, codes: &'static [Code]) -> Class {
    Class { name, parent, codes }
}

/// Parents come before their children.
const CLASSES: &[Class] = &[
    class("Throwable", "", &[]),
    class("Error", "Throwable", &[]),
    class("AssertionError", "Error", &[Code::AssertionFailed]),
    class("Exception", "Throwable", &[]),
    class("IOException", "Exception", &[Code::ToolError, Code::OutcomeUnknown]),
    class("RuntimeException", "Exception", &[Code::UnboundVar]),
    class(
        "ExceptionInfo",
        "RuntimeException",
        &[Code::ToolError, Code::OutcomeUnknown, Code::PmapError, Code::PcallsError],
    ),
    class("ArithmeticException", "RuntimeException", &[Code::ArithmeticError]),
    class("ClassCastException", "RuntimeException", &[Code::TypeError, Code::NotCallable]),
    class("NullPointerException", "RuntimeException", &[Code::TypeError, Code::NotCallable]),
    class(
        "IllegalArgumentException",
        "RuntimeException",
        &[
            Code::TypeError,
            Code::RuntimeError,
            Code::InvalidKeywordCall,
            Code::InvalidMapCall,
            Code::InvalidToolArgs,
            Code::DestructureError,
            Code::UnsupportedMethod,
        ],
    ),
    class("ArityException", "IllegalArgumentException", &[Code::ArityError, Code::ArityMismatch]),
    class("NumberFormatException", "IllegalArgumentException", &[Code::RuntimeError]),
    class("IllegalStateException", "RuntimeException", &[Code::RuntimeError]),
    class("IndexOutOfBoundsException", "RuntimeException", &[Code::RuntimeError]),
    class("UnsupportedOperationException", "RuntimeException", &[Code::TypeError, Code::UnsupportedMethod]),
    class("DateTimeException", "RuntimeException", &[Code::RuntimeError]),
    class("DateTimeParseException", "DateTimeException", &[Code::RuntimeError]),
];

/// Resolves a class name with or without its package: `Exception`, `clojure.lang.ExceptionInfo`.
///
/// ```
/// use ptc_bytecode::exception_class;
/// assert_eq!(exception_class("java.lang.ArithmeticException"), Some("ArithmeticException"));
/// assert_eq!(exception_class("Oops"), None);
/// ```
pub fn exception_class(name: &str) -> Option<&'static str> {
    let bare = name.rsplit('.').next().unwrap_or(name);
    CLASSES.iter().map(|class| class.name).find(|class| *class == bare)
}

/// Returns the names of all classes.
pub fn exception_classes() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|class| class.name)
}

/// True if `(catch class …)` takes an exception of this kind.
///
/// ```
/// use ptc_bytecode::catches;
/// assert!(catches("ArithmeticException", "arithmetic_error") && catches("Exception", "arithmetic_error"));
/// assert!(!catches("ArithmeticException", "ExceptionInfo") && catches("RuntimeException", "ExceptionInfo"));
/// ```
pub fn catches(class: &str, kind: &str) -> bool {
    CLASSES
        .iter()
        .filter(|known| known.name == kind || known.codes.iter().any(|code| code.reason() == kind))
        .any(|known| is_a(known.name, class))
}

/// True if class `name` is `class` or one of its descendants.
fn is_a(name: &str, class: &str) -> bool {
    let mut name = name;
    while name != class {
        match CLASSES.iter().find(|known| known.name == name) {
            Some(known) => name = known.parent,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_may_be_caught_has_a_class() {
        for code in Code::ALL.iter().filter(|code| code.is_catchable() && **code != Code::Uncaught) {
            assert!(catches("Throwable", code.reason()), "{code:?}");
            assert_eq!(catches("Exception", code.reason()), *code != Code::AssertionFailed, "{code:?}");
        }
        let codes = CLASSES.iter().flat_map(|class| class.codes);
        assert!(codes.into_iter().all(|code| code.is_catchable()));
    }

    #[test]
    fn every_class_leads_to_the_first() {
        for name in exception_classes() {
            assert!(is_a(name, "Throwable"), "{name}");
        }
        assert!(!is_a("Exception", "RuntimeException"));
    }
}
