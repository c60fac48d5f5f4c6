//! Roles of the builtins that the walk knows, found by id. A program calls hundreds of them, so names are compared once
//! per process and not at each call.

use ptc_bytecode::{BUILTINS, Builtin, BuiltinId};
use std::sync::LazyLock;

/// The part of a builtin's description that the walk needs.
#[derive(Clone, Copy)]
pub struct Role {
    pub row: &'static Builtin,
    pub uses: Uses,
    /// True if it accepts nil as a start value: a field updated with it may be missing.
    pub takes_nil: bool,
    /// Treatment of its arguments; None for the many builtins with unknown results.
    pub known: Option<Known>,
}

/// The use a builtin makes of its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Uses {
    /// Tests for presence, or accepts nil like any other value.
    Asks,
    /// Compares them for equality, as `=` does.
    Equal,
    /// Compares their order, as `<` does.
    Order,
    /// Computes with them: each must be a number.
    Computes,
    Other,
}

impl Role {
    pub fn of(id: BuiltinId) -> Option<Role> {
        static ROLES: LazyLock<Vec<Role>> = LazyLock::new(|| BUILTINS.iter().map(role).collect());
        ROLES.get(id.0 as usize).copied()
    }
}

fn role(row: &'static Builtin) -> Role {
    let uses = match row.name {
        "nil?" | "some?" | "not" | "boolean" | "true?" | "false?" | "any?" | "empty?" | "seq"
        | "not-empty" | "contains?" | "string?" | "number?" | "int?" | "integer?" | "float?" | "double?"
        | "keyword?" | "map?" | "vector?" | "coll?" | "sequential?" | "boolean?" | "set?" | "list?"
        | "seq?" | "fn?" | "type" | "describe" => Uses::Asks,
        "=" | "not=" => Uses::Equal,
        "<" | ">" | "<=" | ">=" => Uses::Order,
        "+" | "-" | "*" | "/" | "inc" | "dec" | "quot" | "rem" | "mod" => Uses::Computes,
        _ => Uses::Other,
    };
    let takes_nil = matches!(
        row.name,
        "conj"
            | "concat"
            | "into"
            | "cons"
            | "str"
            | "merge"
            | "merge-with"
            | "assoc"
            | "assoc-in"
            | "union"
            | "vec"
            | "set"
            | "boolean"
            | "not"
    );
    Role { row, uses, takes_nil, known: Known::named(row.name) }
}

macro_rules! known {
    ($($variant:ident = $name:literal,)*) => {
        /// A builtin whose treatment of its arguments the walk knows.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub enum Known { $($variant),* }

        impl Known {
            fn named(name: &str) -> Option<Known> {
                match name {
                    $($name => Some(Known::$variant),)*
                    _ => None,
                }
            }

            #[cfg(test)]
            const NAMES: &[&str] = &[$($name),*];
        }
    };
}

known! {
    Count = "count", Sum = "sum", Get = "get", GetIn = "get-in", Find = "find", Contains = "contains?",
    SelectKeys = "select-keys", Assoc = "assoc", Update = "update", Dissoc = "dissoc", Merge = "merge",
    Keys = "keys", Vals = "vals", Key = "key", Val = "val", First = "first", Last = "last", Peek = "peek",
    Second = "second", Nth = "nth", NthOr = "%nth", Ffirst = "ffirst", Rest = "rest", Next = "next",
    Butlast = "butlast", Reverse = "reverse", Rseq = "rseq", Seq = "seq", Vec = "vec", Doall = "doall",
    Sequence = "sequence", Distinct = "distinct", Dedupe = "dedupe", NotEmpty = "not-empty", Sort = "sort",
    Pop = "pop", Take = "take", Drop = "drop", TakeLast = "take-last", DropLast = "drop-last",
    TakeNth = "take-nth", DropFirst = "%drop", Nthrest = "nthrest", Nthnext = "nthnext", Subvec = "subvec",
    Concat = "concat", Into = "into", Conj = "conj", Cons = "cons", List = "list", Vector = "vector",
    Partition = "partition", PartitionAll = "partition-all", Identity = "identity", Bounded = "%bounded",
    Indexed = "%indexed", Map = "map", Mapv = "mapv", Pmap = "pmap", Keep = "keep", Mapcat = "mapcat",
    MapIndexed = "map-indexed", Run = "run!", Filter = "filter", Filterv = "filterv", Remove = "remove",
    TakeWhile = "take-while", DropWhile = "drop-while", Some = "some", Every = "every?", NotAny = "not-any?",
    NotEvery = "not-every?", SortBy = "sort-by", DistinctBy = "distinct-by", PartitionBy = "partition-by",
    GroupBy = "group-by", Frequencies = "frequencies", Zipmap = "zipmap", MinBy = "min-by", MaxBy = "max-by",
    MinKey = "min-key", MaxKey = "max-key", SumBy = "sum-by", AvgBy = "avg-by", Reduce = "reduce",
    ReduceKv = "reduce-kv", UpdateVals = "update-vals", Apply = "apply", Juxt = "juxt", Comp = "comp",
    Partial = "partial", Complement = "complement", EveryPred = "every-pred", SomeFn = "some-fn",
    Fnil = "fnil", Constantly = "constantly", Builder = "%builder", Push = "%push", Finish = "%finish",
}

#[cfg(test)]
mod tests {
    use super::Known;
    use ptc_bytecode::lookup;

    #[test]
    fn every_name_is_one_of_a_builtin() {
        let unknown: Vec<_> = Known::NAMES.iter().filter(|name| lookup(name).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
