//! Names of other languages and their replacements. Hints and the page on Clojure are made from this table.

/// Hint for forms of test files that are used elsewhere.
pub(crate) const TESTS: &str = "tests of a prelude are in a file next to it, crm_test.clj for crm.clj, which `ptc test` runs; a program checks with (assert (= 3 (+ 1 2)) \"message\")";

/// Groups of names with their replacement. A name that becomes a builtin leaves this table.
#[rustfmt::skip]
pub(super) const FOREIGN: &[(&[&str], &str)] = &[
    // Definitions, macros and control flow
    (&["let*", "fn*", "loop*", "letfn*", "case*"], "write let, fn, loop, letfn or case"),
    (
        &[
            "defmacro", "macroexpand", "macroexpand-1", "macroexpand-all", "gensym", "definline", "unquote",
            "unquote-splicing", "special-symbol?",
        ],
        "there are no macros: write a function with (defn name [x] …)",
    ),
    (
        &["destructure", "seq-to-map-for-destructuring"],
        "take values apart with a pattern: (let [[a b] xs {:keys [c]} m] …)",
    ),
    (&["lambda", "function", "λ", "defun"], "write (fn [x] …), #(… %) or (defn name [x] …)"),
    (
        &["elif", "elseif", "else", "switch", "match", "unless"],
        "choose with (if test a b), (when-not test …), (cond test a :else b) or (case x 1 a b)",
    ),
    (&["while-let", "when-let*", "if-let*"], "write when-let or if-let, one inside the other"),
    (&["progn", "begin"], "put forms in sequence with (do a b)"),
    (&["foreach", "forEach", "each", "mapc"], "loop with (doseq [x xs] …), collect with (map f xs)"),
    (&["exit", "quit", "System/exit"], "end with (return value), or with (fail \"reason\")"),
    (&["null", "None", "undefined", "NULL", "Nil", "nul"], "write nil"),
    (&["True", "TRUE"], "write true"),
    (&["False", "FALSE"], "write false"),
    // Exceptions
    (&["catch", "finally"], "it belongs inside `try`: (try (f x) (catch Exception e (ex-message e)))"),
    (&["*e"], "name the exception where it is caught: (try (f x) (catch Exception e (ex-message e)))"),
    (
        &["raise", "error"],
        "throw an exception: (throw (ex-info \"no rows\" {})), or end the run: (fail \"no rows\")",
    ),
    (
        &["Throwable->map", "StackTraceElement->vec"],
        "read an exception with (ex-message e), (ex-data e) and (ex-cause e)",
    ),
    // State
    (
        &[
            "ref", "ref-set", "alter", "commute", "dosync", "ensure", "sync", "io!", "ref-history-count",
            "ref-max-history", "ref-min-history", "agent", "send", "send-off", "send-via", "await", "await1",
            "await-for", "agent-error", "agent-errors", "clear-agent-errors", "restart-agent", "error-handler",
            "set-error-handler!", "error-mode", "set-error-mode!", "release-pending-sends", "shutdown-agents",
            "set-agent-send-executor!", "set-agent-send-off-executor!", "*agent*", "set!", "var-set",
            "alter-var-root", "setq", "setf",
        ],
        "what changes goes into an atom: (let [n (atom 0)] (swap! n inc) @n)",
    ),
    (
        &["add-watch", "remove-watch", "get-validator", "set-validator!"],
        "atoms have no watches and no validators: check in the function given to `swap!`, as in (let [n (atom 0)] (swap! n (fn [x] (assert (int? x)) (inc x))))",
    ),
    (
        &[
            "binding", "with-redefs", "with-redefs-fn", "intern", "bound-fn", "bound-fn*", "bound?", "with-bindings",
            "with-bindings*", "with-local-vars", "thread-bound?", "get-thread-bindings", "push-thread-bindings",
            "pop-thread-bindings",
        ],
        "definitions cannot be changed temporarily: bind a name with (let [x …] …) or (def x …), or keep what changes in (atom 0)",
    ),
    // Parallel work
    (
        &[
            "future", "promise", "deliver", "thread", "go", "chan", "future-call", "future-cancel",
            "future-cancelled?", "future-done?", "pvalues",
        ],
        "run in parallel with (pmap f xs) or (pcalls f g)",
    ),
    (
        &["delay", "force"],
        "values are computed at once: write the value itself, or a function to call later, as in (let [f (fn [] 1)] (f))",
    ),
    (
        &["delay?", "future?", "realized?"],
        "values are computed at once, so there is nothing to wait for: leave the test out",
    ),
    (&["locking", "monitor-enter", "monitor-exit"], "there are no threads, so nothing needs a lock: write only the body"),
    (&["sleep", "Thread/sleep", "wait"], "a program cannot wait: call the tool and use what it returns"),
    (&["time"], "a program cannot measure itself: leave `time` out"),
    // Code as data, namespaces and vars
    (
        &[
            "eval", "load-string", "load-file", "load", "load-reader", "resolve", "ns-resolve", "find-var",
            "requiring-resolve",
        ],
        "code cannot be made from text: write the code itself; read data with (json/parse-string s)",
    ),
    (
        &[
            "read-string", "read", "read+string", "tagged-literal", "tagged-literal?", "reader-conditional",
            "reader-conditional?", "default-data-readers", "*data-readers*", "*default-data-reader-fn*",
            "*read-eval*", "*reader-resolver*", "*suppress-read*",
        ],
        "code is not read from text: read numbers with (parse-long s) or (parse-double s), data with (json/parse-string s)",
    ),
    (
        &["use", "import", "import*", "refer", "refer-clojure", "in-ns", "alias", "add-classpath", "loaded-libs"],
        "nothing needs to be loaded: call functions by name, as in (str/join \",\" xs), or write (require '[clojure.string :as s])",
    ),
    (&["the-ns", "create-ns", "ns-map", "var-get"], "name the value itself, or #'name for its var"),
    (&["var?"], "vars are not passed around: name the value itself"),
    (
        &[
            "remove-ns", "find-ns", "ns-aliases", "ns-imports", "ns-interns", "ns-refers", "ns-unalias", "ns-unmap",
            "*ns*",
        ],
        "a program has one namespace: (all-ns) lists the others, (ns-publics str) what is in one",
    ),
    (
        &["with-meta", "vary-meta", "alter-meta!", "reset-meta!"],
        "values carry no metadata: put it into a map beside the value",
    ),
    (&["test"], "check with (assert (= 3 (+ 1 2)) \"message\")"),
    (
        &["deftest", "is", "testing", "stub-tool", "tool-calls", "thrown?", "thrown-with-msg?", "fails?", "fails-with?"],
        TESTS,
    ),
    (
        &["are", "use-fixtures", "run-tests", "run-test", "deftest-", "join-fixtures", "test-var", "run-all-tests"],
        "write checks with (deftest name (is (= expected expr))) in a file such as crm_test.clj, and run it with `ptc test`; (doseq [x xs] (is …)) checks several values",
    ),
    (
        &[
            "compile", "clojure-version", "*clojure-version*", "*allow-unresolved-vars*", "*assert*",
            "*compile-files*", "*compile-path*", "*compiler-options*", "*file*", "*flush-on-newline*", "*fn-loader*",
            "*math-context*", "*print-dup*", "*print-length*", "*print-level*", "*print-meta*",
            "*print-namespace-maps*", "*print-readably*", "*source-path*", "*unchecked-math*",
            "*use-context-classloader*", "*verbose-defrecords*", "*warn-on-reflection*", "with-loading-context",
        ],
        "the compiler and the printer have no settings: leave it out",
    ),
    (&["*command-line-args*"], "programs get their input as granted data: data/name"),
    // Printing and files
    (
        &["slurp", "spit", "read-line", "with-open", "open", "file-seq", "line-seq", "with-in-str", "*in*"],
        "there are no files: read granted data as data/name, and call tools as (tool/name {:key value})",
    ),
    (
        &[
            "print", "pr", "printf", "newline", "flush", "pprint", "console.log", "display", "with-out-str",
            "print-table", "cl-format", "print-str", "println-str", "print-simple", "print-ctor", "print-dup",
            "print-method", "PrintWriter-on", "*out*", "*err*", "add-tap", "remove-tap", "tap>",
        ],
        "print with (println x); build text with (str a b) or (format \"%s\" x)",
    ),
    // Numbers and comparison
    (&["bigint", "biginteger", "num", "byte", "short"], "integers have any size: leave it out, or cut a float with (int x)"),
    (
        &["bigdec", "rationalize", "numerator", "denominator", "with-precision"],
        "numbers are integers and floats: use (/ a b), round, quot",
    ),
    (
        &[
            "unchecked-add", "unchecked-add-int", "unchecked-dec", "unchecked-dec-int", "unchecked-divide-int",
            "unchecked-inc", "unchecked-inc-int", "unchecked-multiply", "unchecked-multiply-int", "unchecked-negate",
            "unchecked-negate-int", "unchecked-remainder-int", "unchecked-subtract", "unchecked-subtract-int",
        ],
        "integers never overflow: write + - * inc dec quot or rem",
    ),
    (
        &[
            "unchecked-byte", "unchecked-char", "unchecked-double", "unchecked-float", "unchecked-int",
            "unchecked-long", "unchecked-short",
        ],
        "convert with (long x), (double x) or (char n); cut off bits with (bit-and x 255)",
    ),
    (
        &["Long.", "Integer.", "Double.", "Float.", "BigDecimal.", "java.math.BigDecimal."],
        "read numbers with (parse-long s) or (parse-double s)",
    ),
    (
        &[
            "rand", "rand-int", "rand-nth", "shuffle", "random-uuid", "random-sample", "UUID/randomUUID",
            "java.util.UUID/randomUUID", "Math/random",
        ],
        "there is no randomness, so runs are repeatable: take numbers from granted data or a tool",
    ),
    (&["identical?", "eq?", "eql", "equal?", "equals"], "compare with (= a b)"),
    (
        &[
            "hash", "hash-code", "hashCode", "hash-combine", "hash-ordered-coll", "hash-unordered-coll",
            "mix-collection-hash",
        ],
        "there are no hash codes: any value can be a key, as in (get {[1 2] :a} [1 2])",
    ),
    // Text, keywords and symbols
    (&["toString", "to-string", "string", "to_s"], "make text with (str x)"),
    (&["concat-str", "string-append", "strcat"], "join text with (str a b) or (str/join \", \" xs)"),
    (
        &["StringBuilder.", "java.lang.StringBuilder.", "StringBuffer.", "String."],
        "text is built with (str a b), (str/join \", \" xs) and (apply str xs); sequences are vectors",
    ),
    (
        &["re-matcher", "re-groups"],
        "(re-find re s) gives the first match with its groups, (re-seq re s) all of them",
    ),
    (&["char-escape-string", "char-name-string"], "write text so that it can be read back with (pr-str s)"),
    (&["munge", "namespace-munge"], "replace characters with (str/replace s \"-\" \"_\")"),
    (&["symbol"], "symbols cannot be made, only quoted: use keywords"),
    (&["find-keyword"], "make a keyword with (keyword s)"),
    (&["ident?", "simple-ident?", "qualified-ident?"], "test with (keyword? x) or (symbol? x)"),
    (&["simple-symbol?", "qualified-symbol?"], "test with (symbol? x)"),
    (
        &["uuid?", "uri?", "bytes?"],
        "ids, addresses and bytes are text: test with (string? x); (parse-uuid s) is nil for other text",
    ),
    // Collections and sequences
    (&["len", "length", "size"], "count with (count xs)"),
    (&["append", "push", "add"], "add to the end with (conj xs x), join with (concat xs ys)"),
    (&["foldl", "foldr", "fold", "inject", "foldLeft"], "fold with (reduce f start xs)"),
    (&["car", "head"], "write (first xs)"),
    (&["cdr", "tail"], "write (rest xs)"),
    (
        &["lazy-cat"],
        "join sequences with (concat xs ys); endless ones are made by (iterate f x), (repeat x), (cycle xs) and (range)",
    ),
    (&["replicate"], "write (repeat n x)"),
    (&["bounded-count"], "write (count (take n xs))"),
    (&["halt-when"], "stop early with (take-while pred xs), or with (reduced x) inside `reduce`"),
    (&["iteration"], "call page after page with loop: (loop [page 1] (if (< page 3) (recur (inc page)) page))"),
    (
        &["seque", "iterator-seq", "enumeration-seq", "resultset-seq", "->Eduction"],
        "sequences are vectors and need no conversion: use the collection itself",
    ),
    (&["xml-seq"], "walk nested data with (tree-seq coll? seq x)"),
    (
        &[
            "chunk", "chunk-append", "chunk-buffer", "chunk-cons", "chunk-first", "chunk-next", "chunk-rest",
            "chunked-seq?", "->ArrayChunk",
        ],
        "sequences have no chunks inside: cut one into pieces with (partition-all n xs)",
    ),
    (&["prewalk-demo", "postwalk-demo"], "print on the way: (postwalk (fn [x] (println x) x) data)"),
    (&["vector-of", "->Vec", "->VecNode", "->VecSeq", "EMPTY-NODE"], "make vectors with (vector 1 2) or (vec xs)"),
    (
        &["create-struct", "defstruct", "struct", "struct-map", "accessor"],
        "use maps, as in {:a 1}, and keywords to read them: (:a m)",
    ),
    // Types
    (
        &[
            "defprotocol", "defrecord", "deftype", "deftype*", "definterface", "reify", "reify*", "proxy",
            "extend-type", "extend-protocol", "extend", "extenders", "extends?", "satisfies?", "record?",
            "find-protocol-impl", "find-protocol-method", "-cache-protocol-fn", "-reset-methods", "method-sig",
            "gen-class", "gen-interface", "proxy-super", "proxy-mappings", "proxy-name", "proxy-call-with-super",
            "construct-proxy", "init-proxy", "update-proxy", "get-proxy-class",
        ],
        "there are no types to define: use maps, as in {:kind :circle :r 2}, and (case (:kind x) …)",
    ),
    (
        &[
            "defmulti", "defmethod", "get-method", "methods", "prefer-method", "prefers", "remove-method",
            "remove-all-methods",
        ],
        "there are no multimethods: choose with (case (:kind x) :a … :b …) or a map of functions",
    ),
    (
        &["derive", "underive", "isa?", "parents", "ancestors", "descendants", "make-hierarchy"],
        "there are no hierarchies: keep one in a map, as in (get {:square :shape} :square)",
    ),
    // Java
    (&["..", ".", "memfn"], "call methods one at a time: (.length (.trim s)), or (-> s .trim .length)"),
    (
        &["new", "bean", "instance?", "class", "class?", "cast", "bases", "supers", "primitives-classnames"],
        "there are no classes: use functions, and (type x) or predicates such as string?",
    ),
    (
        &["ArrayList.", "java.util.ArrayList.", "HashMap.", "java.util.HashMap.", "HashSet."],
        "use vectors, maps and sets: (conj [] x), (assoc {} :k v), (conj #{} x)",
    ),
    (
        &[
            "aget", "aset", "aclone", "alength", "amap", "areduce", "aset-boolean", "aset-byte", "aset-char",
            "aset-double", "aset-float", "aset-int", "aset-long", "aset-short",
        ],
        "there are no arrays: use vectors, with (nth v i), (assoc v i x), (count v), (map f v) and (reduce f start v)",
    ),
    (
        &[
            "make-array", "into-array", "to-array", "to-array-2d", "object-array", "boolean-array", "byte-array",
            "char-array", "double-array", "float-array", "int-array", "long-array", "short-array", "booleans",
            "bytes", "chars", "doubles", "floats", "ints", "longs", "shorts",
        ],
        "there are no arrays: make vectors with (vec xs) or (vec (repeat n 0)), text with (apply str xs)",
    ),
    (&["Inst", "inst-ms*"], "milliseconds of a date are (inst-ms d)"),
    (
        &[
            "Period/between", "java.time.Period/between", ".getYears", ".getMonths", ".getDays", ".toTotalMonths",
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
            "YearMonth/from", "YearMonth/of", "YearMonth/parse", "YearMonth/now", "java.time.YearMonth/from",
            "java.time.YearMonth/parse", "java.time.YearMonth/of",
        ],
        "there are no months without a day: (.format d \"yyyy-MM\") is text to group by, (.withDayOfMonth d 1) the first day",
    ),
    (
        &["LocalTime/parse", "LocalTime/of", "java.time.LocalTime/parse", ".toLocalTime"],
        "there are no times without a date: count minutes, (+ (* 60 (.getHour t)) (.getMinute t))",
    ),
    (
        &["ZoneId/of", "ZoneId/systemDefault", "ZoneOffset/UTC", ".atZone", ".withZoneSameInstant", ".atOffset"],
        "there are no time zones: datetimes are in UTC; (.plusHours t 2) shifts one to a local time",
    ),
    (
        &["Locale/US", "Locale/ENGLISH", "Locale/ROOT", "java.util.Locale/US"],
        "there is one locale: leave it out",
    ),
    (
        &[
            "DayOfWeek/MONDAY", "DayOfWeek/TUESDAY", "DayOfWeek/WEDNESDAY", "DayOfWeek/THURSDAY", "DayOfWeek/FRIDAY",
            "DayOfWeek/SATURDAY", "DayOfWeek/SUNDAY",
        ],
        "weekdays are text: (= \"SATURDAY\" (.getDayOfWeek d))",
    ),
];
