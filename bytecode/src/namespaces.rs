//! Namespace prefixes: the names that may be written `prefix/name`, and their meaning.
//!
//! Nothing is loaded, so a prefix is only another way to write a builtin. A row of the builtin table may carry the
//! first name of a namespace itself (`str/reverse` is not the bare `reverse`); such members are not listed here.

use crate::{BUILTINS, BuiltinId, CONSTANTS, Literal, constant, lookup};

/// One row of [`NAMESPACES`].
#[derive(Clone, Copy, Debug)]
pub struct Namespace {
    /// The prefix as in the builtin table, then its other spellings.
    pub names: &'static [&'static str],
    /// Bare builtins that are members.
    pub members: &'static [&'static str],
    /// Members with another name in the table.
    pub renamed: &'static [(&'static str, &'static str)],
}

/// The meaning of a qualified name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Meaning {
    /// A function.
    Builtin(BuiltinId),
    /// A value.
    Constant(Literal),
}

/// Every prefix of builtins.
#[rustfmt::skip]
pub const NAMESPACES: &[Namespace] = &[
    // Any bare builtin is a member: a program that spells out `clojure.core/` should not fail for it.
    Namespace { names: &["clojure.core", "core", "cljs.core"], members: &[], renamed: &[] },
    Namespace {
        names: &["str", "clojure.string", "string", "cljs.string"],
        members: &[
            "blank?", "capitalize", "downcase", "ends-with?", "escape", "extract", "extract-int", "format",
            "includes?", "index-of", "join", "last-index-of", "lower-case", "name", "parse-boolean",
            "parse-double", "parse-int", "parse-long", "pr-str", "re-find", "re-matches", "re-pattern", "re-seq",
            "replace", "replace-first", "split", "split-lines", "starts-with?", "str", "subs", "trim",
            "trim-newline", "triml", "trimr", "upcase", "upper-case",
        ],
        renamed: &[("contains?", "includes?"), ("substring", "subs")],
    },
    Namespace {
        names: &["set", "clojure.set"],
        members: &[
            "contains?", "difference", "disj", "hash-set", "intersection", "map-invert", "rename-keys", "set",
            "set?", "subset?", "superset?", "union", "vec", "vector",
        ],
        renamed: &[],
    },
    Namespace {
        names: &["walk", "clojure.walk"],
        members: &[
            "keywordize-keys", "postwalk", "postwalk-replace", "prewalk", "prewalk-replace", "stringify-keys",
            "walk",
        ],
        renamed: &[],
    },
    Namespace {
        names: &["regex"],
        members: &[
            "extract", "extract-int", "re-find", "re-matches", "re-pattern", "re-seq", "re-split", "regex?",
        ],
        renamed: &[],
    },
    Namespace {
        names: &["json", "cheshire.core", "cheshire", "clojure.data.json", "data.json"],
        members: &[],
        renamed: &[
            ("decode", "json/parse-string"), ("encode", "json/generate-string"), ("read-json", "json/parse-string"),
            ("parse", "json/parse-string"), ("generate", "json/generate-string"),
            ("stringify", "json/generate-string"), ("write-string", "json/generate-string"),
        ],
    },
    Namespace {
        names: &["Math", "clojure.math", "math", "java.lang.Math", "StrictMath"],
        members: &[
            "abs", "bit-and", "bit-and-not", "bit-clear", "bit-flip", "bit-not", "bit-or", "bit-set",
            "bit-shift-left", "bit-shift-right", "bit-test", "bit-xor", "ceil", "double", "float", "floor", "int",
            "max", "min", "pow", "quot", "round", "sqrt", "trunc",
        ],
        renamed: &[
            // Integers never overflow, so the exact ones are the plain ones.
            ("absExact", "abs"), ("addExact", "+"), ("add-exact", "+"), ("decrementExact", "dec"),
            ("decrement-exact", "dec"), ("incrementExact", "inc"), ("increment-exact", "inc"),
            ("multiplyExact", "*"), ("multiply-exact", "*"), ("negateExact", "-"), ("negate-exact", "-"),
            ("subtractExact", "-"), ("subtract-exact", "-"), ("toIntExact", "int"),
            ("copy-sign", "Math/copySign"), ("floor-div", "Math/floorDiv"), ("floor-mod", "Math/floorMod"),
            ("next-down", "Math/nextDown"), ("next-up", "Math/nextUp"), ("to-degrees", "Math/toDegrees"),
            ("to-radians", "Math/toRadians"),
        ],
    },
    Namespace {
        names: &["Integer", "java.lang.Integer"],
        members: &[],
        renamed: &[
            ("compare", "compare"), ("max", "max"), ("min", "min"), ("sum", "+"), ("valueOf", "Integer/parseInt"),
        ],
    },
    Namespace {
        names: &["Long", "java.lang.Long"],
        members: &[],
        renamed: &[
            ("compare", "compare"), ("max", "max"), ("min", "min"), ("sum", "+"), ("toString", "Integer/toString"),
            ("toBinaryString", "Integer/toBinaryString"), ("toHexString", "Integer/toHexString"),
        ],
    },
    Namespace {
        names: &["Double", "java.lang.Double"],
        members: &[],
        renamed: &[
            ("compare", "compare"), ("isInfinite", "infinite?"), ("isNaN", "NaN?"), ("max", "max"), ("min", "min"),
            ("sum", "+"), ("toString", "str"), ("valueOf", "Double/parseDouble"),
        ],
    },
    Namespace {
        names: &["Float", "java.lang.Float"],
        members: &[],
        renamed: &[("isInfinite", "infinite?"), ("isNaN", "NaN?"), ("toString", "str"), ("valueOf", "Float/parseFloat")],
    },
    Namespace {
        names: &["Boolean", "java.lang.Boolean"],
        members: &[],
        renamed: &[("toString", "str"), ("valueOf", "Boolean/parseBoolean")],
    },
    Namespace {
        names: &["String", "java.lang.String"],
        members: &["format", "join"],
        renamed: &[],
    },
    Namespace {
        names: &["Character", "java.lang.Character"],
        members: &[],
        renamed: &[("toLowerCase", "lower-case"), ("toString", "str"), ("toUpperCase", "upper-case")],
    },
    Namespace { names: &["System", "java.lang.System"], members: &["currentTimeMillis"], renamed: &[] },
    Namespace { names: &["LocalDate", "java.time.LocalDate"], members: &["parse"], renamed: &[] },
    Namespace { names: &["Instant", "java.time.Instant"], members: &["parse"], renamed: &[] },
    Namespace {
        names: &["LocalDateTime", "java.time.LocalDateTime"],
        members: &["parse"],
        renamed: &[("now", "Instant/now")],
    },
    Namespace {
        names: &["OffsetDateTime", "java.time.OffsetDateTime", "ZonedDateTime", "java.time.ZonedDateTime"],
        members: &["parse"],
        renamed: &[("now", "Instant/now")],
    },
    Namespace { names: &["Duration", "java.time.Duration"], members: &[], renamed: &[] },
    Namespace {
        names: &["DateTimeFormatter", "java.time.format.DateTimeFormatter"],
        members: &[],
        renamed: &[],
    },
    Namespace { names: &["ChronoUnit", "java.time.temporal.ChronoUnit"], members: &[], renamed: &[] },
];

/// Namespaces of the host and of older spellings: no prelude may declare them and no program define into them.
pub const PROTECTED: &[&str] = &["tool", "data", "budget", "ptc.core", "mcp", "ctx", "memory"];

/// Returns why a prelude may not declare this namespace; None if it may.
///
/// ```
/// use ptc_bytecode::reserved_namespace;
/// assert!(reserved_namespace("tool").is_some() && reserved_namespace("clojure.string").is_some());
/// assert_eq!(reserved_namespace("crm"), None);
/// ```
pub fn reserved_namespace(name: &str) -> Option<&'static str> {
    // `user` is the one namespace of programs.
    if PROTECTED.contains(&name) || name == "user" {
        return Some("it belongs to the host");
    }
    let is_class = name.starts_with("java.") || name.starts_with("clojure.");
    (is_class || namespace(name).is_some()).then_some("the language has one of that name")
}

/// True if it can be the name of a prelude namespace: a plain symbol, with dots between its parts.
pub fn is_namespace_name(name: &str) -> bool {
    let part = |part: &str| !part.is_empty() && !part.starts_with(|c: char| c.is_ascii_digit());
    is_symbol(name) && !name.starts_with(['*', '&', '-', '+']) && name.split('.').all(part)
}

/// True if it can be the name of a definition of a prelude.
pub fn is_definition_name(name: &str) -> bool {
    is_symbol(name) && !name.starts_with('.') && name != "&"
}

/// True for a plain symbol as the reader knows it.
fn is_symbol(name: &str) -> bool {
    let is_part = |c: char| !c.is_whitespace() && !c.is_control() && !"()[]{}\"';,/`~@^\\·".contains(c);
    let is_start = |c: char| !c.is_ascii_digit() && !":#%".contains(c);
    (1..=255).contains(&name.len()) && name.starts_with(is_start) && name.chars().all(is_part)
}

/// Looks up a namespace by its prefix.
pub fn namespace(prefix: &str) -> Option<&'static Namespace> {
    NAMESPACES.iter().find(|space| space.names.contains(&prefix))
}

/// Resolves `prefix/member`.
///
/// ```
/// use ptc_bytecode::{Meaning, lookup, qualified};
/// let bare = lookup("join").map(Meaning::Builtin);
/// assert_eq!(qualified("clojure.string", "join"), bare);
/// assert_ne!(qualified("clojure.set", "join"), bare);
/// assert_eq!(qualified("clojure.string", "map"), None);
/// ```
pub fn qualified(prefix: &str, member: &str) -> Option<Meaning> {
    let space = namespace(prefix)?;
    // Internal names of the core library are not for programs.
    if member.starts_with('%') {
        return None;
    }
    if space.takes_all() {
        return lookup(member).map(Meaning::Builtin);
    }
    let own = format!("{}/{member}", space.names[0]);
    if let Some(meaning) = meaning(&own) {
        return Some(meaning);
    }
    let name = match space.renamed.iter().find(|(alias, _)| *alias == member) {
        Some((_, name)) => name,
        None => space.members.iter().find(|name| **name == member)?,
    };
    meaning(name)
}

fn meaning(name: &str) -> Option<Meaning> {
    lookup(name).map(Meaning::Builtin).or_else(|| constant(name).map(Meaning::Constant))
}

impl Namespace {
    /// True if every bare builtin is a member.
    pub fn takes_all(&self) -> bool {
        self.members.is_empty() && self.names.contains(&"clojure.core")
    }

    /// Returns its members in alphabetical order, without aliases.
    pub fn list(&self) -> Vec<&'static str> {
        let own = |name: &'static str| name.strip_prefix(self.names[0])?.strip_prefix('/');
        let rows = BUILTINS.iter().map(|row| row.name).chain(CONSTANTS.iter().map(|row| row.name));
        let mut all: Vec<&str> = rows.filter_map(own).chain(self.members.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns every member, aliases included.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        self.list().into_iter().chain(self.renamed.iter().map(|(alias, _)| *alias))
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMESPACES, meaning, namespace, qualified};
    use crate::BUILTINS;

    #[test]
    fn prefixes_are_unique_and_members_are_there() {
        for space in NAMESPACES {
            for name in space.names {
                assert_eq!(namespace(name).map(|found| found.names), Some(space.names), "{name}");
            }
            for member in space.members {
                assert!(meaning(member).is_some(), "{}/{member}", space.names[0]);
            }
            for (alias, name) in space.renamed {
                assert!(meaning(name).is_some(), "{}/{alias} means {name}", space.names[0]);
            }
        }
    }

    #[test]
    fn rows_with_a_prefix_belong_to_a_namespace() {
        for row in BUILTINS {
            let Some((prefix, member)) = row.name.split_once('/') else { continue };
            if !prefix.is_empty() && !member.is_empty() && !matches!(prefix, "budget" | "tool") {
                assert!(qualified(prefix, member).is_some(), "{}", row.name);
            }
        }
    }
}
