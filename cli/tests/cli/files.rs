//! `ptc run`, `ptc check`, `ptc disasm`, and `--data`.

use crate::{file, ptc, ptc_with};
use serde_json::json;

#[test]
fn run_takes_a_file_with_data_from_files_and_text() {
    let program = file("sum.clj", "(+ data/n (reduce + (map :v data/rows)))");
    let rows = file("rows.json", r#"[{"v": 1}, {"v": 2}]"#);
    ptc(&["run", &program, "--data", &format!("rows=@{rows}"), "--data", "n=10"]).expect(0, "13\n");
    ptc_with(&["run", "-"], b"(inc 1)").expect(0, "2\n");
    let piped = ptc_with(&["run", &program, "--data", "rows=@-", "--data", "n=1"], br#"[{"v":5}]"#);
    piped.expect(0, "6\n");
}

#[test]
fn the_last_data_of_a_name_wins() {
    ptc(&["eval", "-e", "data/n", "--data", "n=1", "--data", "n=2"]).expect(0, "2\n");
}

#[test]
fn json_data_are_string_keyed_and_read_by_keyword() {
    let ran = ptc(&["eval", "-e", "[(:a data/m) data/m]", "--data", r#"m={"a":1}"#]);
    ran.expect(0, "[1 {\"a\" 1}]\n");
}

#[test]
fn missing_data_is_an_error_that_names_what_is_there() {
    let args = ["-e", "(println 1) (count data/ordres)", "--data", "orders=[1]", "--data", "rates={}"];
    let ran = ptc(&[&["eval"][..], &args].concat());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(
        ran.err.contains("`data/ordres` was not granted; there is `data/orders`, `data/rates`"),
        "{ran:?}"
    );
    assert!(ran.err.contains("line 1, column 20"), "{ran:?}");
    assert!(ran.err.contains("did you mean `data/orders`?"), "{ran:?}");
    let nothing = ptc(&["eval", "-e", "data/nope"]);
    assert_eq!(nothing.code, 1, "{nothing:?}");
    assert!(nothing.err.contains("this run has no data"), "{nothing:?}");
    assert!(nothing.err.contains("`--data nope=@FILE`"), "{nothing:?}");
    // A branch that is never taken is no excuse, whether or not the compiler leaves it out.
    for more in [&[][..], &["--no-optimize"]] {
        let ran = ptc(&[&["eval", "-e", "(if false data/nope 1)"], more].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
    }
}

#[test]
fn missing_data_is_nil_where_that_is_asked_for() {
    ptc(&["eval", "-e", "data/nope", "--lenient-data"]).expect(0, "nil\n");
    // Either spelling finds data with an underscore.
    ptc(&["eval", "-e", "[data/unit-price data/unit_price]", "--data", "unit_price=3"]).expect(0, "[3 3]\n");
}

#[test]
fn missing_data_is_an_error_in_programs_from_files_lines_and_prompts() {
    let program = file("typo.clj", "(count data/ordres)");
    let ran = ptc(&["run", &program, "--data", "orders=[1]"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("did you mean `data/orders`?"), "{ran:?}");
    let line = br#"{"program":"(count data/ordres)","context":{"orders":[1]}}"#;
    let ran = ptc_with(&["eval", "--jsonl"], line);
    assert!(ran.out.contains("did you mean `data/orders`?"), "{ran:?}");
    let ran = ptc_with(&["repl", "--data", "orders=[1]"], b"(count data/ordres)\n(count data/orders)\n");
    assert!(
        ran.err.contains("did you mean `data/orders`?") || ran.out.contains("did you mean `data/orders`?"),
        "{ran:?}"
    );
    assert!(ran.out.contains('1'), "{ran:?}");
}

#[test]
fn a_batch_is_refused_once_for_data_no_record_has() {
    let rows = b"{\"n\":1}\n{\"n\":2}\n";
    for args in [
        vec!["batch", "-e", "(:n data/rows)"],
        vec!["batch", "--reduce", "-e", "(def init data/start) (defn step [a r] a) (defn combine [a b] a)"],
    ] {
        let ran = ptc_with(&args, rows);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
        assert_eq!(ran.err.matches("was not granted").count(), 1, "{ran:?}");
    }
    let rule = file("rule.clj", "(:n data/rows)");
    let ran = ptc_with(&["batch", "--rules", &rule], rows);
    assert!(ran.err.contains("did you mean `data/row`?"), "{ran:?}");
    // Members differ from record to record: one that a record lacks is nil, and one that all lack is told.
    let ran = ptc_with(&["batch", "--fields", "-e", "data/m"], b"{\"n\":1}\n{\"m\":2}\n");
    assert_eq!((ran.out.as_str(), ran.err.contains("warning")), ("null\n2\n", false), "{ran:?}");
    let ran = ptc_with(&["batch", "--fields", "-e", "data/totl"], b"{\"total\":1}\n{\"total\":2}\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "null\nnull\n"), "{ran:?}");
    assert!(ran.err.contains("absent_field") && ran.err.contains("did you mean `data/total`?"), "{ran:?}");
    let ran = ptc_with(&["batch", "--json", "-e", "(:totl data/row)"], b"{\"total\":1}\n");
    assert!(ran.err.contains(r#""warnings":[{"kind":"absent_field""#), "{ran:?}");
}

#[test]
fn errors_in_a_file_say_where() {
    let program = file("bad.clj", "(def a 1)\n(+ a nil)\n");
    let ran = ptc(&["run", &program]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("line 2"), "{ran:?}");
}

#[test]
fn files_that_cannot_be_read() {
    let program = file("one.clj", "1");
    let latin = file("latin1.clj", b"\"\xe9\"");
    let missing = "no/such/file.clj";
    for args in [
        vec!["run", missing],
        vec!["run", "."],
        vec!["run", &latin],
        vec!["check", missing],
        vec!["disasm", missing],
        vec!["run", &program, "--data", "x=@no/such.json"],
    ] {
        let ran = ptc(&args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.err.starts_with("error: "), "{args:?}: {ran:?}");
    }
    let object = ptc(&["run", missing, "--json"]);
    assert_eq!(object.code, 2);
    assert_eq!(object.json()["error"]["kind"], "invalid_config");
}

#[test]
fn data_that_is_not_json() {
    let bad = file("bad.json", "{\"a\": [1, 2,, 3]}");
    let from_file = format!("x=@{bad}");
    for data in ["x={", "x=", "x=nope", "x=1 2", &from_file] {
        let ran = ptc(&["eval", "-e", "1", "--data", data]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{data}: {ran:?}");
        assert!(ran.err.contains("data/x"), "{data}: {ran:?}");
    }
    let object = ptc(&["eval", "-e", "1", "--json", "--data", "x={"]);
    assert_eq!((object.code, &object.json()["error"]["kind"]), (2, &json!("invalid_data")));
}

#[test]
fn check_compiles_and_does_not_run() {
    let good = file("good.clj", "(println \"ran\") (tool/anything {})");
    let faulty = file("faulty.clj", "(defn f [x]\n  (fliter odd? x))");
    ptc(&["check", &good]).expect(0, &format!("{good}: ok\n"));
    let both = ptc(&["check", &good, &faulty]);
    both.expect(1, &format!("{good}: ok\n"));
    assert!(both.err.contains("unbound_var") && both.err.contains(&faulty), "{both:?}");
    assert_eq!(ptc(&["check", &faulty, "no/such.clj"]).code, 2);
}

#[test]
fn check_as_json_is_one_object() {
    let good = file("fine.clj", "1");
    let faulty = file("unbalanced.clj", "(+ 1");
    let ran = ptc(&["check", "--json", &good, &faulty, "no/such.clj"]);
    assert_eq!(ran.code, 2);
    let object = ran.json();
    assert_eq!(object["ok"], false);
    assert_eq!(object["files"][0], json!({"file": good, "ok": true}));
    assert_eq!(object["files"][1]["error"]["kind"], "parse_error");
    assert_eq!(object["files"][2]["ok"], false);
    assert_eq!(ptc(&["check", "--json", &good]).json()["ok"], true);
}

#[test]
fn disasm_lists_instructions_with_places() {
    let program = file("listed.clj", "(defn f [x] (* x 2))\n(f 21)\n");
    let ran = ptc(&["disasm", &program]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in ["enter", "return", " entry", "; 1:", "; 2:"] {
        assert!(ran.out.contains(part), "{part} is not in\n{}", ran.out);
    }
    assert_eq!(ptc(&["disasm", &program, "--no-optimize"]).code, 0);
    let faulty = ptc(&["disasm", &file("unlisted.clj", "(")]);
    assert_eq!((faulty.code, faulty.out.as_str()), (1, ""));
    let noise = ptc(&["disasm", &file("noise.ptcp", b"\x89PTCP\r\n\x1a\x00\xff\xff\xff\xff")]);
    assert_eq!((noise.code, noise.out.as_str()), (1, ""), "{noise:?}");
    assert_eq!(ptc(&["disasm", &file("noise.bin", b"\xff\xfe")]).code, 2);
}

#[test]
fn the_core_library_can_be_listed() {
    let core = file("core.ptcp", ptc_preludes::core());
    let ran = ptc(&["disasm", &core]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("export=map"), "{}", ran.out);
}

#[test]
fn the_examples_run() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let data = format!("orders=@{root}/orders.json");
    let ran = ptc(&["run", &format!("{root}/orders.clj"), "--data", &data, "--json"]);
    let object = ran.json();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(object["json"]["best"], json!(["Ada", "Barbara"]));
    let spent = json!({"Ada": 63, "Barbara": 62, "Edsger": 52, "Linus": 48, "Grace": 4});
    assert_eq!(object["json"]["by-customer"], spent);
    assert_eq!(object["prints"][0], "7 of 8 orders count");
}

#[cfg(unix)]
#[test]
fn files_without_an_end_are_refused() {
    for args in [
        &["run", "/dev/zero"][..],
        &["check", "/dev/zero"],
        &["eval", "-e", "data/x", "--data", "x=@/dev/zero", "--granted", "1000000"],
    ] {
        let ran = ptc(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains("cannot read /dev/zero: it has more than "), "{args:?}: {ran:?}");
        assert!(ran.err.contains("limits."), "{args:?}: {ran:?}");
    }
}
