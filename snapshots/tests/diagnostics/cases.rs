//! Failing programs, each with one kind of error, and their setups. Their names become file names.

use super::setup::{Setup, host, with};
use ptc_bytecode::Code::{self, *};

/// One way to get an error.
pub struct Case {
    /// Expected code.
    pub code: Code,
    /// Name that distinguishes it from other cases of this code.
    pub name: &'static str,
    /// Source of the program; empty for errors of the host.
    pub source: &'static str,
    /// Grants and limits.
    pub setup: Setup,
}

/// Creates a case with the default setup.
fn plain(code: Code, name: &'static str, source: &'static str) -> Case {
    Case { code, name, source, setup: Setup::default() }
}

/// Creates a case with its own setup.
fn under(code: Code, name: &'static str, source: &'static str, setup: Setup) -> Case {
    Case { code, name, source, setup }
}

/// Codes without a case here, each with the reason.
pub const NOT_YET: &[(Code, &str)] = &[
    (CompileTimeout, "depends on the clock; runtime/tests/compile_limit.rs has a case"),
    (ValidationError, "part 5, signatures"),
    (InvalidConfig, "the command line only; its own tests show it"),
    (EffectDiverged, "needs a ledger; runtime/tests/effects.rs has cases"),
    (UnknownAnswer, "needs a plan; runtime/tests/plan.rs has cases"),
    (PlanDiffers, "needs a plan; runtime/tests/plan.rs has cases"),
    (OutcomeUnknown, "needs a ledger; runtime/tests/effects.rs has cases"),
    (ArtifactInvalid, "never: the host runs a library as a program"),
    (UnsupportedFormat, "bytecode/tests/files.rs has cases"),
    (AbiMismatch, "names numbers that change; bytecode/tests/files.rs has a case"),
    (ArtifactTooLarge, "runtime/tests/preludes/files.rs has a case"),
    (ArtifactLimitExceeded, "bytecode/tests/files.rs has a case"),
    (NonCanonical, "bytecode/tests/files.rs has cases"),
    (BadConstant, "bytecode/tests/rules.rs has cases"),
    (BadFunction, "bytecode/tests/rules.rs has cases"),
    (BadInstruction, "bytecode/tests/rules.rs has cases"),
    (BadControlFlow, "bytecode/tests/rules.rs has cases"),
    (UninitialisedRegister, "bytecode/tests/rules.rs has cases"),
    (MissingFuelCheck, "bytecode/tests/rules.rs has cases"),
    (BadExport, "bytecode/tests/rules.rs has cases"),
    (AuthorityMismatch, "runtime/tests/preludes/files.rs has cases"),
    (SourceMismatch, "runtime/tests/preludes/files.rs has cases"),
    (Untrusted, "runtime/tests/preludes/files.rs has cases"),
    (UnresolvedBuiltin, "bytecode/tests/rules.rs has a case"),
    (InterfaceChanged, "runtime/tests/preludes/files.rs has a case"),
    (HashMismatch, "runtime/tests/preludes/pins.rs has cases"),
    (SourceTooLarge, "a long text; runtime/tests/preludes/source_rules.rs has a case"),
    (NotFound, "runtime/tests/preludes/store.rs has a case"),
    (InvalidArgument, "runtime/tests/preludes/store.rs has a case"),
    (InvalidRef, "runtime/tests/preludes/store.rs has a case"),
    (ChecksumMismatch, "runtime/tests/preludes/store.rs has a case"),
    (StaleBase, "runtime/tests/preludes/store.rs has a case"),
    (PreludeNamespaceViolation, "runtime/tests/preludes/store.rs has a case"),
    (PreludeCompileError, "runtime/tests/preludes/store.rs has a case"),
    (IdLimitExceeded, "runtime/tests/preludes/store.rs has a case"),
    (StoreBytesExceeded, "runtime/tests/preludes/store.rs has a case"),
    (MetadataTooLarge, "runtime/tests/preludes/store.rs has a case"),
    (StoreCorrupt, "runtime/tests/preludes/store_disk.rs has a case"),
    (StoreUnavailable, "runtime/tests/preludes/store_disk.rs has a case"),
    (StoreBusy, "runtime/tests/preludes/store_disk.rs has a case"),
    (Internal, "never: it means a bug"),
];

/// Returns all cases, by code.
pub fn cases() -> Vec<Case> {
    let mut all = reading();
    all.extend(analysis());
    all.extend(evaluation());
    all.extend(limits());
    all.extend(hosts());
    all.extend(preludes());
    all
}

fn preludes() -> Vec<Case> {
    let no_prelude = |code, name, source| under(code, name, source, host(super::setup::no_prelude));
    vec![
        no_prelude(ParseError, "prelude", "(ns crm)\n(defn f [x] (inc x)"),
        no_prelude(ReservedNamespace, "tool", "(ns tool)\n(defn f [] 1)"),
        no_prelude(ReservedNamespace, "language", "(ns clojure.string)\n(defn trim [s] s)"),
        no_prelude(InvalidNamespace, "twice", "(ns crm)\n(def a 1)\n(ns crm)"),
        no_prelude(InvalidNamespace, "text", "(ns \"crm\")"),
        no_prelude(InvalidNamespace, "require", "(ns crm (:require [erp]))"),
        no_prelude(MissingNamespace, "before", "(defn find [id] id)\n(ns crm)"),
        no_prelude(DuplicateRef, "private", "(ns crm)\n(defn find [id] id)\n(defn- find [] 1)"),
        no_prelude(InvalidVisibility, "public", "(ns crm)\n(defn find {:visibility :public} [id] id)"),
        no_prelude(InvalidSignature, "no_vector", "(ns crm)\n(defn find id)"),
        no_prelude(InvalidMetadata, "string_key", "(ns crm {\"visibility\" :prompt})"),
        no_prelude(InvalidRequires, "keyword", "(ns crm)\n(defn find {:requires [:crm/find]} [id] id)"),
        no_prelude(QualifiedSelfReference, "call", "(ns crm)\n(defn f [] 1)\n(defn g [] (crm/f))"),
        no_prelude(ImpureConstant, "clock", "(ns crm)\n(def started (currentTimeMillis))"),
        no_prelude(CompileError, "other_form", "(ns crm)\n(println \"hello\")"),
        no_prelude(CompileError, "undefined", "(ns crm)\n(defn find [id] (claen id (nope)))"),
        no_prelude(CompileError, "other_namespace", "(ns a)\n(defn f [] 1)\n(ns b)\n(defn g [] (a/f))"),
        under(
            PreludeAttachFailed,
            "tool",
            "(ns log)\n(defn sessions [] (tool/log_sessions {}))",
            host(super::setup::not_attached),
        ),
        under(
            PrivateToolUnauthorized,
            "program",
            "(tool/store_put {:id \"a\"})",
            host(super::setup::private_tool),
        ),
        under(
            PrivateToolArgsError,
            "number",
            "(ns store)\n(defn put [id] (tool/store_put {:id id}))",
            host(super::setup::private_arguments),
        ),
    ]
}

fn reading() -> Vec<Case> {
    vec![
        plain(
            ParseError,
            "left_open",
            "(defn total [rows]\n  (reduce + (map :amount rows))\n\n(total data/rows)",
        ),
        plain(ParseError, "left_open_at_end", "(map inc (filter odd? [1 2 3])"),
        plain(ParseError, "wrong_closer", "(let [x (inc 1)]\n  (str x])"),
        plain(ParseError, "unclosed_string", "(println \"hello)"),
        plain(ParseError, "bad_number", "(+ 1 12ab)"),
        plain(ParseError, "ratio", "(+ 1/2 1)"),
        plain(ParseError, "auto_keyword", "{::id 1}"),
        plain(ParseError, "odd_map", "{:name \"a\" :age}"),
        plain(ParseError, "foreign_letters", "(def größe 1)"),
        plain(ParseError, "deref", "(println @)"),
        plain(ParseError, "syntax_quote", "`(a ~b)"),
        plain(ParseError, "reader_conditional", "#?(:clj 1 :cljs 2)"),
        plain(ParseError, "tagged_literal", "#uuid \"1-2\""),
        plain(ParseError, "long_character", "\\toolong"),
        plain(ParseError, "quote_without_form", "(list ')"),
        plain(ParseError, "inst_without_text", "#inst 5"),
        plain(ParseError, "several", "(let [a 1]\n  (foo ::b)\n  {:a}\n  12ab)"),
        under(ParseError, "nesting", "[[[[[1]]]]]", with(|limits| limits.nesting = 3)),
        under(ParseError, "digits", "(+ 1 12345678901234567890)", with(|limits| limits.digits = 10)),
        under(ProgramTooLarge, "source", "(+ 1 2 3 4 5 6 7 8)", with(|limits| limits.source_bytes = 10)),
        under(
            SymbolLimitExceeded,
            "names",
            "(let [a 1 b 2 c 3 d 4] (+ a b c d))",
            with(|limits| limits.symbols = 3),
        ),
        // With the usual time limit, a busy machine would time out first.
        under(
            CompileMemoryExceeded,
            "patterns",
            super::setup::growing(),
            with(|limits| {
                limits.compile_ms = 600_000;
                limits.compile_fuel = u64::MAX / 4;
            }),
        ),
        under(
            CompileFuelExceeded,
            "vector",
            "[1 2 3 4 5 6 7 8 9 10]",
            with(|limits| limits.compile_fuel = 100),
        ),
    ]
}

fn analysis() -> Vec<Case> {
    vec![
        plain(InvalidForm, "recur_not_last", "(loop [i 0]\n  (+ 1 (recur (inc i))))"),
        plain(InvalidForm, "computed_tool_name", "(call (str \"se\" \"arch\") {:q 1})"),
        plain(InvalidForm, "computed_memory", "(memory/put (keyword \"a\") 1)"),
        plain(UnboundVar, "form_as_value", "(map if [1 2])"),
        plain(InvalidForm, "odd_bindings", "(let [x 1 y] (+ x y))"),
        plain(InvalidForm, "bindings_not_a_vector", "(let (x 1) x)"),
        plain(InvalidForm, "nested_short_functions", "(map #(filter #(> % 1) %) [[1 2]])"),
        plain(InvalidForm, "qualified_def", "(def data/x 1)"),
        plain(InvalidForm, "function_without_parameters", "(fn x (inc x))"),
        plain(InvalidForm, "case_twice", "(case 1 :a 1 :b 2 :a 3)"),
        plain(InvalidForm, "unknown_namespace", "(http/get \"x\")"),
        plain(InvalidForm, "unknown_in_namespace", "(str/uper-case \"a\")"),
        plain(UnboundVar, "mutable_state", "(ref 0)"),
        plain(Uncaught, "nobody_catches", "(throw (ex-info \"no rows\" {:table \"orders\"}))"),
        plain(InvalidForm, "unknown_exception", "(try (/ 1 0) (catch Oops e 0))"),
        plain(UnboundVar, "macro", "(defmacro unless [t b] (list 'if t nil b))"),
        plain(InvalidForm, "require", "(ns app (:require [clojure.strin :as s]))"),
        plain(UnboundVar, "other_language", "const total = 1;"),
        plain(InvalidForm, "two_equal_arities", "(defn f ([a] 1) ([b] 2))"),
        plain(InvalidForm, "for_without_vector", "(for x [1 2] x)"),
        plain(InvalidForm, "bad_date", "#inst \"yesterday\""),
        plain(InvalidArity, "if", "(if (pos? 1))"),
        plain(InvalidArity, "def", "(def)"),
        plain(InvalidArity, "defn_without_body", "(defn f)"),
        plain(InvalidArity, "for_without_body", "(for [x [1 2]])"),
        plain(InvalidArity, "for_over_literal_number", "(for [x 7] x)"),
        plain(InvalidCondForm, "odd", "(cond (pos? 1) :plus :else)"),
        plain(InvalidThreadForm, "empty", "(->>)"),
        plain(InvalidThreadForm, "empty_step", "(-> 5 inc ())"),
        plain(InvalidThreadForm, "odd_clause", "(cond-> 1 true)"),
        plain(UnsupportedPattern, "literal", "(let [1 x] x)"),
        plain(UnsupportedPattern, "map_the_wrong_way_round", "(let [{:name n} {:name 1}] n)"),
        plain(UnsupportedPattern, "as_in_the_middle", "(let [[a :as all b] [1 2]] a)"),
        plain(InvalidPlaceholder, "outside", "(map (inc %) [1 2])"),
        plain(InvalidPlaceholder, "too_many", "#(+ %1 %99)"),
        plain(DuplicateKey, "map", "{:name \"a\"\n :age 1\n :name \"b\"}"),
        plain(DuplicateKey, "set", "#{1 2 1}"),
        plain(UnboundVar, "typo", "(fliter odd? [1 2 3])"),
        plain(UnboundVar, "own_name", "(def total 1)\n(+ totl 1)"),
        plain(UnboundVar, "several", "(let [rows data/rows]\n  (summarise row 5)\n  (frobnicate rows))"),
        plain(InvalidForm, "java_class", "(System/getenv \"HOME\")"),
        plain(InvalidForm, "not_in_namespace", "(set/map inc #{1})"),
        plain(InvalidForm, "pattern", "(re-find #\"(a\" \"ab\")"),
        plain(UnboundVar, "has_a_prefix", "(log 2)"),
        plain(UnboundVar, "in_its_own_definition", "(def total (+ total 1))"),
        plain(UnboundVar, "byte_order_mark", "\u{feff}(inc totl)"),
        plain(TypeError, "map_pattern_on_a_number", "(let [{:keys [a]} 5] a)"),
        plain(InvalidArity, "task", "(task \"load\")"),
        plain(UnboundVar, "used_too_early", "(defn f [] (g))\n(f)\n(def g 1)"),
        plain(UnknownTool, "none_granted", "(tool/search {:q \"x\"})"),
        under(UnknownTool, "typo", "(tool/serach {:q \"x\"})", Setup::default().tools()),
        under(UnknownTool, "other", "(tool/weather {:city \"x\"})", Setup::default().tools()),
        plain(ArityError, "known_before_the_run", "(count [1] [2])"),
        plain(ArityMismatch, "known_function", "(defn area [w h] (* w h))\n(area 3)"),
        plain(ArityMismatch, "recur", "(loop [i 0 acc []] (recur (inc i)))"),
        plain(InvalidKeywordCall, "known_before_the_run", "(:a {:a 1} 2 3)"),
        plain(UnsupportedMethod, "method", "(.hashCode \"abc\")"),
        plain(UnsupportedMethod, "typo", "(.toUppercase \"abc\")"),
        plain(UnsupportedMethod, "begins_alike", "(.withNano (parse \"2024-05-01\") 0)"),
        plain(
            UnsupportedMethod,
            "periods",
            "(.getYears (Period/between (parse \"2024-05-01\") (parse \"2025-05-01\")))",
        ),
        plain(UnsupportedMethod, "chain", "(.. \"abc\" toUpperCase length)"),
    ]
}

fn evaluation() -> Vec<Case> {
    vec![
        plain(TypeError, "add_nil", "(defn sum [item]\n  (+ 10 (:price item)))\n\n(sum {:name \"tea\"})"),
        plain(TypeError, "multiply_nil", "(* nil 2)"),
        plain(TypeError, "atom_not_read", "(let [n (atom 1)]\n  (+ n 1))"),
        plain(TypeError, "no_atom", "(def counter 1)\n(println @counter)"),
        plain(TypeError, "doseq_over_number", "(let [n 7] (doseq [x n] (println x)))"),
        plain(TypeError, "key_of_an_item", "(sort-by (fn [row] (+ 1 (:n row))) [{:n 1} {:n nil}])"),
        plain(TypeError, "sort_by_text", "(sort-by \"k\" [{\"k\" 2} {\"k\" 1}])"),
        plain(TypeError, "float_index", "(nth [] 1.0)"),
        plain(TypeError, "get_the_wrong_way_round", "(get :a {:a 1})"),
        plain(TypeError, "comparator_last", "(sort-by :a [{:a 1}] >)"),
        plain(TypeError, "summary", "(step-done \"load\" nil)"),
        plain(ArityError, "update_with_default", "(update {:a 1} :a inc 0)"),
        plain(TypeError, "add_text", "(+ 1 \"2\")"),
        plain(TypeError, "subtract_keyword", "(- :a 1)"),
        plain(
            TypeError,
            "in_a_callback",
            "(map (fn [row] (* 2 (:price row)))\n     [{:price 1} {:price nil}])",
        ),
        plain(TypeError, "builtin_as_callback", "(map inc [1 2 nil])"),
        plain(TypeError, "reduce_operator", "(reduce + [1 \"2\" 3])"),
        plain(TypeError, "apply_operator", "(apply * [1 nil])"),
        plain(TypeError, "count_number", "(count 5)"),
        plain(TypeError, "map_over_number", "(map inc 5)"),
        plain(TypeError, "sort_of_number", "(sort < 5)"),
        plain(TypeError, "sort_as_callback", "(map sort [[2 1] 5])"),
        plain(TypeError, "replacement", "(str/replace \"aha\" \"h\" 3)"),
        plain(TypeError, "vector_called_with_key", "(let [rows [{:id 1} {:id 2}]]\n  (rows :id))"),
        plain(TypeError, "merge_with_text", "(merge-with + {:a 1} \"a\")"),
        plain(NotCallable, "filter_without_function", "(filter 5 [1 2])"),
        plain(TypeError, "sum_of_text", "(sum [1 \"a\"])"),
        plain(TypeError, "join_of_number", "(join \",\" 5)"),
        plain(TypeError, "assoc_on_number", "(assoc 5 :a 1)"),
        plain(TypeError, "conj_on_text", "(conj \"ab\" \"c\")"),
        plain(TypeError, "keys_of_vector", "(keys [1 2])"),
        plain(TypeError, "for_over_number", "(let [n 7] (for [x n] x))"),
        plain(TypeError, "long_value", "(+ 1 (str (range 200)))"),
        plain(ArityError, "as_callback", "(map count [1] [2])"),
        plain(ArityError, "set", "(let [s #{1 2}] (s 1 2))"),
        plain(ArithmeticError, "division", "(let [n 0]\n  (/ 10 n))"),
        plain(ArithmeticError, "modulus", "(mod 5 0)"),
        plain(ArithmeticError, "range_of_dates", "(.plusYears (parse \"2024-05-01\") 9000)"),
        plain(TypeError, "no_date", "(.plusDays (parse \"1 May 2024\") 1)"),
        plain(TypeError, "date_as_text", "(.plusDays \"2024-05-01\" 1)"),
        plain(
            TypeError,
            "mixed_dates",
            "(.isBefore (parse \"2024-05-01\") (parse \"2024-05-01T08:00:00Z\"))",
        ),
        plain(TypeError, "date_pattern", "(.format (parse \"2024-05-01\") \"Month yyyy\")"),
        plain(TypeError, "date_by_pattern", "(parse \"2024-05-01\" \"dd/MM/yyyy\")"),
        plain(TypeError, "time_of_a_date", "(.format (parse \"2024-05-01\") \"HH:mm\")"),
        plain(ArithmeticError, "range_of_int", "(int 3000000000)"),
        plain(ArityMismatch, "callback", "(map (fn [a b] (+ a b)) [1 2])"),
        plain(ArityMismatch, "arities", "(defn f ([a] a) ([a b] b))\n(apply f [1 2 3])"),
        plain(NotCallable, "number", "(let [total 5] (total 1))"),
        plain(NotCallable, "text", "(\"a\" 1)"),
        plain(NotCallable, "nil", "((:handler {}) 1)"),
        plain(NotCallable, "extra_brackets", "((+ 1 2))"),
        plain(NotCallable, "infix", "(let [total 5] (if (total > 3) :large :small))"),
        plain(NotCallable, "threaded_into_literal", "(-> 5 inc 3)"),
        plain(InvalidKeywordCall, "late", "(apply :a [])"),
        plain(InvalidMapCall, "nothing", "(let [m {:a 1}] (m))"),
        plain(DestructureError, "vector_from_number", "(let [[a b] 5] a)"),
        plain(DestructureError, "vector_from_map", "(defn f [[a b]] a)\n(f {:a 1})"),
        plain(DestructureError, "odd_keywords", "(defn f [& {:keys [a]}] a)\n(f :a)"),
        plain(UnboundVar, "no_value_yet", "(declare later)\n(defn f [] (later 1))\n(f)"),
        plain(RuntimeError, "assoc_out_of_range", "(assoc [1 2] 5 :x)"),
        plain(RuntimeError, "keyword_with_blank", "(keyword \"first name\")"),
        plain(RuntimeError, "union_of_vectors", "(union [1] [2])"),
        plain(RuntimeError, "number_from_text", "(int \"42\")"),
        plain(RuntimeError, "odd_assoc", "(assoc {} :a)"),
        plain(UnboundVar, "data_not_granted", "(count data/orders)"),
        under(UnboundVar, "data_misspelt", "(count data/row)", Setup::default().data()),
        plain(AssertionFailed, "plain", "(assert (pos? (- 1 5)))"),
        plain(AssertionFailed, "message", "(assert (= 1 2) \"numbers must match\")"),
        under(InvalidToolArgs, "number", "(tool/search 5)", Setup::default().tools()),
        under(InvalidToolArgs, "odd", "(tool/search :q)", Setup::default().tools()),
        under(ToolError, "refused", "(tool/broken {:q \"x\"})", Setup::default().tools()),
        under(
            ToolCallLimitExceeded,
            "second_call",
            "[(tool/search {}) (tool/search {})]",
            with(|limits| limits.tool_calls = 1).tools(),
        ),
        plain(PmapError, "atom_of_the_program", "(def n (atom 0))\n(pmap (fn [x] (swap! n + x)) [1 2])"),
        plain(PmapError, "branch", "(pmap (fn [x] (+ 1 x)) [1 nil 3])"),
        under(PmapError, "tool", "(pmap (fn [x] (tool/broken {:q x})) [1 2])", Setup::default().tools()),
        plain(PcallsError, "branch", "(pcalls (fn [] 1) (fn [] (/ 1 0)))"),
        plain(Fail, "value", "(fail {:reason :not-found :id 7})"),
        plain(
            Fail,
            "in_a_function",
            "(defn check [x]\n  (if (pos? x) x (fail \"must be positive\")))\n\n(check -1)",
        ),
    ]
}

fn limits() -> Vec<Case> {
    vec![
        under(FuelExceeded, "loop", "(loop [i 0]\n  (recur (inc i)))", with(|limits| limits.fuel = 10_000)),
        under(FuelExceeded, "native", "(sum (range 100000))", with(|limits| limits.fuel = 10_000)),
        under(
            MemoryExceeded,
            "growing",
            "(loop [v []]\n  (recur (conj v (str \"row \" (count v)))))",
            with(|limits| limits.memory_bytes = 1_000_000).masked(),
        ),
        under(MemoryExceeded, "native", "(reverse (range 1000000000000))", with(|_| {}).masked()),
        under(
            MemoryExceeded,
            "granted",
            "data/rows",
            with(|limits| limits.granted_bytes = 100).data().masked(),
        ),
        under(
            StackExceeded,
            "recursion",
            "(defn f [n]\n  (+ 1 (f (inc n))))\n\n(f 0)",
            with(|limits| limits.stack_bytes = 100_000),
        ),
        under(
            Timeout,
            "loop",
            "(loop [i 0]\n  (recur (inc i)))",
            with(|limits| limits.timeout_ms = 5).masked(),
        ),
        under(Cancelled, "at_once", "(loop [i 0]\n  (recur (inc i)))", Setup::default().cancelled().masked()),
        under(
            LoopLimitExceeded,
            "loop",
            "(loop [i 0]\n  (if (< i 2000) (recur (inc i)) i))",
            with(|limits| limits.loop_iterations = 1_000),
        ),
        under(
            OutputExceeded,
            "prints",
            "(doseq [i (range 100)]\n  (println \"row\" i))",
            with(|limits| limits.output_bytes = 100),
        ),
        under(OutputExceeded, "result", "(range 1000)", with(|limits| limits.result_bytes = 100).printed()),
        under(
            OutputExceeded,
            "result_fuel",
            "(range 1000)",
            with(|limits| limits.result_fuel = 100).printed(),
        ),
        under(
            ParallelCapacityExceeded,
            "nested",
            "(pmap (fn [x] (pmap (fn [y] (+ x y)) [1 2])) [1 2])",
            with(|limits| limits.parallel_depth = 1),
        ),
    ]
}

fn hosts() -> Vec<Case> {
    vec![
        under(InvalidTool, "no_such_call", "", host(super::setup::answered_twice)),
        under(InvalidData, "not_json", "", host(super::setup::bad_json)),
        under(SurplusBracket, "one", "(let [x 1]\n  (inc x)))", host(super::setup::warned)),
        under(SurplusBracket, "several", "(+ 1 2)) ; sum\n]}", host(super::setup::warned)),
        under(
            MisplacedDoc,
            "behind",
            "(defn twice [x]\n  \"Doubles x.\"\n  (* 2 x))",
            host(super::setup::warned),
        ),
        under(UnknownField, "one_letter", "(sum-by :totl data/rows)", host(super::setup::over_rows)),
        under(
            AbsentField,
            "made",
            "(map (fn [r] (:summ {:id (:id r) :sum 3})) data/rows)",
            host(super::setup::over_rows),
        ),
        under(AbsentField, "none_near", "(map :price data/rows)", host(super::setup::over_rows)),
        under(
            AbsentField,
            "met_in_the_run",
            "(map :totl (json/parse-string \"[{\\\"total\\\": 3}]\"))",
            host(super::setup::over_rows),
        ),
        under(AbsentField, "taken_out", "(map #(dissoc % :id) data/rows)", host(super::setup::over_rows)),
        under(RefusedArguments, "missing", "(tool/orders {:limit 3})", host(super::setup::shaped)),
        under(RefusedArguments, "kind", "(tool/orders {:customer [1]})", host(super::setup::shaped)),
        under(
            UndeclaredField,
            "answer",
            "(map :totl (tool/orders {:customer \"a\"}))",
            host(super::setup::shaped),
        ),
        under(
            UndeclaredField,
            "argument",
            "(tool/orders {:customer \"a\" :limt 3})",
            host(super::setup::shaped),
        ),
        under(
            NeverEqual,
            "one_letter",
            "(filter #(= (:status %) \"payd\") data/rows)",
            host(super::setup::over_rows),
        ),
        under(
            NeverEqual,
            "keyword",
            "(filter #(= (:status %) :paid) data/rows)",
            host(super::setup::over_rows),
        ),
        under(Corrupt, "damaged", "", host(super::setup::damaged_artifact)),
        under(BadMagic, "not_an_artifact", "", host(super::setup::no_artifact)),
        under(SnapshotInvalid, "cut_short", "", host(super::setup::cut_snapshot)),
        under(SnapshotInvalid, "ended", "", host(super::setup::snapshot_of_nothing)),
        under(
            UnrecognizedNode,
            "library",
            "(defn f [x] x)\n(+ 1 2)",
            host(super::setup::library_with_a_call),
        ),
    ]
}
