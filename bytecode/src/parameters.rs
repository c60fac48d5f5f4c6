//! Names of the parameters of builtins, as `doc`, completion and the reference page show them.
//!
//! The rows are apart from the builtin table because most parameter lists are shared.

use crate::Builtin;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Parameter lists, one for each way of calling, and the builtins that have them.
#[rustfmt::skip]
const PARAMETERS: &[(&[&str], &[&str])] = &[
    (&["& xs"], &[
        "+", "*", "+'", "*'", "vector", "list", "hash-set", "sorted-set", "str", "pr-str", "prn-str", "println",
        "prn",
    ]),
    (&["x & more"], &[
        "-", "/", "-'", "max", "min", "=", "==", "not=", "<", "<=", ">", ">=", "distinct?", "list*",
    ]),
    (&["x"], &[
        "inc", "dec", "inc'", "dec'", "abs", "floor", "ceil", "round", "trunc", "sqrt", "double", "float",
        "int", "long", "bit-not", "not", "boolean", "identity", "nil?", "some?", "any?", "true?", "false?",
        "boolean?", "number?", "int?", "integer?", "rational?", "float?", "double?", "decimal?", "ratio?",
        "nat-int?", "pos-int?", "neg-int?", "infinite?", "NaN?", "zero?", "pos?", "neg?", "even?", "odd?",
        "string?", "char?", "keyword?", "simple-keyword?", "qualified-keyword?", "symbol?", "vector?", "list?",
        "seq?", "sequential?", "map?", "set?", "coll?", "associative?", "counted?", "indexed?", "reversible?",
        "seqable?", "sorted?", "map-entry?", "fn?", "ifn?", "regex?", "type", "reduced", "reduced?",
        "unreduced", "ensure-reduced", "doall", "constantly", "name", "namespace", "re-pattern", "Math/log",
        "Math/log10", "Math/log1p", "Math/exp", "Math/expm1", "Math/sin", "Math/cos", "Math/tan", "Math/asin",
        "Math/acos", "Math/atan", "Math/sinh", "Math/cosh", "Math/tanh", "Math/cbrt", "Math/signum",
        "Math/toRadians", "Math/toDegrees", "Math/rint", "Math/nextUp", "Math/nextDown", "inst?", ".isEmpty",
        ".toString", "String/valueOf", "atom", "volatile!", "volatile?",
    ]),
    (&["message data", "message data cause"], &["ex-info"]),
    (&["exception"], &["ex-message", "ex-data", "ex-cause", ".getMessage", ".getCause", ".getData"]),
    (&["", "message", "message cause"], &[
        "Exception.", "RuntimeException.", "IllegalArgumentException.", "IllegalStateException.",
        "UnsupportedOperationException.",
    ]),
    (&["", "message"], &["ArithmeticException."]),
    (&["n d"], &["quot", "rem", "mod"]),
    (&["x y"], &["pow", "Math/hypot"]),
    (&["x y & more"], &["bit-and", "bit-or", "bit-xor", "bit-and-not"]),
    (&["x n"], &[
        "bit-shift-left", "bit-shift-right", "unsigned-bit-shift-right", "bit-set", "bit-clear", "bit-flip",
        "bit-test",
    ]),
    (&["a b"], &[
        "compare", "zip", "subset?", "superset?", "Math/floorDiv", "Math/floorMod", "Math/ceilDiv", ".isBefore",
        ".isAfter", ".isEqual",
    ]),
    (&["x", "x options"], &["describe", "json/generate-string"]),
    (&["coll"], &[
        "count", "first", "second", "last", "rest", "next", "butlast", "ffirst", "fnext", "nfirst", "nnext",
        "peek", "pop", "seq", "empty?", "not-empty", "empty", "frequencies", "reverse", "rseq", "flatten",
        "cycle", "vec", "dorun", "sum", "avg", "set", ".size",
    ]),
    (&["coll i", "coll i default"], &["nth"]),
    (&["v start", "v start end"], &["subvec"]),
    (&["n", "n coll"], &["take", "drop", "take-nth"]),
    (&["n coll"], &["take-last", "split-at"]),
    (&["coll", "n coll"], &["drop-last"]),
    (&["pred", "pred coll"], &["take-while", "drop-while", "filter", "remove"]),
    (&["coll n"], &["nthrest", "nthnext", "combinations"]),
    (&["pred coll"], &["split-with", "filterv", "some", "every?", "not-any?", "not-every?"]),
    (&["n coll", "n step coll", "n step pad coll"], &["partition"]),
    (&["n", "n coll", "n step coll"], &["partition-all"]),
    (&["f", "f coll"], &["partition-by", "map-indexed", "keep", "keep-indexed"]),
    (&["f", "f coll", "f coll & colls"], &["map", "mapcat"]),
    (&["f coll", "f coll & colls"], &["mapv", "pmap"]),
    (&["f coll", "f init coll"], &["reduce", "reductions"]),
    (&["f init m"], &["reduce-kv"]),
    (&["f coll"], &["run!"]),
    (&["coll", "comparator coll"], &["sort"]),
    (&["key coll", "key comparator coll"], &["sort-by"]),
    (&["key coll"], &["group-by", "distinct-by", "sum-by", "avg-by"]),
    (&["", "coll"], &["distinct", "dedupe"]),
    (&["& colls"], &["concat", "interleave"]),
    (&["x coll"], &["cons"]),
    (&["", "coll", "coll x & more"], &["conj"]),
    (&["", "to", "to from", "to xf from"], &["into"]),
    (&["sep", "sep coll"], &["interpose"]),
    (&["keys vals"], &["zipmap"]),
    (&["", "end", "start end", "start end step"], &["range"]),
    (&["x", "n x"], &["repeat"]),
    (&["f", "n f"], &["repeatedly"]),
    (&["f x"], &["iterate"]),
    (&["coll", "xf coll"], &["sequence"]),
    (&["xf f coll", "xf f init coll"], &["transduce"]),
    (&["f", "f last-step"], &["completing"]),
    (&["rf"], &["cat"]),
    (&["xf coll"], &["eduction"]),
    (&["key coll", "key x & more"], &["min-by", "max-by"]),
    (&["f x & more"], &["min-key", "max-key"]),
    (&["coll key", "coll key default"], &["get"]),
    (&["coll path", "coll path default"], &["get-in"]),
    (&["coll", "coll key value & more"], &["assoc"]),
    (&["coll path value"], &["assoc-in"]),
    (&["m key f & args"], &["update"]),
    (&["m path f & args"], &["update-in"]),
    (&["m f"], &["update-vals", "update-keys"]),
    (&["m & keys"], &["dissoc"]),
    (&["& maps"], &["merge"]),
    (&["f & maps"], &["merge-with"]),
    (&["m keys"], &["select-keys"]),
    (&["m renames"], &["rename-keys"]),
    (&["coll key"], &["contains?", "find", ".get"]),
    (&["pair"], &["key", "val"]),
    (&["m"], &["keys", "vals", "entries", "map-invert"]),
    (&["& key-values"], &["hash-map", "array-map", "sorted-map"]),
    (&["comparator & key-values"], &["sorted-map-by"]),
    (&["comparator & xs"], &["sorted-set-by"]),
    (&["coll test key", "coll test key test key"], &["subseq", "rsubseq"]),
    (&["s & xs"], &["disj"]),
    (&["& sets"], &["union"]),
    (&["s & sets"], &["intersection", "difference"]),
    (&["pred rows"], &["set/select"]),
    (&["rows keys"], &["set/project", "set/index"]),
    (&["rows names"], &["set/rename"]),
    (&["xs ys", "xs ys keys"], &["set/join"]),
    (&["f args", "f x & args"], &["apply"]),
    (&["& fs"], &["comp", "pcalls"]),
    (&["f & args"], &["partial", "trampoline"]),
    (&["pred"], &["complement", "comparator"]),
    (&["f & fs"], &["juxt"]),
    (&["f default", "f default default-2", "f default default-2 default-3"], &["fnil"]),
    (&["pred & preds"], &["every-pred", "some-fn"]),
    (&["f"], &["memoize"]),
    (&["a"], &["deref"]),
    (&["a x"], &["reset!", "reset-vals!"]),
    (&["a f & args"], &["swap!", "swap-vals!"]),
    (&["a old new"], &["compare-and-set!"]),
    (&["v x"], &["vreset!"]),
    (&["v f & args"], &["vswap!"]),
    (&["x", "namespace name"], &["keyword"]),
    (&["n"], &[
        "char", "LocalDate/ofEpochDay", "Instant/ofEpochMilli", "Instant/ofEpochSecond", "Duration/ofMillis",
        "Duration/ofSeconds", "Duration/ofMinutes", "Duration/ofHours", "Duration/ofDays",
        "Integer/toBinaryString", "Integer/toHexString",
    ]),
    (&["s start", "s start end"], &["subs", ".substring"]),
    (&["coll", "sep coll"], &["join"]),
    (&["s sep", "s sep limit"], &["split"]),
    (&["s"], &[
        "str/re-quote-replacement", "str/reverse", "split-lines", "trim", "triml", "trimr", "trim-newline",
        "blank?", "upper-case", "upcase", "lower-case", "downcase", "capitalize", "parse-long", "parse-int",
        "parse-double", "parse-boolean", "parse-uuid", ".length", ".isBlank", ".toLowerCase", ".toUpperCase",
        ".trim", ".strip", ".stripLeading", ".stripTrailing", "Boolean/parseBoolean", "Double/parseDouble",
        "Float/parseFloat",
    ]),
    (&["s prefix"], &["starts-with?", ".startsWith"]),
    (&["s suffix"], &["ends-with?", ".endsWith"]),
    (&["s part"], &["includes?", ".contains"]),
    (&["s part", "s part from"], &["index-of", "last-index-of", ".indexOf", ".lastIndexOf"]),
    (&["smap", "smap coll", "s match replacement"], &["replace"]),
    (&["s match replacement"], &["replace-first", ".replace"]),
    (&["s cmap"], &["escape"]),
    (&["text & xs"], &["format"]),
    (&["re s"], &["re-find", "re-matches", "re-seq", "re-split"]),
    (&["pattern s", "pattern s group"], &["extract"]),
    (&["pattern s", "pattern s group", "pattern s group default"], &["extract-int"]),
    (&["inner outer form"], &["walk"]),
    (&["f form"], &["prewalk", "postwalk"]),
    (&["branch? children root"], &["tree-seq"]),
    (&["form"], &["keywordize-keys", "stringify-keys"]),
    (&["smap form"], &["postwalk-replace", "prewalk-replace"]),
    (&["y x"], &["Math/atan2"]),
    (&["x sign"], &["Math/copySign"]),
    (&["x low high"], &["Math/clamp"]),
    (&["s", "s keywords?"], &["json/parse-string", "json/parse-lines"]),
    (&["s & options"], &["json/read-str"]),
    (&["x & options"], &["json/write-str"]),
    (&["s", "s pattern"], &["parse"]),
    (&["", "x"], &["java.util.Date."]),
    (&[""], &["currentTimeMillis", "Instant/now", "LocalDate/now", "all-ns", "tool/servers", "budget/remaining"]),
    (&["year month day"], &["LocalDate/of"]),
    (&["t"], &[
        "inst-ms", ".getTime", ".toEpochMilli", ".getEpochSecond", ".toLocalDate", ".toInstant", ".getHour",
        ".getMinute", ".getSecond",
    ]),
    (&["d"], &[
        ".toEpochDay", ".atStartOfDay", ".getYear", ".getMonthValue", ".getMonth", ".getDayOfMonth",
        ".getDayOfWeek", ".getDayOfYear", ".lengthOfMonth", ".isLeapYear",
    ]),
    (&["t n"], &[
        ".plusDays", ".plusWeeks", ".plusMonths", ".plusYears", ".minusDays", ".minusWeeks", ".minusMonths",
        ".minusYears", ".plusHours", ".plusMinutes", ".plusSeconds", ".plusMillis", ".minusHours",
        ".minusMinutes", ".minusSeconds", ".minusMillis",
    ]),
    (&["name"], &[".getValue"]),
    (&["d n"], &[".withDayOfMonth", ".withYear", ".withMonth"]),
    (&["start end"], &["Duration/between"]),
    (&["duration"], &[".toMillis", ".toSeconds", ".toMinutes", ".toHours", ".toDays", ".getSeconds"]),
    (&["unit start end"], &[".between"]),
    (&["start end unit"], &[".until"]),
    (&["t duration", "t n unit"], &[".plus", ".minus"]),
    (&["t unit"], &[".truncatedTo"]),
    (&["date pattern"], &[".format"]),
    (&["text"], &["DateTimeFormatter/ofPattern"]),
    (&["s i"], &[".charAt"]),
    (&["x other"], &[".equals", ".compareTo"]),
    (&["s other"], &[".equalsIgnoreCase", ".compareToIgnoreCase", ".concat"]),
    (&["s n"], &[".repeat"]),
    (&["s pattern replacement"], &[".replaceAll", ".replaceFirst"]),
    (&["s pattern"], &[".matches"]),
    (&["s pattern", "s pattern limit"], &[".split"]),
    (&["m key default"], &[".getOrDefault"]),
    (&["m key"], &[".containsKey"]),
    (&["s", "s radix"], &["Integer/parseInt", "Long/parseLong", "Long/valueOf"]),
    (&["n", "n radix"], &["Integer/toString"]),
    (&["c"], &[
        "Character/isDigit", "Character/isLetter", "Character/isLetterOrDigit", "Character/isUpperCase",
        "Character/isLowerCase", "Character/isWhitespace", "Character/getNumericValue",
    ]),
    (&["ref"], &["doc", "meta", "source"]),
    (&["query", "query options"], &["apropos"]),
    (&["ref", "ref options"], &["dir"]),
    (&["ns"], &["ns-publics", "ns-name"]),
    (&["operation", "operation args"], &["tool/call"]),
];

impl Builtin {
    /// Returns the parameter lists, one for each way of calling: `f coll` and `f init coll` for `reduce`.
    ///
    /// ```
    /// let row = ptc_bytecode::lookup("reduce").unwrap().row().unwrap();
    /// assert_eq!(row.parameters(), ["f coll", "f init coll"]);
    /// assert_eq!(row.signatures(), ["(reduce f coll)", "(reduce f init coll)"]);
    /// ```
    pub fn parameters(&self) -> &'static [&'static str] {
        static BY_NAME: LazyLock<HashMap<&str, &[&str]>> = LazyLock::new(|| {
            PARAMETERS.iter().flat_map(|(lists, names)| names.iter().map(|name| (*name, *lists))).collect()
        });
        BY_NAME.get(self.name).copied().unwrap_or(&[])
    }

    /// Returns the calls, such as `(reduce f init coll)`, one for each parameter list.
    pub fn signatures(&self) -> Vec<String> {
        self.parameters()
            .iter()
            .map(|list| format!("({})", format!("{} {list}", self.name).trim_end()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::PARAMETERS;
    use crate::{BUILTINS, lookup};

    /// True if one of the lists takes `n` arguments.
    fn takes(lists: &[&str], n: usize) -> bool {
        lists.iter().any(|list| {
            let words: Vec<&str> = list.split_whitespace().collect();
            words.iter().position(|word| *word == "&").map_or(words.len() == n, |rest| n >= rest)
        })
    }

    #[test]
    fn parameters_fit_the_arity_of_every_builtin() {
        for row in BUILTINS.iter().filter(|row| !row.name.starts_with('%')) {
            let lists = row.parameters();
            assert!(!lists.is_empty(), "`{}` needs its parameters in PARAMETERS of parameters.rs", row.name);
            // Pairs come two at a time, so some numbers in between have no list.
            let most = row.max.map_or(row.min as usize + 4, |max| max as usize);
            for n in [row.min as usize, most] {
                assert!(takes(lists, n), "{lists:?} of `{}` leave {n} arguments out", row.name);
            }
            if let Some(max) = row.max {
                assert!(!takes(lists, max as usize + 1), "{lists:?} of `{}` take too many", row.name);
            }
            assert!(row.min == 0 || !takes(lists, row.min as usize - 1), "{lists:?} of `{}`", row.name);
        }
    }

    #[test]
    fn rows_name_builtins_once() {
        let mut names: Vec<&str> = PARAMETERS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let all = names.len();
        assert!(names.iter().all(|name| lookup(name).is_some()), "a row names no builtin");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "a builtin stands twice");
    }
}
