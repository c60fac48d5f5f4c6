//! `ptc test`: tests of preludes, written in PTC-Lisp.

use crate::{Ran, file, ptc};
use ptc_bytecode::{ToolName, encode_prelude};
use ptc_runtime::{Prelude, Runtime};
use serde_json::{Value, json};
use std::path::Path;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/preludes");

/// A prelude and its tests in a folder of their own; runs `ptc test` on the prelude.
fn tested(name: &str, prelude: &str, tests: &str, more: &[&str]) -> Ran {
    let source = file(&format!("testing/{name}/shop.clj"), prelude);
    file(&format!("testing/{name}/shop_test.clj"), tests);
    ptc(&[&["test", &source], more].concat())
}

const SHOP: &str = r#"(ns shop)
(defn total [rows] (reduce + (map :cents rows)))
(defn find [id] (tool/find {:id id}))
(defn find! [id] (let [res (find id)] (if (:ok res) (:value res) (fail {:reason (:reason res)}))))
(defn safe [id] (try (find id) (catch Exception e nil)))
(defn user [id] (:value (tool/call {:server "crm" :tool "get_user" :args {:id id}})))
"#;

/// The tests of [`SHOP`], as JSON: exit code and the results.
fn shop(name: &str, tests: &str) -> (i32, Value) {
    let ran = tested(name, SHOP, tests, &["--json"]);
    (ran.code, ran.json()["files"][0].clone())
}

#[test]
fn coverage_lists_preludes_without_tests() {
    let folder = |name: &str, text: &str| file(&format!("untested/{name}"), text);
    folder("a.clj", "(ns a) (defn one [] 1) (defn two [] (one))");
    folder("a_test.clj", "(deftest ones (is (= 1 (a/one))))");
    folder("b.clj", "(ns b (:require [a])) (defn three [] (+ 1 (a/two))) (defn- hidden [] 1)");
    let test = folder("program.clj", "(+ 1 2)");
    let dir = std::path::Path::new(&test).parent().expect("a folder").display().to_string();
    let ran = ptc(&["test", &dir]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("coverage: 1 of 2 exports; no test names a/two\n"), "{ran:?}");
    assert!(ran.out.contains(&format!("no tests: {dir}/b.clj (0 of 1 export)\n")), "{ran:?}");
    let json = ptc(&["test", &dir, "--json"]).json();
    assert_eq!(json["coverage"]["untested"][0]["exports"], 1);
    assert!(!ptc(&["test", &format!("{dir}/a.clj")]).out.contains("no tests:"), "only folders are complete");
}

#[test]
fn the_examples_pass() {
    let ran = ptc(&["test", EXAMPLES]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    for part in ["finds-a-user", "shows-cents", "6 passed, 0 failed", "no test names money/rates"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert_eq!(ran.out, ptc(&["test", EXAMPLES]).out, "nothing in it depends on the run");
}

#[test]
fn a_failed_check_shows_place_expression_values_and_difference() {
    let tests = "(deftest adds\n  (testing \"two rows\"\n    (is (= {:sum 31 :n 2} {:sum (shop/total [{:cents 10} {:cents 20}]) :n 2}) \"cents\")))\n\
                 (deftest compares\n  (is (< (shop/total [{:cents 5}]) 3))\n  (is (empty? (str/trim \" a \"))))";
    let ran = tested("failed", SHOP, tests, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in [
        "  FAIL  adds      ",
        "shop_test.clj:3:5 two rows > cents\n",
        "(= {:sum 31 :n 2} {:sum (shop/total",
        "expected  {:sum 31 :n 2}",
        "got       {:sum 30 :n 2}",
        "[:sum]: expected 31, got 30",
        "shop_test.clj:5:3\n",
        "(shop/total [{:cents 5}])  5\n",
        "(str/trim \" a \")  \"a\"",
        "0 passed, 2 failed, 3 checks",
    ] {
        assert!(ran.out.contains(part), "{part}:\n{}", ran.out);
    }
    let (code, json) = shop("failed-json", tests);
    let failure = &json["tests"][0]["failures"][0];
    assert_eq!((code, &failure["line"], &failure["column"]), (1, &json!(3), &json!(5)));
    assert_eq!(failure["about"], json!(["two rows", "cents"]));
    assert_eq!(failure["differences"], json!(["[:sum]: expected 31, got 30"]));
    assert_eq!(
        json["tests"][1]["failures"].as_array().unwrap().len(),
        2,
        "a failed check does not end a test"
    );
    assert!(json["tests"][0]["fuel"].as_u64().unwrap() > 0);
}

#[test]
fn a_value_that_is_written_out_is_the_expected_one() {
    let (_, json) = shop("sides", "(deftest a (is (= (shop/total []) 7)))");
    let values = &json["tests"][0]["failures"][0]["values"];
    assert_eq!(values, &json!([{"name": "expected", "value": "7"}, {"name": "got", "value": "0"}]));
}

#[test]
fn stubs_answer_for_the_file_or_for_a_test() {
    let tests = r#"
(def ada {:name "Ada"})
(stub-tool 'find (fn [args] (if (= 1 (:id args)) {:ok true :value ada} (fail "no such id"))))
(stub-tool 'crm/get_user {:ok true :value 7})
(deftest of-the-file
  (is (= {"name" "Ada"} (shop/find! 1)))
  (is (thrown-with-msg? Exception #"no such id" (shop/find 2)))
  (is (= [{"id" 1} {"id" 2}] (tool-calls 'find)))
  (is (= 7 (shop/user 3)))
  (is (= [{"id" 3}] (tool-calls 'crm/get_user))))
(deftest of-the-test
  (stub-tool 'tool/find {:ok false :reason "timeout"})
  (is (= "timeout" (:reason (shop/find 1))))
  (is (= 1 (count (tool-calls 'find))))
  (is (fails? (shop/find! 1))))
"#;
    let (code, json) = shop("stubs", tests);
    assert_eq!(code, 0, "{json}");
    assert_eq!((&json["tests"][0]["checks"], &json["tests"][1]["checks"]), (&json!(5), &json!(3)));
    let tests = "(deftest a (is (= 3 (shop/find 1))))";
    assert_eq!(tested("flag", SHOP, tests, &["--stub", "find=3"]).code, 0);
    assert_eq!(tested("flag", SHOP, tests, &["--stub", "find=4"]).code, 1);
}

#[test]
fn a_call_without_a_stub_fails_the_test_even_if_the_prelude_catches_it() {
    for (name, tests) in [
        ("unstubbed", "(deftest a (is (nil? (shop/safe 1))))"),
        ("unstubbed-plain", "(deftest a (shop/find 1))"),
    ] {
        let (code, json) = shop(name, tests);
        let error = &json["tests"][0]["error"];
        assert_eq!(code, 1);
        assert!(error["message"].as_str().unwrap().contains("`find` was called and has no stub"), "{json}");
        assert_eq!(error["hint"], "(stub-tool 'find (fn [args] {}))");
    }
    let (_, json) = shop("unstubbed-server", "(deftest a (shop/user 1))");
    assert!(
        json["tests"][0]["error"]["hint"].as_str().unwrap().contains("(stub-tool 'crm/get_user "),
        "{json}"
    );
}

#[test]
fn what_fails_is_expected_with_its_value_and_only_in_the_end() {
    let stub = "(stub-tool 'find {:ok false :reason \"timeout\"})";
    let (code, json) = shop(
        "fails",
        &format!("{stub} (deftest a (is (fails-with? {{:reason \"timeout\"}} (shop/find! 1))))"),
    );
    assert_eq!((code, &json["tests"][0]["checks"]), (0, &json!(1)), "{json}");
    let (code, json) = shop(
        "fails-other",
        &format!("{stub} (deftest a (is (fails-with? {{:reason \"gone\"}} (shop/find! 1))))"),
    );
    let failure = &json["tests"][0]["failures"][0];
    assert_eq!(
        (code, &failure["differences"]),
        (1, &json!(["[:reason]: expected \"gone\", got \"timeout\""])),
        "{json}"
    );
    let (code, json) = shop("fails-not", "(deftest a (is (fails? (shop/total []))))");
    assert_eq!((code, &json["tests"][0]["failures"][0]["why"]), (1, &json!("nothing failed")), "{json}");
    let (code, json) = shop("fails-early", "(deftest a (is (fails? (fail 1))) (is true))");
    assert_eq!(code, 1);
    assert!(json["errors"][0]["message"].as_str().unwrap().contains("must be the last check"), "{json}");
    let (code, json) = shop("fail-unexpected", "(deftest a (is true) (fail {:why 1}))");
    assert_eq!((code, &json["tests"][0]["error"]["kind"]), (1, &json!("fail")), "{json}");
}

#[test]
fn tests_run_by_themselves() {
    let tests = "(def seen (atom 0))\n(deftest a (swap! seen inc) (def left 1) (is (= 1 @seen)))\n\
                 (deftest b (swap! seen inc) (is (= 1 @seen)))\n(deftest c (is (= 1 left)))";
    let (code, json) = shop("alone", tests);
    assert_eq!(code, 1);
    assert_eq!((&json["tests"][0]["ok"], &json["tests"][1]["ok"]), (&json!(true), &json!(true)), "{json}");
    assert_eq!(json["tests"][2]["error"]["kind"], "unbound_var", "{json}");
    assert_eq!(json["tests"][2]["error"]["line"], 4);
}

#[test]
fn a_test_without_an_end_is_ended_and_the_others_run() {
    let tests = "(deftest endless (loop [] (recur)))\n(deftest fine (is (= 0 (shop/total []))))\n\
                 (stub-tool 'find (fn [args] (loop [] (recur))))\n(deftest endless-stub (is (nil? (shop/safe 1))))";
    let ran = tested("endless", SHOP, tests, &["--fuel", "100000", "--json"]);
    let json = ran.json()["files"][0].clone();
    assert_eq!(ran.code, 1);
    assert_eq!(json["tests"][0]["error"]["kind"], "fuel_exceeded", "{json}");
    assert_eq!(json["tests"][1]["ok"], true);
    let why = json["tests"][2]["error"]["message"].as_str().unwrap();
    assert!(why.contains("the stub of `find` stopped") && why.contains("fuel"), "{json}");
}

#[test]
fn errors_in_tests_and_test_files_have_places() {
    let ran = tested("syntax", SHOP, "(deftest a\n  (is (= 1 1)", &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out.contains("shop_test.clj\n")
            && ran.out.contains("parse_error")
            && ran.out.contains("(line 2, column 3)"),
        "{ran:?}"
    );
    let ran = tested("unknown", SHOP, "(deftest a (is true))\n(deftest b (is (= 1 (shop/totl []))))", &[]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("ok    a") && ran.out.contains("ERROR b"), "{ran:?}");
    assert!(ran.out.contains("shop/total") && ran.out.contains("(line 2, column 22)"), "{ran:?}");
    let ran = tested(
        "helper",
        SHOP,
        "(defn rows [] (fliter odd? []))\n(deftest a (is (rows)))\n(deftest b (is (rows)))",
        &[],
    );
    assert_eq!(ran.code, 1);
    assert_eq!(ran.out.matches("fliter").count(), 2, "told once, with its line: {}", ran.out);
    let ran = tested("fault", SHOP, "(deftest a\n  (is (= 1 (shop/total [{:cents 1} {:cents nil}]))))", &[]);
    assert!(ran.out.contains("ERROR a") && ran.out.contains("(line 2, column"), "{ran:?}");
    let (_, json) = shop("returned", "(deftest a (is (= 1 1)) (return 5) (is false))");
    assert!(
        json["tests"][0]["error"]["message"].as_str().unwrap().contains("`return` ended the test"),
        "{json}"
    );
}

#[test]
fn nothing_to_run_is_an_error() {
    for (name, tests) in [("empty", ""), ("no-tests", "(def x 1)")] {
        let ran = tested(name, SHOP, tests, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""));
        assert!(
            ran.err.contains("error: no tests in ") && ran.err.contains("hint: write one: (deftest"),
            "{ran:?}"
        );
    }
    let ran = tested("filtered", SHOP, "(deftest a (is true))", &["--filter", "zebra"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("none of 1 test has `zebra` in its name"), "{ran:?}");
    let alone = file("testing/alone/lonely.clj", SHOP);
    let ran = ptc(&["test", &alone]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("has no tests") && ran.err.contains("lonely_test.clj does not exist"),
        "{ran:?}"
    );
    let orphan = file("testing/orphan/orphan_test.clj", "(deftest a (is true))");
    let ran = ptc(&["test", &orphan]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no prelude") && ran.err.contains("-p PRELUDE"), "{ran:?}");
    assert_eq!(ptc(&["test", "no/such.clj"]).code, 2);
    let broken = tested("broken", "(ns shop) (defn f [] (oops))", "(deftest a (is true))", &[]);
    assert_eq!(broken.code, 2);
    assert!(broken.err.contains("shop.clj:1:"), "{broken:?}");
}

#[test]
fn a_filter_runs_only_some_tests() {
    let tests = "(deftest adds (is (= 0 (shop/total []))))\n(deftest breaks (is false))";
    let ran = tested("filter", SHOP, tests, &["--filter", "shop_test/add"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("1 passed, 0 failed"), "{ran:?}");
}

/// What a prelude uses is found beside it or among those that are named, and is not what its tests have to cover.
#[test]
fn preludes_that_are_used_come_along() {
    let crm =
        file("testing/used/crm.clj", "(ns crm) (defn name-of [id] (str \"customer \" id)) (defn more [] 1)");
    let billing = "(ns billing (:require [crm :as c])) (defn bill [id] {:to (c/name-of id)})";
    let billing = file("testing/used/billing.clj", billing);
    let test = "(deftest bills (is (= {:to \"customer 7\"} (billing/bill 7))))";
    let test = file("testing/used/billing_test.clj", test);
    let folder = std::path::Path::new(&test).parent().unwrap().to_str().unwrap();
    for given in [&[folder][..], &[&billing], &[&test], &[&billing, "-p", &crm]] {
        let ran = ptc(&[&["test", "--min-coverage", "100"], given].concat());
        assert_eq!(ran.code, 0, "{given:?} {ran:?}");
        assert!(ran.out.contains("coverage: 1 of 1 export"), "{ran:?}");
    }
    // Elsewhere it is found only if it is named.
    let away = file("testing/used/away/crm.clj", "(ns crm) (defn name-of [id] id)");
    std::fs::remove_file(&crm).unwrap();
    assert_eq!(ptc(&["test", &test]).code, 2);
    assert_eq!(ptc(&["test", &test, "-p", &away]).code, 1);
}

#[test]
fn coverage_counts_exports_that_tests_name() {
    let tests = "(deftest a (is (= 0 (shop/total []))))";
    let ran = tested(
        "coverage",
        "(ns shop) (defn total [rows] 0) (defn other [] 1)",
        tests,
        &["--min-coverage", "50"],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("coverage: 1 of 2 exports; no test names shop/other\n"), "{ran:?}");
    let ran = tested(
        "coverage",
        "(ns shop) (defn total [rows] 0) (defn other [] 1)",
        tests,
        &["--min-coverage", "51"],
    );
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("tests name 50 % of the exports, but --min-coverage requires 51 %"), "{ran:?}");
}

#[test]
fn firewalled_values_are_shown_nowhere() {
    let prelude =
        "(ns shop) (defn pin [id] (:_pin (tool/find {:id id}))) (defn all [id] (tool/find {:id id}))";
    let tests = r#"(stub-tool 'find {:_pin "4711-secret" :name "Ada"})
(deftest a (println (shop/pin 1)) (is (= "0000" (shop/pin 1)) (shop/pin 1)))
(deftest b (is (= {"name" "Bob"} (shop/all 1))))
(deftest c (is (nil? (str "x" (shop/pin 1)))))
(deftest d (is (fails-with? 1 (fail {:_pin (shop/pin 1)}))))
(deftest e (shop/all (shop/pin 1)) (is (= [] (tool-calls 'find))))
(deftest f (throw (ex-info (shop/pin 1) {:pin (shop/pin 1)})))
"#;
    let junit = file("testing/firewall/junit.xml", "");
    for more in [&[][..], &["--json"], &["--junit", &junit]] {
        let ran = tested("firewall", prelude, tests, more);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(!ran.out.contains("4711") && !ran.err.contains("4711"), "{ran:?}");
        assert!(ran.out.contains("<Firewalled>"), "{ran:?}");
    }
    assert!(!std::fs::read_to_string(junit).unwrap().contains("4711"));
}

#[test]
fn a_junit_report_holds_hostile_text() {
    let junit = file("testing/junit/report.xml", "");
    let tests = "(deftest good (is true))\n(deftest bad<&\n  (println \"\\u001b]0;x ]]> \\u0001\")\n  (is (= \"<a href='x'>&\" (str \"\\u0000\" 1))))\n(deftest odd (oops))";
    let ran = tested("junit", SHOP, tests, &["--junit", &junit]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(!ran.out.contains(|c: char| c.is_control() && c != '\n'), "{:?}", ran.out);
    let xml = std::fs::read_to_string(junit).unwrap();
    for part in [
        "<testsuites tests=\"3\" failures=\"1\" errors=\"1\">",
        "<testcase classname=\"shop_test\" name=\"good\"/>",
        "name=\"bad&lt;&amp;\"",
        "<failure message=\"(= &quot;&lt;a href=&apos;x&apos;&gt;&amp;&quot;",
        "<error message=\"`oops` is not defined\">",
    ] {
        assert!(xml.contains(part), "{part}:\n{xml}");
    }
    assert!(!xml.contains(|c: char| c.is_control() && c != '\n'), "{xml:?}");
}

#[test]
fn the_forms_of_tests_are_no_names_of_programs() {
    for program in
        ["(is (= 1 1))", "(deftest a 1)", "(testing \"a\" 1)", "(stub-tool 'a 1)", "(tool-calls 'a)"]
    {
        let ran = ptc(&["eval", "-e", program]);
        assert_eq!(ran.code, 1, "{program}: {ran:?}");
    }
    assert_eq!(ptc(&["eval", "-e", "(let [is inc testing dec] (is (testing 1)))"]).out, "1\n");
}

#[test]
fn test_files_may_be_written_as_in_clojure() {
    let tests = "(ns shop-test (:require [clojure.test :refer [deftest is testing]] [clojure.string :as s] [shop :as sut]))\n\
                 (defn check-total [n rows] (is (= n (sut/total rows))))\n\
                 (deftest a (check-total 3 [{:cents 3}]) (is (= \"a\" (s/trim \" a\"))))";
    let (code, json) = shop("clojure", tests);
    assert_eq!((code, &json["tests"][0]["checks"]), (0, &json!(2)), "{json}");
}

#[test]
fn clojure_test_may_have_an_alias() {
    let tests = "(ns shop-test (:require [clojure.test :as t] [shop :as sut]))\n\
                 (t/deftest a (t/testing \"sums\" (t/is (= 3 (sut/total [{:cents 3}])))) (clojure.test/is true))\n\
                 (t/deftest b (t/is (t/thrown? Exception (sut/total 1))) (t/is (= 2 (sut/total []))))";
    let (code, json) = shop("alias", tests);
    assert_eq!(
        (code, &json["tests"][0]["checks"], &json["tests"][0]["ok"]),
        (1, &json!(2), &json!(true)),
        "{json}"
    );
    let failures = json["tests"][1]["failures"].as_array().unwrap();
    assert_eq!((failures.len(), &failures[0]["line"]), (1, &json!(3)), "{json}");
    // What test files do not have is named with what they have.
    let (code, json) =
        shop("alias-are", "(ns a (:require [clojure.test :as t]))\n(t/deftest a (t/are [x] (t/is x) 1))");
    assert_eq!(code, 1);
    let error = &json["tests"][0]["error"];
    assert!(error.to_string().contains("(deftest name (is (= expected expr)))"), "{json}");
}

#[test]
fn a_forged_prelude_does_not_report_on_its_own_tests() {
    let source = r#"(ns shop) (defn find [id] (tool/check {"at" 0 "expects" true}) (fail id))"#;
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let mut forged = Prelude::compile(&runtime, source).unwrap().to_file();
    forged.artifact.tools = vec![ToolName::Named("%check".into())];
    let export = &mut forged.manifest.exports[0];
    for text in export.tool_refs.iter_mut().chain(&mut export.requires) {
        *text = text.replace("check", "%check");
    }
    (forged.sources, forged.rendered) = (None, Vec::new());
    let tests = file("testing/forged/shop_test.clj", "(deftest finds (is (= 1 (shop/find 1))))");
    let prelude = Path::new(&tests).with_file_name("shop.ptcp");
    std::fs::write(&prelude, encode_prelude(&forged.sealed())).unwrap();
    let ran = ptc(&["test", &tests, "-p", prelude.to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("`shop/find` calls a tool that only tests may call"), "{ran:?}");
}
