//! Compiled programs behave as written, and cost the same with and without optimisation.

mod back_machine;

use back_machine::{check, check_value};

#[test]
fn literals_and_arithmetic() {
    check_value("", "nil");
    check_value("nil", "nil");
    check_value("(+ 1 2)", "3");
    check_value("(+ 1 2 (* 3 4) 5)", "20");
    check_value("(let [x 5] (- 10 x 2))", "3");
    check_value("(let [x 5] [(inc x) (dec x) (+ 1 x) (- x 1)])", "[6 4 6 4]");
    check_value("(- 9223372036854775807 1)", "9223372036854775806");
    check_value("[1 [2 :a \"b\"] {:k [3]}]", "[1 [2 :a b] {:k [3]}]");
    check_value("(let [x 1] {:a x \"b\" [x x] nil 2})", "{:a 1 b [1 1] nil 2}");
    check_value("(let [x :q] {x 1 :b 2})", "{:q 1 :b 2}");
    check_value("'(a [b 1])", "[a [b 1]]");
    check_value("(+ 1 2 (+ 3 (identity 4)))", "10");
}

#[test]
fn comparisons_and_tests() {
    let table = "(defn f [a b] [(< a b) (<= a b) (> a b) (>= a b) (= a b) (not= a b)])";
    check_value(&format!("{table} (f 1 2)"), "[true true false false false true]");
    check_value(&format!("{table} (f 2 2)"), "[false true false true true false]");
    for (a, b) in [(1, 2), (2, 1), (2, 2)] {
        for op in ["<", "<=", ">", ">=", "=", "not="] {
            let expected = check(&format!("(let [a {a} b {b}] ({op} a b))")).result.unwrap();
            let test = |expr: &str| {
                let source = format!("(defn t [a b] (if {expr} true false)) (t {a} {b})");
                check_value(&source, &expected);
            };
            test(&format!("({op} a b)"));
            test(&format!("({op} a {b})"));
            test(&format!("({op} {a} b)"));
            test(&format!("({op} {a} {b})"));
            test(&format!("(not (not ({op} a b)))"));
        }
    }
    check_value("(< 1 2 3)", "true");
}

#[test]
fn branches() {
    check_value("(if true 1 2)", "1");
    check_value("(if nil 1)", "nil");
    check_value("[(if false 1 2) (when 1 2 3) (when nil 2)]", "[2 3 nil]");
    check_value(
        "(defn f [x] (cond (< x 0) :neg (= x 0) :zero :else :pos)) [(f -1) (f 0) (f 1)]",
        "[:neg :zero :pos]",
    );
    check_value("(cond false 1 nil 2)", "nil");
    check_value("(let [f (fn [x] (if (nil? x) :nil :some))] [(f nil) (f false)])", "[:nil :some]");
    check_value("(let [f (fn [x] (if (some? x) :some :nil))] [(f nil) (f false)])", "[:nil :some]");
    check_value(
        "(let [f (fn [a b] (if (and a (or b false)) 1 2))] [(f 1 nil) (f nil 1) (f 1 1)])",
        "[2 2 1]",
    );
    check_value(
        "(let [f (fn [a b] (if (or (and a b) (not a)) 1 2))] [(f 1 nil) (f nil 1) (f 1 1)])",
        "[2 1 1]",
    );
    check_value(
        "(let [f (fn [a b] [(and a b) (or a b)])] [(f 1 2) (f nil 2) (f 1 false)])",
        "[[2 1] [nil 2] [false 1]]",
    );
    check_value("(let [a 1 b 2] (let [c (and b (+ a b))] [a b c]))", "[1 2 3]");
    check_value("[(and) (or) (and 1) (or nil)]", "[true nil 1 nil]");
    check_value("(if (if nil false true) (if 1 (if nil 2 3) 4) 5)", "3");
    check_value("(let [x (if nil 1 (if 1 (do 2 3) 4))] (+ x 1))", "4");
}

#[test]
fn functions_and_closures() {
    check_value("((fn [x y] (- x y)) 5 3)", "2");
    check_value("(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 12)", "144");
    check_value("(let [a 1 b 2 f (fn [x] (fn [y] [a b x y]))] ((f 3) 4))", "[1 2 3 4]");
    check_value("(let [f (fn me [n] (if (= n 0) [] (conj (me (dec n)) n)))] (f 3))", "[1 2 3]");
    check_value("(let [f (fn me [n] (let [g (fn [k] (if (= k 0) 7 (me (dec k))))] (g n)))] (f 3))", "7");
    check_value("(defn f ([] 0) ([a] 1) ([a & r] r)) [(f) (f 1) (f 1 2 3)]", "[0 1 [2 3]]");
    check_value("((fn [& r] r))", "nil");
    check_value("(#(+ % %2) 1 2)", "3");
    check_value("(def x 1) (defn g [] x) (def x 2) (g)", "2");
    check_value("(def x 1)", "#'x");
    check_value("(defonce x 1) (defonce x 2) x", "1");
    check_value("(let [f +] (f 1 2))", "3");
    check_value("(:a {:a 1}) ", "1");
    check_value("[(:b {:a 1} 2) (get {:a 1} :a) (get [4 5] 1)]", "[2 1 5]");
}

#[test]
fn loops() {
    check_value("(loop [i 0 acc []] (if (< i 3) (recur (inc i) (conj acc i)) acc))", "[0 1 2]");
    check_value("(loop [a 1 b 2 n 3] (if (= n 0) [a b] (recur b a (dec n))))", "[2 1]");
    check_value("(loop [a 1 b 2 c 3 n 2] (if (= n 0) [a b c] (recur c a b (dec n))))", "[2 3 1]");
    check_value("(loop [a 1 n 3] (let [y a] (if (= n 0) y (recur (+ y a) (dec n)))))", "8");
    check_value("((fn [n acc] (if (= n 0) acc (recur (dec n) (+ acc n)))) 4 0)", "10");
    check_value("((fn [n & r] (if (= n 0) r (recur (dec n) [n]))) 2)", "[1]");
    check_value(
        "(loop [i 0 fs []] (if (< i 3) (recur (inc i) (conj fs (fn [] i))) [((nth fs 0)) ((nth fs 2))]))",
        "[0 2]",
    );
    check_value("(+ 1 (loop [i 0] (if (< i 5) (recur (inc i)) i)) 2)", "8");
    check_value("(loop [i 0] (if (< i 5) (recur (+ (loop [j 0] (if (< j 2) (recur (inc j)) j)) i)) i))", "6");
    check_value("(loop [x 3] (if (or (= x 0) false) :done (recur (dec x))))", ":done");
    check_value("(loop [x 1 n 3] (if (= n 0) x (recur (or (and x (+ x x)) 0) (dec n))))", "8");
    check_value("(for [x [1 2 3] :when (< 1 x) y [x 10]] [x y])", "[[2 2] [2 10] [3 3] [3 10]]");
    check_value("(for [x [1 2 3 4] :while (< x 3)] x)", "[1 2]");
    check_value("(doseq [x [1 2]] (def y x)) y", "2");
    check_value("(let [r (for [x [1 2]] (fn [] x))] [((first r)) ((nth r 1))])", "[1 2]");
}

#[test]
fn definitions_that_may_be_missing() {
    check_value("(or seen 5)", "5");
    check_value("(def n (+ 1 (or n 0))) n", "1");
    check_value("(defn bump [] (def n (+ 1 (or n 0)))) (bump) (bump) n", "2");
    check_value("(let [f (fn [] (or late :none)) a (f)] (def late 1) [a (f)])", "[:none 1]");
}

#[test]
fn ways_out() {
    check_value("(return 1) 2", "1");
    check_value("(+ 1 (return 5))", "5");
    check_value("(if (return 5) 1 2)", "5");
    check_value("[1 (if true (return 7) 2) 3]", "7");
    assert_eq!(check("(fail :x)").result, Err("fail :x".into()));
    assert_eq!(check("(do (fail :x) (fail :y))").result, Err("fail :x".into()));
}

#[test]
fn wide_frames() {
    let names: Vec<String> = (0..400).map(|i| format!("x{i}")).collect();
    let bindings: Vec<String> = (0..400).map(|i| format!("x{i} {i}")).collect();
    let bindings = bindings.join(" ");
    check_value(&format!("(let [{bindings}] (+ x0 x255 x399))"), "654");
    check_value(&format!("(let [{bindings} f (fn [a b] (- a b))] (f x399 x300))"), "99");
    // Every local captured, in two levels.
    let sum = format!("(+ {})", names.join(" "));
    check_value(&format!("(let [{bindings} f (fn [] (fn [] {sum}))] ((f)))"), "79800");
    check_value(
        &format!("(let [{bindings}] (loop [i 0 a x1] (if (< i 3) (recur (inc i) (+ a x399)) a)))"),
        "1198",
    );
    check_value(
        &format!("(let [{bindings}] (for [x [x1 x2] y [x x399]] [x y]))"),
        "[[1 1] [1 399] [2 2] [2 399]]",
    );
    check_value(
        &format!("(loop [{bindings}] (if (< x0 3) (recur (inc x0) {}) x0))", names[1..].join(" ")),
        "3",
    );
    check_value(
        &format!(
            "(loop [{bindings}] (if (< x0 3) (recur (inc x0) x399 {}) [x1 x399]))",
            names[1..399].join(" ")
        ),
        "[397 396]",
    );
}

#[test]
fn many_arguments_and_items() {
    let items: Vec<String> = (0..300).map(|i| format!("(identity {i})")).collect();
    let items = items.join(" ");
    let all: Vec<String> = (0..300).map(|i| i.to_string()).collect();
    check_value(&format!("(count [{items}])"), "300");
    check_value(&format!("(count (vector {items}))"), "300");
    check_value(&format!("((fn [& r] (nth r 299)) {items})"), "299");
    check_value(&format!("(nth [{}] 299)", all.join(" ")), "299");
    check_value(&format!("(+ {items})"), "44850");
    let pairs: Vec<String> = (0..100).map(|i| format!(":k{i} (identity {i})")).collect();
    check_value(&format!("(:k99 {{{}}})", pairs.join(" ")), "99");
}

#[test]
fn deep_expressions() {
    for depth in [5, 40, 60, 80] {
        let nest = |open: &str, middle: &str, close: &str| {
            format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
        };
        let n = depth.to_string();
        check_value(&nest("(+ (identity 1) ", "0", ")"), &n);
        check_value(&nest("(+ ", "0", " (identity 1))"), &n);
        check_value(&nest("(+ (identity 0) (identity 0) 0 ", "0", " 1)"), &n);
        check_value(
            &format!("(defn f [a b c d e g h i j k] (+ j k)) {}", nest("(f 1 2 3 4 5 6 7 8 ", "0", " 1)")),
            &n,
        );
        check_value(&nest("(let [x (identity 1)] (+ x ", "0", "))"), &n);
        let n = &n;
        if depth > 50 {
            continue;
        }
        check_value(&nest("(+ 1 (let [a 1 b 2 c 3 d 4] (if a ", "0", " b)))"), n);
        check_value(&nest("(first [", "5", " 1 2 3])"), "5");
        check_value(&nest("(+ 1 (loop [i 0 r 0] (if (< i 1) (recur (inc i) ", "0", ") r)))"), n);
        check_value(&nest("(and 1 (or nil ", "3", "))"), "3");
    }
    let threaded = format!("(-> 0 {})", "(inc) ".repeat(400));
    check_value(&threaded, "400");
    let big = format!("[{}", "(identity 1) ".repeat(80));
    check_value(&format!("(count {}{})", big.repeat(40), "]".repeat(40)), "81");
}
