//! `ptc batch`: order, counts, failures, and everything that can end it early.

use crate::{Ran, file, ptc, ptc_with};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Runs `ptc batch -e EXPR ARGS…`.
fn batch(expr: &str, args: &[&str], input: &[u8]) -> Ran {
    let all: Vec<&str> = ["batch", "-e", expr].iter().chain(args).copied().collect();
    ptc_with(&all, input)
}

fn spawn(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_ptc"))
        .arg("batch")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ptc starts")
}

/// The JSON objects on standard error.
fn errors(ran: &Ran) -> Vec<Value> {
    ran.err.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn numbers(count: u64) -> String {
    (0..count).map(|n| format!("{{\"n\": {n}}}\n")).collect()
}

#[test]
fn results_keep_the_order_of_the_records() {
    let expected: String = (0..20_000).map(|n| format!("{}\n", n * 2)).collect();
    for threads in ["1", "2", "7"] {
        let ran = batch("(* 2 (:n data/row))", &["--threads", threads], numbers(20_000).as_bytes());
        assert!(ran.code == 0 && ran.out == expected, "{threads} threads");
        assert!(ran.err.starts_with("20000 records: 20000 results, 0 failures in "), "{}", ran.err);
    }
}

#[test]
fn records_of_uneven_cost_keep_their_order() {
    let program = "(reduce + (range (if (zero? (mod (:n data/row) 100)) 20000 (:n data/row))))";
    let ran = batch(program, &["--threads", "4", "--quiet"], numbers(1_000).as_bytes());
    let sum = |n: u64| n * n.saturating_sub(1) / 2;
    let expected: String =
        (0..1_000).map(|n| format!("{}\n", sum(if n % 100 == 0 { 20_000 } else { n }))).collect();
    ran.expect(0, &expected);
}

#[test]
fn without_order_the_results_are_the_same() {
    let ran =
        batch("(:n data/row)", &["--unordered", "--threads", "3", "--quiet"], numbers(20_000).as_bytes());
    let mut found: Vec<u64> = ran.out.lines().map(|line| line.parse().expect(line)).collect();
    found.sort_unstable();
    assert!(ran.code == 0 && found == (0..20_000).collect::<Vec<_>>());
}

#[test]
fn a_record_that_fails_says_why_and_the_rest_goes_on() {
    let input = b"{\"n\": 1}\n\n{\"n\": null}\nnot json\n{\"n\": \"\xff\"}\n[1, 2\n  \n{\"n\": 7}";
    let ran = batch("(+ 1 (:n data/row))", &["--quiet"], input);
    ran.expect(1, "2\n8\n");
    let errors = errors(&ran);
    let told: Vec<_> = errors.iter().map(|error| (&error["line"], &error["error"]["kind"])).collect();
    let bad = json!("invalid_data");
    assert_eq!(
        told,
        [(&json!(3), &json!("type_error")), (&json!(4), &bad), (&json!(5), &bad), (&json!(6), &bad)]
    );
    assert_eq!(errors[0]["error"]["message"], "`+` needs numbers, but argument 2 is nil");
    assert_eq!(errors[0]["error"]["column"], 1);
}

#[test]
fn a_result_without_json_fails_its_record_only() {
    let ran = batch("(if (odd? data/row) inc data/row)", &["--quiet"], b"1\n2\n");
    ran.expect(1, "2\n");
    assert_eq!(
        (&errors(&ran)[0]["line"], &errors(&ran)[0]["error"]["kind"]),
        (&json!(1), &json!("type_error"))
    );
}

#[test]
fn what_fail_is_given_is_in_the_error() {
    let ran = batch("(fail {:id data/row})", &["--quiet"], b"5\n");
    assert_eq!(errors(&ran)[0]["error"]["json"], json!({"id": 5}));
}

#[test]
fn limits_hold_for_every_record() {
    let program = "(if (= data/row 2) (loop [i 0] (recur (inc i))) data/row)";
    let ran = batch(program, &["--quiet", "--fuel", "1000"], b"1\n2\n3\n");
    ran.expect(1, "1\n3\n");
    assert_eq!(errors(&ran)[0]["error"]["kind"], "fuel_exceeded");
}

#[test]
fn fail_fast_stops_exactly_there() {
    let input: String =
        (0..5_000).map(|n| if n == 3_000 { "x\n".into() } else { format!("{n}\n") }).collect();
    let ran = batch("data/row", &["--fail-fast", "--json"], input.as_bytes());
    let expected: String = (0..3_000).map(|n| format!("{n}\n")).collect();
    assert!(ran.code == 1 && ran.out == expected);
    let told = errors(&ran);
    assert_eq!((told.len(), &told[0]["line"]), (2, &json!(3_001)));
    assert_eq!(
        (&told[1]["records"], &told[1]["failures"], &told[1]["ending"]),
        (&json!(3_001), &json!(1), &json!("failed"))
    );
}

#[test]
fn only_the_first_records_are_run() {
    let ran = batch(
        "(:n data/row)",
        &["--take", "3", "--quiet"],
        b"{\"n\":1}\n\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n",
    );
    ran.expect(0, "1\n2\n3\n");
    batch("1", &["--take", "0", "--quiet"], b"1\n2\n").expect(0, "");
    // --limit sets limits; whoever means this one is told.
    let ran = batch("1", &["--limit", "2"], b"1\n");
    assert!(ran.code == 2 && ran.err.contains("`ptc batch --take 2`"), "{}", ran.err);
    batch("data/row", &["--take", "2500", "--quiet", "--threads", "2"], "1\n".repeat(9_000).as_bytes())
        .expect(0, &"1\n".repeat(2_500));
}

#[test]
fn a_line_that_is_too_long_fails() {
    let input = format!("1\n\"{}\"\n3\n", "x".repeat(1_000_000));
    let ran = batch(
        "(if (string? data/row) (count data/row) data/row)",
        &["--quiet", "--max-line", "1kB"],
        input.as_bytes(),
    );
    ran.expect(1, "1\n3\n");
    let error = &errors(&ran)[0];
    assert_eq!((&error["line"], &error["error"]["kind"]), (&json!(2), &json!("invalid_data")));
    batch("(if (string? data/row) (count data/row) data/row)", &["--quiet"], input.as_bytes())
        .expect(0, "1\n1000000\n3\n");
}

#[test]
fn data_are_shared_by_all_records() {
    let names = file("batch-names.json", r#"{"a": "Ann", "b": "Ben"}"#);
    let data = format!("names=@{names}");
    batch("(get data/names data/row)", &["--quiet", "--data", &data], b"\"a\"\n\"b\"\n\"c\"\n")
        .expect(0, "\"Ann\"\n\"Ben\"\nnull\n");
}

#[test]
fn files_in_and_out() {
    let program = file("batch-inc.clj", "(inc data/row)");
    let input = file("batch-in.jsonl", "1\nx\n3\n");
    let (output, errors) = (file("batch-out.jsonl", "old"), file("batch-errors.jsonl", "old"));
    let ran = ptc(&["batch", &program, &input, "-o", &output, "--errors", &errors]);
    ran.expect(1, "");
    assert!(ran.err.starts_with("3 records: 2 results, 1 failures in "), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&output).expect("the output"), "2\n4\n");
    let error: Value =
        serde_json::from_str(&std::fs::read_to_string(&errors).expect("the errors")).expect("JSON");
    assert_eq!(error["line"], 2);
    ptc_with(&["batch", &program, "-", "--quiet"], b"1\n").expect(0, "2\n");
}

#[test]
fn wrong_use_is_told_before_anything_runs() {
    let program = file("batch-same.clj", "data/row");
    let input = file("batch-same.jsonl", "1\n");
    for args in [
        &["batch"][..],
        &["batch", &program, "/no/such/file"],
        &["batch", "/no/such/file", &input],
        &["batch", &program, &input, "-o", &input],
        &["batch", &program, &input, "-o", "/no/such/folder/file"],
        &["batch", &program, "/"],
        &["batch", &program, &input, "--threads", "0"],
        &["batch", &program, &input, "--data", "x=@/no/such/file"],
    ] {
        let ran = ptc(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.err.starts_with("error: "), "{args:?}: {ran:?}");
    }
    assert_eq!(std::fs::read_to_string(&input).expect("untouched"), "1\n");
    let ran = batch("(inc", &[], b"1\n");
    assert!(ran.code == 1 && ran.err.contains("parse_error"), "{ran:?}");
}

#[test]
fn the_summary_is_one_object_or_nothing() {
    let ran = batch("(inc data/row)", &["--json"], b"1\n2\nx\n");
    let told = errors(&ran);
    let summary = told.last().expect("a summary");
    assert_eq!(
        (&summary["records"], &summary["results"], &summary["failures"], &summary["ending"]),
        (&json!(3), &json!(2), &json!(1), &json!("complete"))
    );
    assert!(summary["seconds"].is_number() && summary["records_per_second"].is_number());
    let ran = batch("1", &["--quiet"], b"");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
}

#[test]
fn an_answer_comes_before_the_next_record() {
    for order in ["--quiet", "--unordered"] {
        let mut child = spawn(&["-e", "(* 2 data/row)", order]);
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut answers = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        for i in 0..3 {
            writeln!(stdin, "{i}").expect("ptc reads");
            assert_eq!(answers.next().expect("an answer").expect("text"), (2 * i).to_string());
        }
        drop(stdin);
        assert_eq!(child.wait().expect("ptc ends").code(), Some(0));
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    for order in ["--json", "--unordered"] {
        let mut child = spawn(&["-e", "(range 1000)", order]);
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        stdin.write_all(b"1\n").expect("ptc reads");
        let mut line = String::new();
        out.read_line(&mut line).expect("a result");
        drop(out);
        // The input stays open: it is the output that ends the batch.
        let _ = stdin.write_all("1\n".repeat(1_000).as_bytes());
        let output = child.wait_with_output().expect("ptc ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{err}");
        assert!(
            err.contains(if order == "--json" { "\"ending\":\"closed\"" } else { "the output was closed" }),
            "{err}"
        );
        drop(stdin);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_with_what_is_done() {
    let mut child = spawn(&["-e", "(inc data/row)", "--json"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    stdin.write_all(b"1\n2\n").expect("ptc reads");
    let mut text = String::new();
    out.read_line(&mut text).expect("a result");
    out.read_line(&mut text).expect("a result");
    assert_eq!(text, "2\n3\n");
    let started = Instant::now();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    // The input stays open and silent.
    let output = child.wait_with_output().expect("ptc ends");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let summary: Value = serde_json::from_slice(&output.stderr).expect("a summary");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!((&summary["results"], &summary["ending"]), (&json!(2), &json!("interrupted")));
    drop(stdin);
}

#[test]
fn members_are_data_with_fields() {
    let input = b"{\"price\": 3, \"amount\": 4}\n[1]\n{\"price\": 5, \"amount\": 1}\n";
    let ran = batch("(* data/price data/amount)", &["--fields", "--quiet"], input);
    assert_eq!((ran.code, ran.out.as_str()), (1, "12\n5\n"));
    assert_eq!(errors(&ran)[0]["line"], 2);
    assert_eq!(errors(&ran)[0]["error"]["kind"], "invalid_data");
}

#[test]
fn rules_give_one_object_for_each_record() {
    let large = file("rules/large.clj", "(> (:n data/row) 1)");
    file("rules/half.clj", "(quot 10 (:n data/row))");
    file("rules/notes.txt", "not a rule");
    let folder = large.strip_suffix("/large.clj").expect("a folder");
    let input = "{\"n\": 2}\n{\"n\": 0}\n{\"n\": \nnull\n";
    let ran = ptc_with(&["batch", "--rules", folder, "--quiet"], input.as_bytes());
    assert_eq!(ran.out, "{\"half\":5,\"large\":true}\n{\"large\":false}\n{\"large\":false}\n");
    let told: Vec<(Value, Value)> =
        errors(&ran).into_iter().map(|error| (error["line"].clone(), error["rule"].clone())).collect();
    let expected = [(json!(2), json!("half")), (json!(3), json!(null)), (json!(4), json!("half"))];
    assert_eq!((ran.code, told), (1, expected.to_vec()));
    // Files by name, in that order; the input is the one that is left.
    let records = file("rules-input.jsonl", "{\"n\": 5}\n");
    let half = large.replace("large", "half");
    let ran = ptc(&["batch", "--rules", &large, "--rules", &half, &records, "--quiet"]);
    ran.expect(0, "{\"large\":true,\"half\":2}\n");
}

#[test]
fn a_field_that_no_record_has_is_told_of_the_rule_or_fold_that_reads_it() {
    let right = file("slips/right.clj", "(:total data/row)");
    let wrong = file("slips/wrong.clj", "(:totl data/row)");
    let rows = b"{\"total\": 2}\n{\"total\": 3}\n";
    let ran = ptc_with(&["batch", "--rules", &right, "--rules", &wrong], rows);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 2));
    assert!(ran.err.contains(&format!("{wrong}:\n")) && !ran.err.contains(&right), "{}", ran.err);
    assert!(ran.err.contains("`:totl` was not found in any map"), "{}", ran.err);
    assert!(ran.err.contains("did you mean `:total`?"), "{}", ran.err);
    let ran = ptc_with(&["batch", "--rules", &right, "--rules", &wrong, "--json"], rows);
    let summary: Value = serde_json::from_str(ran.err.lines().last().expect("a summary")).expect("JSON");
    let warnings = summary["warnings"].as_array().expect("warnings");
    assert_eq!(warnings.len(), 1, "{}", ran.err);
    assert_eq!(warnings[0]["rule"], "wrong");

    let fold = "(def init 0)\n(defn step [n row] (+ n (or (:total row) 0) (if (:totl row) 1 0) (count (:nmae row))))\n\
                (defn combine [a b] (+ a b))";
    let ran =
        batch(fold, &["--reduce"], b"{\"total\": 2, \"name\": \"a\"}\n{\"total\": 3, \"name\": \"b\"}\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "5\n"));
    assert!(ran.err.contains("`:nmae` was not found in any map"), "{}", ran.err);
    assert!(ran.err.contains("did you mean `:name`?") && ran.err.contains("(line 2, "), "{}", ran.err);
}

#[test]
fn wrong_rules_are_told_before_anything_runs() {
    let good = file("wrong-rules/a.clj", "1");
    let bad = file("wrong-rules/sub/bad.clj", "(foo");
    let again = file("wrong-rules/sub/a.clj", "2");
    let empty = std::env::temp_dir();
    for (paths, expected) in [
        (vec![good.as_str(), again.as_str()], "two rules are called `a`"),
        (vec![bad.as_str()], "bad.clj"),
        (vec!["no-such-folder/x.clj"], "cannot read no-such-folder/x.clj"),
        (vec![empty.join("..").to_str().expect("a path")], "no .clj files"),
    ] {
        let mut args = vec!["batch"];
        paths.iter().for_each(|path| args.extend(["--rules", path]));
        let ran = ptc_with(&args, b"1\n");
        assert!(ran.code != 0 && ran.out.is_empty(), "{paths:?}");
        assert!(ran.err.contains(expected), "{paths:?}: {}", ran.err);
    }
}

const MEAN: &str = "(def init {:n 0 :sum 0})
(defn step [total row] (merge-with + total {:n 1 :sum (:n row)}))
(defn combine [a b] (merge-with + a b))
(defn finish [total] (/ (:sum total) (:n total)))";

#[test]
fn reduce_gives_one_value_whatever_the_threads() {
    let program = file("mean.clj", MEAN);
    for threads in ["1", "2", "5"] {
        let args = ["batch", "--reduce", &program, "-", "--threads", threads, "--json"];
        let ran = ptc_with(&args, numbers(30_001).as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (0, "15000.0\n"));
        assert_eq!(errors(&ran)[0]["results"], 30_001);
    }
}

#[test]
fn reduce_leaves_failures_out_and_counts_them() {
    let input = "{\"n\": 1}\n{\"n\": \"x\"}\n{\"n\": 3\n\n{\"n\": 5}";
    let ran = batch(MEAN, &["--reduce"], input.as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (1, "3.0\n"));
    let lines: Vec<&str> = ran.err.lines().collect();
    assert!(lines[0].starts_with("{\"line\":2,") && lines[1].starts_with("{\"line\":3,"), "{}", ran.err);
    assert!(lines[2].starts_with("4 records: 2 results, 2 failures in "), "{}", ran.err);
    let stopped = batch(MEAN, &["--reduce", "--fail-fast", "--quiet"], input.as_bytes());
    assert_eq!((stopped.code, stopped.out.as_str()), (1, ""));
}

#[test]
fn reduce_says_what_its_program_lacks() {
    let ran = batch("(def init 0)", &["--reduce"], b"1\n");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("defines `init`, `step` and `combine`, but not `step` here"), "{}", ran.err);
    // A combine that fails is an error of the program, not of a record.
    let program = "(def init 0) (defn step [a r] (+ a 1)) (defn combine [a b] (+ a nil))";
    let ran = batch(program, &["--reduce"], numbers(20_000).as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("type_error") && ran.err.contains("(+ a nil)"), "{}", ran.err);
}

#[test]
fn tables_need_a_build_that_has_them() {
    let records = file("rows.parquet", b"PAR1 not really");
    let ran = ptc(&["batch", "-e", "data/row", &records]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    let expected = if cfg!(feature = "parquet") { "cannot read" } else { "no `parquet` feature" };
    assert!(ran.err.contains(expected), "{}", ran.err);
    let ran = batch("1", &["--output-format", "csv"], b"1\n");
    let expected = if cfg!(feature = "parquet") { (0, "value\n1\n") } else { (2, "") };
    assert_eq!((ran.code, ran.out.as_str()), expected, "{}", ran.err);
}

#[test]
fn explaining_runs_nothing() {
    let program = "(let [{:keys [price]} data/row] (* price (get-in data/row [:of :amount])))";
    let ran = batch(program, &["--explain", "--threads", "2", "--skip-nil"], b"not even JSON");
    let expected = "input: standard input (JSON lines)\n\
        the program observes: price, of.amount\n\
        read: these members are built; others are checked, and nil\n\
        run: 1 thread reads, 2 threads run the program, 1 writes results in the order of the records, without nil\n\
        write: JSON lines to standard output\n";
    ran.expect(0, expected);
    let ran =
        batch("(count data/row)", &["--explain", "--threads", "1", "--unordered", "-o", "x.jsonl"], b"");
    let expected = "input: standard input (JSON lines)\n\
        the program observes: everything\n\
        read: every member is built\n\
        run: 1 thread reads, 1 thread runs the program, 1 writes results as they are ready\n\
        write: JSON lines to x.jsonl\n";
    ran.expect(0, expected);
    assert!(!Path::new("x.jsonl").exists());
}

#[test]
fn columns_are_for_results_of_one_program() {
    for (args, expected) in [
        (&["--schema", "a: int"][..], "add --output-format parquet"),
        (&["--output-format", "csv", "--reduce"], "leave --output-format out"),
        (&["--output-format", "csv", "--schema", "a: number"], "`number` is no type"),
    ] {
        let ran = batch(MEAN, args, b"");
        let is_said = ran.err.contains(expected) || !cfg!(feature = "parquet");
        assert!(ran.code == 2 && is_said, "{args:?}: {}", ran.err);
    }
}

/// Empties a folder for the files of one test: links of an earlier run must not be in the way.
fn emptied(folder: &str) {
    let _ = std::fs::remove_dir_all(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(folder));
}

#[test]
fn outputs_never_take_the_input_or_each_other() {
    emptied("same");
    let rows = "{\"n\":1}\n{\"n\":null}\n";
    let input = file("same/rows.jsonl", rows);
    let folder = Path::new(&input).parent().expect("a folder");
    let place = |name: &str| folder.join(name).to_str().expect("text").to_string();
    let (hard, soft, dotted) = (place("hard.jsonl"), place("soft.jsonl"), place("./rows.jsonl"));
    std::fs::hard_link(&input, &hard).expect("a link");
    let mut names = vec![input.clone(), hard, dotted];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("rows.jsonl", &soft).expect("a link");
        names.push(soft);
    }
    for name in &names {
        for flag in ["-o", "--errors"] {
            let ran = ptc(&["batch", "-e", "(inc (:n data/row))", &input, flag, name]);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{flag} {name}: {ran:?}");
            assert!(ran.err.contains("it is the input"), "{flag} {name}: {ran:?}");
            assert_eq!(std::fs::read_to_string(&input).expect("the input"), rows, "{flag} {name}");
        }
    }
    let new = place("new.jsonl");
    for (output, errors) in [(&new, &new), (&new, &place("./new.jsonl"))] {
        let ran = ptc(&["batch", "-e", "(inc (:n data/row))", &input, "-o", output, "--errors", errors]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("-o and --errors both name"), "{ran:?}");
        assert!(!Path::new(&new).exists());
    }
}

#[test]
fn outputs_take_their_place_as_a_whole() {
    emptied("whole");
    let input = file("whole/rows.jsonl", "{\"n\":1}\n{\"n\":null}\n");
    let output = file("whole/out.jsonl", "old\n");
    let folder = Path::new(&input).parent().expect("a folder");
    let names = || {
        let names =
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("entry").file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    // A program that is refused changes nothing.
    let ran = ptc(&["batch", "-e", "(fliter 1)", &input, "-o", &output]);
    assert_eq!(
        (ran.code, std::fs::read_to_string(&output).expect("a file").as_str()),
        (1, "old\n"),
        "{ran:?}"
    );
    let reduce = "(def init nil) (defn step [a r] (+ a (:n r))) (defn combine [a b] (+ a b)) (defn finish [a] (inc a))";
    let ran = ptc(&["batch", "--reduce", "-e", reduce, &input, "-o", &output, "--quiet"]);
    assert_eq!(
        (ran.code, std::fs::read_to_string(&output).expect("a file").as_str()),
        (1, "old\n"),
        "{ran:?}"
    );
    assert_eq!(names(), ["out.jsonl", "rows.jsonl"]);
    // Failures of records are no reason to lose the others.
    let errors = folder.join("errors.jsonl");
    let ran = ptc(&[
        "batch",
        "-e",
        "(inc (:n data/row))",
        &input,
        "-o",
        &output,
        "--errors",
        errors.to_str().expect("text"),
    ]);
    assert_eq!((ran.code, std::fs::read_to_string(&output).expect("a file").as_str()), (1, "2\n"), "{ran:?}");
    assert!(std::fs::read_to_string(&errors).expect("a file").starts_with("{\"line\":2,"));
    assert_eq!(names(), ["errors.jsonl", "out.jsonl", "rows.jsonl"]);
}

#[cfg(unix)]
#[test]
fn outputs_keep_links_and_rights_and_streams_are_written_to_directly() {
    emptied("links");
    use std::os::unix::fs::PermissionsExt;
    let input = file("links/rows.jsonl", "1\n");
    let target = file("links/target.jsonl", "old\n");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).expect("rights");
    let link = Path::new(&target).with_file_name("link.jsonl").display().to_string();
    std::os::unix::fs::symlink("target.jsonl", &link).expect("a link");
    ptc(&["batch", "-e", "(inc data/row)", &input, "-o", &link, "--quiet"]).expect(0, "");
    assert_eq!(std::fs::read_to_string(&target).expect("a file"), "2\n");
    assert!(std::fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert_eq!(std::fs::metadata(&target).expect("a file").permissions().mode() & 0o777, 0o640);
    ptc(&["batch", "-e", "(inc data/row)", &input, "-o", "/dev/stdout", "--quiet"]).expect(0, "2\n");
    let both = ["-o", "/dev/null", "--errors", "/dev/null", "--quiet"];
    ptc(&[&["batch", "-e", "(inc data/row)", &input][..], &both].concat()).expect(0, "");
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_whole_lines_in_the_output_file() {
    emptied("interrupted");
    let output = file("interrupted/out.jsonl", "old\n");
    let folder = Path::new(&output).parent().expect("a folder");
    let mut child = spawn(&["-e", "(inc data/row)", "--json", "-o", &output]);
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"1\n2\n").expect("ptc reads");
    // Results are written beside the file until all are there.
    let beside = || {
        let names = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("entry").path());
        let beside = names.filter(|path| path.extension().is_some_and(|ending| ending == "tmp"));
        beside.map(|path| std::fs::read_to_string(path).expect("a file")).collect::<String>()
    };
    let started = Instant::now();
    while beside() != "2\n3\n" && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(
        (beside().as_str(), std::fs::read_to_string(&output).expect("a file").as_str()),
        ("2\n3\n", "old\n")
    );
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("ptc ends");
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(
        (beside().as_str(), std::fs::read_to_string(&output).expect("a file").as_str()),
        ("", "2\n3\n")
    );
    let summary: Value = serde_json::from_slice(&ended.stderr).expect("a summary");
    assert_eq!((&summary["results"], &summary["ending"]), (&json!(2), &json!("interrupted")));
    drop(stdin);
}

/// Whoever comes from other tools is told what to write.
#[test]
fn what_is_no_json_and_no_file_has_a_hint() {
    let rows = file("hints/rows.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
    let table = file("hints/rows.csv", "a,b\n1,2\n");
    let hinted = |args: &[&str], hint: &str| {
        let ran = ptc(args);
        assert!(ran.code != 0 && ran.err.contains(hint), "{args:?} {ran:?}");
    };
    hinted(&["batch", "(:a data/row)", &rows], "`-e` comes before the text of a program");
    hinted(&["batch", "-e", "data/row", "-", &rows, "-"], "keep one `-`");
    hinted(&["eval", "-e", "data/x", "--data", &format!("x=@{rows}")], "this looks like JSON lines");
    hinted(&["eval", "-e", "data/x", "--data", &format!("x=@{table}")], "jq -Rs .");
    hinted(&["eval", "-e", "data/x", "--data", &format!("x={rows}")], &format!("did you mean `x=@{rows}`"));
    hinted(&["eval", "-e", "(loop [] (recur))", "--fuel", "1000"], "raise the limit with `--fuel`");
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text).expect("memory");
    packer.finish().expect("memory")
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn several_files_are_one_batch_and_failures_name_theirs() {
    emptied("several");
    let first = file("several/a.jsonl", "{\"n\":1}\n{\"n\":2}");
    let second = file("several/b.jsonl", "\u{feff}{\"n\":3}\n\n{\"n\":null}\n");
    let packed = file("several/c.jsonl.gz", gzip(b"{\"n\":5}\n{\"n\":"));
    let folder = Path::new(&first).parent().expect("a folder").display().to_string();
    let all = "2\n3\n4\n6\n";
    for inputs in [vec![first.clone(), second.clone(), packed.clone()], vec![format!("{folder}/*.jsonl*")]] {
        let mut args = vec!["batch", "-e", "(inc (:n data/row))", "--quiet"];
        args.extend(inputs.iter().map(String::as_str));
        let ran = ptc(&args);
        ran.expect(1, all);
        let told: Vec<_> =
            errors(&ran).iter().map(|error| (error["file"].clone(), error["line"].clone())).collect();
        assert_eq!(told, [(json!(second), json!(3)), (json!(packed), json!(2))]);
    }
    // Standard input has its place among them.
    let ran = ptc_with(&["batch", "-e", "(:n data/row)", &first, "-", &first, "--quiet"], b"{\"n\":9}\n");
    ran.expect(0, "1\n2\n9\n1\n2\n");
    let program = file("several/program.clj", "(:n data/row)");
    ptc(&["batch", &program, &first, &first, "--take", "3", "--quiet"]).expect(0, "1\n2\n1\n");
    let sum = "(def init 0) (defn step [a r] (+ a (or (:n r) 0))) (defn combine [a b] (+ a b))";
    ptc(&["batch", "--reduce", "-e", sum, &first, &second, "--quiet"]).expect(0, "6\n");

    let refused = |args: &[&str], why: &str| {
        let ran = ptc(&[&["batch", "-e", "1"][..], args].concat());
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(why), "{args:?} {ran:?}");
    };
    refused(&[&format!("{folder}/*.json")], "no file matches it");
    refused(&[&first, &format!("{folder}/none.jsonl")], "cannot read");
    refused(&[&first, &folder], "it is a folder");
    refused(&[&first, &second, "-o", &second], "it is the input");
}

#[test]
fn compressed_input_is_unpacked_as_it_is_read() {
    let text = numbers(30_000);
    let expected: String = (0..30_000).map(|n| format!("{n}\n")).collect();
    for (ending, packed) in [("gz", gzip(text.as_bytes())), ("zst", zstd(text.as_bytes()))] {
        // The content counts, not the name.
        for name in [format!("packed/rows.jsonl.{ending}"), "packed/rows.jsonl".to_string()] {
            let path = file(&name, &packed);
            ptc(&["batch", "-e", "(:n data/row)", &path, "--quiet"]).expect(0, &expected);
        }
        batch("(:n data/row)", &["--quiet"], &packed).expect(0, &expected);
        let cut = file("packed/cut.jsonl", &packed[..packed.len() / 2]);
        let ran = ptc(&["batch", "-e", "(:n data/row)", &cut]);
        assert!(
            ran.code == 2 && ran.err.contains("cannot read the input: ") && ran.err.contains("cut.jsonl"),
            "{}",
            ran.err
        );
        assert!(expected.starts_with(&ran.out), "{ending}");
    }
    let plain = file("packed/plain.jsonl.gz", "{\"n\":1}\n");
    ptc(&["batch", "-e", "(:n data/row)", &plain, "--quiet"]).expect(0, "1\n");
}

/// A small file that unpacks to a line of any length fails one record, in little memory.
#[test]
fn a_line_that_unpacks_without_end_is_too_long() {
    let bomb = [gzip(b"{\"n\":1}\n"), gzip(&vec![b'['; 30 << 20]), gzip(b"\n{\"n\":2}\n")].concat();
    assert!(bomb.len() < 1_000_000);
    let path = file("packed/bomb.jsonl.gz", bomb);
    let ran = ptc(&["batch", "-e", "(:n data/row)", &path, "--max-line", "1MiB", "--quiet"]);
    ran.expect(1, "1\n2\n");
    assert_eq!(errors(&ran)[0]["line"], 2);
    assert!(ran.err.contains("longer than 1048576 bytes"), "{}", ran.err);
}

#[test]
fn stats_tell_what_records_cost() {
    let program = "(reduce + (range (:n data/row)))";
    let input = b"{\"n\":10}\n{\"n\":20000}\n{\"n\":null}\n";
    let ran = batch(program, &["--stats", "--json"], input);
    let told = errors(&ran).pop().expect("a summary");
    let stats = &told["stats"];
    let fuel = |name: &str| stats["fuel"][name].as_u64().expect("a number");
    assert!(fuel("max") > 5 * fuel("p50") && fuel("total") >= fuel("max"), "{stats}");
    assert_eq!(stats["bytes"], input.len());
    let slowest = stats["slowest"].as_array().expect("records");
    let second = slowest.iter().find(|cost| cost["line"] == 2).expect("the second line");
    assert_eq!((slowest.len(), second["fuel"].as_u64()), (3, Some(fuel("max"))), "{stats}");
    let ran = batch(program, &["--stats"], input);
    assert!(ran.err.contains("32 bytes of input\nfuel of a record: p50 "), "{}", ran.err);
    assert!(ran.err.contains("\nslow: line 2, "), "{}", ran.err);
}

/// Tables in files: only in builds that have them.
#[cfg(feature = "parquet")]
mod tables {
    use super::{batch, errors, gzip};
    use crate::{Ran, file, ptc};

    const ORDERS: &str = "id,country,price\n1,NO,3\n2,SE,\n3,NO,x\n";

    /// The path of a file that a test makes.
    fn made(name: &str) -> String {
        file(name, "")
    }

    /// The path of a file that this test has made.
    fn made_before(name: &str) -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name)
    }

    fn read(path: &str, expr: &str, args: &[&str]) -> Ran {
        let all: Vec<&str> = ["batch", "-e", expr, path, "--quiet"].iter().chain(args).copied().collect();
        ptc(&all)
    }

    #[test]
    fn every_format_is_written_and_read_again() {
        let input = "{\"id\": 1, \"at\": [1, 2]}\n{\"id\": null}\n{\"id\": 3, \"at\": []}\n";
        for format in ["parquet", "arrow"] {
            let path = made(&format!("table.{format}"));
            let ran =
                batch("data/row", &["--output-format", format, "-o", &path, "--quiet"], input.as_bytes());
            ran.expect(0, "");
            let all = "{\"id\":1,\"at\":[1,2]}\n{\"id\":null,\"at\":null}\n{\"id\":3,\"at\":[]}\n";
            read(&path, "data/row", &[]).expect(0, all);
            read(&path, "(:id data/row)", &["--skip-nil"]).expect(0, "1\n3\n");
            read(&path, "data/id", &["--fields"]).expect(0, "1\nnull\n3\n");
            let all: Vec<&str> = vec!["batch", "-e", "(:id data/row)", &path, "--explain"];
            let explained = ptc(&all);
            assert!(
                explained.out.contains("the program observes: id\ncolumns read: id (1 of 2)\n"),
                "{}",
                explained.out
            );
        }
        let path = file("orders.csv", ORDERS);
        read(&path, "data/row", &["--take", "2"]).expect(
            0,
            "{\"id\":\"1\",\"country\":\"NO\",\"price\":\"3\"}\n{\"id\":\"2\",\"country\":\"SE\",\"price\":null}\n",
        );
        let ran = batch("(:id data/row)", &["--format", "csv", "--quiet"], ORDERS.as_bytes());
        ran.expect(0, "\"1\"\n\"2\"\n\"3\"\n");
        // Formats that begin at the end are stored first.
        for format in ["parquet", "arrow"] {
            let table = std::fs::read(made_before(&format!("table.{format}"))).expect("a table");
            batch("(:id data/row)", &["--format", format, "--quiet"], &table).expect(0, "1\nnull\n3\n");
        }
        let ran = batch("1", &["--format", "parquet"], b"PAR1");
        assert!(ran.code == 2 && ran.err.contains("not a valid Parquet file"), "{}", ran.err);
        let packed = file("packed/orders.csv.gz", gzip(ORDERS.as_bytes()));
        read(&packed, "(:country data/row)", &[]).expect(0, "\"NO\"\n\"SE\"\n\"NO\"\n");
    }

    #[test]
    fn records_that_fail_are_left_out_or_rows_of_their_own() {
        let path = file("fees.csv", ORDERS);
        let expr = "{:id (:id data/row) :fee (* 2 (parse-long (:price data/row)))}";
        for (rule, expected) in [("leave-out", "id,fee\n1,6\n"), ("null", "id,fee\n1,6\n,\n,\n")] {
            let ran = read(&path, expr, &["--output-format", "csv", "--on-error", rule]);
            assert_eq!((ran.code, ran.out.as_str()), (1, expected), "{}", ran.err);
            assert_eq!(errors(&ran).iter().map(|error| &error["line"]).collect::<Vec<_>>(), [2, 3]);
        }
        let ran = read(&path, expr, &["--output-format", "csv", "--on-error", "column"]);
        assert!(ran.out.starts_with("id,fee,error\n1,6,\n,,"), "{}", ran.out);
    }

    #[test]
    fn results_that_do_not_fit_their_columns_fail() {
        let input = b"1\n\"x\"\n3\n";
        let args = ["--output-format", "csv", "--schema", "value: int8", "--json"];
        let ran = batch("data/row", &args, input);
        assert_eq!((ran.code, ran.out.as_str()), (1, "value\n1\n3\n"));
        let told = errors(&ran);
        assert_eq!(told[0]["line"], 2);
        let message = "the column `value` is of type Int8, but the value is a string";
        assert_eq!(told[0]["error"]["message"], message);
        assert_eq!((told[1]["results"].as_u64(), told[1]["failures"].as_u64()), (Some(2), Some(1)));

        let ran = batch("data/row", &[&args[..], &["--fail-fast"]].concat(), input);
        assert_eq!((ran.code, ran.out.as_str()), (1, "value\n1\n"));
        assert_eq!(errors(&ran)[1]["ending"], "failed");

        let ran = batch("data/row", &["--output-format", "csv"], input);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("the column `value` has integers and strings"), "{}", ran.err);
    }
}
