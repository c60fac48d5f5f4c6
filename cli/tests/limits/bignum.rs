//! Integers that grow, and what can be done with large ones.

use crate::attack::Attack;

/// As large as integers get, near enough.
const HUGE: &str =
    "(def huge (bit-shift-left 12345678901234567890123 500000)) (def less (+ 1 (quot huge 3)))";

/// Each is done again and again until time is up.
const WORK: &[(&str, &str)] = &[
    ("add", "(+ huge less)"),
    ("subtract", "(- less huge)"),
    ("multiply", "(* (quot huge (bit-shift-left 1 300000)) (quot less (bit-shift-left 1 300000)))"),
    ("multiply_by_small", "(* less 7)"),
    ("quotient", "(quot huge (bit-shift-left 987654321 250000))"),
    ("remainder", "(rem huge (bit-shift-left 987654321 250000))"),
    ("modulus", "(mod huge (- (bit-shift-left 987654321 250000)))"),
    ("divide", "(/ huge less)"),
    ("text", "(count (str huge))"),
    ("readable", "(count (pr-str [huge less]))"),
    ("formatted", "(count (format \"%d\" huge))"),
    ("hexadecimal", "(count (Integer/toHexString huge))"),
    ("json", "(count (json/generate-string [huge]))"),
    ("less_than", "(< less huge)"),
    ("equal", "(= (+ 1 huge) (+ 1 huge))"),
    ("compared", "(compare less huge)"),
    ("as_key", "(get {(+ huge 1) 1} (+ huge 1))"),
    ("as_float", "(double huge)"),
    ("bits", "(bit-xor huge less)"),
    ("bit_by_bit", "(bit-test huge 999)"),
    ("floor_div", "(Math/floorDiv huge (bit-shift-left 987654321 250000))"),
    ("even", "(even? huge)"),
    ("max", "(max huge less)"),
    ("sum", "(sum [huge less huge])"),
    ("sorted", "(count (sort [huge less huge 1 less]))"),
    ("rounded", "(round huge)"),
];

pub fn large_integers() -> Vec<Attack> {
    let mut all: Vec<Attack> = [
        ("tower_of_squares", "(loop [x 3] (recur (* x x)))"),
        ("doubling", "(loop [x 3] (recur (+ x x)))"),
        ("factorial", "(reduce * (range 1 10000000))"),
        ("shift", "(bit-shift-left 1 1000000000000)"),
        ("set_bit", "(bit-set 0 1000000000000)"),
        ("flip_bit", "(bit-flip -1 70000000)"),
        ("shift_within_memory", "(bit-shift-left 1 30000000)"),
    ]
    .iter()
    .map(|(name, program)| {
        Attack::new(
            "memory_bytes",
            format!("big/{name}"),
            *program,
            &["arithmetic_error", "memory_exceeded", "timeout"],
        )
        .with("timeout_ms", 100)
    })
    .collect();
    all.extend(WORK.iter().map(|(name, work)| {
        let program = format!("{HUGE} (loop [x 0] (recur {work}))");
        Attack::new("timeout_ms", format!("big/{name}"), program, &["timeout"]).with("timeout_ms", 100)
    }));
    let digits = "(def digits (.repeat \"7\" 4000000))";
    for (name, program) in [
        ("read_digits", "(parse-long digits)"),
        ("read_digits_of_json", "(json/parse-string digits)"),
        ("read_digits_as_float", "(parse-double digits)"),
        ("read_digits_by_java", "(Long/parseLong \"7\") (.matches digits \"7+\")"),
        (
            "read_many_digits",
            "(json/parse-string (str \"[\" (str/join \",\" (repeat 20 (.repeat \"7\" 200000))) \"]\"))",
        ),
    ] {
        let reasons = &["timeout", "ok", "arithmetic_error", "runtime_error", "memory_exceeded"];
        all.push(
            Attack::new("timeout_ms", format!("big/{name}"), format!("{digits} {program} nil"), reasons)
                .with("timeout_ms", 100),
        );
    }
    all
}
