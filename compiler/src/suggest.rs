//! Hints for names that are not defined: near names, and what to write for names of other Lisps.

pub use ptc_bytecode::nearest;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What to write instead of a name from Clojure or another language that does not exist here.
///
/// ```
/// assert!(ptc_compiler::suggest::foreign("raise").is_some());
/// assert!(ptc_compiler::suggest::foreign("map").is_none());
/// ```
pub fn foreign(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("clojure.core/").unwrap_or(name);
    static BY_NAME: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
        let rows = FOREIGN.iter().flat_map(|(names, hint)| names.iter().map(move |name| (*name, *hint)));
        rows.collect()
    });
    BY_NAME.get(bare).copied()
}

/// Groups of names, and the way to do it here. A name that becomes a builtin leaves this table.
const FOREIGN: &[(&[&str], &str)] = &[
    (&["catch", "finally"], "it stands inside `try`: (try (f x) (catch Exception e (ex-message e)))"),
    (
        &["raise", "error"],
        "throw an exception: (throw (ex-info \"no rows\" {})), or end the run: (fail \"no rows\")",
    ),
    (
        &[
            "ref",
            "ref-set",
            "alter",
            "commute",
            "dosync",
            "agent",
            "send",
            "send-off",
            "await",
            "add-watch",
            "remove-watch",
            "set-validator!",
            "set!",
            "var-set",
            "alter-var-root",
            "setq",
            "setf",
        ],
        "what changes goes into an atom: (let [n (atom 0)] (swap! n inc) @n)",
    ),
    (
        &["binding", "with-redefs", "intern"],
        "definitions do not change for a while: bind a name with (let [x …] …) or (def x …), or keep what changes in (atom 0)",
    ),
    (
        &["defmacro", "macroexpand", "macroexpand-1", "gensym"],
        "there are no macros: write a function with (defn name [x] …)",
    ),
    (
        &[
            "eval",
            "load-string",
            "load-file",
            "load",
            "resolve",
            "ns-resolve",
            "find-var",
            "requiring-resolve",
        ],
        "code cannot be made from text: write the code itself; read data with (json/parse-string s)",
    ),
    (
        &["read-string", "read"],
        "code is not read from text: read numbers with (parse-long s) or (parse-double s), data with (json/parse-string s)",
    ),
    (
        &[
            "Period/between",
            "java.time.Period/between",
            ".getYears",
            ".getMonths",
            ".getDays",
            ".toTotalMonths",
        ],
        "there are no periods: (.between ChronoUnit/YEARS a b) counts whole years, MONTHS and DAYS likewise",
    ),
    (
        &["Period/ofDays", "Period/ofWeeks", "Period/ofMonths", "Period/ofYears"],
        "there are no periods: shift a date with (.plusDays d 1), (.plusMonths d 1) or (.plusYears d 1)",
    ),
    (
        &["SimpleDateFormat.", "java.text.SimpleDateFormat.", "ofLocalizedDate"],
        "write dates with (.format d \"dd/MM/yyyy\"), read them with (parse s \"dd/MM/yyyy\")",
    ),
    (
        &[
            "YearMonth/from",
            "YearMonth/of",
            "YearMonth/parse",
            "YearMonth/now",
            "java.time.YearMonth/from",
            "java.time.YearMonth/parse",
            "java.time.YearMonth/of",
        ],
        "there are no months without a day: (.format d \"yyyy-MM\") is text to group by, (.withDayOfMonth d 1) the first day",
    ),
    (
        &["LocalTime/parse", "LocalTime/of", "java.time.LocalTime/parse", ".toLocalTime"],
        "there are no times without a date: count minutes, (+ (* 60 (.getHour t)) (.getMinute t))",
    ),
    (
        &[
            "ZoneId/of",
            "ZoneId/systemDefault",
            "ZoneOffset/UTC",
            ".atZone",
            ".withZoneSameInstant",
            ".atOffset",
        ],
        "there are no time zones: datetimes are in UTC; (.plusHours t 2) is a local reading of one",
    ),
    (
        &["Locale/US", "Locale/ENGLISH", "Locale/ROOT", "java.util.Locale/US"],
        "there is one locale: leave it out",
    ),
    (
        &["UUID/randomUUID", "java.util.UUID/randomUUID", "Math/random"],
        "there is no chance here, so that runs can be repeated: take numbers from granted data or a tool",
    ),
    (
        &["use", "import", "refer", "in-ns", "alias"],
        "nothing needs to be loaded: call functions by name, as in (str/join \",\" xs), or write (require '[clojure.string :as s])",
    ),
    (
        &["slurp", "spit", "read-line", "with-open", "open", "file-seq", "line-seq"],
        "there are no files: read granted data as data/name, and call tools as (tool/name {:key value})",
    ),
    (
        &[
            "print",
            "pr",
            "printf",
            "newline",
            "flush",
            "pprint",
            "console.log",
            "display",
            "with-out-str",
            "print-table",
            "cl-format",
        ],
        "print with (println x); build text with (str a b) or (format \"%s\" x)",
    ),
    (
        &["rand", "rand-int", "rand-nth", "shuffle", "random-uuid", "random-sample"],
        "there is no chance here, so that runs can be repeated: take numbers from granted data or a tool",
    ),
    (
        &[
            "future",
            "promise",
            "delay",
            "force",
            "locking",
            "monitor-enter",
            "deliver",
            "thread",
            "go",
            "chan",
            "future-call",
        ],
        "run in parallel with (pmap f xs) or (pcalls f g)",
    ),
    (
        &["lazy-cat"],
        "join sequences with (concat xs ys); endless ones are made by (iterate f x), (repeat x), (cycle xs) and (range)",
    ),
    (
        &[
            "defprotocol",
            "defrecord",
            "deftype",
            "reify",
            "proxy",
            "extend-type",
            "extend-protocol",
            "extend",
            "gen-class",
        ],
        "there are no types to define: use maps, as in {:kind :circle :r 2}, and (case (:kind x) …)",
    ),
    (
        &["defmulti", "defmethod"],
        "there are no multimethods: choose with (case (:kind x) :a … :b …) or a map of functions",
    ),
    (
        &["with-meta", "vary-meta", "alter-meta!", "reset-meta!"],
        "values carry no metadata: put it into a map beside the value",
    ),
    (
        &["transient", "persistent!", "conj!", "assoc!", "dissoc!", "disj!", "pop!"],
        "there are no transients: conj, assoc and into are fast as they are",
    ),
    (&["the-ns", "create-ns", "ns-map"], "name the value itself, or #'name for its var"),
    (&["symbol"], "there are no symbols as data: use keywords"),
    (&["..", ".", "memfn"], "call methods one at a time: (.length (.trim s)), or (-> s .trim .length)"),
    (
        &[
            "StringBuilder.",
            "java.lang.StringBuilder.",
            "StringBuffer.",
            "String.",
            "into-array",
            "char-array",
        ],
        "text is built with (str a b), (str/join \", \" xs) and (apply str xs); sequences are vectors",
    ),
    (
        &["ArrayList.", "java.util.ArrayList.", "HashMap.", "java.util.HashMap.", "HashSet.", "to-array"],
        "use vectors, maps and sets: (conj [] x), (assoc {} :k v), (conj #{} x)",
    ),
    (
        &["new", "bean", "instance?", "class"],
        "there are no classes: use functions, and (type x) or predicates such as string?",
    ),
    (
        &["Long.", "Integer.", "Double.", "Float.", "BigDecimal.", "java.math.BigDecimal."],
        "read numbers with (parse-long s) or (parse-double s)",
    ),
    (
        &[
            "DayOfWeek/MONDAY",
            "DayOfWeek/TUESDAY",
            "DayOfWeek/WEDNESDAY",
            "DayOfWeek/THURSDAY",
            "DayOfWeek/FRIDAY",
            "DayOfWeek/SATURDAY",
            "DayOfWeek/SUNDAY",
        ],
        "weekdays are text: (= \"SATURDAY\" (.getDayOfWeek d))",
    ),
    (&["time"], "a program cannot measure itself: leave `time` out"),
    (&["bigint", "biginteger"], "integers have any size: leave it out, or cut a float with (int x)"),
    (&["sleep", "Thread/sleep", "wait"], "a program cannot wait: call the tool and use what it returns"),
    (
        &["bigdec", "rationalize", "numerator", "denominator"],
        "numbers are integers and floats: use (/ a b), round, quot",
    ),
    (&["lambda", "function", "λ", "defun"], "write (fn [x] …), #(… %) or (defn name [x] …)"),
    (&["var-get", "let*", "fn*", "loop*"], "write let, fn or loop"),
    (
        &["elif", "elseif", "else", "switch", "match", "unless"],
        "choose with (if test a b), (when-not test …), (cond test a :else b) or (case x 1 a b)",
    ),
    (&["null", "None", "undefined", "NULL", "Nil", "nul"], "nothing is written nil"),
    (&["True", "TRUE"], "write true"),
    (&["False", "FALSE"], "write false"),
    (&["len", "length", "size"], "count with (count xs)"),
    (&["append", "push", "add"], "add to the end with (conj xs x), join with (concat xs ys)"),
    (&["foreach", "forEach", "each", "mapc"], "loop with (doseq [x xs] …), collect with (map f xs)"),
    (&["foldl", "foldr", "fold", "inject", "foldLeft"], "fold with (reduce f start xs)"),
    (&["identical?", "eq?", "eql", "equal?", "equals"], "compare with (= a b)"),
    (
        &["hash", "hash-code", "hashCode"],
        "there are no hash codes: any value can be a key, as in (get {[1 2] :a} [1 2])",
    ),
    (&["exit", "quit", "System/exit"], "end with (return value), or with (fail \"reason\")"),
    (&["car", "head"], "write (first xs)"),
    (&["cdr", "tail"], "write (rest xs)"),
    (&["progn", "begin"], "put forms in sequence with (do a b)"),
    (&["while-let", "when-let*", "if-let*"], "write when-let or if-let, one inside the other"),
    (&["toString", "to-string", "string", "to_s"], "make text with (str x)"),
    (&["concat-str", "string-append", "strcat"], "join text with (str a b) or (str/join \", \" xs)"),
];

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
