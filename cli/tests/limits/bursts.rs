//! Much memory at once, or little by little.

use crate::attack::Attack;

/// Text of five million letters, by doubling: most of what a run may hold.
pub const LONG: &str = "(def s (loop [s \"a\"] (if (< (count s) 4000000) (recur (str s s)) s)))";

/// Programs that must meet the limit on live data, whatever else they do.
const GROWING: &[(&str, &str)] = &[
    ("concat", "(loop [v [1]] (recur (concat v v)))"),
    ("into", "(loop [v [1]] (recur (into v v)))"),
    ("conj", "(loop [v []] (recur (conj v 1)))"),
    ("vectors_of_vectors", "(loop [v []] (recur (conj v (mapv identity (range 1000)))))"),
    ("repeat", "(vec (repeat 1000000000 1))"),
    ("range", "(into [] (range 1000000000000))"),
    ("mapv", "(mapv inc (range 1000000000))"),
    ("text_doubled", "(loop [s \"ab\"] (recur (str s s)))"),
    ("method_concat", "(loop [s \"ab\"] (recur (.concat s s)))"),
    ("method_repeat", "(.repeat \"0123456789\" 1000000000000)"),
    ("join", "(let [s (apply str (repeat 100000 \"x\"))] (str/join s (range 1000000)))"),
    ("interpose", "(interpose 0 (mapv identity (range 500000)))"),
    ("interleave", "(let [v (mapv identity (range 300000))] (interleave v v v v v v v v))"),
    ("format_width", "(format \"%2000000000d\" 1)"),
    ("format_precision", "(format \"%.2000000000f\" 1.0)"),
    ("replace_by_long", "(let [s (apply str (repeat 100000 \"a\"))] (str/replace s \"a\" s))"),
    ("replace_regex_by_long", "(let [s (apply str (repeat 100000 \"a\"))] (str/replace s #\"a\" s))"),
    (
        "replace_regex_by_groups",
        "(let [s (apply str (repeat 100000 \"a\"))] (str/replace s #\"(a+)\" (apply str (repeat 1000 \"$1\"))))",
    ),
    ("escape", "(let [s (apply str (repeat 100000 \"a\"))] (str/escape s {\"a\" s}))"),
    ("partition", "(partition 1000 1 (range 100000))"),
    ("combinations", "(combinations (range 1000) 3)"),
    ("for_for", "(for [x (range 10000) y (range 10000)] [x y])"),
    ("frequencies", "(frequencies (range 100000000))"),
    ("group_by", "(group-by identity (range 100000000))"),
    ("zipmap", "(zipmap (range 100000000) (range 100000000))"),
    ("sort", "(sort (range 100000000 0 -1))"),
    ("set", "(set (range 100000000))"),
    ("sorted_set", "(into (sorted-set) (range 100000000))"),
    ("nested", "(loop [v nil] (recur [v]))"),
    ("nested_maps", "(loop [v nil] (recur {:k v}))"),
    ("closures", "(loop [f inc] (recur (fn [x] (f x))))"),
    ("memoize", "(let [f (memoize (fn [x] x))] (doseq [i (range 100000000)] (f i)))"),
    ("distinct_endless", "(first (drop 100000000 (distinct (range))))"),
    ("reductions", "(reductions conj [] (range 100000))"),
    ("flatten", "(let [v (mapv identity (range 10000))] (flatten (repeat 1000 v)))"),
    (
        "set_join",
        "(let [a (set (map (fn [i] {:k 1 :a i}) (range 3000))) b (set (map (fn [i] {:k 1 :b i}) (range 3000)))] (set/join a b))",
    ),
    ("keywords", "(into [] (map (fn [i] (keyword (str \"k\" i))) (range 10000000)))"),
    ("assoc_in", "(loop [m {} i 0] (recur (assoc-in m [i :a :b :c] i) (inc i)))"),
];

/// The same, beginning with the long text.
const ON_TEXT: &[(&str, &str)] = &[
    ("letters", "(vec s)"),
    ("split_letters", "(str/split s \"\")"),
    ("split_by_letter", "(count (str/split (str s \"b\") \"a\"))"),
    ("split_by_regex", "(count (str/split (str s \"b\") #\"a\"))"),
    ("re_seq_letters", "(re-seq #\"a\" s)"),
    ("re_seq_empty", "(re-seq #\"\" s)"),
    ("re_seq_groups", "(re-seq #\"((((a))))\" s)"),
    ("replace_by_function", "(str/replace s \"a\" (fn [_] \"b\"))"),
    ("replace_regex_by_function", "(str/replace s #\"a\" (fn [_] \"b\"))"),
    ("upper_case", "[(upper-case s) (upper-case s) (upper-case s)]"),
    ("reversed", "[(str/reverse s) (str/reverse s) (str/reverse s)]"),
    ("read_brackets", "(json/parse-string (str/replace s \"a\" \"[\"))"),
    ("generated", "(json/generate-string [s s s s s])"),
    ("read_numbers", "(json/parse-string (str \"[\" (subs (str/replace s \"aa\" \"1,\") 2) \"1]\"))"),
    ("read_lines", "(json/parse-lines (str/replace s \"aa\" \"1\\n\"))"),
    ("frequencies_of_letters", "(frequencies (str s s))"),
];

pub fn growing_data() -> Vec<Attack> {
    let stopped = |name: &str, program: String| {
        Attack::new("memory_bytes", name, program, &["memory_exceeded", "runtime_error"])
    };
    let mut all: Vec<Attack> =
        GROWING.iter().map(|(name, program)| stopped(name, program.to_string())).collect();
    // Not all of these need more than there is; none may take more than that.
    all.extend(ON_TEXT.iter().map(|(name, program)| {
        Attack::new("memory_bytes", name, format!("{LONG} {program}"), &["memory_exceeded", "ok"])
    }));
    // A large limit is kept as well as a small one.
    all.push(
        stopped("sixty_four_megabytes", "(loop [v [1]] (recur (into v v)))".into())
            .with("memory_bytes", 64_000_000),
    );
    all.push(
        stopped("one_megabyte", "(loop [v [1]] (recur (into v v)))".into()).with("memory_bytes", 1_000_000),
    );
    all
}
