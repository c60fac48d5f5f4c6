//! The builtin table: every function of the language, its arity, what it may do, how it reads in
//! the reference, and where its body is.
//!
//! The compiler resolves names and checks arities with it, the runtime binds bodies to it (a row
//! without a function does not compile), `doc` and the reference page print it. Names that start
//! with `%` serve the core library and expansions; programs cannot spell them.

/// Calls `$callback!` with every row of the builtin table.
///
/// A row is `"name" => native(module::function) | core, min.. | min..max, Effect, inline Op?,
/// "doc", "example ;=> result";`. Arities are inclusive. `core` bodies are PTC-Lisp in
/// `preludes/core`. `inline` names the instruction the compiler emits for a direct call.
#[macro_export]
macro_rules! for_each_builtin {
    ($callback:ident) => {
        $callback! {
            section "Arithmetic" {
                "+" => native(number::add), 0.., Pure, inline Add, "Sum; none gives 0.", "(+ 1 2 3) ;=> 6";
                "-" => native(number::sub), 1.., Pure, inline Sub, "Difference from left to right, or the negative of one number.", "(- 10 3 2) ;=> 5";
                "*" => native(number::mul), 0.., Pure, inline Mul, "Product; none gives 1.", "(* 2 3 4) ;=> 24";
                "/" => native(number::div), 1.., Pure, inline Div, "Quotient, always a float; one number gives its reciprocal.", "(/ 9 2) ;=> 4.5";
                "inc" => native(number::inc), 1..1, Pure, inline Inc, "One more.", "(inc 41) ;=> 42";
                "dec" => native(number::dec), 1..1, Pure, inline Dec, "One less.", "(dec 43) ;=> 42";
                "quot" => native(number::quot), 2..2, Pure, inline Quot, "Quotient cut toward zero.", "(quot -7 2) ;=> -3";
                "rem" => native(number::rem), 2..2, Pure, inline Rem, "Remainder with the sign of the dividend.", "(rem -7 2) ;=> -1";
                "mod" => native(number::modulo), 2..2, Pure, inline Mod, "Modulus with the sign of the divisor.", "(mod -7 2) ;=> 1";
            }
            section "Comparison" {
                "=" => native(compare::eq), 1.., Pure, inline Eq, "Whether all are equal; 1 and 1.0 are.", "(= 1 1.0) ;=> true";
                "not=" => native(compare::not_eq), 1.., Pure, inline NotEq, "The opposite of `=`.", "(not= 1 2) ;=> true";
                "<" => native(compare::less), 1.., Pure, inline Less, "Whether each is less than the next; false between different kinds.", "(< 1 2 3) ;=> true";
                "<=" => native(compare::less_eq), 1.., Pure, inline LessEq, "Whether none is greater than the next.", "(<= 1 1 2) ;=> true";
                ">" => native(compare::greater), 1.., Pure, inline Greater, "Whether each is greater than the next.", "(> 3 2 1) ;=> true";
                ">=" => native(compare::greater_eq), 1.., Pure, inline GreaterEq, "Whether none is less than the next.", "(>= 2 2 1) ;=> true";
                "compare" => native(compare::compare), 2..2, Pure, "-1, 0 or 1 by the order of `sort`.", "(compare 1 2) ;=> -1";
                "not" => native(compare::not), 1..1, Pure, inline Not, "true for nil and false, else false.", "(not nil) ;=> true";
                "identity" => native(compare::identity), 1..1, Pure, "Its argument.", "(identity 7) ;=> 7";
                "nil?" => native(predicate::nil_p), 1..1, Pure, inline IsNil, "Whether it is nil.", "(nil? nil) ;=> true";
                "some?" => native(predicate::some_p), 1..1, Pure, "Whether it is anything but nil.", "(some? false) ;=> true";
            }
            section "Sequences" {
                "count" => native(seq::count), 1..1, Pure, inline Count, "Number of elements; nil has none.", "(count [7 8]) ;=> 2";
                "first" => native(seq::first), 1..1, Pure, inline First, "The first element, or nil.", "(first [7 8]) ;=> 7";
                "nth" => native(seq::nth), 2..3, Pure, inline Nth, "The element at an index, else nil or the default.", "(nth [7 8] 1) ;=> 8";
                "map" => core, 1.., Pure, "The results of `f` on each element; with several collections, on their elements side by side.", "(map inc [1 2 3]) ;=> [2 3 4]";
                "filter" => core, 1..2, Pure, "The elements for which `pred` holds.", "(filter odd? [1 2 3]) ;=> [1 3]";
                "reduce" => core, 2..3, Pure, "Folds `f` over the elements, from the left.", "(reduce + 0 [1 2 3]) ;=> 6";
                "sort" => core, 1..2, Pure, "The elements in order, or in the order of a comparator.", "(sort [3 1 2]) ;=> [1 2 3]";
                "sort-by" => core, 2..3, Pure, "The elements in the order of their keys.", "(sort-by count [\"aa\" \"b\"]) ;=> [\"b\" \"aa\"]";
                "group-by" => core, 2..2, Pure, "A map from key to the elements that have it.", "(group-by odd? [1 2 3]) ;=> {true [1 3] false [2]}";
                "into" => core, 0..3, Pure, "Adds every element of the second collection to the first.", "(into [1] [2 3]) ;=> [1 2 3]";
                "conj" => native(seq::conj), 0.., Pure, inline Conj, "Adds to a vector's end, to a set, or a pair to a map.", "(conj [1] 2 3) ;=> [1 2 3]";
                "range" => native(seq::range), 0..3, Pure, "Numbers from start (0) up to, not including, end.", "(range 1 7 2) ;=> [1 3 5]";
                "vector" => native(seq::vector), 0.., Pure, "A vector of its arguments.", "(vector 1 2) ;=> [1 2]";
                "vec" => native(seq::vec), 1..1, Pure, "The elements as a vector.", "(vec #{1}) ;=> [1]";
                "apply" => core, 1.., Pure, "Calls `f` with the elements of the last argument as further arguments.", "(apply + 1 [2 3]) ;=> 6";
            }
            section "Maps" {
                "get" => native(map::get), 2..3, Pure, inline Get, "The value at a key, else nil or the default.", "(get {:a 1} :a) ;=> 1";
                "assoc" => native(map::assoc), 1.., Pure, inline Assoc, "Sets keys of a map or indexes of a vector.", "(assoc {:a 1} :b 2) ;=> {:a 1 :b 2}";
                "update" => core, 3.., Pure, "Replaces the value at a key by `(f value args…)`.", "(update {:a 1} :a inc) ;=> {:a 2}";
                "contains?" => native(map::contains_p), 2..2, Pure, "Whether a map has the key, or a set or vector the member.", "(contains? {:a nil} :a) ;=> true";
                "hash-map" => native(map::hash_map), 0.., Pure, "A map from keys and values in turn.", "(hash-map :a 1) ;=> {:a 1}";
                "hash-set" => native(map::hash_set), 0.., Pure, "A set of its arguments.", "(hash-set 1 1) ;=> #{1}";
                "keys" => native(map::keys), 1..1, Pure, "The keys of a map, nil if it has none.", "(keys {:a 1}) ;=> [:a]";
                "vals" => native(map::vals), 1..1, Pure, "The values of a map, nil if it has none.", "(vals {:a 1}) ;=> [1]";
            }
            section "Text" {
                "str" => native(text::str), 0.., Pure, "The text of its arguments side by side; nil is empty.", "(str \"a\" 1 :k) ;=> \"a1:k\"";
                "pr-str" => native(text::pr_str), 0.., Pure, "The readable form of its arguments.", "(pr-str \"a\") ;=> \"\\\"a\\\"\"";
                "println" => native(text::println), 0.., Prints, "Prints its arguments as one entry and returns nil.", "(println \"hi\" 1) ;=> nil";
            }
            section "Parallel" {
                "pmap" => core, 2.., Pure, "As `map`, with the calls in parallel branches.", "(pmap inc [1 2]) ;=> [2 3]";
                "pcalls" => core, 0.., Pure, "Calls functions of no arguments in parallel branches.", "(pcalls (fn [] 1) (fn [] 2)) ;=> [1 2]";
            }
            section "Internal" {
                "%builder" => native(internal::builder), 0..0, Pure, inline NewBuilder, "An empty builder.", "";
                "%push" => native(internal::push), 2..2, Pure, inline Push, "Appends to a builder.", "";
                "%finish" => native(internal::finish), 1..1, Pure, inline BuildVector, "The builder's items as a vector.", "";
                "%finish-map" => native(internal::finish_map), 1..1, Pure, inline BuildMap, "The builder's items as a map.", "";
                "%finish-set" => native(internal::finish_set), 1..1, Pure, inline BuildSet, "The builder's items as a set.", "";
                "%apply" => native(internal::apply), 2.., Pure, inline Apply, "Calls with the last argument spread.", "";
                "%pmap" => native(internal::pmap), 2..2, Pure, inline ParallelMap, "Parallel branches over items.", "";
                "%pcalls" => native(internal::pcalls), 1..1, Pure, inline ParallelCalls, "Parallel branches of functions.", "";
                "%nth" => native(internal::nth), 2..2, Pure, "An element of any seqable by position, for vector patterns.", "";
                "%drop" => native(internal::drop), 2..2, Pure, "What is left after n elements, nil if nothing.", "";
                "%kwargs" => native(internal::kwargs), 1..1, Pure, "Trailing arguments as a map.", "";
                "%sort" => native(internal::sort), 1..1, Pure, "Sorts by the total order.", "";
                "%sort-by-keys" => native(internal::sort_by_keys), 3..3, Pure, "Sorts items by a vector of their keys; the flag reverses.", "";
                "%group" => native(internal::group), 2..2, Pure, "Groups items by a vector of their keys.", "";
                "%into" => native(internal::into), 2..2, Pure, "Adds all of one collection to another.", "";
            }
        }
    };
}

/// What a builtin may do besides compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing: the same arguments give the same value.
    Pure,
    /// Adds to what the run printed.
    Prints,
    /// Reads the clock.
    Clock,
}

/// Where a builtin's body is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// Rust, in `runtime/src/natives`.
    Native,
    /// PTC-Lisp, in `preludes/core`.
    Core,
}

/// The instruction a direct call may become; which argument counts fit is the compiler's business.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // named after their instructions
pub enum Inline {
    Add,
    Sub,
    Mul,
    Div,
    Quot,
    Rem,
    Mod,
    Inc,
    Dec,
    Eq,
    NotEq,
    Less,
    LessEq,
    Greater,
    GreaterEq,
    Not,
    IsNil,
    Count,
    First,
    Nth,
    Get,
    Assoc,
    Conj,
    NewBuilder,
    Push,
    BuildVector,
    BuildMap,
    BuildSet,
    Apply,
    ParallelMap,
    ParallelCalls,
}

/// One row of [`BUILTINS`].
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// The name as a program writes it.
    pub name: &'static str,
    /// Fewest arguments.
    pub min: u32,
    /// Most arguments; None for any number.
    pub max: Option<u32>,
    /// What it may do.
    pub effect: Effect,
    /// Where its body is.
    pub body: Body,
    /// The instruction a direct call may become.
    pub inline: Option<Inline>,
    /// Heading of the reference page.
    pub section: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// A call and its result, checked by the tests.
    pub example: &'static str,
}

impl Builtin {
    /// Whether it takes `n` arguments.
    pub fn takes(&self, n: usize) -> bool {
        n >= self.min as usize && self.max.is_none_or(|max| n <= max as usize)
    }

    /// "1", "1 or 2", "2 to 4", "at least 1": for messages.
    pub fn arity_words(&self) -> String {
        match self.max {
            Some(max) if max == self.min => format!("{max}"),
            Some(max) if max == self.min + 1 => format!("{} or {max}", self.min),
            Some(max) => format!("{} to {max}", self.min),
            None => format!("at least {}", self.min),
        }
    }
}

macro_rules! define_builtins {
    ($(section $section:literal { $($name:literal => $kind:ident $(($path:path))?, $min:literal .. $($max:literal)?,
        $effect:ident, $(inline $inline:ident,)? $doc:literal, $example:literal;)* })*) => {
        /// Every builtin. A [`BuiltinId`](crate::BuiltinId) is an index here.
        pub const BUILTINS: &[Builtin] = &[
            $($(Builtin {
                name: $name,
                min: $min,
                max: optional!($($max)?),
                effect: Effect::$effect,
                body: body!($kind),
                inline: inline!($($inline)?),
                section: $section,
                doc: $doc,
                example: $example,
            },)*)*
        ];
    };
}

macro_rules! optional {
    () => {
        None
    };
    ($x:literal) => {
        Some($x)
    };
}
macro_rules! body {
    (native) => {
        Body::Native
    };
    (core) => {
        Body::Core
    };
}
macro_rules! inline {
    () => {
        None
    };
    ($x:ident) => {
        Some(Inline::$x)
    };
}

for_each_builtin!(define_builtins);

/// An index into [`BUILTINS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct BuiltinId(pub u32);

impl BuiltinId {
    /// Its row; None for an id that was not made by [`lookup`].
    pub fn row(self) -> Option<&'static Builtin> {
        BUILTINS.get(self.0 as usize)
    }
}

/// The builtin called `name`.
///
/// ```
/// let id = ptc_bytecode::lookup("count").unwrap();
/// assert_eq!(id.row().unwrap().arity_words(), "1");
/// ```
pub fn lookup(name: &str) -> Option<BuiltinId> {
    use std::collections::HashMap;
    use std::sync::LazyLock;
    static BY_NAME: LazyLock<HashMap<&'static str, BuiltinId>> = LazyLock::new(|| {
        BUILTINS.iter().enumerate().map(|(i, row)| (row.name, BuiltinId(i as u32))).collect()
    });
    BY_NAME.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::{BUILTINS, lookup};

    #[test]
    fn names_are_unique_and_documented() {
        for (i, row) in BUILTINS.iter().enumerate() {
            assert_eq!(lookup(row.name).map(|id| id.0), Some(i as u32), "{} stands twice", row.name);
            assert!(!row.doc.is_empty() && row.doc.ends_with('.'), "{} lacks a doc line", row.name);
            assert_eq!(row.example.is_empty(), row.name.starts_with('%'), "{}: example", row.name);
        }
    }
}
