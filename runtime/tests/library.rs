//! JSON, dates, names and prefixes from Java, as programs use them, also on hostile input.

use ptc_bytecode::{BUILTINS, CONSTANTS, Limits, Meaning, NAMESPACES, qualified};
use ptc_runtime::{Grants, Runtime};

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).expect("the core library")
}

/// Returns the printed value of a program, or the reason it fails.
fn run(runtime: &Runtime, source: &str) -> String {
    match runtime.eval(source, &Grants::new()) {
        Ok(outcome) => outcome.print().unwrap_or_else(|fault| fault.to_string()),
        Err(failure) => failure.reason().to_string(),
    }
}

/// Checks lines of a program, `=>` and its value, with and without a collection at every step.
fn check(cases: &str) {
    for runtime in [runtime(), runtime().stress(true)] {
        for line in cases.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (source, wanted) = line.split_once(" => ").expect(line);
            assert_eq!(run(&runtime, source), wanted, "{source}");
        }
    }
}

#[test]
fn json() {
    check(
        r#"
        (json/parse-string "{\"a\":{\"b\":[1,2.5,null,true]}}") => {"a" {"b" [1 2.5 nil true]}}
        (json/parse-string "{\"a\":{\"b c\":1}}" true) => {:a {"b c" 1}}
        (json/parse-string "{\"a\":1}" keyword) => {:a 1}
        (json/parse-string "{\"a\":1}" false) => {"a" 1}
        (json/parse-string "{\"a\":1}" inc) => type_error
        (map json/parse-string ["1" "x" nil 5 "[" "null"]) => [1 nil nil nil nil nil]
        (json/parse-string "123456789012345678901234567890") => 123456789012345678901234567890
        (json/parse-lines "{\"a\":1}\r\n\nbad\r{\"a\":2}") => [{"a" 1} nil {"a" 2}]
        (json/parse-lines "{\"a\":1}" true) => [{:a 1}]
        (json/read-str "{\"a\":[{\"b\":1}]}" :key-fn keyword) => {:a [{:b 1}]}
        (clojure.data.json/read-str "[1]") => [1]
        (cheshire.core/generate-string {:a 1 "b" [:c nil] 3 1.5}) => "{\"a\":1,\"b\":[\"c\",null],\"3\":1.5}"
        (json/generate-string {:a #{1}}) => nil
        (json/generate-string {:a (parse "2024-05-01")}) => nil
        (json/generate-string [##NaN]) => nil
        (json/generate-string {[1] 2}) => nil
        (json/generate-string (range 3)) => "[0,1,2]"
        (json/write-str {:a [1]} :indent true) => "{\n  \"a\": [\n    1\n  ]\n}"
        (= (json/parse-string (json/generate-string {"k" [1 2.5 "s" {}]})) {"k" [1 2.5 "s" {}]}) => true
        (json/write-file "x") => invalid_form
        "#,
    );
}

#[test]
fn json_from_hostile_text() {
    // Memory must end these, however slow the machine.
    let runtime = runtime().limits(Limits { timeout_ms: 60_000, ..Limits::default() });
    for (source, wanted) in [
        (r#"(count (json/parse-string (str/join (repeat 100000 "["))))"#, "0"),
        (
            r#"(json/parse-string (str (str/join (repeat 300000 "[")) "1" (str/join (repeat 300000 "]"))))"#,
            "memory_exceeded",
        ),
        (r#"(map? (json/parse-string (str "{\"a\":" (json/generate-string (range 100000)) "}")))"#, "true"),
        (r#"(json/parse-string (str/join (repeat 20000 "9")))"#, "nil"),
        (r#"(count (json/generate-string (reduce (fn [acc _] [acc acc]) 1 (range 60))))"#, "memory_exceeded"),
        (r#"(count (json/generate-string (str/join (repeat 100000 "\n"))))"#, "200002"),
        (r#"(json/generate-string (range 1000000000000))"#, "memory_exceeded"),
        (r#"(json/parse-string "\"\\ud800\"")"#, "\"\u{fffd}\""),
    ] {
        let found = run(&runtime, source);
        assert_eq!(found, wanted, "{source}");
    }
}

#[test]
fn json_pays_for_its_text() {
    let limits = Limits { fuel: 300_000, ..Limits::default() };
    let runtime = runtime().limits(limits);
    let long = r#"(let [text (str "[" (str/join "," (range 20000)) "]")] (count (map json/parse-string (repeat 20 text))))"#;
    assert_eq!(run(&runtime, long), "fuel_exceeded");
}

#[test]
fn dates() {
    check(
        r#"
        (str (LocalDate/parse "2024-02-29")) => "2024-02-29"
        (map #(str (parse %)) ["2024-05-01T08:00" "2024-05-01T08:00:00.5Z" "2024-05-01T08:00:00-01:30"]) => ["2024-05-01T08:00:00Z" "2024-05-01T08:00:00.500Z" "2024-05-01T09:30:00Z"]
        (parse "2023-02-29") => type_error
        (parse nil) => type_error
        (java.time.Instant/parse "20240501") => type_error
        (= #inst "2024-05-01T10:00:00+02:00" (parse "2024-05-01T08:00:00Z")) => true
        (str (java.util.Date. "Wed, 01 May 2024 08:00:00 -0500")) => "2024-05-01T13:00:00Z"
        (.getTime (java.util.Date. 5)) => 5
        (java.util.Date. []) => type_error
        (.getTime (parse "1969-12-31T23:59:59.999500Z")) => -1
        (str (.plusMonths (parse "2024-01-31") 1)) => "2024-02-29"
        (str (.minusMonths (parse "2024-03-31") 13)) => "2023-02-28"
        (str (.plusHours (parse "2024-05-01T23:30:00Z") 1)) => "2024-05-02T00:30:00Z"
        (.plusDays (parse "2024-05-01") 1.5) => type_error
        (.plusDays (parse "2024-05-01") "1") => type_error
        (.plusHours (parse "2024-05-01") 1) => type_error
        (sort [(parse "2024-05-02") (parse "2024-05-01")]) => ["2024-05-01" "2024-05-02"]
        (< (parse "2024-05-01") (parse "2024-05-02")) => true
        (.between ChronoUnit/DAYS (parse "2024-02-28") (parse "2024-03-01")) => 2
        (.between ChronoUnit/HOURS (parse "2024-05-01T00:00:00Z") (parse "2024-05-02T01:59:00Z")) => 25
        (.between ChronoUnit/HOURS (parse "2024-05-01") (parse "2024-05-02")) => type_error
        (map #(.getValue (.getDayOfWeek %)) [(LocalDate/of 2024 4 29) (LocalDate/of 2024 5 5)]) => [1 7]
        (LocalDate/of 2024 2 30) => type_error
        (LocalDate/of 100000 1 1) => type_error
        (number? (System/currentTimeMillis)) => true
        (< 1700000000000 (.getTime (java.util.Date.))) => true
        "#,
    );
}

#[test]
fn dates_by_patterns() {
    check(
        r#"
        (.format (parse "2024-05-01") "yyyy-MM") => "2024-05"
        (.format (parse "2024-05-01") (DateTimeFormatter/ofPattern "EEE d MMM yyyy")) => "Wed 1 May 2024"
        (.format (parse "2024-05-01") "EEEE, MMMM dd, yy 'Q'Q") => "Wednesday, May 01, 24 Q2"
        (.format (DateTimeFormatter/ofPattern "dd/MM/uuuu") (parse "2024-05-01")) => "01/05/2024"
        (.format (parse "2024-05-01T15:04:05.678Z") "h:mm a, HH'h'mm''ss.SSS") => "3:04 PM, 15h04'05.678"
        (.format (parse "2024-05-01T15:04:05Z") "HH:mm X Z %") => "15:04 Z +0000 %"
        (.format (parse "1950-05-01") "yy") => "50"
        (.format (parse "2024-05-01") DateTimeFormatter/ISO_LOCAL_DATE) => "2024-05-01"
        (.format (parse "2024-05-01") java.time.format.DateTimeFormatter/BASIC_ISO_DATE) => "20240501"
        (.format (parse "2024-05-01T15:04:05Z") DateTimeFormatter/ISO_INSTANT) => "2024-05-01T15:04:05Z"
        (.format (parse "2024-05-01") "HH:mm") => type_error
        (.format (parse "2024-05-01") "yyyy bbb") => type_error
        (.format (parse "2024-05-01") "yyyy 'open") => type_error
        (.format (parse "2024-05-01") "[yyyy]") => type_error
        (.format (parse "2024-05-01") nil) => type_error
        (.format (parse "2024-05-01") (apply str (repeat 200 "y"))) => type_error
        (.format "2024-05-01" "yyyy") => type_error
        (DateTimeFormatter/ofPattern "nope") => type_error
        (str (parse "31/05/2024" "dd/MM/yyyy")) => "2024-05-31"
        (str (LocalDate/parse "May 3, 2024" (DateTimeFormatter/ofPattern "MMMM d, yyyy"))) => "2024-05-03"
        (str (LocalDate/parse "20240503" DateTimeFormatter/BASIC_ISO_DATE)) => "2024-05-03"
        (str (LocalDate/parse "2024-05-03" DateTimeFormatter/ISO_LOCAL_DATE)) => "2024-05-03"
        (str (parse "03.05.99" "dd.MM.yy")) => "2099-05-03"
        (str (LocalDateTime/parse "2024-05-03 17:30" "yyyy-MM-dd HH:mm")) => "2024-05-03T17:30:00Z"
        (str (parse "01/May/2024:10:00:01 +0200" "dd/MMM/yyyy:HH:mm:ss Z")) => "2024-05-01T08:00:01Z"
        (str (parse "2024-05-03T17:30:00Z" "yyyy-MM-dd'T'HH:mm:ssX")) => "2024-05-03T17:30:00Z"
        (str (parse "2024-05-03 05:30 PM" "yyyy-MM-dd hh:mm a")) => "2024-05-03T17:30:00Z"
        (parse "05/31/2024" "dd/MM/yyyy") => type_error
        (parse "30/02/2024" "dd/MM/yyyy") => type_error
        (parse "31/05/2024 x" "dd/MM/yyyy") => type_error
        (parse "17" "HH") => type_error
        (parse nil "dd/MM/yyyy") => type_error
        "#,
    );
}

#[test]
fn dates_by_units() {
    check(
        r#"
        (.until (parse "2000-02-29") (parse "2024-02-28") ChronoUnit/YEARS) => 23
        (.until (parse "2024-05-01T00:00:00Z") (parse "2024-05-01T05:59:00Z") ChronoUnit/HOURS) => 5
        (.until (parse "2024-05-01") (parse "2024-05-02") ChronoUnit/HOURS) => type_error
        (str (.plus (parse "2024-01-31") 1 ChronoUnit/MONTHS)) => "2024-02-29"
        (str (.minus (parse "2024-05-01") 2 ChronoUnit/WEEKS)) => "2024-04-17"
        (str (.plus (parse "2024-05-01T08:00:00Z") 1 ChronoUnit/DAYS)) => "2024-05-02T08:00:00Z"
        (str (.plus (parse "2024-05-01T08:00:00Z") (Duration/ofMinutes 90))) => "2024-05-01T09:30:00Z"
        (.plus (parse "2024-05-01") (Duration/ofMinutes 90)) => type_error
        (.plus (parse "2024-05-01") 1) => type_error
        (.plus (parse "2024-05-01") 1 ChronoUnit/HOURS) => type_error
        (.plus (parse "2024-05-01T08:00:00Z") 1 ChronoUnit/MONTHS) => type_error
        (.minus (parse "2024-05-01") -9223372036854775808 ChronoUnit/DAYS) => arithmetic_error
        (.plus (parse "2024-05-01T08:00:00Z") 9223372036854775807 ChronoUnit/HOURS) => arithmetic_error
        (str (.truncatedTo (parse "1969-12-31T23:59:59Z") ChronoUnit/DAYS)) => "1969-12-31T00:00:00Z"
        (.truncatedTo (parse "2024-05-01T08:00:00Z") ChronoUnit/MONTHS) => type_error
        (str (.withYear (parse "2024-02-29") 2023)) => "2023-02-28"
        (.withYear (parse "2024-02-29") 10000) => arithmetic_error
        (str (.withMonth (parse "2024-01-31") 2)) => "2024-02-29"
        (.withMonth (parse "2024-01-31") 13) => type_error
        "#,
    );
}

#[test]
fn dates_at_the_edges() {
    check(
        r#"
        (.plusDays (parse "9999-12-31") 1) => arithmetic_error
        (.minusDays (parse "-009999-01-01") 1) => arithmetic_error
        (.plusDays (parse "2024-05-01") 9223372036854775807) => arithmetic_error
        (.minusDays (parse "2024-05-01") -9223372036854775808) => arithmetic_error
        (.plusDays (parse "2024-05-01") 92233720368547758070) => arithmetic_error
        (.plusYears (parse "2024-05-01") -99999) => arithmetic_error
        (.plusHours (parse "2024-05-01T00:00:00Z") 9223372036854775807) => arithmetic_error
        (java.util.Date. 9223372036854775807) => arithmetic_error
        (java.util.Date. 99999999999999999999) => arithmetic_error
        (Instant/ofEpochMilli -9223372036854775808) => arithmetic_error
        (LocalDate/ofEpochDay 2147483648) => arithmetic_error
        (Duration/ofDays 9223372036854775807) => arithmetic_error
        (parse (str/join (repeat 100000 "2024-05-01T"))) => type_error
        (.toMillis (Duration/between (parse "-009999-01-03T00:00:00Z") (parse "9999-12-30T00:00:00Z"))) => 631107072000000
        "#,
    );
}

#[test]
fn methods_and_classes() {
    check(
        r#"
        [(.length "日本") (.indexOf "abcb" "b" 2) (.indexOf "a" "z") (.lastIndexOf "abcb" "b")] => [2 3 -1 3]
        [(.indexOf [5 6 7] 7) (.indexOf [5] 1) (.contains [1 2] 2) (.contains #{1} 2)] => [2 -1 true false]
        (.contains 5 "a") => type_error
        (.charAt "abc" -1) => type_error
        (.substring "hello" 2 9) => type_error
        (.split "a.b" "\\.") => ["a" "b"]
        (.split "a,b,,c" "," 2) => ["a" "b,,c"]
        (.replaceAll "a1b2" "([a-z])(\\d)" "$2$1") => "1a2b"
        (.replace "a.b" "." "$1") => "a$1b"
        (.matches "abc" "b") => false
        (.matches "abc" "(") => runtime_error
        (.repeat "ab" -1) => type_error
        (.repeat "ab" 100000000000) => memory_exceeded
        [(.equals 1 1.0) (.equals [1] [1]) (.equalsIgnoreCase "É" "é") (.compareTo 1 2)] => [false true true -1]
        (.compareTo 1 "a") => type_error
        (.toString nil) => type_error
        [(.size {:a 1}) (.get {"a" 1} "a") (.getOrDefault {} :a 0) (.containsKey {:a nil} :a)] => [1 1 0 true]
        [(Integer/parseInt "ff" 16) (Long/parseLong "x") (Long/valueOf 5) (Integer/toString -255 16)] => [255 nil 5 "-ff"]
        (Integer/parseInt "1" 40) => runtime_error
        (map #(Character/isDigit %) "a1") => [false true]
        (Character/isDigit "12") => type_error
        (String/format "%s-%02d" "a" 7) => "a-07"
        (String/join ", " ["a" "b"]) => "a, b"
        [(String/valueOf nil) (Boolean/parseBoolean nil) (Boolean/parseBoolean "TRUE")] => ["null" false true]
        "#,
    );
}

#[test]
fn mathematics() {
    check(
        r#"
        (Math/floorDiv 1 0) => arithmetic_error
        (Math/floorMod 1 0) => arithmetic_error
        (Math/floorDiv -9223372036854775808 -1) => 9223372036854775808
        [(Math/floorMod -7 3) (Math/floorDiv -7 3) (Math/ceilDiv -7 2)] => [2 -3 -3]
        (Math/floorDiv 1.5 1) => type_error
        (Math/sin nil) => type_error
        (Math/log "1") => type_error
        [(Math/log 0) (Math/log -1) (Math/exp 1000) (Math/signum -0.0)] => [##-Inf ##NaN ##Inf -0.0]
        [(Math/addExact 9223372036854775807 1) (clojure.math/to-radians 0) (math/floor-mod 5 3)] => [9223372036854775808 0.0 2]
        [Math/PI (Math/PI) (* 2 Math/E) Integer/MAX_VALUE (Integer/MAX_VALUE) Double/NaN] => [3.141592653589793 3.141592653589793 5.43656365691809 2147483647 2147483647 ##NaN]
        [POSITIVE_INFINITY NEGATIVE_INFINITY (or NaN 1)] => [##Inf ##-Inf ##NaN]
        (let [NaN 1] NaN) => 1
        (do (def NaN 2) NaN) => 2
        (Math/PI 1) => not_callable
        (map Math/sqrt [4 9]) => [2.0 3.0]
        "#,
    );
}

#[test]
fn prefixes() {
    check(
        r#"
        (str/reverse "añb") => "bña"
        (clojure.string/join "," [1 2]) => "1,2"
        (clojure.set/join #{{:id 1 :n "a"} {:id 2 :n "b"}} #{{:id 1 :m 5}}) => #{{:id 1 :n "a" :m 5}}
        (clojure.set/join #{{:a 1}} #{{:b 1 :c 2}} {:a :b}) => #{{:a 1 :b 1 :c 2}}
        (clojure.set/join #{{:a 1}} #{{:b 2}}) => #{{:a 1 :b 2}}
        (clojure.set/join #{} #{{:b 2}}) => #{}
        (set/project [{:a 1 :b 2} {:a 1 :b 3}] [:a]) => #{{:a 1}}
        (set/rename #{{:a 1}} {:a :z}) => #{{:z 1}}
        (set/select even? #{1 2}) => #{2}
        (set/index #{{:a 1 :b 2}} [:a]) => {{:a 1} #{{:a 1 :b 2}}}
        (clojure.walk/keywordize-keys {"a" [{"b" 1}]}) => {:a [{:b 1}]}
        (clojure.core/map inc [1]) => [2]
        (str/map inc [1]) => invalid_form
        (set/inc 1) => invalid_form
        (str/%join 1) => invalid_form
        (clojure.core/%builder) => invalid_form
        (clojure.edn/read-string "1") => invalid_form
        (do (defn reverse [x] :mine) [(reverse 1) (str/reverse "ab")]) => [:mine "ba"]
        "#,
    );
}

/// An unchecked condition would be worse than none.
#[test]
fn conditions_of_functions() {
    check(
        r#"
        (do (defn f [x] {:pre [(pos? x)]} (inc x)) (f 1)) => 2
        (do (defn f [x] {:pre [(pos? x)]} (inc x)) (f -1)) => assertion_failed
        ((fn [{:keys [n]}] {:pre [(int? n) (< n 5)]} n) {:n 7}) => assertion_failed
        (do (defn f [x] {:post [(pos? %)]} (dec x)) [(f 2) (try (f 1) (catch AssertionError e :zero))]) => [1 :zero]
        (do (defn f ([x] {:pre [x]} [x]) ([x y] {:pre [y]} [y])) [(f 1) (f nil 2)]) => [[1] [2]]
        (do (defn f [n acc] {:pre [(int? n)]} (if (pos? n) (recur (dec n) (+ acc n)) acc)) (f 3 0)) => 6
        (letfn [(f [x] {:pre [x]} x)] (f nil)) => assertion_failed
        ((fn [x] {:pre [x]}) 1) => {:pre [1]}
        ((fn [x] {:a [x]} x) 1) => 1
        ((fn [x] {:pre x} x) nil) => nil
        "#,
    );
}

#[test]
fn keywords_of_symbols() {
    check(
        r#"
        [(keyword 'a) (keyword 'a/b) (keyword "a") (keyword 1)] => [:a :a/b :a nil]
        "#,
    );
}

#[test]
fn every_member_of_a_namespace_means_something() {
    for space in NAMESPACES {
        for member in space.spellings() {
            for prefix in space.names {
                assert!(qualified(prefix, member).is_some(), "{prefix}/{member}");
            }
        }
    }
    let core = BUILTINS.iter().filter(|row| !row.name.starts_with('%') && !row.name.contains('/'));
    assert!(core.clone().all(|row| matches!(qualified("clojure.core", row.name), Some(Meaning::Builtin(_)))));
}

#[test]
fn examples_of_constants_hold() {
    let runtime = runtime();
    for row in CONSTANTS {
        let (source, wanted) = row.example.split_once(" ;=> ").expect(row.name);
        assert!(source.contains(row.name), "{}", row.name);
        assert_eq!(run(&runtime, source), wanted, "{source}");
    }
}

#[test]
fn descriptions() {
    check(
        r##"
        (describe {:a 1 "b" [1 2]}) => {:type "map" :count 2 :key_types {"keyword" 1 "string" 1} :keys {":a" {:types {"integer" 1} :examples [1] :range {:min 1 :max 1} :distinct_count 1} "b" {:types {"vector" 1} :examples ["[1 2]"] :non_empty 1}}}
        (describe [{:a 1} {:a "7"} {}]) => {:type "vector" :count 3 :scanned 3 :item_types {"map" 3} :key_types {"keyword" 2} :keys {":a" {:types {"integer" 1 "string" 1} :examples [1 "7"] :non_empty 1 :range {:min 1 :max 7} :distinct_count 2 :present 2 :pct 66.7}}}
        (describe #{1 :k}) => {:type "set" :count 2 :scanned 2 :item_types {"integer" 1 "keyword" 1}}
        (describe nil) => {:type "nil" :sample nil :types {"nil" 1} :examples [nil] :distinct_count 1}
        (:types (describe inc)) => {"function" 1}
        (select-keys (describe (range 5000)) [:count :scanned :count_capped :truncated :caps_hit]) => {:count 1000 :scanned 1000 :count_capped true :truncated true :caps_hit ["max_items"]}
        (keys (:paths (describe [{:a {:b.c [{:d 1} {:d 2}]}}] {:paths true :depth 3}))) => [":a" ":a.:b\\.c" ":a.:b\\.c.:d"]
        (select-keys (get-in (describe [{:a [1 2]} {}] {:paths true}) [:paths ":a"]) [:types :present :pct :value_count]) => {:types {"integer" 2} :present 1 :pct 50.0 :value_count 2}
        (keys (:keys (describe {":a" 1 :a 2}))) => ["string::a" "keyword::a"]
        (get-in (describe [{:s (str/join (repeat 200 "x"))}]) [:keys ":s" :examples 0]) => "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...(200 chars)"
        (select-keys (get-in (describe (map (fn [i] {:n i}) (range 100))) [:keys ":n"]) [:distinct_count :distinct_capped :examples :range]) => {:distinct_count 50 :distinct_capped true :examples [0 1 2] :range {:min 0 :max 99}}
        (:types (describe (iterate inc 0))) => {"unknown" 1}
        (get-in (describe {:a (iterate inc 0)} {:paths true}) [:keys ":a" :types]) => {"unknown" 1}
        (:examples (describe 5 {:sample 99 :depth "x" :other 1})) => [5]
        (get-in (describe [{:a 1} {:a 2} {:a 3}] {:sample 1}) [:keys ":a" :examples]) => [1]
        (:caps_hit (describe (zipmap (range 500) (range 500)))) => ["max_keys"]
        (:caps_hit (describe {:a [[[[[[[1]]]]]]]} {:paths true})) => ["max_depth"]
        (:caps_hit (describe [(range 1000000000000)] {:paths true})) => ["max_path_values"]
        (:caps_hit (describe {:a (range 1000000000000)} {:paths true})) => ["max_path_values"]
        "##,
    );
}

#[test]
fn patterns_before_and_during_a_run() {
    check(
        r#"
        #"(" => invalid_form
        (if false #"[a" 1) => invalid_form
        '[#")"] => invalid_form
        (re-pattern "(") => runtime_error
        (re-find #"(?<=a)b" "ab") => "b"
        (= #"a" #"a") => false
        (let [p #"a"] (= p p)) => true
        (get {#"a" 1} #"a") => 1
        "#,
    );
}
