//! Much work in one call of a native, or in many that look cheap.

use crate::attack::Attack;
use crate::bursts::LONG;

const ENDS: &[&str] = &["ok", "timeout", "memory_exceeded", "runtime_error", "type_error"];

/// Regexes that are slow somewhere; each meets a long text.
const PATTERNS: &[(&str, &str, &str)] = &[
    ("nested_stars", "(a*)*b", "s"),
    ("alternatives", "(a|a)*b", "s"),
    ("many_states", "[ab]*a[ab]{200}c", "s"),
    ("many_states_mixed", "[ab]*a[ab]{500}c", "mixed"),
    ("states_that_blow_up", "(?:a|b)*?a(?:a|b){60}(?:c|d)", "mixed"),
    ("repeats_of_repeats", "((a{50}){50}){4}b", "s"),
    ("optional", "a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaaaaaab", "s"),
    ("groups", "((((((((a|b)+)+)+)+)+)+)+)+c", "mixed"),
    ("captures", "^((a|b)*)*$", "mixed"),
    ("behind", "(?<=a)b(?<=c)", "mixed"),
    ("backtracking", "(?:(?=a)a|a)*b", "s"),
    ("backreference", "(a+)\\\\1b", "s"),
    ("backreferences", "(a*)(a*)(a*)\\\\1\\\\2\\\\3b", "s"),
    ("atomic", "(?>a+)b", "s"),
    ("lookahead_far", "a(?=.*c)", "s"),
    ("unicode", "\\\\p{L}+\\\\p{N}", "s"),
    ("ends_that_fail", ".*.*.*=.*", "s"),
    ("any_case", "(?i)(a|á|ä)+ß", "s"),
];

/// Ways to use one.
const USES: &[(&str, &str)] = &[
    ("find", "(re-find p x)"),
    ("matches", "(re-matches p x)"),
    ("seq", "(count (re-seq p x))"),
    ("split", "(count (str/split x p))"),
    ("replace", "(count (str/replace x p \"\"))"),
];

/// Patterns that are hard to make.
const MAKING: &[(&str, &str)] = &[
    ("repeats", "(re-pattern \"((((a{100}){100}){100}){100}){100}\")"),
    ("deep", "(re-pattern (str (.repeat \"(\" 1000) \"a\" (.repeat \")\" 1000)))"),
    ("long", "(re-pattern (.repeat \"a\" 3000000))"),
    ("classes", "(re-pattern (.repeat \"\\\\p{L}\" 500))"),
    (
        "many",
        "(loop [i 0 x nil] (recur (inc i) (re-find (re-pattern (str \"(?i)[\\\\p{L}a-z]{30}\" i)) \"abc\")))",
    ),
    (
        "many_large",
        "(loop [i 0 x nil] (recur (inc i) (re-find (re-pattern (str \"[ab]*a[ab]{900}\" i)) \"abc\")))",
    ),
    (
        "many_kept",
        "(let [ps (mapv (fn [i] (re-pattern (str \"[ab]*a[ab]{900}\" i))) (range 70))] (loop [i 0 x nil] (recur (inc i) (re-find (nth ps (rem i 70)) \"abc\"))))",
    ),
    (
        "optional_groups",
        "(loop [x nil] (recur (re-find (re-pattern (.repeat \"(a)?\" 900)) (.repeat \"a\" 20000))))",
    ),
    ("replacement", "(loop [x nil] (recur (.replaceAll \"ab\" \"(a)\" (.repeat \"$1\" 1000000))))"),
    (
        "lookaround",
        "(loop [i 0 x nil] (recur (inc i) (re-find (re-pattern (str \"(?<=a)(?:(?=b)b{500}){10}\" i)) \"abc\")))",
    ),
];

/// Long texts and many keys that are nearly the same.
const NEARLY: &str =
    "(def p (.repeat \"x\" 1000000)) (def q (str (subs p 1) \"y\")) (def p2 (str (subs p 1) \"x\"))
    (def many (vec (take 200000 (cycle [p p2 q]))))";

const COMPARING: &[(&str, &str)] = &[
    ("sort", "(first (sort many))"),
    ("sort_by", "(first (sort-by identity many))"),
    ("equal", "(= many (vec (take 200000 (cycle [p2 p q]))))"),
    ("equal_in_a_loop", "(loop [x nil] (recur (= p p2)))"),
    ("less_in_a_loop", "(loop [x nil] (recur (compare p q)))"),
    ("frequencies", "(count (frequencies many))"),
    ("distinct", "(count (distinct many))"),
    ("group_by", "(count (group-by identity many))"),
    ("set", "(count (set many))"),
    ("sorted_set", "(count (into (sorted-set) many))"),
    ("map_in_a_loop", "(loop [m {p 1}] (recur (assoc m p2 2)))"),
    ("get_in_a_loop", "(let [m {p 1}] (loop [x nil] (recur (get m p2))))"),
    ("contains_in_a_loop", "(let [m #{p}] (loop [x nil] (recur (contains? m p2))))"),
    ("index_of", "(loop [x nil] (recur (index-of p q)))"),
    ("starts_with", "(loop [x nil] (recur (starts-with? p p2)))"),
    ("includes", "(loop [x nil] (recur (includes? p (subs q 10))))"),
    ("max_key", "(max-key count p q)"),
    ("dedupe", "(count (dedupe many))"),
    ("partition_by", "(count (partition-by identity many))"),
    ("equals_ignoring_case", "(loop [x nil] (recur (.equalsIgnoreCase p p2)))"),
    ("some_of_a_set", "(count (filter #{p2} many))"),
    ("zipmap", "(count (zipmap many many))"),
    ("replace_of_a_map", "(count (replace {p 1} many))"),
];

/// Keys whose hashes are all the same, as far as hashes look.
const COLLIDING: &str = "(def tail (vec (repeat 66 0))) (def ks (mapv (fn [i] (conj tail i)) (range 4000)))";

const FLOODED: &[(&str, &str)] = &[
    ("set", "(count (set ks))"),
    ("frequencies", "(count (frequencies ks))"),
    ("group_by", "(count (group-by identity ks))"),
    ("distinct", "(count (distinct ks))"),
    ("zipmap", "(count (zipmap ks ks))"),
    ("assoc", "(loop [m {} i 0] (recur (assoc m (nth ks (mod i 4000)) i) (inc i)))"),
    ("conj", "(loop [m #{} i 0] (recur (conj m (nth ks (mod i 4000))) (inc i)))"),
    ("into", "(count (into {} (map (fn [k] [k 1])) ks))"),
    ("get", "(let [m (zipmap ks ks)] (loop [i 0 x nil] (recur (inc i) (get m (conj tail i)))))"),
    ("merge", "(count (merge (zipmap ks ks) (zipmap ks ks)))"),
    ("equal_sets", "(= (set ks) (set (reverse ks)))"),
    ("memoize", "(let [f (memoize count)] (run! f ks))"),
    ("dissoc", "(let [m (zipmap ks ks)] (loop [i 0 x nil] (recur (inc i) (dissoc m (conj tail i)))))"),
    ("select_keys", "(count (select-keys (zipmap ks ks) ks))"),
    ("union", "(count (union (set (take 2000 ks)) (set (drop 2000 ks))))"),
];

/// Cheap-looking calls over much data, again and again.
const REPEATED: &[(&str, &str)] = &[
    ("count_text", "(loop [x nil] (recur (count u)))"),
    ("nth_text", "(loop [x nil] (recur (nth u 1000000)))"),
    ("subs", "(loop [x nil] (recur (subs u 1000000)))"),
    ("last", "(loop [x nil] (recur (last u)))"),
    ("index_of", "(loop [x nil] (recur (index-of u \"nowhere\")))"),
    ("last_index_of", "(loop [x nil] (recur (last-index-of u \"nowhere\")))"),
    ("trim", "(loop [x nil] (recur (trim u)))"),
    ("upper_case", "(loop [x nil] (recur (upper-case u)))"),
    ("char_at", "(loop [x nil] (recur (.charAt u 100000)))"),
    ("parse_long", "(loop [x nil] (recur (parse-long u)))"),
    ("parse_date", "(loop [x nil] (recur (parse u)))"),
    ("keyword", "(loop [x nil] (recur (keyword u)))"),
    ("blank", "(loop [x nil] (recur (blank? (.repeat \" \" 1000000))))"),
    ("reverse", "(loop [x nil] (recur (reverse v)))"),
    ("subvec_vec", "(loop [x nil] (recur (vec (rest v))))"),
    ("concat", "(loop [x nil] (recur (count (concat v v))))"),
    ("apply", "(loop [x nil] (recur (apply + v)))"),
    ("apply_max", "(loop [x nil] (recur (apply max v)))"),
    ("apply_str", "(loop [x nil] (recur (apply str v)))"),
    ("hash_vector", "(loop [x nil] (recur (get {v 1} v)))"),
    ("sort", "(loop [x nil] (recur (sort v)))"),
    ("shuffled", "(loop [x nil] (recur (sort-by (fn [x] (mod (* x 7919) 10007)) v)))"),
    ("println", "(loop [i 0 x nil] (recur (inc i) (println (subs u 0 10))))"),
    ("pr_str", "(loop [x nil] (recur (pr-str v)))"),
    ("json", "(loop [x nil] (recur (json/generate-string v)))"),
    ("read", "(let [t (json/generate-string v)] (loop [x nil] (recur (json/parse-string t))))"),
    ("describe", "(loop [x nil] (recur (describe v)))"),
    ("apropos", "(loop [x nil] (recur (apropos \"map filter reduce text sort\")))"),
    ("doc", "(loop [x nil] (recur (doc \"map\")))"),
    ("dissoc", "(let [m (zipmap v v)] (loop [x nil] (recur (dissoc m 5))))"),
    ("merge", "(let [m (zipmap v v)] (loop [x nil] (recur (merge m {-1 1}))))"),
    ("keys", "(let [m (zipmap v v)] (loop [x nil] (recur (keys m))))"),
    ("union", "(let [m (set v)] (loop [x nil] (recur (union m #{-1}))))"),
    ("flatten", "(loop [x nil] (recur (flatten [v [v]])))"),
    ("partition", "(loop [x nil] (recur (partition 10 v)))"),
    ("interleave", "(loop [x nil] (recur (interleave v v)))"),
    ("format", "(loop [x nil] (recur (format \"%1000000d\" 1)))"),
    ("split_lines", "(let [t (.repeat \"a\\n\" 100000)] (loop [x nil] (recur (split-lines t))))"),
];

pub fn work_inside_natives() -> Vec<Attack> {
    let attack = |group: &str, name: &str, program: String| {
        Attack::new("timeout_ms", format!("{group}/{name}"), program, ENDS).with("timeout_ms", 100)
    };
    let mut all = Vec::new();
    for (name, pattern, text) in PATTERNS {
        let uses: String = USES.iter().map(|(_, used)| format!(" {used}")).collect();
        let program = format!(
            "{LONG} (def mixed (str/replace (subs s 0 1000000) \"aa\" \"ab\")) (def x {text}) (def p #\"{}\"){uses} nil",
            pattern.replace("\\\\", "\\")
        );
        all.push(attack("regex", name, program).or("fuel_exceeded"));
    }
    all.extend(
        MAKING.iter().map(|(name, program)| attack("pattern", name, program.to_string()).or("fuel_exceeded")),
    );
    all.extend(COMPARING.iter().map(|(name, program)| attack("text", name, format!("{NEARLY} {program}"))));
    all.extend(
        FLOODED.iter().map(|(name, program)| attack("hashes", name, format!("{COLLIDING} {program}"))),
    );
    let much = "(def u (.repeat \"ü1 \" 500000)) (def v (mapv identity (range 60000)))";
    all.extend(
        REPEATED
            .iter()
            .map(|(name, program)| attack("again", name, format!("{much} {program}")).or("output_exceeded")),
    );
    all
}
