//! Batches build only the observed parts of JSON lines. Evaluators build everything, and give the same.

use super::{batch, ran};
use crate::{Batch, Evaluator, Runtime};

/// Records with members that most programs leave out, some of them damaged there.
const LINES: &str = r#"{"id":1,"name":"tea","price":3,"of":{"country":"NO","tags":["a","b"]},"note":"x"}
{"id":2,"name":"caf\u00e9","price":4.5,"of":{"country":"SE","tags":[]},"note":null}
{"id":3,"price":null,"of":null}
{"id":4,"name":"n","price":"five","of":"nothing","note":{"deep":[{"er":1}]}}
{"price":7,"id":5,"of":{"tags":[1,{"x":2}],"country":false}}
{"id":6,"id":66,"of":{"country":1},"of":{"country":2},"price":1,"price":2}
{"id":7,"note":{"a":[1,2,}},"price":1}
{"id":8,"note":"\ud800 alone","price":9}
{"id":9,"note":"bad \x escape","price":9}
{"id":10,"note":01,"price":9}
{"id":11,"price":1}}
[1,2]
"text"
null

{"id":12,"big":123456789012345678901234567890,"price":2,"of":[{"country":"FI"}]}
{"unit_price":5,"unit-price":6}
{}
"#;

/// Programs that observe some of a record, in the ways that can be followed.
const PROGRAMS: &[&str] = &[
    "(:id data/row)",
    "(when (> (:price data/row) 2) {:id (:id data/row) :country (get-in data/row [:of :country])})",
    "(let [{:keys [id price] {:keys [country tags]} :of} data/row] [id price country (count tags)])",
    "(if (:of data/row) :some :none)",
    "(if-let [of (:of data/row)] (:country of) (:note data/row))",
    "(select-keys data/row [:id :note])",
    "(contains? data/row :note)",
    "(defn fee [row] (* 2 (get row \"price\"))) (fee data/row)",
    "(def total (atom 0)) (swap! total + (or (:price data/row) 0)) @total",
    "(:unit-price data/row)",
    "(str (:of data/row))",
    "(assoc data/row :seen true)",
    "(count data/row)",
    "(data/row :id)",
    "42",
    "(get (:of data/row) :missing :none)",
    "(map :x (:tags (:of data/row)))",
    "(throw {:id (:id data/row)})",
];

/// Output and failures of an evaluator, which builds all of each record.
fn in_full(source: &str, fields: bool) -> (String, Vec<(u64, String)>) {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let program = runtime.compile(source).unwrap();
    let mut evaluator = Evaluator::new(&runtime, &program).fields(fields);
    let (mut output, mut failed) = (String::new(), Vec::new());
    for (number, line) in (1..).zip(LINES.lines()).filter(|(_, line)| !line.is_empty()) {
        let json = evaluator.json("row", line).and_then(|outcome| Ok(outcome.json()?));
        match json {
            Ok(json) => output.push_str(&(json + "\n")),
            Err(failure) => failed.push((number, failure.diagnostic().message.clone())),
        }
    }
    (output, failed)
}

fn in_part(batch: &Batch) -> (String, Vec<(u64, String)>) {
    let (mut output, mut failed) = (Vec::new(), Vec::new());
    let _ = batch.lines(LINES.as_bytes(), &mut output, |line, failure| {
        failed.push((line, failure.diagnostic().message.clone()));
        Ok(())
    });
    (String::from_utf8(output).unwrap(), failed)
}

#[test]
fn parts_of_records_give_the_results_and_errors_of_whole_records() {
    for source in PROGRAMS {
        assert_eq!(in_part(&batch(source)), in_full(source, false), "{source}");
    }
}

#[test]
fn parts_of_records_give_the_same_members() {
    for source in ["[data/id data/price]", "(when data/of (:country data/of))", "[(:id data/row) data/note]"]
    {
        assert_eq!(in_part(&batch(source).fields(true)), in_full(source, true), "{source}");
    }
}

#[test]
fn rules_build_what_any_of_them_observes() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let rule = |name, source: &str| (name, runtime.compile(source).unwrap());
    let rules = [rule("price", "(:price data/row)"), rule("tags", "(count (:tags (:of data/row)))")];
    let input = LINES.lines().next().unwrap();
    let mut output = Vec::new();
    let _ = Batch::rules(&runtime, rules).lines(input.as_bytes(), &mut output, |_, _, _| Ok(()));
    assert_eq!(output, b"{\"price\":3,\"tags\":2}\n");
}

#[test]
fn folds_build_what_a_step_observes() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let fold = |step: &str| {
        let source = format!("(def init []) (defn step [all row] {step}) (defn combine [a b] (into a b))");
        let mut failed = Vec::new();
        let (value, _) = Batch::reduce(&runtime, &source).unwrap().fold(LINES.as_bytes(), |line, _| {
            failed.push(line);
            Ok(())
        });
        (value.unwrap().unwrap().json().unwrap(), failed)
    };
    // The second program keeps whole records for a moment.
    let part = fold("(conj all [(:id row) (:note row)])");
    let whole = fold("(conj all (let [kept (into {} row)] [(:id kept) (:note kept)]))");
    assert!(part.0.starts_with("[[1,\"x\"],[2,null],[3,null],[4,{\"deep\""), "{}", part.0);
    // Only records can be poured into a map.
    assert_eq!(part.1, [7, 9, 10, 11]);
    assert_eq!(whole.1, [7, 9, 10, 11, 12, 13]);
}

#[test]
fn names_of_members_that_are_left_out_still_help() {
    let batch = batch("[(:totl data/row) (:x (:inner data/row))]");
    let lines = "{\"total\":1,\"inner\":{\"xx\":1}}\n{\"total\":2,\"inner\":{\"xx\":1}}\n";
    let _ = ran(&batch, lines.as_bytes());
    let hints: Vec<_> = batch.warnings().iter().map(|found| found.hint.clone().unwrap_or_default()).collect();
    assert_eq!(hints, ["did you mean `:total`?", "there is `:xx`"]);
}
