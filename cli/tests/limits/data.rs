//! Granted data that were made to do harm.

use crate::attack::{Attack, Grant};

/// Usage errors have their reason too.
const REFUSED: &[&str] = &["memory_exceeded", "invalid_data"];

/// What is granted, and what it is called.
fn bombs() -> Vec<(&'static str, String)> {
    let members = |n: usize, name: fn(usize) -> String| {
        let all: Vec<String> = (0..n).map(|i| format!("\"{}\":{i}", name(i))).collect();
        format!("{{{}}}", all.join(","))
    };
    vec![
        ("deep", format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000))),
        ("deep_objects", format!("{}1{}", "{\"a\":".repeat(500_000), "}".repeat(500_000))),
        ("wide", format!("[{}1]", "1,".repeat(2_000_000))),
        ("empty_objects", format!("[{}{{}}]", "{},".repeat(1_000_000))),
        ("one_key", members(300_000, |_| "k".to_string())),
        ("many_keys", members(300_000, |i| format!("k{i}"))),
        (
            "many_shapes",
            format!("[{}1]", (0..100_000).map(|i| format!("{{\"k{i}\":1}},")).collect::<String>()),
        ),
        ("digits", "9".repeat(4_000_000)),
        ("many_digits", format!("[{}1]", ("9".repeat(10_000) + ",").repeat(200))),
        ("exponent", format!("[{}1]", "1e400,-1e-400,1E+99999999999,".repeat(100_000))),
        ("fraction", format!("0.{}", "3".repeat(4_000_000))),
        ("escapes", format!("\"{}\"", "\\u00e9".repeat(1_000_000))),
        ("lone_surrogates", format!("\"{}\"", "\\ud800".repeat(1_000_000))),
        ("text", format!("\"{}\"", "a".repeat(16_000_000))),
        ("lines", format!("\"{}\"", "\\n".repeat(8_000_000))),
        ("spaces", format!("{}1", " ".repeat(16_000_000))),
    ]
}

/// What may be done with any of them.
const WALKS: &[(&str, &str)] = &[
    (
        "walks",
        "[(count (pr-str data/x)) (= data/x data/y) (describe data/x) (count (frequencies [data/x data/y])) (count (json/generate-string data/x))]",
    ),
    ("made_larger", "[(count (flatten data/x)) (postwalk identity data/x)]"),
];

/// What makes much of a long text, before anything is kept of it.
const OF_TEXT: &[(&str, &str)] = &[
    ("split_letters", "(str/split data/x \"\")"),
    ("split", "(count (str/split data/x \"\\n\"))"),
    ("split_regex", "(count (str/split data/x #\"\\n\"))"),
    ("split_lines", "(count (split-lines data/x))"),
    ("letters", "(seq data/x)"),
    ("re_seq", "(count (re-seq #\"\\n\" data/x))"),
    ("replace_by_function", "(count (str/replace data/x \"\\n\" (fn [_] \"\")))"),
    ("replace", "(count (str/replace data/x \"\\n\" \"\"))"),
    ("replace_regex", "(count (str/replace data/x #\"\\n\" \"\"))"),
    ("reverse", "(str/reverse data/x)"),
    ("upper_case", "(upper-case data/x)"),
    ("capitalize", "(capitalize data/x)"),
    ("escape", "(str/escape data/x {\"\\n\" \"\"})"),
    ("frequencies", "(frequencies data/x)"),
    ("sort", "(sort data/x)"),
    ("read_lines", "(count (json/parse-lines data/x))"),
    ("format", "(format \"%s%s%s\" data/x data/x data/x)"),
    ("printed", "(println data/x data/x data/x data/x)"),
    ("joined", "(str/join data/x [1 2 3 4 5])"),
    ("keyword", "(keyword data/x data/x)"),
    ("failed", "(fail data/x)"),
    ("result", "[data/x data/x data/x]"),
    ("wrong_type", "(+ 1 data/x)"),
    ("asserted", "(assert false data/x)"),
    ("called", "(data/x 1)"),
];

/// What makes much of a long vector, before anything is kept of it.
const OF_VECTORS: &[(&str, &str)] = &[
    ("sort", "(first (sort data/x))"),
    ("sort_by", "(first (sort-by - data/x))"),
    ("reverse", "(first (reverse data/x))"),
    ("vec", "(first (vec (rest data/x)))"),
    ("set", "(count (set data/x))"),
    ("distinct", "(count (distinct data/x))"),
    ("frequencies", "(count (frequencies data/x))"),
    ("group_by", "(count (group-by identity data/x))"),
    ("concat", "(count (concat data/x data/x))"),
    ("interleave", "(count (interleave data/x data/x))"),
    ("interpose", "(count (interpose 0 data/x))"),
    ("flatten", "(count (flatten [data/x]))"),
    ("partition", "(count (partition 2 data/x))"),
    ("partition_all", "(count (partition-all 2 1 data/x))"),
    ("zipmap", "(count (zipmap data/x data/x))"),
    ("apply", "(apply + data/x)"),
    ("apply_vector", "(count (apply vector data/x))"),
    ("apply_function", "(apply (fn [& xs] (count xs)) data/x)"),
    ("map", "(count (map inc data/x))"),
    ("filter", "(count (filter pos? data/x))"),
    ("into", "(count (into [] (map inc) data/x))"),
    ("cons", "(count (cons 1 data/x))"),
    ("butlast", "(count (butlast data/x))"),
    ("take_last", "(count (take-last 1500000 data/x))"),
    ("str", "(count (apply str data/x))"),
    ("join", "(count (str/join \",\" data/x))"),
    ("json", "(count (json/generate-string data/x))"),
    ("pr_str", "(count (pr-str data/x))"),
    ("pmap", "(count (pmap inc data/x))"),
    ("take_nth", "(count (take-nth 2 data/x))"),
    ("dedupe", "(count (dedupe data/x))"),
    ("sum", "(sum data/x)"),
    ("failed", "(fail data/x)"),
    ("result", "[data/x data/x]"),
    ("destructured", "(let [[a b & more] data/x] (count more))"),
    ("sorted_set", "(count (into (sorted-set) data/x))"),
    ("combinations", "(combinations data/x 2)"),
    ("map_indexed", "(count (map-indexed vector data/x))"),
    ("tree_seq", "(count (tree-seq coll? seq data/x))"),
];

pub fn hostile_data() -> Vec<Attack> {
    let mut all = Vec::new();
    for (name, json) in bombs() {
        let bomb = Grant::new(name, json);
        // Read within the limit, or refused by it.
        let reasons = [REFUSED, &["ok"]].concat();
        all.push(Attack::new("granted_bytes", format!("read/{name}"), "nil", &reasons).given("x", &bomb));
        let refused = Attack::new("granted_bytes", format!("refused/{name}"), "nil", &reasons);
        all.push(refused.with("granted_bytes", 1_000_000).given("x", &bomb));
        for (walk, program) in WALKS {
            let ends =
                [REFUSED, &["ok", "timeout", "runtime_error", "arithmetic_error", "stack_exceeded"]].concat();
            let walked = Attack::new("memory_bytes", format!("{walk}/{name}"), *program, &ends)
                .with("timeout_ms", 100);
            all.push(walked.given("x", &bomb).given("y", &bomb));
        }
    }
    let ends = &[
        "ok",
        "memory_exceeded",
        "output_exceeded",
        "timeout",
        "fail",
        "type_error",
        "runtime_error",
        "assertion_failed",
        "not_callable",
        "stack_exceeded",
    ];
    let lines = Grant::new("twelve-million-lines", format!("\"{}\"", "\\n".repeat(12_000_000)));
    for (name, program) in OF_TEXT {
        all.push(
            Attack::new("memory_bytes", format!("text/{name}"), *program, ends)
                .with("timeout_ms", 1000)
                .given("x", &lines),
        );
    }
    let numbers: Vec<String> = (0..1_600_000_u64).map(|i| (i * 7919 % 1_000_003).to_string()).collect();
    let numbers = Grant::new("numbers", format!("[{}]", numbers.join(",")));
    for (name, program) in OF_VECTORS {
        let attack =
            Attack::new("memory_bytes", format!("vector/{name}"), *program, ends).with("timeout_ms", 1000);
        all.push(attack.given("x", &numbers).on_threads());
    }
    all
}
