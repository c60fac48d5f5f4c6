//! Numbers beyond every limit, and NaN in every position.

use super::{Victim, on_a_small_stack};
use ptc_runtime::Limits;

fn check(cases: &[(&str, &str)]) {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits::default());
        for (source, wanted) in cases {
            victim.gives(source, wanted);
        }
    });
}

#[test]
fn numbers_past_every_limit() {
    check(&[
        ("[1e400 -1e400 1e-400]", "[##Inf ##-Inf 0.0]"),
        ("(- -9223372036854775808)", "9223372036854775808"),
        ("(abs -9223372036854775808)", "9223372036854775808"),
        ("(quot -9223372036854775808 -1)", "9223372036854775808"),
        ("(rem -9223372036854775808 -1)", "0"),
        ("(mod -9223372036854775808 -1)", "0"),
        ("(/ -9223372036854775808 -1)", "9.223372036854776E18"),
        ("(* -9223372036854775808 -1)", "9223372036854775808"),
        ("(inc 9223372036854775807)", "9223372036854775808"),
        ("(dec -9223372036854775808)", "-9223372036854775809"),
        ("(dec (inc 9223372036854775807))", "9223372036854775807"),
        ("(= (inc 9223372036854775807) 9223372036854775808.0)", "true"),
        ("(< 9223372036854775807 9223372036854775808.0)", "true"),
        ("(= 9007199254740993 9007199254740992.0)", "false"),
        ("(quot 7 0)", "arithmetic_error"),
        ("(mod 7 0)", "arithmetic_error"),
        ("(rem 7 0.0)", "arithmetic_error"),
        ("(/ 7 0)", "arithmetic_error"),
        ("(/ 7 0.0)", "##Inf"),
        ("(/ 0.0 0)", "##NaN"),
        ("(int 1e300)", "arithmetic_error"),
        ("(int ##Inf)", "arithmetic_error"),
        ("(bit-shift-left 1 -1)", "type_error"),
        ("(bit-shift-left 1 1.5)", "type_error"),
        ("(bit-shift-right 1 9223372036854775807)", "0"),
        ("(bit-shift-right -1 9223372036854775807)", "-1"),
        ("(bit-test -1 9223372036854775807)", "true"),
        ("(bit-shift-left 0 9223372036854775807)", "0"),
        ("(nth [1 2] 99999999999999999999)", "nil"),
        ("(nth [1 2] -99999999999999999999)", "nil"),
        ("(nth [1 2] ##Inf)", "nil"),
        ("(nth [1 2] ##NaN)", "type_error"),
        ("(take 99999999999999999999 [1 2])", "[1 2]"),
        ("(take ##Inf [1 2])", "[1 2]"),
        ("(drop -1e300 [1 2])", "[1 2]"),
        ("(subs \"abc\" -5 1e300)", "\"\""),
        ("(subvec [1 2 3] -99999999999999999999 1e300)", "[1 2 3]"),
        ("(get [1 2] 99999999999999999999)", "nil"),
        ("(assoc [1 2] 99999999999999999999 1)", "runtime_error"),
        ("(assoc [1 2] 9223372036854775807 1)", "runtime_error"),
        ("(repeat -5 1)", "[]"),
        ("(range 3 0)", "[]"),
        ("(range 0 3 0)", "type_error"),
        ("(char 99999999999)", "runtime_error"),
        ("(char -1)", "runtime_error"),
        ("(parse-long \"99999999999999999999999\")", "nil"),
        ("(pow 10 400)", "##Inf"),
        ("(sqrt -1)", "##NaN"),
    ]);
}

#[test]
fn large_integers_are_integers() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits::default());
        let big = "(def big (reduce (fn [a _] (* a 10)) 1 (range 2000)))";
        victim.gives(&format!("{big} (count (str big))"), "2001");
        victim.gives("(count (str (* big big big)))", "6001");
        victim.gives("(= big (+ big 0.0))", "false");
        victim.gives("(quot (* big big) big (inc 0))", "arity_error");
        victim.gives("(= big (quot (* big big) big))", "true");
        victim.gives("(/ big 10)", "##Inf");
        victim.gives("(/ big big)", "1.0");
        victim.gives("(double big)", "##Inf");
        victim.gives("(get {big 1} (+ big 0))", "1");
        victim.gives(
            "(map type (sort [big 1 ##Inf (- big) ##-Inf]))",
            "[:number :number :number :number :number]",
        );
        victim.gives(
            "(let [[a b c d e] (sort [big 1 ##Inf (- big) ##-Inf])] [a (= b (- big)) c (= d big) e])",
            "[##-Inf true 1 true ##Inf]",
        );
        victim.gives("(count (str (round 1e300)))", "301");
    });
}

#[test]
fn powers_that_explode() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits::default());
        // Integers have a length limit of their own, because fuel and memory would allow too much work on them.
        for source in [
            "(loop [x 10] (recur (* x x)))",
            "(loop [x 10] (recur (+ x x)))",
            "(reduce * (range 1 1000000))",
            "(bit-shift-left 1 9223372036854775807)",
            "(bit-shift-left 1 1000000000)",
            "(bit-set 0 1000000000000)",
            "(bit-flip 0 9223372036854775807)",
        ] {
            // Growing step by step takes a while, and may exceed another limit first.
            let told = victim.tell(source);
            assert!(told == "arithmetic_error" || super::TOO_MUCH.contains(&&*told), "{source}: {told}");
        }
        victim.gives("(count (str (bit-shift-left 1 500000)))", "150515");
        // 10^100000: within memory, though not for free.
        let told = victim.tell("(count (str (reduce (fn [a _] (* a 10000000000)) 1 (range 10000))))");
        assert!(told == "100001" || super::TOO_MUCH.contains(&&*told), "{told}");
    });
}

#[test]
fn literals_past_their_limits() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits::default());
        victim.gives(&"9".repeat(100), &"9".repeat(100));
        victim.gives(&"9".repeat(101), "parse_error");
        victim.gives(&format!("1e{}", "9".repeat(50)), "##Inf");
        victim.gives(&format!("1e-{}", "9".repeat(50)), "0.0");
        victim.gives(&format!("0.{}1", "0".repeat(5_000)), "0.0");
        victim.gives(&format!("0x{}", "F".repeat(200)), "parse_error");
        victim.tell(&format!("1.{}", "9".repeat(100_000)));
        victim.tell(&format!("(parse-double \"1.{}\")", "9".repeat(100_000)));
        victim.tell("(parse-long (apply str (repeat 1000000 \"9\")))");
        victim.tell("(parse-double (apply str (repeat 1000000 \"9\")))");
    });
}

#[test]
fn nan_is_a_key_nobody_finds() {
    check(&[
        ("(= ##NaN ##NaN)", "false"),
        ("(let [x ##NaN] (= x x))", "false"),
        ("(= [##NaN] [##NaN])", "false"),
        ("(get {##NaN 1} ##NaN)", "nil"),
        ("(count (assoc {##NaN 1} ##NaN 2))", "2"),
        ("(count (conj #{##NaN} ##NaN))", "2"),
        ("(contains? #{##NaN} ##NaN)", "false"),
        ("(count (set (repeat 50 ##NaN)))", "50"),
        ("(count (dissoc (zipmap (repeat 50 ##NaN) (range)) ##NaN))", "50"),
        ("(count (group-by identity [##NaN ##NaN 1]))", "3"),
        ("(count (distinct [##NaN ##NaN]))", "2"),
        ("(frequencies [##NaN 1 ##NaN])", "{##NaN 1 1 1 ##NaN 1}"),
        ("(distinct? ##NaN ##NaN)", "true"),
        ("(compare ##NaN 1)", "0"),
        ("(sort [3 ##NaN 1 ##NaN 2])", "[1 2 3 ##NaN ##NaN]"),
        ("(sort > [3 ##NaN 1])", "[##NaN 3 1]"),
        ("(max 1 ##NaN 2)", "##NaN"),
        ("(< ##NaN 1)", "false"),
        ("(count {##NaN 1, (/ 0.0 0.0) 2})", "2"),
        ("(get {0.0 :zero} -0.0)", ":zero"),
        ("(get {1 :one} 1.0)", "nil"),
        ("(def m {##NaN [##NaN]}) (pr-str m)", "\"{##NaN [##NaN]}\""),
        ("(round ##NaN)", "##NaN"),
        ("(range ##NaN)", "[]"),
        ("(take ##NaN [1])", "type_error"),
    ]);
}
