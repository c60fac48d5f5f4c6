//! Random programs: whatever compiles also verifies, and runs alike at the same price with and without optimisation.

mod back_machine;

use back_machine::check;
use proptest::prelude::*;

/// Generates expressions over the locals `a b c`, the functions `f g` and small numbers.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (-3_i64..200).prop_map(|n| n.to_string()),
        prop::sample::select(vec!["a", "b", "c", "nil", "true", "false", ":k", "unset"]).prop_map(
            |s| match s {
                "unset" => "(or unset 1)".to_owned(),
                name => name.to_owned(),
            }
        ),
    ];
    leaf.prop_recursive(6, 60, 4, |inner| {
        let e = || inner.clone();
        prop_oneof![
            (
                prop::sample::select(vec!["+", "-", "*", "<", ">", "<=", ">=", "=", "not=", "and", "or"]),
                e(),
                e()
            )
                .prop_map(|(op, x, y)| format!("({op} {x} {y})")),
            (e(), e(), e()).prop_map(|(x, y, z)| format!("(+ {x} {y} {z})")),
            (e(), e(), e()).prop_map(|(x, y, z)| format!("(if {x} {y} {z})")),
            (e(), e(), e(), e()).prop_map(|(w, x, y, z)| format!("(cond {w} {x} {y} {z} :else a)")),
            (prop::sample::select(vec!["not", "nil?", "some?", "inc", "dec", "identity"]), e()).prop_map(
                |(op, x)| if op == "some?" { format!("(if (some? {x}) 1 2)") } else { format!("({op} {x})") }
            ),
            (prop::sample::select(vec!["a", "b", "c", "d"]), e(), e())
                .prop_map(|(name, x, y)| format!("(let [{name} {x}] {y})")),
            (e(), e()).prop_map(|(x, y)| format!("(let [a b b a] [{x} {y}])")),
            (e(), e(), e()).prop_map(|(x, y, z)| format!("[{x} {{:k {y}}} (:k {z})]")),
            (e(), e(), e()).prop_map(|(x, y, z)| {
                format!("(loop [a {x} b {y} c 0] (if (< c 3) (recur b {z} (inc c)) [a b]))")
            }),
            (e(), e(), e())
                .prop_map(|(x, y, z)| { format!("(loop [c 0 a {x}] (if (< c 2) (recur (inc c) {y}) {z}))") }),
            (e(), e()).prop_map(|(x, y)| format!("((fn [b] {x}) {y})")),
            (e(), e()).prop_map(|(x, y)| format!("(let [f (fn [c] {x})] [(f 1) (f {y})])")),
            (e(), e()).prop_map(|(x, y)| format!("(for [c [1 2 a] :when {x}] {y})")),
            (e(), e()).prop_map(|(x, y)| format!("(do (def unset {x}) {y})")),
            (e(), e()).prop_map(|(x, y)| format!("(if (and {x} (or {y} (not a))) b c)")),
            (e(), e()).prop_map(|(x, y)| format!("(vector {x} (identity {y}) a)")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn optimised_programs_run_alike_at_the_same_price(body in expression(), more in expression()) {
        check(&format!("(defn f [a b c] {body}) (let [a 1 b 2 c nil] [(f 1 2 3) (f nil [1] 7) {more}])"));
    }
}
