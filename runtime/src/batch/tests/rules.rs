use super::numbers;
use crate::batch::{Batch, Ending, Rules, Summary};
use crate::{Grants, Runtime};
use std::io::Read;

fn rules(programs: &[(&str, &str)]) -> Batch<Rules> {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let compiled = programs.iter().map(|(name, source)| (*name, runtime.compile(source).unwrap()));
    let compiled: Vec<_> = compiled.collect();
    Batch::rules(&runtime, compiled).threads(2)
}

type Failed = Vec<(u64, Option<String>, &'static str)>;

fn ran(batch: &Batch<Rules>, input: impl Read + Send + 'static) -> (String, Failed, Summary) {
    let (mut output, mut failed) = (Vec::new(), Vec::new());
    let summary = batch.lines(input, &mut output, |line, rule, failure| {
        failed.push((line, rule.map(str::to_string), failure.reason()));
        Ok(())
    });
    (String::from_utf8(output).unwrap(), failed, summary)
}

#[test]
fn every_rule_sees_the_record_and_nothing_of_the_others() {
    let batch = rules(&[
        ("first", "(def seen (inc data/row)) (println seen) seen"),
        ("defs", "(def seen (if (= data/row 3) :three :other)) seen"),
        ("garbage", "(count (mapv str (range 2000)))"),
        ("again \"quoted\"", "[data/row data/x]"),
    ])
    .grants(Grants::new().serde("x", "y").unwrap());
    let (output, failed, summary) = ran(&batch, numbers(5_000));
    let line = |n| {
        let kind = if n == 3 { "three" } else { "other" };
        format!(
            "{{\"first\":{},\"defs\":\"{kind}\",\"garbage\":2000,\"again \\\"quoted\\\"\":[{n},\"y\"]}}\n",
            n + 1
        )
    };
    assert!(output == (0..5_000).map(line).collect::<String>());
    assert!(failed.is_empty());
    assert_eq!((summary.records, summary.results, summary.failures), (5_000, 5_000, 0));
}

#[test]
fn a_rule_that_fails_leaves_the_others() {
    let batch = rules(&[("a", "(+ 1 data/row)"), ("b", "(count data/row)"), ("c", "[data/row]")]);
    let (output, failed, summary) = ran(&batch, &b"1\n\"two\"\n{bad\n\n[]\n"[..]);
    assert_eq!(output, "{\"a\":2,\"c\":[1]}\n{\"b\":3,\"c\":[\"two\"]}\n{\"b\":0,\"c\":[[]]}\n");
    let rule = |name: &str| Some(name.to_string());
    // A line that cannot be read is reported once.
    let expected = [
        (1, rule("b"), "type_error"),
        (2, rule("a"), "type_error"),
        (3, None, "invalid_data"),
        (5, rule("a"), "type_error"),
    ];
    assert_eq!(failed, expected);
    assert_eq!((summary.records, summary.results, summary.failures), (4, 0, 4));
}

#[test]
fn every_rule_has_a_budget_of_its_own() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let limits = crate::Limits { fuel: 50_000, ..crate::Limits::default() };
    let runtime = runtime.limits(limits);
    let busy = runtime.compile("(reduce + (range 2000))").unwrap();
    let forever = runtime.compile("(loop [i 0] (recur (inc i)))").unwrap();
    let rules = (0..20).map(|n| (format!("r{n}"), if n == 7 { forever.clone() } else { busy.clone() }));
    let batch = Batch::rules(&runtime, rules.collect::<Vec<_>>());
    let (output, failed, _) = ran(&batch, numbers(3));
    assert_eq!(output.matches("1999000").count(), 57);
    assert_eq!(failed.len(), 3);
    assert!(failed.iter().all(|(_, rule, reason)| rule.as_deref() == Some("r7") && *reason != "internal"));
}

#[test]
fn fields_and_fail_fast_hold_for_rules() {
    let batch = rules(&[("sum", "(+ data/a data/b)")]).fields(true).fail_fast(true);
    let (output, failed, summary) = ran(&batch, &b"{\"a\":1,\"b\":2}\n{\"a\":1}\n{\"a\":1,\"b\":2}\n"[..]);
    assert_eq!((output.as_str(), failed.len()), ("{\"sum\":3}\n", 1));
    assert!(matches!(summary.ending, Ending::Failed) && summary.records == 2);
    let (output, ..) = ran(&rules(&[]), &b"1\n2\n"[..]);
    assert_eq!(output, "{}\n{}\n");
}
